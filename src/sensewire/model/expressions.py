"""Value constraints: expressions over variables, as SPARQL 1.1 has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from sensewire.model.conditions import Condition, Constant, Relation, Variable

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
    """Two numbers, or quantities, put together."""

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


@dataclass(frozen=True, slots=True)
class Call:
    """One of the `FUNCTIONS`, applied."""

    function: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Not the part; an error stays an error."""

    part: "Expression"


Expression = (
    Variable | Constant | Arithmetic | Minus | Comparison | Test | Call | And | Or | Negation
)


def variables_in(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression, as often as they stand in it."""
    match expression:
        case Variable():
            yield expression
        case Constant():
            pass
        case Arithmetic() | Comparison():
            yield from variables_in(expression.left)
            yield from variables_in(expression.right)
        case Minus():
            yield from variables_in(expression.operand)
        case Test():
            yield expression.variable
        case Call():
            for argument in expression.arguments:
                yield from variables_in(argument)
        case And() | Or():
            for part in expression.parts:
                yield from variables_in(part)
        case Negation():
            yield from variables_in(expression.part)
        case _:
            assert_never(expression)
