"""The kernel for large batches of plain events: slot by slot, pair by pair, instead of event by event.

For each slot that has lists (a *panel*), the events that have it are sorted by rank, so that events
with equal ranks read the same lists one after another, while these are in the cache:

    batch ──> rows (64 codes each) ─────────────────────────────┐
          └─> entries by unit ──> by rank ──> list, event …  ───┴──> scan
          └─> quantile buckets by column ──> cells of each pair ┘

An event is *plain* if it has one firm rank at most on every slot, and not too many; the others are
handed back. A batch is up to 65,536 events; 4,096 is the best size.

Cost: linear in the entries of the batch, the slots of the index, its pairs times the events, and
the postings read.
"""

from typing import Any

import numpy as np

from sensewire.match.compiled.conjunctions import LOOSE
from sensewire.match.compiled.jit import Array, kernel, loop
from sensewire.match.compiled.layout import (
    COLUMNS,
    CONSTANT_COLUMN,
    LEVELS,
    NO_COLUMN,
    PAIR_COARSE,
    PAIR_FINE,
    PAIR_LEFT,
    PAIR_RIGHT,
    SIZE_COARSE,
    SIZE_EVERY,
    SIZE_FINE,
    SLOT_COLUMN,
    SLOT_RANKS,
    SLOT_SHIFT,
    SLOT_UNIT,
    UNIT_BUCKETS,
    UNIT_CLASSES,
    UNIT_DYADIC,
    UNIT_EQUAL,
    UNIT_EQUAL_SHIFT,
    UNIT_LEVELS,
    UNIT_SLOT,
    code_of,
    dyadic_offset,
)
from sensewire.match.compiled.output import grown
from sensewire.match.compiled.scan import (
    CANDIDATES,
    LEFT_SHIFT,
    LIST_SHIFT,
    RIGHT_SHIFT,
    drain,
    verify,
)
from sensewire.match.compiled.simd import cells_of_32

BATCH = 4096
MOST_ENTRIES = 256
"""Of a plain event: beyond this a search for a slot among the entries would take too long."""
_LEAST_SORTED = 64
_WORK = 1 << 16


@kernel
def match_panel(
    vector: Any,
    sizes: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, pairs: Array, list_start: Array, first: Array, second: Array,
    target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, begin: int, end: int,
    out_event: Array, out_conjunction: Array, matches: int,
) -> tuple[Array, Array, int, Array]:  # fmt: skip
    """Match the plain ones of the events begin … end − 1; also gives the others."""
    events, odd = _sorted_out(begin, end, offsets, slot, rank, len(slots))
    number = len(events)
    width = (number + 63) // 64 * 64  # vectors read 32 events at a time
    row = aligned_rows(number)
    bucket = np.zeros(COLUMNS * width, np.uint8)
    present = np.zeros(COLUMNS * width, np.uint8)
    unit_start, unit_event, unit_rank = _entries_by_unit(
        events, offsets, slot, rank, slots, units, buckets, row, bucket, present, width
    )
    candidates = np.empty(CANDIDATES, np.uint64)
    waiting = 0
    work = np.empty(max(_WORK, number), np.uint64)
    if sizes[SIZE_EVERY] > 0:
        for local in range(number):
            work[local] = np.uint64(local)
        out_event, out_conjunction, matches, waiting = drain(
            vector, None, work, number, number * sizes[SIZE_EVERY], list_start, first, second, target, body, intervals,
            offsets, slot, rank, row, events, candidates, waiting, out_event, out_conjunction,
            matches,
        )  # fmt: skip
    sorted_event = np.empty(number, np.uint16)
    sorted_rank = np.empty(number, np.int32)
    counts = np.empty(2 * number + 2 * _LEAST_SORTED + 4200, np.int32)
    for unit in range(len(units)):
        here, there = unit_start[unit], unit_start[unit + 1]
        if here == there:
            continue
        _sort_by_rank(
            here, there, unit_event, unit_rank, slots[units[unit, UNIT_SLOT], SLOT_RANKS],
            counts, sorted_event, sorted_rank,
        )  # fmt: skip
        for level in range(-2, LEVELS):
            place, inner = np.int64(0), np.int64(0)
            while place < there - here:
                filled, total, place, inner = _unit_work(
                    level, unit, place, inner, there - here, sorted_event, sorted_rank, slots,
                    units, buckets, class_offsets, class_lists, list_start, work,
                )  # fmt: skip
                out_event, out_conjunction, matches, waiting = drain(
                    vector, None, work, filled, total, list_start, first, second, target, body,
                    intervals, offsets, slot, rank, row, events, candidates, waiting, out_event,
                    out_conjunction, matches,
                )  # fmt: skip
    pair_event = np.empty(width + 64, np.uint16)
    pair_cell = np.empty(width + 64, np.uint16)
    ordered = np.empty(width, np.uint64)
    for pair in range(len(pairs)):
        left, right = pairs[pair, PAIR_LEFT], pairs[pair, PAIR_RIGHT]
        present_in_both = _pair_cells(
            vector, number, width, left, right, sizes[SIZE_FINE], bucket, present,
            pair_event, pair_cell,
        )  # fmt: skip
        for grid in range(2):
            base, side = pairs[pair, PAIR_FINE], sizes[SIZE_FINE]
            if grid == 1:
                base = pairs[pair, PAIR_COARSE]
                _coarsen(present_in_both, pair_cell, sizes[SIZE_FINE], sizes[SIZE_COARSE])
                side = sizes[SIZE_COARSE]
            if base < 0:
                continue
            filled, total = _pair_work(
                present_in_both, base, side * side, left, right, pair_event, pair_cell,
                list_start, counts, ordered, work,
            )  # fmt: skip
            out_event, out_conjunction, matches, waiting = drain(
                vector, True, work, filled, total, list_start, first, second, target, body,
                intervals, offsets, slot, rank, row, events, candidates, waiting, out_event,
                out_conjunction, matches,
            )  # fmt: skip
    out_event = grown(out_event, matches, matches + waiting + 64)
    out_conjunction = grown(out_conjunction, matches, matches + waiting + 64)
    matches = verify(
        vector, candidates, waiting, body, intervals, offsets, slot, rank, row, events,
        out_event, out_conjunction, matches,
    )  # fmt: skip
    return out_event, out_conjunction, matches, odd


@kernel
def aligned_rows(number: int) -> Array:
    """Rows of zeros for so many events, the constant set, beginning at a multiple of 64 bytes."""
    room = np.zeros((number + 1) * COLUMNS, np.uint16)
    skip = (-room.ctypes.data % 64) // 2
    row = room[skip : skip + number * COLUMNS]
    for local in range(number):
        row[local * COLUMNS + CONSTANT_COLUMN] = 1
    return row


@kernel
def _sorted_out(
    begin: int, end: int, offsets: Array, slot: Array, rank: Array, slots: int
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
def _entries_by_unit(
    events: Array, offsets: Array, slot: Array, rank: Array, slots: Array, units: Array,
    buckets: Array, row: Array, bucket: Array, present: Array, width: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The entries of each unit; fills the rows, and the quantile buckets by column."""
    start = np.zeros(len(units) + 2, np.int32)
    for local in range(len(events)):
        event = events[local]
        for i in range(offsets[event], offsets[event + 1]):
            s, r = np.int64(slot[i]), np.int64(rank[i])
            if s < 0 or s >= len(slots) or r == 0 or r > slots[s, SLOT_RANKS]:
                continue
            start[slots[s, SLOT_UNIT] + 2] += np.int32(1)  # without a unit: counted before all
    start[1] = 0
    for unit in range(len(units)):
        start[unit + 2] += start[unit + 1]
    unit_event = np.empty(start[-1], np.uint16)
    unit_rank = np.empty(start[-1], np.int32)
    for local in range(len(events)):
        event = events[local]
        for i in range(offsets[event], offsets[event + 1]):
            s, r = np.int64(slot[i]), np.int64(rank[i])
            if s < 0 or s >= len(slots) or r == 0 or r > slots[s, SLOT_RANKS]:
                continue
            code = code_of(r, np.int64(slots[s, SLOT_SHIFT]))
            column = np.int64(slots[s, SLOT_COLUMN])
            unit = np.int64(slots[s, SLOT_UNIT])
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
def _sort_by_rank(
    begin: int, end: int, unit_event: Array, unit_rank: Array, highest: int, counts: Array,
    sorted_event: Array, sorted_rank: Array,
) -> None:  # fmt: skip
    """Sort a unit's entries by rank, roughly where ranks are many: it is for the cache alone."""
    number = end - begin
    shift = 0
    while (highest >> shift) > 2 * number + _LEAST_SORTED:
        shift += 1
    cells = (highest >> shift) + 1
    counts[: cells + 1] = 0
    for i in range(begin, end):
        counts[np.uint64((unit_rank[i] >> shift) + 1)] += np.int32(1)
    for cell in range(cells):
        counts[cell + 1] += counts[cell]
    for i in range(begin, end):
        cell = np.uint64(unit_rank[i] >> shift)
        place = np.uint64(counts[cell])
        counts[cell] += np.int32(1)
        sorted_event[place] = unit_event[i]
        sorted_rank[place] = unit_rank[i]


@loop
def _unit_work(
    level: int, unit: int, place: int, inner: int, number: int, sorted_event: Array,
    sorted_rank: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, list_start: Array, work: Array,
) -> tuple[int, int, int, int]:  # fmt: skip
    """The lists that hold something, of the entries from `place` on, until the work is full.

    How many they are, their postings, and where to go on.
    Level −2 are the lists by rank, −1 the classes (of which `inner` is the next), the others dyadic.
    """
    filled, total = 0, np.int64(0)
    if level == -1:
        base = units[unit, UNIT_CLASSES]
        if base < 0:
            return 0, total, number, 0
        while place < number:
            row = base + np.int64(sorted_rank[place])
            begin, end = np.int64(class_offsets[row]), np.int64(class_offsets[row + 1])
            local = np.uint64(sorted_event[place])
            while inner < end - begin:
                if filled == len(work):
                    return filled, total, place, inner
                which = np.uint64(class_lists[begin + inner])
                work[filled] = (which << np.uint64(LIST_SHIFT)) | local
                filled += 1
                total += np.int64(list_start[which + np.uint64(1)]) - np.int64(list_start[which])
                inner += 1
            inner = 0
            place += 1
        return filled, total, place, 0
    if level == -2:
        base = units[unit, UNIT_EQUAL]
        shift = units[unit, UNIT_EQUAL_SHIFT]
        if base < 0:
            return 0, total, number, 0
        for k in range(number):
            cell = np.uint64(base + (np.int64(sorted_rank[k]) >> shift))
            work[filled] = (cell << np.uint64(LIST_SHIFT)) | np.uint64(sorted_event[k])
            postings = np.int64(list_start[cell + np.uint64(1)]) - np.int64(list_start[cell])
            filled += postings > 0
            total += postings
        return filled, total, number, 0
    if not (units[unit, UNIT_LEVELS] >> level) & 1:
        return 0, total, number, 0
    base = units[unit, UNIT_DYADIC] + dyadic_offset(level)
    shift = np.int64(slots[units[unit, UNIT_SLOT], SLOT_SHIFT])
    start = units[unit, UNIT_BUCKETS]
    for k in range(number):
        bucket = np.int64(buckets[start + code_of(np.int64(sorted_rank[k]), shift)])
        cell = np.uint64(base + (bucket >> level))
        work[filled] = (cell << np.uint64(LIST_SHIFT)) | np.uint64(sorted_event[k])
        postings = np.int64(list_start[cell + np.uint64(1)]) - np.int64(list_start[cell])
        filled += postings > 0
        total += postings
    return filled, total, number, 0


@loop
def _pair_cells(
    vector: Any, number: int, width: int, left: int, right: int, side: int, bucket: Array,
    present: Array, pair_event: Array, pair_cell: Array,
) -> int:  # fmt: skip
    """The events that have both slots, and their cells in the grid."""
    exponent = 0
    while (1 << exponent) < side:
        exponent += 1
    shift = 8 - exponent
    filled = 0
    here, there = left * width, right * width
    if vector is None:
        for local in range(number):
            cell = (np.int64(bucket[here + local]) >> shift << exponent) | (
                np.int64(bucket[there + local]) >> shift
            )
            pair_event[np.uint64(filled)] = local
            pair_cell[np.uint64(filled)] = cell
            filled += np.int64(present[here + local] & present[there + local])
    else:
        bucket_at, present_at = bucket.ctypes.data, present.ctypes.data
        event_at, cell_at = pair_event.ctypes.data, pair_cell.ctypes.data
        for local in range(0, number, 32):
            filled += cells_of_32(
                bucket_at + here + local, bucket_at + there + local, present_at + here + local,
                present_at + there + local, local, shift, exponent, event_at + 2 * filled,
                cell_at + 2 * filled,
            )  # fmt: skip
    return filled


@loop
def _coarsen(number: int, pair_cell: Array, fine: int, coarse: int) -> None:
    """Make cells of the coarse grid out of those of the fine one."""
    shift, exponent = 0, 0
    while (coarse << shift) < fine:
        shift += 1
    while (1 << exponent) < coarse:
        exponent += 1
    for k in range(number):
        cell = np.int64(pair_cell[k])
        row, column = cell >> (exponent + 2 * shift), (cell & (fine - 1)) >> shift
        pair_cell[k] = (row << exponent) | column


@loop
def _pair_work(
    number: int, base: int, cells: int, left: int, right: int, pair_event: Array,
    pair_cell: Array, list_start: Array, counts: Array, ordered: Array, work: Array,
) -> tuple[int, int]:  # fmt: skip
    """The cells that hold something, sorted where events are many, and their postings."""
    columns = (np.uint64(left) << np.uint64(LEFT_SHIFT)) | (
        np.uint64(right) << np.uint64(RIGHT_SHIFT)
    )
    same = (np.uint64(base) << np.uint64(LIST_SHIFT)) | columns
    if 4 * number < cells:
        for k in range(number):
            cell = np.uint64(pair_cell[k])
            ordered[k] = (same + (cell << np.uint64(LIST_SHIFT))) | np.uint64(pair_event[k])
    else:
        counts[: cells + 1] = 0
        for k in range(number):
            counts[np.uint64(pair_cell[k]) + np.uint64(1)] += np.int32(1)
        for i in range(cells):
            counts[i + 1] += counts[i]
        for k in range(number):
            cell = np.uint64(pair_cell[k])
            place = np.uint64(counts[cell])
            counts[cell] += np.int32(1)
            ordered[place] = (same + (cell << np.uint64(LIST_SHIFT))) | np.uint64(pair_event[k])
    filled, total = 0, np.int64(0)
    for k in range(number):
        item = ordered[k]
        which = item >> np.uint64(LIST_SHIFT)
        postings = np.int64(list_start[which + np.uint64(1)]) - np.int64(list_start[which])
        work[np.uint64(filled)] = item
        filled += postings > 0
        total += postings
    return filled, total
