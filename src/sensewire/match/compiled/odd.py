"""The kernel for events of any kind: many values on one slot, uncertain ones, thousands of entries.

An event's entries are sorted by slot and rank into *groups*, one for each slot; a group on a hot
slot with several ranks also has a bitmap of its codes, so that a test of one rank, such as a tag,
is one look-up however many values there are:

    keys    slot 3: 2 5 9 │ slot 7: 4 │ slot 8: any       state   column of slot 3 → group 0
    bits    column of slot 3: ··█··█···█···               …       column of slot 8 → group 2

A rank with `LOOSE` counts as a rank, and marks its group: negated tests hold there. A group marked
by `ANY` meets every test, and reads every list of its slot.

Cost for an event: its postings times the tests of those that pass, each O(1) for single ranks and
O(log values) for ranges. No pair is written twice: classes and cells are read once however many
ranks lead there, and where a conjunction stands in several lists of a slot with several values the
event's matches are made distinct.
"""

from typing import Any

import numpy as np

from sensewire.match.compiled.conjunctions import ANY, LOOSE
from sensewire.match.compiled.jit import Array, inlined, kernel, loop
from sensewire.match.compiled.layout import (
    BUCKETS,
    CONSTANT_COLUMN,
    DIRECT,
    LEVELS,
    MANY,
    NEGATED,
    NO_COLUMN,
    OUTSIDE,
    PAIR_COARSE,
    PAIR_FINE,
    PAIR_LEFT,
    PAIR_RIGHT,
    RANGE,
    SEXTET,
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
    UNIT_EQUAL_CELLS,
    UNIT_EQUAL_SHIFT,
    UNIT_LEVELS,
    UNIT_REPEATS,
    code_of,
    dyadic_offset,
)
from sensewire.match.compiled.output import grown, keep_distinct

BITS = 1024
"""Words of 64 bits in a column's bitmap."""
_ANY_KEY, _LOOSE_KEY = 0, (1 << 31) - 1
_LOOSE_FLAG, _ANY_FLAG = 1, 2

# What a group knows.
_SLOT, _BEGIN, _END, _FLAGS = 0, 1, 2, 3


@kernel
def match_odd(
    sizes: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, pairs: Array, list_start: Array, first: Array, second: Array,
    target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, events: Array, bits: Array,
    out_event: Array, out_conjunction: Array, matches: int,
) -> tuple[Array, Array, int]:  # fmt: skip
    """Match the events numbered in `events`, adding to the pairs that are there already."""
    state = np.zeros(64, np.int64)
    for k in range(len(events)):
        event = events[k]
        keys = _sorted_keys(offsets[event], offsets[event + 1], slot, rank, slots)
        ranks, codes, groups = _groups(keys, slots, state, bits)
        before = matches
        distinct = True
        ranges = np.empty((64, 4), np.int64)
        number = 0
        if sizes[SIZE_EVERY] > 0:
            ranges, number = _add(ranges, number, 0, sizes[SIZE_EVERY], -1, -1)
        for g in range(len(groups)):
            unit = slots[groups[g, _SLOT], SLOT_UNIT]
            if unit >= 0:
                ranges, number = _unit_ranges(
                    ranges, number, unit, ranks, groups[g], slots, units, buckets,
                    class_offsets, class_lists, list_start,
                )  # fmt: skip
                several = groups[g, _END] - groups[g, _BEGIN] > 1 or groups[g, _FLAGS] & _ANY_FLAG
                if several and units[unit, UNIT_REPEATS] != 0:
                    distinct = False
        for pair in range(len(pairs)):
            left, right = state[pairs[pair, PAIR_LEFT]], state[pairs[pair, PAIR_RIGHT]]
            if left > 0 and right > 0:
                ranges, number = _pair_ranges(
                    ranges, number, pairs[pair], ranks, groups[left - 1], groups[right - 1],
                    sizes, slots, units, buckets, list_start,
                )  # fmt: skip
        for r in range(number):
            begin, end = ranges[r, 0], ranges[r, 1]
            out_conjunction = grown(out_conjunction, matches, matches + end - begin)
            matches = _scan(
                begin, end, ranges[r, 2], ranges[r, 3], ranks, codes, groups, state, bits,
                first, second, target, body, intervals, out_conjunction, matches,
            )  # fmt: skip
        if not distinct:
            matches = keep_distinct(out_conjunction, before, matches)
        out_event = grown(out_event, before, len(out_conjunction))
        out_event[before:matches] = event
        _clear(ranks, codes, groups, slots, state, bits)
    return out_event, out_conjunction, matches


@kernel
def _sorted_keys(begin: int, end: int, slot: Array, rank: Array, slots: Array) -> Array:
    """The event's distinct entries as slot and rank in one number, sorted."""
    keys = np.empty(2 * (end - begin), np.int64)
    number = 0
    for i in range(begin, end):
        s, r = np.int64(slot[i]), np.int64(rank[i])
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
def _groups(keys: Array, slots: Array, state: Array, bits: Array) -> tuple[Array, Array, Array]:
    """Ranks and codes of all groups, and the groups; marks the columns' states and bitmaps."""
    ranks = np.empty(len(keys), np.int64)
    codes = np.zeros(len(keys), np.int64)
    groups = np.empty((len(keys), 4), np.int64)
    number = -1
    filled = 0
    for k in range(len(keys)):
        s, r = keys[k] >> 31, keys[k] & _LOOSE_KEY
        if number < 0 or groups[number, _SLOT] != s:
            number += 1
            groups[number, _SLOT] = s
            groups[number, _BEGIN] = groups[number, _END] = filled
            groups[number, _FLAGS] = 0
        if r == _ANY_KEY:
            groups[number, _FLAGS] |= _ANY_FLAG
        elif r == _LOOSE_KEY:
            groups[number, _FLAGS] |= _LOOSE_FLAG
        else:
            ranks[filled] = r
            filled += 1
            groups[number, _END] = filled
    number += 1
    for g in range(number):
        column = np.int64(slots[groups[g, _SLOT], SLOT_COLUMN])
        if column != NO_COLUMN:
            state[column] = g + 1
            shift = np.int64(slots[groups[g, _SLOT], SLOT_SHIFT])
            for k in range(groups[g, _BEGIN], groups[g, _END]):
                code = code_of(ranks[k], shift)
                codes[k] = code
                bits[column * BITS + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
    return ranks, codes, groups[:number]


@loop
def _clear(
    ranks: Array, codes: Array, groups: Array, slots: Array, state: Array, bits: Array
) -> None:
    for g in range(len(groups)):
        column = np.int64(slots[groups[g, _SLOT], SLOT_COLUMN])
        if column != NO_COLUMN:
            state[column] = 0
            for k in range(groups[g, _BEGIN], groups[g, _END]):
                bits[column * BITS + (codes[k] >> 6)] = np.uint64(0)


@inlined
def _add(
    ranges: Array, number: int, begin: int, end: int, left: int, right: int
) -> tuple[Array, int]:
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
def _unit_ranges(
    ranges: Array, number: int, unit: int, ranks: Array, group: Array, slots: Array, units: Array,
    buckets: Array, class_offsets: Array, class_lists: Array, list_start: Array,
) -> tuple[Array, int]:  # fmt: skip
    """The postings that one slot's ranks lead to."""
    begin, end, every = group[_BEGIN], group[_END], group[_FLAGS] & _ANY_FLAG
    base, cells = units[unit, UNIT_EQUAL], units[unit, UNIT_EQUAL_CELLS]
    if base >= 0 and every:
        ranges, number = _add(ranges, number, list_start[base], list_start[base + cells], -1, -1)
    elif base >= 0:
        last = np.int64(-1)
        for k in range(begin, end):
            cell = base + (ranks[k] >> units[unit, UNIT_EQUAL_SHIFT])
            if cell != last:
                ranges, number = _add(
                    ranges, number, list_start[cell], list_start[cell + 1], -1, -1
                )
            last = cell
    shift = np.int64(slots[group[_SLOT], SLOT_SHIFT])
    for level in range(LEVELS):
        if not (units[unit, UNIT_LEVELS] >> level) & 1:
            continue
        base = units[unit, UNIT_DYADIC] + dyadic_offset(level)
        if every:
            end_cell = base + (BUCKETS >> level)
            ranges, number = _add(ranges, number, list_start[base], list_start[end_cell], -1, -1)
            continue
        last = np.int64(-1)
        for k in range(begin, end):
            bucket = buckets[units[unit, UNIT_BUCKETS] + code_of(ranks[k], shift)]
            cell = base + (np.int64(bucket) >> level)
            if cell != last:
                ranges, number = _add(
                    ranges, number, list_start[cell], list_start[cell + 1], -1, -1
                )
            last = cell
    base = units[unit, UNIT_CLASSES]
    if base >= 0:
        if every:
            row, end_row = base, base + np.int64(slots[group[_SLOT], SLOT_RANKS]) + 1
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
            ranges, number = _add(
                ranges, number, list_start[found[i]], list_start[found[i] + 1], -1, -1
            )
    return ranges, number


@kernel
def _pair_ranges(
    ranges: Array, number: int, pair: Array, ranks: Array, left: Array, right: Array,
    sizes: Array, slots: Array, units: Array, buckets: Array, list_start: Array,
) -> tuple[Array, int]:  # fmt: skip
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
            if (rows >> np.uint64(row)) & np.uint64(1):
                for column in range(side):
                    if (columns >> np.uint64(column)) & np.uint64(1):
                        cell = base + row * side + column
                        ranges, number = _add(
                            ranges, number, list_start[cell], list_start[cell + 1],
                            pair[PAIR_LEFT], pair[PAIR_RIGHT],
                        )  # fmt: skip
    return ranges, number


@loop
def _cells_of(
    group: Array, ranks: Array, side: int, slots: Array, units: Array, buckets: Array
) -> np.uint64:
    """A bit for each of the grid's cells, of up to 64 along a slot, that the group has a rank in."""
    if group[_FLAGS] & _ANY_FLAG:
        return ~np.uint64(0)
    base = units[slots[group[_SLOT], SLOT_UNIT], UNIT_BUCKETS]
    cells = np.uint64(0)
    for k in range(group[_BEGIN], group[_END]):
        cells |= np.uint64(1) << np.uint64((np.int64(buckets[base + ranks[k]]) * side) >> 8)
    return cells


@loop
def _scan(
    begin: int, end: int, left: int, right: int, ranks: Array, codes: Array, groups: Array,
    state: Array, bits: Array, first: Array, second: Array, target: Array, body: Array,
    intervals: Array, out: Array, matches: int,
) -> int:  # fmt: skip
    certain = True
    for g in range(len(groups)):
        certain &= groups[g, _FLAGS] == 0
    for i in range(begin, end):
        word, more = first[i], second[i]
        # Tests of one rank, on a slot of tags all there are: no branch that could be guessed wrong.
        if certain and left < 0 and _of_one_rank(word) and _of_one_rank(more):
            if not _has_rank(word, bits) & _has_rank(more, bits):
                continue
            goal = np.int64(target[i])
            if goal & DIRECT:
                out[matches] = goal - DIRECT
                matches += 1
            elif _body_holds(goal, ranks, codes, groups, state, bits, body, intervals, certain):
                out[matches] = np.int64(body[goal] & np.uint64(0xFFFF_FFFF))
                matches += 1
            continue
        if left >= 0:
            low, high = np.int64(word & np.uint64(0xFFFF)), np.int64(word >> np.uint64(16)) & 0xFFFF
            if not _some(left, low, high, codes, groups, state, bits):
                continue
            low, high = np.int64(word >> np.uint64(32)) & 0xFFFF, np.int64(word >> np.uint64(48))
            if not _some(right, low, high, codes, groups, state, bits):
                continue
        elif not _holds(word, np.uint64(0), codes, groups, state, bits):
            continue
        if not _holds(more, np.uint64(0), codes, groups, state, bits):
            continue
        goal = np.int64(target[i])
        if goal & DIRECT:
            out[matches] = goal - DIRECT
            matches += 1
        elif _body_holds(goal, ranks, codes, groups, state, bits, body, intervals, certain):
            out[matches] = np.int64(body[goal] & np.uint64(0xFFFF_FFFF))
            matches += 1
    return matches


@inlined
def _some(
    column: int, low: int, high: int, codes: Array, groups: Array, state: Array, bits: Array
) -> bool:
    """Whether the event has a code within an interval in a column."""
    g = state[column] - 1
    if g < 0:
        return False
    if groups[g, _FLAGS] & _ANY_FLAG:
        return True
    if low == high:
        return _has_bit(column, low, bits)
    begin, end = groups[g, _BEGIN], groups[g, _END]
    place = _lower_bound(codes, begin, end, low)
    return place < end and codes[place] <= high


@inlined
def _has_bit(column: int, code: int, bits: Array) -> bool:
    return (bits[column * BITS + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0


@inlined
def _of_one_rank(word: np.uint64) -> bool:
    """Whether a word is a RANGE of one code, or all codes but one."""
    low = word & np.uint64(0xFFFF)
    same = low == ((word >> np.uint64(16)) & np.uint64(0xFFFF))
    return ((word >> np.uint64(38)) & np.uint64(3) == 0) & (same | (low == 0))


@inlined
def _has_rank(word: np.uint64, bits: Array) -> bool:
    """Whether an event of certain values meets such a word."""
    low = word & np.uint64(0xFFFF)
    code = low | (word >> np.uint64(48))  # one of them is 0
    column = (word >> np.uint64(32)) & np.uint64(63)
    place = column * np.uint64(BITS) + (code >> np.uint64(6))
    bit = (bits[place] >> (code & np.uint64(63))) & np.uint64(1)
    return bit != np.uint64(low == 0)


@inlined
def _lower_bound(values: Array, begin: int, end: int, least: int) -> int:
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _holds(
    word: np.uint64, following: np.uint64, codes: Array, groups: Array, state: Array, bits: Array
) -> bool:
    """Whether an event of any kind meets a word; `following` is the second half of a SEXTET."""
    column = np.int64(word >> np.uint64(32)) & 63
    if column == CONSTANT_COLUMN:
        return True
    kind = np.int64(word >> np.uint64(38)) & 3
    low, high = np.int64(word & np.uint64(0xFFFF)), np.int64(word >> np.uint64(16)) & 0xFFFF
    third = np.int64(word >> np.uint64(48))
    g = state[column] - 1
    if kind == OUTSIDE or (kind == RANGE and low == 0):
        if g < 0 or groups[g, _FLAGS] != 0:
            return True
        if kind == OUTSIDE:
            return not _some(column, low, high, codes, groups, state, bits)
        return not _has_bit(column, third, bits)
    if g < 0:
        return False
    if groups[g, _FLAGS] & _ANY_FLAG:
        return True
    if kind == RANGE:
        if third == 0:
            return _some(column, low, high, codes, groups, state, bits)
        return _some(column, low, third - 1, codes, groups, state, bits) or _some(
            column, third + 1, high, codes, groups, state, bits
        )
    if _has_bit(column, low, bits) or _has_bit(column, high, bits):
        return True
    if _has_bit(column, third, bits):
        return True
    if kind == SEXTET:
        low, high = np.int64(following & np.uint64(0xFFFF)), np.int64(following >> np.uint64(16))
        if _has_bit(column, low, bits) or _has_bit(column, high & 0xFFFF, bits):
            return True
        return _has_bit(column, np.int64(following >> np.uint64(48)), bits)
    return False


@inlined
def _body_holds(
    place: int, ranks: Array, codes: Array, groups: Array, state: Array, bits: Array, body: Array,
    intervals: Array, certain: bool,
) -> bool:  # fmt: skip
    header = np.int64(body[place] >> np.uint64(32))
    present = (header | (header >> 8) | (header >> 16)) & 0xFF
    tail = (header >> 24) & 0xFF
    for k in range(1, 8):
        if present >> k == 0:
            break
        if (present >> k) & 1:
            word = body[place + k]
            if certain and _of_one_rank(word):
                if not _has_rank(word, bits):
                    return False
            elif not _holds(word, body[place + k + 1], codes, groups, state, bits):
                return False
    if tail > 0:
        at = place + tail
        for _ in range(np.int64(body[place + 1])):
            if not _exactly_holds(body[at], body[at + 1], ranks, groups, intervals):
                return False
            at += 2
    return True


@inlined
def _exactly_holds(
    what: np.uint64, which: np.uint64, ranks: Array, groups: Array, intervals: Array
) -> bool:
    """Whether the event meets a test on full ranks."""
    slot = np.int64(what & np.uint64(0xFFFF_FFFF))
    negated = what & np.uint64(NEGATED) != 0
    g = _group_of(groups, slot)
    if g < 0:
        return negated
    if groups[g, _FLAGS] & _ANY_FLAG or (negated and groups[g, _FLAGS] & _LOOSE_FLAG):
        return True
    low, high = np.int64(which & np.uint64(0xFFFF_FFFF)), np.int64(which >> np.uint64(32))
    begin, end = groups[g, _BEGIN], groups[g, _END]
    if not what & np.uint64(MANY) != 0:
        place = _lower_bound(ranks, begin, end, low)
        return (place < end and ranks[place] <= high) != negated
    met = False
    for k in range(begin, end):
        if within(intervals, low, low + high, ranks[k]):
            met = True
            break
    return met != negated


@inlined
def within(intervals: Array, begin: int, end: int, rank: Any) -> bool:
    """Whether a rank lies in one of the intervals begin … end − 1, which ascend."""
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if intervals[middle, 1] < rank:
            begin = middle + 1
        else:
            end = middle
    return begin < stop and intervals[begin, 0] <= rank


@inlined
def _group_of(groups: Array, slot: int) -> int:
    begin, end = 0, len(groups)
    while begin < end:
        middle = (begin + end) >> 1
        if groups[middle, _SLOT] < slot:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < len(groups) and groups[begin, _SLOT] == slot else -1
