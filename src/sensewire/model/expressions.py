"""Value constraints: expressions over variables, as SPARQL 1.1 has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from sensewire.model.conditions import (
    Binds,
    Condition,
    Constant,
    Relation,
    Variable,
    constants_of,
)

FUNCTIONS = (
    "regex",
    "str",
    "lang",
    "langMatches",
    "datatype",
    "isIRI",
    "isLiteral",
    "isBlank",
    "strStarts",
    "strEnds",
    "contains",
    "lcase",
    "ucase",
    "sameTerm",
    "bound",
)
"""The functions of constraints, by the names that no operator may have."""
ARITIES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(FUNCTIONS, (1,)),
    **dict.fromkeys(("langMatches", "strStarts", "strEnds", "contains", "sameTerm"), (2,)),
    "regex": (2, 3),
}


class Sign(StrEnum):
    """An operation on two numbers."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"


class Equality(StrEnum):
    """Equality in value, and its opposite."""

    EQUAL = "="
    DIFFERENT = "!="


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two numbers put together."""

    sign: Sign
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Minus:
    """The opposite of a number."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two expressions compared in value."""

    relation: Relation | Equality
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on a variable's value: `?x = c` reads as the condition `= c`, and so on."""

    variable: Variable
    condition: Condition

    __test__ = False  # for pytest: this is no test case

    def __post_init__(self) -> None:
        assert not isinstance(self.condition, Binds), "a variable that is bound binds no other"


@dataclass(frozen=True, slots=True)
class Call:
    """One of the `FUNCTIONS`, applied."""

    function: str
    arguments: tuple["Expression", ...]

    def __post_init__(self) -> None:
        assert self.function != "bound" or isinstance(self.arguments[0], Variable), (
            "`bound` asks about a variable"
        )


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        assert len(self.parts) > 1, "of one part, `and` is that part"


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        assert len(self.parts) > 1, "of one part, `or` is that part"


@dataclass(frozen=True, slots=True)
class Negation:
    """Not the part; an error stays an error."""

    part: "Expression"


Expression = (
    Variable | Constant | Arithmetic | Minus | Comparison | Test | Call | And | Or | Negation
)


def variables_in(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression, as often as they stand in it."""
    for leaf in _leaves(expression):
        if isinstance(leaf, Test):
            yield leaf.variable
        elif isinstance(leaf, Variable):
            yield leaf


def constants_in(expression: Expression) -> Iterator[Constant]:
    """The constants of an expression that have a reading, as often as they stand in it."""
    for leaf in _leaves(expression):
        if isinstance(leaf, Test):
            yield from constants_of(leaf.condition)
        elif isinstance(leaf, Constant):
            yield leaf


def tests_in(expression: Expression) -> Iterator[Test]:
    """The conditions on variables that stand in an expression."""
    yield from (leaf for leaf in _leaves(expression) if isinstance(leaf, Test))


def _leaves(expression: Expression) -> Iterator[Variable | Constant | Test]:
    match expression:
        case Variable() | Constant() | Test():
            yield expression
        case Arithmetic() | Comparison():
            yield from _leaves(expression.left)
            yield from _leaves(expression.right)
        case Minus():
            yield from _leaves(expression.operand)
        case Call():
            for argument in expression.arguments:
                yield from _leaves(argument)
        case And() | Or():
            for part in expression.parts:
                yield from _leaves(part)
        case Negation():
            yield from _leaves(expression.part)
        case _:
            assert_never(expression)
