"""A hash table from tokens of N-Quads, as they are written, to the codes of their terms.

    slots     half of the hash, and entry + 1; 0 where free; linear probing, at most half full
    hashes    entry → its hash
    starts    entry → where its bytes begin in `arena`; they end where the next entry's begin
    term      entry → the code of its term: the number of the entry with its canonical token; or ODD
    marks     entry → BLANK; what is known of it as a property
    arena     the bytes of all entries, one after another, and `PADDING` more
    counts    [entries, seed of the hashes, entries and bytes for which there is room]

A token is looked at closely when it is met first, and then made canonical; later it is found by its
bytes. Cost: about one probe and one multiplication for eight bytes. The seed is secret: publishers
choose the tokens, and must not be able to choose such as collide.

Invariant: a token that is found and not ODD is one that pyoxigraph reads in the same way. Others
get in from Python, such as the names of graphs that bad lines are of: they are ODD, and their own
number is their code.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events.nquads_canonical import AS_WRITTEN, canonical
from sensewire.events.nquads_tokens import ODD
from sensewire.events.scanning import (
    PADDING,
    Bytes,
    Int32,
    Int64,
    Register,
    compiled,
    inlined,
    lent,
)
from sensewire.events.scanning_table import are_same, hash_over

FULL = -2
"""Instead of a code: there is no room for the token."""
NOT_FOUND = -3
ENTRIES, SEED, ROOM, BYTES = 0, 1, 2, 3
"""Places in `counts`."""
BLANK, MET, DROPPED = 1, 2, 4
"""Marks: a blank node; a property that was met, and one that nobody wants."""

_ENTRY = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


class TermTable(NamedTuple):
    """The arrays of a table."""

    slots: npt.NDArray[np.uint64]
    hashes: npt.NDArray[np.uint64]
    starts: Int64
    term: Int32
    marks: Bytes
    arena: Bytes
    counts: Int64


def empty(entries: int, size: int, seed: int) -> TermTable:
    """A table with room for so many entries, a power of two, and so many bytes."""
    return TermTable(
        slots=np.zeros(2 * entries, np.uint64),
        hashes=np.zeros(entries, np.uint64),
        starts=np.zeros(entries + 1, np.int64),
        term=np.zeros(entries, np.int32),
        marks=np.zeros(entries, np.uint8),
        arena=np.zeros(size + PADDING, np.uint8),
        counts=np.array([0, seed, entries, size], np.int64),
    )


def with_room(table: TermTable, size: int) -> TermTable:
    """The same entries, and room for a token of so many bytes, and for its canonical one."""
    count, seed, entries, most = table.counts.tolist()
    used = int(table.starts[count])
    while count + 2 > entries:
        entries *= 2
    while used + 2 * size > most:
        most *= 2
    larger = empty(entries, most, seed)
    larger.hashes[:count] = table.hashes[:count]
    larger.starts[: count + 1] = table.starts[: count + 1]
    larger.term[:count] = table.term[:count]
    larger.marks[:count] = table.marks[:count]
    larger.arena[:used] = table.arena[:used]
    larger.counts[ENTRIES] = count
    _place(larger.slots, larger.hashes, count)
    return larger


@compiled
def _place(slots: npt.NDArray[np.uint64], hashes: npt.NDArray[np.uint64], count: int) -> None:
    mask = np.uint64(len(slots) - 1)
    for entry in range(count):
        slot = hashes[entry] & mask
        while slots[slot]:
            slot = (slot + _ONE) & mask
        slots[slot] = (hashes[entry] >> _HALF) << _HALF | np.uint64(entry + 1)


@inlined
def lent_terms(table: TermTable) -> TermTable:
    """The table, for kernels."""
    return TermTable(
        lent(table.slots),
        lent(table.hashes),
        lent(table.starts),
        lent(table.term),
        lent(table.marks),
        lent(table.arena),
        lent(table.counts),
    )


@inlined
def _hash_of(table: TermTable, data: Bytes, start: int, end: int) -> Register:
    return hash_over(np.uint64(table.counts[SEED]), data, start, end)


@inlined
def _entry_of(table: TermTable, hash: Register, data: Bytes, start: int, end: int) -> Register:
    mask = np.uint64(2 * table.counts[ROOM] - 1)
    slot = hash & mask
    length = end - start
    while True:
        taken = table.slots[slot]
        if taken == 0:
            return np.int64(NOT_FOUND)
        if (taken ^ hash) >> _HALF == 0:
            entry = np.int64(taken & _ENTRY) - 1
            begin = table.starts[entry]
            if table.starts[entry + 1] - begin == length and are_same(
                table.arena, begin, data, start, length
            ):
                return entry
        slot = (slot + _ONE) & mask


@compiled
def code_of(table: TermTable, data: Bytes, start: int, end: int, out: Bytes) -> Register:
    """The code of the term that a token writes; ODD, or FULL. `out` has room for such a token."""
    hash = _hash_of(table, data, start, end)
    entry = _entry_of(table, hash, data, start, end)
    if entry >= 0:
        return np.int64(table.term[entry])
    return _learned(table, hash, data, start, end, out)


@compiled
def _learned(
    table: TermTable, hash: Register, data: Bytes, start: int, end: int, out: Bytes
) -> Register:
    """The code of a token that is met for the first time."""
    count = table.counts[ENTRIES]
    used = table.starts[count] + 2 * (end - start)
    if count + 2 > table.counts[ROOM] or used > table.counts[BYTES]:
        return np.int64(FULL)
    size = canonical(data, start, end, out)
    if size == ODD:
        return np.int64(ODD)
    if size == AS_WRITTEN or (size == end - start and are_same(data, start, out, 0, size)):
        return _add(table, hash, data, start, end, count)
    its_hash = _hash_of(table, out, 0, size)
    code = _entry_of(table, its_hash, out, 0, size)
    if code < 0:
        code = _add(table, its_hash, out, 0, size, count)
    return _add(table, hash, data, start, end, code)


@inlined
def _add(
    table: TermTable, hash: Register, data: Bytes, start: int, end: int, code: Register
) -> Register:
    entry = table.counts[ENTRIES]
    begin = table.starts[entry]
    for index in range(end - start):
        table.arena[begin + index] = data[start + index]
    table.hashes[entry] = hash
    table.starts[entry + 1] = begin + end - start
    table.term[entry] = code
    table.marks[entry] = BLANK if data[start] == ord("_") else 0
    mask = np.uint64(2 * table.counts[ROOM] - 1)
    slot = hash & mask
    while table.slots[slot]:
        slot = (slot + _ONE) & mask
    table.slots[slot] = (hash >> _HALF) << _HALF | np.uint64(entry + 1)
    table.counts[ENTRIES] = entry + 1
    return np.int64(code)


@compiled
def code_of_canonical(arrays: TermTable, token: Bytes, length: int, buffer: Bytes) -> int:
    """The code of a token that is canonical, if it is one, or FULL."""
    table, data = lent_terms(arrays), lent(token)
    hash = _hash_of(table, data, 0, length)
    entry = _entry_of(table, hash, data, 0, length)
    if entry >= 0:
        return int(entry)
    count = table.counts[ENTRIES]
    used = table.starts[count] + 2 * length
    if count + 2 > table.counts[ROOM] or used > table.counts[BYTES]:
        return FULL
    is_odd = canonical(data, 0, length, lent(buffer)) == ODD
    _add(table, hash, data, 0, length, np.int64(ODD) if is_odd else count)
    return int(count)
