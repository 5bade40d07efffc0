"""Corners of derived facts, each found by breaking a line that no other test guarded."""

from pathlib import Path

import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.oracle_facts import star_of
from sensewire.model.batch import Batch
from sensewire.model.derived import MOST_CALLS
from sensewire.model.event import Event
from sensewire.normalise.derived import derived
from tests.normalise.test_derived import facts_of, function, knowing

SPREADING = [
    function("z_ratio", ["a", "b"], ratio="a / b", remainder="a / b"),
    function("z_inverse", ["k"], inverse="1 / k"),
    function("b_scaled", ["ratio", "c"], scaled="ratio * c", twice="ratio * c * 2"),
    function("b_other", ["ratio", "d"], other="ratio * d"),
    function("b_both", ["ratio", "inverse"], both="ratio * inverse"),
    function("a_last", ["twice"], last="twice"),  # runs before what it reads
]


def test_what_is_unknown_spreads_within_one_subject() -> None:
    """With what is there, for every reason, to every output, whatever the functions' order."""
    known = knowing(*SPREADING)
    event = Event.rdf(
        "@prefix : <http://x.org/> . :e :a 1 ; :b 0 ; :c 2 ; :f :g . :g :k 0 ; :c 1 ; :d 1 .",
        "ttl",
    )
    star = star_of(event, known)
    assert {(each.subject.text[-1], each.property.text) for each in star.unknown} == {
        *(("e", name) for name in ("ratio", "remainder", "scaled", "twice", "last")),
        ("g", "inverse"),
    }
    assert set(derived(Batch([event]), known).unknown[0]) == set(star.unknown)


def test_what_is_unknown_for_two_reasons_has_both() -> None:
    known = knowing(*SPREADING)
    event = Event.record({"a": 1, "b": 0, "k": 0})
    star = star_of(event, known)
    why = {each.reason.split()[1] for each in star.unknown if each.property.text == "both"}
    assert why == {"z_ratio", "z_inverse"}
    assert set(derived(Batch([event]), known).unknown[0]) == set(star.unknown)


@pytest.mark.parametrize(("many", "rejected"), [(100, False), (101, True)])
def test_the_bound_on_calls_is_reached_and_not_passed(many: int, rejected: bool) -> None:
    known = knowing(function("meet", ["n", "m"], met="n == 1 && m == 1 ? 1 : null"))
    event = Event.record({"n": list(range(many)), "m": list(range(MOST_CALLS // 100))})
    batch = derived(Batch([event]), known)
    assert bool(batch.rejected) == rejected
    if not rejected:
        assert facts_of(batch, 0) == set(star_of(event, known).facts)
        assert len(facts_of(batch, 0)) == 201


def test_a_word_is_ambiguous_only_in_its_scope(tmp_path: Path) -> None:
    (tmp_path / "zoo.yaml").write_text("hierarchy: {jaguar: cat}\nscope: {animal: zoo}")
    (tmp_path / "shop.yaml").write_text("hierarchy: {jaguar: car}")
    known = Knowledge.load(tmp_path)
    sent = [Event.record({"animal": "jaguar"}), Event.record({"kind": "jaguar"})] * 2
    engine = Engine(known)
    for event in sent:
        engine.match(event)
    assert engine.statistics().ambiguous == {"jaguar": 2}


def test_a_function_that_asks_for_the_event_is_called_for_each() -> None:
    known = knowing(function("late", ["n"], year="event.time.getFullYear()"))
    sent = [Event.record({"n": 1}, time=f"{year}-06-01") for year in (2003, 2024)]
    batch = derived(Batch(sent), known)
    for row, event in enumerate(sent):
        assert facts_of(batch, row) == set(star_of(event, known).facts)
    assert facts_of(batch, 0) != facts_of(batch, 1)


def test_a_narrower_attribute_serves_an_input(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(
        "properties: {breadth: width}\n"
        "mappings: [{name: twice, inputs: [width], outputs: {double: width * 2}}]"
    )
    known = Knowledge.load(tmp_path)
    event = Event.record({"breadth": 2})
    star = star_of(event, known)
    assert [fact.property.text for fact in star.origins] == ["double"]
    assert facts_of(derived(Batch([event]), known), 0) == set(star.facts)


def test_doubt_about_one_subscription_leaves_the_others_alone() -> None:
    from sensewire.language.parse import parse

    engine = Engine(knowing(function("ratio", ["a", "b"], ratio="a / b")), matcher="counting")
    for text in ("a = 1", "not a = 2", "ratio > 1", "not a = 1 and ratio > 1"):
        engine.add(parse(text), id=text)
    matches = engine.match(Event.record({"a": 1, "b": 0}))
    assert {match.subscription for match in matches} == {"a = 1", "not a = 2"}
    assert {failure.subscription for failure in matches.failures} == {"ratio > 1"}
