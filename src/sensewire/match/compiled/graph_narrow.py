"""Matching graphs of up to 64 vertices: sets of vertices are single words.

    facts ──> vertices, numbered as they come ──> members of each vertex test, as bits
          └─> adjacency of each property, as bits ──> keys ──> postings ──> searches

An event that does not fit is left to `graph_wide`. Everything that an event wrote is cleared again
after it, so that an event costs what it holds, however large the index is.
"""

from sensewire.match.compiled.graph_bits import read_ahead
from sensewire.match.compiled.graph_build import SIZE_PATTERNS, SIZE_SEED, SIZE_SHIFT
from sensewire.match.compiled.graph_layout import (
    ABSENT,
    AS_CLASS,
    AS_CLASS_END,
    AS_OBJECT,
    AS_SUBJECT,
    COUNT_SHIFT,
    DISTINCT,
    DOUBTFUL,
    EVERY,
    FIRST_ROWS,
    FORMS,
    HAS_TRIE,
    HOME,
    IS_END,
    IS_LITERAL,
    IS_TYPE,
    KEY_CLASS,
    KEY_CONSTANT,
    LOOP,
    MOST_UNIONS,
    OVER_BUDGET,
    OWN,
    OWN_END,
    PATTERN_MASK,
    ROW,
    ROW_FLAGS,
    SELECTS,
    SERVES,
    SERVES_END,
    SLOTS,
    UNIONS,
    VERTICES,
    WHOLE_SELECTED,
    hint_bit,
    hints_of,
    is_hint_of_object,
    key_of,
)
from sensewire.match.compiled.graph_room import room_at, tables_at
from sensewire.match.compiled.graph_run import MOST_KEYS, MOST_LISTED
from sensewire.match.compiled.graph_search import list_rows, search_flat, search_whole
from sensewire.match.compiled.graph_trie_search import search_trie
from sensewire.match.compiled.jit import Array, Number, inlined, int32, int64, loop, uint64

MOST_FACTS = 4_096
MOST_SERVED = 2 * MOST_FACTS
"""Facts and the properties that each serves, as pairs."""
# Where things stand in the scratch of numbers
NODES, SUBJECTS = 0, 128
OBJECTS = SUBJECTS + MOST_FACTS
PRESENT = OBJECTS + MOST_FACTS
TOUCHED = PRESENT + MOST_FACTS
HEADS = TOUCHED + MOST_LISTED
OTHER_HEADS = HEADS + VERTICES
NEXT = OTHER_HEADS + VERTICES
LISTED = NEXT + MOST_LISTED
HINT_BIT = LISTED + MOST_LISTED
KEY_FACT = HINT_BIT + MOST_LISTED
KEY_SUBJECT = KEY_FACT + MOST_KEYS
KEY_PROPERTY = KEY_SUBJECT + MOST_KEYS
KEY_OBJECT = KEY_PROPERTY + MOST_KEYS
HITS = KEY_OBJECT + MOST_KEYS
HIT_KEYS = HITS + MOST_KEYS
HITS_SEEN = HIT_KEYS + MOST_KEYS
SEEN_BITS = 11
TYPED = HITS_SEEN + (1 << SEEN_BITS)
SERVED_FACT = TYPED + MOST_FACTS
SERVED_ASKED = SERVED_FACT + MOST_SERVED
SERVED_FORTH = SERVED_ASKED + MOST_SERVED
SERVED_BACK = SERVED_FORTH + MOST_SERVED
INTS = SERVED_BACK + MOST_SERVED
# In the scratch of words: keys, the hints of listed tests, the frames of searches
HINTS = MOST_KEYS
NOT_NARROW = -1
EVERY_KIND = sum(1 << (FORMS * kind) for kind in range(4))
OF_OBJECT = 0b110 * EVERY_KIND
OF_SUBJECT = 0b111 * EVERY_KIND
"""Forms of keys: one; those with a test for the object alone; those with the same subject."""
COUNTS = 6
MET_VERTICES, MET_TOUCHED, MET_PRESENT, MET_UNIONS, MET_LITERALS, MET_SERVED = range(COUNTS)
"""What an event came to."""


@inlined
def _met(test: Number, vertex: Number, listed: Number, touched: Number, roles: Array,
         hints: Array, place: Array, members: Array, ints: Array, longs: Array
         ) -> tuple[Number, Number]:  # fmt: skip
    """A vertex meets a test; how many pairs are listed, and tests touched, after that.

    Listed are the tests that stand in keys or at the ends of edges: constants of keys, and others.
    """
    role = roles[test] if test < len(roles) else 0
    operand = uint64(SLOTS + test)
    bit = uint64(1) << uint64(vertex)
    known = members[operand]
    if role and known & bit == uint64(0):
        if known == uint64(0):
            ints[TOUCHED + touched] = test
            touched += 1
            place[operand] = vertex
        elif role & IS_END:
            place[operand] = UNIONS
        members[operand] = known | bit
        if role & (KEY_CONSTANT | KEY_CLASS | IS_END):
            ints[LISTED + listed] = test
            head = HEADS + vertex if role & KEY_CONSTANT else OTHER_HEADS + vertex
            ints[NEXT + listed] = ints[head]
            ints[head] = listed
            at = hints_of(test + 1, hints)
            ints[HINT_BIT + listed] = hint_bit(test + 1)
            in_keys = role & (KEY_CONSTANT | KEY_CLASS)
            for end in range(2):
                longs[HINTS + 2 * listed + end] = hints[at + uint64(end)] if in_keys else uint64(0)
            listed += 1
    return listed, touched


@inlined
def _prepare(
    subject: Array, property: Array, object: Array, first: Number, last: Number, home: Number,
    row_of: Array, rows: Array, lists: Array, roles: Array, hints: Array,
    local: Array, place: Array, members: Array, rows_of: Array, adjacent: Array, ints: Array,
    longs: Array, counts: Array,
) -> Number:  # fmt: skip
    """The event as bits; the number of its vertices, or `NOT_NARROW`. `counts` says what to
    clear."""
    vertices, touched, present, listed, literals = 0, 0, 0, 0, uint64(0)
    typed, served = 0, 0
    is_narrow = last - first <= MOST_FACTS
    facts = last - first if is_narrow else 0
    for fact in range(facts):
        row = row_of[property[first + fact]] * ROW
        ints[SUBJECTS + fact] = -1
        serves = rows[row + SERVES] < rows[row + SERVES_END]
        if rows[row + ROW_FLAGS] & IS_TYPE:
            ints[TYPED + typed] = fact
            typed += 1
        elif not serves:
            continue
        ints[OBJECTS + fact] = -1
        for end in range(2 if serves else 1):  # a class that nobody leads to is no vertex
            code = subject[first + fact] if end == 0 else object[first + fact]
            vertex = local[code]
            if vertex < 0:
                if vertices == VERTICES:
                    is_narrow = False
                    break
                vertex = vertices
                local[code] = vertex
                ints[NODES + vertex] = code
                ints[HEADS + vertex] = -1
                ints[OTHER_HEADS + vertex] = -1
                if rows[row_of[code] * ROW + ROW_FLAGS] & IS_LITERAL:
                    literals |= uint64(1) << uint64(vertex)
                vertices += 1
            if end == 0:
                ints[SUBJECTS + fact] = vertex
            else:
                ints[OBJECTS + fact] = vertex
        if not is_narrow:
            break
    unions = 0
    if is_narrow:
        if home >= 0 and local[home] >= 0:
            listed, touched = _met(
                HOME, local[home], listed, touched, roles, hints, place, members, ints, longs
            )
        for vertex in range(vertices):
            row = row_of[ints[NODES + vertex]] * ROW
            begin, end = rows[row + OWN], rows[row + OWN_END]
            if max(listed, touched) + end - begin > MOST_LISTED:
                is_narrow = False
                break
            for at in range(begin, end):
                listed, touched = _met(
                    lists[at], vertex, listed, touched, roles, hints, place, members, ints, longs
                )
    if is_narrow:
        for number in range(typed):
            fact = int64(ints[TYPED + number])
            vertex = ints[SUBJECTS + fact]
            row = row_of[object[first + fact]] * ROW
            begin, end = rows[row + AS_CLASS], rows[row + AS_CLASS_END]
            if max(listed, touched) + end - begin > MOST_LISTED:
                is_narrow = False
                break
            for at in range(begin, end):
                listed, touched = _met(
                    lists[at], vertex, listed, touched, roles, hints, place, members, ints, longs
                )
        for number in range(touched):
            operand = uint64(SLOTS + ints[TOUCHED + number])
            if place[operand] == UNIONS:
                if unions == MOST_UNIONS:
                    is_narrow = False
                    break
                place[operand] = UNIONS + unions
                unions += 1
    counts[MET_VERTICES] = vertices
    counts[MET_TOUCHED] = touched
    counts[MET_UNIONS] = unions
    counts[MET_PRESENT] = 0
    counts[MET_SERVED] = 0
    counts[MET_LITERALS] = int64(literals)
    if not is_narrow:
        return NOT_NARROW
    stride = UNIONS + unions
    for fact in range(facts):
        if ints[SUBJECTS + fact] < 0:
            continue
        row = row_of[property[first + fact]] * ROW
        x, y = uint64(ints[SUBJECTS + fact]), uint64(ints[OBJECTS + fact])
        for at in range(rows[row + SERVES], rows[row + SERVES_END]):
            asked = 2 * lists[at]
            counts[MET_PRESENT], counts[MET_SERVED] = present, served
            if served == MOST_SERVED:
                return NOT_NARROW
            if rows_of[asked] == 0:
                if FIRST_ROWS + 2 * (present + 1) * stride > len(adjacent):
                    return NOT_NARROW
                rows_of[asked] = FIRST_ROWS + 2 * present * stride
                rows_of[asked + 1] = FIRST_ROWS + (2 * present + 1) * stride
                ints[PRESENT + present] = asked
                present += 1
            forth, back = uint64(rows_of[asked]), uint64(rows_of[asked + 1])
            ints[SERVED_FACT + served] = fact
            ints[SERVED_ASKED + served] = lists[at]
            ints[SERVED_FORTH + served] = int32(forth + x)
            ints[SERVED_BACK + served] = int32(back + y)
            served += 1
            adjacent[forth + x] |= uint64(1) << y
            adjacent[back + y] |= uint64(1) << x
            adjacent[forth + uint64(EVERY)] |= uint64(1) << x
            if x == y:
                adjacent[back + uint64(EVERY)] |= uint64(1) << x
            if unions:
                _unite(forth, int64(x), y, place, adjacent, ints)
                _unite(back, int64(y), x, place, adjacent, ints)
    counts[MET_PRESENT], counts[MET_SERVED] = present, served
    return vertices


@inlined
def _unite(row: Number, vertex: Number, other: Number, place: Array, adjacent: Array, ints: Array
           ) -> None:  # fmt: skip
    """Add an edge to the unions of the tests that its vertex meets."""
    for head in range(HEADS, NEXT, VERTICES):
        pair = ints[head + vertex]
        while pair >= 0:
            row_of_test = place[uint64(SLOTS + ints[LISTED + pair])]
            if row_of_test >= UNIONS:
                adjacent[row + uint64(row_of_test)] |= uint64(1) << other
            pair = ints[NEXT + pair]


@inlined
def _clear(
    local: Array, place: Array, members: Array, rows_of: Array, adjacent: Array, ints: Array,
    counts: Array,
) -> None:  # fmt: skip
    """As if the event had never been."""
    if counts[MET_UNIONS]:
        stride = UNIONS + counts[MET_UNIONS]
        for at in range(FIRST_ROWS, FIRST_ROWS + 2 * counts[MET_PRESENT] * stride):
            adjacent[at] = uint64(0)
    for number in range(counts[MET_SERVED]):
        adjacent[uint64(ints[SERVED_FORTH + number])] = uint64(0)
        adjacent[uint64(ints[SERVED_BACK + number])] = uint64(0)
    for number in range(counts[MET_PRESENT]):
        asked = ints[PRESENT + number]
        for direction in range(2):
            adjacent[uint64(rows_of[asked + direction]) + uint64(EVERY)] = uint64(0)
            rows_of[asked + direction] = 0
    for number in range(counts[MET_TOUCHED]):
        operand = uint64(SLOTS + ints[TOUCHED + number])
        place[operand] = ABSENT
        members[operand] = uint64(0)
    for vertex in range(counts[MET_VERTICES]):
        local[ints[NODES + vertex]] = -1


@inlined
def _key(
    subject_test: Number, asked: Number, object_test: Number, form: Number, shape: Number,
    is_loop: Number, fact: Number, seed: Number, ints: Array, longs: Array, count: Number,
) -> Number:  # fmt: skip
    """Note the keys of two ends and a property, if there are such; how many there are then."""
    for kind in range(4 if is_loop else 2):
        if (shape >> (form + FORMS * kind)) & 1:
            said = asked | (DISTINCT if kind & 1 else 0) | (LOOP if kind & 2 else 0)
            if count < MOST_KEYS:
                longs[count] = key_of(subject_test, said, object_test, seed)
                ints[KEY_FACT + count] = fact
                ints[KEY_SUBJECT + count] = subject_test
                ints[KEY_PROPERTY + count] = said
                ints[KEY_OBJECT + count] = object_test
            count += 1
    return count


@inlined
def _keys(served: Number, shapes: Array, seed: Number, ints: Array, longs: Array) -> Number:
    """The keys that the event's facts are looked up under; `NOT_NARROW` where they are too many."""
    count = 0
    for number in range(served):
        fact, asked = int64(ints[SERVED_FACT + number]), int64(ints[SERVED_ASKED + number])
        shape = shapes[asked] if asked < len(shapes) else int64(0)
        if shape == 0:
            continue
        vertex, other = ints[SUBJECTS + fact], ints[OBJECTS + fact]
        loops = vertex == other
        bit = hint_bit(asked)
        if shape & EVERY_KIND:
            count = _key(0, asked, 0, 0, shape, loops, fact, seed, ints, longs, count)
        for of_two in range(1, 3):  # a constant, a class
            if shape & OF_OBJECT == 0:
                break
            two = ints[HEADS + VERTICES * (of_two - 1) + other]
            while two >= 0:
                if (longs[HINTS + 2 * two + AS_OBJECT] >> bit) & uint64(1):
                    count = _key(
                        0, asked, ints[LISTED + two] + 1, of_two, shape, loops, fact, seed,
                        ints, longs, count,
                    )  # fmt: skip
                two = ints[NEXT + two]
        for of_one in range(1, 3):
            form = 3 * of_one
            if (shape >> form) & OF_SUBJECT == 0:
                continue
            one = ints[HEADS + VERTICES * (of_one - 1) + vertex]
            while one >= 0:
                word, test = longs[HINTS + 2 * one + AS_SUBJECT], ints[LISTED + one] + 1
                if (word >> bit) & uint64(1):
                    count = _key(test, asked, 0, form, shape, loops, fact, seed, ints, longs, count)
                own_bit = bit ^ uint64(ints[HINT_BIT + one])
                for of_two in range(1, 3):
                    if (shape >> (form + of_two)) & EVERY_KIND == 0:
                        continue
                    two = ints[HEADS + VERTICES * (of_two - 1) + other]
                    while two >= 0:
                        if is_hint_of_object(of_one, of_two):
                            hint = longs[HINTS + 2 * two + AS_OBJECT] >> own_bit
                        else:
                            hint = word >> (bit ^ uint64(ints[HINT_BIT + two]))
                        if hint & uint64(1):
                            count = _key(
                                test, asked, ints[LISTED + two] + 1, form + of_two, shape,
                                loops, fact, seed, ints, longs, count,
                            )  # fmt: skip
                        two = ints[NEXT + two]
                one = ints[NEXT + one]
        if count > MOST_KEYS:
            return NOT_NARROW
    return count


@inlined
def _seen_at(posting: Number) -> Number:
    """Where it is noted that an event has come to a posting; others may stand there too."""
    return uint64(HITS_SEEN) + (
        (uint64(posting) * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - SEEN_BITS)
    )


@inlined
def _hits(
    table: Array, postings: Array, shift: Number, count: Number, now: Number, ints: Array,
    longs: Array,
) -> Number:  # fmt: skip
    """The postings under the keys; all that lies far apart is asked for before any is read.

    What is seen of a posting is twice the event's stamp, and one more if it came to it again.
    """
    last, by = uint64(len(table) - 1), uint64(shift)
    for number in range(count):
        read_ahead(table, int64(longs[number] >> by))
    hits = 0
    for number in range(count):
        key = longs[number]
        slot = key >> by
        found = table[slot]
        while found != uint64(0) and (found >> uint64(32)) != (key & uint64(0xFFFFFFFF)):
            slot = (slot + uint64(1)) & last
            found = table[slot]
        ints[HITS + hits] = int32(found & uint64(0xFFFFFFFF)) - 1
        ints[HIT_KEYS + hits] = number
        hits += 1 if found != uint64(0) else 0
    for hit in range(hits):
        read_ahead(postings, int64(ints[HITS + hit]))
        read_ahead(postings, int64(ints[HITS + hit]) + 16)
    kept = 0
    for hit in range(hits):
        at, number = ints[HITS + hit], ints[HIT_KEYS + hit]
        is_it = (
            postings[at] == ints[KEY_SUBJECT + number]
            and postings[at + 1] == ints[KEY_PROPERTY + number]
            and postings[at + 2] == ints[KEY_OBJECT + number]
        )
        ints[HITS + kept] = at
        ints[HIT_KEYS + kept] = ints[KEY_FACT + number]
        kept += 1 if is_it else 0
        if is_it:
            seen = _seen_at(at)
            ints[seen] = 2 * now + (1 if ints[seen] >> 1 == now else 0)
    return kept


@loop
def match_narrow(
    tables: Array, written_room: Array,
    subject: Array, property: Array, object: Array, offsets: Array, homes: Array, row_of: Array,
    rows: Array, lists: Array, numbers: Array, filters: Array, bounds: Array,
    proposed: Array, proposed_until: Array, begin: Number, end: Number, budget: Number,
    stamp: Number,
) -> tuple[Number, Number, Number, Number, Number]:  # fmt: skip
    """Match the events from `begin` on; how many pairs are filled, the event that it stopped before
    (for want of room), how many were left out, which `over` then lists, how many rows are listed,
    and what pairs say beside their patterns."""
    index, own = tables_at(tables), room_at(written_room)
    sizes, postings, wholes, whole_at = index.sizes, index.postings, index.wholes, index.whole_at
    ints, longs, counts = own.ints, own.longs, own.counts
    out_event, out_place = own.out_event, own.out_place
    filled, listed_rows, pairs_say = 0, 0, 0
    left = 0
    room = len(out_place)
    for event in range(begin, end):
        if filled + sizes[SIZE_PATTERNS] > room:
            return filled, event, left, listed_rows, pairs_say
        first, last = offsets[event], offsets[event + 1]
        vertices = _prepare(
            subject, property, object, first, last, homes[event], row_of, rows, lists,
            index.roles, index.hints, own.local, own.place, own.members, own.rows_of, own.adjacent,
            ints, longs, counts,
        )  # fmt: skip
        literals = uint64(counts[MET_LITERALS])
        count = NOT_NARROW
        if vertices >= 0:
            count = _keys(counts[MET_SERVED], index.shapes, sizes[SIZE_SEED], ints, longs)
        if count < 0:
            own.over[left] = event
            left += 1
            _clear(own.local, own.place, own.members, own.rows_of, own.adjacent, ints, counts)
            continue
        now = stamp + event - begin
        hits = _hits(index.table, postings, sizes[SIZE_SHIFT], count, now, ints, longs)
        before = filled
        for hit in range(hits):
            at, fact = ints[HITS + hit], ints[HIT_KEYS + hit]
            x, y = ints[SUBJECTS + fact], ints[OBJECTS + fact]
            if postings[at + 3] >> COUNT_SHIFT:
                filled = search_flat(
                    at, x, y, postings, own, literals, row_of, rows, numbers, filters,
                    bounds, ints[_seen_at(at)] & 1, now, budget, filled,
                )  # fmt: skip
            if postings[at + 3] & HAS_TRIE:
                filled = search_trie(
                    at, x, y, tables, written_room, literals, row_of, rows, numbers, filters,
                    bounds, now, budget, filled,
                )  # fmt: skip
        if len(proposed_until):
            for proposal in range(proposed_until[event], proposed_until[event + 1]):
                if own.stamps[proposed[proposal]] != now:
                    filled = search_whole(
                        proposed[proposal], tables, written_room, literals, row_of, rows, numbers,
                        filters, bounds, now, budget, filled,
                    )  # fmt: skip
        is_full = False
        if len(whole_at):
            rows_before = listed_rows
            for pair in range(before, filled):
                at = int64(whole_at[out_place[pair] & PATTERN_MASK])
                is_sure = not out_place[pair] & (DOUBTFUL | OVER_BUDGET)
                if at >= 0 and wholes[at + WHOLE_SELECTED] and is_sure:
                    out_place[pair] |= SELECTS
                    made = list_rows(
                        pair, event, tables, written_room, literals, row_of, rows, numbers,
                        filters, bounds, budget, listed_rows,
                    )  # fmt: skip
                    if made < 0:
                        is_full = True
                        break
                    listed_rows = made
            if is_full:  # as if the event had not been tried
                listed_rows = rows_before
                filled = before
        for pair in range(before, filled):
            out_event[pair] = event
            pairs_say |= out_place[pair] & ~PATTERN_MASK
        _clear(own.local, own.place, own.members, own.rows_of, own.adjacent, ints, counts)
        if is_full:
            return filled, event, left, listed_rows, pairs_say
    return filled, end, left, listed_rows, pairs_say
