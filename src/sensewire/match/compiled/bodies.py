"""How the tests of one conjunction are laid out: two words beside the posting, the rest in the body.

The tests are taken in the order of how seldom they hold. Those that the pivot has decided are left
out; the next ones that have a word go beside the posting, and are done with if the word says all;
what remains is the body, or nothing: then passing the posting is a match.
"""

import numpy as np

from sensewire.match.compiled.jit import Array, inlined
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
    mode: int, left: int, right: int, exact: bool, begin: int, end: int,
    test: Array, note: Array, word: Array, order: Array,
) -> tuple[np.uint64, np.uint64, int]:  # fmt: skip
    """The words beside the posting, and how many tests are left for the body.

    They are the first rows of `order`: test, note.
    `exact`: whoever finds a list by rank has just this rank.
    """
    grid = mode == FINE or mode == COARSE
    decided = (mode == EQUAL and exact) or mode == CLASS or grid
    number = 0
    for i in range(begin, end):
        t = np.int64(test[i])
        about = note[t]
        if form_of(about) == ALWAYS or (decided and (t == left or t == right)):
            continue
        if mode == CELL and t == left:
            about = np.uint64(form_of(about))  # first: half of those who come by the cell fail it
        k = number
        while k > 0 and order[k - 1, 1] > about:
            order[k, 0] = order[k - 1, 0]
            order[k, 1] = order[k - 1, 1]
            k -= 1
        order[k, 0] = np.uint64(t)
        order[k, 1] = about
        number += 1
    first = second = np.uint64(NEUTRAL)
    if grid:
        mask = np.uint64(0xFFFF_FFFF)
        first = (word[left] & mask) | ((word[right] & mask) << np.uint64(32))
    free = 1 if grid else 2
    kept = 0
    for k in range(number):
        if free > 0:
            packed_word = word[order[k, 0]]
            if packed_word != np.uint64(0):
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
    number: int, order: Array, offsets: Array, start: int, overflow: Array
) -> tuple[int, int]:
    """The place behind the words, and the number of tests in the tail, marked in `overflow`."""
    place, tail = start, 0
    for k in range(number):
        form = form_of(order[k, 1])
        words = body_words(form)
        if form == NOTS:
            t = order[k, 0]
            words = offsets[t + np.uint64(1)] - offsets[t]
        overflow[k] = words < 0 or place + words - 1 > _LAST_PLACE
        if overflow[k]:
            tail += 1
        else:
            place += words
    return place, tail


@inlined
def body_size(number: int, order: Array, offsets: Array, overflow: Array) -> int:
    """How many words the body takes; 0 for a conjunction without one."""
    if number == 0:
        return 0
    place, tail = measure(number, order, offsets, 1, overflow)
    if tail > 0:
        place, tail = measure(number, order, offsets, 2, overflow)
    return place + 2 * tail


@inlined
def write_body(
    conjunction: int, number: int, order: Array, word: Array, column: Array,
    slot: Array, negated: Array, offsets: Array, low: Array, high: Array,
    interval_place: Array, overflow: Array, body: Array, at: int,
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
        t = np.int64(order[k, 0])
        form = form_of(order[k, 1])
        begin, stop = offsets[t], offsets[t + 1]
        where = np.int64(column[slot[t]])
        if overflow[k]:
            what = np.uint64(slot[t])
            if negated[t]:
                what |= np.uint64(NEGATED)
            if stop - begin == 1:
                which = np.uint64(low[begin]) | (np.uint64(high[begin]) << np.uint64(32))
            else:
                what |= np.uint64(MANY)
                which = np.uint64(interval_place[t]) | (np.uint64(stop - begin) << np.uint64(32))
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
                body[at + place] = outside_word(np.int64(low[i]), np.int64(high[i]), where)
                place += 1
    header = np.uint64(conjunction)
    header |= np.uint64(ranges) << np.uint64(32)
    header |= np.uint64(sets) << np.uint64(40)
    header |= np.uint64(pairs) << np.uint64(48)
    if tail > 0:
        body[at + 1] = np.uint64(tail)
        header |= np.uint64(place) << np.uint64(56)
    body[at] = header
