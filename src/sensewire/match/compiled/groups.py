"""An event of any kind as groups: for each slot the ranks that it has there, sorted.

    keys    slot 3: 2 5 9 │ slot 7: 4 │ slot 8: any       state   column of slot 3 → group 0
    bits    column of slot 3: ··█··█···█···               …       column of slot 8 → group 2

A group on a hot slot also has a bitmap of its codes, so that a test of one rank, such as a tag, is
one look-up however many values there are. A rank with `LOOSE` counts as a rank, and marks its
group; `ANY` marks it too. The bitmaps and states are scratch, all 0 between events.
"""

import numpy as np

from sensewire.match.compiled.conjunctions import ANY, LOOSE
from sensewire.match.compiled.jit import Array, Number, int64, kernel, loop, uint64
from sensewire.match.compiled.layout import (
    BITS,
    NO_COLUMN,
    SLOT_COLUMN,
    SLOT_RANKS,
    SLOT_SHIFT,
    code_of,
)
from sensewire.match.compiled.output import keep_distinct

_ANY_KEY, _LOOSE_KEY = 0, (1 << 31) - 1
LOOSE_FLAG, ANY_FLAG = 1, 2

# What a group knows.
GROUP_SLOT, GROUP_BEGIN, GROUP_END, GROUP_FLAGS = 0, 1, 2, 3
GROUP_FIELDS = 4


@kernel
def sorted_keys(begin: Number, end: Number, slot: Array, rank: Array, slots: Array) -> Array:
    """The event's distinct entries as slot and rank in one number, sorted."""
    keys = np.empty(2 * (end - begin), np.int64)
    number = 0
    for i in range(begin, end):
        s, r = int64(slot[i]), int64(rank[i])
        if s < 0 or s >= len(slots):
            continue
        base = s << 31
        if r == ANY:
            keys[number] = base | _ANY_KEY
            number += 1
            continue
        if r & LOOSE:
            r -= LOOSE
            keys[number] = base | _LOOSE_KEY
            number += 1
        if r > 0 and r <= slots[s, SLOT_RANKS]:
            keys[number] = base | r
            number += 1
    return keys[: keep_distinct(keys, 0, number)]


@kernel
def groups_of(keys: Array, slots: Array, state: Array, bits: Array) -> tuple[Array, Array, Array]:
    """Ranks and codes of all groups, and the groups; marks the columns' states and bitmaps."""
    ranks = np.empty(len(keys), np.int64)
    codes = np.zeros(len(keys), np.int64)
    groups = np.empty((len(keys), GROUP_FIELDS), np.int64)
    number = -1
    filled = 0
    for k in range(len(keys)):
        s, r = keys[k] >> 31, keys[k] & _LOOSE_KEY
        if number < 0 or groups[number, GROUP_SLOT] != s:
            number += 1
            groups[number, GROUP_SLOT] = s
            groups[number, GROUP_BEGIN] = groups[number, GROUP_END] = filled
            groups[number, GROUP_FLAGS] = 0
        if r == _ANY_KEY:
            groups[number, GROUP_FLAGS] |= ANY_FLAG
        elif r == _LOOSE_KEY:
            groups[number, GROUP_FLAGS] |= LOOSE_FLAG
        else:
            ranks[filled] = r
            filled += 1
            groups[number, GROUP_END] = filled
    number += 1
    for g in range(number):
        column = int64(slots[groups[g, GROUP_SLOT], SLOT_COLUMN])
        if column != NO_COLUMN:
            state[column] = g + 1
            shift = int64(slots[groups[g, GROUP_SLOT], SLOT_SHIFT])
            for k in range(groups[g, GROUP_BEGIN], groups[g, GROUP_END]):
                code = code_of(ranks[k], shift)
                codes[k] = code
                bits[column * BITS + (code >> 6)] |= uint64(1) << uint64(code & 63)
    return ranks, codes, groups[:number]


@loop
def clear(
    ranks: Array, codes: Array, groups: Array, slots: Array, state: Array, bits: Array
) -> None:
    for g in range(len(groups)):
        column = int64(slots[groups[g, GROUP_SLOT], SLOT_COLUMN])
        if column != NO_COLUMN:
            state[column] = 0
            for k in range(groups[g, GROUP_BEGIN], groups[g, GROUP_END]):
                bits[column * BITS + (codes[k] >> 6)] = uint64(0)
