"""The kernel for large batches of plain events: slot by slot, pair by pair, not event by event.

For each slot that has lists (a *panel*), the events that have it are sorted by rank, so that events
with equal ranks read the same lists one after another, while these are in the cache; then the same
for each pair of slots that has a grid. Events that are not plain are handed back. A batch is up to
65,536 events; 4,096 is the best size.

Cost: linear in the entries of the batch, the slots of the index, its pairs times the events, and
the postings read.
"""

import numpy as np

from sensewire.match.compiled.batch import (
    LEAST_SORTED,
    aligned_rows,
    entries_by_unit,
    sort_by_rank,
    sorted_out,
)
from sensewire.match.compiled.jit import Array, Number, int64, kernel, uint64
from sensewire.match.compiled.layout import (
    COLUMNS,
    LEVELS,
    PAIR_COARSE,
    PAIR_FINE,
    PAIR_LEFT,
    PAIR_RIGHT,
    SIZE_COARSE,
    SIZE_EVERY,
    SIZE_FINE,
    SLOT_RANKS,
    UNIT_SLOT,
)
from sensewire.match.compiled.output import grown
from sensewire.match.compiled.scan import CANDIDATES, drain, verify
from sensewire.match.compiled.work import coarsen, pair_cells, pair_work, unit_work

BATCH = 4096
_WORK = 1 << 16


@kernel
def match_panel(
    vector: Number,
    sizes: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, pairs: Array, list_start: Array, first: Array, second: Array,
    target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, begin: Number, end: Number,
    out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Array, Array, Number, Array]:  # fmt: skip
    """Match the plain ones of the events begin … end − 1; also gives the others."""
    events, odd = sorted_out(begin, end, offsets, slot, rank, len(slots))
    number = len(events)
    width = (number + 63) // 64 * 64  # vectors read 32 events at a time
    row = aligned_rows(number)
    bucket = np.zeros(COLUMNS * width, np.uint8)
    present = np.zeros(COLUMNS * width, np.uint8)
    unit_start, unit_event, unit_rank = entries_by_unit(
        events, offsets, slot, rank, slots, units, buckets, row, bucket, present, width
    )
    candidates = np.empty(CANDIDATES, np.uint64)
    waiting = 0
    work = np.empty(max(_WORK, number), np.uint64)
    if sizes[SIZE_EVERY] > 0:
        for local in range(number):
            work[local] = uint64(local)
        out_event, out_conjunction, matches, waiting = drain(
            vector, None, work, number, number * sizes[SIZE_EVERY],
            list_start, first, second, target, body, intervals, offsets, slot, rank, row, events,
            candidates, waiting, out_event, out_conjunction, matches,
        )  # fmt: skip
    sorted_event = np.empty(number, np.uint16)
    sorted_rank = np.empty(number, np.int32)
    counts = np.empty(2 * number + 2 * LEAST_SORTED + 4200, np.int32)
    for unit in range(len(units)):
        here, there = unit_start[unit], unit_start[unit + 1]
        if here == there:
            continue
        sort_by_rank(
            here, there, unit_event, unit_rank, slots[units[unit, UNIT_SLOT], SLOT_RANKS],
            counts, sorted_event, sorted_rank,
        )  # fmt: skip
        for level in range(-2, LEVELS):
            place, inner = int64(0), int64(0)
            while place < there - here:
                filled, total, place, inner = unit_work(
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
        present_in_both = pair_cells(
            vector, number, width, left, right, sizes[SIZE_FINE], bucket, present,
            pair_event, pair_cell,
        )  # fmt: skip
        for grid in range(2):
            base, side = pairs[pair, PAIR_FINE], sizes[SIZE_FINE]
            if grid == 1:
                base = pairs[pair, PAIR_COARSE]
                coarsen(present_in_both, pair_cell, sizes[SIZE_FINE], sizes[SIZE_COARSE])
                side = sizes[SIZE_COARSE]
            if base < 0:
                continue
            filled, total = pair_work(
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
