"""What contenders are measured on: conjunctions, the events to match, and others like them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Int32, Int64, Truths
from sensewire.match.compiled.conjunctions import Tests as DistinctTests

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """One workload at one size; `sample` holds events for an index to learn from, none to match."""

    name: str
    conjunctions: Conjunctions
    events: Entries
    sample: Entries


def first(entries: Entries, count: int) -> Entries:
    """The first events of many.

    >>> some = Entries(np.array([0, 1, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int32))
    >>> len(first(some, 1)), first(some, 1).slot.tolist()
    (1, [0])
    """
    offsets = entries.offsets[: count + 1]
    return Entries(offsets, entries.slot[: offsets[-1]], entries.rank[: offsets[-1]])


def offsets_of(lengths: npt.ArrayLike) -> Int64:
    """Where runs of these lengths start, and where the last one ends.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    found = np.zeros(np.size(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def conjoined(
    ranks: Int32,
    offsets: Int64,
    test: Int64,
    slot: npt.ArrayLike,
    negated: Truths,
    low: Int32,
    high: Int32,
) -> Conjunctions:
    """Conjunctions from distinct tests whose intervals are rows of `low` and `high`, 0 for none.

    >>> row = lambda *ranks: np.array([ranks], np.int32)
    >>> made = conjoined(row(9)[0], np.array([0, 1]), np.array([0]), [0], np.array([False]),
    ...                  row(0, 2, 5), row(0, 3, 9))
    >>> made.tests.offsets.tolist(), made.tests.low.tolist(), made.tests.high.tolist()
    ([0, 2], [2, 5], [3, 9])
    """
    there = low > 0
    tests = DistinctTests(
        np.asarray(slot, np.int32),
        negated,
        offsets_of(there.sum(axis=1)),
        low[there].astype(np.int32),
        high[there].astype(np.int32),
    )
    return Conjunctions(ranks, tests, offsets, test.astype(np.int32))
