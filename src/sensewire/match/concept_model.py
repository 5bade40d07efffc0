"""Refuses statement patterns that the concept model does not allow (Wang 2004, section 3.2).

A meta-statement (class, property, class) says which properties a class may have, and of which
classes their values are. A statement pattern is possible where some meta-statement is narrower or
broader than it in each of its three parts: an entity of the one may then be one of the other. A
vertex that is given several classes may have the properties of each; two of them must not exclude
each other. Without meta-statements properties are not checked, without knowledge nothing is.

Cost: the meta-statements of a pattern's properties, once for each property and then remembered.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import NamedTuple

from sensewire.knowledge.content import EntityKind, as_attribute
from sensewire.knowledge.knowledge import Knowledge, called
from sensewire.knowledge.vocabulary import THING, VOCABULARIES, is_datatype, successor
from sensewire.match.views import spelled
from sensewire.model import datatypes
from sensewire.model.conditions import Constant
from sensewire.model.errors import SubscriptionError, pointed_at
from sensewire.model.subscription import Home, Subscription, TypedStatement, Vertex
from sensewire.model.terms import Kind, Term, iri, local_name

_MOST_LISTED = 12
_LONGEST_NAME = 60
_REMEMBERED = 1_024  # properties; texts bring new ones without end


class _Meta(NamedTuple):
    """A meta-statement, by the roots of its parts."""

    owner: Term
    property: Term
    value: Term


class ConceptModel:
    """The classes, the meta-statements and the exclusions of some knowledge."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._about = lru_cache(maxsize=_REMEMBERED)(self._of_property)

    def refuse_impossible(self, subscription: Subscription) -> None:
        """Raise SubscriptionError, with the place, for the first statement that cannot hold."""
        if not subscription.typed or not self._knowledge.content.entities:
            return
        for statement in subscription.typed:
            for given in (statement.subject_class, statement.object_class):
                if not self._is_class(spelled(given)):
                    raise _wrong(statement.text, given, self._nearest(given))
        classes = _classes(subscription.typed)
        self._refuse_exclusion(subscription.typed[0].text, classes)
        if self._meta:
            telling = {vertex: self._telling(given) for vertex, given in classes.items()}
            for statement in subscription.typed:
                self._refuse_property(statement, telling)

    # Classes

    def _is_class(self, term: Term) -> bool:
        if term.kind is Kind.IRI and is_datatype(successor(term.text)):
            return True
        return any(root in self._class_roots for root in self._knowledge.value_meanings(term))

    @cached_property
    def _class_roots(self) -> frozenset[Term]:
        known = self._knowledge
        concepts = [e.term for e in known.content.entities if EntityKind.CONCEPT in e.kinds]
        return frozenset({THING, *map(known.root, concepts)})

    def _nearest(self, given: Constant) -> str:
        name = _name(given)
        names = {
            each: None
            for entity in self._knowledge.content.entities
            if EntityKind.CONCEPT in entity.kinds
            for each in (*entity.names, *entity.labels)
            if each[:1].casefold() == name[:1].casefold()  # all of WordNet would take seconds
        }
        near = get_close_matches(name, names, n=3)
        hint = f"; near it: {_listed(near)}" if near else ""
        return f"a class of the concept model, and {name!r} is none{hint}"

    def _refuse_exclusion(self, text: str, classes: dict[Vertex, dict[Constant, None]]) -> None:
        for vertex, given in classes.items():
            earlier: list[Constant] = []
            for one in given:
                for other in earlier:
                    if self._exclude_each_other(self._root(one), self._root(other)):
                        expected = f"a class that does not exclude {_name(other)}"
                        raise _wrong(
                            text,
                            one,
                            f"{expected}, which {_shown(vertex)} is too: nothing is both",
                        )
                earlier.append(one)

    def _exclude_each_other(self, one: Term, other: Term) -> bool:
        over = self._above(other)
        return any(not over.isdisjoint(self._excluded.get(each, ())) for each in self._above(one))

    @cached_property
    def _excluded(self) -> dict[Term, set[Term]]:
        found: dict[Term, set[Term]] = defaultdict(set)
        for pair in self._knowledge.content.disjoint:
            one, other = map(self._knowledge.root, pair)
            found[one].add(other)
            found[other].add(one)
        return dict(found)

    # Properties

    def _refuse_property(
        self, statement: TypedStatement, telling: Mapping[Vertex, Mapping[Constant, Term]]
    ) -> None:
        asked = spelled(statement.property)
        of_property = self._about(asked)
        if not of_property and asked.kind is Kind.IRI and asked.text.startswith(VOCABULARIES):
            return  # rdf:type, rdf:value and such belong to everything
        owners, values = telling[statement.subject], telling[statement.object]
        owner = _own(statement.subject_class, owners)
        of_owner = [meta for meta in of_property if self._meet(owners.values(), meta.owner)]
        if not of_owner:
            expected = self._owned(_name(owner), _name(statement.property), owners.values())
            raise _wrong(statement.text, statement.property, expected)
        if not any(self._meet(values.values(), meta.value) for meta in of_owner):
            allowed = _listed(sorted({called(meta.value) for meta in of_owner}))
            led = f"what {_name(statement.property)!r} of {_name(owner)!r} leads to"
            given = _own(statement.object_class, values)
            raise _wrong(statement.text, given, f"a class of {led}: {allowed}")

    def _owned(self, owner: str, property: str, owners: Collection[Term]) -> str:
        """What is expected in the place of a property that its class may not have."""
        owned = sorted({called(m.property) for m in self._meta if self._meet(owners, m.owner)})
        if not owned:
            return f"another class before it: {owner!r} has no properties, and so no {property!r}"
        near = get_close_matches(property, owned, n=1)
        hint = f"; near it: {near[0]}" if near else ""
        return f"a property of {owner!r}, which has {_listed(owned)}, not {property!r}{hint}"

    def _of_property(self, property: Term) -> tuple[_Meta, ...]:
        """The meta-statements whose property is narrower or broader than an asked one."""
        known = self._knowledge
        roots, above = known.attribute_roots(property), known.attributes_above(property)
        return tuple(
            meta
            for meta in self._meta
            if meta.property in above or not roots.isdisjoint(known.attributes.above(meta.property))
        )

    @cached_property
    def _meta(self) -> tuple[_Meta, ...]:
        known = self._knowledge
        stated = known.content.statements
        return tuple(
            _Meta(known.root(owner), known.attributes.root(as_attribute(verb)), known.root(value))
            for owner, verb, value in stated
        )

    # What is narrower than what

    def _meet(self, given: Iterable[Term], declared: Term) -> bool:
        """Whether one of the classes of a vertex is narrower or broader than a declared one."""
        above = self._above(declared)
        return any(each in above or declared in self._above(each) for each in given)

    def _above(self, root: Term) -> frozenset[Term]:
        if root.kind is Kind.IRI and is_datatype(root.text):
            return frozenset({THING, *map(iri, datatypes.bases(root.text))})
        return self._knowledge.above(root)

    def _telling(self, given: Iterable[Constant]) -> Mapping[Constant, Term]:
        """The classes of a vertex with their roots; Thing only where there is no other."""
        roots = {each: self._root(each) for each in given}
        return {each: root for each, root in roots.items() if root != THING} or roots

    def _root(self, given: Constant) -> Term:
        term = spelled(given)
        if term.kind is Kind.IRI and is_datatype(successor(term.text)):
            return iri(successor(term.text))
        return self._knowledge.value_root(term)


def _classes(typed: Iterable[TypedStatement]) -> dict[Vertex, dict[Constant, None]]:
    """All classes that each vertex is given."""
    found: dict[Vertex, dict[Constant, None]] = defaultdict(dict)
    for statement in typed:
        found[statement.subject][statement.subject_class] = None
        found[statement.object][statement.object_class] = None
    return found


def _own(given: Constant, telling: Mapping[Constant, Term]) -> Constant:
    """The class that a statement gives to a vertex; where that is Thing, one that tells more."""
    return given if given in telling else next(iter(telling))


def _wrong(text: str, given: Constant, expected: str) -> SubscriptionError:
    shown = pointed_at(text, given.position or 0, f"expected {expected}")
    return SubscriptionError(f"the concept model does not allow this statement:\n{shown}")


def _name(given: Constant) -> str:
    term = spelled(given)
    name = local_name(term.text) if term.kind is Kind.IRI else term.text
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _shown(vertex: Vertex) -> str:
    match vertex:
        case Home():
            return "_:H"
        case Constant():
            return _name(vertex)
        case _:
            return str(vertex)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
