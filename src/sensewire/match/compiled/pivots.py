"""Which test, or pair of tests, each conjunction is posted under.

Every conjunction is posted once, under its *pivot*, so that an event meets only those that may
match. What a pivot costs is the number of events that come by, and a little for inexact ones:

    EQUAL    lists by rank, for a set of few ranks: exact
    CLASS    the list of a test that many conjunctions share: exact
    FINE, COARSE   a cell in the grid of two slots' quantile buckets, for two ranges
    CELL     a dyadic cell of quantile buckets: at most two of them cover half of any range
    EVERY    the list that every event reads: no positive test at all
    NOTHING  a test that never holds: read only by events of which nothing is known on its slot

The grid must be worth its visits: an event looks into one cell for each pair of its slots that has
one. So a strided sample of the conjunctions tells first what each pair would save.

Cost: linear in the tests of all conjunctions.
"""

from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.bodies import (
    CELL,
    CLASS,
    COARSE,
    EQUAL,
    EVERY,
    FINE,
    NOTHING,
    arrange,
    body_size,
)
from sensewire.match.compiled.conjunctions import Conjunctions
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint64
from sensewire.match.compiled.layout import COLUMNS
from sensewire.match.compiled.packing import (
    BY_CELL,
    BY_CLASS,
    BY_GRID,
    BY_RANK,
    NEVER,
    PackedTests,
    chance_of,
    form_of,
    posting_of,
    uses_of,
)
from sensewire.match.compiled.selectivity import Frequencies

_RARE = 0.002  # a pivot that so few events meet is as good as any
_GRID_OVER_PRODUCT = 3.0  # what comes by a grid's cells, over what meets both tests
_CELL_OVER_TEST = 2.0
_MOST_CELLS = 8
_VISIT_OVER_POSTING = 32.0  # what visiting a list costs, over reading a posting
_WITHOUT = 0.25  # a pivot that more events meet is none
_SAMPLED = 1 << 17
_LISTS_FOR_A_SLOT = 1024
_WORTH_A_VISIT = 6.0  # candidates of an event that a pair's grid must save
_GRIDS = ((20_000, 64, 16), (2_000, 32, 8), (100, 16, 4), (0, 8, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Pivots:
    """What is known of each conjunction once its pivot is chosen; and the grids."""

    mode: Array
    left: Array  # its test, or −1
    right: Array  # in a grid, the other one
    span: Array  # in a grid: the columns and the cells, see `spanned`
    first: Array  # the words beside its postings
    second: Array
    rest: Array  # the tests left for its body, from its place in `Conjunctions.test` on
    number: Array  # of them
    size: Array  # of its body
    interval_place: Array  # test → 0, where a body's tail needs its intervals, else −1
    by_rank_shift: Array  # slot → its lists by rank are by rank >> shift
    fine: int  # cells on a side of a grid
    coarse: int
    without: int


def choose(conjunctions: Conjunctions, tests: PackedTests, expected: Frequencies) -> Pivots:
    """The pivots of all conjunctions."""
    number = len(conjunctions)
    arguments = (
        conjunctions.offsets, conjunctions.test, conjunctions.tests.slot, tests.note,
    )  # fmt: skip
    step = max(1, number // _SAMPLED)
    saved = np.zeros(COLUMNS * COLUMNS)
    wanted = np.zeros(COLUMNS * COLUMNS)
    _savings(*arguments, tests.column, step, saved, wanted)
    worth = saved * step > _WORTH_A_VISIT
    average = float(wanted[worth].mean()) * step if worth.any() else 0.0
    fine, coarse = next((fine, coarse) for least, fine, coarse in _GRIDS if average >= least)
    mode = np.zeros(number, np.uint8)
    left, right = np.full(number, -1, np.int32), np.full(number, -1, np.int32)
    span, first, second = (np.zeros(number, np.uint64) for _ in range(3))
    rest = np.empty_like(conjunctions.test)
    kept, size = np.zeros(number, np.int32), np.zeros(number, np.int32)
    interval_place = np.full(len(tests.note), -1, np.int64)
    shift = _by_rank_shifts(conjunctions, tests)
    longest = int(np.diff(conjunctions.offsets).max(initial=0))
    order, overflow = np.zeros((longest, 2), np.uint64), np.zeros(longest, np.bool_)
    without = _choose(
        *arguments, conjunctions.tests.offsets, tests.column, tests.word,
        expected.first, expected.bucket, worth, fine, coarse, shift, order, overflow,
        mode, left, right, span, first, second, rest, kept, size, interval_place,
    )  # fmt: skip
    return Pivots(
        mode, left, right, span, first, second, rest, kept, size, interval_place, shift,
        fine, coarse, int(without),
    )  # fmt: skip


def _by_rank_shifts(conjunctions: Conjunctions, tests: PackedTests) -> Array:
    """By how much each slot's ranks are shifted, so that its lists are no more than its uses."""
    several = (tests.note >> uint64(8)) & uint64(BY_RANK) != 0
    uses = ((tests.note >> uint64(16)) & uint64(0xFFFF)) * several
    ranks = conjunctions.ranks.astype(np.int64)
    slot = conjunctions.tests.slot
    most = np.bincount(slot, weights=uses, minlength=len(ranks)) + _LISTS_FOR_A_SLOT
    shift = np.zeros(len(ranks), np.int64)
    while np.any(over := (ranks >> shift) + 1 > most):
        shift += over
    return shift


@inlined
def _best(
    begin: Number, end: Number, test: Array, slot: Array, note: Array
) -> tuple[Number, Number, Number, Number, Number, Number, Number, Number]:
    """The best exact test and its cost, the best for a cell, for a grid; one that never holds."""
    exact, exact_cost = -1, 9.0
    cell, cell_cost = -1, 9.0
    one, one_cost = -1, 9.0
    two, two_cost = -1, 9.0
    never = -1
    for i in range(begin, end):
        t = int64(test[i])
        about = note[t]
        if form_of(about) == NEVER:
            never = t
        how = posting_of(about)
        cost = np.float64(chance_of(about))
        if how & BY_RANK and cost < exact_cost:
            exact, exact_cost = t, cost
        if how & BY_CLASS:
            shared = cost * (1.0 + _VISIT_OVER_POSTING / uses_of(about))
            if shared < exact_cost:
                exact, exact_cost = t, shared
        if how & BY_CELL and cost * _CELL_OVER_TEST < cell_cost:
            cell, cell_cost = t, cost * _CELL_OVER_TEST
        if how & BY_GRID:
            if cost < one_cost:
                if one >= 0 and slot[one] != slot[t]:
                    two, two_cost = one, one_cost
                elif two >= 0 and slot[two] == slot[t]:
                    two, two_cost = -1, 9.0
                one, one_cost = t, cost
            elif cost < two_cost and slot[t] != slot[one]:
                two, two_cost = t, cost
    product = _GRID_OVER_PRODUCT * one_cost * two_cost
    return exact, exact_cost, cell, cell_cost, one, two, product, never


@loop
def _savings(
    offsets: Array, test: Array, slot: Array, note: Array,
    column: Array, step: Number, saved: Array, wanted: Array,
) -> None:  # fmt: skip
    for c in range(0, len(offsets) - 1, step):
        _, exact_cost, _, cell_cost, one, two, product, never = _best(
            offsets[c], offsets[c + 1], test, slot, note
        )
        if never >= 0 or two < 0 or exact_cost <= _RARE:
            continue
        saving = min(exact_cost, cell_cost, 1.0) - product
        if saving > 0.0:
            a, b = int64(column[slot[one]]), int64(column[slot[two]])
            pair = min(a, b) * COLUMNS + max(a, b)
            saved[pair] += saving
            wanted[pair] += 1.0


@loop
def _choose(
    offsets: Array, test: Array, slot: Array, note: Array,
    test_offsets: Array, column: Array, word: Array, code_first: Array, bucket: Array,
    worth: Array, fine: Number, coarse: Number, by_rank_shift: Array, order: Array, overflow: Array,
    mode: Array, left: Array, right: Array, span: Array, first: Array, second: Array,
    rest: Array, kept: Array, size: Array, interval_place: Array,
) -> Number:  # fmt: skip
    without = 0
    for c in range(len(offsets) - 1):
        exact, exact_cost, cell, cell_cost, one, two, product, never = _best(
            offsets[c], offsets[c + 1], test, slot, note
        )
        how, one_test, other_test = EVERY, -1, -1
        where = uint64(0)
        if never >= 0:
            how, one_test = NOTHING, never
        elif exact >= 0 and exact_cost <= cell_cost:
            how = EQUAL if posting_of(note[exact]) & BY_RANK else CLASS
            one_test = exact
        elif cell >= 0:
            how, one_test = CELL, cell
        cost = min(exact_cost, cell_cost, 1.0)
        if two >= 0 and exact_cost > _RARE and product < cost and never < 0:
            a, b = int64(column[slot[one]]), int64(column[slot[two]])
            if a > b:
                one, two = two, one
                a, b = b, a
            if worth[a * COLUMNS + b]:
                grid = FINE
                where, cells = _spanned(one, two, slot, word, code_first, bucket, fine)
                if cells > _MOST_CELLS:
                    grid = COARSE
                    where, cells = _spanned(one, two, slot, word, code_first, bucket, coarse)
                if cells <= _MOST_CELLS:
                    how, one_test, other_test = grid, one, two
                    where |= uint64(a * COLUMNS + b) << uint64(32)
        if how in (EQUAL, CLASS):
            without += exact_cost > _WITHOUT
        elif how == CELL:
            without += cell_cost > _WITHOUT * _CELL_OVER_TEST
        elif how == EVERY:
            without += 1
        mode[c] = how
        left[c] = one_test
        right[c] = other_test
        span[c] = where
        begin = offsets[c]
        exactly = one_test >= 0 and by_rank_shift[slot[one_test]] == 0
        word_one, word_two, number = arrange(
            how, one_test, other_test, exactly, begin, offsets[c + 1], test, note, word, order
        )
        first[c] = word_one
        second[c] = word_two
        kept[c] = number
        size[c] = body_size(number, order, test_offsets, overflow)
        for k in range(number):
            t = int64(order[k, 0])
            rest[begin + k] = t
            if overflow[k] and test_offsets[t + 1] - test_offsets[t] != 1:
                interval_place[t] = 0
    return without


@inlined
def _spanned(
    one: Number, two: Number, slot: Array, word: Array, first: Array, bucket: Array, side: Number
) -> tuple[Number, Number]:
    """The cells of a grid that two ranges cover, packed: row, rows, column, columns; their number.

    8 bits for each of them, and behind them, not filled here, left column × COLUMNS + right column.
    """
    row, last_row = _cell_range(one, slot, word, first, bucket, side)
    column, last_column = _cell_range(two, slot, word, first, bucket, side)
    rows, columns = last_row - row + 1, last_column - column + 1
    packed = row | (rows << 8) | (column << 16) | (columns << 24)
    return uint64(packed), rows * columns


@inlined
def _cell_range(
    test: Number, slot: Array, word: Array, first: Array, bucket: Array, side: Number
) -> tuple[Number, Number]:
    """The first and last cell that a test's range of codes covers, of `side` along its slot."""
    start = first[slot[test]]
    low = int64(word[test] & uint64(0xFFFF))
    high = int64((word[test] >> uint64(16)) & uint64(0xFFFF))
    return int64(bucket[start + low]) * side >> 8, int64(bucket[start + high]) * side >> 8
