"""Compiled counting equals the definition of tests and conjunctions, taken literally.

Proved by breaking: a test counted once for every rank that meets it, negated tests not looked at,
counters not reset, the last rank of an interval left out, levels of the tree left out, an output
that does not grow: each was caught.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.match.compiled import conjunctions as seen
from sensewire.match.compiled.conjunctions import ANY, LOOSE, Conjunctions, Entries
from sensewire.match.compiled_counting import CompiledCounting
from sensewire.model.errors import SensewireError


@dataclass(frozen=True)
class Test:
    """A test as sets: the definition needs no more."""

    __test__ = False
    slot: int
    negated: bool
    ranks: frozenset[int]

    def holds(self, event: list[tuple[int, int]]) -> bool:
        """Some rank of the set is there; negated: none."""
        met = any(slot == self.slot and rank in self.ranks for slot, rank in event)
        return met is not self.negated


Event = list[tuple[int, int]]
Asked = list[frozenset[Test]]


def runs(ranks: frozenset[int]) -> list[tuple[int, int]]:
    """The intervals of a set of ranks."""
    inside = sorted(ranks)
    starts = [rank for rank in inside if rank - 1 not in ranks]
    ends = [rank for rank in inside if rank + 1 not in ranks]
    return [*zip(starts, ends, strict=True)]


def laid_out(highest: list[int], asked: Asked) -> Conjunctions:
    """Conjunctions of sets as arrays."""
    tests = sorted({test for each in asked for test in each}, key=repr)
    numbers = {test: number for number, test in enumerate(tests)}
    intervals = [runs(test.ranks) for test in tests]
    flat = [interval for each in intervals for interval in each]
    return Conjunctions(
        np.array(highest, np.int32),
        seen.Tests(
            np.array([test.slot for test in tests], np.int32),
            np.array([test.negated for test in tests], np.bool_),
            np.cumsum([0, *map(len, intervals)], dtype=np.int64),
            np.array([low for low, _ in flat], np.int32),
            np.array([high for _, high in flat], np.int32),
        ),
        np.cumsum([0, *map(len, asked)], dtype=np.int64),
        np.array([numbers[test] for each in asked for test in sorted(each, key=repr)], np.int32),
    )


def entries_of(events: list[Event]) -> Entries:
    """Events as arrays."""
    flat = [entry for event in events for entry in event]
    return Entries(
        np.cumsum([0, *map(len, events)], dtype=np.int64),
        np.array([slot for slot, _ in flat], np.int32),
        np.array([rank for _, rank in flat], np.int32),
    )


def matched(highest: list[int], asked: Asked, events: list[Event]) -> list[tuple[int, int]]:
    """What compiled counting answers."""
    index = CompiledCounting.build(laid_out(highest, asked))
    found = index.match(entries_of(events))
    assert [column.dtype for column in found] == [np.int32, np.int32]
    return sorted(zip(*(column.tolist() for column in found), strict=True))


def defined(asked: Asked, events: list[Event]) -> list[tuple[int, int]]:
    """What must be answered."""
    return [
        (row, number)
        for row, event in enumerate(events)
        for number, tests in enumerate(asked)
        if all(test.holds(event) for test in tests)
    ]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], Asked, list[Event]]:
    """Slots of few ranks and of some, intervals and sets, events with many ranks on a slot."""
    highest = draw(st.lists(st.sampled_from([1, 2, 3, 6, 7, 40]), min_size=1, max_size=4))

    @st.composite
    def test(draw: st.DrawFn) -> Test:
        slot = draw(st.integers(0, len(highest) - 1))
        ranks = st.integers(1, highest[slot])
        low, high = sorted((draw(ranks), draw(ranks)))
        chosen = draw(st.sampled_from([{low}, set(), set(range(low, high + 1))]))
        more = draw(st.sets(ranks, max_size=4)) if draw(st.booleans()) else set()
        return Test(slot, draw(st.integers(0, 3)) == 0, frozenset(chosen | more))

    @st.composite
    def entry(draw: st.DrawFn) -> tuple[int, int]:
        slot = draw(st.integers(0, len(highest) - 1))
        return slot, draw(st.integers(0, highest[slot]))

    known = draw(st.lists(test(), min_size=1, max_size=12))
    asked = draw(st.lists(st.frozensets(st.sampled_from(known), max_size=4), max_size=12))
    return highest, asked, draw(st.lists(st.lists(entry(), max_size=8), max_size=6))


@given(cases())
def test_it_equals_the_definition(case: tuple[list[int], Asked, list[Event]]) -> None:
    highest, asked, events = case
    assert matched(highest, asked, events) == defined(asked, events)


def test_every_interval_of_every_small_slot() -> None:
    """The trees of slots whose leaves are no power of two as well."""
    for highest in range(1, 18):
        asked = [
            frozenset({Test(0, negated, frozenset(range(low, high + 1)))})
            for low in range(1, highest + 1)
            for high in range(low, highest + 1)
            for negated in (False, True)
        ]
        events = [[(0, rank)] for rank in range(highest + 1)]
        assert matched([highest], asked, events) == defined(asked, events)


def test_many_matches_of_many_events() -> None:
    """More pairs than any first guess of their number, in the order of events."""
    asked = [frozenset({Test(0, False, frozenset({1, rank}))}) for rank in range(1, 200)]
    asked += [frozenset({Test(0, True, frozenset({2, rank}))}) for rank in range(2, 200)]
    index = CompiledCounting.build(laid_out([200], asked))
    events, numbers = index.match(entries_of([[(0, 1)]] * 50))
    assert len(events) == 50 * len(asked)
    assert (np.diff(events) >= 0).all()
    assert len({*zip(events.tolist(), numbers.tolist(), strict=True)}) == len(events)


@pytest.mark.parametrize("size", [100, 200, 300, 40_000])
def test_a_conjunction_of_many_tests(size: int) -> None:
    """Counts that fill a byte, and more: it needs all of its tests, and the negated one unmet."""
    asked = [
        frozenset(Test(slot, slot == size, frozenset({1})) for slot in range(size + 1)),
    ]
    whole = [(slot, 1) for slot in range(size)]
    events = [whole, whole[1:], whole[: size % 256], [*whole, (size, 1)], whole]
    due = [(row, 0) for row, event in enumerate(events) if event == whole]
    assert matched([1] * (size + 1), asked, events) == due


def test_what_is_perhaps_so_is_refused() -> None:
    index = CompiledCounting.build(laid_out([3], [frozenset()]))
    for rank in (1 + LOOSE, ANY):
        with pytest.raises(SensewireError, match="neither LOOSE nor ANY"):
            index.match(entries_of([[(0, rank)]]))


def test_its_size_counts_every_posting() -> None:
    sizes = [
        CompiledCounting.build(
            laid_out([64], [frozenset({Test(0, False, frozenset({rank}))}) for rank in some])
        ).nbytes
        for some in (range(1, 11), range(1, 12), range(1, 13))
    ]
    assert [after - before for before, after in pairwise(sizes)] == [4 + 4 + 1] * 2
