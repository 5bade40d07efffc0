"""`rdfs:member` under meaning: containers, lists, and what it does not read.

Proved by breaking, each caught: only the first item of a list, `rdf:_0` as a membership, lists read
by an exact `rdfs:member`, a list that comes back to itself, a tail that is named by itself, and
more members than the budget passed over in silence.
"""

import pytest

import sensewire as sw
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.oracle_judgement import BUDGET

PREFIXES = """
@prefix : <http://x.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
ASKED = "select ?i where (?x, items, ?l) and (?l, rdfs:member, ?i)"


def members(graph: str, asked: str = ASKED, knowledge: Knowledge | None = None) -> list[str]:
    engine = sw.Engine(knowledge or Knowledge())
    engine.add(sw.parse(asked), id="s")
    found = engine.match(sw.Event.rdf(PREFIXES + graph, "ttl", id="e"))
    assert not found.failures
    return sorted(row["i"].text for match in found for row in match.rows)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (":a :items (1 2 2 3) .", ["1", "2", "3"]),
        (":a :items [ a rdf:Seq ; rdf:_1 'one' ; rdf:_12 'two' ; rdf:_0 'no' ] .", ["one", "two"]),
        (":a :items [ rdfs:member 'plain' ] .", ["plain"]),
        (":a :items () .", []),
        (":a :items :l . :l rdf:first 1 ; rdf:rest :l .", ["1"]),
        (
            ":a :items :l . :l rdf:first 1 ; rdf:rest :m . :m rdf:first 2 ; rdf:rest :l .",
            ["1", "2"],
        ),
        (":a :items :m . :l rdf:first 1 ; rdf:rest :m . :m rdf:first 2 .", ["2"]),
        (":a :items :l . :l rdf:first 1 ; rdf:rest (2), (3) .", ["1", "2", "3"]),
        (":a :items ((1 2) 3), (1 2) .", ["1", "2", "3", "b2"]),
    ],
)
def test_members_of_containers_and_lists(graph: str, expected: list[str]) -> None:
    assert members(graph) == expected


@pytest.mark.parametrize(
    "asked",
    [
        "select ?i where (?x, items, ?l) and (?l, exactly rdfs:member, ?i)",
        "select ?i where (?x, <http://x.org/items>, ?l) and (?l, rdfs:member, ?i) strict",
    ],
)
def test_an_exact_member_is_itself_alone(asked: str) -> None:
    graph = ":a :items (1 2) . :b :items [ rdf:_1 3 ; rdfs:member 4 ] ."
    assert members(graph, asked) == ["4"]


def test_a_variable_property_binds_what_was_sent() -> None:
    found = members(":a :items (1) .", "select ?i where (?x, items, ?l) and (?l, ?i, ?o)")
    assert found == [
        f"http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}" for name in ("first", "rest")
    ]


def test_a_list_too_long_to_be_searched_is_a_failure_and_no_silent_no() -> None:
    several = "; ".join(f":items _:l{n}" for n in range(460))
    tails = " ".join(f"_:l{n} rdf:first {n} ; rdf:rest _:l{n + 1} ." for n in range(460))
    engine = sw.Engine()
    engine.add(sw.parse("(?l, rdfs:member, nothing)"), id="s")
    found = engine.match(sw.Event.rdf(f"{PREFIXES} :a {several} . {tails}", "ttl", id="e"))
    assert BUDGET < 460 * 461 // 2
    assert [failure.subscription for failure in found.failures] == ["s"]
    assert "budget exceeded" in found.failures[0].reason


def test_explained_with_the_membership() -> None:
    engine = sw.Engine()
    engine.add(sw.parse("(?l, rdfs:member, two)"), id="s")
    sent = sw.Event.rdf(PREFIXES + ":l rdf:_1 'one' ; rdf:_2 'two' .", "ttl", id="e")
    text = str(engine.explain("s", sent))
    assert text.startswith("yes: e matches s")
    assert "rdf-syntax-ns#_2>" in text
