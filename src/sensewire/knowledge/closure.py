"""⊑ as arrays: the closure of a hierarchy, computed once, asked for whole batches.

Concepts are numbered. Up to `DENSE` of them the closure is a table of n · n truths, 64 MiB at most;
beyond, the pairs (x, c) as sorted numbers x · n + c. Asking costs a look-up, or a binary search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.hierarchy import Hierarchy
from sensewire.model.terms import Term

DENSE = 8_192
UNKNOWN = -1
Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """Which of the numbered concepts is ⊑ which."""

    numbers: dict[Term, int]
    offsets: Numbers  # the ancestors of i are ancestors[offsets[i] : offsets[i + 1]], sorted
    ancestors: npt.NDArray[np.int32]
    table: Truths | None  # n · n, flat
    pairs: Numbers | None

    def numbered(self, roots: Iterable[Term]) -> Numbers:
        """The numbers of roots, UNKNOWN where there is none."""
        return np.array([self.numbers.get(root, UNKNOWN) for root in roots], dtype=np.int64)

    def is_below(self, narrower: Numbers, broader: Numbers) -> Truths:
        """x ⊑ c, pair by pair; an unknown concept is below nothing, itself included."""
        if not len(narrower):
            return np.zeros(0, dtype=np.bool_)
        if min(narrower.min(), broader.min()) >= 0:
            return self._are_below(narrower, broader)
        known = (narrower >= 0) & (broader >= 0)
        found = np.zeros(len(narrower), dtype=np.bool_)
        found[known] = self._are_below(narrower[known], broader[known])
        return found

    def _are_below(self, narrower: Numbers, broader: Numbers) -> Truths:
        if self.table is not None:
            return cast("Truths", self.table[narrower * len(self.numbers) + broader])
        assert self.pairs is not None
        asked = narrower * len(self.numbers) + broader
        at = np.minimum(np.searchsorted(self.pairs, asked), len(self.pairs) - 1)
        return cast("Truths", self.pairs[at] == asked)


def closure_of(hierarchy: Hierarchy, roots: Sequence[Term], dense: int = DENSE) -> Closure:
    """The closure over some roots, which must hold whatever is above each of them."""
    numbers = {root: number for number, root in enumerate(roots)}
    rows = [sorted(numbers[each] for each in hierarchy.above(root)) for root in roots]
    offsets = np.zeros(len(roots) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    ancestors = np.array([number for row in rows for number in row], dtype=np.int32)
    owners = np.repeat(np.arange(len(roots), dtype=np.int64), np.diff(offsets))
    if len(roots) > dense:
        pairs = owners * len(roots) + ancestors
        return Closure(numbers, offsets, ancestors, None, pairs)
    table = np.zeros(len(roots) ** 2, dtype=np.bool_)
    table[owners * len(roots) + ancestors] = True
    return Closure(numbers, offsets, ancestors, table, None)
