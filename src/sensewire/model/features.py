"""What a clause asks for, as data: matchers say which features they accept."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import assert_never

from sensewire.model.canonical import Clause
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    OneOf,
    Order,
    Reading,
    Text,
    Variable,
    constants_of,
)
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Not,
    OperatorCall,
    Predicate,
    TriplePattern,
)


class Feature(StrEnum):
    """Something that a clause may ask for; the text completes "this matcher does not take …"."""

    EVERYTHING = "a clause without atoms"
    EQUAL = "= conditions"
    DIFFERENT = "!= conditions"
    ONE_OF = "in conditions"
    ORDER = "order conditions"
    BETWEEN = "between conditions"
    TEXT = "conditions on text"
    EXISTS = "exists conditions"
    IS_A = "is a conditions"
    IS_DIRECTLY_A = "is directly a conditions"
    IS_ABOVE = "is above conditions"
    EXACT = "exact constants"
    BINDING = "predicates that bind a variable"
    NEGATED_PREDICATE = "not before one predicate"
    NEGATION = "not before anything but one predicate"
    PATTERN = "triple patterns"
    PROPERTY_VARIABLE = "variables for the properties of triple patterns"
    OPERATOR = "operator calls"
    BIND = "bind"
    CONSTRAINT = "constraints"
    SELECT = "selected variables"
    INJECTIVE = "injective"
    STRICT = "strict"
    TOLERANCE = "within"


PREDICATES = frozenset(
    {
        Feature.EQUAL,
        Feature.DIFFERENT,
        Feature.ONE_OF,
        Feature.ORDER,
        Feature.BETWEEN,
        Feature.TEXT,
        Feature.EXISTS,
        Feature.IS_A,
        Feature.IS_DIRECTLY_A,
        Feature.IS_ABOVE,
    }
)
"""The conditions that predicates may have without binding anything."""


def features_of(clause: Clause) -> frozenset[Feature]:
    """The features that a clause asks for.

    >>> from sensewire.model.conditions import exact, Name
    >>> asked = Conjunction((Predicate(exact(Name("price")), Exists()),))
    >>> sorted(feature.name for feature in features_of(Clause(asked)))
    ['EXACT', 'EXISTS']
    """
    return frozenset(_features(clause))


def _features(clause: Clause) -> Iterator[Feature]:
    if not clause.conjunction.atoms:
        yield Feature.EVERYTHING
    yield from _features_inside(clause.conjunction)
    if clause.select is not None:
        yield Feature.SELECT
    if clause.injective:
        yield Feature.INJECTIVE
    if clause.strict:
        yield Feature.STRICT
    if clause.tolerance is not None:
        yield Feature.TOLERANCE


def _features_inside(conjunction: Conjunction) -> Iterator[Feature]:
    if conjunction.constraints:
        yield Feature.CONSTRAINT
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                yield from _features_of_condition(atom.condition)
                if atom.attribute.reading is Reading.EXACT:
                    yield Feature.EXACT
            case TriplePattern():
                yield Feature.PATTERN
                if isinstance(atom.property, Variable):
                    yield Feature.PROPERTY_VARIABLE
            case OperatorCall():
                yield Feature.OPERATOR
            case Bind():
                yield Feature.BIND
            case Not(body=Conjunction(atoms=(Predicate(),), constraints=())):
                yield Feature.NEGATED_PREDICATE
                yield from _features_inside(atom.body)
            case Not():
                yield Feature.NEGATION
                yield from _features_inside(atom.body)
            case _:
                assert_never(atom)


def _features_of_condition(condition: Condition) -> Iterator[Feature]:
    yield _OF_CONDITIONS[type(condition)]
    for constant in constants_of(condition):
        if constant.reading is Reading.EXACT:
            yield Feature.EXACT


_OF_CONDITIONS: Mapping[type[Condition], Feature] = {
    Equal: Feature.EQUAL,
    Different: Feature.DIFFERENT,
    OneOf: Feature.ONE_OF,
    Order: Feature.ORDER,
    Between: Feature.BETWEEN,
    Text: Feature.TEXT,
    Exists: Feature.EXISTS,
    IsA: Feature.IS_A,
    IsDirectlyA: Feature.IS_DIRECTLY_A,
    IsAbove: Feature.IS_ABOVE,
    Binds: Feature.BINDING,
}
