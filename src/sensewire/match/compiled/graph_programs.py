"""Patterns to programs: the edge that each is found by, and the steps that are left after it.

    code ──> trigger edge ──> steps: checks first, then what extends a bound vertex, then scans;
                              what is asked of a vertex as soon as it is bound; nots at the end

The steps come in an order that depends on the pattern alone, so that patterns with a common
beginning share it in a trie. A whole program is made in the same way, without a trigger.
"""

import numpy as np

from sensewire.match.compiled.graph_layout import (
    ALL,
    ANY,
    BLOCK,
    BLOCK_EDGES,
    BLOCK_INSIDE,
    BLOCK_JOINS,
    BLOCK_LENGTH,
    BLOCK_MARKS,
    CODE_FLAGS,
    CODE_NOTS,
    CODE_SELECTED,
    CODE_VARIABLES,
    EDGE,
    EXEMPT,
    FILTER,
    FILTER_OF_MANY,
    FIRST_BLOCK,
    INJECTIVE,
    ITSELF,
    JOIN,
    MARK,
    MOST_JOINED,
    MOST_VARIABLES,
    NEGATED,
    NONE,
    PLACED,
    SLOTS,
    WHAT_SHIFT,
    WHOLE,
    WHOLE_FLAGS,
    WHOLE_SELECTED,
    WHOLE_STEPS,
    WHOLE_UNTIL,
)
from sensewire.match.compiled.graph_triggers import primary_tests
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, loop

_NUMBER, _BEGIN, _COUNT = range(3)
"""Of a `not` that is open: its number, where its steps begin, and how many slots are used in it."""


@inlined
def _write(steps: Array, at: Number, x: Number, m: Number, property: Number, slot: Number) -> None:
    steps[at, 0] = x
    steps[at, 1] = m
    steps[at, 2] = (property << WHAT_SHIFT) | slot


@inlined
def _marked(
    codes: Array, block: Number, variable: Number, slot: Array, but: Number, steps: Array,
    to: Number,
) -> Number:  # fmt: skip
    """The steps for what is asked of a variable that was bound, but for one test."""
    first = block + BLOCK + EDGE * codes[block + BLOCK_EDGES]
    for mark in range(codes[block + BLOCK_MARKS]):
        what = codes[first + MARK * mark + 1]
        if -codes[first + MARK * mark] - 1 != variable or what == 2 * EXEMPT + 1 or what == 2 * but:
            continue
        if what & 1:
            _write(steps, to, slot[variable], what >> 1, 2 * ITSELF, FILTER)
        else:
            _write(steps, to, slot[variable], SLOTS + (what >> 1), 2 * ITSELF, NONE)
        to += 1
    return to


@inlined
def _joined(
    codes: Array, block: Number, latest: Number, slot: Array, steps: Array, to: Number
) -> Number:
    """The steps for the joins that a variable, the last to be bound, completes; of any, if −1."""
    first = block + BLOCK + EDGE * codes[block + BLOCK_EDGES] + MARK * codes[block + BLOCK_MARKS]
    for join in range(codes[block + BLOCK_JOINS]):
        packed, is_ready, has_latest = int64(0), True, latest < 0
        for number in range(MOST_JOINED):
            variable = -codes[first + JOIN * join + 1 + number] - 1
            if variable >= 0:
                is_ready = is_ready and slot[variable] >= 0
                has_latest = has_latest or variable == latest
                packed |= int64(slot[variable] & 255) << (8 * number)
        if is_ready and has_latest:
            packed = packed - (int64(1) << 32) if packed >> 31 else packed
            _write(steps, to, packed, codes[first + JOIN * join], 2 * ITSELF, FILTER_OF_MANY)
            to += 1
    return to


@inlined
def _is_exempt(codes: Array, block: Number, variable: Number) -> Number:
    first = block + BLOCK + EDGE * codes[block + BLOCK_EDGES]
    for mark in range(codes[block + BLOCK_MARKS]):
        if (
            -codes[first + MARK * mark] - 1 == variable
            and codes[first + MARK * mark + 1] == 2 * EXEMPT + 1
        ):
            return True
    return False


@loop
def _steps_of(
    codes: Array, block: Number, left: Number, injective: Number, primary: Array, slot: Array,
    done: Array, count: Number, steps: Array, filled: Number,
) -> tuple[Number, Number]:  # fmt: skip
    """The steps for the edges of a block that are not done; how many slots are used then."""
    edges = codes[block + BLOCK_EDGES]
    while left > 0:
        best, kind, x, m, what = -1, 9, 0, 0, 0
        for edge in range(edges):
            if done[edge]:
                continue
            place = block + BLOCK + EDGE * edge
            subject, property, object = codes[place], codes[place + 1], codes[place + 2]
            from_subject = SLOTS + subject if subject >= 0 else slot[-subject - 1]
            from_object = SLOTS + object if object >= 0 else slot[-object - 1]
            if from_subject >= 0 and from_object >= 0:
                of_kind, of_x, of_m, of_what = 0, from_subject, from_object, 2 * property
            elif from_subject >= 0:
                test = primary[-object - 1]
                of_kind, of_x, of_what = 1, from_subject, 2 * property
                of_m = ANY if test < 0 else SLOTS + test
            elif from_object >= 0:
                test = primary[-subject - 1]
                of_kind, of_x, of_what = 1, from_object, 2 * property + 1
                of_m = ANY if test < 0 else SLOTS + test
            else:
                test = primary[-subject - 1]
                loops = subject == object
                of_kind, of_x = 2 if loops else 3, ALL
                of_what = 2 * property + (1 if loops else 0)
                of_m = ANY if test < 0 else SLOTS + test
            is_less = of_kind < kind
            if of_kind == kind:
                is_less = of_x < x or (
                    of_x == x and (of_what < what or (of_what == what and of_m < m))
                )
            if is_less:
                best, kind, x, m, what = edge, of_kind, of_x, of_m, of_what
        place = block + BLOCK + EDGE * best
        subject, object = codes[place], codes[place + 2]
        if kind == 0:
            _write(steps, filled, x, m, what, NONE)
            filled += 1
            done[best] = True
            left -= 1
            continue
        variable = -subject - 1
        if kind == 1 and (subject >= 0 or slot[-subject - 1] >= 0):
            variable = -object - 1
        if kind != 3:  # else the edge itself stays: only its subject is bound
            done[best] = True
            left -= 1
        placed = PLACED if injective and not _is_exempt(codes, block, variable) else 0
        _write(steps, filled, x, m, what, count | placed)
        filled += 1
        slot[variable] = count
        filled = _marked(codes, block, variable, slot, primary[variable], steps, filled)
        filled = _joined(codes, block, variable, slot, steps, filled)
        count += 1
    return count, filled


@inlined
def _is_ready(codes: Array, at: Number, block: Number, end: Number, slot: Array) -> Number:
    """Whether all variables of a `not`, and of those in it, are bound that stand outside too; in an
    injective pattern whether all are, since what is inside must differ from all that is outside."""
    injective = codes[at + CODE_FLAGS] & INJECTIVE
    first = at + FIRST_BLOCK
    for edge in range(codes[first + BLOCK_EDGES]):
        for place in range(0, EDGE, 2):
            outer = codes[first + BLOCK + EDGE * edge + place]
            if outer >= 0 or slot[-outer - 1] >= 0:
                continue
            if injective:
                return False
            part = block
            while part < end:
                begin = part + BLOCK
                part = begin + codes[part + BLOCK_LENGTH]
                for number in range(begin, part):
                    if codes[number] == outer:  # only variables are below 0
                        return False
    return True


@inlined
def _closed(
    nots: Array, inside: Number, depth: Number, variables: Number, slot: Array, level: Array,
    steps: Array, filled: Number,
) -> Number:  # fmt: skip
    """Say how long the innermost open `not`s are, until one is the `not` that the next one stands
    in; how many are open then."""
    while depth > 0 and nots[depth, _NUMBER] != inside:
        begin = nots[depth, _BEGIN]
        around = begin - nots[depth - 1, _BEGIN] if depth > 1 else int64(0)
        _write(steps, begin, filled - begin - 1, around, 2 * ITSELF, NEGATED)
        for variable in range(variables):
            if level[variable] == depth:
                level[variable] = 0
                slot[variable] = -1
        depth -= 1
    return depth


@loop
def _nots_of(
    codes: Array, at: Number, weights: Array, primary: Array, slot: Array, done: Array,
    tried: Array, nots: Array, level: Array, count: Number, steps: Array, filled: Number,
) -> Number:  # fmt: skip
    """The steps of all nots of a pattern that are ready and not `tried` yet.

    `nots` and `level` are scratch: the nots that are open, and in which of them a variable was
    bound, as how deep that is.
    """
    block = at + FIRST_BLOCK
    variables, injective = codes[at + CODE_VARIABLES], codes[at + CODE_FLAGS] & INJECTIVE
    block += BLOCK + codes[block + BLOCK_LENGTH] + codes[at + CODE_SELECTED]
    level[:variables] = 0
    depth, goes = int64(0), False
    for number in range(codes[at + CODE_NOTS]):
        inside = codes[block + BLOCK_INSIDE]
        depth = _closed(nots, inside, depth, variables, slot, level, steps, filled)
        if inside == 0:
            end = block + BLOCK + codes[block + BLOCK_LENGTH]
            after = number + 1
            while after < codes[at + CODE_NOTS] and codes[end + BLOCK_INSIDE]:
                end += BLOCK + codes[end + BLOCK_LENGTH]
                after += 1
            goes = not tried[number] and _is_ready(codes, at, block, end, slot)
            tried[number] = tried[number] or goes
        if goes:
            used = nots[depth, _COUNT] if depth else count
            depth += 1
            nots[depth, _NUMBER] = number + 1
            nots[depth, _BEGIN] = filled
            filled += 1
            primary_tests(codes, block, variables, weights, primary)
            for edge in range(codes[block + BLOCK_EDGES]):
                done[edge] = False
            for variable in range(variables):
                if slot[variable] >= 0:
                    filled = _marked(codes, block, variable, slot, -1, steps, filled)
            filled = _joined(codes, block, -1, slot, steps, filled)
            for variable in range(variables):
                if slot[variable] < 0:
                    level[variable] = depth  # if it is bound here
            used, filled = _steps_of(
                codes, block, codes[block + BLOCK_EDGES], injective, primary, slot, done, used,
                steps, filled,
            )  # fmt: skip
            nots[depth, _COUNT] = used
            for variable in range(variables):
                if slot[variable] < 0:
                    level[variable] = 0
        block += BLOCK + codes[block + BLOCK_LENGTH]
    _closed(nots, int64(0), depth, variables, slot, level, steps, filled)
    return filled


@kernel
def programs(
    codes: Array, begins: Array, weights: Array, chosen: Array, keys: Array, bound: Array
) -> tuple[Array, Array]:
    """The steps of all patterns after their triggers, one after another, and where each begins.

    `bound` are the ends of each trigger that its posting binds: what is a constant here may be a
    variable of another pattern there, and has a slot all the same.
    """
    patterns = len(begins)
    room, most, nots = _room(codes, begins)
    steps = np.empty((room, 3), np.int32)
    starts = np.empty(patterns + 1, np.int64)
    primary = np.empty(MOST_VARIABLES + 8, np.int64)
    slot = np.empty(MOST_VARIABLES + 8, np.int64)
    done = np.empty(most + 1, np.bool_)
    tried = np.empty(nots + 1, np.bool_)
    open_nots = np.empty((nots + 2, 3), np.int64)
    level = np.empty(MOST_VARIABLES + 8, np.int64)
    filled = 0
    for pattern in range(patterns):
        starts[pattern] = filled
        at = begins[pattern]
        block = at + FIRST_BLOCK
        edges, injective = codes[block + BLOCK_EDGES], codes[at + CODE_FLAGS] & INJECTIVE
        primary_tests(codes, block, codes[at + CODE_VARIABLES], weights, primary)
        for variable in range(codes[at + CODE_VARIABLES]):
            slot[variable] = -1
        for edge in range(edges):
            done[edge] = False
        place = block + BLOCK + EDGE * chosen[pattern]
        subject, object = codes[place], codes[place + 2]
        if subject < 0:
            slot[-subject - 1] = 0
            but = keys[pattern, 0] - 1
            filled = _marked(codes, block, -subject - 1, slot, but, steps, filled)
        if object < 0 and slot[-object - 1] < 0:
            slot[-object - 1] = bound[pattern] & 1
            but = keys[pattern, 2] - 1
            filled = _marked(codes, block, -object - 1, slot, but, steps, filled)
        count = int64((bound[pattern] & 1) + (bound[pattern] >> 1))
        filled = _joined(codes, block, -1, slot, steps, filled)
        if codes[at + CODE_NOTS]:
            tried[: codes[at + CODE_NOTS]] = False
            filled = _nots_of(
                codes, at, weights, primary, slot, done, tried, open_nots, level, count, steps,
                filled,
            )  # fmt: skip
            primary_tests(codes, block, codes[at + CODE_VARIABLES], weights, primary)
            for edge in range(edges):
                done[edge] = False
        done[chosen[pattern]] = True
        count, filled = _steps_of(
            codes, block, edges - 1, injective, primary, slot, done, count, steps, filled
        )
        if codes[at + CODE_NOTS]:
            filled = _nots_of(
                codes, at, weights, primary, slot, done, tried, open_nots, level, count, steps,
                filled,
            )  # fmt: skip
    starts[patterns] = filled
    return steps[:filled].copy(), starts


@kernel
def _room(codes: Array, begins: Array) -> tuple[Number, Number, Number]:
    """For how many steps all patterns need room, and how many edges one block, and how many nots
    one pattern has at most."""
    room, most, nots = 0, 0, 0
    for pattern in range(len(begins)):
        at = begins[pattern]
        block = at + FIRST_BLOCK
        nots = max(nots, codes[at + CODE_NOTS])
        for number in range(codes[at + CODE_NOTS] + 1):
            edges = codes[block + BLOCK_EDGES]
            most = max(most, edges)
            room += 2 * edges + codes[block + BLOCK_MARKS] + codes[block + BLOCK_JOINS] + 2
            block += BLOCK + codes[block + BLOCK_LENGTH]
            if number == 0:
                block += codes[at + CODE_SELECTED]
    return room, most, nots


@kernel
def wholes(codes: Array, begins: Array, weights: Array, wanted: Array) -> tuple[Array, Array]:
    """The whole programs of the patterns that are wanted, and where each begins, or −1."""
    patterns = len(begins)
    room, most, nots = _room(codes, begins)
    steps = np.empty((room, 3), np.int32)
    where = np.full(patterns, -1, np.int32)
    primary = np.empty(MOST_VARIABLES + 8, np.int64)
    slot = np.empty(MOST_VARIABLES + 8, np.int64)
    done = np.empty(most + 1, np.bool_)
    tried = np.empty(nots + 1, np.bool_)
    open_nots = np.empty((nots + 2, 3), np.int64)
    level = np.empty(MOST_VARIABLES + 8, np.int64)
    size = 0
    for pattern in range(patterns):
        if wanted[pattern]:
            at = begins[pattern]
            needed, _, _ = _room(codes, begins[pattern : pattern + 1])
            size += WHOLE + codes[at + CODE_SELECTED] + 3 * needed
    found = np.empty(size, np.int32)
    filled = 0
    for pattern in range(patterns):
        if not wanted[pattern]:
            continue
        at = begins[pattern]
        block = at + FIRST_BLOCK
        edges, injective = codes[block + BLOCK_EDGES], codes[at + CODE_FLAGS] & INJECTIVE
        primary_tests(codes, block, codes[at + CODE_VARIABLES], weights, primary)
        for variable in range(codes[at + CODE_VARIABLES]):
            slot[variable] = -1
        for edge in range(edges):
            done[edge] = False
        made = 0
        if codes[at + CODE_NOTS]:
            tried[: codes[at + CODE_NOTS]] = False
            made = _nots_of(
                codes, at, weights, primary, slot, done, tried, open_nots, level, 0, steps, 0
            )
            primary_tests(codes, block, codes[at + CODE_VARIABLES], weights, primary)
            for edge in range(edges):
                done[edge] = False
        count, made = _steps_of(codes, block, edges, injective, primary, slot, done, 0, steps, made)
        begin, selected = filled, codes[at + CODE_SELECTED]
        until, listed = 0, block + BLOCK + codes[block + BLOCK_LENGTH]
        for number in range(selected):
            own = slot[-codes[listed + number] - 1]
            found[begin + WHOLE + number] = own
            for step in range(made):
                if steps[step, 2] & 255 == own:
                    until = max(until, step + 1)
        if codes[at + CODE_NOTS]:
            made = _nots_of(
                codes, at, weights, primary, slot, done, tried, open_nots, level, count, steps,
                made,
            )  # fmt: skip
        if selected:  # so that all is bound when a solution is found
            _write(steps, made, 0, ANY, 2 * ITSELF, NONE)
            made += 1
        where[pattern] = begin
        found[begin + WHOLE_STEPS] = made
        found[begin + WHOLE_FLAGS] = codes[at + CODE_FLAGS]
        found[begin + WHOLE_UNTIL] = until
        found[begin + WHOLE_SELECTED] = selected
        filled = begin + WHOLE + selected
        for step in range(made):
            for word in range(3):
                found[filled + word] = steps[step, word]
            filled += 3
    return found[:filled].copy(), where


@kernel
def uses_of(codes: Array, begins: Array, properties: Array) -> Array:
    """Which patterns have an edge with one of some properties, inside of a `not` too."""
    found = np.zeros(len(begins), np.bool_)
    for pattern in range(len(begins)):
        at = begins[pattern]
        block = at + FIRST_BLOCK
        for number in range(codes[at + CODE_NOTS] + 1):
            for edge in range(codes[block + BLOCK_EDGES]):
                property = codes[block + BLOCK + EDGE * edge + 1]
                for each in properties:
                    if property == each:
                        found[pattern] = True
            block += BLOCK + codes[block + BLOCK_LENGTH]
            if number == 0:
                block += codes[at + CODE_SELECTED]
    return found
