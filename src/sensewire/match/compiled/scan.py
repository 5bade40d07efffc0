"""Reading lists for plain events: one firm rank on a slot at most.

A batch's *work* is pairs of list and event. For each, the postings of the list are tried on the
event's row, eight at a time with AVX-512, else one by one without branches; those that pass are
matches, or candidates whose body is met later, some hundreds at a time, so that bodies are fetched
ahead. Two arguments choose the code that numba compiles: `vector` is None for the portable form,
and `grid` is None but for the grid's lists, where an event's two codes are compared first.

Invariant: results never outgrow their room, since every posting gives at most one and `drain`
makes room for all postings of the work that it reads.
"""

from typing import Any

import numpy as np

from sensewire.match.compiled.jit import Array, inlined, kernel, loop
from sensewire.match.compiled.layout import MANY, NEGATED, OUTSIDE, RANGE, SEXTET
from sensewire.match.compiled.odd import within
from sensewire.match.compiled.output import grown
from sensewire.match.compiled.simd import block, block_of_grid, fetch, lowest_bit, unmet

LEFT_SHIFT, RIGHT_SHIFT, LIST_SHIFT = 16, 24, 32
"""A work item is the event of the batch, a grid's left and right column, the list, in this order."""
SEGMENT = 4096
_ENOUGH = 512
CANDIDATES = _ENOUGH + SEGMENT + 64
"""The room that candidates need."""
_AHEAD = 8
_BODIES_AHEAD = 16
_FEW = 16
_PIECE = 1 << 20
_ROOM = 64


@kernel
def drain(
    vector: Any, grid: Any, work: Array, number: int, total: int,
    list_start: Array, first: Array, second: Array, target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    candidates: Array, waiting: int, out_event: Array, out_conjunction: Array, matches: int,
) -> tuple[Array, Array, int, int]:  # fmt: skip
    """Read all lists of `work`, with `total` postings, in pieces that the results have room for."""
    begin = 0
    while begin < number:
        end = number
        if total > _PIECE:
            total = np.int64(0)
            end = begin
            while end < number and total < _PIECE:
                item = work[end] >> np.uint64(LIST_SHIFT)
                total += np.int64(list_start[item + np.uint64(1)]) - np.int64(list_start[item])
                end += 1
        needed = matches + waiting + total + _ROOM
        out_event = grown(out_event, matches, needed)
        out_conjunction = grown(out_conjunction, matches, needed)
        matches, waiting = _read(
            vector, grid, work, begin, end, list_start, first, second, target, body,
            intervals, offsets, slot, rank, row, events, candidates, waiting, out_event,
            out_conjunction, matches,
        )  # fmt: skip
        begin = end
        total = _PIECE + 1
    return out_event, out_conjunction, matches, waiting


@loop
def _read(
    vector: Any, grid: Any, work: Array, begin: int, end: int,
    list_start: Array, first: Array, second: Array, target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    candidates: Array, waiting: int, out_event: Array, out_conjunction: Array, matches: int,
) -> tuple[int, int]:  # fmt: skip
    first_at, second_at, target_at = first.ctypes.data, second.ctypes.data, target.ctypes.data
    row_at, candidates_at = row.ctypes.data, candidates.ctypes.data
    event_at, conjunction_at = out_event.ctypes.data, out_conjunction.ctypes.data
    low_bits = np.uint64((1 << LEFT_SHIFT) - 1)
    for k in range(begin, end):
        item = work[np.uint64(k)]
        which = item >> np.uint64(LIST_SHIFT)
        local = np.int64(item & low_bits)
        if k + _AHEAD < end:
            later = work[np.uint64(k + _AHEAD)]
            start = np.int64(list_start[later >> np.uint64(LIST_SHIFT)])
            there = row_at + 128 * np.int64(later & low_bits)
            fetch(there)
            fetch(there + 64)
            fetch(first_at + 8 * start)
            fetch(second_at + 8 * start)
            fetch(target_at + 4 * start)
        start = np.int64(list_start[which])
        stop = np.int64(list_start[which + np.uint64(1)])
        event = np.int64(events[np.uint64(local)])
        key = np.int64(0)
        if grid is not None:
            codes = np.uint64(64 * local)
            left = row[codes + ((item >> np.uint64(LEFT_SHIFT)) & np.uint64(63))]
            right = row[codes + ((item >> np.uint64(RIGHT_SHIFT)) & np.uint64(63))]
            key = np.int64(left) * 0x10001 | (np.int64(right) * 0x10001 << 32)
        while start < stop:
            part = min(start + SEGMENT, stop)
            if vector is None:
                matches, waiting = _few_by_few(
                    start, part, local, event, grid, np.uint64(key), first, second, target, row,
                    candidates, waiting, out_event, out_conjunction, matches,
                )  # fmt: skip
            else:
                for i in range(start, part, 8):
                    if grid is not None:
                        counts = block_of_grid(
                            first_at + 8 * i, second_at + 8 * i, target_at + 4 * i,
                            row_at + 128 * local, key, part - i, local, event,
                            event_at + 4 * matches, conjunction_at + 4 * matches,
                            candidates_at + 8 * waiting,
                        )  # fmt: skip
                    else:
                        counts = block(
                            first_at + 8 * i, second_at + 8 * i, target_at + 4 * i,
                            row_at + 128 * local, key, part - i, local, event,
                            event_at + 4 * matches, conjunction_at + 4 * matches,
                            candidates_at + 8 * waiting,
                        )  # fmt: skip
                    matches += counts & 0xFFFF_FFFF
                    waiting += counts >> 32
            start = part
            if waiting > _ENOUGH:
                matches = verify(
                    vector, candidates, waiting, body, intervals, offsets, slot, rank, row,
                    events, out_event, out_conjunction, matches,
                )  # fmt: skip
                waiting = 0
    return matches, waiting


@inlined
def _few_by_few(
    start: int, stop: int, local: int, event: int, grid: Any, key: Any,
    first: Array, second: Array, target: Array, row: Array,
    candidates: Array, waiting: int, out_event: Array, out_conjunction: Array, matches: int,
) -> tuple[int, int]:  # fmt: skip
    """Try postings without vectors: the first words of 16 give a mask, its bits the second words."""
    codes = np.uint64(local * 64)
    whose = np.uint64(local) << np.uint64(32)
    mask = np.uint64(0xFFFF)
    left, right = key & mask, key >> np.uint64(48)
    for begin in range(np.uint64(start), np.uint64(stop), np.uint64(_FEW)):
        passed = np.uint32(0)
        for k in range(_FEW):  # a constant number, so that the compiler unrolls it
            word = first[begin + np.uint64(k)]
            low, high = word & mask, (word >> np.uint64(16)) & mask
            if grid is None:
                code = np.uint64(row[codes + ((word >> np.uint64(32)) & np.uint64(63))])
                holds = (code >= low) & (code <= high) & (code != word >> np.uint64(48))
            else:
                holds = (left >= low) & (left <= high)
                holds &= right >= ((word >> np.uint64(32)) & mask)
                holds &= right <= (word >> np.uint64(48))
            passed |= np.uint32(holds) << np.uint32(k)
        if np.uint64(stop) - begin < np.uint64(_FEW):
            passed &= (np.uint32(1) << np.uint32(np.uint64(stop) - begin)) - np.uint32(1)
        while passed != np.uint32(0):
            i = begin + np.uint64(lowest_bit(passed))
            passed &= passed - np.uint32(1)
            word, goal = second[i], target[i]
            code = np.uint64(row[codes + ((word >> np.uint64(32)) & np.uint64(63))])
            holds = (code >= (word & mask)) & (code <= ((word >> np.uint64(16)) & mask))
            holds &= code != (word >> np.uint64(48))
            direct = np.int64(goal >> np.uint32(31))
            out_event[np.uint64(matches)] = event
            out_conjunction[np.uint64(matches)] = np.int32(goal & np.uint32(0x7FFF_FFFF))
            matches += np.int64(holds) & direct
            candidates[np.uint64(waiting)] = np.uint64(goal) | whose
            waiting += np.int64(holds) & (1 - direct)
    return matches, waiting


@loop
def verify(
    vector: Any, candidates: Array, number: int, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    out_event: Array, out_conjunction: Array, matches: int,
) -> int:  # fmt: skip
    """Meet the bodies of candidates, writing those that hold behind the matches."""
    body_at, row_at = body.ctypes.data, row.ctypes.data
    for k in range(_BODIES_AHEAD):
        candidates[number + k] = np.uint64(0)
    for k in range(np.uint64(0), np.uint64(number)):
        candidate = candidates[k]
        local = candidate >> np.uint64(32)
        place = candidate & np.uint64(0xFFFF_FFFF)
        later = np.int64(candidates[k + np.uint64(_BODIES_AHEAD)] & np.uint64(0xFFFF_FFFF))
        fetch(body_at + 8 * later)
        header = body[place]
        if vector is None:
            holds = _words_hold(place, header, body, local * np.uint64(64), row)
        else:
            holds = unmet(body_at + 8 * np.int64(place), row_at + 128 * np.int64(local)) == 0
        event = events[local]
        if header >> np.uint64(56) and holds:
            holds = _tail_holds(
                np.int64(place), np.int64(header >> np.uint64(56)), body, intervals,
                offsets[event], offsets[event + 1], slot, rank,
            )  # fmt: skip
        out_event[np.uint64(matches)] = event
        out_conjunction[np.uint64(matches)] = np.int32(header & np.uint64(0x7FFF_FFFF))
        matches += np.int64(holds)
    return matches


@inlined
def _words_hold(place: Any, header: Any, body: Array, codes: Any, row: Array) -> bool:
    """Whether a row meets the words 1 … 7 of a body, one by one."""
    present = (header >> np.uint64(32)) | (header >> np.uint64(40)) | (header >> np.uint64(48))
    present = (present & np.uint64(255)) >> np.uint64(1)
    mask = np.uint64(0xFFFF)
    place += np.uint64(1)
    while present != 0:
        if present & np.uint64(1):
            word = body[place]
            code = np.uint64(row[codes + ((word >> np.uint64(32)) & np.uint64(63))])
            low, high = word & mask, (word >> np.uint64(16)) & mask
            third = word >> np.uint64(48)
            kind = np.int64(word >> np.uint64(38)) & 3
            if kind == RANGE:
                holds = (code >= low) & (code <= high) & (code != third)
            elif kind == OUTSIDE:
                holds = (code < low) | (code > high)
            else:
                holds = (code == low) | (code == high) | (code == third)
                if kind == SEXTET:
                    word = body[place + np.uint64(1)]
                    holds |= (code == (word & mask)) | (code == ((word >> np.uint64(16)) & mask))
                    holds |= code == (word >> np.uint64(48))
            if not holds:
                return False
        present >>= np.uint64(1)
        place += np.uint64(1)
    return True


@inlined
def _tail_holds(
    place: int, tail: int, body: Array, intervals: Array, begin: int, end: int, slot: Array,
    rank: Array,
) -> bool:  # fmt: skip
    """Whether an event's entries meet the tests on full ranks in the tail of a body."""
    at = place + tail
    for _ in range(np.int64(body[place + 1])):
        what, which = body[at], body[at + 1]
        at += 2
        wanted = np.int32(what & np.uint64(0xFFFF_FFFF))
        met = False
        for i in range(begin, end):
            if slot[i] == wanted:
                low, high = (
                    np.int64(which & np.uint64(0xFFFF_FFFF)),
                    np.int64(which >> np.uint64(32)),
                )
                if what & np.uint64(MANY):
                    met = within(intervals, low, low + high, rank[i])
                else:
                    met = low <= rank[i] <= high
                break
        if met == (what & np.uint64(NEGATED) != 0):
            return False
    return True
