"""What no vertex test can say of a vertex: that it does not meet one, or where its value lies.

Numbers and instants are compared as doubles. Rounding keeps their order, so that doubles that
differ decide; where they are equal and one of them is rounded, the answer is MAYBE, and whoever
matches is judged once more.
"""

from sensewire.match.compiled.graph_layout import (
    FILTER_WORDS,
    HIGH_OPEN,
    HIGH_ROUNDED,
    INSTANT_ROUNDED,
    IS_DOUBLE,
    IS_NUMBER,
    IS_SINGLE,
    LOW_OPEN,
    LOW_ROUNDED,
    NOT_TEST,
    OF_NUMBER,
    ROUNDED,
    ROW,
    SLOTS,
    STRICT,
    VALUE_FLAGS,
)
from sensewire.match.compiled.jit import Array, Number, inlined, uint64

NO, YES, MAYBE = 0, 1, 2
OVER = 3
"""A search that was given up."""


@inlined
def passed(
    filter: Number, vertex: Number, nodes: Array, row_of: Array, rows: Array, numbers: Array,
    filters: Array, bounds: Array, members: Array,
) -> Number:  # fmt: skip
    """Whether a vertex passes a filter."""
    at = FILTER_WORDS * filter
    kind, flags = filters[at], filters[at + 2]
    if kind == NOT_TEST:
        held = (members[uint64(SLOTS + filters[at + 1])] >> uint64(vertex)) & uint64(1)
        return NO if held else YES
    return within(kind, flags, filter, row_of[nodes[vertex]], rows, numbers, bounds)


@inlined
def within(
    kind: Number, flags: Number, filter: Number, row: Number, rows: Array, numbers: Array,
    bounds: Array,
) -> Number:  # fmt: skip
    """Whether the number or instant of a term lies between bounds."""
    known = rows[ROW * row + VALUE_FLAGS]
    verdict = YES
    value = numbers[2 * row + (0 if kind == OF_NUMBER else 1)]
    is_rounded = known & (ROUNDED if kind == OF_NUMBER else INSTANT_ROUNDED)
    if value != value:
        verdict = NO
    if kind == OF_NUMBER and flags & STRICT:
        if not known & IS_NUMBER:
            verdict = NO
        elif known & IS_SINGLE and verdict == YES:
            verdict = MAYBE
    if verdict == YES:
        low, high = bounds[2 * filter], bounds[2 * filter + 1]
        if value < low or value > high:
            verdict = NO
        else:
            if value == low:
                if (is_rounded or flags & LOW_ROUNDED) and not known & IS_DOUBLE:
                    verdict = MAYBE
                elif flags & LOW_OPEN:
                    verdict = NO
            if verdict and value == high:
                if (is_rounded or flags & HIGH_ROUNDED) and not known & IS_DOUBLE:
                    verdict = MAYBE if verdict != NO else NO
                elif flags & HIGH_OPEN:
                    verdict = NO
    return verdict
