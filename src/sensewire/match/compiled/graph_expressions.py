"""Constraints on several variables: written for kernels, and calculated by them.

    ?a + ?b * 2 > ?c      VARIABLE a, VARIABLE b, CONSTANT 2, TIMES, PLUS, VARIABLE c, MORE

Kernels calculate with doubles, and keep how far each may be from the exact number. Where that is
too far to decide, or where what is compared is no number, the answer is MAYBE, and whoever matches
is judged once more: so nothing here has to know the rules of strings, times or kinds of numbers.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from sensewire.match.compiled.graph_filters import MAYBE, NO, YES
from sensewire.match.compiled.graph_layout import (
    AT_LEAST,
    AT_MOST,
    BOTH,
    CONSTANT_NUMBER,
    DEEPEST,
    DIFFERENT,
    EITHER,
    EQUAL,
    FILTER_WORDS,
    INSTANT_ROUNDED,
    IS_DATE,
    IS_DOUBLE,
    IS_LITERAL,
    IS_NUMBER,
    IS_SINGLE,
    LESS,
    LOW_ROUNDED,
    MINUS,
    MORE,
    OPPOSITE,
    OVER,
    PLUS,
    ROUNDED,
    ROW,
    ROW_FLAGS,
    SAME,
    SLOT_MASK,
    STRICT,
    TIMES,
    VALUE_FLAGS,
    VARIABLE,
)
from sensewire.match.compiled.jit import Array, Number, int64, loop, uint64
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import Constant, Order, Relation, Variable
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Equality,
    Expression,
    Minus,
    Negation,
    Or,
    Sign,
    Test,
)
from sensewire.model.terms import Kind, Term

_SIGNS = {Sign.PLUS: PLUS, Sign.MINUS: MINUS, Sign.TIMES: TIMES, Sign.OVER: OVER}
_RELATIONS = {
    Relation.LESS: LESS,
    Relation.AT_MOST: AT_MOST,
    Relation.MORE: MORE,
    Relation.AT_LEAST: AT_LEAST,
    Equality.EQUAL: EQUAL,
    Equality.DIFFERENT: DIFFERENT,
}
_MORE_VALUES = {VARIABLE: 1, CONSTANT_NUMBER: 1, OPPOSITE: 0}
"""How many values more wait after a part; after any other one less."""
_LONGEST = 64
_ERROR = 4.0 * 2.0**-53
"""Of one operation, in units of its result, and with room to spare."""
_LARGEST = 1e300
NAN = float("nan")


class Part(NamedTuple):
    """One of an expression in postfix notation: what, which variable, and a constant's number.

    A constant that is not a double itself has 1 for its variable.
    """

    what: int
    which: int = 0
    value: float = 0.0


class _CannotError(Exception):
    """An expression that kernels cannot calculate."""


def postfix(
    constraint: Expression, named: tuple[Variable, ...], strict: bool
) -> tuple[Part, ...] | None:
    """A constraint as kernels read it; None where they cannot.

    >>> from sensewire.model.conditions import exact
    >>> from sensewire.model.terms import term_of
    >>> x, y = Variable("x"), Variable("y")
    >>> twice = Arithmetic(Sign.TIMES, y, exact(term_of(2)))
    >>> [part.what for part in postfix(Comparison(Relation.MORE, x, twice), (x, y), False)]
    [16, 16, 17, 20, 24]
    """
    try:
        parts = tuple(_truth(constraint, named))
    except _CannotError:
        return None
    depth = deepest = 0
    for part in parts:
        depth += _MORE_VALUES.get(part.what, -1)
        deepest = max(deepest, depth)
    return parts if deepest <= DEEPEST and len(parts) <= _LONGEST else None


def _truth(expression: Expression, named: tuple[Variable, ...]) -> Iterator[Part]:
    match expression:
        case Comparison(relation, left, right):
            yield from _value(left, named)
            yield from _value(right, named)
            yield Part(_RELATIONS[relation])
        case Test(variable, Order(relation, bound)):
            yield from _value(variable, named)
            yield from _number(bound)
            yield Part(_RELATIONS[relation])
        case Call("sameTerm", (Variable() as one, Variable() as other)):
            yield from _value(one, named)
            yield from _value(other, named)
            yield Part(SAME)
        case And(parts) | Or(parts):
            for place, each in enumerate(parts):
                yield from _truth(each, named)
                if place:
                    yield Part(BOTH if isinstance(expression, And) else EITHER)
        case Negation(operand):
            yield from _truth(operand, named)
            yield Part(OPPOSITE)
        case _:
            raise _CannotError


def _value(expression: Expression, named: tuple[Variable, ...]) -> Iterator[Part]:
    match expression:
        case Variable():
            yield Part(VARIABLE, named.index(expression))
        case Constant(value=Term() as term):
            yield from _number(term)
        case Arithmetic(sign, left, right):
            yield from _value(left, named)
            yield from _value(right, named)
            yield Part(_SIGNS[sign])
        case Minus(operand):
            yield Part(CONSTANT_NUMBER)
            yield from _value(operand, named)
            yield Part(MINUS)
        case _:
            raise _CannotError


def _number(term: Term) -> Iterator[Part]:
    number = comparison.numeric(term) if term.kind is Kind.NUMBER else None
    if number is None or number != number or term.datatype == datatypes.FLOAT:
        raise _CannotError
    double = comparison.as_double(number)
    if not abs(double) < _LARGEST:
        raise _CannotError
    yield Part(CONSTANT_NUMBER, int(Fraction(double) != Fraction(number)), double)


# What kernels do


@loop
def held(
    filter: Number, slots: Number, place: Array, nodes: Array, row_of: Array, rows: Array,
    numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> Number:  # fmt: skip
    """Whether the vertices in some slots pass a filter of many.

    `floats` is scratch: for each value that waits its number, how far that may be off, and the
    vertex that it is, or −1.
    """
    parts, strict = filters[FILTER_WORDS * filter + 1], filters[FILTER_WORDS * filter + 2] & STRICT
    top = 0
    for part in range(filter + 1, filter + 1 + parts):
        what = filters[FILTER_WORDS * part]
        if what == VARIABLE:
            by = uint64(8 * filters[FILTER_WORDS * part + 1])
            vertex = int64(place[(uint64(slots) >> by) & uint64(SLOT_MASK)])
            row = row_of[nodes[vertex]]
            known = rows[ROW * row + VALUE_FLAGS]
            value = numbers[2 * row]
            if known & IS_SINGLE or (strict and not known & IS_NUMBER):
                value = NAN
            floats[3 * top] = value
            floats[3 * top + 1] = abs(value) * _ERROR if known & ROUNDED else 0.0
            floats[3 * top + 2] = vertex
            top += 1
        elif what == CONSTANT_NUMBER:
            value = bounds[2 * part]
            floats[3 * top] = value
            floats[3 * top + 1] = (
                abs(value) * _ERROR if filters[FILTER_WORDS * part + 2] & LOW_ROUNDED else 0.0
            )
            floats[3 * top + 2] = -1.0
            top += 1
        elif what == OPPOSITE:  # NO is false, and no error: those are MAYBE
            verdict = floats[3 * top - 3]
            floats[3 * top - 3] = MAYBE if verdict == MAYBE else YES - verdict
        else:
            top -= 1
            a, b = floats[3 * top - 3], floats[3 * top]
            of_a, of_b = floats[3 * top - 2], floats[3 * top + 1]
            one, other = int64(floats[3 * top - 1]), int64(floats[3 * top + 2])
            floats[3 * top - 1] = -1.0
            if what <= OVER:
                value, off = _calculated(what, a, b, of_a, of_b)
                floats[3 * top - 3] = value
                floats[3 * top - 2] = off
            elif what == BOTH:
                floats[3 * top - 3] = NO if a == NO or b == NO else max(a, b)
            elif what == EITHER:
                floats[3 * top - 3] = YES if a == YES or b == YES else max(a, b)
            elif what == SAME:
                floats[3 * top - 3] = YES if one == other else NO
            elif one >= 0 and other >= 0:
                floats[3 * top - 3] = _compared(
                    what, one, other, nodes, row_of, rows, numbers, strict
                )
            else:
                floats[3 * top - 3] = _decided(what, a, b, of_a + of_b)
    return int64(floats[0])


@loop
def _calculated(
    what: Number, a: Number, b: Number, of_a: Number, of_b: Number
) -> tuple[Number, Number]:
    """A result, and how far it may be off; no number where that cannot be said."""
    value, off = a + b, of_a + of_b
    if what == MINUS:
        value = a - b
    elif what == TIMES:
        value = a * b
        off = abs(a) * of_b + abs(b) * of_a + of_a * of_b
    elif what == OVER:
        if abs(b) <= 2.0 * of_b or b == 0.0:
            return NAN, 0.0
        value = a / b
        off = (of_a + abs(value) * of_b) / (abs(b) - of_b)
    is_exact = what != OVER and off == 0.0 and _is_whole(a) and _is_whole(b) and _is_whole(value)
    if not is_exact:
        off = off + off * _ERROR + abs(value) * _ERROR + 1e-300
    if not abs(value) < _LARGEST:
        return NAN, 0.0
    return value, off


@loop
def _is_whole(value: Number) -> Number:
    return abs(value) < 2.0**53 and value == float(int64(value))


@loop
def _decided(what: Number, a: Number, b: Number, off: Number) -> Number:
    """A comparison of two numbers of which each may be off."""
    if not abs(a) < _LARGEST or not abs(b) < _LARGEST:
        return MAYBE
    if off > 0.0 and abs(a - b) <= 2.0 * off:
        return MAYBE
    return _said(what, a, b)


@loop
def _said(what: Number, a: Number, b: Number) -> Number:
    if what == LESS:
        return YES if a < b else NO
    if what == AT_MOST:
        return YES if a <= b else NO
    if what == MORE:
        return YES if a > b else NO
    if what == AT_LEAST:
        return YES if a >= b else NO
    if what == EQUAL:
        return YES if a == b else NO
    return YES if a != b else NO


@loop
def _compared(
    what: Number, x: Number, y: Number, nodes: Array, row_of: Array, rows: Array, numbers: Array,
    strict: Number,
) -> Number:  # fmt: skip
    """A comparison of two vertices."""
    one, other = row_of[nodes[x]], row_of[nodes[y]]
    of_one, of_other = rows[ROW * one + VALUE_FLAGS], rows[ROW * other + VALUE_FLAGS]
    literal_one = rows[ROW * one + ROW_FLAGS] & IS_LITERAL
    literal_other = rows[ROW * other + ROW_FLAGS] & IS_LITERAL
    if not literal_one and not literal_other:
        if what == EQUAL:
            return YES if x == y else NO
        if what == DIFFERENT:
            return NO if x == y else YES
        return MAYBE
    a, b = numbers[2 * one], numbers[2 * other]
    if a == a and b == b:
        if strict and (not of_one & of_other & IS_NUMBER or (of_one | of_other) & IS_SINGLE):
            return MAYBE
        if a == b and (of_one | of_other) & ROUNDED and not (of_one | of_other) & IS_DOUBLE:
            return MAYBE
        return _said(what, a, b)
    if of_one & of_other & IS_DATE and not strict:
        a, b = numbers[2 * one + 1], numbers[2 * other + 1]
        if a != a or b != b or (a == b and (of_one | of_other) & INSTANT_ROUNDED):
            return MAYBE
        return _said(what, a, b)
    return MAYBE
