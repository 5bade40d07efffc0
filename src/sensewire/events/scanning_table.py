"""A hash table from (key, bytes) to numbers, in arrays, that kernels read and write.

    slots     hash → entry + 1, 0 where free; open addressing, linear probing, at most half full
    hashes    entry → its hash
    keys      entry → its key: whose bytes these are
    starts    entry → where its bytes begin in `arena`; they end where the next entry's begin
    arena     the bytes of all entries, one after another, and `PADDING` more
    counts    [entries, seed of the hashes, entries and bytes for which there is room]

An entry that is in no slot, for something without bytes, has a start like any other. Cost: one
multiplication for eight bytes, and about one probe. The seed is secret: publishers choose the
strings, and must not be able to choose such as collide. Invariant: an entry is added only where
`has_room`; else whoever called makes room, and calls again.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events.scanning import (
    PADDING,
    Bytes,
    Int32,
    Int64,
    Register,
    block,
    compiled,
    inlined,
    lent,
    product,
)
from sensewire.events.scanning_text import is_utf8

NOT_FOUND, MALFORMED = -1, -3
"""Instead of an entry's number."""
ENTRIES, SEED, ROOM, BYTES = 0, 1, 2, 3
"""Places in `counts`."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
_ONE = np.uint64(1)


class Table(NamedTuple):
    """The arrays of a table."""

    slots: Int32
    hashes: npt.NDArray[np.uint64]
    keys: Int32
    starts: Int64
    arena: Bytes
    counts: Int64


def empty(entries: int, size: int, seed: int) -> Table:
    """A table with room for so many entries, a power of two, and so many bytes."""
    return Table(
        slots=np.zeros(2 * entries, np.int32),
        hashes=np.zeros(entries, np.uint64),
        keys=np.zeros(entries, np.int32),
        starts=np.zeros(entries + 1, np.int64),
        arena=np.zeros(size + PADDING, np.uint8),
        counts=np.array([0, seed, entries, size], np.int64),
    )


def with_room(table: Table, size: int) -> Table:
    """The same entries, and room for one of so many bytes, at least."""
    count, seed, entries, most = table.counts.tolist()
    used = int(table.starts[count])
    while count >= entries:
        entries *= 2
    while used + size > most:
        most *= 2
    larger = empty(entries, most, seed)
    larger.hashes[:count] = table.hashes[:count]
    larger.keys[:count] = table.keys[:count]
    larger.starts[: count + 1] = table.starts[: count + 1]
    larger.arena[:used] = table.arena[:used]
    larger.counts[ENTRIES] = count
    _place(table.slots, larger.slots, larger.hashes)
    return larger


@compiled
def _place(old: Int32, new: Int32, hashes: npt.NDArray[np.uint64]) -> None:
    mask = np.uint64(len(new) - 1)
    for taken in old:
        if taken:
            slot = hashes[taken - 1] & mask
            while new[slot]:
                slot = (slot + _ONE) & mask
            new[slot] = taken


@inlined
def lent_table(table: Table) -> Table:
    """The table, for kernels."""
    return Table(
        lent(table.slots),
        lent(table.hashes),
        lent(table.keys),
        lent(table.starts),
        lent(table.arena),
        lent(table.counts),
    )


@inlined
def hash_begun(table: Table, key: int) -> Register:
    """The hash of no bytes."""
    return np.uint64(table.counts[SEED]) ^ (np.uint64(key) * _FINISHER)


@inlined
def hash_continued(hash: Register, bits: Register) -> Register:
    """The hash with eight bytes more."""
    high, low = product(hash ^ bits, _MULTIPLIER)
    return high ^ low


@inlined
def hash_ended(hash: Register, last: Register, length: int) -> Register:
    """The hash of a text, from that of its whole blocks, its last bytes and its length."""
    high, low = product(hash_continued(hash, last) ^ np.uint64(length), _FINISHER)
    return high ^ low


@inlined
def first_bytes(bits: Register, count: int) -> Register:
    """The first bytes of a block, 0 to 7 of them; the others 0."""
    return bits & ((_ONE << np.uint64(8 * count)) - _ONE)


@inlined
def hash_over(begun: Register, data: Bytes, start: int, end: int) -> Register:
    """A hash that has begun, over data[start:end]."""
    hash = begun
    at = start
    while at + 8 <= end:
        hash = hash_continued(hash, block(data, at))
        at += 8
    return hash_ended(hash, first_bytes(block(data, at), end - at), end - start)


@inlined
def hash_of(table: Table, key: int, data: Bytes, start: int, end: int) -> Register:
    """The hash of data[start:end]."""
    return hash_over(hash_begun(table, key), data, start, end)


@inlined
def are_same(left: Bytes, left_start: int, right: Bytes, right_start: int, length: int) -> bool:
    """Whether so many bytes of two texts are the same."""
    at = 0
    while at + 8 <= length:
        if block(left, left_start + at) != block(right, right_start + at):
            return False
        at += 8
    difference = block(left, left_start + at) ^ block(right, right_start + at)
    return bool(first_bytes(difference, length - at) == 0)


@compiled
def entry_of(table: Table, key: int, hash: Register, data: Bytes, start: int, end: int) -> Register:
    """The number of the entry (key, data[start:end]), or NOT_FOUND."""
    mask = np.uint64(2 * table.counts[ROOM] - 1)
    slot = hash & mask
    length = end - start
    while True:
        entry = np.int64(table.slots[slot]) - 1
        if entry < 0:
            return NOT_FOUND
        if table.hashes[entry] == hash and table.keys[entry] == key:
            begin = table.starts[entry]
            if table.starts[entry + 1] - begin == length and are_same(
                table.arena, begin, data, start, length
            ):
                return entry
        slot = (slot + _ONE) & mask


@inlined
def has_room(table: Table, length: int) -> bool:
    """Whether an entry of so many bytes can be added."""
    count = table.counts[ENTRIES]
    return bool(count < table.counts[ROOM] and table.starts[count] + length <= table.counts[BYTES])


@compiled
def add(table: Table, key: int, hash: Register, data: Bytes, start: int, end: int) -> Register:
    """Add an entry that is not there, where there is room; its number."""
    count = table.counts[ENTRIES]
    begin = table.starts[count]
    for index in range(end - start):
        table.arena[begin + index] = data[start + index]
    table.hashes[count] = hash
    table.keys[count] = key
    table.starts[count + 1] = begin + end - start
    mask = np.uint64(2 * table.counts[ROOM] - 1)
    slot = hash & mask
    while table.slots[slot]:
        slot = (slot + _ONE) & mask
    table.slots[slot] = count + 1
    table.counts[ENTRIES] = count + 1
    return count


@compiled
def entries_of(
    arrays: Table,
    key: int,
    texts: Bytes,
    offsets: Int64,
    present: Bytes,
    begin: int,
    adds: bool,
    entries: Int32,
) -> int:
    """The entries of texts, from text `begin` on, added where they are new, if `adds`.

    Text i is texts[offsets[i] : offsets[i + 1]], if present[i] is not 0. An entry is NOT_FOUND, or
    MALFORMED where the text is no UTF-8. The number of the text that found no room, or how many
    there are.
    """
    table, data = lent_table(arrays), lent(texts)
    for index in range(begin, len(entries)):
        if present[index] == 0:
            entries[index] = NOT_FOUND
            continue
        start, end = offsets[index], offsets[index + 1]
        hash = hash_of(table, key, data, start, end)
        entry = entry_of(table, key, hash, data, start, end)
        if entry == NOT_FOUND:
            if not is_utf8(data, start, end):
                entry = MALFORMED
            elif adds:
                if not has_room(table, end - start):
                    return index
                entry = add(table, key, hash, data, start, end)
        entries[index] = entry
    return len(entries)
