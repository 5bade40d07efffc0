"""What a text says, before `or` and `not` are spread into a disjunction of conjunctions.

A formula that consists of constraints alone is one `Check`, however it is put together: `?x > 5 or
?y < 3` is one constraint and not two alternatives. `binds` are the variables that a formula binds
where it holds; what stands under a `not` binds none.
"""

from dataclasses import dataclass

from sensewire.model.conditions import Variable
from sensewire.model.expressions import And, Expression, Negation, Or
from sensewire.model.subscription import Atom, Conjunction, bound_by

NOTHING: frozenset[Variable] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An atom."""

    atom: Atom
    position: int
    binds: frozenset[Variable]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A constraint, or any other expression."""

    expression: Expression
    position: int
    binds: frozenset[Variable] = NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """`… and …`; without parts, `everything`."""

    parts: tuple["Formula", ...]
    position: int
    binds: frozenset[Variable] = NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class Any:
    """`… or …`."""

    parts: tuple["Formula", ...]
    position: int
    binds: frozenset[Variable] = NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """`not …`, read by De Morgan where the part binds nothing of its own."""

    part: "Formula"
    position: int
    binds: frozenset[Variable] = NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class NoneOf:
    """`not all (…)`: one `Not` over each conjunction inside."""

    part: "Formula"
    position: int
    binds: frozenset[Variable] = NOTHING


Formula = Leaf | Check | All | Any | Refused | NoneOf


def leaf(atom: Atom, position: int) -> Leaf:
    """An atom with the variables that it binds."""
    return Leaf(atom, position, frozenset(bound_by(Conjunction((atom,)))))


def all_of(parts: list[Formula], position: int) -> Formula:
    """The parts joined by `and`."""
    expressions = _expressions(parts)
    if expressions:
        return Check(And(expressions), position)
    return All(tuple(parts), position, _bound(parts))


def any_of(parts: list[Formula], position: int) -> Formula:
    """The parts joined by `or`."""
    expressions = _expressions(parts)
    if expressions:
        return Check(Or(expressions), position)
    return Any(tuple(parts), position, _bound(parts))


def refusal_of(part: Formula, position: int) -> Formula:
    """`not` before a part."""
    if isinstance(part, Check):
        return Check(Negation(part.expression), position)
    return Refused(part, position)


def _expressions(parts: list[Formula]) -> tuple[Expression, ...]:
    """The expressions of the parts where all of them are checks, else none."""
    found = tuple(part.expression for part in parts if isinstance(part, Check))
    return found if len(found) == len(parts) else ()


def _bound(parts: list[Formula]) -> frozenset[Variable]:
    return NOTHING.union(*(part.binds for part in parts))
