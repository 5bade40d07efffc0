"""How often events meet a test: frequencies of codes, estimated from a sample of events.

For each slot the expected number of entries of one event with a code up to c, cumulated, so that an
interval costs two look-ups; and 256 quantile buckets, equally likely, which the grid and the dyadic
cells are made of.

A sample is small against the ranks of a slot. Where its counts are no more uneven than chance makes
them within each sixty-fourth of the slot, as numbers' are, the local mean is taken; where they are,
as words' are, the counts themselves; both with a little for what was never seen. Without a sample
events are taken to be distributed like the constants of the tests.

Cost: linear in the sample, the tests and the codes of all slots.
"""

from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.conjunctions import LOOSE, Conjunctions, Entries
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop
from sensewire.match.compiled.layout import BUCKETS, code_of, code_shifts

_BLOCKS = 64
_UNEVEN = 2.0  # variance over mean; 1 for counts that are chance alone
_UNSEEN_OF_EVEN, _UNSEEN_OF_UNEVEN = 0.05, 0.1
_ASSUMED_PRESENCE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Frequencies of the codes of all slots: those of slot s begin at first[s], with code 0."""

    shift: Array
    first: Array
    cumulative: Array
    bucket: Array


def frequencies(conjunctions: Conjunctions, sample: Entries) -> Frequencies:
    """What to expect of events, from a sample of them or, if it is empty, from the constants."""
    ranks = conjunctions.ranks.astype(np.int64)
    shift = code_shifts(ranks)
    codes = np.where(ranks > 0, ((ranks - 1) >> shift) + 1, 0)
    first = np.zeros(len(ranks) + 1, np.int64)
    np.cumsum(codes + 1, out=first[1:])
    if len(sample):
        counts = _counted(sample, ranks, shift, first)
        expected = np.add.reduceat(counts, first[:-1]) / len(sample) if len(ranks) else counts
    else:
        counts = _constants(conjunctions, shift, first)
        expected = np.full(len(ranks), _ASSUMED_PRESENCE)
    cumulative = np.zeros(first[-1])
    bucket = np.zeros(first[-1], np.uint8)
    _smooth(first, counts, expected, 0.5 / max(len(sample), 1), cumulative, bucket)
    return Frequencies(shift, first, cumulative, bucket)


def _counted(sample: Entries, ranks: Array, shift: Array, first: Array) -> Array:
    slot = sample.slot.astype(np.int64)
    rank = sample.rank.astype(np.int64)
    known = (slot >= 0) & (slot < len(ranks)) & (rank > 0)
    slot, rank = slot[known], rank[known] & (LOOSE - 1)
    known = (rank > 0) & (rank <= ranks[slot])
    slot, rank = slot[known], rank[known]
    place = first[slot] + ((rank - 1) >> shift[slot]) + 1
    return np.bincount(place, minlength=first[-1]).astype(np.float64)


def _constants(conjunctions: Conjunctions, shift: Array, first: Array) -> Array:
    tests = conjunctions.tests
    uses = np.bincount(conjunctions.test, minlength=len(tests.slot))
    of = np.repeat(np.arange(len(tests.slot)), np.diff(tests.offsets))
    counts = np.zeros(first[-1])
    for end in (tests.low, tests.high):
        slot = tests.slot[of]
        place = first[slot] + ((end.astype(np.int64) - 1) >> shift[slot]) + 1
        counts += np.bincount(place, weights=uses[of], minlength=first[-1])
    return counts


@loop
def _smooth(
    first: Array, counts: Array, expected: Array, least: Number, cumulative: Array, bucket: Array
) -> None:
    for slot in range(len(first) - 1):
        start = first[slot] + 1
        codes = first[slot + 1] - start
        if codes == 0:
            continue
        total = 0.0
        for i in range(start, start + codes):
            total += counts[i]
        presence = max(expected[slot], least)
        uneven = _unevenness(counts, start, codes) > _UNEVEN
        unseen = _UNSEEN_OF_UNEVEN if uneven else _UNSEEN_OF_EVEN
        if total == 0.0:
            unseen = 1.0
        step = (codes + _BLOCKS - 1) // _BLOCKS
        reached = 0.0
        for block in range(start, start + codes, step):
            end = min(block + step, start + codes)
            mean = 0.0
            for i in range(block, end):
                mean += counts[i]
            mean /= end - block
            for i in range(block, end):
                local = counts[i] if uneven else mean
                share = unseen / codes
                if total > 0.0:
                    share += (1.0 - unseen) * local / total
                bucket[i] = min(int(reached * BUCKETS), BUCKETS - 1)
                reached += share
                cumulative[i] = reached * presence


@inlined
def _unevenness(counts: Array, start: Number, codes: Number) -> Number:
    """The variance of counts over their mean, within the blocks of a slot."""
    step = (codes + _BLOCKS - 1) // _BLOCKS
    spread = 0.0
    freedom = 0
    for block in range(start, start + codes, step):
        end = min(block + step, start + codes)
        mean = 0.0
        for i in range(block, end):
            mean += counts[i]
        mean /= end - block
        if mean > 0.0:
            for i in range(block, end):
                spread += (counts[i] - mean) ** 2 / mean
            freedom += end - block - 1
    return spread / max(freedom, 1)


@inlined
def expectation(
    cumulative: Array,
    start: Number,
    shift: Number,
    low: Array,
    high: Array,
    begin: Number,
    end: Number,
) -> Number:
    """How many entries of an event to expect within intervals begin … end − 1 of one slot."""
    sum_ = 0.0
    for i in range(begin, end):
        upto = cumulative[start + code_of(int64(high[i]), shift)]
        span = int64(1) << shift
        below = cumulative[start + code_of(int64(low[i]), shift) - 1]
        share = upto - below
        if high[i] - low[i] + 1 < span:  # within a bucket: its share of the bucket's ranks
            share *= (high[i] - low[i] + 1) / span
        sum_ += share
    return sum_
