"""Clauses on their way into a segment: those that came, and those of segments that are merged."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sensewire.match.compiled.catalogue import Wanted
from sensewire.match.compiled.conjunctions import Int32, Int64, Truths
from sensewire.match.compiled.segment import Clauses


@dataclass(slots=True)
class Pending:
    """Clauses that are not compiled yet."""

    numbers: list[int] = field(default_factory=list)
    tests: list[tuple[int, ...]] = field(default_factory=list)
    judged: list[bool] = field(default_factory=list)
    codes: list[tuple[int, ...]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, number: int, wanted: Wanted) -> None:
        self.numbers.append(number)
        self.tests.append(wanted.tests)
        self.judged.append(not wanted.sure)
        self.codes.append(wanted.code)

    def clauses(self) -> Clauses:
        return Clauses(
            np.array(self.numbers, np.int32),
            *_flat(self.tests),
            np.array(self.judged, np.bool_),
            *_flat(self.codes),
        )


def _flat(parts: Sequence[tuple[int, ...]]) -> tuple[Int64, Int32]:
    """Where each part begins, and all numbers of the parts."""
    flat = array("i")
    for part in parts:
        flat.extend(part)
    counts = np.array([len(part) for part in parts], np.int64)
    ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return ends, np.array(flat, np.int32)


def merged(parts: Sequence[Clauses], alive: Truths) -> Clauses:
    """The clauses that are still alive."""
    kept = [part.only(alive[part.numbers]) for part in parts]

    def offsets(each: Sequence[Int64]) -> Int64:
        counts = np.concatenate([np.diff(one) for one in each] or [np.empty(0)])
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    return Clauses(
        np.concatenate([part.numbers for part in kept] or [np.empty(0, np.int32)]),
        offsets([part.offsets for part in kept]),
        np.concatenate([part.tests for part in kept] or [np.empty(0, np.int32)]),
        np.concatenate([part.judged for part in kept] or [np.empty(0, np.bool_)]),
        offsets([part.code_offsets for part in kept]),
        np.concatenate([part.codes for part in kept] or [np.empty(0, np.int32)]),
    )
