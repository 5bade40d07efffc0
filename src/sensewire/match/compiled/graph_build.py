"""The tables of a graph index: postings in the order of their keys, tries for the long ones.

    roles      test ──> what it is to the index; `shapes`: property ──> the forms of its keys
    hints      test ──> which keys it may stand in, as bits
    table      key ──> posting, by open addressing; keys in the order of the table
    postings   trigger, then its patterns, one after another, with their steps
    nodes      of tries, level by level: a step each, siblings side by side
    links      node ──> first child, first step of its tail, first pattern, parent; 0 where none
    tails      what is left of a pattern that shares nothing any more, its node's step first
    listed     the patterns that end at nodes
    in_trie    all patterns in tries, by posting; `ends`: the node where each ends
    wholes     the whole programs of those that select, or are proposed; `whole_at`: pattern ──>
               where

A posting of more than `LONG` patterns is a trie, in which a common beginning is tried once.
"""

from collections.abc import Mapping

import numpy as np

from sensewire.match.compiled.graph_layout import (
    AS_OBJECT,
    AS_SUBJECT,
    BLOCK,
    BLOCK_EDGES,
    BLOCK_LENGTH,
    BLOCK_MARKS,
    CODE_FLAGS,
    CODE_NOTS,
    CODE_SELECTED,
    COUNT_SHIFT,
    DISTINCT,
    EDGE,
    EXEMPT,
    FILTER,
    FIRST_BLOCK,
    FLAT,
    FORMS,
    HAS_TRIE,
    INJECTIVE,
    IS_ASKED,
    IS_END,
    KEY_CLASS,
    KEY_CONSTANT,
    LOOP,
    MARK,
    NEGATED,
    PLACED,
    POSTING,
    SLOT_MASK,
    STEPS_SHIFT,
    TRIE,
    USES_HOME,
    WHOLE_STEPS,
    hint_bit,
    hints_of,
    is_hint_of_object,
    key_of,
)
from sensewire.match.compiled.graph_programs import programs, wholes
from sensewire.match.compiled.graph_room import Tables
from sensewire.match.compiled.graph_tries import Tries
from sensewire.match.compiled.graph_triggers import CONSTANT, triggers
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64

LONG = 32
NAMES = Tables._fields
"""The tables, in the order in which kernels take them."""
SIZE_PATTERNS, SIZE_SHIFT, SIZE_SEED, SIZE_NODES, SIZE_STEPS, SIZE_WITHOUT_PIVOT = range(6)
# Flags of a flat pattern
FLAT_INJECTIVE, FLAT_USES_HOME, FLAT_SUBJECT_FREE, FLAT_OBJECT_FREE, FLAT_NEGATES = 1, 2, 4, 8, 16
FLAT_PLAIN = 32


class _ClashError(Exception):
    """Two keys that the table could not tell apart."""


def build_tables(
    codes: Array,
    offsets: Array,
    weights: Array,
    properties: int,
    proposed: Array,
    negated: Array,
    long: int = LONG,
) -> Mapping[str, Array]:
    """The tables of an index of coded patterns, of which some are proposed by others; `negated` are
    the tests that filters ask for."""
    for seed in range(1, 64):
        try:
            return _built(codes, offsets[:-1], weights, properties, proposed, negated, long, seed)
        except _ClashError:
            continue
    raise AssertionError("no seed tells all keys apart")


def _built(
    codes: Array,
    begins: Array,
    weights: Array,
    properties: int,
    proposed: Array,
    negated: Array,
    long: int,
    seed: int,
) -> Mapping[str, Array]:
    posted = np.flatnonzero(~proposed)
    own = begins[posted]
    chosen, ends, _ = triggers(codes, own, weights, seed)
    keys = _keys(ends, seed)
    order = np.argsort(keys, kind="stable")
    sorted_keys, sorted_ends = keys[order], ends[order]
    is_first = np.ones(len(own), np.bool_)
    is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    if (~is_first[1:] & (sorted_ends[1:] != sorted_ends[:-1]).any(axis=1)).any():
        raise _ClashError
    heads = np.flatnonzero(is_first)
    counts = np.diff(np.append(heads, len(own))).astype(np.int64)
    posting = np.repeat(np.arange(len(heads)), counts)
    # A constant of one pattern may be a variable of another that must meet the same test.
    variables = np.zeros(len(heads), np.int32)
    np.bitwise_or.at(variables, posting, _variables(codes, own, chosen)[order])
    bound = np.empty(len(own), np.int32)
    bound[order] = variables[posting]
    steps, starts = programs(codes, own, weights, chosen, ends, bound)
    flags = _flags(codes, own, chosen)
    # A pattern whose trigger binds what need not be new is tried by itself.
    in_trie = (counts[posting] > long) & (flags[order] & ~FLAT_INJECTIVE == 0)
    trie_places = np.flatnonzero(in_trie)
    roots, root_of = np.unique(posting[trie_places], return_inverse=True)
    trie = Tries(order[trie_places], root_of.reshape(-1), len(roots), steps, starts)
    trie_starts = np.searchsorted(posting[trie_places], np.arange(len(heads) + 1))
    postings, where = _postings(
        order, posted.astype(np.int32), in_trie, heads, counts, sorted_ends[heads], variables,
        trie_starts, steps, starts, flags,
    )  # fmt: skip
    table, shift = _table(sorted_keys[heads], where)
    if shift < 0:
        raise _ClashError
    is_whole = proposed | (codes[begins + CODE_SELECTED] > 0)
    whole, whole_at = np.empty(0, np.int32), np.empty(0, np.int32)
    most = int(np.diff(starts).max(initial=0))
    if is_whole.any():
        whole, whole_at = wholes(codes, begins, weights, is_whole)
        most = max(most, int(whole[whole_at[is_whole] + WHOLE_STEPS].max()))
    sizes = np.zeros(8, np.int64)
    sizes[[SIZE_PATTERNS, SIZE_SHIFT, SIZE_SEED, SIZE_NODES, SIZE_STEPS]] = (
        len(begins), shift, seed, len(trie.nodes), most,
    )  # fmt: skip
    sizes[SIZE_WITHOUT_PIVOT] = int(((ends[:, 0] == 0) & (ends[:, 2] == 0)).sum())
    roles = _roles(codes, begins, ends, weights, negated)
    in_tries = posted[order[trie_places]].astype(np.int32)
    made = (
        sizes, table, postings, _shapes(ends, roles, properties), roles,
        _hints(sorted_ends[heads], roles), trie.nodes.reshape(-1),
        trie.links.reshape(-1), trie.tails.reshape(-1),
        in_tries[trie.listed], trie.ends, in_tries, whole, whole_at,
    )  # fmt: skip
    return dict(zip(NAMES, made, strict=True))


@kernel
def _keys(ends: Array, seed: Number) -> Array:
    keys = np.empty(len(ends), np.uint64)
    for pattern in range(len(ends)):
        keys[pattern] = key_of(ends[pattern, 0], ends[pattern, 1], ends[pattern, 2], seed)
    return keys


@kernel
def _flags(codes: Array, begins: Array, chosen: Array) -> Array:
    """What the search of a pattern has to know: which ends of its trigger need not be new …"""
    flags = np.zeros(len(begins), np.int32)
    for pattern in range(len(begins)):
        at = begins[pattern]
        said = codes[at + CODE_FLAGS]
        if codes[at + CODE_NOTS]:
            flags[pattern] = FLAT_NEGATES
        if not said & INJECTIVE:
            continue
        flags[pattern] |= FLAT_INJECTIVE
        if said & USES_HOME:
            flags[pattern] |= FLAT_USES_HOME
        block = at + FIRST_BLOCK
        edge = block + BLOCK + EDGE * chosen[pattern]
        first = block + BLOCK + EDGE * codes[block + BLOCK_EDGES]
        for mark in range(codes[block + BLOCK_MARKS]):
            if codes[first + 2 * mark + 1] == 2 * EXEMPT + 1:
                if codes[first + 2 * mark] == codes[edge]:
                    flags[pattern] |= FLAT_SUBJECT_FREE
                if codes[first + 2 * mark] == codes[edge + 2]:
                    flags[pattern] |= FLAT_OBJECT_FREE
        if codes[edge] >= 0:
            flags[pattern] |= FLAT_SUBJECT_FREE
        if codes[edge + 2] >= 0:
            flags[pattern] |= FLAT_OBJECT_FREE
    return flags


@kernel
def _variables(codes: Array, begins: Array, chosen: Array) -> Array:
    """Whether a trigger's subject is a variable (1), and its object another one (2)."""
    found = np.zeros(len(begins), np.int32)
    for pattern in range(len(begins)):
        edge = begins[pattern] + FIRST_BLOCK + BLOCK + EDGE * chosen[pattern]
        if codes[edge] < 0:
            found[pattern] |= 1
        if codes[edge + 2] < 0 and codes[edge + 2] != codes[edge]:
            found[pattern] |= 2
    return found


@kernel
def _roles(codes: Array, begins: Array, ends: Array, weights: Array, negated: Array) -> Array:
    """What each test is to the index."""
    roles = np.zeros(len(weights), np.uint8)
    for pattern in range(len(begins)):
        at = begins[pattern]
        block = at + FIRST_BLOCK
        for number in range(codes[at + CODE_NOTS] + 1):
            part = block + BLOCK
            for _ in range(codes[block + BLOCK_EDGES]):
                for end in range(0, EDGE, 2):
                    if codes[part + end] >= 0:
                        roles[codes[part + end]] |= IS_END | IS_ASKED
                part += EDGE
            for _ in range(codes[block + BLOCK_MARKS]):
                if codes[part + 1] & 1 == 0:
                    roles[codes[part + 1] >> 1] |= IS_ASKED
                part += MARK
            block += BLOCK + codes[block + BLOCK_LENGTH]
            if number == 0:
                block += codes[at + CODE_SELECTED]
    for test in negated:
        roles[test] |= IS_ASKED
    for pattern in range(len(ends)):
        for end in range(0, EDGE, 2):
            test = ends[pattern, end] - 1
            if test >= 0:
                roles[test] |= KEY_CONSTANT if weights[test] >= CONSTANT else KEY_CLASS
    return roles


@kernel
def _shapes(ends: Array, roles: Array, properties: Number) -> Array:
    """For each property which forms of keys there are."""
    shapes = np.zeros(properties, np.int64)
    for pattern in range(len(ends)):
        property = ends[pattern, 1]
        form = 0
        for end in range(0, EDGE, 2):
            form *= 3
            if ends[pattern, end] > 0:
                form += 1 if roles[ends[pattern, end] - 1] & KEY_CONSTANT else 2
        form += FORMS if property & DISTINCT else 0
        form += 2 * FORMS if property & LOOP else 0
        shapes[property & (LOOP - 1)] |= int64(1) << form
    return shapes


@kernel
def _hints(ends: Array, roles: Array) -> Array:
    """The words of all tests in keys: one for every two keys, or more."""
    words = 16
    while words < len(ends):
        words *= 2
    hints = np.zeros(words, np.uint64)
    for number in range(len(ends)):
        subject, object = ends[number, 0], ends[number, 2]
        bit = hint_bit(ends[number, 1] & (LOOP - 1))
        of_subject = roles[subject - 1] & (KEY_CONSTANT | KEY_CLASS) if subject else 0
        of_object = roles[object - 1] & (KEY_CONSTANT | KEY_CLASS) if object else 0
        if is_hint_of_object(of_subject, of_object):
            hints[hints_of(object, hints) + AS_OBJECT] |= uint64(1) << (bit ^ hint_bit(subject))
        elif of_subject:
            hints[hints_of(subject, hints) + AS_SUBJECT] |= uint64(1) << (bit ^ hint_bit(object))
    return hints


@kernel
def _table(keys: Array, where: Array) -> tuple[Array, Number]:
    """Open addressing: the lower half of a key, and its posting + 1; the slot is in the upper bits.

    The shift is −1 where two keys that a look-up passes have the same lower half.
    """
    bits = 4
    while (1 << bits) < 2 * len(keys) + 2:
        bits += 1
    shift = 64 - bits
    table = np.zeros(1 << bits, np.uint64)
    last = uint64((1 << bits) - 1)
    for place in range(len(keys)):
        key = keys[place]
        slot = key >> uint64(shift)
        while table[slot] != uint64(0):
            if (table[slot] >> uint64(32)) == (key & uint64(0xFFFFFFFF)):
                return table, -1
            slot = (slot + uint64(1)) & last
        table[slot] = (key << uint64(32)) | uint64(where[place] + 1)
    return table, shift


@inlined
def _is_plain(steps: Array, first: Number, last: Number) -> Number:
    """Whether all steps are ANDs of two words: no filter, no `not`, nothing that must be new."""
    for step in range(first, last):
        what = steps[step, 2]
        if what & PLACED or FILTER <= what & SLOT_MASK <= NEGATED:
            return False
    return True


@kernel
def _postings(
    order: Array,
    posted: Array,
    in_trie: Array,
    heads: Array,
    counts: Array,
    ends: Array,
    variables: Array,
    trie_starts: Array,
    steps: Array,
    starts: Array,
    flags: Array,
) -> tuple[Array, Array]:
    """The postings, and where each begins."""
    size = 0
    root = 0
    where = np.empty(len(heads), np.int64)
    for number in range(len(heads)):
        where[number] = size
        size += POSTING + (TRIE if trie_starts[number + 1] > trie_starts[number] else 0)
        for place in range(heads[number], heads[number] + counts[number]):
            if not in_trie[place]:
                pattern = order[place]
                size += FLAT + 3 * (starts[pattern + 1] - starts[pattern])
    found = np.zeros(size + 32, np.int32)
    for number in range(len(heads)):
        at = where[number]
        found[at] = ends[number, 0]
        found[at + 1] = ends[number, 1]
        found[at + 2] = ends[number, 2]
        found[at + 3] = variables[number]
        to = at + POSTING
        if trie_starts[number + 1] > trie_starts[number]:
            found[at + 3] |= HAS_TRIE
            found[to] = root
            found[to + 1] = trie_starts[number]
            found[to + 2] = trie_starts[number + 1]
            to += TRIE
            root += 1
        for place in range(heads[number], heads[number] + counts[number]):
            if in_trie[place]:
                continue
            pattern = order[place]
            first, last = starts[pattern], starts[pattern + 1]
            said = flags[pattern]
            if not said & FLAT_INJECTIVE and _is_plain(steps, first, last):
                said |= FLAT_PLAIN
            found[to] = said | ((last - first) << STEPS_SHIFT)
            found[to + 1] = posted[pattern]
            to += FLAT
            for step in range(first, last):
                for word in range(3):
                    found[to + word] = steps[step, word]
                to += 3
            found[at + 3] += 1 << COUNT_SHIFT
    return found, where
