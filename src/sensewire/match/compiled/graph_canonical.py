"""Codes that differ in the numbers of their variables and the order of their parts alone, made one.

Variables are told apart by colour refinement: a variable's colour is what the parts that name it
look like, refined until nothing changes. Where two still look the same, nothing is said: whoever
asks then names them in the way of `model/canonical.py`, which tries them all. (Two that differ, but
have equal hashes, count as the same; so no answer hangs on it.)

Cost: O(variables · parts), some microseconds.
"""

import numpy as np

from sensewire.match.compiled.graph_layout import (
    BLOCK,
    BLOCK_EDGES,
    BLOCK_JOINS,
    BLOCK_LENGTH,
    BLOCK_MARKS,
    CODE_NOTS,
    CODE_SELECTED,
    CODE_VARIABLES,
    EDGE,
    FIRST_BLOCK,
    JOIN,
    MARK,
    MOST_JOINED,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, kernel, uint64

_MOST_NOTS = 1
_OF_EDGE, _OF_MARK, _OF_JOIN = 3, 5, 7


@inlined
def _mixed(one: Number, other: Number) -> Number:
    made = (one ^ (other + uint64(0x9E3779B97F4A7C15))) * uint64(0xBF58476D1CE4E5B9)
    return made ^ (made >> uint64(29))


@inlined
def _looks(number: Number, colours: Array) -> Number:
    """What a part sees at one of its places: a colour, or a number that is the same for all."""
    if number < 0:
        return colours[-number - 1]
    return _mixed(uint64(number), uint64(1))


@kernel
def canonical(code: Array) -> tuple[Array, Number]:
    """The code with its variables numbered, and its parts sorted, by what they look like; and
    whether each variable looks like no other."""
    count = code[CODE_VARIABLES]
    nots = code[CODE_NOTS]
    made = code.copy()
    if nots > _MOST_NOTS or code[CODE_SELECTED]:
        return made, False
    colours = np.zeros(count, np.uint64)
    sums = np.zeros(count, np.uint64)
    classes = int64(1)
    while True:
        sums[:] = uint64(0)
        block = FIRST_BLOCK
        for number in range(nots + 1):
            at = block + BLOCK
            for _ in range(code[block + BLOCK_EDGES]):
                subject, property, object = code[at], code[at + 1], code[at + 2]
                edge_look = _mixed(uint64(_OF_EDGE + number), uint64(property))
                if subject == object:
                    edge_look = _mixed(edge_look, uint64(2))
                if subject < 0:
                    look = _mixed(_mixed(edge_look, uint64(11)), _looks(object, colours))
                    sums[-subject - 1] += look
                if object < 0:
                    look = _mixed(_mixed(edge_look, uint64(12)), _looks(subject, colours))
                    sums[-object - 1] += look
                at += EDGE
            for _ in range(code[block + BLOCK_MARKS]):
                look = _mixed(uint64(_OF_MARK + 16 * number), uint64(code[at + 1]))
                sums[-code[at] - 1] += look
                at += MARK
            for _ in range(code[block + BLOCK_JOINS]):
                whole = _mixed(uint64(_OF_JOIN + 16 * number), uint64(code[at]))
                for place in range(MOST_JOINED):
                    whole = _mixed(whole, _looks(code[at + 1 + place], colours))
                for place in range(MOST_JOINED):
                    if code[at + 1 + place] < 0:
                        sums[-code[at + 1 + place] - 1] += _mixed(whole, uint64(place))
                at += JOIN
            block += BLOCK + code[block + BLOCK_LENGTH]
        for variable in range(count):
            colours[variable] = _mixed(colours[variable], sums[variable])
        order = np.argsort(colours)
        known = classes
        classes = int64(count > 0)
        for place in range(1, count):
            if colours[order[place]] != colours[order[place - 1]]:
                classes += 1
        if classes >= count or classes <= known:
            break
    if classes < count:
        return made, False
    order = np.argsort(colours)
    name = np.empty(count, np.int32)
    for place in range(count):
        name[order[place]] = -place - 1
    block = FIRST_BLOCK
    for _ in range(nots + 1):
        at = block + BLOCK
        for width, kind in ((EDGE, BLOCK_EDGES), (MARK, BLOCK_MARKS), (JOIN, BLOCK_JOINS)):
            parts = code[block + kind]
            for part in range(parts):
                for word in range(width):
                    number = made[at + part * width + word]
                    # The second number of an edge and of a mark names no variable.
                    if number < 0:
                        made[at + part * width + word] = name[-number - 1]
            _sort(made, at, parts, width)
            at += parts * width
        block += BLOCK + code[block + BLOCK_LENGTH]
    return made, True


@inlined
def _sort(code: Array, begin: Number, parts: Number, width: Number) -> None:
    """Sort parts of some numbers each."""
    for last in range(1, parts):
        place = last
        while place > 0:
            one, other = begin + (place - 1) * width, begin + place * width
            is_less = False
            for word in range(width):
                if code[other + word] != code[one + word]:
                    is_less = code[other + word] < code[one + word]
                    break
            if not is_less:
                break
            for word in range(width):
                kept = code[one + word]
                code[one + word] = code[other + word]
                code[other + word] = kept
            place -= 1
