"""Subscriptions: disjunctions of conjunctions of atoms and constraints.

A subscription is a function from an event to a set of bindings.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from sensewire.model.conditions import (
    Binds,
    Condition,
    Constant,
    Reading,
    Text,
    TextRelation,
    Variable,
)
from sensewire.model.errors import SubscriptionError
from sensewire.model.expressions import (
    FUNCTIONS,
    And,
    Expression,
    constants_in,
    tests_in,
    variables_in,
)
from sensewire.model.patterns import problem_with
from sensewire.model.terms import Term


@dataclass(frozen=True, slots=True)
class Home:
    """The home vertex of the event, in a pattern."""


Vertex = Variable | Constant | Home
RESERVED = frozenset(name.lower() for name in FUNCTIONS)


@dataclass(frozen=True, slots=True)
class Predicate:
    """Some fact of the home vertex has the attribute and a value that meets the condition."""

    attribute: Constant
    condition: Condition


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """Some fact fits."""

    subject: Vertex
    property: Variable | Constant
    object: Vertex


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """An operator is asked about the event; it answers no, yes with bindings, or fails."""

    operator: str
    arguments: tuple[Variable | Constant, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """A variable stands for a term."""

    variable: Variable
    term: Term


@dataclass(frozen=True, slots=True)
class Not:
    """No solution of the body extends the bindings made outside it."""

    body: "Conjunction"


Atom = Predicate | TriplePattern | OperatorCall | Bind | Not


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A set of atoms and constraints that hold together; empty, it is `everything`.

    Repeated atoms and constraints are dropped, and a constraint that is an `And` is split.
    """

    atoms: tuple[Atom, ...] = ()
    constraints: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if len(self.atoms) > 1:
            object.__setattr__(self, "atoms", tuple(dict.fromkeys(self.atoms)))
        if self.constraints:
            parts = (part for constraint in self.constraints for part in _conjuncts(constraint))
            object.__setattr__(self, "constraints", tuple(dict.fromkeys(parts)))


@dataclass(frozen=True, slots=True)
class TypedStatement:
    """What a statement pattern takes for granted: that a class has a property with such values.

    The vertices are those of the text, which is kept to show the place of what is wrong.
    """

    text: str
    subject: Vertex
    subject_class: Constant
    property: Constant
    object: Vertex
    object_class: Constant


@dataclass(frozen=True, slots=True)
class Subscription:
    """A disjunction of conjunctions, with what holds for all of them.

    `select` is None or the variables whose bindings are wanted; `tolerance` the greatest distance;
    `typed` what the concept model must allow, which is asked when the subscription is added and
    makes no difference to what it matches.
    """

    conjunctions: tuple[Conjunction, ...]
    select: tuple[Variable, ...] | None = None
    injective: bool = False
    strict: bool = False
    tolerance: float | None = None
    typed: tuple[TypedStatement, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if len(self.conjunctions) > 1:
            object.__setattr__(self, "conjunctions", tuple(dict.fromkeys(self.conjunctions)))
        for problem in problems(self):
            raise InvalidSubscriptionError(problem)


@dataclass(frozen=True, slots=True)
class Problem:
    """What makes a subscription senseless, with the variable or constant that shows the place."""

    message: str
    variable: Variable | None = None
    constant: Constant | None = None


class InvalidSubscriptionError(SubscriptionError):
    """A subscription that makes no sense, with its first problem, so that it can be pointed at."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        return self.problem.message


def problems(subscription: Subscription) -> Iterator[Problem]:
    """Everything that makes a subscription senseless."""
    if not subscription.conjunctions:
        yield Problem("a subscription has at least one conjunction")
    tolerance = subscription.tolerance
    if tolerance is not None and not 0 < tolerance < float("inf"):
        yield Problem(f"within {tolerance:g}: a tolerance is a number above 0")
    for conjunction in subscription.conjunctions:
        outside = frozenset(bound_by(conjunction))
        yield from _unselectable(subscription.select or (), outside)
        yield from _unbound(conjunction, frozenset())
        yield from _misnamed(conjunction)
        yield from _unsearchable(conjunction)
        if subscription.strict:
            yield from _not_strict(conjunction)


def bound_by(conjunction: Conjunction) -> Iterator[Variable]:
    """The variables that a conjunction's atoms bind, as often as they do; those of `Not` do not."""
    for atom in conjunction.atoms:
        match atom:
            case Predicate(condition=Binds(variable)):
                yield variable
            case TriplePattern():
                for part in (atom.subject, atom.property, atom.object):
                    if isinstance(part, Variable):
                        yield part
            case OperatorCall():
                yield from (part for part in atom.arguments if isinstance(part, Variable))
            case Bind():
                yield atom.variable
            case Predicate() | Not():
                pass
            case _:
                assert_never(atom)


def _conjuncts(constraint: Expression) -> Iterator[Expression]:
    if isinstance(constraint, And):
        for part in constraint.parts:
            yield from _conjuncts(part)
    else:
        yield constraint


def _unselectable(select: tuple[Variable, ...], bound: frozenset[Variable]) -> Iterator[Problem]:
    for variable in select:
        if variable not in bound:
            yield Problem(f"{variable} is selected, but not bound in every alternative", variable)


def _unbound(conjunction: Conjunction, outside: frozenset[Variable]) -> Iterator[Problem]:
    bound = outside | frozenset(bound_by(conjunction))
    for constraint in conjunction.constraints:
        named = list(variables_in(constraint))
        if not named:
            yield Problem("a constraint has at least one variable")
        for variable in named:
            if variable not in bound:
                yield Problem(f"{variable} stands in a constraint, but no atom binds it", variable)
    for atom in conjunction.atoms:
        if isinstance(atom, Not):
            yield from _unbound(atom.body, bound)


def _misnamed(conjunction: Conjunction) -> Iterator[Problem]:
    for atom in conjunction.atoms:
        if isinstance(atom, OperatorCall) and atom.operator.lower() in RESERVED:
            yield Problem(f"{atom.operator} is a function of constraints and no operator")
        elif isinstance(atom, Not):
            yield from _misnamed(atom.body)


def _unsearchable(conjunction: Conjunction) -> Iterator[Problem]:
    conditions = [atom.condition for atom in conjunction.atoms if isinstance(atom, Predicate)]
    conditions += [test.condition for part in conjunction.constraints for test in tests_in(part)]
    for condition in conditions:
        if isinstance(condition, Text) and condition.relation is TextRelation.MATCHES:
            problem = problem_with(condition.text)
            if problem is not None:
                yield Problem(f"{condition.text!r} is no RE2 expression: {problem}")
    for atom in conjunction.atoms:
        if isinstance(atom, Not):
            yield from _unsearchable(atom.body)


def _not_strict(conjunction: Conjunction) -> Iterator[Problem]:
    for atom in conjunction.atoms:
        if isinstance(atom, Predicate | OperatorCall):
            yield Problem("a strict subscription has patterns and constraints only")
        elif isinstance(atom, Not):
            yield from _not_strict(atom.body)
        elif isinstance(atom, TriplePattern):
            for part in (atom.subject, atom.property, atom.object):
                yield from _not_exact(part)
    for constraint in conjunction.constraints:
        for constant in constants_in(constraint):
            yield from _not_exact(constant)


def _not_exact(part: object) -> Iterator[Problem]:
    if isinstance(part, Constant) and not (
        part.reading is Reading.EXACT and isinstance(part.value, Term)
    ):
        yield Problem("a strict subscription reads its constants exactly", constant=part)
