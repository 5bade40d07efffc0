"""Matching graphs of any size: what is adjacent is found in one sorted array.

    edges      ((2 · property + direction) · vertices + from) · vertices + to     sorted
    by_vertex  vertex · tests + test                                              sorted
    by_test    test · vertices + vertex                                           sorted

The programs are those of `graph_narrow`; a step's candidates are a range of `edges`. Each candidate
that is looked at is a step of the budget, so that a vertex with many edges costs no more than that.

Cost: O(n log n) for an event of n facts, then the searches.
"""

import numpy as np

from sensewire.match.compiled.graph_build import (
    FLAT_INJECTIVE,
    FLAT_OBJECT_FREE,
    FLAT_SUBJECT_FREE,
    FLAT_USES_HOME,
    SIZE_PATTERNS,
    SIZE_SEED,
    SIZE_SHIFT,
    SIZE_STEPS,
)
from sensewire.match.compiled.graph_expressions import held
from sensewire.match.compiled.graph_filters import MAYBE, NO, OVER, YES, within
from sensewire.match.compiled.graph_layout import (
    ALL,
    ANY,
    ANY_PROPERTY,
    AS_CLASS,
    AS_CLASS_END,
    DEEPEST,
    DISTINCT,
    DOUBTFUL,
    FILTER,
    FILTER_OF_MANY,
    FILTER_WORDS,
    FLAT,
    FORMS,
    HOME,
    INJECTIVE,
    IS_LITERAL,
    IS_TYPE,
    ITSELF,
    KEY_CLASS,
    KEY_CONSTANT,
    LOOP,
    NEGATED,
    NOT_TEST,
    OVER_BUDGET,
    OWN,
    OWN_END,
    PLACED,
    POSTING,
    ROW,
    ROW_FLAGS,
    SELECTS,
    SERVES,
    SERVES_END,
    SLOT_MASK,
    SLOTS,
    USES_HOME,
    WHAT_SHIFT,
    WHOLE,
    WHOLE_FLAGS,
    WHOLE_SELECTED,
    WHOLE_STEPS,
    WHOLE_UNTIL,
    key_of,
)
from sensewire.match.compiled.graph_narrow import OF_ONE_SUBJECT
from sensewire.match.compiled.graph_search import FROM_START, program_of
from sensewire.match.compiled.jit import Array, Number, inlined, int32, int64, kernel, uint64

# The frames of a search: the candidate, where candidates end, the member and where members end, how
# many vertices are used, and the step that is gone back to
_AT, _END, _MEMBER, _MEMBERS_END, _USED, _BACK = range(6)
_FRAME = 6


@inlined
def _first_at_least(sorted_numbers: Array, number: Number) -> Number:
    low, high = int64(0), int64(len(sorted_numbers))
    while low < high:
        middle = (low + high) >> 1
        if sorted_numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _has(sorted_numbers: Array, number: Number) -> Number:
    at = _first_at_least(sorted_numbers, number)
    return at < len(sorted_numbers) and sorted_numbers[at] == number


@kernel
def prepared(
    subject: Array, property: Array, object: Array, home: Number, row_of: Array, rows: Array,
    lists: Array, asks_any: Number, roles: Array, tests: Number, local: Array, rows_of: Array,
) -> tuple[Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """The code of each vertex, the ends of each fact, edges, tests by vertex and by test."""
    facts = len(subject)
    nodes = np.empty(2 * facts, np.int32)
    ends = np.empty(2 * facts, np.int32)
    vertices, served = 0, 0
    for fact in range(facts):
        row = row_of[property[fact]] * ROW
        ends[2 * fact] = -1
        count = rows[row + SERVES_END] - rows[row + SERVES] + asks_any
        if not count and not rows[row + ROW_FLAGS] & IS_TYPE:
            continue
        served += count
        ends[2 * fact + 1] = -1
        for end in range(2 if count else 1):  # a class that nobody leads to is no vertex
            code = subject[fact] if end == 0 else object[fact]
            if local[code] < 0:
                local[code] = vertices
                nodes[vertices] = code
                vertices += 1
            ends[2 * fact + end] = local[code]
    nodes = nodes[:vertices].copy()
    edges = np.empty(2 * served, np.int64)
    present, filled = 0, 0
    asked_ones = np.empty(served + 1, np.int32)
    pairs = np.empty(1_024, np.int64)
    met = 0
    if home >= 0 and local[home] >= 0:
        pairs[0] = int64(local[home]) * tests + HOME
        met = 1
    for vertex in range(vertices):
        row = row_of[nodes[vertex]] * ROW
        begin, end = rows[row + OWN], rows[row + OWN_END]
        if met + end - begin > len(pairs):
            larger = np.empty(2 * (met + end - begin), np.int64)
            larger[:met] = pairs[:met]
            pairs = larger
        for at in range(begin, end):
            if lists[at] < len(roles) and roles[lists[at]]:
                pairs[met] = int64(vertex) * tests + lists[at]
                met += 1
    for fact in range(facts):
        x, y = int64(ends[2 * fact]), int64(ends[2 * fact + 1])
        if x < 0:
            continue
        row = row_of[property[fact]] * ROW
        if rows[row + ROW_FLAGS] & IS_TYPE:
            of_class = row_of[object[fact]] * ROW
            begin, end = rows[of_class + AS_CLASS], rows[of_class + AS_CLASS_END]
            if met + end - begin > len(pairs):
                larger = np.empty(2 * (met + end - begin), np.int64)
                larger[:met] = pairs[:met]
                pairs = larger
            for at in range(begin, end):
                if lists[at] < len(roles) and roles[lists[at]]:
                    pairs[met] = x * tests + lists[at]
                    met += 1
        begin, end = rows[row + SERVES], rows[row + SERVES_END]
        for at in range(begin - asks_any, end):
            asked = 2 * (lists[at] if at >= begin else ANY_PROPERTY)
            if rows_of[asked] == 0:
                present += 1
                rows_of[asked] = 2 * present
                rows_of[asked + 1] = 2 * present + 1
                asked_ones[present - 1] = asked
            edges[filled] = (int64(rows_of[asked]) * vertices + x) * vertices + y
            edges[filled + 1] = (int64(rows_of[asked + 1]) * vertices + y) * vertices + x
            filled += 2
    edges.sort()
    by_vertex = np.unique(pairs[:met])
    by_test = np.empty(len(by_vertex), np.int64)
    for at in range(len(by_vertex)):
        by_test[at] = (by_vertex[at] % tests) * vertices + by_vertex[at] // tests
    by_test.sort()
    return nodes, ends, edges, by_vertex, by_test, asked_ones[:present].copy()


@kernel
def forget(nodes: Array, asked: Array, local: Array, rows_of: Array) -> None:
    """As if the event had never been."""
    for vertex in range(len(nodes)):
        local[nodes[vertex]] = -1
    for number in range(len(asked)):
        rows_of[asked[number]] = 0
        rows_of[asked[number] + 1] = 0


@inlined
def _opened(
    frames: Array, at: Number, x: Number, what: Number, member: Number,
    vertex_of: Array, rows_of: Array, edges: Array, by_test: Array, vertices: Number,
) -> None:  # fmt: skip
    """The candidates of a step, from a member of its first operand on."""
    row = int64(rows_of[what >> WHAT_SHIFT])
    frames[at + _AT] = 0
    frames[at + _END] = 0
    if row == 0:
        return
    if x == ALL:
        frames[at + _AT] = _first_at_least(edges, row * vertices * vertices)
        frames[at + _END] = _first_at_least(edges, (row + 1) * vertices * vertices)
        return
    origin = int64(vertex_of[x]) if x < SLOTS else by_test[member] % vertices
    frames[at + _AT] = _first_at_least(edges, (row * vertices + origin) * vertices)
    frames[at + _END] = _first_at_least(edges, (row * vertices + origin + 1) * vertices)


@kernel
def _search(
    program: Array, first: Number, steps: Number, used: Array, taken_up: Number, limit: Number,
    resumed: Number, vertex_of: Array, frames: Array, rows_of: Array, edges: Array,
    by_vertex: Array, by_test: Array, tests: Number, nodes: Array, row_of: Array, rows: Array,
    numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """Whether steps have a solution, whether that is doubtful, and how many were taken.

    `resumed` is FROM_START, or how many steps of the last solution shall be left as they are but
    for the last of them, which goes on to its next choice.
    """
    vertices = int64(len(nodes))
    depth, taken, end = int64(0), 0, int64(steps)
    inside, outer_end = int64(-1), int64(0)  # the `not` that is tried, and where all ends
    doubtful, is_new = False, True
    if steps == 0:
        return YES, False, 0
    frames[_BACK] = -1
    if resumed >= 0:
        depth, is_new = int64(frames[_FRAME * resumed + _BACK]), False
    while depth >= 0:
        at = _FRAME * depth
        place = first + 3 * depth
        x, m, what = program[place], program[place + 1], program[place + 2]
        slot = what & SLOT_MASK
        found = int64(-1)
        binds = slot < FILTER
        if is_new:
            frames[at + _USED] = taken_up
        else:
            taken_up = frames[at + _USED]
        taken += 1
        if taken > limit:
            return OVER, doubtful, taken
        if slot == NEGATED:
            inside, outer_end = depth, end
            end = depth + 1 + x
            depth += 1
            frames[_FRAME * depth + _BACK] = inside
            continue
        if slot in (FILTER, FILTER_OF_MANY) or what >> WHAT_SHIFT == 2 * ITSELF:
            if is_new:
                verdict = YES
                if slot == FILTER_OF_MANY:
                    found = int64(0)
                    verdict = held(
                        m, x, vertex_of, nodes, row_of, rows, numbers, filters, bounds, floats
                    )
                else:
                    found = int64(vertex_of[x])
                    if slot == FILTER:
                        kind, flags = filters[FILTER_WORDS * m], filters[FILTER_WORDS * m + 2]
                        if kind == NOT_TEST:
                            test = filters[FILTER_WORDS * m + 1]
                            if _has(by_vertex, found * tests + test):
                                verdict = NO
                        else:
                            verdict = within(
                                kind, flags, m, row_of[nodes[found]], rows, numbers, bounds
                            )
                    elif m != ANY and not _has(by_vertex, found * tests + (m - SLOTS)):
                        verdict = NO
                doubtful = doubtful or verdict == MAYBE
                if verdict == NO:
                    found = int64(-1)
        elif x < SLOTS and x != ALL and m < SLOTS and m != ANY and not binds:
            row = int64(rows_of[what >> WHAT_SHIFT])
            if is_new and row:
                asked = (row * vertices + int64(vertex_of[x])) * vertices + int64(vertex_of[m])
                if _has(edges, asked):
                    found = int64(vertex_of[m])
        elif is_new or binds:
            if is_new:
                frames[at + _MEMBER] = 0
                frames[at + _MEMBERS_END] = 1
                has_members = True
                if x >= SLOTS:
                    test = int64(x - SLOTS)
                    frames[at + _MEMBER] = _first_at_least(by_test, test * vertices)
                    frames[at + _MEMBERS_END] = _first_at_least(by_test, (test + 1) * vertices)
                    has_members = frames[at + _MEMBER] < frames[at + _MEMBERS_END]
                frames[at + _AT] = 0
                frames[at + _END] = 0
                if has_members:
                    _opened(
                        frames, at, x, what, frames[at + _MEMBER], vertex_of, rows_of, edges,
                        by_test, vertices,
                    )  # fmt: skip
            while found < 0:
                if frames[at + _AT] >= frames[at + _END]:
                    frames[at + _MEMBER] += 1
                    if frames[at + _MEMBER] >= frames[at + _MEMBERS_END]:
                        break
                    _opened(
                        frames, at, x, what, frames[at + _MEMBER], vertex_of, rows_of, edges,
                        by_test, vertices,
                    )  # fmt: skip
                    continue
                edge = edges[frames[at + _AT]]
                frames[at + _AT] += 1
                taken += 1
                if taken > limit:
                    return OVER, doubtful, taken
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
                    if not _has(by_vertex, vertex * tests + (m - SLOTS)):
                        continue
                elif m != ANY and vertex_of[m] != vertex:
                    continue
                if what & PLACED and not rows[ROW * row_of[nodes[vertex]] + ROW_FLAGS] & IS_LITERAL:
                    is_used = False
                    for number in range(taken_up):
                        is_used = is_used or used[number] == vertex
                    if is_used:
                        continue
                found = vertex
        if found >= 0 and depth + 1 == end:
            if inside < 0:
                return YES, doubtful, taken
            if doubtful:  # nothing is surely inside: the `not` holds, perhaps
                found = int64(-1)
                depth = inside + 1
            else:
                depth = int64(frames[_FRAME * inside + _BACK])
                inside, end, is_new = int64(-1), outer_end, False
                continue
        if found < 0:
            back = int64(frames[_FRAME * depth + _BACK])
            if inside < 0 or back != inside:
                depth, is_new = back, False
                continue
            taken_up = frames[_FRAME * inside + _USED]
            depth, back = end, int64(frames[_FRAME * inside + _BACK])
            inside, end, is_new = int64(-1), outer_end, True
            if depth == end:
                return YES, doubtful, taken
            frames[_FRAME * depth + _BACK] = back
            continue
        vertex_of[slot] = found
        if what & PLACED and not rows[ROW * row_of[nodes[found]] + ROW_FLAGS] & IS_LITERAL:
            used[taken_up] = found
            taken_up += 1
        depth += 1
        frames[_FRAME * depth + _BACK] = depth - 1
        is_new = True
    return NO, doubtful, taken


@inlined
def _taken_by_trigger(
    x: Number, y: Number, variables: Number, flags: Number, used: Array, nodes: Array,
    row_of: Array, rows: Array, home: Number,
) -> Number:  # fmt: skip
    """How many vertices an injective pattern's trigger takes; −1 where it may not."""
    count = 0
    of_x = rows[ROW * row_of[nodes[x]] + ROW_FLAGS] & IS_LITERAL
    of_y = rows[ROW * row_of[nodes[y]] + ROW_FLAGS] & IS_LITERAL
    if not flags & FLAT_SUBJECT_FREE and not of_x:
        used[count] = x
        count += 1
    if variables & 2 and not flags & FLAT_OBJECT_FREE and not of_y:
        if count and used[0] == y:
            return -1
        used[count] = y
        count += 1
    if flags & FLAT_USES_HOME and home >= 0:
        for number in range(count):
            if used[number] == home:
                return -1
        used[count] = home
        count += 1
    return count


@kernel
def match_wide(
    sizes: Array, table: Array, postings: Array, shapes: Array, roles: Array,
    nodes_of_tries: Array, links: Array, tails: Array, listed: Array, trie_ends: Array,
    in_trie: Array, wholes: Array, whole_at: Array,
    property: Array, home: Number, row_of: Array, rows: Array, lists: Array, numbers: Array,
    filters: Array, bounds: Array, asks_any: Number, tests: Number, local: Array, rows_of: Array,
    nodes: Array, ends: Array, edges: Array, by_vertex: Array, by_test: Array,
    proposed: Array, stamps: Array, now: Number, budget: Number, event: Number, out_place: Array,
) -> tuple[Number, Array, Array]:  # fmt: skip
    """Match one event that was prepared; how many pairs are filled then, and the rows."""
    filled = 0
    floats = np.zeros(3 * DEEPEST + 3, np.float64)
    most = sizes[SIZE_STEPS] + 8
    frames = np.zeros(_FRAME * most, np.int64)
    vertex_of = np.zeros(SLOTS, np.int64)
    used = np.zeros(SLOTS, np.int64)
    program = np.zeros(3 * most, np.int32)
    spent = np.zeros(sizes[SIZE_PATTERNS], np.int64)
    seed, shift, last = sizes[SIZE_SEED], uint64(sizes[SIZE_SHIFT]), uint64(len(table) - 1)
    home_vertex = int64(local[home]) if home >= 0 else int64(-1)
    for fact in range(len(property)):
        x, y = int64(ends[2 * fact]), int64(ends[2 * fact + 1])
        if x < 0 or y < 0:
            continue
        row = row_of[property[fact]] * ROW
        begin, end = rows[row + SERVES], rows[row + SERVES_END]
        of_x, of_y = _first_at_least(by_vertex, x * tests), _first_at_least(by_vertex, y * tests)
        x_end = _first_at_least(by_vertex, (x + 1) * tests)
        y_end = _first_at_least(by_vertex, (y + 1) * tests)
        for served in range(begin - asks_any, end):
            asked = lists[served] if served >= begin else ANY_PROPERTY
            shape = shapes[asked] if asked < len(shapes) else int64(0)
            if shape == 0:
                continue
            for one in range(of_x - 1, x_end):
                subject_test = 0 if one < of_x else by_vertex[one] % tests + 1
                form = 0
                if subject_test:
                    form = 3 * (roles[subject_test - 1] & (KEY_CONSTANT | KEY_CLASS))
                    if form == 0 or not (shape >> form) & OF_ONE_SUBJECT:
                        continue
                for two in range(of_y - 1, y_end):
                    object_test = 0 if two < of_y else by_vertex[two] % tests + 1
                    whole = form
                    if object_test:
                        whole += roles[object_test - 1] & (KEY_CONSTANT | KEY_CLASS)
                        if whole == form:
                            continue
                    for kind in range(4 if x == y else 2):
                        if not (shape >> (whole + FORMS * kind)) & 1:
                            continue
                        said = asked | (DISTINCT if kind & 1 else 0) | (LOOP if kind & 2 else 0)
                        key = key_of(subject_test, said, object_test, seed)
                        slot = key >> shift
                        entry = table[slot]
                        while entry != uint64(0) and (entry >> uint64(32)) != (
                            key & uint64(0xFFFFFFFF)
                        ):
                            slot = (slot + uint64(1)) & last
                            entry = table[slot]
                        if entry == uint64(0):
                            continue
                        at = int64(entry & uint64(0xFFFFFFFF)) - 1
                        if (
                            postings[at] != subject_test
                            or postings[at + 1] != said
                            or postings[at + 2] != object_test
                        ):
                            continue
                        variables, flat = postings[at + 3] & 3, postings[at + 3] >> 2
                        to = at + POSTING
                        in_tries = postings[at + 6] - postings[at + 5]
                        for number in range(flat + in_tries):
                            if number < flat:
                                steps, pattern = postings[to], int64(postings[to + 1])
                                flags = postings[to + 2]
                                to += FLAT
                                for word in range(3 * steps):
                                    program[word] = postings[to + word]
                                to += 3 * steps
                            else:
                                entry_of = int64(postings[at + 5]) + number - flat
                                pattern = int64(in_trie[entry_of])
                                steps = program_of(
                                    int64(trie_ends[entry_of]), nodes_of_tries, links, tails,
                                    program,
                                )  # fmt: skip
                                flags = int32(FLAT_INJECTIVE if kind & 1 else 0)
                            if stamps[pattern] == now:
                                continue
                            taken_up = 0
                            if flags & FLAT_INJECTIVE:
                                taken_up = _taken_by_trigger(
                                    x, y, variables, flags, used, nodes, row_of, rows, home_vertex
                                )
                                if taken_up < 0:
                                    continue
                            bound = 0
                            if variables & 1:
                                vertex_of[0] = x
                                bound = 1
                            if variables & 2:
                                vertex_of[bound] = y
                            outcome, doubtful, taken = _search(
                                program, 0, steps, used, taken_up, budget - spent[pattern],
                                FROM_START, vertex_of, frames, rows_of, edges, by_vertex, by_test,
                                tests, nodes, row_of, rows, numbers, filters, bounds, floats,
                            )  # fmt: skip
                            spent[pattern] += taken
                            if outcome:
                                out_place[filled] = (
                                    pattern
                                    | (DOUBTFUL if doubtful else 0)
                                    | (OVER_BUDGET if outcome == OVER else 0)
                                )
                                filled += 1
                                stamps[pattern] = now
    for proposal in range(len(proposed)):
        pattern = int64(proposed[proposal])
        if stamps[pattern] == now:
            continue
        at = int64(whole_at[pattern])
        taken_up = _taken_at_first(wholes[at + WHOLE_FLAGS], used, home_vertex)
        outcome, doubtful, _ = _search(
            wholes, at + WHOLE + wholes[at + WHOLE_SELECTED], wholes[at + WHOLE_STEPS], used,
            taken_up, budget, FROM_START, vertex_of, frames, rows_of, edges, by_vertex, by_test,
            tests, nodes, row_of, rows, numbers, filters, bounds, floats,
        )  # fmt: skip
        if outcome:
            out_place[filled] = (
                pattern | (DOUBTFUL if doubtful else 0) | (OVER_BUDGET if outcome == OVER else 0)
            )
            filled += 1
            stamps[pattern] = now
    row_words, row_starts = np.empty(0, np.int32), np.zeros(1, np.int64)
    if len(whole_at) == 0:
        return filled, row_words, row_starts
    count = 0
    for pair in range(filled):
        number = int64(out_place[pair])
        if number & (DOUBTFUL | OVER_BUDGET) or whole_at[number] < 0:
            continue
        at = int64(whole_at[number])
        selected = wholes[at + WHOLE_SELECTED]
        if selected == 0:
            continue
        out_place[pair] |= SELECTS
        resumed, left = int64(FROM_START), budget
        while True:
            taken_up = _taken_at_first(wholes[at + WHOLE_FLAGS], used, home_vertex)
            outcome, doubtful, taken = _search(
                wholes, at + WHOLE + selected, wholes[at + WHOLE_STEPS], used, taken_up, left,
                resumed, vertex_of, frames, rows_of, edges, by_vertex, by_test, tests, nodes,
                row_of, rows, numbers, filters, bounds, floats,
            )  # fmt: skip
            left -= taken
            if outcome == OVER:
                out_place[pair] |= OVER_BUDGET
            elif doubtful:
                out_place[pair] |= DOUBTFUL
            if outcome != YES or doubtful:
                break
            word = row_starts[count]
            if word + 2 + selected > len(row_words):
                row_words = _longer(row_words, word + 2 + selected)
            row_words[word] = event
            row_words[word + 1] = number
            for each in range(selected):
                row_words[word + 2 + each] = nodes[vertex_of[wholes[at + WHOLE + each]]]
            count += 1
            if count == len(row_starts):
                row_starts = _longer(row_starts, count + 1)
            row_starts[count] = word + 2 + selected
            resumed = int64(wholes[at + WHOLE_UNTIL])
    return filled, row_words[: row_starts[count]].copy(), row_starts[: count + 1].copy()


@kernel
def _longer(array: Array, needed: Number) -> Array:
    """A copy with room for more."""
    made = np.zeros(2 * needed + 1_024, array.dtype)
    made[: len(array)] = array
    return made


@inlined
def _taken_at_first(flags: Number, used: Array, home: Number) -> Number:
    """How many vertices a whole program may not bind."""
    if flags & INJECTIVE and flags & USES_HOME and home >= 0:
        used[0] = home
        return 1
    return 0
