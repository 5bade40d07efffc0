"""Hypothesis strategies for constraints: every node, each over variables that are bound."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sensewire.model.conditions import Condition, Constant, Relation, Variable
from sensewire.model.expressions import (
    ARITIES,
    FUNCTIONS,
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
    variables_in,
)
from sensewire.model.terms import Kind, Term

Choice = TypeVar("Choice")
_RELATIONS: tuple[Relation | Equality, ...] = (*Relation, *Equality)
_LOGIC, _VALUES = ("and", "or", "not"), ("calculated", "minus", "call", "value")


@st.composite
def constraints(
    draw: DrawFn,
    bound: Sequence[Variable],
    constants: SearchStrategy[Constant],
    conditions: SearchStrategy[Condition],
    depth: int = 2,
) -> Expression:
    """Constraints over the bound variables, each of which has at least one."""
    made = _Drawing(draw, bound, constants, conditions).asked(depth)
    if isinstance(made, And):
        made = Or(made.parts)  # a conjunction would split it, and a part may have no variables
    if next(variables_in(made), None) is None:
        return Or((Test(bound[0], draw(conditions)), made))
    return made


class _Drawing:
    """Draws one expression, node by node."""

    def __init__(
        self,
        draw: DrawFn,
        bound: Sequence[Variable],
        constants: SearchStrategy[Constant],
        conditions: SearchStrategy[Condition],
    ) -> None:
        self._draw = draw
        self._bound = bound
        self._constants = constants
        self._conditions = conditions

    def asked(self, depth: int) -> Expression:
        """Something true or false; a name alone would be a tag."""
        match self._one_of("test", "test", "compared", "value", *(_LOGIC if depth else ())):
            case "test":
                return Test(self._variable(), self._draw(self._conditions))
            case "compared":
                relation = self._one_of(*_RELATIONS)
                return Comparison(relation, self.value(depth - 1), self.value(depth - 1))
            case "and":
                return And((self.asked(depth - 1), self.asked(depth - 1)))
            case "or":
                count = self._one_of(2, 3)
                return Or(tuple(self.asked(depth - 1) for _ in range(count)))
            case "not":
                return Negation(self.asked(depth - 1))
            case _:
                made = self.value(depth)
                return Minus(made) if _is_name(made) else made

    def value(self, depth: int) -> Expression:
        """Anything that has a value."""
        kinds = (*_VALUES, "asked") if depth > 0 else ("value",)
        match self._one_of(*kinds):
            case "calculated":
                sign = self._one_of(*Sign)
                return Arithmetic(sign, self.value(depth - 1), self.value(depth - 1))
            case "minus":
                return Minus(self.value(depth - 1))
            case "call":
                function = self._one_of(*FUNCTIONS)
                if function == "bound":
                    return Call(function, (self._variable(),))
                arity = self._one_of(*ARITIES[function])
                return Call(function, tuple(self.value(depth - 1) for _ in range(arity)))
            case "asked":
                return self.asked(depth - 1)
            case _:
                constant = self._one_of(True, False)
                return self._draw(self._constants) if constant else self._variable()

    def _variable(self) -> Variable:
        return self._one_of(*self._bound)

    def _one_of(self, *choices: Choice) -> Choice:
        return self._draw(st.sampled_from(choices))


def _is_name(expression: Expression) -> bool:
    if not isinstance(expression, Constant):
        return False
    value = expression.value
    return not isinstance(value, Term) or value.kind in (Kind.STRING, Kind.IRI)
