"""How the oracle measures how far an event is from a conjunction (Burcea 2003, section 4.1)."""

import math
from collections.abc import Iterable
from fractions import Fraction

from sensewire.match.oracle_values import Reader, Scopes, spelled
from sensewire.model import comparison
from sensewire.model.conditions import (
    Between,
    Constant,
    Equal,
    OneOf,
    Order,
    Reading,
)
from sensewire.model.datatypes import Number
from sensewire.model.subscription import Conjunction, Predicate
from sensewire.model.terms import Term

FAR = float("inf")


def graded(conjunction: Conjunction) -> tuple[list[Predicate], Conjunction]:
    """The predicates that may be met nearly, and the rest, which must hold."""
    near = [atom for atom in conjunction.atoms if isinstance(atom, Predicate) and _is_graded(atom)]
    rest = tuple(atom for atom in conjunction.atoms if atom not in near)
    return near, Conjunction(rest, conjunction.constraints)


def _is_graded(predicate: Predicate) -> bool:
    return isinstance(predicate.condition, Equal | OneOf | Order | Between)


def distance_of(predicate: Predicate, values: Iterable[tuple[Term, Term]], reader: Reader) -> float:
    """The least distance of a predicate from the (property, value) pairs of the home vertex."""
    return min((_from(predicate, name, value, reader) for name, value in values), default=FAR)


def least_of(predicate: Predicate, property: Term, reader: Reader) -> float:
    """The least distance of a predicate from any value that a property might have."""
    if reader.names(property, predicate.attribute):
        return 0.0
    if not isinstance(predicate.condition, Equal | OneOf):
        return FAR
    return _sideways(predicate.attribute, property, reader)


def _from(predicate: Predicate, property: Term, value: Term, reader: Reader) -> float:
    condition = predicate.condition
    scopes = reader.scopes(property, predicate.attribute)
    named = reader.names(property, predicate.attribute)
    if named and reader.meets(value, condition, scopes):
        return 0.0
    match condition:
        case Equal():
            return _up(predicate.attribute, property, (condition.constant,), value, reader)
        case OneOf():
            return _up(predicate.attribute, property, condition.constants, value, reader)
        case Order() if named:
            return _overshoot(value, condition.bound)
        case Between() if named:
            low, high = condition.low, condition.high
            below = comparison.order(value, low)
            if comparison.order(value, high) is None or below is None:
                return FAR
            return _overshoot(value, low if below < 0 else high)
    return FAR


def _up(
    attribute: Constant,
    property: Term,
    constants: tuple[Constant, ...],
    value: Term,
    reader: Reader,
) -> float:
    """Steps from the attribute up to the event's, and from the nearest constant up to its value."""
    sideways = _sideways(attribute, property, reader)
    if sideways == FAR:
        return FAR
    scopes = reader.scopes(property, attribute)
    return sideways + min(_steps(constant, value, scopes, reader) for constant in constants)


def _sideways(attribute: Constant, property: Term, reader: Reader) -> float:
    if reader.names(property, attribute):
        return 0.0
    if attribute.reading is Reading.EXACT:
        return FAR
    steps = reader.knowledge.attribute_steps_up(spelled(attribute), property)
    return FAR if steps is None else steps


def _steps(constant: Constant, value: Term, scopes: Scopes, reader: Reader) -> float:
    if reader.meets(value, Equal(constant), scopes):
        return 0.0
    if constant.reading is Reading.EXACT:
        return FAR
    root = reader.knowledge.value_root
    asked = root(spelled(constant), scopes.constant)
    steps = reader.knowledge.steps_up(asked, root(value, scopes.value))
    return FAR if steps is None else steps


def _overshoot(value: Term, bound: Term) -> float:
    """How far a number is past a bound, in units of the bound; a strict bound met exactly is 0."""
    found, asked = comparison.numeric(value), comparison.numeric(bound)
    if found is None or asked is None:
        return FAR
    return _relative(found, asked)


def _relative(found: Number, asked: Number) -> float:
    if isinstance(found, float) or isinstance(asked, float):
        a, b = comparison.as_double(found), comparison.as_double(asked)
        distance = abs(a - b) / max(abs(b), 1.0)
        return distance if math.isfinite(distance) else FAR
    exact = abs(Fraction(found) - Fraction(asked)) / max(abs(Fraction(asked)), Fraction(1))
    return float(exact) if exact < 1e300 else FAR
