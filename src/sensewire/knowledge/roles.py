"""What the nodes of an RDF file are: classes, concepts of a thesaurus, properties, individuals.

A node is what its types say, and what the places say in which it stands: what has a broader class
is a class, what has a domain is a property. One node may be several things.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from sensewire.knowledge import vocabulary
from sensewire.knowledge.vocabulary import Triples, is_datatype, is_iri


@dataclass(slots=True)
class Roles:
    """What a file's nodes are, by what it says of them; IRIs only."""

    classes: set[str] = field(default_factory=set)
    thesaurus: set[str] = field(default_factory=set)  # concepts of SKOS
    properties: set[str] = field(default_factory=set)
    annotations: set[str] = field(default_factory=set)  # those of the properties
    individuals: set[str] = field(default_factory=set)
    datatypes: set[str] = field(default_factory=set)  # the file's own
    others: set[str] = field(default_factory=set)  # ontologies, schemes, shapes, lists
    deprecated: set[str] = field(default_factory=set)

    def is_class(self, node: str) -> bool:
        """Whether a node that stands where a class does is an entity."""
        return not (
            node in vocabulary.TOPS
            or node == vocabulary.BOTTOM
            or node in self.datatypes
            or is_datatype(node)
            or not is_iri(node)
        )

    def typed(self, node: str, type: str) -> None:
        """Take note of a node's type: a word of the vocabularies, or a class."""
        if type in vocabulary.CLASS_TYPES:
            self.classes.add(node)
        elif type in vocabulary.PROPERTY_TYPES:
            self.properties.add(node)
        elif type in vocabulary.DATATYPE_TYPES:
            self.datatypes.add(node)
        elif type == vocabulary.CONCEPT:
            self.thesaurus.add(node)
        elif type in vocabulary.INDIVIDUAL_TYPES or not type.startswith(vocabulary.VOCABULARIES):
            self.individuals.add(node)
        else:
            self.others.add(node)
        if type == vocabulary.ANNOTATION_PROPERTY:
            self.annotations.add(node)
        if type in vocabulary.DEPRECATED_TYPES:
            self.deprecated.add(node)


def roles_of(triples: Triples) -> Roles:
    """What the nodes of a file's triples are."""
    roles = Roles()
    types = pairs_of(triples, vocabulary.TYPE)
    for node, type in types:
        if is_iri(node) and is_iri(type):
            roles.typed(node, type)
    roles.datatypes.update(filter(is_iri, _objects(triples, vocabulary.SHAPE_DATATYPE)))
    classes = chain(
        (type for _, type in types if not type.startswith(vocabulary.VOCABULARIES)),
        _both(triples, *vocabulary.BETWEEN_CLASSES),
        _objects(triples, *vocabulary.TO_CLASSES),
    )
    roles.classes = {node for node in chain(roles.classes, classes) if roles.is_class(node)}
    properties = chain(
        _both(triples, *vocabulary.BETWEEN_PROPERTIES),
        (node for node, _ in pairs_of(triples, vocabulary.DOMAIN, vocabulary.RANGE)),
        (node for node in _objects(triples, vocabulary.PATH) if node != vocabulary.TYPE),
    )
    roles.properties.update(filter(is_iri, properties))
    roles.properties -= vocabulary.TOP_PROPERTIES
    concepts = chain(
        _both(triples, *vocabulary.BETWEEN_CONCEPTS),
        (concept for concept, _ in schemes(triples)),
    )
    roles.thesaurus.update(filter(is_iri, concepts))
    known = (roles.classes, roles.thesaurus, roles.properties, roles.datatypes, vocabulary.TOPS)
    same = filter(is_iri, _both(triples, vocabulary.SAME_AS))
    roles.individuals.update(node for node in same if not any(node in nodes for nodes in known))
    roles.deprecated.update(
        node for node, value in pairs_of(triples, vocabulary.DEPRECATED) if value in ('"true', '"1')
    )
    return roles


def pairs_of(triples: Triples, *properties: str) -> list[tuple[str, str]]:
    """The subjects and objects of some properties."""
    return [pair for property in properties for pair in triples.get(property, ())]


def _both(triples: Triples, *properties: str) -> Iterator[str]:
    return chain.from_iterable(pairs_of(triples, *properties))


def _objects(triples: Triples, *properties: str) -> Iterator[str]:
    return (object for _, object in pairs_of(triples, *properties))


def schemes(triples: Triples) -> Iterator[tuple[str, str]]:
    """The thesaurus' concepts, each with a scheme that it is in."""
    yield from pairs_of(triples, *vocabulary.IN_SCHEME)
    yield from ((concept, of) for of, concept in pairs_of(triples, vocabulary.HAS_TOP_CONCEPT))
