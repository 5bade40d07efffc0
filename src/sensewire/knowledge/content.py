"""What knowledge files state, gathered from all of them: entities, and statements about them.

An entity is a concept, an individual or a property. One from RDF is its IRI; one from a file that
gives plain names (YAML, WordNet) is its name in its scheme, so that the same name in two schemes is
two entities. Readers write into a `Draft`; `Draft.content()` is the frozen value, without places.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from sensewire.knowledge.mappings import MappingFunction
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Kind, Term, local_name

SCHEME = "urn:sensewire:scheme:"
ATTRIBUTE = "urn:sensewire:attribute"
Pair = tuple[Term, Term]


class EntityKind(StrEnum):
    """What an entity is; one entity may be several."""

    CONCEPT = "concept"  # a class, or a concept of a thesaurus
    INDIVIDUAL = "individual"
    PROPERTY = "property"


class Place(NamedTuple):
    """Where something was stated."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Entity:
    """A concept, individual or property: how people may call it, and where."""

    term: Term
    kinds: frozenset[EntityKind]
    schemes: frozenset[str]
    names: tuple[str, ...]  # local names
    labels: tuple[str, ...]
    deprecated: bool = False


def in_scheme(name: str, scheme: str) -> Term:
    """A plain name as an entity of its scheme.

    >>> in_scheme("laptop", "shop") == in_scheme("laptop", "school")
    False
    """
    return Term(Kind.STRING, name, SCHEME + scheme)


def is_plain_name(term: Term) -> bool:
    """Whether an entity is a plain name in a scheme, and no IRI."""
    return term.kind is Kind.STRING


def own_name(term: Term) -> str:
    """An entity's own name: a plain name itself, or an IRI's local name."""
    return term.text if is_plain_name(term) else local_name(term.text)


def as_attribute(term: Term) -> Term:
    """An entity in the hierarchy of attributes: there, a plain name is one in all schemes.

    >>> as_attribute(in_scheme("price", "shop")) == as_attribute(in_scheme("price", "school"))
    True
    """
    return Term(Kind.STRING, term.text, ATTRIBUTE) if is_plain_name(term) else term


@dataclass(frozen=True, slots=True)
class Content:
    """What was stated, each thing once, in an order that does not depend on the files' order.

    `broader` and `subproperties` hold (narrower, broader); `same` (root, other); `instances`
    (individual, class); `scopes` which schemes the values of an attribute are read in.
    """

    entities: tuple[Entity, ...] = ()
    broader: tuple[Pair, ...] = ()
    subproperties: tuple[Pair, ...] = ()
    same: tuple[Pair, ...] = ()
    instances: tuple[Pair, ...] = ()
    statements: tuple[tuple[Term, Term, Term], ...] = ()
    disjoint: tuple[Pair, ...] = ()
    mappings: tuple[MappingFunction, ...] = ()
    scopes: tuple[tuple[Term, tuple[str, ...]], ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()


_ONLY_NAMED = frozenset({EntityKind.CONCEPT})


class _Known:
    """An entity while files are read; sets that many share are one object."""

    __slots__ = ("deprecated", "kinds", "labels", "names", "schemes")

    def __init__(self, name: str) -> None:
        self.kinds: frozenset[EntityKind] = frozenset()
        self.schemes: frozenset[str] = frozenset()
        self.names: tuple[str, ...] = (name,)
        self.labels: tuple[str, ...] = ()
        self.deprecated = False


@dataclass(slots=True)
class Draft:
    """What was read so far; everything with the place where it was first stated."""

    broader: dict[Pair, Place] = field(default_factory=dict)
    subproperties: dict[Pair, Place] = field(default_factory=dict)
    same: dict[Pair, Place] = field(default_factory=dict)
    instances: dict[Pair, Place] = field(default_factory=dict)
    statements: dict[tuple[Term, Term, Term], Place] = field(default_factory=dict)
    disjoint: dict[Pair, Place] = field(default_factory=dict)
    mappings: dict[str, tuple[MappingFunction, Place]] = field(default_factory=dict)
    scopes: dict[Term, tuple[tuple[str, ...], Place]] = field(default_factory=dict)
    prefixes: dict[str, str] = field(default_factory=dict)
    _known: dict[Term, _Known] = field(default_factory=dict)
    _sets: dict[frozenset[Any], frozenset[Any]] = field(default_factory=dict)

    def entity(
        self,
        term: Term,
        scheme: str,
        kind: EntityKind | None = None,
        *,
        names: Iterable[str] = (),
        labels: Iterable[str] = (),
        deprecated: bool = False,
    ) -> Term:
        """Take note of an entity; what is said of it in several places is put together."""
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = _Known(own_name(term))
        if scheme not in known.schemes:
            known.schemes = self._shared(known.schemes | {scheme})
        if kind is not None and kind not in known.kinds:
            known.kinds = self._shared(known.kinds | {kind})
        known.names = tuple(dict.fromkeys((*known.names, *names))) if names else known.names
        known.labels = tuple(dict.fromkeys((*known.labels, *labels))) if labels else known.labels
        known.deprecated = known.deprecated or deprecated
        return term

    def _shared(self, found: frozenset[Any]) -> Any:  # one object for each set, of either kind
        return self._sets.setdefault(found, found)

    def prefix(self, prefix: str, address: str) -> None:
        """Take note of a prefix; one that two files use differently stands for nothing."""
        known = self.prefixes.setdefault(prefix, address)
        if known != address:
            self.prefixes[prefix] = ""

    def is_known(self, term: Term) -> bool:
        """Whether some file named the entity."""
        return term in self._known

    def mapping(self, function: MappingFunction, place: Place) -> None:
        """Take note of a mapping function; a name stands for one function."""
        known = self.mappings.setdefault(function.name, (function, place))
        if known[0] != function:
            raise KnowledgeError(
                f"{place}: the mapping {function.name!r} is another one at {known[1]}; rename one"
            )

    def scope(self, attribute: Term, schemes: Iterable[str], place: Place) -> None:
        """Take note of the schemes that an attribute's values are read in."""
        asked = tuple(sorted(set(schemes)))
        known = self.scopes.setdefault(attribute, (asked, place))
        if known[0] != asked:
            raise KnowledgeError(
                f"{place}: the values of {own_name(attribute)!r} are read in {', '.join(asked)}, "
                f"but in {', '.join(known[0])} at {known[1]}"
            )

    def content(self) -> Content:
        """Everything that was stated."""
        return Content(
            entities=tuple(
                Entity(
                    term,
                    known.kinds or _ONLY_NAMED,
                    known.schemes,
                    tuple(sorted(known.names)),
                    tuple(sorted(known.labels)),
                    known.deprecated,
                )
                for term, known in sorted(self._known.items(), key=lambda item: _order(item[0]))
            ),
            broader=_sorted_pairs(self.broader),
            subproperties=_sorted_pairs(self.subproperties),
            same=_sorted_pairs(self.same),
            instances=_sorted_pairs(self.instances),
            statements=tuple(sorted(self.statements, key=lambda s: tuple(map(_order, s)))),
            disjoint=_sorted_pairs(self.disjoint),
            mappings=tuple(self.mappings[name][0] for name in sorted(self.mappings)),
            scopes=tuple((a, self.scopes[a][0]) for a in sorted(self.scopes, key=_order)),
            prefixes=tuple(sorted(item for item in self.prefixes.items() if item[1])),
        )


def _sorted_pairs(pairs: Mapping[Pair, Place]) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (_order(pair[0]), _order(pair[1]))))


def _order(term: Term) -> tuple[str, str, str]:
    return (term.kind.value, term.text, term.datatype or "")
