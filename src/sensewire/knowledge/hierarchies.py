"""The two hierarchies behind knowledge: that of values, and that of attributes.

Values: concepts and individuals, each scheme for itself. Attributes: concepts and properties, mixed
paths included; a plain name is one attribute in all schemes, and the same as every RDF property of
that local name.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from sensewire.knowledge.content import (
    Content,
    Entity,
    EntityKind,
    Pair,
    as_attribute,
    in_scheme,
    is_plain_name,
)
from sensewire.knowledge.hierarchy import Hierarchy
from sensewire.model.terms import Term


def value_hierarchy(content: Content) -> Hierarchy:
    """What is narrower than what among values; an individual is below its classes."""
    edges = (*content.broader, *content.instances)
    return Hierarchy(edges, content.same, _preferred(content, lambda term: term))


def attribute_hierarchy(content: Content) -> Hierarchy:
    """What is narrower than what among attributes."""
    edges = as_attributes((*content.broader, *content.subproperties))
    same = (*as_attributes(content.same), *merged_names(content.entities))
    return Hierarchy(edges, same, _preferred(content, as_attribute))


def as_attributes(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs of entities as pairs of attributes."""
    return [(as_attribute(one), as_attribute(other)) for one, other in pairs]


def merged_names(entities: Iterable[Entity]) -> Iterator[Pair]:
    """Plain names that are also the local names of properties: as attributes they are one."""
    plain: set[str] = set()
    properties: dict[str, list[Term]] = defaultdict(list)
    for entity in entities:
        if is_plain_name(entity.term):
            plain.add(entity.term.text)
        elif EntityKind.PROPERTY in entity.kinds:
            for name in entity.names:
                properties[name].append(entity.term)
    for name in sorted(plain & properties.keys()):
        for term in properties[name]:
            yield as_attribute(in_scheme(name, "")), term


def _preferred(
    content: Content, node: Callable[[Term], Term]
) -> Callable[[Term], tuple[bool, bool, bool, bool, str, str]]:
    """The order in which synonyms stand for each other: roots that were named, plain names, and
    what has a label come first, deprecated ones last."""
    listed = {
        node(other) for root, other in content.same if is_plain_name(root) or is_plain_name(other)
    }
    deprecated = {node(entity.term) for entity in content.entities if entity.deprecated}
    labelled = {node(entity.term) for entity in content.entities if entity.labels}

    def key(term: Term) -> tuple[bool, bool, bool, bool, str, str]:
        return (
            term in listed,
            term in deprecated,
            not is_plain_name(term),
            term not in labelled,
            term.text,
            term.datatype or "",
        )

    return key
