"""A batch of plain events as the panels need it: rows, and entries by unit.

    batch ──> rows: 64 codes for each event
          └─> entries by unit, each later sorted by rank
          └─> quantile buckets by column, for the grids

An event is *plain* if it has one firm rank at most on every slot, and not too many entries.
"""

import numpy as np

from sensewire.match.compiled.conjunctions import LOOSE
from sensewire.match.compiled.jit import Array, Number, int32, int64, kernel, loop, uint64
from sensewire.match.compiled.layout import (
    COLUMNS,
    CONSTANT_COLUMN,
    NO_COLUMN,
    SLOT_COLUMN,
    SLOT_RANKS,
    SLOT_SHIFT,
    SLOT_UNIT,
    UNIT_BUCKETS,
    code_of,
)

MOST_ENTRIES = 256
"""Of a plain event: beyond this a search for a slot among the entries would take too long."""
LEAST_SORTED = 64


@kernel
def aligned_rows(number: Number) -> Array:
    """Rows of zeros for so many events, the constant set, beginning at a multiple of 64 bytes."""
    room = np.zeros((number + 1) * COLUMNS, np.uint16)
    skip = (-room.ctypes.data % 64) // 2
    row = room[skip : skip + number * COLUMNS]
    for local in range(number):
        row[local * COLUMNS + CONSTANT_COLUMN] = 1
    return row


@kernel
def sorted_out(
    begin: Number, end: Number, offsets: Array, slot: Array, rank: Array, slots: Number
) -> tuple[Array, Array]:
    """The plain events and the others."""
    last = np.full(slots, -1, np.int32)
    events = np.empty(end - begin, np.int32)
    odd = np.empty(end - begin, np.int32)
    plain, other = 0, 0
    for event in range(begin, end):
        fits = offsets[event + 1] - offsets[event] <= MOST_ENTRIES
        if fits:
            for i in range(offsets[event], offsets[event + 1]):
                s = slot[i]
                if s < 0 or s >= slots:
                    continue
                fits &= (last[s] != event) & (rank[i] >= 0) & (rank[i] < LOOSE)
                last[s] = event
        events[plain] = event
        odd[other] = event
        plain += fits
        other += not fits
    return events[:plain], odd[:other]


@kernel
def entries_by_unit(
    events: Array, offsets: Array, slot: Array, rank: Array, slots: Array, units: Array,
    buckets: Array, row: Array, bucket: Array, present: Array, width: Number,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The entries of each unit; fills the rows, and the quantile buckets by column."""
    start = np.zeros(len(units) + 2, np.int32)
    for local in range(len(events)):
        event = events[local]
        for i in range(offsets[event], offsets[event + 1]):
            s, r = int64(slot[i]), int64(rank[i])
            if s < 0 or s >= len(slots) or r == 0 or r > slots[s, SLOT_RANKS]:
                continue
            start[slots[s, SLOT_UNIT] + 2] += int32(1)  # without a unit: counted before all
    start[1] = 0
    for unit in range(len(units)):
        start[unit + 2] += start[unit + 1]
    unit_event = np.empty(start[-1], np.uint16)
    unit_rank = np.empty(start[-1], np.int32)
    for local in range(len(events)):
        event = events[local]
        for i in range(offsets[event], offsets[event + 1]):
            s, r = int64(slot[i]), int64(rank[i])
            if s < 0 or s >= len(slots) or r == 0 or r > slots[s, SLOT_RANKS]:
                continue
            code = code_of(r, int64(slots[s, SLOT_SHIFT]))
            column = int64(slots[s, SLOT_COLUMN])
            unit = int64(slots[s, SLOT_UNIT])
            if column != NO_COLUMN:
                row[local * COLUMNS + column] = code
            if unit >= 0:
                place = start[unit + 1]
                start[unit + 1] = place + 1
                unit_event[place] = local
                unit_rank[place] = r
                base = units[unit, UNIT_BUCKETS]
                if base >= 0 and column != NO_COLUMN:
                    bucket[column * width + local] = buckets[base + code]
                    present[column * width + local] = 1
    return start, unit_event, unit_rank


@loop
def sort_by_rank(
    begin: Number, end: Number, unit_event: Array, unit_rank: Array, highest: Number, counts: Array,
    sorted_event: Array, sorted_rank: Array,
) -> None:  # fmt: skip
    """Sort a unit's entries by rank, roughly where ranks are many: it is for the cache alone."""
    number = end - begin
    shift = 0
    while (highest >> shift) > 2 * number + LEAST_SORTED:
        shift += 1
    cells = (highest >> shift) + 1
    counts[: cells + 1] = 0
    for i in range(begin, end):
        counts[uint64((unit_rank[i] >> shift) + 1)] += int32(1)
    for cell in range(cells):
        counts[cell + 1] += counts[cell]
    for i in range(begin, end):
        cell = uint64(unit_rank[i] >> shift)
        place = uint64(counts[cell])
        counts[cell] += int32(1)
        sorted_event[place] = unit_event[i]
        sorted_rank[place] = unit_rank[i]
