"""Feeds as events: every version, one event an item, in terms that all of them share.

RSS 1.0 is the feed of the G-ToPSS paper (Liu, Petrovic, Jacobsen 2005, figure 13). Faults that were
planted and caught: the item's time of change left out of its id; a guid taken for an IRI that is
none; a shared term added to what the item sends itself; an item's bytes without the tags around it;
bytes forgotten that a tag still needs; a bad item that ends the feed; what stands before a break
lost; the channel's language not handed on.
"""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.events import xml_reading
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.feed_dates import iso_date
from sensewire.events.feed_terms import ATOM, CONTENT, DC, DCTERMS, RSS, SCHEMA
from sensewire.events.files import held_slice, listing, slices
from sensewire.events.kinds import Kind
from sensewire.events.portions import EventPortion, portions
from sensewire.language.parse import parse
from sensewire.model.event import Event
from sensewire.model.terms import HOME, RDF_TYPE, iri, string, untyped

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))

FIGURE_13 = b"""<?xml version="1.0"?>
<rdf:RDF
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/" >
  <channel rdf:about="http://www.xml.com/xml/news.rss">
    <title>XML.com</title>
    <link>http://xml.com/pub</link>
    <description> XML.com features a rich mix of information and services for
the XML community. </description>
    <image rdf:resource="http://xml.com/universal/images/xml.tiny.gif" />
    <items>
      <rdf:Seq>
        <rdf:li resource="http://xml.com/pub/2000/08/09/xslt/xslt.html" />
        <rdf:li resource="http://xml.com/pub/2000/08/09/rdfdb/index.html" />
      </rdf:Seq>
    </items>
  </channel>
  <image rdf:about="http://xml.com/universal/images/xml.tiny.gif">
    <title>XML.com</title>
    <link>http://www.xml.com</link>
    <url>http://xml.com/universal/images/xml.tiny.gif</url>
  </image>
  <item rdf:about="http://xml.com/pub/2000/08/09/xslt/xslt.html">
    <title>Processing Inclusions with XSLT</title>
    <link>http://xml.com/pub/2000/08/09/xslt/xslt.html</link>
    <description> Processing document inclusions with general XML tools can
be problematic. This article proposes a way of preserving inclusion information
through SAX-based processing. </description>
  </item>
  <item rdf:about="http://xml.com/pub/2000/08/09/rdfdb/index.html">
    <title>Putting RDF to Work</title>
    <link>http://xml.com/pub/2000/08/09/rdfdb/index.html</link>
    <description> Tool and API support for the Resource Description Frame-
work is slowly coming of age. Edd Dumbill takes a look at RDFDB, one of the most
exciting new RDF toolkits. </description>
  </item>
</rdf:RDF>"""
RSS_2 = b"""<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News</title><language>en</language><item>
  <title>Goal</title><link>http://n.org/1</link><guid isPermaLink="false">g-1</guid>
  <pubDate>Wed, 02 Oct 2002 13:00:00 EST</pubDate><category domain="d">sports</category>
  <category>football</category><dc:creator>Ann</dc:creator><author>ann@n.org</author>
  <enclosure url="http://n.org/1.mp3" length="5" type="audio/mpeg"/>
  <description>short</description><content:encoded><![CDATA[<p>long</p>]]></content:encoded>
  <source url="http://o.org/rss">Other</source>
</item></channel></rss>"""
ATOM_1 = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Blog</title>
<entry xml:lang="fr"><id>urn:e:1</id><title type="html">Un but</title>
  <updated>2024-03-01T10:00:00Z</updated><published>2024-02-29T10:00:00+01:00</published>
  <link rel="self" href="http://b.org/self"/><link href="http://b.org/1"/>
  <link rel="enclosure" href="http://b.org/1.mp3"/><author><name>Bob</name></author>
  <category term="sports" label="Sports"/><summary>court</summary>
  <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">du <b>texte</b></div></content>
</entry></feed>"""


def read(data: bytes, name: str = "f.rss", decoding: Decoding = PLAIN) -> list[Outcome]:
    return list(decode(held_slice(data, Kind.FEED, name), decoding))


def events(data: bytes, decoding: Decoding = PLAIN) -> list[Event]:
    found = read(data, decoding=decoding)
    assert not [each for each in found if isinstance(each, Rejected)]
    return [each.event for each in found if isinstance(each, Decoded)]


def told(event: Event, *terms: str) -> list[list[str]]:
    """What an item says of itself, by terms."""
    return [
        [
            fact.object.text
            for fact in event.facts
            if fact.subject == event.home and fact.property == iri(term)
        ]
        for term in terms
    ]


def item(text: str) -> Event:
    (found,) = events(
        f'<rss xmlns:dc="{DC}" xmlns:t="{DCTERMS}"><item>{text}</item></rss>'.encode()
    )
    return found


def test_the_feed_of_the_paper_is_two_events() -> None:
    first, second = events(FIGURE_13)
    for event, title in (
        (first, "Processing Inclusions with XSLT"),
        (second, "Putting RDF to Work"),
    ):
        assert event.home == iri(event.id)
        assert (
            told(event, RSS + "title", DC + "title", SCHEMA + "headline", SCHEMA + "name")
            == [[title]] * 4
        )
        assert told(event, RSS + "link", SCHEMA + "url") == [[event.id]] * 2
        assert told(event, SCHEMA + "isPartOf") == [["XML.com"]]
        assert told(event, RDF_TYPE.text) == [[RSS + "item", SCHEMA + "Article"]]
        assert not [fact for fact in event.facts if "resource" in fact.property.text]
    assert [event.id.rpartition("/")[2] for event in (first, second)] == ["xslt.html", "index.html"]
    links = {fact.property: fact.object for fact in first.facts}
    assert links[iri(RSS + "link")] == untyped(first.id)
    assert links[iri(SCHEMA + "url")] == iri(first.id)


def test_rss_2_in_the_terms_of_all() -> None:
    (event,) = events(RSS_2)
    assert (event.id, event.home) == ("g-1", HOME)
    date = "2002-10-02T13:00:00-05:00"
    for terms, values in {
        (RSS + "pubDate",): ["Wed, 02 Oct 2002 13:00:00 EST"],
        (DC + "date", SCHEMA + "datePublished"): [date],
        (DC + "subject", SCHEMA + "keywords"): ["sports", "football"],
        (DC + "creator",): ["Ann"],  # as it was sent
        (SCHEMA + "author",): ["ann@n.org", "Ann"],
        (DC + "identifier", SCHEMA + "identifier"): ["g-1"],
        (SCHEMA + "associatedMedia",): ["http://n.org/1.mp3"],
        (RSS + "description", DC + "description", SCHEMA + "description"): ["short"],
        (CONTENT + "encoded", SCHEMA + "articleBody"): ["<p>long</p>"],
        (DC + "source",): ["Other"],
        (DC + "language", SCHEMA + "inLanguage"): ["en"],
        (SCHEMA + "isPartOf",): ["News"],
        (SCHEMA + "dateModified", DCTERMS + "modified"): [],
    }.items():
        assert told(event, *terms) == [values] * len(terms)
    tags = [fact.object for fact in event.facts if fact.property == string("tags")]
    assert tags == [untyped("sports"), untyped("football")]


def test_atom_in_the_terms_of_all() -> None:
    (event,) = events(ATOM_1)
    assert (event.id, event.home) == ("urn:e:1 2024-03-01T10:00:00Z", iri("urn:e:1"))
    for terms, values in {
        (DC + "title", SCHEMA + "headline"): ["Un but"],
        (ATOM + "updated", DCTERMS + "modified", SCHEMA + "dateModified"): ["2024-03-01T10:00:00Z"],
        (ATOM + "published", DC + "date"): ["2024-02-29T10:00:00+01:00"],
        (SCHEMA + "url",): ["http://b.org/1"],
        (SCHEMA + "associatedMedia",): ["http://b.org/1.mp3"],
        (DC + "creator", SCHEMA + "author"): ["Bob"],
        (DC + "subject", SCHEMA + "keywords"): ["sports"],
        (DC + "description",): ["court"],
        (SCHEMA + "articleBody",): ["du texte"],
        (DC + "language",): ["fr"],
        (SCHEMA + "isPartOf",): ["Blog"],
        (RDF_TYPE.text,): [RSS + "item", ATOM + "entry", SCHEMA + "Article"],
    }.items():
        assert told(event, *terms) == [values] * len(terms)


@pytest.mark.parametrize("data", [RSS_2, ATOM_1], ids=["rss", "atom"])
@pytest.mark.parametrize(
    "text",
    [
        "sports",
        "?x is a Article and (?x, headline, ?h)",
        "datePublished > 2002-01-01 and datePublished < 2024-03-01",
        "articleBody contains te or articleBody contains long",
        "select ?u where (home, schema:url, ?u) and isIRI(?u)",
    ],
)
def test_one_subscription_fits_all_feeds(data: bytes, text: str) -> None:
    (event,) = events(data)
    engine = Engine()
    engine.add(parse(f"prefix schema: <{SCHEMA}> {text}"), id="s")
    assert [match.subscription for match in engine.match(event)] == ["s"]


@pytest.mark.parametrize(
    "text",
    [
        "<rss version='0.91'><channel><item><title>a</title></item></channel></rss>",
        "<rss><item><title>a</title></item></rss>",
        "<rss xmlns='http://backend.userland.com/rss2'><channel><item><title>a</title></item></channel></rss>",
        "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
        "xmlns='http://my.netscape.com/rdf/simple/0.9/'><item><title>a</title></item></r:RDF>",
        "<Channel xmlns='http://purl.org/net/rss1.1#'><items><item><title>a</title></item></items></Channel>",
        "<feed xmlns='http://purl.org/atom/ns#'><entry><title>a</title></entry></feed>",
        "<entry xmlns='http://www.w3.org/2005/Atom'><title>a</title></entry>",
        "<item xmlns='http://purl.org/rss/1.0/'><title>a</title></item>",
    ],
)
def test_every_version_is_read(text: str) -> None:
    (event,) = events(text.encode())
    assert told(event, DC + "title") == [["a"]]
    assert event.id == "f.rss:1"


@pytest.mark.parametrize(
    ("text", "id", "home"),
    [
        (
            "<guid>http://n.org/1</guid><link>http://n.org/2</link>",
            "http://n.org/1",
            "<http://n.org/1>",
        ),
        ("<link>http://n.org/2</link>", "http://n.org/2", "<http://n.org/2>"),
        ("<guid>7</guid><link>http://n.org/2</link>", "7", "_:H"),
        ("<guid>not: an IRI</guid>", "not: an IRI", "_:H"),
        ("<title>x</title>", "f.rss:1", "_:H"),
        (
            "<guid>7</guid><t:modified>2024-03-01T10:00Z</t:modified>",
            "7 2024-03-01T10:00:00+00:00",
            "_:H",
        ),
        ("<guid>7</guid><t:modified>soon</t:modified>", "7", "_:H"),
        ("<t:modified>2024-03-01</t:modified>", "f.rss:1", "_:H"),
    ],
)
def test_the_id_and_the_home_of_an_item(text: str, id: str, home: str) -> None:
    event = item(text)
    assert (event.id, str(event.home)) == (id, home)


def test_what_an_item_sends_itself_stands() -> None:
    event = item("<title>a</title><dc:title>b</dc:title><dc:date>2024-03-01T10:00Z</dc:date>")
    assert told(event, RSS + "title", DC + "title", SCHEMA + "name") == [["a"], ["b"], ["a"]]
    assert told(event, DC + "date", SCHEMA + "datePublished") == [
        ["2024-03-01T10:00Z"],
        ["2024-03-01T10:00:00+00:00"],
    ]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Wed, 02 Oct 2002 13:00:00 GMT", "2002-10-02T13:00:00+00:00"),
        ("02 Oct 02 13:00 +0200", "2002-10-02T13:00:00+02:00"),
        ("Wed, 02 Oct 2002 13:00:00 -0000", "2002-10-02T13:00:00+00:00"),
        ("2024-03-01T10:00:00.5+01:00", "2024-03-01T10:00:00.5+01:00"),
        ("2024-03-01T10:00:00", "2024-03-01T10:00:00+00:00"),
        ("2024-03-01", "2024-03-01"),
        *(
            (text, None)
            for text in ("", "soon", "2024", "2024-13-01", "Wed, 42 Oct 2002 13:00:00 GMT")
        ),
        ("Wed, 02 Oct 99999999999999999999 13:00:00 GMT", None),
    ],
)
def test_dates_compare_as_dates(text: str, date: str | None) -> None:
    assert iso_date(text) == date


@pytest.mark.parametrize("field", ["pubDate", "date", "datePublished"])
def test_the_time_of_an_item_is_that_of_its_field(field: str) -> None:
    (event,) = events(RSS_2, Decoding(now=PLAIN.now, time_field=field))
    assert event.time == datetime(2002, 10, 2, 18, tzinfo=UTC)


def test_a_bad_item_is_rejected_alone() -> None:
    data = b"""<rss><channel>
    <item><guid>1</guid></item>
    <item><guid>2</guid><pubDate>soon</pubDate></item>
    <item>%s%s</item>
    <item><guid>4</guid>%s</item>
    <item><guid>5</guid></item></channel></rss>""" % (b"<a>" * 300, b"</a>" * 300, b"x" * 5_000)
    found = read(data, decoding=Decoding(now=PLAIN.now, time_field="pubDate", longest=4_000))
    assert [each.event.id for each in found if isinstance(each, Decoded)] == ["1", "5"]
    bad = [each for each in found if isinstance(each, Rejected)]
    assert [each.place for each in bad] == ["f.rss:3", "f.rss:4", "f.rss:5"]
    for each, reason in zip(
        bad, ("'soon' is no date", "200 levels", "longer than 4,000"), strict=True
    ):
        assert reason in each.reason
    assert bad[0].raw.startswith(b"<rss><channel><item><guid>2")
    assert len(bad[2].raw) == 4_000


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (b"<item><guid>2</gu", "f.rss:2: broken XML at line 2, column 14: unclosed token"),
        (b"<item></rss>", "f.rss:2: broken XML at line 2, column 9: mismatched tag"),
        (b"<item>\xff", "f.rss:2: not utf-8: the byte 0xff cannot be read"),
        (b"<item>\0", "f.rss:2: broken XML at line 2, column 7: not well-formed (invalid token)"),
        (b"<item>&x;", "f.rss:2: broken XML at line 2, column 7: undefined entity"),
        (b"<x:a/>", "f.rss:2: broken XML at line 2, column 1: unbound prefix"),
        (b"<a>" * 999, "f.rss:2: elements nested deeper than 200 levels"),
    ],
)
def test_a_feed_that_breaks_off_gives_what_stands_before(end: bytes, reason: str) -> None:
    good, bad = read(b"<rss><item><guid>1</guid></item>\n" + end)
    assert isinstance(good, Decoded)
    assert isinstance(bad, Rejected)
    assert f"{bad.place}: {bad.reason}".startswith(reason)
    assert "items that follow are not read" in bad.reason


def test_a_packed_feed_that_breaks_off_gives_what_stands_before(tmp_path: Path) -> None:
    items = b"".join(b"<item><guid>%d</guid></item>\n" % number for number in range(3_000))
    packed = gzip.compress(b"<rss>" + items + b"</rss>")
    (tmp_path / "f.xml.gz").write_bytes(packed[: len(packed) // 2])
    (file,) = listing([tmp_path]).files
    *found, last = decode(slices(file, 1)[0], PLAIN)
    assert 100 < len(found) < 3_000
    assert isinstance(last, Rejected)
    assert "the .gz file is truncated" in last.reason
    assert all(isinstance(each, Decoded) for each in found)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            b"<html/>",
            "the root element is 'html', which no feed has; expected rss, rdf:RDF, or Atom's",
        ),
        (b"<!DOCTYPE rss PUBLIC '-//Netscape//DTD RSS 0.91//EN' 'x'><rss/>", "a DTD is refused"),
        (b"<!DOCTYPE r [<!ENTITY a 'x'>]><rss><item>&a;</item></rss>", "a DTD is refused"),
        (b"", "no element found"),
        (
            b"<rss><channel><title>%s</title></channel></rss>" % (b"x" * 3_000),
            "language of the channel",
        ),
    ],
)
def test_what_is_no_feed_is_rejected_once(data: bytes, reason: str) -> None:
    (found,) = read(data, decoding=Decoding(now=PLAIN.now, longest=1_000))
    assert isinstance(found, Rejected)
    assert reason in found.reason


def test_a_tag_without_end_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_reading, "_PIECE", 1_000)
    (found,) = read(b"<rss><item a='" + b"x" * 20_000, decoding=Decoding(PLAIN.now, longest=5_000))
    assert isinstance(found, Rejected)
    assert "a tag or comment longer than 5,000 bytes" in found.reason


@given(
    data=st.sampled_from(
        [FIGURE_13, RSS_2, ATOM_1, "<rss><item a='é'/><item>é</item></rss>".encode()]
    ),
    piece=st.integers(1, 300),
    encoding=st.sampled_from(["utf-8", "utf-16"]),
)
def test_it_is_the_same_however_it_is_read(data: bytes, piece: int, encoding: str) -> None:
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_reading, "_PIECE", max(piece, 2))
        assert read(data.decode().encode(encoding)) == whole
    for outcome in whole:
        (again,) = read(outcome.raw)
        assert isinstance(again, Decoded)
        assert isinstance(outcome, Decoded)
        assert again.event.id.partition(":")[0] == outcome.event.id.partition(":")[0]
        of_channel = {iri(SCHEMA + "isPartOf"), iri(DC + "language"), iri(SCHEMA + "inLanguage")}
        for event in (again.event, outcome.event):
            assert event.facts
        assert {fact for fact in outcome.event.facts if fact.property not in of_channel} == {
            fact for fact in again.event.facts if fact.property not in of_channel
        }


def test_many_items_make_portions() -> None:
    data = b"<rss>" + b"<item/>" * 3_000 + b"</rss>"
    found = list(portions([held_slice(data, Kind.FEED, "f.rss")], PLAIN))
    assert [len(each) for each in found if isinstance(each, EventPortion)] == [1_024, 1_024, 952]
