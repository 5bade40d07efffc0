"""The parts of a query's text, drawn: terms, paths and the expressions of filters.

Every text is one that SPARQL's grammar takes at its place, with the brackets that it needs there
and some that it does not. Literals of patterns are canonical, since pyoxigraph rewrites all others.
A `Pen` has its choices from a seed, and the seed is what is drawn: texts that are drawn choice by
choice take ten times as long, and half of them come twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

NODES = (":a", "<x:b>", "x:c")
PROPERTIES = (":p", "<x:p>", "x:q")
NUMBERS = ("1", "2", "-5", "1.5", '"1"^^xsd:decimal', '"2"^^xsd:double', '"0.1"^^xsd:float')
STRINGS = ('"a"', "'b'", '"""a"""', "'''b'''", '"\\u0061"', '"a"^^xsd:string', '""', "'1'")
OTHERS = (
    '"NaN"^^xsd:double',
    '"INF"^^<http://www.w3.org/2001/XMLSchema#double>',
    "true",
    "false",
    '"a"@en',
    "'a'@EN-us",
    '"b"@fr',
    '"2024-03-01"^^xsd:date',
    '"2024-03-01T00:00:00Z"^^xsd:dateTime',
    '"2024-03-01T05:00:00"^^xsd:dateTime',
    '"a"^^x:type',
    '"b"^^<x:type>',
    '"a"^^xsd:integer',
)
LITERALS = (*NUMBERS, *STRINGS, *OTHERS)
CONSTANTS = (*NODES, *NODES, *NODES, *LITERALS)
WRITTEN_OTHERWISE = ("01", "1.0", "1e0", "+2", ".1", "2E+0", "-5.00")
"""Numbers that are equal to some of the graph's, and not the same terms."""
VARIABLES = ("x", "y", "z", "w")

_ORDERS = ("=", "!=", "<", ">", "<=", ">=")
_DATATYPES = ("xsd:integer", "xsd:string", "rdf:langString", "x:type")
_PATTERNS = ('"a"', '"^[ab1]$"', '"A","i"', "'.*'", '"", "s"', '"a", "q"')
_TAGS = ('"en"', '"*"', "'EN-US'", '"e"')


@dataclass(frozen=True, slots=True)
class Pen:
    """What writes: every choice comes from its seed."""

    random: Random

    def one(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def some(self, low: int, high: int, write: Callable[[], T]) -> list[T]:
        return [write() for _ in range(self.random.randint(low, high))]

    def once_in(self, times: int) -> bool:
        return self.random.randrange(times) == 0

    def variable(self) -> str:
        return ("$" if self.once_in(9) else "?") + self.one("xxxyyzw")


def drawn(write: Callable[[Pen], T]) -> SearchStrategy[T]:
    """What a pen writes, of any seed."""
    return st.integers(0, 2**24 - 1).map(lambda seed: write(Pen(Random(seed))))


def path(pen: Pen, depth: int = 2) -> tuple[str, int]:
    """A property path that is more than a property, and its number of alternatives."""
    match pen.one(range(5)):
        case 0:
            text, ways = _step(pen, depth - 1)
            return f"^{text}", ways
        case 1:
            (one, ways), (two, more) = pen.some(2, 2, lambda: _turned(pen, depth - 1))
            return f"{one}/{two}", ways * more
        case 2:
            parts = pen.some(2, 3, lambda: _turned(pen, depth - 1))
            return "|".join([text for text, _ in parts]), sum([ways for _, ways in parts])
        case 3:
            return f"!{_avoided(pen)}", 1
        case _:
            return f"!({'|'.join(pen.some(1, 3, lambda: _avoided(pen)))})", 2


def _avoided(pen: Pen) -> str:
    return pen.one(("", "", "^")) + pen.one((*PROPERTIES, "a"))


def _step(pen: Pen, depth: int) -> tuple[str, int]:
    if not depth or not pen.once_in(2):
        return pen.one(PROPERTIES), 1
    text, ways = path(pen, depth)
    return f"({text})", ways


def _turned(pen: Pen, depth: int) -> tuple[str, int]:
    text, ways = _step(pen, depth)
    return pen.one(("", "", "^")) + text, ways


def constraint(pen: Pen, names: Sequence[str]) -> str:
    """What stands behind FILTER, over the variables named: a bracket, or a call."""
    variables = [f"?{name}" for name in names]
    return _truth(pen, variables) if pen.once_in(4) else f"({_either(pen, variables, 2)})"


def _either(pen: Pen, variables: Sequence[str], depth: int) -> str:
    parts = pen.some(1, pen.one((1, 1, 2)), lambda: _both(pen, variables, depth))
    return " || ".join(parts)


def _both(pen: Pen, variables: Sequence[str], depth: int) -> str:
    parts = pen.some(1, pen.one((1, 1, 2)), lambda: _relation(pen, variables, depth))
    return pen.one((" && ", "&&")).join(parts)


def _relation(pen: Pen, variables: Sequence[str], depth: int) -> str:
    x, order = pen.one(variables), pen.one(_ORDERS)
    constant = pen.one((*CONSTANTS, *variables))
    match pen.one(range(9)):
        case 0 | 1:
            return f"{x} {order} {constant}"
        case 2:
            number = pen.one(WRITTEN_OTHERWISE)
            return pen.one((f"{x}{order}{number}", f"{number} {order} {x}"))
        case 3:
            return f"{_sum(pen, variables)} {order} {_sum(pen, variables)}"
        case 4:
            return f"{_text(pen, variables)} {order} {pen.one(STRINGS)}"
        case 5:
            return f"datatype({x}) {pen.one(('=', '!='))} {pen.one(_DATATYPES)}"
        case 6:
            listed = pen.some(1, 3, lambda: pen.one((*CONSTANTS, *variables)))
            return f"{x} {pen.one(('IN', 'NOT IN'))} ({', '.join(listed)})"
        case _:
            return _primary(pen, variables, depth)


def _sum(pen: Pen, variables: Sequence[str]) -> str:
    """Arithmetic; division only by 2 and 4, whose quotients every engine writes alike.

    Departure from the recommendation, by pyoxigraph: a date less a date is a duration. So no
    variable is taken from another.
    """
    x, sign = pen.one(variables), pen.one("+-*")
    number = pen.one(("1", "2", "5", "0.5", "-5", "+1", "2.0"))
    other = pen.one((*variables, *NUMBERS))
    match pen.one(range(8)):
        case 0:
            return x
        case 1:
            return pen.one(NUMBERS)
        case 2:
            return f"{x}{sign}{number}"
        case 3:
            return f"{other} {pen.one('+*')} {x}"
        case 4:
            return f"{x} {pen.one(('-1', '+2', '-5 * 2', '+1 -1'))}"
        case 5:
            return f"{x} / {pen.one('24')}"
        case 6:
            return f"{other} * ({x} - {number})"
        case _:
            return f"-{x}"


def _primary(pen: Pen, variables: Sequence[str], depth: int) -> str:
    sign = pen.one(("", "!"))
    if depth and pen.once_in(2):
        return f"{sign}({_either(pen, variables, depth - 1)})"
    if pen.once_in(3):
        return sign + pen.one((*variables, "true", "false", '"a"'))
    return sign + _truth(pen, variables)


def _truth(pen: Pen, variables: Sequence[str]) -> str:
    x = pen.one(variables)
    text = pen.one((x, _text(pen, variables)))
    match pen.one(range(5)):
        case 0:
            return f"{pen.one(('isIRI', 'isURI', 'ISBLANK', 'isLiteral', 'bound'))}({x})"
        case 1:
            called = pen.one(("strStarts", "STRENDS", "Contains"))
            return f"{called}({text}, {pen.one(STRINGS)})"
        case 2:
            return f"regex({text}, {pen.one(_PATTERNS)})"
        case 3:
            return f"langMatches(lang({x}), {pen.one(_TAGS)})"
        case _:
            return f"sameTerm({x}, {pen.one((*CONSTANTS, *variables))})"


def _text(pen: Pen, variables: Sequence[str]) -> str:
    return f"{pen.one(('str', 'LANG', 'lcase', 'UCASE'))}({pen.one(variables)})"
