"""G-ToPSS in its own language: Figures 5, 12 and 13 of Liu 2005, with the taxonomy of Figure 6.

Proved by breaking, each caught: a name cut at its first space; numbers that do not compare with
literals without a type; `<=` before a class compared as a text; `childOf` read as `descendantOf`.
"""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.event import Event
from tests.papers.test_liu_2005 import PUBLICATION, TAXONOMY

PAGE = "Home%20Page%20%23325"
"""How an IRI writes the name of the page, Home Page #325."""
FIGURE_5A = f"""
SELECT ?x WHERE ({PAGE}, project, G-ToPSS), (G-ToPSS, supervisor, Arno Jacobsen),
  (G-ToPSS, year, ?x) SUCHTHAT (?x > 2003)
"""
FIGURE_5B = """
SELECT ?z, ?x WHERE (?z, project, ?y), (?y, year, ?x)
SUCHTHAT (?x > 2004), (?z descendantOf Academia)
"""
FIGURE_12 = """<?xml version="1.0"?>
<rdf:RDF
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/">
  <item rdf:about="http://xml.com/pub/2000/08/09/rdfdb/index.html">
    <title>GQL</title>
    <link>http://xml.com/pub/2000/08/09/rdfdb/index.html</link>
    <description>
      SELECT ?x
      WHERE (Homepage325, Project, G-ToPSS), (G-ToPSS, Supervisor,
Arno Jacobsen), (G-ToPSS, YEAR, ?x)
      SUCHTHAT (?x > 2000) </description>
  </item>
</rdf:RDF>
"""
"""The item of the figure, whose description is the query; the channel before it says nothing."""
PAGES_OF_FIGURE_12 = """
@prefix : <http://x.org/> .
:Homepage325 :Project :G-ToPSS .
:G-ToPSS :Supervisor "Arno Jacobsen" ; :YEAR "2005" .
"""
FIGURE_13 = """<?xml version="1.0"?>
<rdf:RDF
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/" >
  <channel rdf:about="http://www.xml.com/xml/news.rss">
    <title>XML.com</title>
    <link>http://xml.com/pub</link>
    <image rdf:resource="http://xml.com/universal/images/xml.tiny.gif" />
    <items>
      <rdf:Seq>
        <rdf:li rdf:resource="http://xml.com/pub/2000/08/09/xslt/xslt.html" />
        <rdf:li rdf:resource="http://xml.com/pub/2000/08/09/rdfdb/index.html" />
      </rdf:Seq>
    </items>
  </channel>
  <item rdf:about="http://xml.com/pub/2000/08/09/xslt/xslt.html">
    <title>Processing Inclusions with XSLT</title>
    <link>http://xml.com/pub/2000/08/09/xslt/xslt.html</link>
  </item>
  <item rdf:about="http://xml.com/pub/2000/08/09/rdfdb/index.html">
    <title>Putting RDF to Work</title>
    <link>http://xml.com/pub/2000/08/09/rdfdb/index.html</link>
  </item>
</rdf:RDF>
"""
"""The feed without its image and descriptions; where the figure has `resource`, `rdf:resource`."""
RDFDB = "http://xml.com/pub/2000/08/09/rdfdb/index.html"


@pytest.fixture
def academia(tmp_path: Path) -> Knowledge:
    file = tmp_path / "academia.yaml"
    file.write_text(TAXONOMY)
    return Knowledge.load(file)


def rows(
    query: str, event: Event, knowledge: Knowledge | None = None, reading: str | None = None
) -> list[dict[str, str]]:
    engine = Engine(knowledge or Knowledge())
    engine.add(parse(query, "gql", reading), id="s")
    found = [{n: t.text for n, t in row.items()} for m in engine.match(event) for row in m.rows]
    assert engine.explain("s", event).matches == bool(found)
    return found


def published(text: str = PUBLICATION) -> Event:
    return Event.rdf(text, "ttl", id="p")


def test_figure_5a() -> None:
    assert rows(FIGURE_5A, published()) == [{"x": "2005"}]
    assert rows(FIGURE_5A, published(PUBLICATION.replace('"2005"', '"2003"'))) == []


def test_figure_5b(academia: Knowledge) -> None:
    assert rows(FIGURE_5B, published(), academia) == [{"x": "2005", "z": f"http://x.org/{PAGE}"}]
    assert rows(FIGURE_5B, published()) == []


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ("?z descendantOf Academia", True),
        ("?z ≤ Academia", True),
        ("?z <= UofT", True),
        ("?z descendantOf Pub/Sub System Development", True),
        ("?z descendantOf Aspect Oriented Software Development", False),
        ("?z childOf UofT", True),
        ("?z childOf University", False),
        ("?z = UofT", False),
        ("?z >= UofT", False),
        ("?z ancestorOf Aspect Oriented Software Development", False),
    ],
)
def test_figure_6(academia: Knowledge, constraint: str, holds: bool) -> None:
    query = f"WHERE (?z, project, ?y) SUCHTHAT ({constraint})"
    assert bool(rows(query, published(), academia)) == holds


def test_figure_12_as_it_is_printed() -> None:
    item = ElementTree.fromstring(FIGURE_12)[0]
    query = item.findtext("{http://purl.org/rss/1.0/}description")
    assert query is not None
    assert rows(query, published(PAGES_OF_FIGURE_12)) == [{"x": "2005"}]
    for change in (('"2005"', '"2000"'), ("Arno", "Hans-Arno"), (":YEAR", ":year")):
        assert rows(query, published(PAGES_OF_FIGURE_12.replace(*change))) == []


def test_figure_13() -> None:
    feed = Event.rdf(FIGURE_13, "rdf", id="feed")
    about = "WHERE (?item, title, Putting RDF to Work), (?item, link, ?link)"
    assert rows(f"SELECT ?link {about}", feed) == [{"link": RDFDB}]
    listed = "SELECT ?t WHERE (news.rss, items, ?s), (?s, ?n, ?i), (?i, title, ?t)"
    assert sorted(row["t"] for row in rows(listed, feed)) == [
        "Processing Inclusions with XSLT",
        "Putting RDF to Work",
    ]
    rss = "PREFIX rss: <http://purl.org/rss/1.0/> "
    assert rows(f"{rss}SELECT * WHERE (?i, rdf:type, rss:item) (?i, link, index.html)", feed) == []
    assert len(rows(f"{rss}SELECT * WHERE (?i, rdf:type, rss:item)", feed)) == 2
