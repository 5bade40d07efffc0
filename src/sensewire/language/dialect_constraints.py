"""The constraints of GQL and of statement patterns: comparisons, joined by `and`, `or` and `not`.

`=`, `!=` and the orders compare in value: numbers, dates and quantities also with literals that
have no type, as Liu 2005's Figure 12 needs; a name or a text in quotes is the same text, and has an
order as such. Brackets are kept on a list and not on Python's stack. Cost: linear in the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sensewire.language.dialect_text import Cursor, keyword
from sensewire.language.dialect_values import Dialect, Said, literal_of
from sensewire.language.disjunction import depth_of
from sensewire.language.limits import DEEPEST
from sensewire.language.values import UNBOUND_KINDS
from sensewire.language.words import DATE, is_number, is_quantity
from sensewire.model import terms
from sensewire.model.conditions import (
    Condition,
    Constant,
    Different,
    Equal,
    Name,
    Order,
    Reading,
    Relation,
    Variable,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import And, Comparison, Equality, Expression, Negation, Or
from sensewire.model.terms import Kind, Term

SIGN = re.compile(r"<=|>=|!=|[=<>≤≥≠](?![=~])")
VALUE = "a number, a date, a name or a text in quotes"

_BY_VALUE = frozenset({Kind.NUMBER, Kind.DATE, Kind.QUANTITY})
_DATE = re.compile(DATE)


def constraint(cursor: Cursor, comparison: Callable[[], Expression]) -> Expression:
    """Take one constraint; `comparison` takes what stands between `and`, `or`, `not` and brackets.

    A comparison may itself stand in brackets, as GQL writes every one.
    """
    start = cursor.place
    levels = [_Level()]
    while True:
        if cursor.take(keyword("not")):
            levels[-1].refused = not levels[-1].refused
            continue
        if cursor.took("("):
            levels.append(_Level())
            if len(levels) > DEEPEST:
                raise _too_deep(cursor.place)
            continue
        levels[-1].add(comparison())
        while len(levels) > 1 and cursor.took(")"):
            inner = levels.pop().expression()
            levels[-1].add(inner)
        if cursor.take(keyword("or")):
            levels[-1].alternatives.append([])
        elif not cursor.take(keyword("and")):
            break
    if len(levels) > 1:
        raise cursor.wrong("'and', 'or' or ')'")
    found = levels[0].expression()
    if depth_of(found) > DEEPEST:
        raise _too_deep(start)
    return found


@dataclass(slots=True)
class _Level:
    """What stands between two brackets, as far as it was read."""

    alternatives: list[list[Expression]] = field(default_factory=lambda: [[]])
    refused: bool = False

    def add(self, part: Expression) -> None:
        self.alternatives[-1].append(Negation(part) if self.refused else part)
        self.refused = False

    def expression(self) -> Expression:
        rows = [row[0] if len(row) == 1 else And(tuple(row)) for row in self.alternatives]
        return rows[0] if len(rows) == 1 else Or(tuple(rows))


def related(sign: str, left: Variable, right: Variable) -> Comparison:
    """Two variables compared in value."""
    return Comparison(Equality(sign) if sign in ("=", "!=") else Relation(sign), left, right)


def condition(dialect: Dialect, sign: str, said: Said, place: int) -> Condition:
    """The condition that a sign and a value make."""
    if sign == "=":
        return Equal(_equal_to(dialect, said, place))
    if sign == "!=":
        return Different(_equal_to(dialect, said, place))
    return Order(Relation(sign), _bound(dialect, said, place))


def is_class(said: Said) -> bool:
    """Whether a value can be a class: a name that writes no literal, or an IRI.

    >>> is_class(Name("Research Lab")), is_class(Name("2004")), is_class(terms.string("2004"))
    (True, False, False)
    """
    if isinstance(said, Term):
        return said.kind is Kind.IRI
    return not (literal_of(said.text) or _is_broken(said.text))


def _equal_to(dialect: Dialect, said: Said, place: int) -> Constant:
    """What a value is equal to; a number by meaning is whatever has its value, typed or not."""
    term = literal_of(said.text) if isinstance(said, Name) else said
    if term is not None and term.kind in _BY_VALUE:
        return Constant(term, Reading.MEANING, place)
    if term is not None and term.kind is Kind.BLANK:
        raise dialect.cursor.wrong(f"{VALUE}; the home vertex stands in patterns only", place)
    if dialect.reading is Reading.MEANING:
        return Constant(term or terms.string(said.text), Reading.MEANING, place)
    return Constant(said, Reading.EXACT, place)


def _bound(dialect: Dialect, said: Said, place: int) -> Term:
    """The bound of an order; a bare name is the text that it spells."""
    if isinstance(said, Name):
        return _bare_bound(dialect, said.text, place)
    if said.kind in UNBOUND_KINDS:
        raise dialect.cursor.wrong("a number, date, quantity or text, which have an order", place)
    return said


def _bare_bound(dialect: Dialect, name: str, place: int) -> Term:
    found = literal_of(name)
    if found is not None and found.kind not in UNBOUND_KINDS:
        return found
    if _is_broken(name):
        expected = "a number that is not as long, a day that there is, or a unit that is known"
        raise dialect.cursor.wrong(expected, place)
    return terms.string(name)


def _is_broken(name: str) -> bool:
    """Whether a name has the form of a number, date or quantity; asked of those that are none."""
    digits = name.removeprefix("-")
    return is_number(digits) or is_quantity(digits) or _DATE.fullmatch(name) is not None


def _too_deep(place: int) -> UnsupportedError:
    return UnsupportedError(f"brackets or `not` nested deeper than {DEEPEST}", place)
