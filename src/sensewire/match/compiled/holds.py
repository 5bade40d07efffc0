"""Whether an event of any kind meets a word, a body, a test on full ranks.

A word with `low` 0, or OUTSIDE, is a negated test: it holds where the slot has no rank of the set,
or a loose one, or nothing is known. All others hold where some rank is in the set.

Cost of a word: O(1) for single ranks, O(log ranks of the event) for ranges.
"""

from sensewire.match.compiled.groups import (
    ANY_FLAG,
    GROUP_BEGIN,
    GROUP_END,
    GROUP_FLAGS,
    GROUP_SLOT,
    LOOSE_FLAG,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, uint64
from sensewire.match.compiled.layout import (
    BITS,
    CONSTANT_COLUMN,
    MANY,
    NEGATED,
    OUTSIDE,
    RANGE,
    SEXTET,
)


@inlined
def holds(
    word: Number, following: Number, codes: Array, groups: Array, state: Array, bits: Array
) -> Number:
    """Whether an event of any kind meets a word; `following` is the second half of a SEXTET."""
    column = int64(word >> uint64(32)) & 63
    if column == CONSTANT_COLUMN:
        return True
    kind = int64(word >> uint64(38)) & 3
    low, high = int64(word & uint64(0xFFFF)), int64(word >> uint64(16)) & 0xFFFF
    third = int64(word >> uint64(48))
    g = state[column] - 1
    if kind == OUTSIDE or (kind == RANGE and low == 0):
        if g < 0 or groups[g, GROUP_FLAGS] != 0:
            return True
        if kind == OUTSIDE:
            return not some(column, low, high, codes, groups, state, bits)
        return not has_bit(column, third, bits)
    if g < 0:
        return False
    if groups[g, GROUP_FLAGS] & ANY_FLAG:
        return True
    if kind == RANGE:
        if third == 0:
            return some(column, low, high, codes, groups, state, bits)
        return some(column, low, third - 1, codes, groups, state, bits) or some(
            column, third + 1, high, codes, groups, state, bits
        )
    if has_bit(column, low, bits) or has_bit(column, high, bits):
        return True
    if has_bit(column, third, bits):
        return True
    if kind == SEXTET:
        low, high = int64(following & uint64(0xFFFF)), int64(following >> uint64(16))
        if has_bit(column, low, bits) or has_bit(column, high & 0xFFFF, bits):
            return True
        return has_bit(column, int64(following >> uint64(48)), bits)
    return False


@inlined
def some(
    column: Number,
    low: Number,
    high: Number,
    codes: Array,
    groups: Array,
    state: Array,
    bits: Array,
) -> Number:
    """Whether the event has a code within an interval in a column."""
    g = state[column] - 1
    if g < 0:
        return False
    if groups[g, GROUP_FLAGS] & ANY_FLAG:
        return True
    if low == high:
        return has_bit(column, low, bits)
    begin, end = groups[g, GROUP_BEGIN], groups[g, GROUP_END]
    place = lower_bound(codes, begin, end, low)
    return place < end and codes[place] <= high


@inlined
def has_bit(column: Number, code: Number, bits: Array) -> Number:
    return (bits[column * BITS + (code >> 6)] >> uint64(code & 63)) & uint64(1) != 0


@inlined
def of_one_rank(word: Number) -> Number:
    """Whether a word is a RANGE of one code, or all codes but one."""
    low = word & uint64(0xFFFF)
    same = low == ((word >> uint64(16)) & uint64(0xFFFF))
    return ((word >> uint64(38)) & uint64(3) == 0) & (same | (low == 0))


@inlined
def has_rank(word: Number, bits: Array) -> Number:
    """Whether an event of certain values meets such a word."""
    low = word & uint64(0xFFFF)
    code = low | (word >> uint64(48))  # one of them is 0
    column = (word >> uint64(32)) & uint64(63)
    place = column * uint64(BITS) + (code >> uint64(6))
    bit = (bits[place] >> (code & uint64(63))) & uint64(1)
    return bit != uint64(low == 0)


@inlined
def body_holds(
    place: Number, ranks: Array, codes: Array, groups: Array, state: Array, bits: Array,
    body: Array, intervals: Array, certain: Number,
) -> Number:  # fmt: skip
    header = int64(body[place] >> uint64(32))
    present = (header | (header >> 8) | (header >> 16)) & 0xFF
    tail = (header >> 24) & 0xFF
    for k in range(1, 8):
        if present >> k == 0:
            break
        if (present >> k) & 1:
            word = body[place + k]
            if certain and of_one_rank(word):
                if not has_rank(word, bits):
                    return False
            elif not holds(word, body[place + k + 1], codes, groups, state, bits):
                return False
    if tail > 0:
        at = place + tail
        for _ in range(int64(body[place + 1])):
            if not exactly_holds(body[at], body[at + 1], ranks, groups, intervals):
                return False
            at += 2
    return True


@inlined
def exactly_holds(
    what: Number, which: Number, ranks: Array, groups: Array, intervals: Array
) -> Number:
    """Whether the event meets a test on full ranks."""
    slot = int64(what & uint64(0xFFFF_FFFF))
    negated = what & uint64(NEGATED) != 0
    g = group_of(groups, slot)
    if g < 0:
        return negated
    if groups[g, GROUP_FLAGS] & ANY_FLAG or (negated and groups[g, GROUP_FLAGS] & LOOSE_FLAG):
        return True
    low, high = int64(which & uint64(0xFFFF_FFFF)), int64(which >> uint64(32))
    begin, end = groups[g, GROUP_BEGIN], groups[g, GROUP_END]
    if what & uint64(MANY) == 0:
        place = lower_bound(ranks, begin, end, low)
        return (place < end and ranks[place] <= high) != negated
    met = False
    for k in range(begin, end):
        if within(intervals, low, low + high, ranks[k]):
            met = True
            break
    return met != negated


@inlined
def within(intervals: Array, begin: Number, end: Number, rank: Number) -> Number:
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
def lower_bound(values: Array, begin: Number, end: Number, least: Number) -> Number:
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def group_of(groups: Array, slot: Number) -> Number:
    begin, end = 0, len(groups)
    while begin < end:
        middle = (begin + end) >> 1
        if groups[middle, GROUP_SLOT] < slot:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < len(groups) and groups[begin, GROUP_SLOT] == slot else -1
