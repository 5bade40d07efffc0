"""Keys as ranks: kernels that number the keys of a segment, and that turn facts into entries.

A slot with the thresholds t₁ < … < tₘ (the starts and stops of its tests' spans) has m + 2 ranks:

    rank       1          2        3              m + 1       m + 2
    key     nowhere    < t₁    t₁ <= k < t₂  …  tₘ₋₁ <= k < tₘ   tₘ <= k

so that each span is an interval of ranks. Cost of a fact: a binary search for a number, a copy of
what was worked out once for a word.
"""

import numpy as np

from sensewire.match.compiled.jit import Array, kernel

NOWHERE = 1
FIRST = 2

# How a property's numbers stand on a slot: by a search, or always alike.
SEARCHED = -1


@kernel
def span_ranks(
    slot: Array,
    but: Array,
    offsets: Array,
    starts: Array,
    stops: Array,
    ranks: Array,
    flagged: Array,
) -> tuple[Array, Array, Array]:
    """The tests' spans as intervals of ranks: offsets, low, high. Ends are numbers of thresholds
    within their slots, -1 for none; spans may overlap and touch."""
    count = len(slot)
    most = len(starts) + 2 * count + 1
    low = np.empty(most, np.int32)
    high = np.empty(most, np.int32)
    out = np.zeros(count + 1, np.int64)
    filled = 0
    for test in range(count):
        first, last = offsets[test], offsets[test + 1]
        top = ranks[slot[test]]
        if flagged[slot[test]]:
            low[filled] = 1
            high[filled] = 1
            out[test + 1] = filled + 1
            filled += 1
            continue
        lows = np.empty(last - first, np.int32)
        highs = np.empty(last - first, np.int32)
        spans = 0
        for span in range(first, last):
            begin = FIRST if starts[span] < 0 else FIRST + 1 + starts[span]
            end = top if stops[span] < 0 else FIRST + stops[span]
            if begin <= end:
                lows[spans] = begin
                highs[spans] = end
                spans += 1
        order = np.argsort(lows[:spans])
        reached = np.int32(0)
        here = filled
        for place in range(spans):
            begin, end = lows[order[place]], highs[order[place]]
            if filled > here and begin <= reached + 1:
                if end > reached:
                    high[filled - 1] = end
                    reached = end
            else:
                low[filled] = begin
                high[filled] = end
                reached = end
                filled += 1
        if but[test]:
            kept = filled - here
            olds = low[here:filled].copy()
            olds_high = high[here:filled].copy()
            filled = here
            next_free = np.int32(NOWHERE)
            for place in range(kept):
                if olds[place] > next_free:
                    low[filled] = next_free
                    high[filled] = olds[place] - 1
                    filled += 1
                next_free = olds_high[place] + 1
            if next_free <= top:
                low[filled] = next_free
                high[filled] = top
                filled += 1
        out[test + 1] = filled
    return out, low[:filled].copy(), high[:filled].copy()


@kernel
def rank_of(thresholds: Array, first: int, last: int, key: float) -> int:
    """How many of the thresholds in [first, last) are at most the key."""
    size = last - first
    base = first
    while size > 0:
        half = size >> 1
        middle = base + half
        if thresholds[middle] <= key:
            base = middle + 1
            size -= half + 1
        else:
            size = half
    return base - first


@kernel
def entries_of(
    events: int,
    event: Array,
    property: Array,
    kind: Array,
    word: Array,
    number: Array,
    word_first: Array,
    word_count: Array,
    entry_slot: Array,
    entry_rank: Array,
    number_offsets: Array,
    number_slot: Array,
    number_rank: Array,
    thresholds: Array,
    threshold_offsets: Array,
) -> tuple[Array, Array, Array, Array]:
    """The entries of many facts: offsets by event, slots, ranks, and which events are loose.

    `number_rank` has three columns: for an integer, a double, a string that nothing asks for.
    """
    facts = len(event)
    total = 0
    for fact in range(facts):
        if kind[fact] == 0 and word[fact] >= 0:
            total += word_count[word[fact]]
        else:
            total += number_offsets[property[fact] + 1] - number_offsets[property[fact]]
    offsets = np.zeros(events + 1, np.int64)
    slots = np.empty(total, np.int32)
    ranks = np.empty(total, np.int32)
    loose = np.zeros(events, np.bool_)
    filled = 0
    at = 0
    for fact in range(facts):
        owner = event[fact]
        while at < owner:
            at += 1
            offsets[at] = filled
        if kind[fact] == 0 and word[fact] >= 0:
            first = word_first[word[fact]]
            for entry in range(first, first + word_count[word[fact]]):
                slots[filled] = entry_slot[entry]
                ranks[filled] = entry_rank[entry]
                if entry_rank[entry] >= 1 << 30 or entry_rank[entry] < 0:
                    loose[owner] = True
                filled += 1
        else:
            column = 2 if kind[fact] == 0 else kind[fact] - 1
            key = number[fact]
            for place in range(number_offsets[property[fact]], number_offsets[property[fact] + 1]):
                rank = number_rank[place, column]
                slot = number_slot[place]
                if rank == SEARCHED:
                    if key != key:
                        rank = NOWHERE
                    else:
                        first, last = threshold_offsets[slot], threshold_offsets[slot + 1]
                        rank = FIRST + rank_of(thresholds, first, last, key)
                if rank > 0:
                    slots[filled] = slot
                    ranks[filled] = rank
                    filled += 1
    while at < events:
        at += 1
        offsets[at] = filled
    return offsets, slots[:filled], ranks[:filled], loose
