"""The search for patterns in an event of up to 64 vertices, once a fact fits their trigger.

Here are the patterns of a posting, one after another; whole programs; and the rows of what is
selected. Tries are `graph_trie_search`'s.
"""

from sensewire.match.compiled.graph_build import FLAT_INJECTIVE, FLAT_PLAIN
from sensewire.match.compiled.graph_filters import NO, OVER
from sensewire.match.compiled.graph_layout import (
    COUNT_SHIFT,
    DOUBTFUL,
    FLAT,
    HAS_TRIE,
    OVER_BUDGET,
    PATTERN_MASK,
    POSTING,
    STEPS_SHIFT,
    TRIE,
    WHOLE,
    WHOLE_FLAGS,
    WHOLE_SELECTED,
    WHOLE_STEPS,
    WHOLE_UNTIL,
)
from sensewire.match.compiled.graph_room import Room, room_at, tables_at
from sensewire.match.compiled.graph_run import (
    FROM_START,
    bound,
    left_of,
    run,
    run_plainly,
    spend,
    used_at_first,
    used_by_trigger,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint64


@inlined
def search_flat(
    at: Number, x: Number, y: Number, postings: Array, own: Room, literals: Number,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, again: Number,
    now: Number, budget: Number, filled: Number,
) -> Number:  # fmt: skip
    """Try the patterns of a posting one after another; how many pairs are filled then.

    What was found, and what was spent, is noted only where the event may come to the posting
    `again`.
    """
    variables, count = postings[at + 3] & 3, postings[at + 3] >> COUNT_SHIFT
    bound(x, y, variables, own.place, own.members)
    to = uint64(at + POSTING)
    if postings[at + 3] & HAS_TRIE:
        to += uint64(TRIE)
    left = budget
    for _ in range(count):
        steps, flags = postings[to] >> STEPS_SHIFT, postings[to]
        number = postings[to + uint64(1)]
        first = to + uint64(FLAT)
        to = first + uint64(3) * uint64(steps)
        if again:
            if own.stamps[number] == now:
                continue
            left = left_of(number, own.spent, now, budget)
        outcome, doubtful, taken = NO, False, 0
        if flags & FLAT_PLAIN:
            outcome, taken = run_plainly(
                postings, first, steps, left, own.place, own.members, own.rows_of, own.adjacent,
                own.longs,
            )  # fmt: skip
        else:
            used, is_free = uint64(0), True
            if flags & FLAT_INJECTIVE:
                used, is_free = used_by_trigger(x, y, variables, flags, own.members, literals)
                if not is_free:
                    continue
            outcome, doubtful, taken = run(
                postings, first, steps, used, left, FROM_START, own.place, own.members,
                own.rows_of, own.adjacent, literals, own.ints, row_of, rows, numbers, filters,
                bounds, own.longs, own.floats,
            )  # fmt: skip
        if outcome:
            said = number | (DOUBTFUL if doubtful else 0) | (OVER_BUDGET if outcome == OVER else 0)
            own.out_place[filled] = said
            filled += 1
        if again:
            if outcome:
                own.stamps[number] = now
            else:
                spend(number, taken, own.spent, now)
    return filled


@loop
def search_whole(
    number: Number, tables: Array, written_room: Array, literals: Number, row_of: Array,
    rows: Array, numbers: Array, filters: Array, bounds: Array, now: Number, budget: Number,
    filled: Number,
) -> Number:  # fmt: skip
    """Try a pattern without a trigger; how many pairs are filled then."""
    index, own = tables_at(tables), room_at(written_room)
    wholes, at = index.wholes, int64(index.whole_at[number])
    outcome, doubtful, _ = run(
        wholes, at + WHOLE + wholes[at + WHOLE_SELECTED], wholes[at + WHOLE_STEPS],
        used_at_first(wholes[at + WHOLE_FLAGS], own.members, literals), budget, FROM_START,
        own.place, own.members, own.rows_of, own.adjacent, literals, own.ints, row_of, rows,
        numbers, filters, bounds, own.longs, own.floats,
    )  # fmt: skip
    if outcome:
        said = number | (DOUBTFUL if doubtful else 0) | (OVER_BUDGET if outcome == OVER else 0)
        own.out_place[filled] = said
        filled += 1
        own.stamps[number] = now
    return filled


@loop
def list_rows(
    pair: Number, event: Number, tables: Array, written_room: Array, literals: Number,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, budget: Number,
    listed: Number,
) -> Number:  # fmt: skip
    """Write the rows of a pair that was found, the same one perhaps several times; how many rows
    there are then, or −1 for want of room. A pair that turns out to be doubtful, or too costly,
    says so."""
    index, own = tables_at(tables), room_at(written_room)
    wholes, out_place, row_words, row_starts = (
        index.wholes, own.out_place, own.row_words, own.row_starts,
    )  # fmt: skip
    number = out_place[pair] & PATTERN_MASK
    at = int64(index.whole_at[number])
    steps, selected = wholes[at + WHOLE_STEPS], wholes[at + WHOLE_SELECTED]
    used = used_at_first(wholes[at + WHOLE_FLAGS], own.members, literals)
    resumed = int64(FROM_START)
    left = budget
    while True:
        outcome, doubtful, taken = run(
            wholes, at + WHOLE + selected, steps, used, left, resumed, own.place, own.members,
            own.rows_of, own.adjacent, literals, own.ints, row_of, rows, numbers, filters, bounds,
            own.longs, own.floats,
        )  # fmt: skip
        left -= taken
        if outcome == OVER:
            out_place[pair] |= OVER_BUDGET
            return listed
        if doubtful:
            out_place[pair] |= DOUBTFUL
            return listed
        if not outcome:
            return listed
        word = row_starts[listed]
        if word + 2 + selected > len(row_words) or listed + 2 > len(row_starts):
            return -1
        row_words[word] = event
        row_words[word + 1] = number
        for each in range(selected):
            row_words[word + 2 + each] = own.ints[own.place[wholes[at + WHOLE + each]]]
        listed += 1
        row_starts[listed] = word + 2 + selected
        resumed = int64(wholes[at + WHOLE_UNTIL])
