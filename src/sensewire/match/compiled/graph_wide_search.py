"""The search for patterns in an event of any size, once a fact fits their trigger.

A step's candidates are a bucket of edges, those of one property from one vertex. Each candidate
that is looked at is a step of the budget, so that a vertex with many edges costs no more than that.
A trie is walked as in `graph_trie_search`: a common beginning is tried once.
"""

from sensewire.match.compiled.graph_expressions import held
from sensewire.match.compiled.graph_filters import MAYBE, NO, OVER, YES, within
from sensewire.match.compiled.graph_layout import (
    ALL,
    ANY,
    DOUBTFUL,
    FILTER,
    FILTER_OF_MANY,
    FILTER_WORDS,
    IS_LITERAL,
    ITSELF,
    NEGATED,
    NOT_TEST,
    PLACED,
    ROW,
    ROW_FLAGS,
    SLOT_MASK,
    SLOTS,
    WHAT_SHIFT,
)
from sensewire.match.compiled.graph_run import around
from sensewire.match.compiled.graph_trie_search import list_found, one_less, own_found
from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint64

# The frames of a search: the candidate, where candidates end, the member and where members end, how
# many vertices are used, and the step that is gone back to. Of a trie: the child that is tried in
# the place of the step, and the node that it is a child of.
_AT, _END, _MEMBER, _MEMBERS_END, _USED, _BACK = range(6)
_CHILD, _NODE = _BACK, 6
FRAME = 7


@inlined
def first_at_least(sorted_numbers: Array, begin: Number, end: Number, number: Number) -> Number:
    """The first place of a sorted array whose number is not less."""
    low, high = int64(begin), int64(end)
    while low < high:
        middle = (low + high) >> 1
        if sorted_numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def meets(vertex: Number, test: Number, tests: Number, by_vertex: Array, of_vertex: Array
          ) -> Number:  # fmt: skip
    """Whether a vertex meets a test."""
    end = int64(of_vertex[vertex + 1])
    number = int64(vertex) * tests + test
    at = first_at_least(by_vertex, of_vertex[vertex], end, number)
    return at < end and by_vertex[at] == number


@inlined
def _bucket(row: Number, origin: Number, vertices: Number, edges: Array, starts: Array
            ) -> tuple[Number, Number]:  # fmt: skip
    """Where the edges of a property from a vertex begin and end."""
    place = row * vertices + origin
    if len(starts):
        return int64(starts[place]), int64(starts[place + 1])
    return (
        first_at_least(edges, 0, len(edges), place * vertices),
        first_at_least(edges, 0, len(edges), (place + 1) * vertices),
    )


@inlined
def _leads(row: Number, x: Number, y: Number, vertices: Number, edges: Array, starts: Array
           ) -> Number:  # fmt: skip
    """Whether an edge of a property leads from one vertex to another."""
    number = (row * vertices + x) * vertices + y
    if len(starts) == 0:
        at = first_at_least(edges, 0, len(edges), number)
        return at < len(edges) and edges[at] == number
    place = row * vertices + x
    at, end = int64(starts[place]), int64(starts[place + 1])
    while at < end and edges[at] != number:
        at += 1
    return at < end


@inlined
def _is_literal(vertex: Number, nodes: Array, row_of: Array, rows: Array) -> Number:
    return rows[ROW * row_of[nodes[vertex]] + ROW_FLAGS] & IS_LITERAL


@inlined
def _candidates(
    frames: Array, at: Number, x: Number, what: Number, vertex_of: Array, rows_of: Array,
    edges: Array, starts: Array, by_test: Array, vertices: Number,
) -> None:  # fmt: skip
    """The candidates of a step, from a member of its first operand on."""
    row = int64(rows_of[what >> WHAT_SHIFT])
    begin, end = int64(0), int64(0)
    if row and x == ALL and len(starts):
        begin, end = int64(starts[row * vertices]), int64(starts[(row + 1) * vertices])
    elif row and x == ALL:
        begin = first_at_least(edges, 0, len(edges), row * vertices * vertices)
        end = first_at_least(edges, 0, len(edges), (row + 1) * vertices * vertices)
    elif row:
        member = frames[at + _MEMBER]
        origin = int64(vertex_of[x]) if x < SLOTS else int64(by_test[member] % vertices)
        begin, end = _bucket(row, origin, vertices, edges, starts)
    frames[at + _AT] = begin
    frames[at + _END] = end


@inlined
def _verdict(
    x: Number, m: Number, slot: Number, vertex_of: Array, by_vertex: Array, of_vertex: Array,
    tests: Number, nodes: Array, row_of: Array, rows: Array, numbers: Array, filters: Array,
    bounds: Array, floats: Array,
) -> Number:  # fmt: skip
    """Whether a step holds that asks about bound vertices alone."""
    if slot == FILTER_OF_MANY:
        return held(m, x, vertex_of, nodes, row_of, rows, numbers, filters, bounds, floats)
    vertex = int64(vertex_of[x])
    if slot == FILTER:
        kind = filters[FILTER_WORDS * m]
        if kind == NOT_TEST:
            test = filters[FILTER_WORDS * m + 1]
            return NO if meets(vertex, test, tests, by_vertex, of_vertex) else YES
        flags = filters[FILTER_WORDS * m + 2]
        return within(kind, flags, m, row_of[nodes[vertex]], rows, numbers, bounds)
    if m == ANY or meets(vertex, m - SLOTS, tests, by_vertex, of_vertex):
        return YES
    return NO


@inlined
def _next(
    frames: Array, at: Number, is_new: Number, x: Number, m: Number, what: Number, used: Array,
    taken_up: Number, most: Number, vertex_of: Array, rows_of: Array, edges: Array, starts: Array,
    by_vertex: Array, of_vertex: Array, by_test: Array, tests: Number, nodes: Array,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """The next vertex that a step may stand for, or −1; whether that is doubtful; and how many
    candidates were looked at, which are no more than `most` and one."""
    vertices = int64(len(nodes))
    slot = what & SLOT_MASK
    found, looked, doubtful = int64(-1), int64(1), False
    if slot in (FILTER, FILTER_OF_MANY) or what >> WHAT_SHIFT == 2 * ITSELF:
        if is_new:
            verdict = _verdict(
                x, m, slot, vertex_of, by_vertex, of_vertex, tests, nodes, row_of, rows, numbers,
                filters, bounds, floats,
            )  # fmt: skip
            doubtful = verdict == MAYBE
            found = int64(0) if verdict else int64(-1)
    elif x < SLOTS and x != ALL and m < SLOTS and m != ANY and slot >= FILTER:
        row = int64(rows_of[what >> WHAT_SHIFT])
        if is_new and row:
            to = int64(vertex_of[m])
            found = to if _leads(row, int64(vertex_of[x]), to, vertices, edges, starts) else found
    elif is_new or slot < FILTER:
        if is_new:
            frames[at + _MEMBER] = 0
            frames[at + _MEMBERS_END] = 1
            if x >= SLOTS:
                first = (x - SLOTS) * vertices
                frames[at + _MEMBER] = first_at_least(by_test, 0, len(by_test), first)
                frames[at + _MEMBERS_END] = first_at_least(
                    by_test, frames[at + _MEMBER], len(by_test), first + vertices
                )
            frames[at + _AT] = 0
            frames[at + _END] = 0
            if frames[at + _MEMBER] < frames[at + _MEMBERS_END]:
                _candidates(
                    frames, at, x, what, vertex_of, rows_of, edges, starts, by_test, vertices
                )
        while found < 0 and looked <= most:
            if frames[at + _AT] >= frames[at + _END]:
                frames[at + _MEMBER] += 1
                if frames[at + _MEMBER] >= frames[at + _MEMBERS_END]:
                    break
                _candidates(
                    frames, at, x, what, vertex_of, rows_of, edges, starts, by_test, vertices
                )
                continue
            edge = edges[frames[at + _AT]]
            frames[at + _AT] += 1
            looked += 1
            vertex = edge % vertices
            if x == ALL:
                origin = edge // vertices % vertices
                if what >> WHAT_SHIFT & 1:  # loops
                    if origin != vertex:
                        continue
                else:  # whatever else it leads to, it is the same candidate
                    while (
                        frames[at + _AT] < frames[at + _END]
                        and edges[frames[at + _AT]] // vertices == edge // vertices
                    ):
                        frames[at + _AT] += 1
                    vertex = origin
            if m >= SLOTS:
                if not meets(vertex, m - SLOTS, tests, by_vertex, of_vertex):
                    continue
            elif m != ANY and vertex_of[m] != vertex:
                continue
            if what & PLACED and not _is_literal(vertex, nodes, row_of, rows):
                is_used = False
                for number in range(taken_up):
                    is_used = is_used or used[number] == vertex
                if is_used:
                    continue
            found = vertex
    return found, doubtful, looked


@loop
def search(
    program: Array, first: Number, steps: Number, used: Array, taken_up: Number, limit: Number,
    resumed: Number, vertex_of: Array, frames: Array, rows_of: Array, edges: Array, starts: Array,
    by_vertex: Array, of_vertex: Array, by_test: Array, tests: Number, nodes: Array,
    row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """Whether steps have a solution, whether that is doubtful, and how many were taken.

    `resumed` is FROM_START, or how many steps of the last solution shall be left as they are but
    for the last of them, which goes on to its next choice.
    """
    depth, taken, end = int64(0), int64(0), int64(steps)
    inside = int64(-1)  # the innermost `not` that is tried; all of it ends at `end`
    doubtful, is_new = False, True
    if steps == 0:
        return YES, False, taken
    base = uint64(first)
    frames[_BACK] = -1
    if resumed >= 0:
        depth, is_new = int64(frames[FRAME * resumed + _BACK]), False
    while depth >= 0:
        at = FRAME * depth
        place = first + 3 * depth
        x, m, what = program[place], program[place + 1], program[place + 2]
        slot = what & SLOT_MASK
        if is_new:
            frames[at + _USED] = taken_up
        else:
            taken_up = frames[at + _USED]
        if slot == NEGATED:
            inside = depth
            end = depth + 1 + x
            depth += 1
            taken += 1
            frames[FRAME * depth + _BACK] = inside
            is_new = True
            continue
        found, is_doubtful, looked = _next(
            frames, at, is_new, x, m, what, used, taken_up, limit - taken, vertex_of, rows_of,
            edges, starts, by_vertex, of_vertex, by_test, tests, nodes, row_of, rows, numbers,
            filters, bounds, floats,
        )  # fmt: skip
        taken += looked
        if taken > limit:
            return OVER, doubtful, taken
        doubtful = doubtful or is_doubtful
        if found >= 0 and depth + 1 == end:
            if inside < 0:
                return YES, doubtful, taken
            if doubtful:  # nothing is surely inside: go on, from this step's next choice
                is_new = False
            else:  # what must not be is: the `not` fails
                depth = int64(frames[FRAME * inside + _BACK])
                inside, end = _outside(program, base, inside, steps)
                is_new = False
            found = int64(-2)
        if found == -1:
            depth, is_new = int64(frames[FRAME * depth + _BACK]), False
        # Nothing is inside of a `not`: it holds. What is around may have come to its end so.
        while inside >= 0 and depth == inside:
            taken_up = frames[FRAME * inside + _USED]
            back = int64(frames[FRAME * inside + _BACK])
            depth = end
            inside, end = _outside(program, base, inside, steps)
            if depth < end:
                frames[FRAME * depth + _BACK] = back
                is_new = True
            elif inside < 0:
                return YES, doubtful, taken
            elif doubtful:
                depth, is_new = back, False
            else:
                depth = int64(frames[FRAME * inside + _BACK])
                inside, end = _outside(program, base, inside, steps)
                is_new = False
        if found < 0:
            continue
        vertex_of[slot] = found
        if what & PLACED and not _is_literal(found, nodes, row_of, rows):
            used[taken_up] = found
            taken_up += 1
        depth += 1
        frames[FRAME * depth + _BACK] = depth - 1
        is_new = True
    return NO, doubtful, taken


@inlined
def _outside(program: Array, base: Number, inside: Number, steps: Number
             ) -> tuple[Number, Number]:  # fmt: skip
    """The `not` that a `not` stands in, or −1; and where what is tried there ends."""
    outer, end = around(program, base, inside, steps)
    return outer, int64(end)


@loop
def search_trie(
    root: Number, tree: Array, links: Array, tails: Array, listed: Array, said: Number,
    states: Array, now: Number, tail_frames: Array, out_place: Array,
    filled: Number, used: Array, taken_up: Number, limit: Number, vertex_of: Array,
    frames: Array, rows_of: Array, edges: Array, starts: Array, by_vertex: Array,
    of_vertex: Array, by_test: Array, tests: Number, nodes: Array, row_of: Array, rows: Array,
    numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> tuple[Number, Number]:  # fmt: skip
    """Try all patterns of a trie; how many pairs are filled then, and how many steps were taken:
    more than the limit, if it was given up."""
    all_found = int64(now) << 32
    taken = int64(1)
    if states[root] == all_found:
        return filled, taken
    if not own_found(root, tree, links, states, now):
        filled = list_found(root, links, listed, said, out_place, filled)
        if states[root] & int64(0x7FFFFFFF) == 0:
            states[root] = all_found
            return filled, taken
    depth, is_new = int64(0), True
    frames[_NODE] = root
    frames[_CHILD] = links[4 * root]
    while depth >= 0:
        at = FRAME * depth
        child, last = int64(frames[at + _CHILD]), int64(links[4 * frames[at + _NODE] + 4])
        if is_new:
            frames[at + _USED] = taken_up
        else:
            taken_up = frames[at + _USED]
        if child == last:
            depth, is_new = depth - 1, False
            continue
        found = int64(-1)
        x, m, what = tree[4 * child], tree[4 * child + 1], tree[4 * child + 2]
        if states[child] != all_found:
            found, doubtful, looked = _next(
                frames, at, is_new, x, m, what, used, taken_up, limit - taken, vertex_of,
                rows_of, edges, starts, by_vertex, of_vertex, by_test, tests, nodes, row_of, rows,
                numbers, filters, bounds, floats,
            )  # fmt: skip
            taken += looked
            if taken > limit:
                return filled, taken
            said = said | DOUBTFUL if doubtful else said
        if found < 0:
            frames[at + _CHILD] = child + 1
            is_new = True
            continue
        vertex_of[what & SLOT_MASK] = found
        if what & PLACED and not _is_literal(found, nodes, row_of, rows):
            used[taken_up] = found
            taken_up += 1
        if links[4 * child] == links[4 * child + 4]:
            tail = int64(links[4 * child + 1]) + 1  # the node's own step stands first
            outcome, doubtful, more = search(
                tails, 3 * tail, max(links[4 * child + 5] - tail, 0), used, taken_up,
                limit - taken, -1, vertex_of, tail_frames, rows_of, edges, starts, by_vertex,
                of_vertex, by_test, tests, nodes, row_of, rows, numbers, filters, bounds, floats,
            )  # fmt: skip
            taken += more
            if outcome == OVER:
                return filled, limit + 1
            is_new = False
            if outcome == YES:
                mark = said | DOUBTFUL if doubtful else said
                filled = list_found(child, links, listed, mark, out_place, filled)
                states[child] = all_found
                one_less(int64(links[4 * child + 3]), tree, links, states, now)
            continue
        if not own_found(child, tree, links, states, now):
            filled = list_found(child, links, listed, said, out_place, filled)
        depth += 1
        frames[FRAME * depth + _NODE] = child
        frames[FRAME * depth + _CHILD] = links[4 * child]
        is_new = True
    return filled, taken
