"""What people mean by their words: roots, what is narrower than what, and which is declared.

The questions that passes, matchers and explanations ask, answered from what the files state
(`content.py`). Two hierarchies stand behind them: that of values (concepts and individuals), and
that of attributes (concepts and properties, mixed paths included; plain names of all schemes
merged). Roots are terms, compared as such; a word that nobody knows is its own root.
"""

from functools import cached_property, lru_cache
from os import PathLike
from typing import Any, Self

from sensewire.knowledge.closure import Closure, closure_of
from sensewire.knowledge.content import Content, Entity, as_attribute, own_name
from sensewire.knowledge.hierarchies import attribute_hierarchy, value_hierarchy
from sensewire.knowledge.mappings import MappingFunction
from sensewire.knowledge.vocabulary import THING
from sensewire.knowledge.words import FOR_ATTRIBUTES, FOR_VALUES, Scope, Words
from sensewire.model import datatypes
from sensewire.model.collecting import collection_paused
from sensewire.model.terms import Kind, Term, local_name, string

_REMEMBERED = 65_536  # words; events bring new ones without end


class Knowledge:
    """One frozen value; `Knowledge()` is the empty one. Equal content is equal knowledge.

    >>> laptop = Knowledge().value_root(string("laptop"))
    >>> laptop == string("laptop")
    True
    """

    def __init__(self, content: Content = Content()) -> None:  # noqa: B008 - a frozen value
        self.content = content
        self._words = Words(content)
        self.values = value_hierarchy(content)
        self.attributes = attribute_hierarchy(content)
        self._parents = self._declared(content.broader)
        self._classes = self._declared(content.instances)
        remembered = lru_cache(maxsize=_REMEMBERED)
        self.value_root = remembered(self._value_root)
        self.attribute_roots = remembered(self._attribute_roots)
        self.attributes_above = remembered(self._attributes_above)
        self.scope_of = remembered(self._scope_of)
        self.is_ambiguous_in = remembered(self._is_ambiguous_in)
        self._scopes: dict[Term, frozenset[str]] = {}
        for attribute, schemes in content.scopes:
            for root in self.attribute_roots(attribute):
                self._scopes[root] = self._scopes.get(root, frozenset()) | frozenset(schemes)

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> Self:
        """Knowledge from files: YAML, RDF in any syntax, WordNet's folder."""
        from sensewire.knowledge.load import loaded

        with collection_paused():
            return cls(loaded(paths))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Knowledge) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.version)

    def __repr__(self) -> str:
        return f"<Knowledge {self.version[:12]}, {len(self.content.entities):,} entities>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.content,))

    @cached_property
    def version(self) -> str:
        """A hash of the content."""
        from sensewire.knowledge.stored import digest

        return digest(self.content)

    @property
    def mappings(self) -> tuple[MappingFunction, ...]:
        """The mapping functions, in the order of their names."""
        return self.content.mappings

    # Words

    def entity(self, term: Term) -> Entity | None:
        """What is known of an entity under its own term."""
        return self._words[term]

    def value_meanings(self, term: Term, scope: Scope = None) -> tuple[Term, ...]:
        """The roots that a value may stand for; more than one: it is ambiguous."""
        if not _is_word(term):
            return ()
        if self._is_thing(term):
            return (THING,)
        found = self._words.meant_by(term, scope, FOR_VALUES)
        return tuple(dict.fromkeys(self.values.root(entity.term) for entity in found))

    def _value_root(self, term: Term, scope: Scope = None) -> Term:
        """The representative of a value's synonyms; an ambiguous word stays a plain string.

        >>> from sensewire.model.terms import iri
        >>> Knowledge().value_root(iri("http://x.org/laptop")) == string("laptop")
        True
        """
        if not _is_word(term):
            return term
        meanings = self.value_meanings(term, scope)
        if len(meanings) == 1:
            return meanings[0]
        known_elsewhere = term.kind is Kind.IRI and self._words[term] is not None
        return term if known_elsewhere else string(_spelling(term))

    def _is_thing(self, term: Term) -> bool:
        """Whether a word is everybody's word for everything."""
        return _spelling(term) == THING.text and self._words[term] is None

    def is_ambiguous(self, term: Term, scope: Scope = None) -> bool:
        """Whether a value has several meanings."""
        return len(self.value_meanings(term, scope)) > 1

    def _is_ambiguous_in(self, attribute: Term, value: Term) -> bool:
        """Whether a value of an attribute has several meanings."""
        return self.is_ambiguous(value, self.scope_of(attribute))

    def _attribute_roots(self, term: Term) -> frozenset[Term]:
        """The roots that an attribute's name stands for; a name in several schemes has several."""
        found = self._words.meant_by(term, None, FOR_ATTRIBUTES)
        if found:
            return frozenset(self.attributes.root(as_attribute(each.term)) for each in found)
        return frozenset((string(_spelling(term)),))

    def _scope_of(self, attribute: Term) -> Scope:
        """The schemes that the values of an attribute are read in; None: all."""
        bound = [self._scopes[root] for root in self.attribute_roots(attribute) & set(self._scopes)]
        return frozenset().union(*bound) if bound else None

    # What is narrower than what

    def above(self, root: Term) -> frozenset[Term]:
        """The roots that a concept or an individual is ⊑, itself included."""
        return self.values.above(root) | {THING}

    def below(self, root: Term) -> frozenset[Term]:
        """The known roots that are ⊑ a concept, individuals included."""
        return self.values.below(root)

    def children(self, root: Term) -> frozenset[Term]:
        """The roots one step below a concept."""
        return frozenset(self.values.children(root))

    def _attributes_above(self, attribute: Term) -> frozenset[Term]:
        """The roots that an attribute is ⊑, its own included."""
        roots = self.attribute_roots(attribute)
        return frozenset().union(*(self.attributes.above(root) for root in roots))

    def parents(self, root: Term) -> frozenset[Term]:
        """The declared parents of a concept, as they were declared."""
        return self._parents.get(root, frozenset())

    def classes(self, root: Term) -> frozenset[Term]:
        """The declared classes of an individual that the knowledge lists, as they were declared."""
        return self._classes.get(root, frozenset())

    def root(self, entity: Term) -> Term:
        """The root of an entity, given by its own term."""
        return self.values.root(entity)

    # Ways up

    def path_up(self, root: Term, ancestor: Term) -> list[Term] | None:
        """The shortest way from a concept or individual up to a more general concept, or None."""
        declared = self.values.path_up(root, ancestor)
        if ancestor != THING or root == THING:
            return declared
        out = self.values.way_out(root, but=THING)
        ways = [way for way in (declared, out and [*out, THING]) if way is not None]
        return min(ways, key=len)

    def steps_up(self, root: Term, ancestor: Term) -> int | None:
        """The length of the shortest way up; from an individual to its class is one step."""
        path = self.path_up(root, ancestor)
        return None if path is None else len(path) - 1

    def attribute_path_up(self, attribute: Term, ancestor: Term) -> list[Term] | None:
        """The shortest way from an attribute up to a more general one, or None."""
        ways = [
            self.attributes.path_up(low, high)
            for low in sorted(self.attribute_roots(attribute), key=str)
            for high in sorted(self.attribute_roots(ancestor), key=str)
        ]
        return min((way for way in ways if way is not None), key=len, default=None)

    def attribute_steps_up(self, attribute: Term, ancestor: Term) -> int | None:
        """The length of the shortest way from an attribute up to a more general one, or None."""
        path = self.attribute_path_up(attribute, ancestor)
        return None if path is None else len(path) - 1

    @cached_property
    def closure(self) -> Closure:
        """⊑ between all known concepts, as arrays."""
        pairs = (*self.content.broader, *self.content.instances, *self.content.same)
        ends = (end for pair in pairs for end in pair)
        known = (entity.term for entity in self.content.entities)
        return closure_of(
            self.values, list(dict.fromkeys(self.values.root(term) for term in (*known, *ends)))
        )

    def _declared(self, pairs: tuple[tuple[Term, Term], ...]) -> dict[Term, frozenset[Term]]:
        """What was declared for each root, as it was declared."""
        found: dict[Term, set[Term]] = {}
        for one, declared in pairs:
            found.setdefault(self.values.root(one), set()).add(declared)
        return {root: frozenset(each) for root, each in found.items()}


def called(root: Term) -> str:
    """A root as people call it.

    >>> from sensewire.model.terms import iri
    >>> called(iri("http://x.org/brick#Sensor")), called(string("laptop"))
    ('Sensor', 'laptop')
    """
    return own_name(root)


def _spelling(term: Term) -> str:
    """The word that a term writes: an IRI's local name, a literal's text."""
    return local_name(term.text) if term.kind is Kind.IRI else term.text


def _is_word(term: Term) -> bool:
    """Whether a value is looked up: IRIs, strings and untyped literals are, datatypes are not."""
    if term.kind is Kind.IRI:
        return not _is_datatype(term.text)
    return term.kind in (Kind.STRING, Kind.UNTYPED)


def _is_datatype(address: str) -> bool:
    """Datatypes are known to everybody by their IRIs; no bare word means one."""
    return address.startswith(datatypes.XSD) or address in (
        datatypes.LITERAL,
        datatypes.LANGUAGE_STRING,
        datatypes.QUANTITY,
    )
