"""Predicates and constraints as JSON and back: what an index folder keeps of clauses' parts.

    {"attribute": constant, "condition": {"is": "Between", "low": term, "high": term}}

A term is [kind, text, datatype, language], a constant [reading, term], a bare name [reading, text],
an expression ["Name of its class", its parts …].
"""

from collections.abc import Mapping
from typing import Any

import orjson

from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    OneOf,
    Order,
    Reading,
    Relation,
    Text,
    TextRelation,
    Variable,
)
from sensewire.model.expressions import (
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
)
from sensewire.model.subscription import Predicate
from sensewire.model.terms import Kind, Term

_OF_ONE_CONSTANT = {each.__name__: each for each in (Equal, Different, IsA, IsDirectlyA, IsAbove)}


def predicate_to_json(predicate: Predicate) -> bytes:
    """A predicate as JSON.

    >>> from sensewire.model.conditions import meaning
    >>> written = predicate_to_json(Predicate(meaning("a"), Equal(meaning("b"))))
    >>> predicate_from_json(written) == Predicate(meaning("a"), Equal(meaning("b")))
    True
    """
    return orjson.dumps([constant_to(predicate.attribute), condition_to(predicate.condition)])


def predicate_from_json(data: bytes | str) -> Predicate:
    """The predicate that JSON of `predicate_to_json` holds."""
    attribute, condition = orjson.loads(data)
    return Predicate(constant_from(attribute), condition_from(condition))


def term_to(term: Term) -> list[str | None]:
    """A term as JSON has it."""
    return [term.kind.value, term.text, term.datatype, term.language]


def term_from(data: list[Any]) -> Term:
    """The term of `term_to`."""
    return Term(Kind(data[0]), data[1], data[2], data[3])


def constant_to(constant: Constant) -> list[Any]:
    """A constant as JSON has it."""
    value = constant.value
    return [constant.reading.value, value.text if isinstance(value, Name) else term_to(value)]


def constant_from(data: list[Any]) -> Constant:
    """The constant of `constant_to`."""
    reading, value = data
    return Constant(Name(value) if isinstance(value, str) else term_from(value), Reading(reading))


def condition_to(condition: Condition) -> dict[str, Any]:
    """A condition as JSON has it."""
    match condition:
        case Equal() | Different() | IsA() | IsDirectlyA() | IsAbove():
            says: dict[str, Any] = {"constant": constant_to(condition.constant)}
        case OneOf(constants):
            says = {"constants": [constant_to(each) for each in constants]}
        case Order(relation, bound):
            says = {"relation": relation.value, "bound": term_to(bound)}
        case Between(low, high):
            says = {"low": term_to(low), "high": term_to(high)}
        case Text(relation, text):
            says = {"relation": relation.value, "text": text}
        case Binds(variable):
            says = {"variable": variable.name}
        case Exists():
            says = {}
    return {"is": type(condition).__name__, **says}


def condition_from(data: Mapping[str, Any]) -> Condition:
    """The condition of `condition_to`."""
    name = data["is"]
    match name:
        case "OneOf":
            return OneOf(tuple(constant_from(each) for each in data["constants"]))
        case "Order":
            return Order(Relation(data["relation"]), term_from(data["bound"]))
        case "Between":
            return Between(term_from(data["low"]), term_from(data["high"]))
        case "Text":
            return Text(TextRelation(data["relation"]), data["text"])
        case "Binds":
            return Binds(Variable(data["variable"]))
        case "Exists":
            return Exists()
        case _:
            return _OF_ONE_CONSTANT[name](constant_from(data["constant"]))


def expression_to(expression: Expression) -> list[Any]:
    """A constraint as JSON has it.

    >>> from sensewire.model.terms import term_of
    >>> twice = Arithmetic(Sign.TIMES, Variable("x"), Constant(term_of(2), Reading.EXACT))
    >>> expression_from(expression_to(twice)) == twice
    True
    """
    says: list[Any]
    match expression:
        case Variable(name):
            says = [name]
        case Constant():
            says = [constant_to(expression)]
        case Arithmetic(sign, left, right):
            says = [sign.value, expression_to(left), expression_to(right)]
        case Comparison(relation, left, right):
            says = [relation.value, expression_to(left), expression_to(right)]
        case Minus(part) | Negation(part):
            says = [expression_to(part)]
        case Test(variable, condition):
            says = [variable.name, condition_to(condition)]
        case Call(function, arguments):
            says = [function, [expression_to(each) for each in arguments]]
        case And(parts) | Or(parts):
            says = [[expression_to(each) for each in parts]]
    return [type(expression).__name__, *says]


def expression_from(data: list[Any]) -> Expression:
    """The constraint of `expression_to`."""
    name, first, *rest = data
    match name:
        case "Variable":
            return Variable(first)
        case "Constant":
            return constant_from(first)
        case "Arithmetic":
            return Arithmetic(Sign(first), *map(expression_from, rest))
        case "Comparison":
            is_equality = first in list(Equality)
            relation = Equality(first) if is_equality else Relation(first)
            return Comparison(relation, *map(expression_from, rest))
        case "Minus":
            return Minus(expression_from(first))
        case "Negation":
            return Negation(expression_from(first))
        case "Test":
            return Test(Variable(first), condition_from(rest[0]))
        case "Call":
            return Call(first, tuple(map(expression_from, rest[0])))
        case "And":
            return And(tuple(map(expression_from, first)))
        case _:
            return Or(tuple(map(expression_from, first)))
