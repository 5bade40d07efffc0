"""SPARQL by meaning: what the knowledge brings in, and the two paths that are ⊑.

Proved by breaking, each caught: `subClassOf*` as one step, `subPropertyOf*` in the hierarchy of
values, constants left exact, VALUES of one class by the same term, and `!p` read by meaning.
"""

from pathlib import Path

import pytest

import sensewire as sw
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import UnsupportedError
from tests.knowledge.brick import brick

KNOWLEDGE = """
@prefix : <http://x.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Equipment a owl:Class . :Fan a owl:Class ; rdfs:subClassOf :Equipment .
:Exhaust_Fan a owl:Class ; rdfs:subClassOf :Fan . :Valve a owl:Class .
:feeds a owl:ObjectProperty . :feedsAir a owl:ObjectProperty ; rdfs:subPropertyOf :feeds .
:blows a owl:ObjectProperty ; rdfs:subPropertyOf :feedsAir .
"""
EVENT = """
@prefix : <http://x.org/> .
:f1 a :Exhaust_Fan ; :blows :room ; :size "5" . :v1 a :Valve ; :feeds :f1 ; :size 7 .
:other a :Fan ; :near :room . :far <http://other.org/near> :room .
"""
PREFIX = "PREFIX : <http://x.org/> "


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path: Path = tmp_path_factory.mktemp("knowledge") / "k.ttl"
    path.write_text(KNOWLEDGE)
    return Knowledge.load(path)


def rows(knowledge: Knowledge, text: str, reading: str | None = "meaning") -> list[str]:
    engine = sw.Engine(knowledge)
    engine.add(sw.parse(PREFIX + text, "sparql", reading), id="s")
    found = engine.match(sw.Event.rdf(EVENT, "ttl", id="e"))
    return sorted(
        " ".join(term.text.rpartition("/")[2] for _, term in sorted(row.items()))
        for match in found
        for row in match.rows
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?x { ?x a :Equipment }", ["f1", "other"]),
        ("SELECT ?x { ?x a/rdfs:subClassOf* :Equipment }", ["f1", "other"]),
        ("SELECT ?x { ?x a/rdfs:subClassOf* :Exhaust_Fan }", ["f1"]),
        (
            "SELECT ?x ?c { ?x a ?c . ?c rdfs:subClassOf* :Fan }",
            ["Exhaust_Fan f1", "Fan other"],
        ),
        ("SELECT ?x { :Fan ^rdfs:subClassOf* ?c . ?x a ?c }", ["f1", "other"]),
        ("SELECT ?x ?y { ?x :feeds ?y }", ["f1 room", "v1 f1"]),
        ("SELECT ?x ?y { ?x ?p ?y . ?p rdfs:subPropertyOf* :feeds }", ["f1 room", "v1 f1"]),
        ("SELECT ?x ?y { ?x ?p ?y . ?p rdfs:subPropertyOf* :feedsAir }", ["f1 room"]),
        ("SELECT ?x { ?x !:feeds :room }", ["f1", "far", "other"]),
        ("SELECT ?x { ?x !:near :room }", ["f1", "far"]),
        ("SELECT ?x { ?x a ?c VALUES ?c { :Equipment } }", ["f1", "other"]),
        ("SELECT ?x { ?x a ?c VALUES ?c { :Exhaust_Fan :Valve } }", ["f1", "v1"]),
        ("SELECT ?x { ?x a ?c FILTER(?c = :Fan) }", ["f1", "other"]),
        ("SELECT ?x { ?x :size ?n FILTER(?n > 4 && ?n + 1 < 7) }", ["f1"]),
        ("SELECT ?x { ?x :size 5 }", ["f1"]),
        ("SELECT ?x { ?x a :Fan FILTER NOT EXISTS { ?x :feeds ?y } }", ["other"]),
    ],
)
def test_the_knowledge_is_brought_in(knowledge: Knowledge, text: str, expected: list[str]) -> None:
    assert rows(knowledge, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?x { ?x a :Equipment }", []),
        ("SELECT ?x { ?x a :Fan }", ["other"]),
        ("SELECT ?x ?y { ?x :feeds ?y }", ["v1 f1"]),
        ("SELECT ?x { ?x !:blows :room }", ["far", "other"]),
        ("SELECT ?x { ?x :size ?n FILTER(?n > 4) }", ["v1"]),
    ],
)
@pytest.mark.parametrize("reading", [None, "exact"])
def test_without_it_nothing_is(
    knowledge: Knowledge, text: str, expected: list[str], reading: str | None
) -> None:
    assert rows(knowledge, text, reading) == expected


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT ?x { ?x a ?c . ?c rdfs:subClassOf* ?d }", r"rdfs:subClassOf\* from anything"),
        ("SELECT ?d { :Fan rdfs:subClassOf* ?d }", r"rdfs:subClassOf\* from anything"),
        ("SELECT ?p { ?x ?p ?y . ?p rdfs:subPropertyOf* :feeds }", r"\?p, which stands elsewhere"),
        ("ASK { ?p ?x ?y . ?p rdfs:subPropertyOf* :feeds }", "no pattern's property"),
        ("ASK { ?c rdfs:subClassOf* :Fan }", r"\?c in a filter, which nothing"),
        ("ASK { ?x a/rdfs:subClassOf+ :Fan }", r"\+ in a property path"),
        ("ASK { ?x a/:feeds* :Fan }", r"\* in a property path"),
    ],
)
def test_what_has_no_form_is_refused(text: str, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        sw.parse(PREFIX + text, "sparql", "meaning")


def test_brick() -> None:
    engine = sw.Engine(Knowledge.load(brick()))
    prefix = "PREFIX brick: <https://brickschema.org/schema/Brick#> "
    asked = prefix + "SELECT ?x { ?x a/rdfs:subClassOf* brick:Sensor ; brick:isPointOf ?fan }"
    engine.add(sw.parse(asked, "sparql", "meaning"), id="meant")
    engine.add(sw.parse(prefix + "SELECT ?x { ?x a brick:Sensor }", "sparql"), id="strict")
    event = """
    @prefix brick: <https://brickschema.org/schema/Brick#> . @prefix : <http://x.org/> .
    :t a brick:Supply_Air_Temperature_Sensor ; brick:isPointOf :fan . :fan a brick:Fan .
    """
    found = engine.match(sw.Event.rdf(event, "ttl", id="e"))
    assert [(m.subscription, m.rows[0]["x"].text) for m in found] == [("meant", "http://x.org/t")]
