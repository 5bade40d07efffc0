"""Which postings an event of any kind reads: ranges of them, no list twice.

Ranks of a group ascend, and so do the cells that they lead to: equal ones follow one another. The
lists of classes are sorted. A group marked by `ANY` reads everything that is posted under its slot:
lists of one kind lie side by side.
"""

import numpy as np

from sensewire.match.compiled.groups import (
    ANY_FLAG,
    GROUP_BEGIN,
    GROUP_END,
    GROUP_FLAGS,
    GROUP_SLOT,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, loop, uint64
from sensewire.match.compiled.layout import (
    BUCKETS,
    LEVELS,
    PAIR_COARSE,
    PAIR_FINE,
    PAIR_LEFT,
    PAIR_RIGHT,
    SIZE_COARSE,
    SIZE_FINE,
    SLOT_RANKS,
    SLOT_SHIFT,
    SLOT_UNIT,
    UNIT_BUCKETS,
    UNIT_CLASSES,
    UNIT_DYADIC,
    UNIT_EQUAL,
    UNIT_EQUAL_CELLS,
    UNIT_EQUAL_SHIFT,
    UNIT_LEVELS,
    code_of,
    dyadic_offset,
)
from sensewire.match.compiled.output import keep_distinct


@inlined
def add(
    ranges: Array, number: Number, begin: Number, end: Number, left: Number, right: Number
) -> tuple[Array, Number]:
    """Add a range of postings to read; `left` and `right` are a grid's columns, or −1."""
    if begin < end:
        if number == len(ranges):
            larger = np.empty((2 * number, 4), np.int64)
            larger[:number] = ranges
            ranges = larger
        ranges[number, 0], ranges[number, 1] = begin, end
        ranges[number, 2], ranges[number, 3] = left, right
        number += 1
    return ranges, number


@kernel
def unit_ranges(
    ranges: Array, number: Number, unit: Number, ranks: Array, group: Array, slots: Array,
    units: Array, buckets: Array, class_offsets: Array, class_lists: Array, list_start: Array,
) -> tuple[Array, Number]:  # fmt: skip
    """The postings that one slot's ranks lead to."""
    begin, end, every = group[GROUP_BEGIN], group[GROUP_END], group[GROUP_FLAGS] & ANY_FLAG
    base, cells = units[unit, UNIT_EQUAL], units[unit, UNIT_EQUAL_CELLS]
    if base >= 0 and every:
        ranges, number = add(ranges, number, list_start[base], list_start[base + cells], -1, -1)
    elif base >= 0:
        last = int64(-1)
        for k in range(begin, end):
            cell = base + (ranks[k] >> units[unit, UNIT_EQUAL_SHIFT])
            if cell != last:
                ranges, number = add(ranges, number, list_start[cell], list_start[cell + 1], -1, -1)
            last = cell
    shift = int64(slots[group[GROUP_SLOT], SLOT_SHIFT])
    for level in range(LEVELS):
        if not (units[unit, UNIT_LEVELS] >> level) & 1:
            continue
        base = units[unit, UNIT_DYADIC] + dyadic_offset(level)
        if every:
            end_cell = base + (BUCKETS >> level)
            ranges, number = add(ranges, number, list_start[base], list_start[end_cell], -1, -1)
            continue
        last = int64(-1)
        for k in range(begin, end):
            bucket = buckets[units[unit, UNIT_BUCKETS] + code_of(ranks[k], shift)]
            cell = base + (int64(bucket) >> level)
            if cell != last:
                ranges, number = add(ranges, number, list_start[cell], list_start[cell + 1], -1, -1)
            last = cell
    base = units[unit, UNIT_CLASSES]
    if base >= 0:
        if every:
            row, end_row = base, base + int64(slots[group[GROUP_SLOT], SLOT_RANKS]) + 1
            found = class_lists[class_offsets[row] : class_offsets[end_row]].copy()
        else:
            total = 0
            for k in range(begin, end):
                total += class_offsets[base + ranks[k] + 1] - class_offsets[base + ranks[k]]
            found = np.empty(total, class_lists.dtype)
            total = 0
            for k in range(begin, end):
                for i in range(class_offsets[base + ranks[k]], class_offsets[base + ranks[k] + 1]):
                    found[total] = class_lists[i]
                    total += 1
        for i in range(keep_distinct(found, 0, len(found))):
            ranges, number = add(
                ranges, number, list_start[found[i]], list_start[found[i] + 1], -1, -1
            )
    return ranges, number


@kernel
def pair_ranges(
    ranges: Array, number: Number, pair: Array, ranks: Array, left: Array, right: Array,
    sizes: Array, slots: Array, units: Array, buckets: Array, list_start: Array,
) -> tuple[Array, Number]:  # fmt: skip
    """The postings in the cells that two slots' ranks lead to in their grids."""
    for base, side in (
        (pair[PAIR_FINE], sizes[SIZE_FINE]),
        (pair[PAIR_COARSE], sizes[SIZE_COARSE]),
    ):
        if base < 0:
            continue
        rows = _cells_of(left, ranks, side, slots, units, buckets)
        columns = _cells_of(right, ranks, side, slots, units, buckets)
        for row in range(side):
            if (rows >> uint64(row)) & uint64(1):
                for column in range(side):
                    if (columns >> uint64(column)) & uint64(1):
                        cell = base + row * side + column
                        ranges, number = add(
                            ranges, number, list_start[cell], list_start[cell + 1],
                            pair[PAIR_LEFT], pair[PAIR_RIGHT],
                        )  # fmt: skip
    return ranges, number


@loop
def _cells_of(
    group: Array, ranks: Array, side: Number, slots: Array, units: Array, buckets: Array
) -> Number:
    """A bit for each of a grid's cells, up to 64 along a slot, that the group has a rank in."""
    if group[GROUP_FLAGS] & ANY_FLAG:
        return ~uint64(0)
    base = units[slots[group[GROUP_SLOT], SLOT_UNIT], UNIT_BUCKETS]
    cells = uint64(0)
    for k in range(group[GROUP_BEGIN], group[GROUP_END]):
        cells |= uint64(1) << uint64((int64(buckets[base + ranks[k]]) * side) >> 8)
    return cells
