"""The lists that a panel's events read, as work for `scan`: those that hold something, in order.

Lists are numbered so that equal ranks, and near ones, lead to lists that lie together; events come
sorted, so that what one of them has read is still in the cache for the next.
"""

from sensewire.match.compiled.jit import Array, Number, int32, int64, loop, uint64
from sensewire.match.compiled.layout import (
    SLOT_SHIFT,
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
from sensewire.match.compiled.scan import LEFT_SHIFT, LIST_SHIFT, RIGHT_SHIFT
from sensewire.match.compiled.simd import cells_of_32


@loop
def unit_work(
    level: Number, unit: Number, place: Number, inner: Number, number: Number, sorted_event: Array,
    sorted_rank: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, list_start: Array, work: Array,
) -> tuple[Number, Number, Number, Number]:  # fmt: skip
    """The lists that hold something, of the entries from `place` on, until the work is full.

    How many they are, their postings, and where to go on.
    Level −2 are the lists by rank, −1 the classes (`inner` is the next), the others dyadic.
    """
    filled, total = 0, int64(0)
    if level == -1:
        base = units[unit, UNIT_CLASSES]
        if base < 0:
            return 0, total, number, 0
        while place < number:
            row = base + int64(sorted_rank[place])
            begin, end = int64(class_offsets[row]), int64(class_offsets[row + 1])
            local = uint64(sorted_event[place])
            while inner < end - begin:
                if filled == len(work):
                    return filled, total, place, inner
                which = uint64(class_lists[begin + inner])
                work[filled] = (which << uint64(LIST_SHIFT)) | local
                filled += 1
                total += int64(list_start[which + uint64(1)]) - int64(list_start[which])
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
            cell = uint64(base + (int64(sorted_rank[k]) >> shift))
            work[filled] = (cell << uint64(LIST_SHIFT)) | uint64(sorted_event[k])
            postings = int64(list_start[cell + uint64(1)]) - int64(list_start[cell])
            filled += postings > 0
            total += postings
        return filled, total, number, 0
    if not (units[unit, UNIT_LEVELS] >> level) & 1:
        return 0, total, number, 0
    base = units[unit, UNIT_DYADIC] + dyadic_offset(level)
    shift = int64(slots[units[unit, UNIT_SLOT], SLOT_SHIFT])
    start = units[unit, UNIT_BUCKETS]
    for k in range(number):
        bucket = int64(buckets[start + code_of(int64(sorted_rank[k]), shift)])
        cell = uint64(base + (bucket >> level))
        work[filled] = (cell << uint64(LIST_SHIFT)) | uint64(sorted_event[k])
        postings = int64(list_start[cell + uint64(1)]) - int64(list_start[cell])
        filled += postings > 0
        total += postings
    return filled, total, number, 0


@loop
def pair_cells(
    vector: Number, number: Number, width: Number, left: Number, right: Number, side: Number,
    bucket: Array, present: Array, pair_event: Array, pair_cell: Array,
) -> Number:  # fmt: skip
    """The events that have both slots, and their cells in the grid."""
    exponent = 0
    while (1 << exponent) < side:
        exponent += 1
    shift = 8 - exponent
    filled = 0
    here, there = left * width, right * width
    if vector is None:
        for local in range(number):
            cell = (int64(bucket[here + local]) >> shift << exponent) | (
                int64(bucket[there + local]) >> shift
            )
            pair_event[uint64(filled)] = local
            pair_cell[uint64(filled)] = cell
            filled += int64(present[here + local] & present[there + local])
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
def coarsen(number: Number, pair_cell: Array, fine: Number, coarse: Number) -> None:
    """Make cells of the coarse grid out of those of the fine one."""
    shift, exponent = 0, 0
    while (coarse << shift) < fine:
        shift += 1
    while (1 << exponent) < coarse:
        exponent += 1
    for k in range(number):
        cell = int64(pair_cell[k])
        row, column = cell >> (exponent + 2 * shift), (cell & (fine - 1)) >> shift
        pair_cell[k] = (row << exponent) | column


@loop
def pair_work(
    number: Number, base: Number, cells: Number, left: Number, right: Number, pair_event: Array,
    pair_cell: Array, list_start: Array, counts: Array, ordered: Array, work: Array,
) -> tuple[Number, Number]:  # fmt: skip
    """The cells that hold something, sorted where events are many, and their postings."""
    columns = (uint64(left) << uint64(LEFT_SHIFT)) | (uint64(right) << uint64(RIGHT_SHIFT))
    same = (uint64(base) << uint64(LIST_SHIFT)) | columns
    if 4 * number < cells:
        for k in range(number):
            cell = uint64(pair_cell[k])
            ordered[k] = (same + (cell << uint64(LIST_SHIFT))) | uint64(pair_event[k])
    else:
        counts[: cells + 1] = 0
        for k in range(number):
            counts[uint64(pair_cell[k]) + uint64(1)] += int32(1)
        for i in range(cells):
            counts[i + 1] += counts[i]
        for k in range(number):
            cell = uint64(pair_cell[k])
            place = uint64(counts[cell])
            counts[cell] += int32(1)
            ordered[place] = (same + (cell << uint64(LIST_SHIFT))) | uint64(pair_event[k])
    filled, total = 0, int64(0)
    for k in range(number):
        item = ordered[k]
        which = item >> uint64(LIST_SHIFT)
        postings = int64(list_start[which + uint64(1)]) - int64(list_start[which])
        work[uint64(filled)] = item
        filled += postings > 0
        total += postings
    return filled, total
