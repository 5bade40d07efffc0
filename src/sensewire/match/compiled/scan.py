"""Reading lists for plain events: one firm rank on a slot at most.

A batch's *work* is pairs of list and event. For each, the postings of the list are tried on the
event's row, eight at a time with AVX-512, else one by one without branches; those that pass are
matches, or candidates whose body is met later, some hundreds at a time, so that bodies are fetched
ahead. Two arguments choose the code that numba compiles: `vector` is None for the portable form,
and `grid` is None but for the grid's lists, where an event's two codes are compared first.

Invariant: results never outgrow their room, since every posting gives at most one and `drain`
makes room for all postings of the work that it reads.
"""

from sensewire.match.compiled.holds import within
from sensewire.match.compiled.jit import (
    Array,
    Number,
    inlined,
    int32,
    int64,
    kernel,
    loop,
    uint32,
    uint64,
)
from sensewire.match.compiled.layout import MANY, NEGATED, OUTSIDE, RANGE, SEXTET
from sensewire.match.compiled.output import grown
from sensewire.match.compiled.simd import block, block_of_grid, fetch, lowest_bit, unmet

LEFT_SHIFT, RIGHT_SHIFT, LIST_SHIFT = 16, 24, 32
"""A work item is, from its lowest bit: event of the batch, left and right column, list."""
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
    vector: Number, grid: Number, work: Array, number: Number, total: Number,
    list_start: Array, first: Array, second: Array, target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    candidates: Array, waiting: Number, out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Array, Array, Number, Number]:  # fmt: skip
    """Read all lists of `work`, with `total` postings, in pieces that the results have room for."""
    begin = 0
    while begin < number:
        end = number
        if total > _PIECE:
            total = int64(0)
            end = begin
            while end < number and total < _PIECE:
                item = work[end] >> uint64(LIST_SHIFT)
                total += int64(list_start[item + uint64(1)]) - int64(list_start[item])
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
    vector: Number, grid: Number, work: Array, begin: Number, end: Number,
    list_start: Array, first: Array, second: Array, target: Array, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    candidates: Array, waiting: Number, out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Number, Number]:  # fmt: skip
    first_at, second_at, target_at = first.ctypes.data, second.ctypes.data, target.ctypes.data
    row_at, candidates_at = row.ctypes.data, candidates.ctypes.data
    event_at, conjunction_at = out_event.ctypes.data, out_conjunction.ctypes.data
    low_bits = uint64((1 << LEFT_SHIFT) - 1)
    for k in range(begin, end):
        item = work[uint64(k)]
        which = item >> uint64(LIST_SHIFT)
        local = int64(item & low_bits)
        if k + _AHEAD < end:
            later = work[uint64(k + _AHEAD)]
            start = int64(list_start[later >> uint64(LIST_SHIFT)])
            there = row_at + 128 * int64(later & low_bits)
            fetch(there)
            fetch(there + 64)
            fetch(first_at + 8 * start)
            fetch(second_at + 8 * start)
            fetch(target_at + 4 * start)
        start = int64(list_start[which])
        stop = int64(list_start[which + uint64(1)])
        event = int64(events[uint64(local)])
        key = int64(0)
        if grid is not None:
            codes = uint64(64 * local)
            left = row[codes + ((item >> uint64(LEFT_SHIFT)) & uint64(63))]
            right = row[codes + ((item >> uint64(RIGHT_SHIFT)) & uint64(63))]
            key = int64(left) * 0x10001 | (int64(right) * 0x10001 << 32)
        while start < stop:
            part = min(start + SEGMENT, stop)
            if vector is None:
                matches, waiting = _few_by_few(
                    start, part, local, event, grid, uint64(key), first, second, target, row,
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
    start: Number, stop: Number, local: Number, event: Number, grid: Number, key: Number,
    first: Array, second: Array, target: Array, row: Array,
    candidates: Array, waiting: Number, out_event: Array, out_conjunction: Array, matches: Number,
) -> tuple[Number, Number]:  # fmt: skip
    """Try postings without vectors: 16 first words give a mask, its bits lead to second words."""
    codes = uint64(local * 64)
    whose = uint64(local) << uint64(32)
    mask = uint64(0xFFFF)
    left, right = key & mask, key >> uint64(48)
    for begin in range(uint64(start), uint64(stop), uint64(_FEW)):
        passed = uint32(0)
        for k in range(_FEW):  # a constant number, so that the compiler unrolls it
            word = first[begin + uint64(k)]
            low, high = word & mask, (word >> uint64(16)) & mask
            if grid is None:
                code = uint64(row[codes + ((word >> uint64(32)) & uint64(63))])
                holds = (code >= low) & (code <= high) & (code != word >> uint64(48))
            else:
                holds = (left >= low) & (left <= high)
                holds &= right >= ((word >> uint64(32)) & mask)
                holds &= right <= (word >> uint64(48))
            passed |= uint32(holds) << uint32(k)
        if uint64(stop) - begin < uint64(_FEW):
            passed &= (uint32(1) << uint32(uint64(stop) - begin)) - uint32(1)
        while passed != uint32(0):
            i = begin + uint64(lowest_bit(passed))
            passed &= passed - uint32(1)
            word, goal = second[i], target[i]
            code = uint64(row[codes + ((word >> uint64(32)) & uint64(63))])
            holds = (code >= (word & mask)) & (code <= ((word >> uint64(16)) & mask))
            holds &= code != (word >> uint64(48))
            direct = int64(goal >> uint32(31))
            out_event[uint64(matches)] = event
            out_conjunction[uint64(matches)] = int32(goal & uint32(0x7FFF_FFFF))
            matches += int64(holds) & direct
            candidates[uint64(waiting)] = uint64(goal) | whose
            waiting += int64(holds) & (1 - direct)
    return matches, waiting


@loop
def verify(
    vector: Number, candidates: Array, number: Number, body: Array, intervals: Array,
    offsets: Array, slot: Array, rank: Array, row: Array, events: Array,
    out_event: Array, out_conjunction: Array, matches: Number,
) -> Number:  # fmt: skip
    """Meet the bodies of candidates, writing those that hold behind the matches."""
    body_at, row_at = body.ctypes.data, row.ctypes.data
    for k in range(_BODIES_AHEAD):
        candidates[number + k] = uint64(0)
    for k in range(uint64(0), uint64(number)):
        candidate = candidates[k]
        local = candidate >> uint64(32)
        place = candidate & uint64(0xFFFF_FFFF)
        later = int64(candidates[k + uint64(_BODIES_AHEAD)] & uint64(0xFFFF_FFFF))
        fetch(body_at + 8 * later)
        header = body[place]
        if vector is None:
            holds = _words_hold(place, header, body, local * uint64(64), row)
        else:
            holds = unmet(body_at + 8 * int64(place), row_at + 128 * int64(local)) == 0
        event = events[local]
        if header >> uint64(56) and holds:
            holds = _tail_holds(
                int64(place), int64(header >> uint64(56)), body, intervals,
                offsets[event], offsets[event + 1], slot, rank,
            )  # fmt: skip
        out_event[uint64(matches)] = event
        out_conjunction[uint64(matches)] = int32(header & uint64(0x7FFF_FFFF))
        matches += int64(holds)
    return matches


@inlined
def _words_hold(place: Number, header: Number, body: Array, codes: Number, row: Array) -> Number:
    """Whether a row meets the words 1 … 7 of a body, one by one."""
    present = (header >> uint64(32)) | (header >> uint64(40)) | (header >> uint64(48))
    present = (present & uint64(255)) >> uint64(1)
    mask = uint64(0xFFFF)
    place += uint64(1)
    while present != 0:
        if present & uint64(1):
            word = body[place]
            code = uint64(row[codes + ((word >> uint64(32)) & uint64(63))])
            low, high = word & mask, (word >> uint64(16)) & mask
            third = word >> uint64(48)
            kind = int64(word >> uint64(38)) & 3
            if kind == RANGE:
                holds = (code >= low) & (code <= high) & (code != third)
            elif kind == OUTSIDE:
                holds = (code < low) | (code > high)
            else:
                holds = (code == low) | (code == high) | (code == third)
                if kind == SEXTET:
                    word = body[place + uint64(1)]
                    holds |= (code == (word & mask)) | (code == ((word >> uint64(16)) & mask))
                    holds |= code == (word >> uint64(48))
            if not holds:
                return False
        present >>= uint64(1)
        place += uint64(1)
    return True


@inlined
def _tail_holds(
    place: Number, tail: Number, body: Array, intervals: Array, begin: Number, end: Number,
    slot: Array, rank: Array,
) -> Number:  # fmt: skip
    """Whether an event's entries meet the tests on full ranks in the tail of a body."""
    at = place + tail
    for _ in range(int64(body[place + 1])):
        what, which = body[at], body[at + 1]
        at += 2
        wanted = int32(what & uint64(0xFFFF_FFFF))
        met = False
        for i in range(begin, end):
            if slot[i] == wanted:
                low, high = (
                    int64(which & uint64(0xFFFF_FFFF)),
                    int64(which >> uint64(32)),
                )
                if what & uint64(MANY):
                    met = within(intervals, low, low + high, rank[i])
                else:
                    met = low <= rank[i] <= high
                break
        if met == (what & uint64(NEGATED) != 0):
            return False
    return True
