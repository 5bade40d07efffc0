"""Corners of explanations, each found by breaking a line that no other test guarded."""

from pathlib import Path

import pytest

from sensewire.engine import Engine
from sensewire.explain.explanation import Outcome
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.event import Event
from sensewire.model.features import Feature
from sensewire.testing.agreement import takers
from tests.explain.test_inquiry import SHOP, broken

UNKNOWN = {"part": 1, "whole": 0}


@pytest.mark.parametrize(
    ("subscription", "data", "said"),
    [
        ("a in (printer, computer)", {"a": "laptop"}, "laptop is a kind of computer"),
        ("a = ?x and not b = ?x", {"a": [1, 2], "b": 1}, "✓ not b = ?x"),
        ("share > 1", UNKNOWN, "? share > 1"),
        ("share = ?x", UNKNOWN, "? share = ?x"),
        ("share <= 1 within 1", UNKNOWN, "? share <= 1"),
        ("(home, share, ?x)", UNKNOWN, "? (home, share, ?x)"),
        ("not share > 1", UNKNOWN, "? not share > 1"),
        ("a = computer", {"a": ["tower7", "laptop", "computer"]}, 'a: "computer"'),
        ("a <= 100 and b <= 100 within 0.2", {"a": 110, "b": 120}, "come to 0.3, more than 0.2"),
        ("a = computer", {"a": ["zebra", "printer"]}, "printer is no computer"),
        ("a between 5 and 9", {"a": 3}, "3 is 2 too little"),
        ("a > 5", {"a": 5}, "5 is not beyond the bound"),
        ("a <= 5", {}, "the event has no attributes, and so no a"),
        ("a <= 5", {"a": 7}, "a of at most 5 would match"),
        ("?x is a computer and a = ?x", {"a": "laptop"}, 'a: "laptop"; laptop is a kind of comp'),
        ("a = exactly computer", {"a": "zebra"}, "zebra is not computer exactly"),
        ("a = computer", {"a": "zebra"}, "zebra is not computer;"),
        ("exactly laptop = x", {"computer": "x"}, "the event has no laptop"),
        ("a = exactly laptop", {"a": "computer"}, "though both are device"),
        ("a = tower7", {"a": "netbook"}, "netbook is no tower7, though both are computer"),
        ("b = ?x and not (a = ?y and ?y > 5)", {"a": [1, 7], "b": 2}, "it must not be so"),
    ],
)
def test_what_is_said(
    subscription: str, data: dict[str, object], said: str, tmp_path: Path
) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    engine = Engine(Knowledge.load(tmp_path / "shop.yaml"))
    engine.add(parse(subscription), id="s")
    assert said in " ".join(str(engine.explain("s", Event.record(data, id="e"))).split())


def test_an_operator_that_fails_is_undecided() -> None:
    engine = Engine(operators={"broken": broken})
    engine.add(parse("broken()"), id="s")
    (alternative,) = engine.explain("s", Event.record({})).alternatives
    assert [part.outcome for part in alternative.parts] == [Outcome.UNDECIDED]


def test_patterns_show_the_facts_of_one_solution() -> None:
    engine = Engine()
    engine.add(parse("(?x, knows, ?y) and (?y, age, ?a) and ?a > 20"), id="s")
    event = Event.rdf(
        "@prefix : <http://x.org/> . :e :knows :f, :g . :f :age 9 . :g :age 30 .", "ttl"
    )
    said = str(engine.explain("s", event))
    assert "(e, knows, g)" in said
    assert "(g, age, 30)" in said


def test_injective_is_named_where_it_refuses() -> None:
    engine = Engine()
    engine.add(parse("(?x, a, ?y) and (?x, a, ?z) injective"), id="s")
    event = Event.rdf("<http://x.org/e> <http://x.org/a> <http://x.org/f> .")
    assert "a vertex of its own for each name" in str(engine.explain("s", event))


@pytest.mark.parametrize("matcher", ["auto", *takers([Feature.EQUAL])])
def test_classes_that_an_event_declares_are_read_in_the_scope_of_types(
    tmp_path: Path, matcher: str
) -> None:
    (tmp_path / "zoo.yaml").write_text("hierarchy: {jaguar: cat}\nscope: {type: zoo}")
    (tmp_path / "shop.yaml").write_text("hierarchy: {jaguar: car}")
    engine = Engine(Knowledge.load(tmp_path), matcher=matcher)
    engine.add(parse("pet = cat"), id="s")
    event = Event.rdf("@prefix : <http://x.org/> . :e :pet :p . :p a :jaguar .", "ttl")
    assert engine.match(event)
    assert "cat" in str(engine.explain("s", event)).partition("(e, pet, p)")[2]


@pytest.mark.parametrize("matcher", ["auto", *takers([Feature.EQUAL])])
def test_an_attribute_of_two_roots_is_found_under_both(tmp_path: Path, matcher: str) -> None:
    (tmp_path / "o.ttl").write_text(
        "@prefix : <http://x.org/o#> . @prefix y: <http://y.org/> ."
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":area rdfs:subPropertyOf :size . y:width rdfs:subPropertyOf y:size ."
    )
    engine = Engine(Knowledge.load(tmp_path / "o.ttl"), matcher=matcher)
    engine.add(parse("size = 5"), id="s")
    for narrower in ("area", "width"):
        assert engine.match(Event.record({narrower: 5}))


def test_a_search_without_end_is_refused_by_one_atom_that_fails_alone() -> None:
    engine = Engine(matcher="oracle")
    values = list(range(60))
    asked = "a = ?x and b = ?y and c = ?z and (home, d, ?w)"
    engine.add(parse(f"select ?x, ?y, ?z where {asked}"), id="s")
    matches = engine.match(Event.record({"a": values, "b": values, "c": values}))
    assert not matches
    assert not matches.failures


def test_a_not_of_an_injective_search_without_end_refuses_nothing_alone() -> None:
    """What it would find alone may be taken by others."""
    engine = Engine(matcher="oracle")
    values = list(range(60))
    asked = "a = ?x and b = ?y and c = ?z and ?x + ?y + ?z = 177 and not (home, d, ?w)"
    engine.add(parse(f"{asked} injective"), id="injective")
    engine.add(parse(asked), id="not")
    event = Event.record({"a": values, "b": values, "c": values, "d": 1})
    found = engine.match(event)
    assert not found
    assert [each.subscription for each in found.failures] == ["injective"]
