"""Whether one edge alone refuses a pattern whose search had no end.

A pattern has no solution in an event where none of its facts fits one of the edges, with all that
is asked of the edge's vertices. This is looked at only where a search took too many steps: what is
refused so is no failure.

Cost: O(edges · facts), and the classes of the facts' vertices.
"""

from sensewire.match.compiled.graph_filters import NO, within
from sensewire.match.compiled.graph_layout import (
    AS_CLASS,
    AS_CLASS_END,
    BLOCK,
    BLOCK_EDGES,
    BLOCK_MARKS,
    EDGE,
    EXEMPT,
    FILTER_WORDS,
    FIRST_BLOCK,
    HOME,
    IS_TYPE,
    MARK,
    NOT_TEST,
    OWN,
    OWN_END,
    ROW,
    ROW_FLAGS,
    SERVES,
    SERVES_END,
)
from sensewire.match.compiled.jit import Array, Number, inlined, loop


@inlined
def _lists(test: Number, begin: Number, end: Number, lists: Array) -> Number:
    at = begin
    while at < end and lists[at] != test:
        at += 1
    return at < end


@loop
def _meets(
    test: Number, vertex: Number, subject: Array, property: Array, object: Array, first: Number,
    last: Number, home: Number, row_of: Array, rows: Array, lists: Array,
) -> Number:  # fmt: skip
    """Whether a vertex, as a code, meets a test."""
    if test == HOME:
        return vertex == home
    row = row_of[vertex] * ROW
    if _lists(test, rows[row + OWN], rows[row + OWN_END], lists):
        return True
    for fact in range(first, last):
        if subject[fact] == vertex and rows[row_of[property[fact]] * ROW + ROW_FLAGS] & IS_TYPE:
            row = row_of[object[fact]] * ROW
            if _lists(test, rows[row + AS_CLASS], rows[row + AS_CLASS_END], lists):
                return True
    return False


@loop
def _fits(
    codes: Array, block: Number, end: Number, vertex: Number, subject: Array, property: Array,
    object: Array, first: Number, last: Number, home: Number, row_of: Array, rows: Array,
    lists: Array, numbers: Array, filters: Array, bounds: Array,
) -> Number:  # fmt: skip
    """Whether an end of an edge may stand for a vertex, as a code."""
    if end >= 0:
        return _meets(
            end, vertex, subject, property, object, first, last, home, row_of, rows, lists
        )
    mark_at = block + BLOCK + EDGE * codes[block + BLOCK_EDGES]
    for mark in range(codes[block + BLOCK_MARKS]):
        what = codes[mark_at + MARK * mark + 1]
        if codes[mark_at + MARK * mark] != end or what == 2 * EXEMPT + 1:
            continue
        number = what >> 1
        if what & 1 and filters[FILTER_WORDS * number] != NOT_TEST:
            verdict = within(
                filters[FILTER_WORDS * number], filters[FILTER_WORDS * number + 2], number,
                row_of[vertex], rows, numbers, bounds,
            )  # fmt: skip
            if verdict == NO:
                return False
            continue
        test = filters[FILTER_WORDS * number + 1] if what & 1 else number
        meets = _meets(
            test, vertex, subject, property, object, first, last, home, row_of, rows, lists
        )
        if meets == (what & 1):
            return False
    return True


@loop
def is_refused(
    codes: Array, at: Number, subject: Array, property: Array, object: Array, first: Number,
    last: Number, home: Number, row_of: Array, rows: Array, lists: Array, numbers: Array,
    filters: Array, bounds: Array,
) -> Number:  # fmt: skip
    """Whether some edge of a coded pattern fits none of an event's facts."""
    block = at + FIRST_BLOCK
    for edge in range(codes[block + BLOCK_EDGES]):
        place = block + BLOCK + EDGE * edge
        one, asked, other = codes[place], codes[place + 1], codes[place + 2]
        is_fitting = False
        for fact in range(first, last):
            row = row_of[property[fact]] * ROW
            if not _lists(asked, rows[row + SERVES], rows[row + SERVES_END], lists):
                continue
            x, y = subject[fact], object[fact]
            if one < 0 and one == other and x != y:
                continue
            is_fitting = _fits(
                codes, block, one, x, subject, property, object, first, last, home, row_of, rows,
                lists, numbers, filters, bounds,
            ) and _fits(
                codes, block, other, y, subject, property, object, first, last, home, row_of, rows,
                lists, numbers, filters, bounds,
            )  # fmt: skip
            if is_fitting:
                break
        if not is_fitting:
            return True
    return False
