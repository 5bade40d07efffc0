"""The search in tries, in an event of up to 64 vertices: a common beginning is tried once.

A state for each node counts what is left to find below it, so that what was found for an event is
not looked for again. Where a trie takes too many steps its patterns are tried each by itself, so
that a costly one harms no other.
"""

from sensewire.match.compiled.graph_bits import first_of
from sensewire.match.compiled.graph_filters import MAYBE, OVER, YES
from sensewire.match.compiled.graph_layout import (
    DISTINCT,
    DOUBTFUL,
    FILTER,
    NEGATED,
    OVER_BUDGET,
    PLACED,
    POSTING,
    SLOT_MASK,
    WHAT_SHIFT,
)
from sensewire.match.compiled.graph_room import room_at, tables_at
from sensewire.match.compiled.graph_run import (
    FROM_START,
    SEEN_FROM,
    bound,
    filtered,
    left_of,
    run,
    spend,
    used_by_trigger,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint64


@inlined
def program_of(node: Number, nodes: Array, links: Array, tails: Array, program: Array) -> Number:
    """Write the steps of a pattern that ends at a node of a trie; how many they are."""
    steps = 0
    up = node
    while links[4 * up + 3] >= 0:
        steps += 1
        up = int64(links[4 * up + 3])
    up = node
    for step in range(steps - 1, -1, -1):
        for word in range(3):
            program[3 * step + word] = nodes[4 * up + word]
        up = int64(links[4 * up + 3])
    for tail in range(links[4 * node + 1] + 1, links[4 * node + 5]):
        for word in range(3):
            program[3 * steps + word] = tails[3 * tail + word]
        steps += 1
    return steps


@loop
def _one_by_one(
    at: Number, x: Number, y: Number, tables: Array, written_room: Array, literals: Number,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, now: Number,
    budget: Number, filled: Number,
) -> Number:  # fmt: skip
    """Try the patterns of a trie each by itself, so that a costly one harms no other."""
    index, own = tables_at(tables), room_at(written_room)
    postings, ends = index.postings, index.ends
    variables = postings[at + 3] & 3
    trie = at + POSTING
    for entry in range(postings[trie + 1], postings[trie + 2]):
        number = index.in_trie[entry]
        if own.stamps[number] == now or was_found(int64(ends[entry]), own.states, now):
            continue
        steps = program_of(int64(ends[entry]), index.nodes, index.links, index.tails, own.program)
        bound(x, y, variables, own.place, own.members)
        used, is_free = uint64(0), True
        if postings[at + 1] & DISTINCT:
            used, is_free = used_by_trigger(x, y, variables, 0, own.members, literals)
            if not is_free:
                continue
        outcome, doubtful, taken = run(
            own.program, 0, steps, used, left_of(number, own.spent, now, budget), FROM_START,
            own.place, own.members, own.rows_of, own.adjacent, literals, own.ints, row_of, rows,
            numbers, filters, bounds, own.longs, own.floats,
        )  # fmt: skip
        if outcome:
            said = number | (DOUBTFUL if doubtful else 0) | (OVER_BUDGET if outcome == OVER else 0)
            own.out_place[filled] = said
            filled += 1
            own.stamps[number] = now
        else:
            spend(number, taken, own.spent, now)
    return filled


@inlined
def list_found(
    node: Number, links: Array, listed: Array, said: Number, out_place: Array, filled: Number
) -> Number:  # fmt: skip
    """The patterns that end at a node hold."""
    for entry in range(links[4 * node + 2], links[4 * node + 6]):
        out_place[filled] = listed[entry] | said
        filled += 1
    return filled


@inlined
def _is_done(node: Number, states: Array, now: Number) -> Number:
    return states[node] == int64(now) << 32


@inlined
def was_found(node: Number, states: Array, now: Number) -> Number:
    """Whether the patterns that end at a node were found."""
    return _is_done(node, states, now) or (
        states[node] >> 32 == now and (states[node] >> 31) & 1 != 0
    )


@inlined
def one_less(node: Number, nodes: Array, links: Array, states: Array, now: Number) -> None:
    """Something below a node was found: where all is, that counts for its parent."""
    while node >= 0:
        if states[node] >> 32 != now:
            states[node] = (int64(now) << 32) | int64(nodes[4 * node + 3])
        states[node] -= 1
        if states[node] & int64(0x7FFFFFFF):
            return
        states[node] = int64(now) << 32
        node = int64(links[4 * node + 3])


@inlined
def own_found(node: Number, nodes: Array, links: Array, states: Array, now: Number) -> Number:
    """Whether the patterns that end at an inner node had been found before; now they are."""
    if links[4 * node + 2] == links[4 * node + 6]:
        return True
    if states[node] >> 32 != now:
        states[node] = (int64(now) << 32) | int64(nodes[4 * node + 3])
    if (states[node] >> 31) & 1:
        return True
    states[node] = (states[node] - 1) | (int64(1) << 31)
    return False


@loop
def search_trie(
    at: Number, x: Number, y: Number, tables: Array, written_room: Array, literals: Number,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, now: Number,
    budget: Number, filled: Number,
) -> Number:  # fmt: skip
    """Try all patterns of a trie; how many pairs are filled then.

    What the searches of an event take together has a limit, past which the patterns are tried each
    by itself; what they took is kept behind what patterns did.

    `survivors` are the children that are still to be tried, of all open nodes; `frames` has where
    an open node's begin and end, and which it is; `choices` has, for each survivor and then for
    each open node, where its vertex may be, and the vertices that are used.
    """
    index, own = tables_at(tables), room_at(written_room)
    postings, nodes, links, tails = index.postings, index.nodes, index.links, index.tails
    place, members, rows_of, adjacent = own.place, own.members, own.rows_of, own.adjacent
    states, survivors, frames, choices = own.states, own.survivors, own.frames, own.choices
    spent, listed, out_place = own.spent, index.listed, own.out_place
    one, two = uint64(1), uint64(2)
    all_found = int64(now) << 32
    root = int64(postings[at + POSTING])
    if _is_done(root, states, now):
        return filled
    of_trie = len(own.stamps) + root
    patterns = int64(postings[at + POSTING + 2] - postings[at + POSTING + 1])
    limit = left_of(of_trie, spent, now, budget + SEEN_FROM * patterns)
    is_over = limit <= 0
    variables = postings[at + 3] & 3
    bound(x, y, variables, place, members)
    used, is_free = uint64(0), True
    distinct = (postings[at + 1] & DISTINCT) != 0
    if distinct:
        used, is_free = used_by_trigger(x, y, variables, 0, members, literals)
        if not is_free:
            return filled
    said = 0
    if not own_found(root, nodes, links, states, now):
        filled = list_found(root, links, listed, 0, out_place, filled)
        if states[root] & int64(0x7FFFFFFF) == 0:
            states[root] = int64(now) << 32
            return filled
    of_frames = len(survivors)  # in `choices`, behind those of the survivors
    depth, taken = 0, 0
    node = root
    frames[0] = 0
    frames[1] = 0
    while not is_over:
        # The children of a node that was bound, tried at once.
        begin = int64(frames[3 * depth + 1])
        filled_to = uint64(begin)
        last_child = uint64(links[4 * node + 4])
        child_at = uint64(links[4 * node])
        while child_at < last_child:
            step = uint64(4) * child_at
            what = uint64(nodes[step + two])
            slot = what & uint64(SLOT_MASK)
            if slot - uint64(FILTER) < uint64(NEGATED - FILTER):
                verdict = filtered(
                    nodes[step], nodes[step + one], slot, place, members, own.ints, row_of, rows,
                    numbers, filters, bounds, own.floats,
                )  # fmt: skip
                domain = uint64(verdict)
                if verdict == MAYBE:
                    said = DOUBTFUL
            else:
                row = uint64(rows_of[what >> uint64(WHAT_SHIFT)]) + uint64(
                    place[uint64(nodes[step])]
                )
                domain = adjacent[row] & members[uint64(nodes[step + one])]
                if what & uint64(PLACED):
                    domain &= ~used
            survivors[filled_to] = child_at
            choices[filled_to] = domain
            is_open = (domain != uint64(0)) & (states[child_at] != all_found)
            filled_to += uint64(1) if is_open else uint64(0)
            child_at += one
        count = int64(filled_to)
        taken += links[4 * node + 4] - links[4 * node] + 1
        if taken > limit:
            break
        frames[3 * depth] = begin
        frames[3 * depth + 1] = count
        frames[3 * depth + 2] = -1
        choices[of_frames + 2 * depth] = uint64(0)
        choices[of_frames + 2 * depth + 1] = used
        # The next node to bind: another vertex of the one that is open, or the next survivor.
        node = -1
        while node < 0:
            domain = choices[of_frames + 2 * depth]
            used = choices[of_frames + 2 * depth + 1]
            open_node = int64(frames[3 * depth + 2])
            if domain != uint64(0) and not _is_done(open_node, states, now):
                node = open_node
            elif frames[3 * depth] < frames[3 * depth + 1]:
                entry = int64(frames[3 * depth])
                frames[3 * depth] += 1
                child = int64(survivors[entry])
                if _is_done(child, states, now):
                    choices[of_frames + 2 * depth] = uint64(0)
                    continue
                if links[4 * child] == links[4 * child + 4]:
                    tail = links[4 * child + 1]
                    steps = links[4 * child + 5] - tail
                    holds, doubtful = True, False
                    if steps > 0:
                        outcome, doubtful, more = run(
                            tails, 3 * tail, steps, used, limit - taken, FROM_START, place,
                            members, rows_of, adjacent, literals, own.ints, row_of, rows,
                            numbers, filters, bounds, own.longs, own.floats,
                        )  # fmt: skip
                        holds = outcome == YES
                        taken += more
                        if outcome == OVER:
                            is_over = True
                            break
                    if holds:
                        mark = said | (DOUBTFUL if doubtful else 0)
                        filled = list_found(child, links, listed, mark, out_place, filled)
                        states[child] = int64(now) << 32
                        one_less(int64(links[4 * child + 3]), nodes, links, states, now)
                    choices[of_frames + 2 * depth] = uint64(0)
                    continue
                if not own_found(child, nodes, links, states, now):
                    filled = list_found(child, links, listed, said, out_place, filled)
                frames[3 * depth + 2] = child
                choices[of_frames + 2 * depth] = choices[entry]
            else:
                if depth == 0:
                    spend(of_trie, taken, spent, now)
                    return filled
                depth -= 1
        if is_over:
            break
        domain = choices[of_frames + 2 * depth]
        what = uint64(nodes[4 * node + 2])
        slot = what & uint64(SLOT_MASK)
        low = domain & (~domain + one)
        choices[of_frames + 2 * depth] = domain ^ low if slot < uint64(FILTER) else uint64(0)
        place[slot] = first_of(low)
        members[slot] = low
        if what & uint64(PLACED):
            used |= low & ~literals
        depth += 1
        frames[3 * depth + 1] = frames[3 * (depth - 1) + 1]
    spend(of_trie, max(taken, limit) + 1, spent, now)
    return _one_by_one(
        at, x, y, tables, written_room, literals, row_of, rows, numbers, filters, bounds, now,
        budget, filled,
    )  # fmt: skip
