"""How the oracle reads one value: root, ⊑, and the conditions on it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, assert_never

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.model import comparison, datatypes
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
    Text,
    TextRelation,
)
from sensewire.model.event import Fact
from sensewire.model.patterns import compiled
from sensewire.model.terms import RDF_TYPE, Kind, Term, iri, local_name, string

_LITERALS = frozenset(Kind) - {Kind.IRI, Kind.BLANK}
_BY_TEXT = (Kind.STRING, Kind.UNTYPED)
_WITH_TEXT = (Kind.STRING, Kind.UNTYPED, Kind.LANGUAGE, Kind.IRI)


class Scopes(NamedTuple):
    """Where words are looked up: a value's in the scope of the event's attribute, a constant's in
    that of the subscription's."""

    value: Scope = None
    constant: Scope = None


EVERYWHERE = Scopes()


class Reader:
    """Reads the values of one event through the knowledge."""

    def __init__(self, knowledge: Knowledge, facts: Iterable[Fact]) -> None:
        self.knowledge = knowledge
        self._types: dict[Term, list[Term]] = defaultdict(list)
        for fact in facts:
            if fact.property == RDF_TYPE:
                self._types[fact.subject].append(fact.object)

    def types(self, value: Term) -> Sequence[Term]:
        """The classes that the event declares for a value."""
        return self._types.get(value, ())

    def datatypes(self, value: Term) -> Iterator[Term]:
        """The datatypes that a literal is of."""
        return _datatypes(value)

    def names(self, property: Term, attribute: Constant) -> bool:
        """Whether a fact's property is the attribute, or narrower under meaning."""
        if attribute.reading is Reading.EXACT:
            return same(property, attribute.value)
        asked = self.knowledge.attribute_roots(spelled(attribute))
        return not asked.isdisjoint(self.knowledge.attributes_above(property))

    def scopes(self, property: Term, attribute: Constant) -> Scopes:
        """Where the values of a property, and the constants for an attribute, are looked up."""
        scope = self.knowledge.scope_of
        return Scopes(scope(property), scope(spelled(attribute)))

    def meets(self, value: Term, condition: Condition, scopes: Scopes = EVERYWHERE) -> bool:
        """Whether a value meets a condition; what cannot be compared does not."""
        match condition:
            case Equal():
                return self._equals(value, condition.constant, scopes)
            case Different():
                return not self._equals(value, condition.constant, scopes)
            case OneOf():
                return any(self._equals(value, each, scopes) for each in condition.constants)
            case Order():
                order = comparison.order(value, condition.bound)
                return order is not None and condition.relation.holds(order)
            case Between():
                low = comparison.order(value, condition.low)
                high = comparison.order(value, condition.high)
                return low is not None and high is not None and low >= 0 >= high
            case Text():
                return value.kind in _WITH_TEXT and text_meets(value.text, condition)
            case Exists() | Binds():
                return True
            case IsA():
                return self._is_a(value, condition.constant, scopes)
            case IsDirectlyA():
                return self._is_directly_a(value, condition.constant, scopes)
            case IsAbove():
                return self._is_above(value, condition.constant, scopes)
            case _:
                assert_never(condition)

    def _equals(self, value: Term, constant: Constant, scopes: Scopes) -> bool:
        if constant.reading is Reading.EXACT:
            return same(value, constant.value)
        below = self._is_below(value, constant, scopes)
        return below or comparison.equal(value, spelled(constant))

    def _is_below(self, value: Term, concept: Constant, scopes: Scopes) -> bool:
        """value ⊑ concept: by its root, by its classes, by its datatype."""
        asked = self.knowledge.value_root(spelled(concept), scopes.constant)
        return any(asked in self.knowledge.above(root) for root in self._roots(value, scopes))

    def _roots(self, value: Term, scopes: Scopes) -> Iterator[Term]:
        """The roots of what a value is: itself, its classes in the event, its datatypes."""
        if value.kind is not Kind.NUMBER:  # NaN is not even below itself
            yield self.knowledge.value_root(value, scopes.value)
        yield from map(self._class_root, self.types(value))
        yield from _datatypes(value)

    def _class_root(self, sent: Term) -> Term:
        return self.knowledge.value_root(sent, self.knowledge.scope_of(RDF_TYPE))

    def _is_a(self, value: Term, concept: Constant, scopes: Scopes) -> bool:
        if concept.reading is Reading.MEANING:
            return self._is_below(value, concept, scopes)
        classes = (*self.types(value), *self._listed(value, scopes))
        return any(same(term, concept.value) for term in (value, *classes, *_datatypes(value)))

    def _is_directly_a(self, value: Term, concept: Constant, scopes: Scopes) -> bool:
        root = self.knowledge.value_root(value, scopes.value)
        sent = self.types(value)
        known = (*self._listed(value, scopes), *self.knowledge.parents(root))
        datatype = () if value.datatype is None else (iri(value.datatype),)
        if concept.reading is Reading.EXACT:
            return any(same(term, concept.value) for term in (*sent, *known, *datatype))
        asked = self.knowledge.value_root(spelled(concept), scopes.constant)
        roots = (*map(self._class_root, sent), *map(self.knowledge.root, known), *datatype)
        return asked in roots

    def _is_above(self, value: Term, concept: Constant, scopes: Scopes) -> bool:
        asked = self.knowledge.value_root(spelled(concept), scopes.constant)
        candidates = {
            self.knowledge.value_root(value, scopes.value),
            *map(self._class_root, self.types(value)),
            *map(self.knowledge.root, self._listed(value, scopes)),
        }
        return any(c != asked and c in self.knowledge.above(asked) for c in candidates)

    def _listed(self, value: Term, scopes: Scopes) -> frozenset[Term]:
        """The declared classes of an individual that the knowledge lists."""
        return self.knowledge.classes(self.knowledge.value_root(value, scopes.value))


def same(term: Term, constant: Term | Name) -> bool:
    """Whether a term is what an exact constant stands for."""
    if isinstance(constant, Name):
        if term.kind is Kind.IRI:
            return local_name(term.text) == constant.text
        return term.kind in _LITERALS and term.text == constant.text
    if term.kind is constant.kind is Kind.NUMBER:
        return comparison.equal(term, constant)
    if term.kind in _BY_TEXT and constant.kind in _BY_TEXT:
        return term.text == constant.text
    return term == constant


def text_meets(text: str, condition: Text) -> bool:
    """Whether a text meets a condition on text."""
    match condition.relation:
        case TextRelation.PREFIX:
            return text.startswith(condition.text)
        case TextRelation.SUFFIX:
            return text.endswith(condition.text)
        case TextRelation.CONTAINS:
            return condition.text in text
        case TextRelation.MATCHES:
            return compiled(condition.text).search(text) is not None
        case _:
            assert_never(condition.relation)


def spelled(constant: Constant) -> Term:
    """The term of a constant; a bare name is the string that it spells."""
    return string(constant.value.text) if isinstance(constant.value, Name) else constant.value


def _datatypes(value: Term) -> Iterator[Term]:
    """The datatypes of a literal: its own and their bases; an untyped one has all that it fits."""
    if value.datatype is None:
        return
    yield from map(iri, datatypes.bases(value.datatype))
    if value.kind is Kind.UNTYPED:
        yield from (iri(d) for d in datatypes.FITTED_DATATYPES if datatypes.fits(value.text, d))
