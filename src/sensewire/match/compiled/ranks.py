"""Keys as ranks: kernels that number the keys of a segment, and that turn facts into entries.

A slot with the thresholds t₁ < … < tₘ (the starts and stops of its tests' spans) has m + 2 ranks:

    rank       1          2        3              m + 1       m + 2
    key     nowhere    < t₁    t₁ <= k < t₂  …  tₘ₋₁ <= k < tₘ   tₘ <= k

so that each span is an interval of ranks. Cost of a fact: for a number, a look into a table of
buckets and a binary search in one of them; for a word, a copy of what was worked out once.
"""

import numpy as np

from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64

NOWHERE = 1
FIRST = 2

MOST_BUCKETS = 4_096

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
def buckets_of(keys: Array, offsets: Array, searched: Array) -> tuple[Array, Array, Array, Array]:
    """Tables that lead a search to the few thresholds that matter: for each slot that is searched,
    where its buckets begin, the key of the first one, and how many there are for a unit; and for
    each bucket how many thresholds are in those before it."""
    slots = len(offsets) - 1
    begins = np.zeros(slots + 1, np.int64)
    least = np.zeros(slots, np.float64)
    scale = np.zeros(slots, np.float64)
    for slot in range(slots):
        count = offsets[slot + 1] - offsets[slot]
        buckets = 1
        while searched[slot] and buckets < count and buckets < MOST_BUCKETS:
            buckets *= 2
        begins[slot + 1] = begins[slot] + buckets + 1
    before = np.zeros(begins[slots], np.int32)
    for slot in range(slots):
        first, last = offsets[slot], offsets[slot + 1]
        buckets = begins[slot + 1] - begins[slot] - 1
        if searched[slot] and last > first:
            # A few keys far away must not put all others into one bucket.
            margin = (last - first) // 200
            low, high = keys[first + margin], keys[last - 1 - margin]
            least[slot] = low
            scale[slot] = buckets / (high - low) if high > low else 0.0
            for place in range(first, last):
                bucket = bucket_of(keys[place], least[slot], scale[slot], buckets)
                before[begins[slot] + bucket + 1] += 1
            for bucket in range(begins[slot] + 1, begins[slot + 1]):
                before[bucket] += before[bucket - 1]
    return begins, least, scale, before


@inlined
def bucket_of(key: Number, least: Number, scale: Number, buckets: Number) -> Number:
    """The bucket of a key: never a lower one for a higher key, however sums are rounded."""
    place = (key - least) * scale
    if not place > 0.0:
        return 0
    return int64(place) if place < buckets else buckets - 1


@inlined
def rank_of(thresholds: Array, first: Number, last: Number, key: Number) -> Number:
    """How many of the thresholds up to `last` are at most the key, if those up to `first` are;
    without a branch that could be guessed wrong."""
    size = last - first
    base = uint64(first)
    while size > 1:
        half = size >> 1
        base += uint64(half) * uint64(thresholds[base + uint64(half)] <= key)
        size -= half
    if size > 0:
        base += uint64(thresholds[base] <= key)
    return int64(base)


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
    bucket_begins: Array,
    bucket_least: Array,
    bucket_scale: Array,
    bucket_before: Array,
) -> tuple[Array, Array, Array, Array]:
    """The entries of many facts: offsets by event, slots, ranks, and which events are loose.

    `number_rank` has three columns: for an integer, a double, a string that nothing asks for.
    """
    facts = len(event)
    total = 0
    for fact in range(facts):
        name = uint64(property[fact])
        if kind[fact] == 0 and word[fact] >= 0:
            total += word_count[uint64(word[fact])]
        else:
            total += number_offsets[name + uint64(1)] - number_offsets[name]
    offsets = np.zeros(events + 1, np.int64)
    slots = np.empty(total, np.int32)
    ranks = np.empty(total, np.int32)
    loose = np.zeros(events, np.bool_)
    filled = uint64(0)
    at = 0
    for fact in range(facts):
        owner = event[fact]
        while at < owner:
            at += 1
            offsets[at] = filled
        if kind[fact] == 0 and word[fact] >= 0:
            first = uint64(word_first[uint64(word[fact])])
            odd = False
            for entry in range(first, first + uint64(word_count[uint64(word[fact])])):
                slots[filled] = entry_slot[entry]
                ranks[filled] = entry_rank[entry]
                odd |= entry_rank[entry] >= 1 << 30
                filled += uint64(1)
            loose[owner] |= odd
        else:
            column = 2 if kind[fact] == 0 else kind[fact] - 1
            key = number[fact]
            name = uint64(property[fact])
            for place in range(number_offsets[name], number_offsets[name + uint64(1)]):
                rank = number_rank[uint64(place), column]
                slot = number_slot[uint64(place)]
                if rank == SEARCHED:
                    place_of = uint64(slot)
                    begin = threshold_offsets[place_of]
                    table = bucket_begins[place_of]
                    buckets = bucket_begins[place_of + uint64(1)] - table - 1
                    bucket = bucket_of(key, bucket_least[place_of], bucket_scale[place_of], buckets)
                    near = uint64(table + bucket)
                    low = begin + bucket_before[near]
                    high = begin + bucket_before[near + uint64(1)]
                    found = FIRST + rank_of(thresholds, low, high, key) - begin
                    rank = found if key == key else NOWHERE  # NaN is on no axis
                slots[filled] = slot
                ranks[filled] = rank
                filled += uint64(rank > 0)
    while at < events:
        at += 1
        offsets[at] = filled
    return offsets, slots[:filled], ranks[:filled], loose
