"""The pivot idea in plain Python: a dictionary, and a loop over what it gives.

    (slot, rank) ──> conjunctions whose rarest positive test of one rank this is, each verified
    without one  ──> conjunctions that every event has to try

Rare is what few entries of the sample have. A conjunction is verified test by test until one fails;
an event remembers the tests that it has seen.
"""

import sys
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from contenders.contender import Contender, Matching
from sensewire.match.compiled.conjunctions import Entries, Int32
from workloads.workload import Workload

Event = dict[int, list[int]]


class PivotDictionary:
    """The dictionary, the rest, and the tests of each conjunction."""

    def __init__(self, workload: Workload) -> None:
        conjunctions, tests = workload.conjunctions, workload.conjunctions.tests
        self._slot, self._negated = tests.slot.tolist(), tests.negated.tolist()
        intervals = [*zip(tests.low.tolist(), tests.high.tolist(), strict=True)]
        self._intervals = [intervals[i:j] for i, j in pairwise(tests.offsets.tolist())]
        numbers = conjunctions.test.tolist()
        self._tests = [numbers[i:j] for i, j in pairwise(conjunctions.offsets.tolist())]
        sample = zip(workload.sample.slot.tolist(), workload.sample.rank.tolist(), strict=True)
        seen = Counter(sample)
        self._pivots: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._rest: list[int] = []
        for number, asked in enumerate(self._tests):
            points = [
                (self._slot[test], self._intervals[test][0][0])
                for test in asked
                if not self._negated[test] and self._one_rank(test)
            ]
            if points:
                self._pivots[min(points, key=lambda point: seen[point])].append(number)
            else:
                self._rest.append(number)

    def _one_rank(self, test: int) -> bool:
        intervals = self._intervals[test]
        return len(intervals) == 1 and intervals[0][0] == intervals[0][1]

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """Look up every entry, and verify."""
        found: list[tuple[int, int]] = []
        slots, ranks = entries.slot.tolist(), entries.rank.tolist()
        for row, (start, end) in enumerate(pairwise(entries.offsets.tolist())):
            event: Event = defaultdict(list)
            for slot, rank in set(zip(slots[start:end], ranks[start:end], strict=True)):
                event[slot].append(rank)
            known: dict[int, bool] = {}
            for slot, values in event.items():
                for rank in values:
                    for number in self._pivots.get((slot, rank), ()):
                        if self._holds(number, event, known):
                            found.append((row, number))
            found.extend((row, each) for each in self._rest if self._holds(each, event, known))
        pairs = np.array(found, np.int32).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def _holds(self, number: int, event: Event, known: dict[int, bool]) -> bool:
        for test in self._tests[number]:
            holds = known.get(test)
            if holds is None:
                holds = known[test] = self._test_holds(test, event)
            if not holds:
                return False
        return True

    def _test_holds(self, test: int, event: Event) -> bool:
        values = event.get(self._slot[test], ())
        met = any(low <= rank <= high for rank in values for low, high in self._intervals[test])
        return met is not self._negated[test]

    @property
    def nbytes(self) -> int:
        """The lists and the dictionary; numbers are shared, and not counted."""
        lists = (*self._tests, *self._intervals, *self._pivots.values())
        whole = (self._slot, self._negated, self._tests, self._intervals, self._pivots, self._rest)
        return sum(map(sys.getsizeof, (*lists, *whole)))


def _build(workload: Workload) -> Matching:
    return PivotDictionary(workload)


PIVOT_DICTIONARY = Contender(
    "pivot dictionary in Python",
    _build,
    100_000,
    "its time grows with the subscriptions; too slow to wait for",
)
