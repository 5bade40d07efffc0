"""The kernel for events of any kind: many values on one slot, uncertain ones, thousands of entries.

Cost for an event: its postings times the tests of those that pass. No pair is written twice: lists
are read once however many ranks lead there, and where a conjunction stands in several lists of a
slot with several values, the event's matches are made distinct.
"""

import numpy as np

from sensewire.match.compiled.groups import (
    ANY_FLAG,
    GROUP_BEGIN,
    GROUP_END,
    GROUP_FLAGS,
    GROUP_SLOT,
    clear,
    groups_of,
    sorted_keys,
)
from sensewire.match.compiled.holds import body_holds, has_rank, holds, of_one_rank, some
from sensewire.match.compiled.jit import Array, Number, int32, int64, kernel, loop, uint32, uint64
from sensewire.match.compiled.layout import (
    COLUMNS,
    DIRECT,
    PAIR_LEFT,
    PAIR_RIGHT,
    SIZE_EVERY,
    SLOT_UNIT,
    UNIT_REPEATS,
)
from sensewire.match.compiled.output import grown, keep_distinct
from sensewire.match.compiled.ranges import add, pair_ranges, unit_ranges
from sensewire.match.compiled.simd_bits import block_of_bits, body_of_bits

_SOME = 4_096  # postings
_ROOM = 8


@kernel
def match_odd(
    vector: Number,
    sizes: Array, slots: Array, units: Array, buckets: Array, class_offsets: Array,
    class_lists: Array, pairs: Array, list_start: Array, first: Array, second: Array,
    target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, events: Array, bits: Array,
    out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Array, Array, Number]:  # fmt: skip
    """Match the events numbered in `events`, adding to the pairs that are there already."""
    state = np.zeros(COLUMNS, np.int64)
    waiting = np.empty(_SOME + _ROOM, np.int32)
    for k in range(len(events)):
        event = events[k]
        keys = sorted_keys(offsets[event], offsets[event + 1], slot, rank, slots)
        ranks, codes, groups = groups_of(keys, slots, state, bits)
        before = matches
        distinct = True
        ranges = np.empty((64, 4), np.int64)
        number = 0
        if sizes[SIZE_EVERY] > 0:
            ranges, number = add(ranges, number, 0, sizes[SIZE_EVERY], -1, -1)
        for g in range(len(groups)):
            unit = slots[groups[g, GROUP_SLOT], SLOT_UNIT]
            if unit >= 0:
                ranges, number = unit_ranges(
                    ranges, number, unit, ranks, groups[g], slots, units, buckets,
                    class_offsets, class_lists, list_start,
                )  # fmt: skip
                several = (
                    groups[g, GROUP_END] - groups[g, GROUP_BEGIN] > 1
                    or groups[g, GROUP_FLAGS] & ANY_FLAG
                )
                if several and units[unit, UNIT_REPEATS] != 0:
                    distinct = False
        for pair in range(len(pairs)):
            left, right = state[pairs[pair, PAIR_LEFT]], state[pairs[pair, PAIR_RIGHT]]
            if left > 0 and right > 0:
                ranges, number = pair_ranges(
                    ranges, number, pairs[pair], ranks, groups[left - 1], groups[right - 1],
                    sizes, slots, units, buckets, list_start,
                )  # fmt: skip
        for r in range(number):
            begin, end = ranges[r, 0], ranges[r, 1]
            out_conjunction = grown(out_conjunction, matches, matches + end - begin + _ROOM)
            matches = _scan(
                vector, begin, end, ranges[r, 2], ranges[r, 3], ranks, codes, groups, state, bits,
                first, second, target, body, intervals, waiting, out_conjunction, matches,
            )  # fmt: skip
        if not distinct:
            matches = keep_distinct(out_conjunction, before, matches)
        out_event = grown(out_event, before, len(out_conjunction))
        out_event[before:matches] = event
        clear(ranks, codes, groups, slots, state, bits)
    return out_event, out_conjunction, matches


@loop
def _scan(
    vector: Number, begin: Number, end: Number, left: Number, right: Number,
    ranks: Array, codes: Array, groups: Array, state: Array, bits: Array,
    first: Array, second: Array, target: Array, body: Array, intervals: Array,
    waiting: Array, out: Array, matches: Number,
) -> Number:  # fmt: skip
    certain = left < 0
    for g in range(len(groups)):
        certain &= groups[g, GROUP_FLAGS] == 0
    if certain:
        for here in range(begin, end, _SOME):
            matches = _scan_certain(
                vector, here, min(here + _SOME, end), ranks, codes, groups, state, bits,
                first, second, target, body, intervals, waiting, out, matches,
            )  # fmt: skip
        return matches
    for i in range(begin, end):
        word, more = first[i], second[i]
        if left >= 0:
            low, high = int64(word & uint64(0xFFFF)), int64(word >> uint64(16)) & 0xFFFF
            if not some(left, low, high, codes, groups, state, bits):
                continue
            low, high = int64(word >> uint64(32)) & 0xFFFF, int64(word >> uint64(48))
            if not some(right, low, high, codes, groups, state, bits):
                continue
        elif not holds(word, uint64(0), codes, groups, state, bits):
            continue
        if not holds(more, uint64(0), codes, groups, state, bits):
            continue
        goal = int64(target[i])
        if goal & DIRECT:
            out[matches] = goal - DIRECT
            matches += 1
        elif body_holds(goal, ranks, codes, groups, state, bits, body, intervals, False):
            out[matches] = int64(body[goal] & uint64(0xFFFF_FFFF))
            matches += 1
    return matches


@loop
def _scan_certain(
    vector: Number, begin: Number, end: Number,
    ranks: Array, codes: Array, groups: Array, state: Array, bits: Array,
    first: Array, second: Array, target: Array, body: Array, intervals: Array,
    waiting: Array, out: Array, matches: Number,
) -> Number:  # fmt: skip
    """The same where nothing is loose: tests of one rank, on a slot of tags all there are, in two
    turns, the first without a branch that could be guessed wrong. It finds those that match, and
    those that wait for the second."""
    number = 0
    if vector is None:
        place, found = uint64(0), uint64(matches)
        for i in range(uint64(begin), uint64(end)):
            word, more, goal = first[i], second[i], target[i]
            one, other = of_one_rank(word), of_one_rank(more)
            passed = (has_rank(word, bits) | (not one)) & (has_rank(more, bits) | (not other))
            sure = passed & one & other & (goal >= uint32(DIRECT))
            out[found] = int32(goal & uint32(DIRECT - 1))
            found += uint64(sure)
            waiting[place] = i
            place += uint64(passed & (not sure))
        matches, number = int64(found), int64(place)
    else:
        first_at, second_at, target_at = first.ctypes.data, second.ctypes.data, target.ctypes.data
        bits_at, out_at, waiting_at = bits.ctypes.data, out.ctypes.data, waiting.ctypes.data
        for i in range(begin, end, 8):
            counts = block_of_bits(
                first_at + 8 * i, second_at + 8 * i, target_at + 4 * i, bits_at, i, end - i,
                out_at + 4 * matches, waiting_at + 4 * number,
            )  # fmt: skip
            matches += counts & 0xFFFF_FFFF
            number += counts >> 32
    for k in range(uint64(number)):
        i = uint64(waiting[k])
        word, more = first[i], second[i]
        if not of_one_rank(word) and not holds(word, uint64(0), codes, groups, state, bits):
            continue
        if not of_one_rank(more) and not holds(more, uint64(0), codes, groups, state, bits):
            continue
        goal = int64(target[i])
        if goal & DIRECT:
            out[matches] = goal - DIRECT
            matches += 1
            continue
        verdict = int64(2)
        if vector is not None:
            verdict = body_of_bits(body.ctypes.data + 8 * goal, bits.ctypes.data)
        if verdict == 2:
            verdict = int64(
                not body_holds(goal, ranks, codes, groups, state, bits, body, intervals, True)
            )
        out[matches] = int64(body[goal] & uint64(0xFFFF_FFFF))
        matches += verdict ^ 1
    return matches
