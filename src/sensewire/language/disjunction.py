"""From a formula to a disjunction of conjunctions, by distribution and De Morgan's laws.

`or` is spread first, with every `not` left whole; then each conjunction knows which variables it
binds, and its `not`s are read with that knowledge: a conjunction under `not` that binds a variable
of its own is one `Not` over all of it, constraints included; any other is a disjunction of the
refusals of its parts. Refusals bind nothing, so one round is enough on each level.

Cost: linear in the size of the result, which is bounded: the conjunctions of every level are
counted before they are made, and all parts that are made are paid from one purse.
"""

from itertools import product
from math import prod
from typing import TypeVar, assert_never

from sensewire.language.formula import All, Any, Check, Formula, Leaf, NoneOf, Refused
from sensewire.language.limits import DEEPEST, MOST_CONJUNCTIONS, MOST_PARTS
from sensewire.model.conditions import Constant, Variable
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Minus,
    Negation,
    Or,
    Test,
    variables_in,
)
from sensewire.model.subscription import Atom, Conjunction, Not, bound_by

_UNCOUNTED = 10**18

Literal = Leaf | Check | Refused | NoneOf
Part = Atom | Check
Alternatives = list[list[Part]]
Bound = frozenset[Variable]
RowPart = TypeVar("RowPart")


def conjunctions_of(formula: Formula, text: str) -> tuple[Conjunction, ...]:
    """The conjunctions, one of which holds where the formula does."""
    spreading = _Spreading(text, formula.position)
    rows = spreading.resolved(formula, frozenset())
    return tuple([spreading.conjunction(row) for row in rows])


class _Spreading:
    """Spreads one formula; holds the purse that pays for every part."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._position = position
        self._purse = MOST_PARTS

    def resolved(self, formula: Formula, outside: Bound) -> Alternatives:
        """The alternatives of a formula that stands where `outside` is bound already."""
        self._check_count(_count(formula))
        choices = []
        for row in self._spread(formula):
            bound = outside.union(*[part.binds for part in row if isinstance(part, Leaf)])
            choices.append([self._choices(literal, bound) for literal in row])
        self._check_count(sum(_combinations(row) for row in choices))
        return [made for row in choices for made in self._combined(row)]

    def conjunction(self, parts: list[Part]) -> Conjunction:
        """The parts as a conjunction of the model."""
        checks = [part for part in parts if isinstance(part, Check)]
        for check in checks:
            for constraint in _conjuncts(check.expression):
                if not any(True for _ in variables_in(constraint)):
                    expected = "a variable in every constraint, such as ?x > 5"
                    raise ParseError(self._text, check.position, expected)
            if depth_of(check.expression) > DEEPEST:
                raise UnsupportedError(f"a constraint nested deeper than {DEEPEST}", check.position)
        atoms = tuple([part for part in parts if not isinstance(part, Check)])
        return Conjunction(atoms, tuple([check.expression for check in checks]))

    def _spread(self, formula: Formula) -> list[list[Literal]]:
        """`or` spread over `and`, every `not` left whole."""
        match formula:
            case Any():
                rows = []
                for part in formula.parts:
                    rows += self._spread(part)
                return rows
            case All():
                parts = []
                for part in formula.parts:
                    parts.append(self._spread(part))
                return self._combined(parts)
            case _:
                return [[formula]]

    def _choices(self, literal: Literal, bound: Bound) -> Alternatives:
        match literal:
            case Leaf():
                return [[literal.atom]]
            case Check():
                return [[literal]]
            case Refused():
                return self._refused(literal.part, bound)
            case NoneOf():
                rows = self.resolved(literal.part, bound)
                return [[Not(self.conjunction(row)) for row in rows]]
            case _:
                assert_never(literal)

    def _refused(self, formula: Formula, bound: Bound) -> Alternatives:
        """The alternatives in which the formula does not hold."""
        match formula:
            case Leaf():
                return [[Not(Conjunction((formula.atom,)))]]
            case Check():
                return [[_negated(formula)]]
            case Any():
                parts = []
                for part in formula.parts:
                    parts.append(self._refused(part, bound))
                return self._counted(parts)
            case All() if formula.parts and formula.binds <= bound:
                alternatives = []
                for part in formula.parts:
                    alternatives += self._refused(part, bound)
                return alternatives
            case All():
                rows = self.resolved(formula, bound)
                return self._counted([self._refused_row(row, bound) for row in rows])
            case Refused() if formula.part.binds <= bound:
                return self.resolved(formula.part, bound)
            case Refused():
                rows = self._refused(formula.part, bound)
                return self._counted([self._refused_row(row, bound) for row in rows])
            case NoneOf():
                rows = self.resolved(formula, bound)
                return self._refused_row(rows[0], bound)
            case _:
                assert_never(formula)

    def _refused_row(self, row: list[Part], bound: Bound) -> Alternatives:
        """The alternatives in which a conjunction does not hold."""
        body = self.conjunction(row)
        if not row or not bound.issuperset(bound_by(body)):
            return [[Not(body)]]
        alternatives: Alternatives = []
        for part in row:
            match part:
                case Check():
                    alternatives.append([_negated(part)])
                case Not(body) if bound.issuperset(bound_by(body)):
                    checks = [Check(constraint, self._position) for constraint in body.constraints]
                    alternatives.append([*body.atoms, *checks])
                case _:
                    alternatives.append([Not(Conjunction((part,)))])
        return alternatives

    def _counted(self, parts: list[Alternatives]) -> Alternatives:
        self._check_count(_combinations(parts))
        return self._combined(parts)

    def _combined(self, parts: list[list[list[RowPart]]]) -> list[list[RowPart]]:
        """One row for each way to choose one row of every part."""
        longest = 1 + sum(max(map(len, rows), default=0) for rows in parts)
        self._purse -= _combinations(parts) * longest
        if self._purse < 0:
            raise UnsupportedError(
                f"a disjunction that spreads to more than {MOST_PARTS:,} parts", self._position
            )
        return [[part for row in rows for part in row] for rows in product(*parts)]

    def _check_count(self, count: int) -> None:
        if count > MOST_CONJUNCTIONS:
            number = f"{count:,}" if count < _UNCOUNTED else f"more than {_UNCOUNTED:,}"
            raise UnsupportedError(
                f"a disjunction of {number} conjunctions; at most {MOST_CONJUNCTIONS:,}",
                self._position,
            )


def depth_of(expression: Expression) -> int:
    """How deep an expression nests; a node that holds a list of parts counts twice.

    >>> depth_of(Negation(And((Variable("x"), Variable("y")))))
    3
    """
    deepest, waiting = 0, [(expression, 0)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        match node:
            case And() | Or():
                waiting += [(part, depth + 2) for part in node.parts]
            case Call():
                waiting += [(part, depth + 2) for part in node.arguments]
            case Arithmetic() | Comparison():
                waiting += [(node.left, depth + 1), (node.right, depth + 1)]
            case Minus(part) | Negation(part):
                waiting.append((part, depth + 1))
            case Variable() | Constant() | Test():
                pass
            case _:
                assert_never(node)
    return deepest


def _count(formula: Formula) -> int:
    """The conjunctions that `or` alone spreads a formula to; no further than `_UNCOUNTED`."""
    match formula:
        case Any():
            count = 0
            for part in formula.parts:
                count += _count(part)
        case All():
            count = 1
            for part in formula.parts:
                count = min(count * _count(part), _UNCOUNTED)
        case _:
            count = 1
    return min(count, _UNCOUNTED)


def _combinations(parts: list[list[list[RowPart]]]) -> int:
    return prod([len(rows) for rows in parts])


def _negated(check: Check) -> Check:
    return Check(Negation(check.expression), check.position)


def _conjuncts(expression: Expression) -> list[Expression]:
    found: list[Expression] = []
    open_ones = [expression]
    while open_ones:
        part = open_ones.pop()
        if isinstance(part, And):
            open_ones += part.parts
        else:
            found.append(part)
    return found
