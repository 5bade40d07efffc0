"""Strict subscriptions as SPARQL text, for the foreign engine that judges the oracle."""

from sensewire.model.conditions import (
    Between,
    Constant,
    Different,
    Equal,
    OneOf,
    Order,
    Variable,
)
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
)
from sensewire.model.subscription import Bind, Conjunction, Not, Subscription, TriplePattern, Vertex
from sensewire.model.terms import Term


def query_of(subscription: Subscription) -> str:
    """The query that asks what a strict subscription asks."""
    branches = " UNION ".join(f"{{ {_group(c)} }}" for c in subscription.conjunctions)
    if subscription.select is None:
        return f"ASK {{ {branches} }}"
    return f"SELECT DISTINCT {' '.join(map(str, subscription.select))} WHERE {{ {branches} }}"


def _group(conjunction: Conjunction) -> str:
    parts = []
    for atom in conjunction.atoms:
        match atom:
            case TriplePattern():
                triple = (atom.subject, atom.property, atom.object)
                parts.append(" ".join(_vertex(part) for part in triple) + " .")
            case Bind():
                parts.append(f"VALUES {atom.variable} {{ {atom.term} }}")
            case Not():
                parts.append(f"FILTER NOT EXISTS {{ {_group(atom.body)} }}")
            case _:
                raise AssertionError(atom)
    parts += [f"FILTER({_expression(constraint)})" for constraint in conjunction.constraints]
    return " ".join(parts)


def _vertex(part: Vertex) -> str:
    assert isinstance(part, Variable | Constant)
    return str(part) if isinstance(part, Variable) else _constant(part)


def _constant(constant: Constant) -> str:
    assert isinstance(constant.value, Term)
    return str(constant.value)


def _expression(expression: Expression) -> str:
    match expression:
        case Variable():
            return str(expression)
        case Constant():
            return _constant(expression)
        case Arithmetic():
            left, right = _expression(expression.left), _expression(expression.right)
            return f"({left} {expression.sign} {right})"
        case Minus():
            return f"(- {_expression(expression.operand)})"
        case Comparison():
            left, right = _expression(expression.left), _expression(expression.right)
            return f"({left} {expression.relation} {right})"
        case Call():
            return f"{expression.function}({', '.join(map(_expression, expression.arguments))})"
        case And():
            return f"({' && '.join(map(_expression, expression.parts))})"
        case Or():
            return f"({' || '.join(map(_expression, expression.parts))})"
        case Negation():
            return f"(! {_expression(expression.part)})"
        case Test():
            return _test(expression)


def _test(test: Test) -> str:
    x = str(test.variable)
    match test.condition:
        case Equal(constant):
            return f"({x} = {_constant(constant)})"
        case Different(constant):
            return f"({x} != {_constant(constant)})"
        case OneOf(constants):
            return f"({x} IN ({', '.join(map(_constant, constants))}))"
        case Order(relation, bound):
            return f"({x} {relation} {bound})"
        case Between(low, high):
            return f"({x} >= {low} && {x} <= {high})"
        case _:
            raise AssertionError(test)
