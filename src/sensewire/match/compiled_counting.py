"""CountMatch over conjunctions (Kale 2005, section 3), compiled: the baseline of the index.

For an event, every test that one of its ranks meets is found, and a counter is raised for each
conjunction that has it; a conjunction whose counter equals the number of its positive tests, and
none of whose negated tests is met, matches. All tests of all conjunctions are paid for, one by
one: that is what counting means, and what an index that reads one list a conjunction saves.

The ranks of a slot are the leaves of a tree of intervals. An interval is posted at the few nodes
that make it up, a single rank at its leaf; on the way from a rank's leaf to the top stand exactly
the tests that the rank meets, so that nothing that is read has to be checked. (Rank 0, absent, has
a leaf too: no test has it.)

    slot of 7 ranks            1                  test 2 … 5 is posted at  9, 5 and 12
    (leaf of rank r:     2─────┴─────3            rank 3 reads the lists at 10, 5, 2 and 1,
     node r + 8)       4─┴─5       6─┴─7          which hold that test once
                      8 9 10 11  12 13 14 15

Cost: an interval of w ranks is posted at most 2 log w times. A match takes one step for every
pair of a met test and a conjunction that has it, and log(ranks) for every entry.

Invariant: between two events all counters are 0; only those on the list of touched ones differ.

Departure: the paper's events specify all properties, of which each is 0 or 1. Here a slot may be
absent or have many ranks, a test is counted once however many of them meet it, and a negated test
blocks a conjunction instead of being counted. `LOOSE` and `ANY` ranks are refused.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.conjunctions import (
    LOOSE,
    Conjunctions,
    Entries,
    Int32,
    Int64,
    Tests,
    Truths,
)
from sensewire.model.errors import SensewireError
from sensewire.model.jit import machine_code

Counters = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """The nodes of all slots, and at each the conjunctions whose tests are posted there."""

    levels: Int64  # slot → a bit for each height above the leaves at which anything is posted
    offsets: Int64  # node → where its list starts
    conjunction: Int32
    test: Int32  # the test that put it there

    @property
    def nbytes(self) -> int:
        arrays = (self.levels, self.offsets, self.conjunction, self.test)
        return sum(array.nbytes for array in arrays)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledCounting:
    """Postings of positive and of negated tests, and how many positive ones a conjunction needs."""

    takes_loose: ClassVar[bool] = False
    first_node: Int64  # slot → its node 0; the tree of n leaves has nodes 1 … 2 n − 1
    tests: int
    positive: _Postings
    negated: _Postings
    needed: Counters
    needing_none: Int32

    @classmethod
    def build(cls, conjunctions: Conjunctions) -> "CompiledCounting":
        """Post every test of every conjunction.

        >>> one = np.ones(1, np.int32)
        >>> tests = Tests(one - 1, np.zeros(1, np.bool_), np.array([0, 1]), one * 2, one * 5)
        >>> asked = Conjunctions(one * 7, tests, np.array([0, 1]), one - 1)
        >>> index = CompiledCounting.build(asked)
        >>> events = Entries(np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1, 5], np.int32))
        >>> [column.tolist() for column in index.match(events)]
        [[1], [0]]
        """
        tests, count = conjunctions.tests, len(conjunctions)
        first_node = np.zeros(len(conjunctions.ranks) + 1, np.int64)
        np.cumsum(2 * (conjunctions.ranks.astype(np.int64) + 1), out=first_node[1:])
        owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(conjunctions.offsets))
        # The lists of a node are in the order of tests, and within one of conjunctions.
        order = np.argsort(conjunctions.test, kind="stable")
        owners = owner[order]
        starts = np.searchsorted(conjunctions.test[order], np.arange(len(tests.slot) + 1))
        positive = ~tests.negated[conjunctions.test]
        needed = np.bincount(owner[positive], minlength=count)
        return cls(
            first_node=first_node,
            tests=len(tests.slot),
            positive=_posted(tests, ~tests.negated, starts, owners, first_node),
            negated=_posted(tests, tests.negated, starts, owners, first_node),
            needed=needed.astype(_counter_type(int(needed.max(initial=0)))),
            needing_none=np.flatnonzero(needed == 0).astype(np.int32),
        )

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """The pairs of an event and a conjunction that holds for it, in the order of events."""
        if np.any((entries.rank < 0) | (entries.rank >= LOOSE)):
            raise SensewireError("counting takes ranks that are known: neither LOOSE nor ANY")
        positive, negated = self.positive, self.negated
        return _match(
            entries.offsets,
            entries.slot,
            entries.rank,
            self.first_node,
            self.needed,
            self.needing_none,
            positive.levels,
            positive.offsets,
            positive.conjunction,
            positive.test,
            negated.levels,
            negated.offsets,
            negated.conjunction,
            self.tests,
        )

    @property
    def nbytes(self) -> int:
        """What the index holds in memory."""
        own = (self.first_node, self.needed, self.needing_none)
        return self.positive.nbytes + self.negated.nbytes + sum(array.nbytes for array in own)


def _counter_type(most: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds a count, and above it one bit for "blocked"."""
    return np.uint8 if most < 128 else np.uint16 if most < 32_768 else np.uint32


def _posted(
    tests: Tests, chosen: Truths, starts: Int64, owners: Int32, first_node: Int64
) -> _Postings:
    """Walk over the tests twice: to see how long each list gets, and to fill the lists."""
    levels = np.zeros(len(first_node) - 1, np.int64)
    offsets = np.zeros(first_node[-1] + 1, np.int64)
    none = np.empty(0, np.int32)
    intervals = (tests.slot, chosen, tests.offsets, tests.low, tests.high)
    asked = (starts, owners, first_node, levels)
    _post(*intervals, *asked, offsets[1:], none, none)
    np.cumsum(offsets, out=offsets)
    conjunctions, posted_tests = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _post(*intervals, *asked, offsets[:-1].copy(), conjunctions, posted_tests)
    return _Postings(levels, offsets, conjunctions, posted_tests)


@machine_code
def _post(
    slot: Int32,
    chosen: Truths,
    offsets: Int64,
    low: Int32,
    high: Int32,
    starts: Int64,
    owners: Int32,
    first_node: Int64,
    levels: Int64,
    place: Int64,
    conjunctions: Int32,
    tests: Int32,
) -> None:
    """Move on the place of each node by what is posted there, and post it if there is room."""
    for test in range(len(slot)):
        size = starts[test + 1] - starts[test]
        if not chosen[test] or size == 0:
            continue
        base = first_node[slot[test]]
        leaves = (first_node[slot[test] + 1] - base) // 2
        for interval in range(offsets[test], offsets[test + 1]):
            left, right, level = low[interval] + leaves, high[interval] + leaves + 1, 0
            while left < right:
                # A right child at the left end and a left child at the right end stand alone; all
                # between them are halves of nodes above.
                for node, alone in ((left, left & 1), (right - 1, right & 1)):
                    if not alone:
                        continue
                    levels[slot[test]] |= 1 << level
                    start = place[base + node]
                    place[base + node] += size
                    if len(conjunctions) > 0:
                        for number in range(size):
                            conjunctions[start + number] = owners[starts[test] + number]
                            tests[start + number] = test
                left, right, level = (left + 1) >> 1, right >> 1, level + 1


@machine_code
def _counted(conjunction: np.int32, counters: Counters, touched: Int32, touches: int) -> int:
    """Raise a counter by 1, and note the conjunction if it was 0 before."""
    place = np.uint64(conjunction)  # unsigned: numba then does not ask for a negative index
    counter = counters[place]
    touched[touches] = conjunction
    counters[place] = counter + counters.dtype.type(1)
    return touches + int(counter == 0)


@machine_code
def _some_slot_has_several(event_offsets: Int64, slot: Int32, slots: int) -> bool:
    last = np.full(slots, -1, np.int64)  # slot → the last event that has it
    for event in range(len(event_offsets) - 1):
        for entry in range(event_offsets[event], event_offsets[event + 1]):
            if last[slot[entry]] == event:
                return True
            last[slot[entry]] = event
    return False


@machine_code
def _match(
    event_offsets: Int64,
    slot: Int32,
    rank: Int32,
    first_node: Int64,
    needed: Counters,
    needing_none: Int32,
    positive_levels: Int64,
    positive_offsets: Int64,
    positive_conjunction: Int32,
    positive_test: Int32,
    negated_levels: Int64,
    negated_offsets: Int64,
    negated_conjunction: Int32,
    tests: int,
) -> tuple[Int32, Int32]:
    count = len(needed)
    counters = np.zeros_like(needed)
    blocked = needed.dtype.type(1 << (8 * needed.itemsize - 1))
    touched = np.empty(count + 1, np.int32)  # one more: it is written before it is known to count
    slots = len(first_node) - 1
    ranks_on = np.zeros(slots, np.int32)  # slot → entries of this event
    asked = tests if _some_slot_has_several(event_offsets, slot, slots) else 0
    met_by = np.full(asked, -1, np.int64)  # test → the last entry that met it, where it was asked
    events = np.empty(1024, np.int32)
    conjunctions = np.empty(1024, np.int32)
    found = 0
    for event in range(len(event_offsets) - 1):
        start, end = event_offsets[event], event_offsets[event + 1]
        touches = 0
        for entry in range(start, end):
            ranks_on[slot[entry]] += 1

        for entry in range(start, end):
            base = first_node[slot[entry]]
            node = rank[entry] + (first_node[slot[entry] + 1] - base) // 2
            levels = positive_levels[slot[entry]]
            several = ranks_on[slot[entry]] > 1
            while levels != 0:
                if levels & 1:
                    first, last = positive_offsets[base + node], positive_offsets[base + node + 1]
                    if several:
                        for posting in range(first, last):
                            # An earlier entry of this event met the test: it has been counted.
                            test = positive_test[posting]
                            if start <= met_by[test] < entry:
                                continue
                            met_by[test] = entry
                            conjunction = positive_conjunction[posting]
                            touches = _counted(conjunction, counters, touched, touches)
                    else:
                        for posting in range(first, last):
                            conjunction = positive_conjunction[posting]
                            touches = _counted(conjunction, counters, touched, touches)
                levels, node = levels >> 1, node >> 1

        for entry in range(start, end):
            base = first_node[slot[entry]]
            node = rank[entry] + (first_node[slot[entry] + 1] - base) // 2
            levels = negated_levels[slot[entry]]
            while levels != 0:
                if levels & 1:
                    first, last = negated_offsets[base + node], negated_offsets[base + node + 1]
                    for posting in range(first, last):
                        conjunction = negated_conjunction[posting]
                        counter = counters[conjunction]
                        touched[touches] = conjunction
                        touches += counter == 0
                        counters[conjunction] = counter | blocked
                levels, node = levels >> 1, node >> 1

        most = found + touches + len(needing_none)
        if most > len(events):
            room = max(most, 2 * len(events))
            more_events, more_conjunctions = np.empty(room, np.int32), np.empty(room, np.int32)
            more_events[:found] = events[:found]
            more_conjunctions[:found] = conjunctions[:found]
            events, conjunctions = more_events, more_conjunctions
        for conjunction in needing_none:
            if counters[conjunction] == 0:
                events[found] = event
                conjunctions[found] = conjunction
                found += 1
        for touch in range(touches):
            conjunction = np.uint64(touched[touch])
            # Written first, kept if it counts: no branch to mispredict.
            events[found] = event
            conjunctions[found] = conjunction
            found += counters[conjunction] == needed[conjunction]
            counters[conjunction] = 0
        for entry in range(start, end):
            ranks_on[slot[entry]] = 0
    return events[:found].copy(), conjunctions[:found].copy()
