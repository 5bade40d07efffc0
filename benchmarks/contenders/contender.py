"""What a contender is: something that makes an index of a workload, and matches events with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sensewire.match.compiled.conjunctions import Entries, Int32
from workloads.workload import Workload


class Matching(Protocol):
    """An index: the pairs of an event and a conjunction that holds for it, each once."""

    def match(self, entries: Entries) -> tuple[Int32, Int32]: ...

    @property
    def nbytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to match, and how many conjunctions it can stand within a benchmark's patience."""

    name: str
    build: Callable[[Workload], Matching]
    stands: int = 1_000_000
    beyond: str = ""  # why it is left out above that
    compiles: bool = False  # once warm, build it several times


@dataclass(frozen=True, slots=True, eq=False)
class Posted:
    """The intervals of all tests of all conjunctions, flat: what a table of predicates holds."""

    conjunction: Int32
    test: Int32
    slot: Int32
    low: Int32
    high: Int32
    negated: np.ndarray[tuple[int], np.dtype[np.bool_]]
    needed: Int32  # conjunction → its positive tests


def posted(workload: Workload) -> Posted:
    """Flatten a workload's conjunctions."""
    conjunctions, tests = workload.conjunctions, workload.conjunctions.tests
    count = len(conjunctions)
    owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(conjunctions.offsets))
    lengths = np.diff(tests.offsets)[conjunctions.test]
    starts = tests.offsets[:-1][conjunctions.test]
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    interval = np.repeat(starts, lengths) + np.arange(lengths.sum()) - before
    test = np.repeat(conjunctions.test, lengths)
    positive = ~tests.negated[conjunctions.test]
    return Posted(
        np.repeat(owner, lengths),
        test,
        tests.slot[test],
        tests.low[interval],
        tests.high[interval],
        tests.negated[test],
        np.bincount(owner[positive], minlength=count).astype(np.int32),
    )


def events_of(entries: Entries) -> Int32:
    """The event of each entry."""
    return np.repeat(np.arange(len(entries), dtype=np.int32), np.diff(entries.offsets))


def many_valued(entries: Entries) -> bool:
    """Whether some event has several entries on one slot: then a test may be met several times."""
    slots = int(entries.slot.max(initial=0)) + 1
    keys = events_of(entries).astype(np.int64) * slots + entries.slot
    return len(np.unique(keys)) < len(keys)
