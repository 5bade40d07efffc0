"""The edge that a pattern is found by.

It is the one whose ends say most, of equals the one that the fewest patterns have.
"""

import numpy as np

from sensewire.match.compiled.graph_layout import (
    BLOCK,
    BLOCK_EDGES,
    BLOCK_MARKS,
    CODE_FLAGS,
    CODE_VARIABLES,
    DISTINCT,
    EDGE,
    FIRST_BLOCK,
    INJECTIVE,
    LOOP,
    MARK,
    MOST_VARIABLES,
    key_of,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64

CONSTANT, CLASS, UNSEEN = 4, 1, 0
"""How much a vertex test says: a constant much, a class something; the last is no part of keys."""


@inlined
def primary_tests(
    codes: Array, block: Number, variables: Number, weights: Array, primary: Array
) -> None:
    """The test of each variable that says most, or −1."""
    for variable in range(variables):
        primary[variable] = -1
    first = block + BLOCK + EDGE * codes[block + BLOCK_EDGES]
    for mark in range(codes[block + BLOCK_MARKS]):
        variable, what = -codes[first + MARK * mark] - 1, codes[first + MARK * mark + 1]
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
def triggers(
    codes: Array, begins: Array, weights: Array, seed: Number
) -> tuple[Array, Array, Array]:
    """For each pattern its trigger edge, the key (subject, property, object), and how many patterns
    are found by that key; all patterns have edges."""
    patterns = len(begins)
    total = 0
    for pattern in range(patterns):
        total += codes[begins[pattern] + FIRST_BLOCK + BLOCK_EDGES]
    ends = np.empty((total, 3), np.int32)
    rank = np.empty(total, np.int32)
    primary = np.empty(MOST_VARIABLES + 8, np.int64)
    filled = 0
    for pattern in range(patterns):
        at = begins[pattern]
        block = at + FIRST_BLOCK
        primary_tests(codes, block, codes[at + CODE_VARIABLES], weights, primary)
        distinct = DISTINCT if codes[at + CODE_FLAGS] & INJECTIVE else 0
        for edge in range(codes[block + BLOCK_EDGES]):
            place = block + BLOCK + EDGE * edge
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
    crowd = np.empty(patterns, np.int64)
    first = 0
    for pattern in range(patterns):
        edges = codes[begins[pattern] + FIRST_BLOCK + BLOCK_EDGES]
        best, least = -1, 0.0
        for edge in range(first, first + edges):
            slot = slot_of[edge]
            load = having[slot] * 0.01 + posted[slot] if rank[edge] > 2 else 1.0 * having[slot]
            cost = load - 1e9 * rank[edge]
            if best < 0 or cost < least:
                best, least = edge, cost
        posted[slot_of[best]] += 1
        chosen[pattern] = best - first
        crowd[pattern] = slot_of[best]
        for part in range(3):
            found[pattern, part] = ends[best, part]
        first += edges
    for pattern in range(patterns):
        crowd[pattern] = posted[crowd[pattern]]
    return chosen, found, crowd
