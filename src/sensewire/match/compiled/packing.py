"""Every distinct test as the kernels hold it: its word, its form, how often it holds.

    WORD     one word says it all                 one interval; all ranks but one of an interval;
                                                  a negated single rank
    TRIPLE   up to three single ranks             one word of the body
    SEXTET   up to six single ranks               two words of the body
    NOTS     negated, of a few intervals          a word of the body for each
    EXACT    anything else, anything on a slot that has no column or whose codes are coarse:
             two words in the body's tail
    NEVER    positive, without ranks: EXACT, but nothing can meet it, except an event of which
             nothing is known there
    ALWAYS   negated, without ranks: nothing to test

What is no WORD may still have one: a range that holds whenever the test does, to be tried first.

Cost: linear in the tests and their intervals.
"""

from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.conjunctions import Conjunctions
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint32, uint64
from sensewire.match.compiled.layout import (
    HOT_SLOTS,
    NO_COLUMN,
    OUTSIDE,
    RANGE,
    SEXTET,
    TRIPLE,
    code_of,
    packed,
)
from sensewire.match.compiled.selectivity import Frequencies, expectation

WORD, TRIPLES, SEXTETS, NOTS, EXACT, NEVER, ALWAYS = 0, 1, 2, 3, 4, 5, 6
MOST_NOTS = 4

# What a test may be posted under.
BY_RANK, BY_CLASS, BY_GRID, BY_CELL = 1, 2, 4, 8
MOST_POSTINGS = 8
"""Ranks of a test that its conjunction may be posted under one by one."""
_WORTH_A_LIST = 8  # uses of a test
_LIST_OVER_POSTINGS = 64  # uses for each rank, from which on a list beats postings by rank
_INTERVALS_WORTH = 64  # ranks a use, of a test that no cell could hold
_CLASS_RANKS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class PackedTests:
    """The tests as the kernels hold them, and the slots' columns.

    A test's note has, from its highest bit, the chance that an event meets it (32 bits of a float,
    so that notes sort by it), its uses (16 bits), the ways of posting (8 bits), the form (8 bits).
    """

    column: Array  # slot → column, NO_COLUMN
    word: Array
    note: Array


def pack_tests(conjunctions: Conjunctions, expected: Frequencies) -> PackedTests:
    """Pack all tests; the slots that they use most get the columns of the row."""
    tests = conjunctions.tests
    number = len(tests.slot)
    uses = np.bincount(conjunctions.test, minlength=number)
    column = _columns(np.bincount(tests.slot, weights=uses, minlength=len(conjunctions.ranks)))
    word = np.zeros(number, np.uint64)
    form = np.zeros(number, np.uint8)
    chance = np.zeros(number, np.float32)
    size = np.zeros(number, np.int32)
    posting = np.zeros(number, np.uint8)
    _pack(
        tests.slot, tests.negated, tests.offsets, tests.low, tests.high,
        column, expected.shift, expected.first, expected.cumulative,
        word, form, chance, size, posting,
    )  # fmt: skip
    shared = _worth_a_list(conjunctions, uses, size, posting)
    posting[shared] |= BY_CLASS
    posting[shared & (uses >= _LIST_OVER_POSTINGS * size)] &= ~np.uint8(BY_RANK)
    posting[(posting & BY_RANK) != 0] &= ~np.uint8(BY_CLASS)
    note = chance.view(np.uint32).astype(np.uint64) << uint64(32)
    note |= np.minimum(uses, 65_535).astype(np.uint64) << uint64(16)
    note |= posting.astype(np.uint64) << uint64(8)
    note |= form
    return PackedTests(column, word, note)


def _columns(uses: Array) -> Array:
    column = np.full(len(uses), NO_COLUMN, np.uint8)
    most = min(HOT_SLOTS, len(uses))
    hottest = np.argpartition(-uses, most - 1)[:most] if most else np.zeros(0, np.int64)
    hottest = np.sort(hottest[uses[hottest] > 0])
    column[hottest] = np.arange(len(hottest))
    return column


def _worth_a_list(conjunctions: Conjunctions, uses: Array, size: Array, posting: Array) -> Array:
    """Tests of several ranks that get a list of their own, which each of their ranks points to."""
    tests, ranks = conjunctions.tests, conjunctions.ranks
    several = (posting != 0) & (size > 1)
    shared = several & (uses >= _WORTH_A_LIST) & (size <= uses)
    # A scattered set would have to be scanned by every event between its ends.
    scattered = several & (np.diff(tests.offsets) > 1) & ((posting & BY_RANK) == 0)
    worth: Array = shared | (scattered & (size <= _INTERVALS_WORTH * uses))
    pointers = np.where(worth, size, 0).astype(np.int64)
    for_slot = np.bincount(tests.slot[worth], weights=pointers[worth], minlength=len(ranks))
    small = ranks <= np.maximum(_CLASS_RANKS, for_slot)
    worth &= small[tests.slot]
    # All pointers together stay within a few bytes for each conjunction.
    order = np.argsort(np.where(worth, size / np.maximum(uses, 1), np.inf), kind="stable")
    within = np.cumsum(pointers[order]) <= max(2 * len(conjunctions), 1 << 20)
    worth[order[~within]] = False
    return worth


@loop
def _pack(
    slots: Array, negated: Array, offsets: Array, low: Array, high: Array,
    columns: Array, shifts: Array, first: Array, cumulative: Array,
    word: Array, form: Array, chance: Array, size: Array, posting: Array,
) -> None:  # fmt: skip
    for test in range(len(slots)):
        slot = slots[test]
        begin, end = offsets[test], offsets[test + 1]
        if begin == end:
            form[test] = ALWAYS if negated[test] else NEVER
            chance[test] = 1.0 if negated[test] else 0.0
            continue
        shift = shifts[slot]
        column = columns[slot]
        met = min(expectation(cumulative, first[slot], shift, low, high, begin, end), 1.0)
        ranks = int64(0)
        for i in range(begin, end):
            ranks += int64(high[i]) - int64(low[i]) + 1
        size[test] = min(ranks, 1 << 30)
        chance[test] = 1.0 - met if negated[test] else met
        fine = column != NO_COLUMN and shift == 0
        form[test] = EXACT
        if negated[test]:
            if fine and end - begin == 1 and ranks == 1:
                form[test] = WORD
                word[test] = packed(0, 65_535, column, RANGE, low[begin])
            elif fine and end - begin <= MOST_NOTS:
                form[test] = NOTS
            continue
        posting[test] = BY_CELL
        if ranks <= MOST_POSTINGS:
            posting[test] |= BY_RANK
        if column != NO_COLUMN:
            lowest = code_of(int64(low[begin]), shift)
            highest = code_of(int64(high[end - 1]), shift)
            word[test] = packed(lowest, highest, column, RANGE, 0)
        if fine:
            form[test] = _fine_form(low, high, begin, end, ranks)
            if form[test] == WORD and end - begin == 1:
                posting[test] |= BY_GRID
            elif form[test] == WORD:
                gap = int64(high[begin]) + 1
                word[test] = packed(low[begin], high[end - 1], column, RANGE, gap)


@inlined
def _fine_form(low: Array, high: Array, begin: Number, end: Number, ranks: Number) -> Number:
    """The form of a positive test whose ranks are codes."""
    intervals = end - begin
    if intervals == 1 or (intervals == 2 and low[begin + 1] == high[begin] + 2):
        return WORD
    if ranks <= 3:
        return TRIPLES
    if ranks <= 6:
        return SEXTETS
    return EXACT


@inlined
def body_words(form: Number) -> Number:
    """How many words of a body a test of this form takes; −1: it belongs in the tail.

    NOTS take one for each interval.
    """
    if form in (WORD, TRIPLES):
        return 1
    if form == SEXTETS:
        return 2
    return -1


@inlined
def set_word(
    low: Array, high: Array, begin: Number, end: Number, column: Number, skip: Number
) -> Number:
    """The values number skip, skip + 1 and skip + 2 of a set of ranks, the last one repeated."""
    values = (int64(0), int64(0), int64(0))
    seen = 0
    for i in range(begin, end):
        for rank in range(int64(low[i]), int64(high[i]) + 1):
            if seen <= skip:
                values = (rank, rank, rank)
            elif seen == skip + 1:
                values = (values[0], rank, rank)
            elif seen == skip + 2:
                values = (values[0], values[1], rank)
            seen += 1
    kind = SEXTET if seen > 3 and skip == 0 else TRIPLE
    return packed(values[0], values[1], column, kind, values[2])


@inlined
def outside_word(low: Number, high: Number, column: Number) -> Number:
    """The word of a negated interval."""
    if low == high:
        return packed(0, 65_535, column, RANGE, low)
    return packed(low, high, column, OUTSIDE, 0)


@inlined
def form_of(note: Number) -> Number:
    """The form in a test's note."""
    return int64(note) & 0xFF


@inlined
def posting_of(note: Number) -> Number:
    """The ways of posting in a test's note."""
    return (int64(note) >> 8) & 0xFF


@inlined
def chance_of(note: Number) -> Number:
    """The chance in a test's note."""
    return uint32(note >> uint64(32)).view(np.float32)


@inlined
def uses_of(note: Number) -> Number:
    """How many conjunctions have the test, up to 65,535, in its note."""
    return (int64(note) >> 16) & 0xFFFF
