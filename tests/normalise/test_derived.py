"""Derived facts in a batch against the oracle's own, and the papers' professor X."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.content import Draft, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingFunction, mapping_function
from sensewire.match.oracle_facts import star_of
from sensewire.model.batch import RAW, Batch, columns_of
from sensewire.model.derived import MOST_CALLS, MOST_FACTS, MOST_ROUNDS
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact
from sensewire.model.terms import iri, string, term_of
from sensewire.normalise.derived import derived
from sensewire.normalise.passes import normalised
from sensewire.testing.events import events
from sensewire.testing.knowledge import knowledge

TERMS = [term_of(value) for value in (1, 2, 0, -1, 2.5, "red", "green", True)]
ATTRIBUTES = ["price", "size", "colour"]


def function(name: str, inputs: Sequence[str], **outputs: str) -> MappingFunction:
    return mapping_function(
        name,
        [(each, string(each)) for each in inputs],
        [(string(attribute), text) for attribute, text in outputs.items()],
    )


FUNCTIONS = [
    function("sum", ["price", "size"], size="price + size > 9 ? null : price + size"),
    function("each", ["colour"], price="[colour, 1, 2]", size="null"),
    function("ratio", ["price", "size"], colour="price / size"),
    function("chain", ["colour"], tags="colour"),
    function("own", ["price"], price="price > 3 ? null : price + 1"),
    function("late", ["size"], colour="event.id + string(event.time.getFullYear()) + string(size)"),
]


def knowing(*functions: MappingFunction) -> Knowledge:
    draft = Draft()
    for each in functions:
        draft.mapping(each, Place("here"))
    return Knowledge(draft.content())


def facts_of(batch: Batch, row: int) -> set[Fact]:
    return set(batch.facts(row))


def derived_facts(event: Event, known: Knowledge) -> set[tuple[str, str]]:
    """Attribute and value of what was derived."""
    batch = columns_of(derived(Batch([event]), known))
    made = np.flatnonzero(batch.origin != RAW).tolist()
    return {
        (batch.terms[batch.property[at]].text, str(batch.terms[batch.object[at]])) for at in made
    }


@given(
    known=knowledge(["red", "green"], ATTRIBUTES, FUNCTIONS),
    sent=st.lists(events(ATTRIBUTES, TERMS), min_size=1, max_size=4),
)
def test_a_batch_derives_what_the_oracle_derives(known: Knowledge, sent: list[Event]) -> None:
    batch = normalised(Batch(sent), known)
    for row, event in enumerate(sent):
        try:
            star = star_of(event, known)
        except EventError:
            assert row in batch.rejected
            assert facts_of(batch, row) == set(event.facts)
            continue
        assert row not in batch.rejected
        assert facts_of(batch, row) == set(star.facts)
        assert set(batch.unknown.get(row, ())) == set(star.unknown)
        columns = columns_of(batch)
        origins = columns.origin[columns.offsets[row] : columns.offsets[row + 1]]
        assert (origins != RAW).sum() == len(star.origins)


def test_professor_x_by_the_time_of_the_event() -> None:
    known = knowing(
        function(
            "experience",
            ["graduation_date"],
            professional_experience=("event.time.getFullYear() - graduation_date"),
        )
    )
    for year, experience in ((2003, 13), (1994, 4)):
        event = Event.record({"graduation_date": 1990}, time=f"{year}-06-01")
        made = {("professional_experience", str(term_of(experience)))}
        assert derived_facts(event, known) == made


def test_every_combination_of_values_is_tried() -> None:
    event = Event.record({"price": [1, 2], "size": [10, 20]})
    known = knowing(function("product", ["price", "size"], area="price * size"))
    assert {value for _, value in derived_facts(event, known)} == {
        str(term_of(area)) for area in (10, 20, 40)
    }


def test_inputs_are_of_one_subject() -> None:
    event = Event.rdf(
        "@prefix : <http://x.org/> . :a :price 1 ; :b :c . :c :size 2 ; :price 3 .", "ttl"
    )
    known = knowing(function("product", ["price", "size"], area="price * size"))
    star = star_of(event, known)
    assert set(star.origins) == {Fact(iri("http://x.org/c"), string("area"), term_of(6))}


def test_a_failure_spreads_to_what_would_follow() -> None:
    known = knowing(
        function("ratio", ["a", "b"], ratio="a / b"), function("half", ["ratio"], half="ratio / 2")
    )
    event = Event.record({"a": 1, "b": 0, "c": 5})
    batch = derived(Batch([event]), known)
    assert {unknown.property.text for unknown in batch.unknown[0]} == {"ratio", "half"}
    assert all("division by zero" in unknown.reason for unknown in batch.unknown[0])


@pytest.mark.parametrize(
    ("made", "data"),
    [
        (function("endless", ["n"], n="n + 1"), {"n": 1}),
        (function("many", ["n"], m="n < 0 ? n : null"), {"n": list(range(MOST_CALLS + 1))}),
        (
            function("square", ["n", "m"], p="n + m < 0 ? 1 : null"),
            {"n": list(range(200)), "m": list(range(99))},
        ),
    ],
    ids=lambda value: value.name if isinstance(value, MappingFunction) else "",
)
def test_what_has_no_end_is_rejected_alone(made: MappingFunction, data: dict[str, object]) -> None:
    known = knowing(made)
    sent = [Event.record({"n": "x", "k": 1}), Event.record(data, id="bad"), Event.record({"k": 2})]
    batch = normalised(Batch(sent), known)
    assert list(batch.rejected) == [1]
    assert facts_of(batch, 1) == set(sent[1].facts)
    assert made.name in batch.rejected[1]
    assert "'bad'" in batch.rejected[1]
    with pytest.raises(EventError, match=made.name):
        star_of(sent[1], known)


@pytest.mark.parametrize(("most", "rejected"), [(MOST_ROUNDS, False), (MOST_ROUNDS + 1, True)])
def test_the_bound_on_rounds_is_reached_and_not_passed(most: int, rejected: bool) -> None:
    known = knowing(function("up", ["n"], n=f"n < {most} ? n + 1 : null"))
    event = Event.record({"n": 0})
    assert bool(derived(Batch([event]), known).rejected) == rejected
    if rejected:
        with pytest.raises(EventError, match="up"):
            star_of(event, known)
    else:
        assert len(star_of(event, known).facts) == MOST_ROUNDS + 1


@pytest.mark.parametrize(("many", "rejected"), [(MOST_FACTS, False), (MOST_FACTS + 1, True)])
def test_the_bound_on_facts_is_reached_and_not_passed(many: int, rejected: bool) -> None:
    known = knowing(function("next", ["n"], m="n + 1"))
    event = Event.record({"n": list(range(many))})
    assert bool(derived(Batch([event]), known).rejected) == rejected
    if rejected:
        with pytest.raises(EventError, match="next"):
            star_of(event, known)
    else:
        assert len(star_of(event, known).origins) == MOST_FACTS


def test_a_batch_without_inputs_is_left_as_it_is() -> None:
    batch = Batch([Event.record({"k": 1})])
    assert derived(batch, knowing(function("f", ["n"], m="n"))) is batch


def test_calls_are_counted_over_all_functions() -> None:
    few = [function(name, ["n", "m"], **{name: "n < m ? null : null"}) for name in ("f", "g")]
    event = Event.record({"n": list(range(60)), "m": list(range(100))}, id="many")
    for functions, rejected in ((few[:1], False), (few, True)):
        known = knowing(*functions)
        assert bool(derived(Batch([event]), known).rejected) == rejected
        if rejected:
            with pytest.raises(EventError, match="f, g"):
                star_of(event, known)


def test_an_input_that_is_not_there_costs_nothing() -> None:
    """Two long lists, but no third input: no call at all, whatever the order of inputs."""
    event = Event.record({"a": list(range(200)), "b": list(range(200))})
    for order in (["a", "b", "c"], ["c", "a", "b"]):
        batch = derived(Batch([event]), knowing(function("f", order, d="a + b + c")))
        assert not batch.rejected
        assert len(columns_of(batch).subject) == 400


def test_only_those_that_went_on_are_named() -> None:
    known = knowing(
        function("innocent", ["x"], y="x"),
        function("silent", ["x"], z="x > 5 ? x : null"),
        function("loop", ["c"], c="c + 1"),
    )
    event = Event.record({"x": 1, "c": 1}, id="e")
    (reason,) = derived(Batch([event]), known).rejected.values()
    assert "loop came to no end" in reason
    assert "innocent" not in reason
    with pytest.raises(EventError) as raised:
        star_of(event, known)
    assert str(raised.value) == reason
