"""What the kernels see: conjunctions of tests on slots, and events as ranks on slots.

A *slot* is something that an event has a rank on, or several, or none: an attribute's numbers, its
words, a flag. Ranks of a slot are 1 … `ranks[slot]`; 0 stands for "absent". A *test* names a slot
and a set of ranks: it holds where the event has some rank of the set on the slot; a negated test,
where it has none. All that values mean (kinds, bridges, synonyms, hierarchies) went into the ranks
before: kernels compare small integers and nothing else.

    slot 3: ranks   1   2   3   4   5   6   7      an event with ranks {3, 6} on slot 3
    test            ·   ■   ■   ·   ·   ·   ·      holds; negated: does not
    test            ·   ·   ·   ■   ■   ·   ■      does not; negated: holds
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

ABSENT = 0
LOOSE = 1 << 30
"""Added to a rank: perhaps the event has it. Negated tests on the slot then hold as well."""
ANY = -1
"""The rank of a slot of which nothing is known: every test on it holds, negated or not."""


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Distinct tests: each a slot and intervals of its ranks, disjoint, ascending, not adjacent.

    The intervals of test i are low[offsets[i]] … high[offsets[i]], and so on to offsets[i + 1]. A
    test without intervals never holds (negated: always).
    """

    slot: Int32
    negated: Truths
    offsets: Int64
    low: Int32
    high: Int32


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """Many conjunctions: the tests of one, distinct, are test[offsets[i] : offsets[i + 1]].

    One without tests holds for every event.
    """

    ranks: Int32  # slot → its highest rank
    tests: Tests
    offsets: Int64
    test: Int32

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Many events: the entries of event i are rows offsets[i] … offsets[i + 1] − 1, in any order.

    Several entries with one slot: many values; an entry may stand twice. A rank may carry `LOOSE`,
    or be `ANY`: then an event's pairs are candidates, and the caller decides them.
    """

    offsets: Int64
    slot: Int32
    rank: Int32

    def __len__(self) -> int:
        return len(self.offsets) - 1
