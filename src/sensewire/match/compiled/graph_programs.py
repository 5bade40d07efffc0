"""Patterns to programs: the edge that each is found by, and the steps that are left after it.

    code ──> trigger edge ──> steps: checks first, then what extends a bound vertex, then scans

The trigger is the edge whose ends say most, of equals the one that the fewest patterns have. The
steps come in an order that depends on the pattern alone, so that patterns with a common beginning
share it in a trie.
"""

import numpy as np

from sensewire.match.compiled.graph_layout import (
    ALL,
    ANY,
    CODE_EDGES,
    CODE_FLAGS,
    CODE_MARKS,
    CODE_VARIABLES,
    DISTINCT,
    EXEMPT,
    FILTER,
    HEADER,
    INJECTIVE,
    ITSELF,
    LOOP,
    MOST_VARIABLES,
    NONE,
    PLACED,
    SLOTS,
    WHAT_SHIFT,
    key_of,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64

CONSTANT, CLASS, UNSEEN = 4, 1, 0
"""How much a vertex test says: a constant much, a class something; the last is no part of keys."""


@inlined
def _primary(codes: Array, at: Number, weights: Array, primary: Array) -> None:
    """The test of each variable that says most, or −1."""
    variables, edges = codes[at + CODE_VARIABLES], codes[at + CODE_EDGES]
    marks = codes[at + CODE_MARKS]
    for variable in range(variables):
        primary[variable] = -1
    first = at + HEADER + 3 * edges
    for mark in range(marks):
        variable, what = -codes[first + 2 * mark] - 1, codes[first + 2 * mark + 1]
        if what & 1:
            continue
        test = what >> 1
        known = primary[variable]
        if known < 0 or weights[test] > weights[known]:
            primary[variable] = test


@inlined
def _end(vertex: Number, weights: Array, primary: Array) -> Number:
    """What a trigger's key says of an end: a test's number + 1, or 0."""
    test = vertex if vertex >= 0 else primary[-vertex - 1]
    return test + 1 if test >= 0 and weights[test] > 0 else 0


@kernel
def triggers(codes: Array, offsets: Array, weights: Array, seed: Number) -> tuple[Array, Array]:
    """For each pattern its trigger edge, and the key: subject, property, object."""
    patterns = len(offsets) - 1
    total = 0
    for pattern in range(patterns):
        total += codes[offsets[pattern] + CODE_EDGES]
    ends = np.empty((total, 3), np.int32)
    rank = np.empty(total, np.int32)
    primary = np.empty(MOST_VARIABLES + 8, np.int64)
    filled = 0
    for pattern in range(patterns):
        at = offsets[pattern]
        _primary(codes, at, weights, primary)
        distinct = DISTINCT if codes[at + CODE_FLAGS] & INJECTIVE else 0
        for edge in range(codes[at + CODE_EDGES]):
            place = at + HEADER + 3 * edge
            subject, object = codes[place], codes[place + 2]
            loops = LOOP if subject < 0 and subject == object else 0
            one, other = _end(subject, weights, primary), _end(object, weights, primary)
            ends[filled, 0] = one
            ends[filled, 1] = codes[place + 1] | distinct | loops
            ends[filled, 2] = other
            says = -1 if loops else 0
            says += weights[one - 1] if one else 0
            says += weights[other - 1] if other else 0
            rank[filled] = says
            filled += 1
    slots = 16
    while slots < 2 * total + 2:
        slots *= 2
    keys = np.zeros(slots, np.uint64)
    having = np.zeros(slots, np.int32)
    posted = np.zeros(slots, np.int32)
    slot_of = np.empty(total, np.int64)
    for edge in range(total):
        key = key_of(ends[edge, 0], ends[edge, 1], ends[edge, 2], seed) | uint64(1)
        slot = int64((key >> uint64(7)) & uint64(slots - 1))
        while keys[slot] != uint64(0) and keys[slot] != key:
            slot = (slot + 1) & (slots - 1)
        keys[slot] = key
        having[slot] += 1
        slot_of[edge] = slot
    chosen = np.empty(patterns, np.int32)
    found = np.empty((patterns, 3), np.int32)
    first = 0
    for pattern in range(patterns):
        edges = codes[offsets[pattern] + CODE_EDGES]
        best, least = -1, 0.0
        for edge in range(first, first + edges):
            slot = slot_of[edge]
            load = having[slot] * 0.01 + posted[slot] if rank[edge] > 2 else 1.0 * having[slot]
            cost = load - 1e9 * rank[edge]
            if best < 0 or cost < least:
                best, least = edge, cost
        posted[slot_of[best]] += 1
        chosen[pattern] = best - first
        for part in range(3):
            found[pattern, part] = ends[best, part]
        first += edges
    return chosen, found


@inlined
def _write(steps: Array, at: Number, x: Number, m: Number, property: Number, slot: Number) -> None:
    steps[at, 0] = x
    steps[at, 1] = m
    steps[at, 2] = (property << WHAT_SHIFT) | slot


@inlined
def _marked(
    codes: Array, at: Number, variable: Number, slot: Number, but: Number, steps: Array, to: Number
) -> Number:
    """The steps for what is asked of a variable that was bound, but for one test."""
    first = at + HEADER + 3 * codes[at + CODE_EDGES]
    for mark in range(codes[at + CODE_MARKS]):
        what = codes[first + 2 * mark + 1]
        if -codes[first + 2 * mark] - 1 != variable or what == 2 * EXEMPT + 1 or what == 2 * but:
            continue
        if what & 1:
            _write(steps, to, slot, what >> 1, 2 * ITSELF, FILTER)
        else:
            _write(steps, to, slot, SLOTS + (what >> 1), 2 * ITSELF, NONE)
        to += 1
    return to


@inlined
def _is_exempt(codes: Array, at: Number, variable: Number) -> Number:
    first = at + HEADER + 3 * codes[at + CODE_EDGES]
    for mark in range(codes[at + CODE_MARKS]):
        if (
            -codes[first + 2 * mark] - 1 == variable
            and codes[first + 2 * mark + 1] == 2 * EXEMPT + 1
        ):
            return True
    return False


@kernel
def programs(
    codes: Array, offsets: Array, weights: Array, chosen: Array, keys: Array
) -> tuple[Array, Array]:
    """The steps of all patterns, one after another, and where each begins."""
    patterns = len(offsets) - 1
    most = 0
    for pattern in range(patterns):
        at = offsets[pattern]
        most += 2 * codes[at + CODE_EDGES] + codes[at + CODE_MARKS] + 1
    steps = np.empty((most, 3), np.int32)
    starts = np.empty(patterns + 1, np.int64)
    primary = np.empty(MOST_VARIABLES + 8, np.int64)
    slot = np.empty(MOST_VARIABLES + 8, np.int64)
    done = np.empty(4_096, np.bool_)
    filled = 0
    for pattern in range(patterns):
        starts[pattern] = filled
        at = offsets[pattern]
        edges, flags = codes[at + CODE_EDGES], codes[at + CODE_FLAGS]
        injective = (flags & INJECTIVE) != 0
        if edges > len(done):
            done = np.empty(2 * edges, np.bool_)
        _primary(codes, at, weights, primary)
        for variable in range(codes[at + CODE_VARIABLES]):
            slot[variable] = -1
        for edge in range(edges):
            done[edge] = False
        place = at + HEADER + 3 * chosen[pattern]
        subject, object = codes[place], codes[place + 2]
        count = 0
        if subject < 0:
            slot[-subject - 1] = 0
            count = 1
            but = keys[pattern, 0] - 1
            filled = _marked(codes, at, -subject - 1, 0, but, steps, filled)
        if object < 0 and slot[-object - 1] < 0:
            slot[-object - 1] = count
            but = keys[pattern, 2] - 1
            filled = _marked(codes, at, -object - 1, count, but, steps, filled)
            count += 1
        done[chosen[pattern]] = True
        left = edges - 1
        while left > 0:
            best, kind, x, m, what = -1, 9, 0, 0, 0
            for edge in range(edges):
                if done[edge]:
                    continue
                place = at + HEADER + 3 * edge
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
            place = at + HEADER + 3 * best
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
            placed = PLACED if injective and not _is_exempt(codes, at, variable) else 0
            _write(steps, filled, x, m, what, count | placed)
            filled += 1
            slot[variable] = count
            filled = _marked(codes, at, variable, count, primary[variable], steps, filled)
            count += 1
    starts[patterns] = filled
    return steps[:filled].copy(), starts


@kernel
def uses_of(codes: Array, offsets: Array, property: Number) -> Array:
    """Which patterns have an edge with a property."""
    found = np.zeros(len(offsets) - 1, np.bool_)
    for pattern in range(len(offsets) - 1):
        at = offsets[pattern]
        for edge in range(codes[at + CODE_EDGES]):
            if codes[at + HEADER + 3 * edge + 1] == property:
                found[pattern] = True
    return found
