"""Finds what a word may mean: by IRI, prefixed name, local name, label, then with case folded.

The first of these steps that finds anything in scope decides; within a step, the first kind. Cost:
one dictionary look-up a step.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sensewire.knowledge.content import Content, Entity, EntityKind, in_scheme, is_plain_name
from sensewire.model.terms import Kind, Term, iri, local_name

Scope = frozenset[str] | None
"""The schemes that a word is looked up in; None: all of them."""
Order = tuple[EntityKind, ...]

FOR_VALUES: Order = (EntityKind.CONCEPT, EntityKind.INDIVIDUAL, EntityKind.PROPERTY)
FOR_ATTRIBUTES: Order = (EntityKind.PROPERTY, EntityKind.CONCEPT, EntityKind.INDIVIDUAL)


def folded(word: str) -> str:
    """A word with case folded, space and underscore alike.

    >>> folded("Air_Temperature Sensor")
    'air temperature sensor'
    """
    return word.casefold().replace("_", " ")


class Words:
    """The names and labels of all entities."""

    def __init__(self, content: Content) -> None:
        self._entities: dict[Term, Entity] = {each.term: each for each in content.entities}
        self._prefixes = dict(content.prefixes)
        self._names: dict[str, list[Entity]] = defaultdict(list)
        self._labels: dict[str, list[Entity]] = defaultdict(list)
        self._folded: dict[str, list[Entity]] = defaultdict(list)
        for entity in content.entities:
            for name in entity.names:
                self._names[name].append(entity)
            for label in entity.labels:
                self._labels[label].append(entity)
            for word in {folded(each) for each in (*entity.names, *entity.labels)}:
                self._folded[word].append(entity)

    def __getitem__(self, term: Term) -> Entity | None:
        return self._entities.get(term)

    def meant_by(self, term: Term, scope: Scope, order: Order) -> Sequence[Entity]:
        """The entities that a word may mean: one meaning, several, or none."""
        for hits in self._steps(term):
            found = [hit for hit in hits if scope is None or not scope.isdisjoint(hit.schemes)]
            if found:
                return next(of_kind for kind in order if (of_kind := _of(kind, found, order)))
        return ()

    def _steps(self, term: Term) -> Iterator[Iterable[Entity]]:
        word = term.text
        if term.kind is Kind.IRI:
            known = self._known(term)
            if known:  # to some scheme, in scope or not: then it is not read by its local name
                yield known
                return
            word = local_name(word)
        else:
            if ":" in word:
                yield self._known(iri(word))
                prefix, _, name = word.partition(":")
                address = self._prefixes.get(prefix)
                by_prefix = () if address is None else self._known(iri(address + name))
                yield (*by_prefix, *self._known(in_scheme(name, prefix)))
        yield self._names.get(word, ())
        yield self._labels.get(word, ())
        yield self._folded.get(folded(word), ())

    def _known(self, term: Term) -> Sequence[Entity]:
        known = self._entities.get(term)
        return () if known is None else (known,)


def _of(kind: EntityKind, found: Iterable[Entity], order: Order) -> list[Entity]:
    """Those of a kind; a plain name serves as a property wherever an attribute is looked up."""
    plain_too = kind is EntityKind.PROPERTY and order is FOR_ATTRIBUTES
    return [e for e in found if kind in e.kinds or (plain_too and is_plain_name(e.term))]
