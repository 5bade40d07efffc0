"""Matching graphs of any size: what is adjacent is found in arrays of edges.

    edges      ((2 · property + direction) · vertices + from) · vertices + to
    starts     where the edges of a property from a vertex begin; without it, edges are sorted
    by_vertex  vertex · tests + test, sorted; of_vertex: where those of a vertex begin
    by_test    test · vertices + vertex, sorted, of the tests at the ends of edges

The programs are those of `graph_narrow`, the search is `graph_wide_search`'s.

Cost: O(n log n) for an event of n facts, then the searches.
"""

import numpy as np

from sensewire.match.compiled.graph_build import (
    FLAT_INJECTIVE,
    FLAT_OBJECT_FREE,
    FLAT_SUBJECT_FREE,
    FLAT_USES_HOME,
    SIZE_SEED,
    SIZE_SHIFT,
    SIZE_STEPS,
)
from sensewire.match.compiled.graph_filters import OVER, YES
from sensewire.match.compiled.graph_layout import (
    AS_CLASS,
    AS_CLASS_END,
    COUNT_SHIFT,
    DEEPEST,
    DISTINCT,
    DOUBTFUL,
    FLAT,
    FORMS,
    HAS_TRIE,
    HOME,
    INJECTIVE,
    IS_END,
    IS_LITERAL,
    IS_TYPE,
    KEY_CLASS,
    KEY_CONSTANT,
    LOOP,
    OVER_BUDGET,
    OWN,
    OWN_END,
    POSTING,
    ROW,
    ROW_FLAGS,
    SELECTS,
    SERVES,
    SERVES_END,
    SLOTS,
    STEPS_SHIFT,
    TRIE,
    USES_HOME,
    WHOLE,
    WHOLE_FLAGS,
    WHOLE_SELECTED,
    WHOLE_STEPS,
    WHOLE_UNTIL,
    hint_bit,
    hints_of,
    is_hint_of_object,
    key_of,
)
from sensewire.match.compiled.graph_run import FROM_START, SEEN_FROM, left_of, spend
from sensewire.match.compiled.graph_trie_search import program_of, was_found
from sensewire.match.compiled.graph_wide_search import FRAME, search, search_trie
from sensewire.match.compiled.jit import Array, Number, inlined, int32, int64, kernel, uint64

MOST_STARTS = 1 << 19
"""Pairs of a property and a vertex that `starts` has room for."""


@kernel
def prepared(
    subject: Array, property: Array, object: Array, home: Number, row_of: Array, rows: Array,
    lists: Array, roles: Array, tests: Number, local: Array, rows_of: Array,
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """The code of each vertex, the ends of each fact, edges and their starts, tests by vertex and
    by test, and which properties were asked for."""
    facts = len(subject)
    nodes = np.empty(2 * facts, np.int32)
    ends = np.empty(2 * facts, np.int32)
    vertices, served = 0, 0
    for fact in range(facts):
        row = row_of[property[fact]] * ROW
        ends[2 * fact] = -1
        count = rows[row + SERVES_END] - rows[row + SERVES]
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
        for at in range(begin, end):
            asked = 2 * lists[at]
            if rows_of[asked] == 0:
                present += 1
                rows_of[asked] = 2 * present
                rows_of[asked + 1] = 2 * present + 1
                asked_ones[present - 1] = asked
            edges[filled] = (int64(rows_of[asked]) * vertices + x) * vertices + y
            edges[filled + 1] = (int64(rows_of[asked + 1]) * vertices + y) * vertices + x
            filled += 2
    starts = np.zeros(0, np.int32)
    if (2 * present + 2) * vertices < MOST_STARTS:
        starts = np.zeros((2 * present + 2) * vertices + 1, np.int32)
        edges = _in_buckets(edges, starts, vertices)
    else:
        edges.sort()
    by_vertex = np.unique(pairs[:met])
    of_vertex = np.zeros(vertices + 1, np.int32)
    by_test = np.empty(len(by_vertex), np.int64)
    ends_met = 0
    for at in range(len(by_vertex)):
        vertex, test = by_vertex[at] // tests, by_vertex[at] % tests
        of_vertex[vertex + 1] += 1
        if roles[test] & IS_END:
            by_test[ends_met] = test * vertices + vertex
            ends_met += 1
    for vertex in range(vertices):
        of_vertex[vertex + 1] += of_vertex[vertex]
    by_test = by_test[:ends_met].copy()
    by_test.sort()
    return nodes, ends, edges, starts, by_vertex, of_vertex, by_test, asked_ones[:present].copy()


@kernel
def _in_buckets(edges: Array, starts: Array, vertices: Number) -> Array:
    """The edges, those of a property from a vertex beside each other; where those begin."""
    for edge in edges:
        starts[edge // vertices + 1] += 1
    for place in range(1, len(starts)):
        starts[place] += starts[place - 1]
    made = np.empty(len(edges), np.int64)
    for edge in edges:
        made[starts[edge // vertices]] = edge
        starts[edge // vertices] += 1
    for place in range(len(starts) - 1, 0, -1):
        starts[place] = starts[place - 1]
    starts[0] = 0
    return made


@kernel
def forget(nodes: Array, asked: Array, local: Array, rows_of: Array) -> None:
    """As if the event had never been."""
    for vertex in range(len(nodes)):
        local[nodes[vertex]] = -1
    for number in range(len(asked)):
        rows_of[asked[number]] = 0
        rows_of[asked[number] + 1] = 0


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
def _hinted(by_vertex: Array, tests: Number, roles: Array, hints: Array) -> tuple[Array, Array]:
    """For each test that a vertex meets its hints, and what it is in keys."""
    words = np.zeros((len(by_vertex), 2), np.uint64)
    forms = np.zeros(len(by_vertex), np.int64)
    for met in range(len(by_vertex)):
        test = by_vertex[met] % tests
        forms[met] = roles[test] & (KEY_CONSTANT | KEY_CLASS)
        if forms[met]:
            at = hints_of(test + 1, hints)
            words[met, 0] = hints[at]
            words[met, 1] = hints[at + uint64(1)]
    return words, forms


@kernel
def match_wide(
    sizes: Array, table: Array, postings: Array, shapes: Array, roles: Array, hints: Array,
    nodes_of_tries: Array, links: Array, tails: Array, listed: Array, trie_ends: Array,
    in_trie: Array, wholes: Array, whole_at: Array,
    property: Array, home: Number, row_of: Array, rows: Array, lists: Array, numbers: Array,
    filters: Array, bounds: Array, tests: Number, local: Array, rows_of: Array,
    nodes: Array, ends: Array, edges: Array, starts: Array, by_vertex: Array, of_vertex: Array,
    by_test: Array, proposed: Array, stamps: Array, spent: Array, states: Array, now: Number,
    budget: Number, event: Number, out_place: Array,
) -> tuple[Number, Array, Array]:  # fmt: skip
    """Match one event that was prepared; how many pairs are filled then, and the rows."""
    filled = 0
    floats = np.zeros(3 * DEEPEST + 3, np.float64)
    most = sizes[SIZE_STEPS] + 8
    frames = np.zeros(FRAME * most, np.int64)
    of_tails = np.zeros(FRAME * most, np.int64)
    vertex_of = np.zeros(SLOTS, np.int64)
    used = np.zeros(SLOTS, np.int64)
    program = np.zeros(3 * most, np.int32)
    seed, shift, last = sizes[SIZE_SEED], uint64(sizes[SIZE_SHIFT]), uint64(len(table) - 1)
    home_vertex = int64(local[home]) if home >= 0 else int64(-1)
    words, forms = _hinted(by_vertex, tests, roles, hints)
    for fact in range(len(property)):
        x, y = int64(ends[2 * fact]), int64(ends[2 * fact + 1])
        if x < 0 or y < 0:
            continue
        row = row_of[property[fact]] * ROW
        begin, end = rows[row + SERVES], rows[row + SERVES_END]
        of_x, x_end = int64(of_vertex[x]), int64(of_vertex[x + 1])
        of_y, y_end = int64(of_vertex[y]), int64(of_vertex[y + 1])
        for served in range(begin, end):
            asked = lists[served]
            shape = shapes[asked] if asked < len(shapes) else int64(0)
            if shape == 0:
                continue
            bit = hint_bit(asked)
            for one in range(of_x - 1, x_end):
                subject_test, of_one = 0, 0
                of_keys = uint64(0xFFFFFFFFFFFFFFFF)
                if one >= of_x:
                    subject_test, of_one = by_vertex[one] % tests + 1, forms[one]
                    of_keys = words[one, 0]
                    if of_one == 0:
                        continue
                own_bit = bit ^ hint_bit(subject_test)
                for two in range(of_y - 1, y_end):
                    object_test, of_two = 0, 0
                    if two >= of_y:
                        object_test, of_two = by_vertex[two] % tests + 1, forms[two]
                        if of_two == 0:
                            continue
                    if is_hint_of_object(of_one, of_two):
                        hint = words[two, 1] >> own_bit
                    else:
                        hint = of_keys >> (bit ^ hint_bit(object_test))
                    if hint & uint64(1) == uint64(0):
                        continue
                    whole = 3 * of_one + of_two
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
                        variables, flat = postings[at + 3] & 3, postings[at + 3] >> COUNT_SHIFT
                        to = at + POSTING
                        in_trie_of, first_in_trie = int64(0), int64(0)
                        if postings[at + 3] & HAS_TRIE:
                            root, first_in_trie = int64(postings[to]), int64(postings[to + 1])
                            in_trie_of = postings[to + 2] - first_in_trie
                            to += TRIE
                            of_trie = len(stamps) + root
                            limit = left_of(of_trie, spent, now, budget + SEEN_FROM * in_trie_of)
                            taken_up = 0
                            if kind & 1:
                                taken_up = _taken_by_trigger(
                                    x, y, variables, 0, used, nodes, row_of, rows, home_vertex
                                )
                            if taken_up >= 0 and limit > 0:
                                _bind(vertex_of, x, y, variables)
                                filled, taken = search_trie(
                                    root, nodes_of_tries, links, tails, listed, int64(0), states,
                                    now, of_tails, out_place, filled, used, taken_up, limit,
                                    vertex_of, frames, rows_of, edges, starts, by_vertex,
                                    of_vertex, by_test, tests, nodes, row_of, rows, numbers,
                                    filters, bounds, floats,
                                )  # fmt: skip
                                spend(of_trie, taken, spent, now)
                                limit -= taken
                            if limit > 0 or taken_up < 0:
                                in_trie_of = int64(0)  # else each by itself, since some are costly
                        for number in range(flat + in_trie_of):
                            if number < flat:
                                steps, flags = postings[to] >> STEPS_SHIFT, postings[to]
                                pattern = int64(postings[to + 1])
                                to += FLAT
                                for word in range(3 * steps):
                                    program[word] = postings[to + word]
                                to += 3 * steps
                            else:
                                entry_of = first_in_trie + number - flat
                                pattern = int64(in_trie[entry_of])
                                if was_found(int64(trie_ends[entry_of]), states, now):
                                    continue
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
                            _bind(vertex_of, x, y, variables)
                            outcome, doubtful, taken = search(
                                program, 0, steps, used, taken_up,
                                left_of(pattern, spent, now, budget), FROM_START, vertex_of,
                                frames, rows_of, edges, starts, by_vertex, of_vertex, by_test,
                                tests, nodes, row_of, rows, numbers, filters, bounds, floats,
                            )  # fmt: skip
                            if outcome:
                                out_place[filled] = (
                                    pattern
                                    | (DOUBTFUL if doubtful else 0)
                                    | (OVER_BUDGET if outcome == OVER else 0)
                                )
                                filled += 1
                                stamps[pattern] = now
                            else:
                                spend(pattern, taken, spent, now)
    for proposal in range(len(proposed)):
        pattern = int64(proposed[proposal])
        if stamps[pattern] == now:
            continue
        at = int64(whole_at[pattern])
        taken_up = _taken_at_first(wholes[at + WHOLE_FLAGS], used, home_vertex)
        outcome, doubtful, _ = search(
            wholes, at + WHOLE + wholes[at + WHOLE_SELECTED], wholes[at + WHOLE_STEPS], used,
            taken_up, budget, FROM_START, vertex_of, frames, rows_of, edges, starts, by_vertex,
            of_vertex, by_test, tests, nodes, row_of, rows, numbers, filters, bounds, floats,
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
            outcome, doubtful, taken = search(
                wholes, at + WHOLE + selected, wholes[at + WHOLE_STEPS], used, taken_up, left,
                resumed, vertex_of, frames, rows_of, edges, starts, by_vertex, of_vertex, by_test,
                tests, nodes, row_of, rows, numbers, filters, bounds, floats,
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
def _bind(vertex_of: Array, x: Number, y: Number, variables: Number) -> None:
    """The trigger's variables stand for the vertices of a fact."""
    bound = 0
    if variables & 1:
        vertex_of[0] = x
        bound = 1
    if variables & 2:
        vertex_of[bound] = y


@inlined
def _taken_at_first(flags: Number, used: Array, home: Number) -> Number:
    """How many vertices a whole program may not bind."""
    if flags & INJECTIVE and flags & USES_HOME and home >= 0:
        used[0] = home
        return 1
    return 0
