"""Who subscribed to what: equal questions are one clause, whoever asks, however it is written."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensewire as sw
from sensewire.engine import Engine
from sensewire.model.subscription import Conjunction, Subscription
from tests.answers import ids, of_predicates, told, told_in_batch
from tests.test_batches import json_batch

EVENT = sw.Event.record({"a": 1, "b": "red", "c": [1, 2]}, id="row 0")


def clauses_of(*texts: str) -> int:
    """How many clauses subscriptions come to."""
    engine = Engine()
    for text in texts:
        engine.add(sw.parse(text))
    return engine.statistics().clauses


@pytest.mark.parametrize(
    "texts",
    [
        ["a = 1", "a = 1"],
        ["a = 1 and b = red", "b = red and a = 1"],
        ["a = 1 and b = red", "a = 1 and b = red and a = 1"],
        ["a = 1 and not b = red", "not b = red and a = 1"],
        ["a in (1, 2)", "a in (1, 2)"],
        ["a = ?x and c = ?y and ?x < ?y", "c = ?u and a = ?v and ?v < ?u"],
        ["select ?x where a = ?x", "select ?y where a = ?y"],
        ["select ?x, ?y where a = ?x and c = ?y", "select ?q, ?p where c = ?p and a = ?q"],
        ["a = 1 within 2", "a = 1 within 2"],
        ["(?x, b, ?y)", "(?u, b, ?v)"],
        ["a = 1 or a = 1", "a = 1"],
        ["b suffix 'ed' and a exists", "a exists and b suffix 'ed'"],
    ],
)
def test_equal_questions_are_indexed_once(texts: list[str]) -> None:
    assert clauses_of(*texts) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["a = 1", "a = 2"],
        ["a = 1", "a != 1"],
        ["a = 1", "not a = 1"],
        ["a = 1", "exactly a = 1"],
        ["a = red", "a = exactly red"],
        ["a = 1", "a = 1 and b = red"],
        ["a <= 5", "a < 5"],
        ["a = 1 within 1", "a = 1 within 2"],
        ["a = 1 within 1", "a = 1"],
        ["a = ?x and c = ?x", "a = ?x and c = ?y"],
        ["select ?x where a = ?x and c = ?y", "select ?y where a = ?x and c = ?y"],
        ["select ?x where a = ?x", "a exists"],
        ["a prefix 'r'", "a suffix 'r'", "a contains 'r'"],
        ["a is a red", "a is directly a red", "a is above red"],
    ],
)
def test_other_questions_are_told_apart(texts: list[str]) -> None:
    assert clauses_of(*texts) == len(texts)


@given(asked=of_predicates, order=st.randoms(use_true_random=False))
def test_the_order_of_atoms_is_no_matter(asked: Subscription, order: Random) -> None:
    shuffled = tuple(
        Conjunction(tuple(order.sample(each.atoms, len(each.atoms))), each.constraints)
        for each in asked.conjunctions
    )
    engine = Engine()
    engine.add(asked, id="one")
    before = engine.statistics().clauses
    engine.add(Subscription(shuffled[::-1], tolerance=asked.tolerance), id="two")
    assert engine.statistics().clauses == before
    assert len(told(engine, EVENT)) in (0, 2)


def test_one_clause_of_many_subscribers() -> None:
    engine = Engine()
    for number in range(100):
        engine.add(sw.parse("a = 1" if number % 2 else "a = 1 and a = 1"), id=f"{number:02}")
    assert engine.statistics().clauses == 1
    everyone = [f"{number:02}" for number in range(100)]
    assert ids(engine.match(EVENT)) == everyone
    for id in everyone[1:]:
        engine.remove(id)
        assert engine.statistics().clauses == 1
    assert ids(engine.match(EVENT)) == ["00"]
    engine.remove("00")
    assert (engine.statistics().clauses, ids(engine.match(EVENT))) == (0, [])


def test_all_that_came_may_go_and_come_again() -> None:
    engine = Engine()
    for _ in range(3):
        for id in ("one", "two"):
            engine.add(sw.parse("a = 1 and b = red"), id=id)
        assert ids(engine.match(EVENT)) == ["one", "two"]
        assert told_in_batch(engine, json_batch({"a": 1, "b": "red"})) == [told(engine, EVENT)]
        engine.remove("one")
        assert ids(engine.match(EVENT)) == ["two"]
        engine.remove("two")
        assert ids(engine.match(EVENT)) == []
        assert told_in_batch(engine, json_batch({"a": 1, "b": "red"})) == [[]]
        assert engine.statistics().clauses == 0


def test_an_id_may_ask_for_something_else_later() -> None:
    engine = Engine()
    engine.add(sw.parse("a = 1"), id="one")
    engine.add(sw.parse("a = 1"), id="two")
    engine.remove("one")
    engine.add(sw.parse("a = 7"), id="one")
    assert ids(engine.match(EVENT)) == ["two"]
    assert ids(engine.match(sw.Event.record({"a": 7}))) == ["one"]


def test_branches_that_are_equal_up_to_renaming_keep_their_names() -> None:
    """One clause of the index, selected twice by one subscription under two orders of names."""
    engine = Engine()
    engine.add(
        sw.parse("select ?x, ?y where a = ?x and c = ?y or a = ?y and c = ?x"), id="both ways"
    )
    engine.add(sw.parse("select ?y where c = ?y and a = ?x"), id="less")
    (both, less) = engine.match(EVENT)
    pairs = {(row["x"].text, row["y"].text) for row in both.rows}
    assert pairs == {("1", "1"), ("1", "2"), ("2", "1")}
    assert {row["y"].text for row in less.rows} == {"1", "2"}
    record = {"a": 1, "b": "red", "c": [1, 2]}
    assert told_in_batch(engine, json_batch(record)) == [told(engine, EVENT)]
    engine.remove("both ways")
    assert ids(engine.match(EVENT)) == ["less"]


def test_a_disjunction_with_a_shared_branch() -> None:
    engine = Engine()
    engine.add(sw.parse("a = 1 or b = green"), id="or")
    engine.add(sw.parse("a = 1"), id="one")
    engine.add(sw.parse("b = green"), id="green")
    assert engine.statistics().clauses == 2
    engine.remove("or")
    assert ids(engine.match(EVENT)) == ["one"]
    engine.remove("one")
    assert ids(engine.match(sw.Event.record({"a": 1, "b": "green"}))) == ["green"]
    assert engine.statistics().clauses == 1


def test_ids_that_are_in_use_or_no_text() -> None:
    engine = Engine()
    engine.add(sw.parse("a = 1"), id="one")
    with pytest.raises(sw.SubscriptionError, match="the id 'one' is in use; remove it first"):
        engine.add(sw.parse("a = 2"), id="one")
    for bad in ("", "\ud800", 7, b"x", ("s",)):
        with pytest.raises(sw.SubscriptionError, match="the id"):
            engine.add(sw.parse("a = 1"), id=bad)  # type: ignore[arg-type]  # what one might try
    assert ids(engine.match(EVENT)) == ["one"]
    assert engine.statistics().clauses == 1
    assert told_in_batch(engine, json_batch({"a": 1})) == [["one at 0: -"]]


def test_ids_grow_by_parts() -> None:
    """Ids are kept in parts, as they come: many batches between many adds."""
    engine = Engine()
    for number in range(60):
        engine.add(sw.parse(f"a >= {number % 3}"), id=f"{number:02}")
        if number % 7 == 3:
            engine.remove(f"{number - 2:02}")
        batch = json_batch({"a": 1}, {"a": 5})
        expected = [told(engine, sw.Event.record({"a": value})) for value in (1, 5)]
        assert told_in_batch(engine, batch) == expected
    assert len(expected[1]) == 60 - 9
