"""Clauses on their way into a segment: those that came, and those of segments that are merged."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sensewire.match.compiled.catalogue import Wanted
from sensewire.match.compiled.conjunctions import Truths
from sensewire.match.compiled.segment import Clauses


@dataclass(slots=True)
class Pending:
    """Clauses that are not compiled yet."""

    numbers: list[int] = field(default_factory=list)
    tests: list[tuple[int, ...]] = field(default_factory=list)
    judged: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, number: int, wanted: Wanted) -> None:
        self.numbers.append(number)
        self.tests.append(wanted.tests)
        self.judged.append(not wanted.sure)

    def clauses(self) -> Clauses:
        counts = np.array([len(tests) for tests in self.tests], np.int64)
        flat = array("i")
        for tests in self.tests:
            flat.extend(tests)
        return Clauses(
            np.array(self.numbers, np.int32),
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            np.array(flat, np.int32),
            np.array(self.judged, np.bool_),
        )


def merged(parts: Sequence[Clauses], alive: Truths) -> Clauses:
    """The clauses that are still alive."""
    kept = [part.only(alive[part.numbers]) for part in parts]
    counts = [np.diff(part.offsets) for part in kept]
    return Clauses(
        np.concatenate([part.numbers for part in kept] or [np.empty(0, np.int32)]),
        np.concatenate(([0], np.cumsum(np.concatenate(counts or [np.empty(0)])))).astype(np.int64),
        np.concatenate([part.tests for part in kept] or [np.empty(0, np.int32)]),
        np.concatenate([part.judged for part in kept] or [np.empty(0, np.bool_)]),
    )
