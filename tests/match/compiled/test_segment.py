"""Segments: clauses chosen and put in another order, slots of several axes, what is unknown."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensewire as sw
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.segment import Clauses
from sensewire.match.layered import Layered
from sensewire.testing.agreement import agree

lists = st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=8)


def clauses_of(tests: list[list[int]]) -> Clauses:
    """Clauses with these tests, and the same as codes; every third one is judged once more."""
    ends = np.cumsum([0, *map(len, tests)]).astype(np.int64)
    flat = np.array([test for each in tests for test in each], np.int32)
    return Clauses(
        np.arange(10, 10 + len(tests), dtype=np.int32),
        ends,
        flat,
        np.arange(len(tests)) % 3 == 0,
        ends,
        flat,
    )


def told(clauses: Clauses) -> list[tuple[int, list[int], bool]]:
    for place in range(len(clauses)):
        begin, end = clauses.code_offsets[place : place + 2]
        assert clauses.codes[begin:end].tolist() == clauses.tests_of(place)
    return [
        (int(clauses.numbers[place]), clauses.tests_of(place), bool(clauses.judged[place]))
        for place in range(len(clauses))
    ]


@given(tests=lists, data=st.data())
def test_some_clauses_and_in_another_order(tests: list[list[int]], data: st.DataObject) -> None:
    clauses = clauses_of(tests)
    whole = told(clauses)
    assert [each[1] for each in whole] == tests
    places = data.draw(st.lists(st.integers(0, len(tests) - 1))) if tests else []
    assert told(clauses.at(np.array(places, np.int64))) == [whole[place] for place in places]
    kept = data.draw(st.lists(st.booleans(), min_size=len(tests), max_size=len(tests)))
    chosen = clauses.only(np.array(kept, np.bool_))
    assert told(chosen) == [each for each, is_kept in zip(whole, kept, strict=True) if is_kept]


def compared(
    asked: list[str], sent: list[dict[str, object]], known: Knowledge | None = None
) -> None:
    """All subscriptions in one segment, against the oracle."""
    subscriptions = [sw.parse(text) for text in asked]
    events = [sw.Event.record(record, id="e") for record in sent]
    agreed = agree("compiled", subscriptions, events, knowledge=known or Knowledge())
    assert agreed.taken == len(asked)
    assert agreed.matches > 0


@pytest.mark.parametrize(
    "others",
    [
        [],
        ["a = red"],
        ["a > 5"],
        ["a suffix 'd'"],
        ["a prefix 'r'"],
        ["a = red", "a > 5", "a suffix 'd'", "a prefix 'r'", "a >= 2024-03-01", "a < 5 km"],
        ["b = red"],
    ],
)
def test_exists_is_asked_of_whatever_slot_there_is(others: list[str]) -> None:
    values = ["red", "", 5, 7.5, True, "2024-03-02", "3 km", [], None, [None], ["x", 6]]
    sent: list[dict[str, object]] = [{"a": value} for value in values]
    compared(
        [
            "a exists",
            "not a exists",
            "a exists and b exists",
            *others,
            *(f"not {o}" for o in others),
        ],
        [*sent, {}, {"b": 1}, {"a": 1, "b": "red"}],
    )


def test_slots_of_one_attribute_are_told_apart() -> None:
    compared(
        [
            *("a = 5", "a = '5'", "a >= '5'", "a > 4 and a < 6", "a prefix '5'", "a contains '5'"),
            *("exactly a = 5", "a < 5 km", "a < 5 s", "a < 6 km and a > 1 s", "a >= 2024-03-01"),
            *("a != 5", "a != '5'", "not a < 5 km", "a in (5, 6)", "a in ('5', '6')"),
        ],
        [
            {"a": value}
            for value in (5, 5.0, "5", 6, "6", "4 km", "4 s", "2024-03-01", "5x", [5, "6"], True)
        ],
    )


def test_texts_are_ranked_by_their_bytes_in_each_segment() -> None:
    """Constants come in any order, over several slots that share the table of texts."""
    texts = ["m", "z", "a", "\U0010ffff", "é", "", "mm", "\uffff", "l"]
    asked = [
        f"{name} {relation} '{text}'"
        for name in "ab"
        for relation in ("<", ">=", "prefix")
        for text in texts
    ]
    compared(asked, [{"a": text, "b": other} for text in texts for other in ("m", "\U0010ffff")])


def test_tests_that_are_equal_but_for_their_turn() -> None:
    compared(
        ["a = 5", "not a = 5", "a != 5", "not a != 5", "a = 5 and not a = 6", "a = 5 and a != 5"],
        [{"a": 5}, {"a": 6}, {"a": [5, 6]}, {}, {"a": "x"}],
    )


def test_clauses_that_ask_for_nothing_or_for_what_cannot_be() -> None:
    compared(
        ["a between 5 and 3", "not a between 5 and 3", "a != Thing", "not a != Thing", "a = Thing"],
        [{"a": 4}, {"a": "x"}, {}],
    )


UNKNOWN = """\
scheme: s
properties: {narrow: wide}
mappings:
  - {name: broken, inputs: [{d: d}], outputs: {narrow: 1 / (d - d)}}
  - {name: other, inputs: [{e: e}], outputs: {far: e / 0}}
"""


def test_what_a_function_left_open_is_undecided_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(UNKNOWN)
    known = Knowledge.load(tmp_path / "k.yaml")
    names = ["narrow", "wide", "far", "d", "x"]
    texts = [
        "{} = 1",
        "{} > 1",
        "not {} = 1",
        "{} exists",
        "{} suffix 'a'",
        "{} != 1",
        "{} prefix 'a'",
    ]
    asked = [text.format(name) for name in names for text in texts]
    asked += ["narrow = 1 and x = 1", "narrow = 1 or x = 1", "x = 1 and not wide > 5 within 1"]
    sent: list[dict[str, object]] = [
        {"d": 2},
        {"e": 2, "x": 1},
        {"d": 1, "e": 1, "x": [1, "a"]},
        {"d": 3, "narrow": 1},
        {"d": 3, "wide": "aa"},
        {"x": 1},
    ]
    compared(asked, sent, known)


def test_an_index_without_clauses_finds_nothing() -> None:
    engine = sw.Engine()
    engine.add(sw.parse("a = 1"), id="one")
    engine.remove("one")
    assert not engine.match(sw.Event.record({"a": 1}))
    first = engine._dispatch.matchers[0]
    assert isinstance(first, Layered)
    first.settle()
    assert not engine.match(sw.Event.record({"a": 1}))


def test_properties_that_come_one_after_another_are_ranked() -> None:
    engine = sw.Engine()
    for number in range(40):
        engine.add(sw.parse(f"a{number} >= 0"), id=str(number))
    for number in range(40):
        (match,) = engine.match(sw.Event.record({f"a{number}": 1}))
        assert match.subscription == str(number)


@pytest.mark.parametrize("texts", [["p = 1", "p = 1 within 2"], ["p = 1 within 2", "p = 1"]])
def test_an_attribute_that_is_asked_for_nearly_is_another_one(
    texts: list[str], tmp_path: Path
) -> None:
    (tmp_path / "known.yaml").write_text("properties: {p: wider}")
    engine = sw.Engine(Knowledge.load(tmp_path / "known.yaml"))
    for text in texts:
        engine.add(sw.parse(text), id=text)
    matches = engine.match(sw.Event.record({"wider": 1}))
    assert [(match.subscription, match.distance) for match in matches] == [("p = 1 within 2", 1.0)]
