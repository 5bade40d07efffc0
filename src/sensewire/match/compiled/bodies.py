"""How the tests of a conjunction are laid out: two words beside the posting, a body for the rest.

The tests are taken in the order of how seldom they hold. Those that the pivot has decided are left
out; the next ones that have a word go beside the posting, and are done with if the word says all;
what remains is the body, or nothing: then passing the posting is a match.
"""

from sensewire.match.compiled.jit import Array, Number, inlined, int64, uint64
from sensewire.match.compiled.layout import MANY, NEGATED, NEUTRAL
from sensewire.match.compiled.packing import (
    ALWAYS,
    NOTS,
    SEXTETS,
    TRIPLES,
    WORD,
    body_words,
    form_of,
    outside_word,
    set_word,
)

EQUAL, CLASS, FINE, COARSE, CELL, EVERY, NOTHING = 0, 1, 2, 3, 4, 5, 6
"""How a conjunction is posted; see `pivots`."""
_LAST_PLACE = 7


@inlined
def arrange(
    mode: Number, left: Number, right: Number, exact: Number, begin: Number, end: Number,
    test: Array, note: Array, word: Array, order: Array,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """The words beside the posting, and how many tests are left for the body.

    They are the first rows of `order`: test, note.
    `exact`: whoever finds a list by rank has just this rank.
    """
    grid = mode in (FINE, COARSE)
    decided = (mode == EQUAL and exact) or mode == CLASS or grid
    number = 0
    for i in range(begin, end):
        t = int64(test[i])
        about = note[t]
        if form_of(about) == ALWAYS or (decided and t in (left, right)):
            continue
        if mode == CELL and t == left:
            about = uint64(form_of(about))  # first: half of those who come by the cell fail it
        k = number
        while k > 0 and order[k - 1, 1] > about:
            order[k, 0] = order[k - 1, 0]
            order[k, 1] = order[k - 1, 1]
            k -= 1
        order[k, 0] = uint64(t)
        order[k, 1] = about
        number += 1
    first = second = uint64(NEUTRAL)
    if grid:
        mask = uint64(0xFFFF_FFFF)
        first = (word[left] & mask) | ((word[right] & mask) << uint64(32))
    free = 1 if grid else 2
    kept = 0
    for k in range(number):
        if free > 0:
            packed_word = word[order[k, 0]]
            if packed_word != uint64(0):
                if free == 2:
                    first = packed_word
                else:
                    second = packed_word
                free -= 1
                if form_of(order[k, 1]) == WORD:
                    continue
        order[kept, 0] = order[k, 0]
        order[kept, 1] = order[k, 1]
        kept += 1
    return first, second, kept


@inlined
def measure(
    number: Number, order: Array, offsets: Array, start: Number, overflow: Array
) -> tuple[Number, Number]:
    """The place behind the words, and the number of tests in the tail, marked in `overflow`."""
    place, tail = start, 0
    for k in range(number):
        form = form_of(order[k, 1])
        words = body_words(form)
        if form == NOTS:
            t = order[k, 0]
            words = offsets[t + uint64(1)] - offsets[t]
        overflow[k] = words < 0 or place + words - 1 > _LAST_PLACE
        if overflow[k]:
            tail += 1
        else:
            place += words
    return place, tail


@inlined
def body_size(number: Number, order: Array, offsets: Array, overflow: Array) -> Number:
    """How many words the body takes; 0 for a conjunction without one."""
    if number == 0:
        return 0
    place, tail = measure(number, order, offsets, 1, overflow)
    if tail > 0:
        place, tail = measure(number, order, offsets, 2, overflow)
    return place + 2 * tail


@inlined
def write_body(
    conjunction: Number, number: Number, order: Array, word: Array, column: Array,
    slot: Array, negated: Array, offsets: Array, low: Array, high: Array,
    interval_place: Array, overflow: Array, body: Array, at: Number,
) -> None:  # fmt: skip
    """Write the body of a conjunction at place `at`."""
    start = 1
    place, tail = measure(number, order, offsets, start, overflow)
    if tail > 0:
        start = 2
        place, tail = measure(number, order, offsets, start, overflow)
    ranges, sets, pairs = 0, 0, 0
    end = place
    place = start
    for k in range(number):
        t = int64(order[k, 0])
        form = form_of(order[k, 1])
        begin, stop = offsets[t], offsets[t + 1]
        where = int64(column[slot[t]])
        if overflow[k]:
            what = uint64(slot[t])
            if negated[t]:
                what |= uint64(NEGATED)
            if stop - begin == 1:
                which = uint64(low[begin]) | (uint64(high[begin]) << uint64(32))
            else:
                what |= uint64(MANY)
                which = uint64(interval_place[t]) | (uint64(stop - begin) << uint64(32))
            body[at + end] = what
            body[at + end + 1] = which
            end += 2
        elif form == WORD:
            ranges |= 1 << place
            body[at + place] = word[t]
            place += 1
        elif form == TRIPLES:
            sets |= 1 << place
            body[at + place] = set_word(low, high, begin, stop, where, 0)
            place += 1
        elif form == SEXTETS:
            pairs |= 1 << place
            body[at + place] = set_word(low, high, begin, stop, where, 0)
            body[at + place + 1] = set_word(low, high, begin, stop, where, 3)
            place += 2
        elif form == NOTS:
            for i in range(begin, stop):
                ranges |= 1 << place
                if low[i] != high[i]:
                    sets |= 1 << place
                body[at + place] = outside_word(int64(low[i]), int64(high[i]), where)
                place += 1
    header = uint64(conjunction)
    header |= uint64(ranges) << uint64(32)
    header |= uint64(sets) << uint64(40)
    header |= uint64(pairs) << uint64(48)
    if tail > 0:
        body[at + 1] = uint64(tail)
        header |= uint64(place) << uint64(56)
    body[at] = header
