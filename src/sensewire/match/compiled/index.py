"""The compiled index of many conjunctions: built once, immutable, made of plain arrays.

Three kernels match events with it: `panel` batches of plain events, `single` one or few of them,
`odd` the events that are not plain; each in a form for AVX-512 and in one for every machine. Which
serves a call is decided by the number of its events.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sensewire.match.compiled.build import build_tables
from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Int32
from sensewire.match.compiled.jit import Array
from sensewire.match.compiled.layout import (
    BITS,
    COLUMNS,
    NAMES,
    SIZE_CONJUNCTIONS,
    SIZE_WITHOUT_PIVOT,
)
from sensewire.match.compiled.odd import match_odd
from sensewire.match.compiled.panel import BATCH, match_panel
from sensewire.match.compiled.single import match_single
from sensewire.match.compiled.vectors import available

_FEW = 48  # events: up to here `single` is the faster one
_ROOM = 1 << 14

KERNELS = ("panel", "single", "odd", "portable panel", "portable single", "portable odd")
"""The kernels by name; without AVX-512 the first three are the portable ones."""


Match = Callable[..., Any]
"""A kernel, called with all tables of an index."""


class _Scratch(threading.local):
    """What a thread needs to match, kept from call to call."""

    def __init__(self) -> None:
        self.bits = np.zeros(COLUMNS * BITS, np.uint64)
        self.make_room(_ROOM)

    def make_room(self, pairs: int) -> None:
        """New room for so many pairs; what is not used of it takes no memory."""
        self.out_event = np.empty(pairs, np.int32)
        self.out_conjunction = np.empty(pairs, np.int32)

    def taken(self, event: Array, conjunction: Array, number: int) -> tuple[Int32, Int32]:
        """The pairs found: copied out where they are few, else given away with the room."""
        if number > _ROOM:
            self.make_room(number + number // 4)  # the next call may well find as many
            return event[:number], conjunction[:number]
        self.out_event, self.out_conjunction = event, conjunction
        return event[:number].copy(), conjunction[:number].copy()


_scratch = _Scratch()
_vector = True if available() else None


class Index:
    """Conjunctions that many events are matched with. Several threads may match at a time."""

    __slots__ = ("_tables",)
    takes_loose = True

    def __init__(self, tables: tuple[Array, ...]) -> None:
        self._tables = tables

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> "Index":
        """The index whose `arrays()` these are, or were; they may be read-only memory maps."""
        return Index(tuple(_frozen(arrays[name]) for name in NAMES))

    def arrays(self) -> dict[str, Array]:
        """All that the index is made of."""
        return dict(zip(NAMES, self._tables, strict=True))

    def __len__(self) -> int:
        return int(self._tables[0][SIZE_CONJUNCTIONS])

    @property
    def nbytes(self) -> int:
        """The memory that the index takes."""
        return sum(table.nbytes for table in self._tables)

    @property
    def without_pivot(self) -> int:
        """How many conjunctions are tried for more than a quarter of all events."""
        return int(self._tables[0][SIZE_WITHOUT_PIVOT])

    def match(self, entries: Entries, kernel: str = "auto") -> tuple[Int32, Int32]:
        """Events and conjunctions that match: each pair once, in any order.

        `kernel` is one of `KERNELS`, to try it, or "auto".
        """
        number = len(entries)
        if kernel == "auto":
            kernel = "single" if number <= _FEW else "panel"
        scratch = _scratch
        columns = (_frozen(entries.offsets), _frozen(entries.slot), _frozen(entries.rank))
        vector: Any = None if kernel.startswith("portable") else _vector
        match_plain: Match = match_panel
        match_any: Match = match_odd
        step = BATCH
        if kernel.endswith("single"):
            match_plain, step = match_single, max(number, 1)
        out_event, out_conjunction, filled = scratch.out_event, scratch.out_conjunction, 0
        odd: list[Array] = []
        if kernel.endswith("odd"):
            odd.append(np.arange(number, dtype=np.int32))
        else:
            for begin in range(0, number, step):
                out_event, out_conjunction, filled, rest = match_plain(
                    vector, *self._tables, *columns, begin, min(begin + step, number),
                    out_event, out_conjunction, filled,
                )  # fmt: skip
                odd.append(rest)
        for rest in odd:
            if len(rest):
                out_event, out_conjunction, filled = match_any(
                    vector, *self._tables, *columns, rest, scratch.bits,
                    out_event, out_conjunction, filled,
                )  # fmt: skip
        return scratch.taken(out_event, out_conjunction, filled)


def build(conjunctions: Conjunctions, sample: Entries) -> Index:
    """The index of `conjunctions`, for events like those of `sample`, which may be empty."""
    return Index.from_arrays(build_tables(conjunctions, sample))


def _frozen(array: Array) -> Array:
    """A read-only view, so that a kernel is compiled once, whether the index is mapped or not."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    if view is array:
        view = array.view()
    view.flags.writeable = False
    return view
