"""From conjunctions to the tables of an index: count, then fill, each in one pass.

Nothing is sorted: a first pass counts the postings of every list and the words of the bodies whose
first list it is, sums make places of the counts, and a second pass writes each posting and each
body where it belongs, so that bodies lie in the order in which a sweep over the lists needs them.

Cost: linear in the tests of all conjunctions; beside the result, a few bytes for each conjunction
and each distinct test.
"""

import numpy as np

from sensewire.match.compiled.bodies import write_body
from sensewire.match.compiled.conjunctions import Conjunctions, Entries
from sensewire.match.compiled.directory import Directory, directory, lists_of
from sensewire.match.compiled.jit import Array, Number, int64, loop, uint32, uint64
from sensewire.match.compiled.layout import (
    BUCKETS,
    DIRECT,
    LEVELS,
    PADDING,
    SIZE_COARSE,
    SIZE_CONJUNCTIONS,
    SIZE_EVERY,
    SIZE_FINE,
    SIZE_WITHOUT_PIVOT,
    SIZES,
    SLOT_UNIT,
    UNIT_DYADIC,
    UNIT_LEVELS,
    UNIT_REPEATS,
)
from sensewire.match.compiled.packing import PackedTests, pack_tests
from sensewire.match.compiled.pivots import Pivots, choose
from sensewire.match.compiled.selectivity import Frequencies, frequencies
from sensewire.model.errors import SensewireError

_MOST_LISTS = 16  # of one conjunction


def build_tables(conjunctions: Conjunctions, sample: Entries) -> dict[str, Array]:
    """The tables of the index, by their names."""
    expected = frequencies(conjunctions, sample)
    tests = pack_tests(conjunctions, expected)
    pivots = choose(conjunctions, tests, expected)
    lists = directory(conjunctions, tests, expected, pivots)
    sizes = np.zeros(SIZES, np.int64)
    sizes[SIZE_CONJUNCTIONS] = len(conjunctions)
    sizes[SIZE_WITHOUT_PIVOT] = pivots.without
    sizes[SIZE_FINE] = pivots.fine
    sizes[SIZE_COARSE] = pivots.coarse
    filled = _fill_lists(conjunctions, tests, expected, pivots, lists)
    sizes[SIZE_EVERY] = filled["list_start"][1]
    _note_levels(lists, filled["list_start"])
    return {
        "sizes": sizes,
        "slots": lists.slots,
        "units": lists.units,
        "buckets": lists.buckets,
        "class_offsets": lists.class_offsets,
        "class_lists": lists.class_lists,
        "pairs": lists.pairs,
        **filled,
    }


def _fill_lists(
    conjunctions: Conjunctions, tests: PackedTests, expected: Frequencies, pivots: Pivots,
    lists: Directory,
) -> dict[str, Array]:  # fmt: skip
    raw = conjunctions.tests
    common = (
        pivots.mode, pivots.left, pivots.right, pivots.span, pivots.size,
        raw.slot, raw.offsets, raw.low, raw.high,
        lists.slots, lists.units, lists.class_of, lists.pairs, lists.pair_of, lists.lowest_level,
        expected.first, expected.bucket, pivots.fine, pivots.coarse,
        np.zeros(_MOST_LISTS, np.int64),
    )  # fmt: skip
    list_start = np.zeros(lists.lists + 1, np.int64)
    body_start = np.zeros(lists.lists + 1, np.int64)
    _count(*common, list_start, body_start)
    np.cumsum(list_start, out=list_start)
    np.cumsum(body_start, out=body_start)
    if list_start[-1] > 2**31 - 1 or body_start[-1] > 2**31 - 1:
        raise SensewireError(
            f"{list_start[-1]} postings and {body_start[-1]} words of bodies: one index holds up "
            "to 2147483647 of each; use several"
        )
    interval_place = pivots.interval_place
    intervals = _intervals(conjunctions, interval_place)
    postings = int(list_start[-1])
    first = np.zeros(postings + PADDING, np.uint64)
    second = np.zeros(postings + PADDING, np.uint64)
    target = np.zeros(postings + PADDING, np.uint32)
    body = np.zeros(int(body_start[-1]) + PADDING, np.uint64)
    next_posting, next_body = list_start[:-1].copy(), body_start[:-1]
    longest = int(pivots.number.max(initial=0))
    order, overflow = np.zeros((longest, 2), np.uint64), np.zeros(longest, np.bool_)
    _fill(
        *common, conjunctions.offsets, pivots.rest, pivots.number, pivots.first, pivots.second,
        tests.column, tests.word, tests.note, raw.negated, interval_place, order, overflow,
        next_posting, next_body, first, second, target, body,
    )  # fmt: skip
    return {
        "list_start": list_start.astype(np.int32),
        "first": first,
        "second": second,
        "target": target,
        "body": body,
        "intervals": intervals,
    }


def _intervals(conjunctions: Conjunctions, place: Array) -> Array:
    """The intervals of the tests marked in `place`, which then says where they are."""
    tests = conjunctions.tests
    marked = np.flatnonzero(place >= 0)
    lengths = tests.offsets[marked + 1] - tests.offsets[marked]
    begin = np.concatenate([[0], np.cumsum(lengths)])
    place[marked] = begin[:-1]
    source = np.repeat(tests.offsets[marked] - begin[:-1], lengths) + np.arange(begin[-1])
    return np.stack([tests.low[source], tests.high[source]], axis=1).astype(np.int32)


def _note_levels(lists: Directory, list_start: Array) -> None:
    """For each unit, which levels of its dyadic cells have postings."""
    for level in range(LEVELS):
        has = lists.lowest_level <= level
        begin = lists.units[has, UNIT_DYADIC] + 512 - (512 >> level)
        end = begin + (BUCKETS >> level)
        used = list_start[end] > list_start[begin]
        lists.units[has, UNIT_LEVELS] |= used.astype(np.int64) << level


@loop
def _count(
    mode: Array, left: Array, right: Array, span: Array, size: Array,
    slot: Array, test_offsets: Array, low: Array, high: Array,
    slots: Array, units: Array, class_of: Array, pairs: Array, pair_of: Array,
    lowest_level: Array, code_first: Array, bucket: Array, fine: Number, coarse: Number,
    found: Array,
    list_start: Array, body_start: Array,
) -> None:  # fmt: skip
    for c in range(len(mode)):
        one, two = int64(left[c]), int64(right[c])
        posted = lists_of(
            mode[c], one, span[c], slot, test_offsets, low, high, slots, units, class_of,
            pairs, pair_of, lowest_level, code_first, bucket, fine, coarse, found,
        )  # fmt: skip
        body_start[found[0] + 1] += size[c]
        for k in range(posted):
            list_start[found[k] + 1] += 1
        if posted > 1:
            units[slots[slot[one], SLOT_UNIT], UNIT_REPEATS] = 1
            if two >= 0:
                units[slots[slot[two], SLOT_UNIT], UNIT_REPEATS] = 1


@loop
def _fill(
    mode: Array, left: Array, right: Array, span: Array, size: Array,
    slot: Array, test_offsets: Array, low: Array, high: Array,
    slots: Array, units: Array, class_of: Array, pairs: Array, pair_of: Array,
    lowest_level: Array, code_first: Array, bucket: Array, fine: Number, coarse: Number,
    found: Array,
    offsets: Array, rest: Array, number: Array, first_word: Array, second_word: Array,
    column: Array, word: Array, note: Array, negated: Array, interval_place: Array,
    order: Array, overflow: Array, next_posting: Array, next_body: Array,
    first: Array, second: Array, target: Array, body: Array,
) -> None:  # fmt: skip
    for c in range(len(mode)):
        posted = lists_of(
            mode[c], int64(left[c]), span[c], slot, test_offsets, low, high, slots, units,
            class_of, pairs, pair_of, lowest_level, code_first, bucket, fine, coarse, found,
        )  # fmt: skip
        goal = uint32(DIRECT) | uint32(c)
        if size[c] > 0:
            at = next_body[found[0]]
            next_body[found[0]] = at + size[c]
            for k in range(number[c]):
                t = rest[offsets[c] + k]
                order[k, 0] = uint64(t)
                order[k, 1] = note[t]
            write_body(
                c, number[c], order, word, column, slot, negated, test_offsets, low, high,
                interval_place, overflow, body, at,
            )  # fmt: skip
            goal = uint32(at)
        for k in range(posted):
            at = next_posting[found[k]]
            next_posting[found[k]] = at + 1
            first[at] = first_word[c]
            second[at] = second_word[c]
            target[at] = goal
