"""What the values of events come to: their views, and their keys on the axes of an attribute.

A *word* is a value of a property that is no plain number: it is looked at once, however often it
comes. Plain numbers, integers up to 2 ** 53 and doubles, are ranked as they are.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.match.compiled.asking import Axis, Key, as_double
from sensewire.match.compiled.concepts import Concepts, is_datatype
from sensewire.match.views import WITH_TEXT, View, view_of
from sensewire.model import comparison, datatypes
from sensewire.model.datatypes import Number
from sensewire.model.terms import RDF_TYPE, Kind, Term, iri

MOST_WORDS = 1_000_000
"""Words that are remembered; then all are forgotten."""


class Word(NamedTuple):
    """A value of a property, with the classes that its event declares for it."""

    property: int
    term: Term
    types: tuple[Term, ...] = ()


class Seen(NamedTuple):
    """Where a value stands on an axis; None: nowhere. `exact`: the key says all of it, and does not
    stand for a value that is nearly the same. Several, where it may be read in several ways."""

    key: Key | None
    exact: bool = True


NOWHERE = Seen(None)


class Values:
    """The properties and words that events brought, numbered."""

    def __init__(self, knowledge: Knowledge, concepts: Concepts) -> None:
        self.knowledge = knowledge
        self._concepts = concepts
        self.properties: list[Term] = []
        self.words: list[Word] = []
        self._properties: dict[Term, int] = {}
        self._words: dict[Word, int] = {}
        self._has_scopes = bool(knowledge.content.scopes)

    @property
    def is_full(self) -> bool:
        return len(self.words) >= MOST_WORDS

    def property(self, term: Term) -> int:
        """The number of a property; a new one where it is new."""
        number = self._properties.get(term)
        if number is None:
            number = self._properties[term] = len(self.properties)
            self.properties.append(term)
        return number

    def word(self, word: Word) -> int:
        """The number of a word; a new one where it is new."""
        number = self._words.get(word)
        if number is None:
            number = self._words[word] = len(self.words)
            self.words.append(word)
        return number

    def scope_of(self, property: int) -> Scope:
        """Where the values of a property are looked up."""
        return self.knowledge.scope_of(self.properties[property])

    def view(self, word: Word) -> View:
        """A word, seen through the knowledge."""
        root = self.knowledge.value_root(word.term, self.scope_of(word.property))
        return view_of(word.term, root, word.types, self.knowledge)

    def seen(self, word: Word, axis: Axis, detail: object, scope: Scope) -> tuple[Seen, ...]:
        """Where a word stands on an axis of an attribute whose constants are read in a scope."""
        if axis is Axis.WORDS:
            return tuple(self._on_words(word, scope))
        seen = _seen(word.term, axis, detail)
        if not word.types:
            return (seen,)
        # Whatever a class is equal to, its instances are too.
        return tuple(dict.fromkeys((seen, *(_seen(each, axis, detail) for each in word.types))))

    def _on_words(self, word: Word, scope: Scope) -> Iterator[Seen]:
        """Its root, that of its text in the constants' scope, its classes, its own datatypes."""
        root = self.knowledge.value_root
        term = word.term
        if term.kind is Kind.STRING and not word.types and not self._has_scopes:  # nearly all
            number = self._concepts.find(root(term, None))
            yield NOWHERE if number is None else Seen(float(number))
            return
        roots: dict[Term, None] = {}
        if term.kind is not Kind.NUMBER:
            roots[root(term, self.scope_of(word.property))] = None
            roots[root(term, scope)] = None
        type_scope = self.knowledge.scope_of(RDF_TYPE) if word.types else None
        for each in word.types:
            roots[root(each, type_scope)] = None
        if term.datatype is not None and not is_datatype(datatype := iri(term.datatype)):
            roots[datatype] = None
        numbers = [self._concepts.find(each) for each in roots] or [None]
        yield from (NOWHERE if each is None else Seen(float(each)) for each in numbers)


def _seen(term: Term, axis: Axis, detail: object) -> Seen:
    match axis:
        case Axis.NUMBERS:
            number = comparison.numeric(term)
            return NOWHERE if number is None else _number(number)
        case Axis.INSTANTS:
            instant = comparison.date_of(term)
            return NOWHERE if instant is None else _exact(Fraction(instant))
        case Axis.QUANTITIES:
            quantity = comparison.quantity_of(term)
            on_axis = quantity is not None and quantity.dimension == detail
            return _exact(quantity.base) if quantity is not None and on_axis else NOWHERE
        case Axis.STRINGS:
            by_text = term.kind in (Kind.STRING, Kind.UNTYPED)
            return Seen(term.text.encode()) if by_text else NOWHERE
        case Axis.TEXTS:
            return Seen(term.text.encode()) if term.kind in WITH_TEXT else NOWHERE
        case Axis.PRESENT | Axis.FLAG | Axis.WORDS:
            return NOWHERE


def _number(number: Number) -> Seen:
    double = comparison.as_double(number)
    if math.isnan(double):
        return NOWHERE
    if isinstance(number, float):
        return Seen(double)
    return Seen(double, abs(double) <= 2.0**53 and double.is_integer() and double == number)


def _exact(value: Fraction) -> Seen:
    double = as_double(value)
    return Seen(double, math.isfinite(double) and Fraction(double) == value)


def is_plain_number(term: Term) -> bool:
    """Whether a term is a number as JSON has them: ranked as it is, without being remembered."""
    datatype = term.datatype
    if datatype == datatypes.INTEGER:
        return term.kind is Kind.NUMBER and len(term.text) <= 15 and term.text[0] != "+"
    return datatype == datatypes.DOUBLE and term.kind is Kind.NUMBER
