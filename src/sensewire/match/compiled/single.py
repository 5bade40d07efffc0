"""The kernel for one or few plain events: all lists of an event first, then all their postings.

An event's lists are gathered into the same work as in `panel`, first the ordinary ones, then the
grid's, and scanned alike, so that the memory of the next lists is on its way while one is read.
Nothing is allocated but a few small arrays.

Cost for an event: its entries, the square of them for the pairs, and the postings read.
"""

import numpy as np

from sensewire.match.compiled.batch import aligned_rows
from sensewire.match.compiled.conjunctions import LOOSE
from sensewire.match.compiled.jit import Array, Number, int64, kernel, loop, uint64
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

MOST_ENTRIES = 64
"""Of a plain event: its entries are compared with each other."""


@kernel
def match_single(
    vector: Number,
    sizes: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, pairs: Array, list_start: Array, first: Array, second: Array,
    target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, begin: Number, end: Number,
    out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Array, Array, Number, Array]:  # fmt: skip
    """Match the plain ones of the events begin … end − 1; also gives the others."""
    row = aligned_rows(1)
    bucket = np.zeros(COLUMNS, np.int64)
    candidates = np.empty(CANDIDATES, np.uint64)
    work = np.empty(1024, np.uint64)
    events = np.empty(1, np.int32)
    odd = np.empty(end - begin, np.int32)
    other = 0
    for event in range(begin, end):
        if not _plain(offsets[event], offsets[event + 1], slot, rank):
            odd[other] = event
            other += 1
            continue
        events[0] = event
        row[:CONSTANT_COLUMN] = 0
        filled = 0
        if sizes[SIZE_EVERY] > 0:
            work[0] = uint64(0)
            filled = 1
        for i in range(offsets[event], offsets[event + 1]):
            s, r = int64(slot[i]), int64(rank[i])
            if s < 0 or s >= len(slots) or r == 0 or r > slots[s, SLOT_RANKS]:
                continue
            work, filled = _lists(
                s, r, slots, units, buckets, class_offsets, class_lists, list_start, row, bucket,
                work, filled,
            )  # fmt: skip
        out_event, out_conjunction, matches, waiting = drain(
            vector, None, work, filled, _postings(work, filled, list_start), list_start,
            first, second, target, body, intervals, offsets, slot, rank, row, events, candidates, 0,
            out_event, out_conjunction, matches,
        )  # fmt: skip
        if len(pairs) > 0:
            work = grown(work, 0, 2 * len(pairs))
            filled = _cells(sizes, pairs, list_start, row, bucket, work)
            out_event, out_conjunction, matches, waiting = drain(
                vector, True, work, filled, _postings(work, filled, list_start), list_start,
                first, second, target, body, intervals, offsets, slot, rank, row, events,
                candidates, waiting, out_event, out_conjunction, matches,
            )  # fmt: skip
        if waiting > 0:
            matches = verify(
                vector, candidates, waiting, body, intervals, offsets, slot, rank, row, events,
                out_event, out_conjunction, matches,
            )  # fmt: skip
    return out_event, out_conjunction, matches, odd[:other]


@loop
def _plain(begin: Number, end: Number, slot: Array, rank: Array) -> Number:
    if end - begin > MOST_ENTRIES:
        return False
    plain = True
    for i in range(begin, end):
        plain &= (rank[i] >= 0) & (rank[i] < LOOSE)
        for j in range(begin, i):
            plain &= slot[i] != slot[j]
    return plain


@kernel
def _lists(
    s: Number, r: Number, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, list_start: Array, row: Array, bucket: Array, work: Array, filled: Number,
) -> tuple[Array, Number]:  # fmt: skip
    """Add the lists that one entry leads to; notes its code and quantile bucket."""
    code = code_of(r, int64(slots[s, SLOT_SHIFT]))
    column, unit = int64(slots[s, SLOT_COLUMN]), int64(slots[s, SLOT_UNIT])
    if column != NO_COLUMN:
        row[column] = code
    if unit < 0:
        return work, filled
    classes, begin, end = units[unit, UNIT_CLASSES], int64(0), int64(0)
    if classes >= 0:
        begin, end = int64(class_offsets[classes + r]), int64(class_offsets[classes + r + 1])
    if filled + LEVELS + 1 + end - begin > len(work):
        work = grown(work, filled, filled + LEVELS + 1 + end - begin)
    base = units[unit, UNIT_EQUAL]
    if base >= 0:
        cell = base + (r >> units[unit, UNIT_EQUAL_SHIFT])
        work[filled] = uint64(cell) << uint64(LIST_SHIFT)
        filled += list_start[cell + 1] > list_start[cell]
    for i in range(begin, end):
        work[filled] = uint64(class_lists[i]) << uint64(LIST_SHIFT)
        filled += 1
    if units[unit, UNIT_BUCKETS] >= 0:
        quantile = int64(buckets[units[unit, UNIT_BUCKETS] + code])
        if column != NO_COLUMN:
            bucket[column] = quantile
        levels = units[unit, UNIT_LEVELS]
        for level in range(LEVELS):
            if (levels >> level) & 1:
                cell = units[unit, UNIT_DYADIC] + dyadic_offset(level) + (quantile >> level)
                work[filled] = uint64(cell) << uint64(LIST_SHIFT)
                filled += list_start[cell + 1] > list_start[cell]
    return work, filled


@loop
def _cells(
    sizes: Array, pairs: Array, list_start: Array, row: Array, bucket: Array, work: Array
) -> Number:
    """The cells of all pairs of slots that the event has."""
    filled = 0
    for pair in range(len(pairs)):
        left, right = pairs[pair, PAIR_LEFT], pairs[pair, PAIR_RIGHT]
        if row[left] == 0 or row[right] == 0:
            continue
        columns = (uint64(left) << uint64(LEFT_SHIFT)) | (uint64(right) << uint64(RIGHT_SHIFT))
        for grid in range(2):
            base = pairs[pair, PAIR_FINE] if grid == 0 else pairs[pair, PAIR_COARSE]
            if base >= 0:
                side = sizes[SIZE_FINE] if grid == 0 else sizes[SIZE_COARSE]
                cell = base + (bucket[left] * side >> 8) * side + (bucket[right] * side >> 8)
                work[filled] = (uint64(cell) << uint64(LIST_SHIFT)) | columns
                filled += list_start[cell + 1] > list_start[cell]
    return filled


@loop
def _postings(work: Array, number: Number, list_start: Array) -> Number:
    total = int64(0)
    for k in range(number):
        which = work[k] >> uint64(LIST_SHIFT)
        total += int64(list_start[which + uint64(1)]) - int64(list_start[which])
    return total
