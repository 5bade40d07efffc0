"""How the oracle reads one value: root, ⊑, and the conditions on it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import assert_never

from sensewire.knowledge.knowledge import Knowledge
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


class Reader:
    """Reads the values of one event through the knowledge."""

    def __init__(self, knowledge: Knowledge, facts: Iterable[Fact]) -> None:
        self.knowledge = knowledge
        self._types: dict[Term, list[Term]] = defaultdict(list)
        for fact in facts:
            if fact.property == RDF_TYPE:
                self._types[fact.subject].append(fact.object)

    def names(self, property: Term, attribute: Constant) -> bool:
        """Whether a fact's property is the attribute, or narrower under meaning."""
        if attribute.reading is Reading.EXACT:
            return same(property, attribute.value)
        asked = self.knowledge.attribute_root(_term(attribute))
        return asked in self.knowledge.attributes_above(self.knowledge.attribute_root(property))

    def meets(self, value: Term, condition: Condition) -> bool:
        """Whether a value meets a condition; what cannot be compared does not."""
        match condition:
            case Equal():
                return self._equals(value, condition.constant)
            case Different():
                return not self._equals(value, condition.constant)
            case OneOf():
                return any(self._equals(value, constant) for constant in condition.constants)
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
                return self._is_a(value, condition.constant)
            case IsDirectlyA():
                return self._is_directly_a(value, condition.constant)
            case IsAbove():
                return self._is_above(value, condition.constant)
            case _:
                assert_never(condition)

    def _equals(self, value: Term, constant: Constant) -> bool:
        if constant.reading is Reading.EXACT:
            return same(value, constant.value)
        return self.is_below(value, _term(constant)) or comparison.equal(value, _term(constant))

    def is_below(self, value: Term, concept: Term) -> bool:
        """value ⊑ concept: by its root, by its classes, by its datatype."""
        return self.knowledge.value_root(concept) in self._above(value)

    def _above(self, value: Term) -> Iterator[Term]:
        root = self.knowledge.value_root
        word = () if value.kind is Kind.NUMBER else (value,)  # NaN is not even below itself
        for term in (*word, *self._classes(value), *_datatypes(value)):
            yield from self.knowledge.above(root(term))

    def _is_a(self, value: Term, concept: Constant) -> bool:
        if concept.reading is Reading.MEANING:
            return self.is_below(value, _term(concept))
        named = (value, *self._classes(value), *_datatypes(value))
        return any(same(term, concept.value) for term in named)

    def _is_directly_a(self, value: Term, concept: Constant) -> bool:
        declared = [
            *self._classes(value),
            *self.knowledge.parents(self.knowledge.value_root(value)),
        ]
        if value.datatype is not None:
            declared.append(iri(value.datatype))
        if concept.reading is Reading.EXACT:
            return any(same(term, concept.value) for term in declared)
        asked = self.knowledge.value_root(_term(concept))
        return any(self.knowledge.value_root(term) == asked for term in declared)

    def _is_above(self, value: Term, concept: Constant) -> bool:
        asked = self.knowledge.value_root(_term(concept))
        candidates = {self.knowledge.value_root(t) for t in (value, *self._classes(value))}
        return any(c != asked and c in self.knowledge.above(asked) for c in candidates)

    def _classes(self, value: Term) -> list[Term]:
        """The declared classes of an individual, in the event or in the knowledge."""
        listed = self.knowledge.classes(self.knowledge.value_root(value))
        return [*self._types.get(value, ()), *listed]


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


def _term(constant: Constant) -> Term:
    """The term of a constant; a bare name is the string that it spells."""
    return string(constant.value.text) if isinstance(constant.value, Name) else constant.value


def _datatypes(value: Term) -> Iterator[Term]:
    """The datatypes of a literal: its own and their bases; an untyped one has all that it fits."""
    if value.datatype is None:
        return
    yield from map(iri, datatypes.bases(value.datatype))
    if value.kind is Kind.UNTYPED:
        yield from (iri(d) for d in datatypes.FITTED_DATATYPES if datatypes.fits(value.text, d))
