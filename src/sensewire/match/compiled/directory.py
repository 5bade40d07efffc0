"""Where lists are: their numbers, by unit, by class and by grid.

    list 0                 read by every event
    units, one by one      by rank (shifted, where ranks are many and postings few)
    tests, one by one      that have a list of their own; `class_offsets` and `class_lists` lead
                           from a rank of the slot to the lists of all tests that hold for it
    units, one by one      dyadic cells, from the level on that has no more cells than postings
    pairs, one by one      the fine grid and the coarse one

Cost: linear in the conjunctions, the slots and the lists.
"""

from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.bodies import CELL, CLASS, COARSE, EQUAL, FINE, NOTHING
from sensewire.match.compiled.conjunctions import Conjunctions
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64
from sensewire.match.compiled.layout import (
    BUCKETS,
    COLUMNS,
    LEVELS,
    PAIR_COARSE,
    PAIR_FIELDS,
    PAIR_FINE,
    PAIR_LEFT,
    PAIR_RIGHT,
    SLOT_COLUMN,
    SLOT_FIELDS,
    SLOT_RANKS,
    SLOT_SHIFT,
    SLOT_UNIT,
    UNIT_BUCKETS,
    UNIT_CLASSES,
    UNIT_DYADIC,
    UNIT_EQUAL,
    UNIT_EQUAL_CELLS,
    UNIT_EQUAL_SHIFT,
    UNIT_FIELDS,
    UNIT_LEVELS,
    UNIT_REPEATS,
    UNIT_SLOT,
    code_of,
    dyadic_offset,
)
from sensewire.match.compiled.packing import PackedTests
from sensewire.match.compiled.pivots import Pivots
from sensewire.match.compiled.selectivity import Frequencies


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """The tables that lead to lists, and what building needs of them."""

    slots: Array
    units: Array
    buckets: Array
    class_offsets: Array
    class_lists: Array
    pairs: Array
    lists: int
    class_of: Array  # test → its list, or −1
    pair_of: Array  # left column × COLUMNS + right column → its row of `pairs`
    lowest_level: Array  # of each unit's dyadic cells; LEVELS where it has none


def directory(
    conjunctions: Conjunctions, tests: PackedTests, expected: Frequencies, pivots: Pivots
) -> Directory:
    """Number the lists that the pivots need."""
    ranks, slot = conjunctions.ranks.astype(np.int64), conjunctions.tests.slot
    used = _uses_by_slot(pivots, slot, len(ranks))
    unit_slots = np.flatnonzero(used.any(axis=1))
    slots = np.zeros((len(ranks), SLOT_FIELDS), np.int32)
    slots[:, SLOT_RANKS] = ranks
    slots[:, SLOT_UNIT] = -1
    slots[unit_slots, SLOT_UNIT] = np.arange(len(unit_slots))
    slots[:, SLOT_COLUMN] = tests.column
    slots[:, SLOT_SHIFT] = expected.shift
    units = np.full((len(unit_slots), UNIT_FIELDS), -1, np.int64)
    units[:, UNIT_SLOT] = unit_slots
    units[:, UNIT_LEVELS] = 0
    units[:, UNIT_REPEATS] = 0
    lists = 1
    shift = pivots.by_rank_shift[unit_slots]
    lists = _number_by_rank(units, used[unit_slots, EQUAL], ranks[unit_slots], shift, lists)
    class_of = np.full(len(slot), -1, np.int32)
    shared = np.unique(pivots.left[pivots.mode == CLASS])
    class_of[shared] = lists + np.arange(len(shared))
    lists += len(shared)
    class_offsets, class_lists = _classes(conjunctions, shared, class_of, slots, units)
    lowest_level, lists = _number_cells(units, used[unit_slots, CELL], lists)
    buckets = _number_buckets(units, used[unit_slots], expected)
    pairs, pair_of, lists = _number_pairs(pivots, lists)
    return Directory(
        slots, units, buckets, class_offsets, class_lists, pairs, lists, class_of, pair_of,
        lowest_level,
    )  # fmt: skip


def _uses_by_slot(pivots: Pivots, slot: Array, slots: int) -> Array:
    """Slot × mode → how many conjunctions are so posted under it."""
    used = np.zeros((slots, NOTHING + 1), np.int64)
    for mode in (EQUAL, CLASS, FINE, COARSE, CELL, NOTHING):
        chosen = pivots.mode == mode
        used[:, mode] = np.bincount(slot[pivots.left[chosen]], minlength=slots)
        if mode in (FINE, COARSE):
            used[:, mode] += np.bincount(slot[pivots.right[chosen]], minlength=slots)
    used[:, EQUAL] += used[:, NOTHING]  # they stand in the list of rank 0
    return used


def _number_by_rank(units: Array, postings: Array, highest: Array, shift: Array, lists: int) -> int:
    cells = np.where(postings > 0, (highest >> shift) + 1, 0)
    begin = lists + np.concatenate([[0], np.cumsum(cells)])
    units[:, UNIT_EQUAL] = np.where(postings > 0, begin[:-1], -1)
    units[:, UNIT_EQUAL_CELLS] = cells
    units[:, UNIT_EQUAL_SHIFT] = shift
    return int(begin[-1])


def _classes(
    conjunctions: Conjunctions, shared: Array, class_of: Array, slots: Array, units: Array
) -> tuple[Array, Array]:
    tests = conjunctions.tests
    with_classes = np.unique(slots[tests.slot[shared], SLOT_UNIT])
    rows = slots[units[with_classes, UNIT_SLOT], SLOT_RANKS].astype(np.int64) + 1
    begin = np.concatenate([[0], np.cumsum(rows)])
    units[with_classes, UNIT_CLASSES] = begin[:-1]
    starts = units[slots[tests.slot[shared], SLOT_UNIT], UNIT_CLASSES]
    offsets = np.zeros(begin[-1] + 1, np.int64)
    _point(shared, starts, tests.offsets, tests.low, tests.high, class_of, offsets, offsets[:0])
    np.cumsum(offsets, out=offsets)
    lists = np.zeros(offsets[-1], np.int32)
    _point(shared, starts, tests.offsets, tests.low, tests.high, class_of, offsets, lists)
    # Filling has moved every offset to the next one's place.
    offsets[1:] = offsets[:-1]
    offsets[:1] = 0
    return offsets.astype(np.int32), lists


@kernel
def _point(
    shared: Array, starts: Array, offsets: Array, low: Array, high: Array, class_of: Array,
    place: Array, lists: Array,
) -> None:  # fmt: skip
    """Count the pointers of every rank, behind its place; or, with room in `lists`, write them."""
    count = len(lists) == 0
    for k in range(len(shared)):
        test = shared[k]
        for i in range(offsets[test], offsets[test + 1]):
            for rank in range(int64(low[i]), int64(high[i]) + 1):
                row = starts[k] + rank
                if count:
                    place[row + 1] += 1
                else:
                    lists[place[row]] = class_of[test]
                    place[row] += 1


def _number_cells(units: Array, postings: Array, lists: int) -> tuple[Array, int]:
    level = np.zeros(len(units), np.int64)
    while np.any(over := (level < LEVELS - 1) & (BUCKETS >> level > np.maximum(postings, 1))):
        level += over
    skipped = 512 - (512 >> level)
    cells = np.where(postings > 0, 511 - skipped, 0)
    begin = lists + np.concatenate([[0], np.cumsum(cells)])
    units[:, UNIT_DYADIC] = begin[:-1] - skipped
    return np.where(postings > 0, level, LEVELS), int(begin[-1])


def _number_buckets(units: Array, used: Array, expected: Frequencies) -> Array:
    needs = (used[:, FINE] + used[:, COARSE] + used[:, CELL]) > 0
    slot = units[:, UNIT_SLOT]
    codes = np.where(needs, expected.first[slot + 1] - expected.first[slot], 0)
    begin = np.concatenate([[0], np.cumsum(codes)])
    units[:, UNIT_BUCKETS] = np.where(needs, begin[:-1], -1)
    source = np.repeat(expected.first[slot] - begin[:-1], codes) + np.arange(begin[-1])
    buckets: Array = expected.bucket[source]
    return buckets


def _number_pairs(pivots: Pivots, lists: int) -> tuple[Array, Array, int]:
    key = (pivots.span >> uint64(32)).astype(np.int64)
    has_fine = np.bincount(key[pivots.mode == FINE], minlength=COLUMNS * COLUMNS) > 0
    has_coarse = np.bincount(key[pivots.mode == COARSE], minlength=COLUMNS * COLUMNS) > 0
    which = np.flatnonzero(has_fine | has_coarse)
    fine, coarse = has_fine[which], has_coarse[which]
    cells = np.stack([fine * pivots.fine**2, coarse * pivots.coarse**2], axis=1).ravel()
    begin = lists + np.concatenate([[0], np.cumsum(cells)])
    pairs = np.zeros((len(which), PAIR_FIELDS), np.int64)
    pairs[:, PAIR_LEFT] = which // COLUMNS
    pairs[:, PAIR_RIGHT] = which % COLUMNS
    pairs[:, PAIR_FINE] = np.where(fine, begin[:-1:2], -1)
    pairs[:, PAIR_COARSE] = np.where(coarse, begin[1::2], -1)
    pair_of = np.full(COLUMNS * COLUMNS, -1, np.int64)
    pair_of[which] = np.arange(len(which))
    return pairs, pair_of, int(begin[-1])


@inlined
def lists_of(
    mode: Number, left: Number, span: Number,
    slot: Array, offsets: Array, low: Array, high: Array,
    slots: Array, units: Array, class_of: Array, pairs: Array, pair_of: Array,
    lowest_level: Array, first: Array, bucket: Array, fine: Number, coarse: Number, found: Array,
) -> Number:  # fmt: skip
    """Write the lists that a conjunction with this pivot is posted in; how many they are."""
    if mode in (FINE, COARSE):
        side = fine if mode == FINE else coarse
        pair = pair_of[span >> uint64(32)]
        base = pairs[pair, PAIR_FINE] if mode == FINE else pairs[pair, PAIR_COARSE]
        cells = int64(span)
        row, rows = cells & 0xFF, (cells >> 8) & 0xFF
        column, columns = (cells >> 16) & 0xFF, (cells >> 24) & 0xFF
        number = 0
        for i in range(row, row + rows):
            for j in range(column, column + columns):
                found[number] = base + i * side + j
                number += 1
        return number
    if mode == CLASS:
        found[0] = class_of[left]
        return 1
    if mode != EQUAL and mode != CELL and mode != NOTHING:
        found[0] = 0
        return 1
    unit = slots[slot[left], SLOT_UNIT]
    if mode == NOTHING:
        found[0] = units[unit, UNIT_EQUAL]
        return 1
    begin, end = offsets[left], offsets[left + 1]
    if mode == EQUAL:
        base, shift = units[unit, UNIT_EQUAL], units[unit, UNIT_EQUAL_SHIFT]
        number = 0
        for i in range(begin, end):
            for rank in range(int64(low[i]), int64(high[i]) + 1):
                cell = base + (rank >> shift)
                if number == 0 or found[number - 1] != cell:
                    found[number] = cell
                    number += 1
        return number
    shift = int64(slots[slot[left], SLOT_SHIFT])
    start = first[slot[left]]
    lowest = int64(bucket[start + code_of(int64(low[begin]), shift)])
    highest = int64(bucket[start + code_of(int64(high[end - 1]), shift)])
    level = lowest_level[unit]
    while (highest >> level) - (lowest >> level) > 1:
        level += 1
    base = units[unit, UNIT_DYADIC] + dyadic_offset(level)
    number = 0
    for cell in range(lowest >> level, (highest >> level) + 1):
        found[number] = base + cell
        number += 1
    return number
