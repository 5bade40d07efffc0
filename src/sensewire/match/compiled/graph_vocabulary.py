"""What patterns ask of vertices and properties, numbered; and what a term of an event answers.

    vertex test    what a constant stands for, a class, a condition on one value     found by keys
    filter         not a test; a number or an instant between bounds                 compared
    property       what an edge's property stands for                                found by keys

A vertex's tests are those that its term meets, and those of the classes that its event declares for
it: each is looked up once for a term, however often it comes. Nothing is forgotten: numbers stay
what they are for every segment that was compiled.

Cost: of a new term a look-up for each of its roots and keys, and a try of each condition that has
no keys (regular expressions above all).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.asking import as_double
from sensewire.match.compiled.attributes import Attributes
from sensewire.match.compiled.flags import Flags
from sensewire.match.compiled.graph_expressions import Part, postfix
from sensewire.match.compiled.graph_layout import (
    ANY_PROPERTY,
    CONSTANT_NUMBER,
    FILTER_WORDS,
    HIGH_OPEN,
    HIGH_ROUNDED,
    HOME,
    INSTANT_ROUNDED,
    IS_DATE,
    IS_DOUBLE,
    IS_NUMBER,
    IS_SINGLE,
    LOW_OPEN,
    LOW_ROUNDED,
    NOT_TEST,
    OF_INSTANT,
    OF_MANY,
    OF_NUMBER,
    OWN_PROPERTIES,
    ROUNDED,
    STRICT,
)
from sensewire.match.compiled.graph_triggers import CLASS, CONSTANT, UNSEEN
from sensewire.match.compiled.growing import Growing
from sensewire.match.oracle_constraints import BRIDGED, truth
from sensewire.match.oracle_members import MEMBER, is_membership, is_part_of_a_list
from sensewire.match.oracle_strict import STRICT as STRICTLY
from sensewire.match.oracle_strict import plain
from sensewire.match.oracle_values import Reader
from sensewire.match.views import view_of
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import (
    Between,
    Condition,
    Constant,
    Equal,
    IsA,
    IsAbove,
    IsDirectlyA,
    OneOf,
    Order,
    Reading,
    Relation,
    Variable,
)
from sensewire.model.datatypes import Number
from sensewire.model.expressions import Expression
from sensewire.model.terms import Kind, Term, blank

_NOBODY = blank("nobody")
"""A vertex that nothing is known of but its classes."""
INFINITY = float("inf")
Unary = Callable[[Term], bool]


class Value(NamedTuple):
    """The number and the instant that a term is, as doubles, and what is to be known of them."""

    number: float
    instant: float
    flags: int


class Vocabulary:
    """Vertex tests, filters and properties, growing."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.version = 0
        """Rises with whatever is new: what was known of a term before may lack something."""
        self.asked: list[tuple[Any, ...]] = []
        """All that was asked for, in the order in which it was numbered."""
        self.weights = Growing(np.uint8)
        self.filters = Growing(np.int32)
        self.bounds = Growing(np.float64)
        self.asks_any = False
        """Whether some edge has any property."""
        self.asks_of_facts = False
        """Whether to some clause facts are vertices."""
        self.reads_members = False
        self.reads_strictly = False
        self.reads_all = False
        """Whether some clause is judged by facts whatever their properties."""
        self._attributes = Attributes(knowledge)
        self._flags = Flags(knowledge)
        self._tests: dict[Hashable, int] = {("home",): HOME}
        self._constants: dict[Constant, int] = {}
        self._exactly: dict[Term, int] = {}
        self._same: dict[Term, int] = {}
        self._strictly: dict[Term, int] = {}
        self._unary: list[tuple[int, Unary]] = []
        self._filters: dict[Hashable, int] = {}
        self._properties: dict[Hashable, int] = {}
        self._asked_properties: dict[Constant, int] = {}
        self._of_attribute: dict[int, int] = {}
        self._strict_properties: dict[Term, int] = {}
        self._member_properties: list[int] = []
        self.weights.append(CLASS)
        self._filter(("exempt",), 0, 0, 0, 0.0, 0.0)
        self.asked.clear()
        self.properties = OWN_PROPERTIES

    # What is asked for

    def test(self, condition: Condition) -> int:
        """The number of a condition on a vertex, its words looked up everywhere."""
        weight = UNSEEN
        if isinstance(condition, Equal | OneOf):
            weight = CONSTANT
        elif isinstance(condition, IsA | IsDirectlyA | IsAbove):
            weight = CLASS
        number, is_new = self._test(("test", condition), weight)
        if is_new:
            term = _only_term(condition)
            if term is None:
                self._flags.add(number, condition, None)
            else:
                self._exactly[term] = number
        return number

    def constant(self, constant: Constant) -> int:
        """The number of being what a constant stands for."""
        number = self._constants.get(constant)
        if number is None:
            number = self._constants[constant] = self.test(Equal(constant))
        return number

    def same(self, term: Term) -> int:
        """The number of being the same term as sent."""
        number, is_new = self._test(("same", term), CONSTANT)
        if is_new:
            self._same[term] = number
        return number

    def strictly(self, term: Term) -> int:
        """The number of being the same term to a strict subscription."""
        number, is_new = self._test(("strictly", plain(term)), CONSTANT)
        if is_new:
            self._strictly[plain(term)] = number
        return number

    def tried(self, condition: Condition) -> int:
        """The number of a condition that is tried on each term alone."""
        number, is_new = self._test(("tried", condition), UNSEEN)
        if is_new:
            reader = Reader(self.knowledge, ())
            self._unary.append((number, lambda term: reader.meets(term, condition)))
        return number

    def constrained(self, variable: Variable, constraint: Expression, strict: bool) -> int:
        """The number of a constraint that asks about one variable's term alone."""
        number, is_new = self._test(("constrained", variable, constraint, strict), UNSEEN)
        if is_new:
            rules = STRICTLY if strict else BRIDGED
            reader = Reader(self.knowledge, ())

            def holds(term: Term) -> bool:
                sent = plain(term) if strict else term
                return truth(constraint, {variable: sent}, rules, reader) is True

            self._unary.append((number, holds))
        return number

    def _test(self, key: tuple[Any, ...], weight: int) -> tuple[int, bool]:
        number = self._tests.get(key)
        if number is not None:
            return number, False
        number = self._tests[key] = len(self.weights)
        self.asked.append(key)
        self.weights.append(weight)
        self.version += 1
        return number, True

    def not_test(self, test: int) -> int:
        """The number of the filter that a test is not met."""
        return self._filter(("not", test), NOT_TEST, test, 0, 0.0, 0.0)

    def between(self, condition: Order | Between, strict: bool) -> int | None:
        """The number of the filter that an order asks for; None where doubles cannot say it."""
        low: Term | None
        high: Term | None
        flags = STRICT if strict else 0
        match condition:
            case Between():
                low, high = condition.low, condition.high
            case Order(Relation.LESS | Relation.AT_MOST as relation, bound):
                low, high = None, bound
                flags |= HIGH_OPEN if relation is Relation.LESS else 0
            case Order(relation, bound):
                low, high = bound, None
                flags |= LOW_OPEN if relation is Relation.MORE else 0
        kinds = {each.kind for each in (low, high) if each is not None}
        if kinds == {Kind.NUMBER}:
            kind = OF_NUMBER
        elif kinds == {Kind.DATE} and not strict:
            kind = OF_INSTANT
        else:
            return None
        ends = [-INFINITY, INFINITY]
        for place, (bound_or_none, rounded) in enumerate(
            ((low, LOW_ROUNDED), (high, HIGH_ROUNDED))
        ):
            if bound_or_none is None:
                continue
            if strict and bound_or_none.datatype == datatypes.FLOAT:
                return None
            known = value_of(bound_or_none)
            ends[place] = known.number if kind == OF_NUMBER else known.instant
            if ends[place] != ends[place]:
                return None
            if known.flags & (ROUNDED if kind == OF_NUMBER else INSTANT_ROUNDED):
                flags |= rounded
        return self._filter(("between", condition, strict), kind, 0, flags, ends[0], ends[1])

    def _filter(
        self, key: tuple[Any, ...], kind: int, test: int, flags: int, low: float, high: float
    ) -> int:
        number = self._filters.get(key)
        if number is None:
            number = self._filters[key] = len(self.filters) // FILTER_WORDS
            self.asked.append(key)
            self.filters.extend([kind, test, flags])
            self.bounds.extend([low, high])
        return number

    def of_many(
        self, constraint: Expression, named: tuple[Variable, ...], strict: bool
    ) -> int | None:
        """The number of the filter that a constraint on several variables asks for; None where
        kernels cannot calculate it."""
        parts = postfix(constraint, named, strict)
        return None if parts is None else self.calculated(parts, strict)

    def calculated(self, parts: Sequence[Part], strict: bool) -> int:
        """The number of the filter of an expression in postfix notation."""
        key = ("many", tuple(parts), strict)
        is_new = key not in self._filters
        number = self._filter(key, OF_MANY, len(parts), STRICT if strict else 0, 0.0, 0.0)
        if is_new:
            for what, which, value in parts:
                rounded = LOW_ROUNDED if what == CONSTANT_NUMBER and which else 0
                self.filters.extend([what, which, rounded])
                self.bounds.extend([value, 0.0])
        return number

    def any_property(self) -> None:
        """Some edge has any property."""
        if not self.asks_any:
            self.asks_any = True
            self.asked.append(("any",))
            self.version += 1

    def of_facts(self) -> None:
        """To some clause facts are vertices."""
        if not self.asks_of_facts:
            self.asks_of_facts = True
            self.asked.append(("facts",))
            self.version += 1

    def everything(self) -> None:
        """Some clause is judged by facts whatever their properties."""
        if not self.reads_all:
            self.reads_all = True
            self.asked.append(("everything",))
            self.version += 1

    def property_of(self, constant: Constant, strict: bool) -> int:
        """The number of an edge's property."""
        if strict:
            assert isinstance(constant.value, Term)
            term = plain(constant.value)
            number, is_new = self._property(("strictly", term))
            if is_new:
                self.asked.append(("property", constant, strict))
                self._strict_properties[term] = number
                self.reads_strictly = True
            return number
        known = self._asked_properties.get(constant)
        if known is not None:
            return known
        attribute = self._attributes.number(constant)
        reads = constant.reading is Reading.MEANING and attribute in self._attributes.served_by(
            MEMBER
        )
        number, is_new = self._property((attribute, reads))
        if is_new:
            self.asked.append(("property", constant, strict))
            self._of_attribute.setdefault(attribute, number)
            if reads:
                self._member_properties.append(number)
                self.reads_members = True
        self._asked_properties[constant] = number
        return number

    def _property(self, key: Hashable) -> tuple[int, bool]:
        number = self._properties.get(key)
        if number is not None:
            return number, False
        number = self._properties[key] = self.properties
        self.properties += 1
        self.version += 1
        return number, True

    # What a term answers

    def met_by(self, term: Term) -> Iterator[int]:
        """The tests that a term meets, whatever its event says of it; some perhaps twice."""
        knowledge = self.knowledge
        view = view_of(term, knowledge.value_root(term), (), knowledge)
        yield from self._flags.held_by(view)
        for known in (self._exactly, self._same):
            if term in known:
                yield known[term]
        if plain(term) in self._strictly:
            yield self._strictly[plain(term)]
        yield from (number for number, holds in self._unary if holds(term))

    def met_as_class(self, term: Term) -> Iterator[int]:
        """The tests that whoever has a class meets; some perhaps twice."""
        view = view_of(_NOBODY, _NOBODY, (term,), self.knowledge)
        yield from self._flags.held_by(view)

    def met_by_all(self) -> Iterator[int]:
        """The tests that a blank node meets without a class."""
        yield from self._flags.held_by(view_of(_NOBODY, _NOBODY, (), self.knowledge))
        yield from (number for number, holds in self._unary if holds(_NOBODY))

    def served_by(self, property: Term, derived: bool = False) -> Iterator[int]:
        """The numbers of the properties that a fact's property serves; strict ones read no facts
        that functions derived."""
        found: dict[int, None] = {ANY_PROPERTY: None} if self.asks_any else {}
        for attribute in self._attributes.served_by(property):
            if attribute in self._of_attribute:
                found[self._of_attribute[attribute]] = None
        if is_membership(property):
            found.update(dict.fromkeys(self._member_properties))
        if not derived and plain(property) in self._strict_properties:
            found[self._strict_properties[plain(property)]] = None
        return iter(found)

    def names(self) -> list[str]:
        """The names of properties, as attributes have them, without their synonyms."""
        strictly = (term.text for term in self._strict_properties if term.kind is Kind.UNTYPED)
        return [*self._attributes.names(), *strictly]

    @property
    def asks_for_all(self) -> bool:
        """Whether facts can make a difference whatever their properties."""
        return self.asks_any or self.asks_of_facts or self.reads_all

    def asks_for(self, property: Term) -> bool:
        """Whether facts with a property can make a difference."""
        if self.asks_for_all:
            return True
        if self.reads_members and is_part_of_a_list(property):
            return True
        return next(self.served_by(property), None) is not None

    def reading_lists(self) -> tuple[int, ...]:
        """The properties that read the items of lists."""
        return tuple(self._member_properties)


def _only_term(condition: Condition) -> Term | None:
    """The one term that meets a condition, whatever else is known: an exact IRI."""
    match condition:
        case Equal(Constant(value=Term(kind=Kind.IRI) as term, reading=Reading.EXACT)):
            return term
        case _:
            return None


def value_of(term: Term) -> Value:
    """A term's number and instant.

    >>> from sensewire.model.terms import term_of
    >>> value_of(term_of(5)).number
    5.0
    """
    nan = float("nan")
    flags = IS_NUMBER if term.kind is Kind.NUMBER else 0
    flags |= IS_DATE if term.kind is Kind.DATE else 0
    number = instant = nan
    known = comparison.numeric(term)
    if known is not None:
        number, rounded = _double(known)
        flags |= ROUNDED if rounded else 0
        flags |= IS_DOUBLE if isinstance(known, float) else 0
        flags |= IS_SINGLE if term.datatype == datatypes.FLOAT else 0
    moment = comparison.date_of(term)
    if moment is not None:
        exact = Fraction(moment)
        instant = as_double(exact)
        flags |= INSTANT_ROUNDED if Fraction(instant) != exact else 0
    return Value(number, instant, flags)


def _double(number: Number) -> tuple[float, bool]:
    double = comparison.as_double(number)
    if isinstance(number, float):
        return double, False
    return double, abs(double) == INFINITY or Fraction(double) != Fraction(number)
