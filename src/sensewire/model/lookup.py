"""From a string to its number in a column of strings: an open-addressing table in one array.

    slots   ┌──────┬──────┬──────┬──────┬──────┬──────┐    uint64, 4 slots for 3 strings
            │  ·   │ t│ 3 │ t│ 1 │  ·   │ t│ 2 │  ·   │    t: low half of the string's hash
            └──────┴──────┴──────┴──────┴──────┴──────┘    number + 1; 0: the slot is free
                      ▲      │
          high half   └──────┘  taken: try the next, around the end
          of the hash

The hash is FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv) with the finaliser of
MurmurHash3, since FNV alone mixes the high half badly where strings are short and alike. It is the
same in every process, on every machine, so a table can be written to a file and mapped by others.
It does not hold against somebody who makes up strings to collide.

Cost: 10.7 bytes a string. A search reads the string that it finds, a cache line or two of the
table, and another string once in 2 ** 32. Building is one pass, with the table as its only memory.

Invariant: from the slot that a string's hash names to the slot that holds it, no slot is free.
Strings that are equal have one slot, with the lowest of their numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sensewire.model.errors import SensewireError
from sensewire.model.jit import machine_code
from sensewire.model.strings import Bytes, Int64, Strings, read_only

Slots = npt.NDArray[np.uint64]
Place = int | np.int64
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

MOST_STRINGS = 2**31
"""More would need more than 32 bits for a slot's place."""

_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_FIRST_MIX = np.uint64(0xFF51AFD7ED558CCD)
_SECOND_MIX = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(32)
_MIX_SHIFT = np.uint64(33)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_FREE = np.uint64(0)
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The numbers of a column's strings.

    >>> lookup = Lookup.of(Strings.of(["fox", "hen", "fox"]))
    >>> lookup.find("hen"), lookup.find("fox"), lookup.find("wolf")
    (1, 0, None)
    """

    strings: Strings
    slots: Slots

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", read_only(self.slots))

    @classmethod
    def of(cls, strings: Strings) -> "Lookup":
        """Make the table of a column."""
        if len(strings) > MOST_STRINGS:
            raise SensewireError(f"{len(strings)} strings: a table holds up to {MOST_STRINGS}")
        slots = np.zeros(len(strings) * 4 // 3 + 1, dtype=np.uint64)  # one is always free
        _fill(slots, strings.offsets, strings.utf8)
        return cls(strings, slots)

    def find(self, string: str) -> int | None:
        """The number of a string, the lowest if it is there several times; None if it is not."""
        try:
            key = np.frombuffer(string.encode(), dtype=np.uint8)
        except UnicodeEncodeError:  # no column has such a string
            return None
        number: int = _number_of(key, self.slots, self.strings.offsets, self.strings.utf8)
        return None if number < 0 else number


@machine_code
def hash_of(utf8: Bytes, start: Place, end: Place) -> np.uint64:
    """The hash of the bytes from start up to end."""
    mixed = _BASIS
    for place in range(start, end):
        mixed = (mixed ^ np.uint64(utf8[place])) * _PRIME
    mixed = (mixed ^ (mixed >> _MIX_SHIFT)) * _FIRST_MIX
    mixed = (mixed ^ (mixed >> _MIX_SHIFT)) * _SECOND_MIX
    return mixed ^ (mixed >> _MIX_SHIFT)


@machine_code
def _first_slot(mixed: np.uint64, count: int) -> np.uint64:
    # A fraction of the table rather than a remainder: no division, and any size will do.
    return ((mixed >> _HALF) * np.uint64(count)) >> _HALF


@machine_code
def _equal(
    left: Bytes, start: Place, end: Place, right: Bytes, other: Place, other_end: Place
) -> bool:
    if end - start != other_end - other:
        return False
    for place in range(end - start):  # noqa: SIM110 - a kernel has no generators
        if left[start + place] != right[other + place]:
            return False
    return True


@machine_code
def _fill(slots: Slots, offsets: Int64, utf8: Bytes) -> None:
    count = len(slots)
    for number in range(len(offsets) - 1):
        start, end = offsets[number], offsets[number + 1]
        mixed = hash_of(utf8, start, end)
        tag = mixed & _LOW_HALF
        slot = _first_slot(mixed, count)
        while slots[slot] != _FREE:
            if slots[slot] >> _HALF == tag:
                known = np.int64(slots[slot] & _LOW_HALF) - 1
                if _equal(utf8, start, end, utf8, offsets[known], offsets[known + 1]):
                    break
            slot += _ONE
            if slot == np.uint64(count):
                slot = _FREE
        if slots[slot] == _FREE:
            slots[slot] = (tag << _HALF) | np.uint64(number + 1)


@machine_code
def _number_of(key: Bytes, slots: Slots, offsets: Int64, utf8: Bytes) -> int:
    count = len(slots)
    start, end = np.int64(0), np.int64(len(key))  # a literal 0 would be one more type to compile
    mixed = hash_of(key, start, end)
    tag = mixed & _LOW_HALF
    slot = _first_slot(mixed, count)
    while slots[slot] != _FREE:
        if slots[slot] >> _HALF == tag:
            known = np.int64(slots[slot] & _LOW_HALF) - 1
            if _equal(key, start, end, utf8, offsets[known], offsets[known + 1]):
                return int(known)
        slot += _ONE
        if slot == np.uint64(count):
            slot = _FREE
    return -1
