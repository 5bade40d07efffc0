"""Constraints of the model as our language writes them: the inverse of `comparisons`.

A constant or a variable stands in brackets where it would otherwise read as something else: as an
attribute, as one side of a condition, or as a number that takes the sign before it. Cost: linear.
"""

from typing import assert_never

from sensewire.language.spell import Spelling, is_name, unsayable, variable
from sensewire.language.values import UNBOUND_KINDS
from sensewire.model.conditions import Binds, Constant, Name, Reading, Relation, Variable
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Minus,
    Negation,
    Or,
    Sign,
    Test,
)

_SUM, _PRODUCT, _UNARY = 1, 2, 3
_STRENGTHS = {
    Sign.PLUS: _SUM,
    Sign.MINUS: _SUM,
    Sign.TIMES: _PRODUCT,
    Sign.OVER: _PRODUCT,
}


def constraint(found: Expression, spelling: Spelling) -> str:
    """An expression where something true or false is asked for."""
    match found:
        case And() | Or():
            word = " and " if isinstance(found, And) else " or "
            if len(found.parts) < 2:
                raise unsayable(f"a constraint of {len(found.parts)} parts joined by{word}")
            texts = []
            for part in found.parts:
                text = constraint(part, spelling)
                tight = isinstance(part, Or) or (isinstance(found, And) and isinstance(part, And))
                texts.append(f"({text})" if tight else text)
            return word.join(texts)
        case Negation():
            text = constraint(found.part, spelling)
            return f"not ({text})" if isinstance(found.part, And | Or) else f"not {text}"
        case Test():
            if isinstance(found.condition, Binds):
                raise unsayable("a test that binds a variable")
            return f"{variable(found.variable)} {spelling.condition(found.condition)}"
        case Comparison():
            left = operand(found.left, _SUM, spelling)
            if _needs_brackets(found, spelling):
                left = f"({left})"
            return f"{left} {found.relation} {operand(found.right, _SUM, spelling)}"
        case Constant() if is_name(found):
            raise unsayable(f"the constant {found.value}, where a constraint should stand,")
        case _:
            return operand(found, _SUM, spelling)


def operand(found: Expression, strength: int, spelling: Spelling) -> str:
    """An expression where a value is asked for, by an operation of that strength."""
    match found:
        case Variable():
            return variable(found)
        case Constant():
            return spelling.constant(found)
        case Arithmetic():
            own = _STRENGTHS[found.sign]
            left = operand(found.left, own, spelling)
            text = f"{left} {found.sign} {operand(found.right, own + 1, spelling)}"
            return f"({text})" if own < strength else text
        case Minus(Constant()):
            return f"-({operand(found.operand, _SUM, spelling)})"
        case Minus():
            return f"-{operand(found.operand, _UNARY, spelling)}"
        case Call():
            return f"{found.function}({_arguments(found, spelling)})"
        case And() | Or() | Negation() | Test() | Comparison():
            return f"({constraint(found, spelling)})"
        case _:
            assert_never(found)


def _arguments(call: Call, spelling: Spelling) -> str:
    texts = []
    for argument in call.arguments:
        match argument:
            case And() | Or() | Negation() | Test() | Comparison():
                texts.append(constraint(argument, spelling))
            case _:
                texts.append(operand(argument, _SUM, spelling))
    return ", ".join(texts)


def _needs_brackets(found: Comparison, spelling: Spelling) -> bool:
    """Whether the left side, as it is, would make the comparison a predicate or a test."""
    match found.left, found.right:
        case Constant() as constant, _ if is_name(constant):
            return True
        case (Variable(), Constant() as constant) | (Constant() as constant, Variable()):
            return not isinstance(found.relation, Relation) or _is_bound(constant, spelling)
        case _:
            return False


def _is_bound(constant: Constant, spelling: Spelling) -> bool:
    """Whether a constant, as it is written, can be the bound of an order."""
    if isinstance(constant.value, Name) or constant.value.kind in UNBOUND_KINDS:
        return False
    return spelling.strict or constant.reading is Reading.MEANING
