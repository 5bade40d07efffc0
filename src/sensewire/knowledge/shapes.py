"""Meta-statements (class, property, class or datatype) from what RDF files say of properties.

They come from SHACL's property shapes, from domains and ranges, from the restrictions that a class
is under, and from plain triples between classes, as Wang 2004 writes them. What a shape or
restriction leaves open is Thing; what it forbids (at most 0 values) is no meta-statement.

Everything here walks lists and expressions that the file wrote, which may be deep, cyclic or shared
by many: the walks use no recursion, visit a node once, and count their steps against a bound.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from sensewire.knowledge import vocabulary
from sensewire.knowledge.vocabulary import Triples, is_datatype, is_iri
from sensewire.model.errors import KnowledgeError

Statement = tuple[str, str, str]

MOST_STEPS = 20_000_000
"""More steps than any honest file needs: a million triples take about as many steps."""
MOST_STATEMENTS = 2_000_000
"""Domains times ranges, targets times alternatives: a small file can ask for any number."""

_NO_VALUES = '"0'
_TRUE = ('"true', '"1')


class Structure:
    """A file's triples by property and subject, with a bound on how much of it is walked."""

    def __init__(self, triples: Triples) -> None:
        self.triples = triples
        self._by_subject: dict[str, dict[str, list[str]]] = {}
        self._steps = 0
        self._statements = 0

    def objects(self, node: str, property: str) -> Sequence[str]:
        """What a node has as values of a property."""
        index = self._by_subject.get(property)
        if index is None:
            index = self._by_subject[property] = {}
            for subject, object in self.triples.get(property, ()):
                index.setdefault(subject, []).append(object)
        found = index.get(node, ())
        self._steps += 1 + len(found)
        if self._steps > MOST_STEPS:
            raise KnowledgeError(
                f"its lists, shapes and restrictions take more than {MOST_STEPS:,} steps to read; "
                "split the file, or share fewer lists"
            )
        return found

    def members(self, head: str) -> list[str]:
        """The members of an RDF list; one that comes back to itself ends there."""
        found: list[str] = []
        seen = set()
        ahead = [head]
        while ahead:
            node = ahead.pop()
            if node not in seen:
                seen.add(node)
                found += self.objects(node, vocabulary.FIRST)
                ahead += self.objects(node, vocabulary.REST)
        return found

    def listed(self, node: str, properties: Iterable[str]) -> Iterator[str]:
        """The members of the lists that are a node's values of some properties."""
        for property in properties:
            for head in self.objects(node, property):
                yield from self.members(head)

    def counted(self) -> None:
        """Count one more statement that the file makes."""
        self._statements += 1
        if self._statements > MOST_STATEMENTS:
            raise KnowledgeError(
                f"it makes more than {MOST_STATEMENTS:,} statements about which classes and "
                "properties go together; split the file, or state fewer alternatives"
            )


def meta_statements(structure: Structure, classes: Collection[str]) -> Iterator[Statement]:
    """What shapes, domains, ranges and restrictions say; `classes` are those the file names."""
    for statement in chain(
        _of_shapes(structure, classes), _of_domains(structure), _of_restrictions(structure)
    ):
        if statement[2] != vocabulary.BOTTOM:
            structure.counted()
            yield statement


def plain_statements(
    structure: Structure,
    classes: Collection[str],
    no_classes: Collection[str],
    annotations: Collection[str],
) -> Iterator[Statement]:
    """The plain triples between classes, where the file has no other way to say such a thing.

    In a file with shapes or restrictions, a triple between two classes is about the classes
    themselves (Brick's `isReplacedBy`, `aliasOf`, `hasQuantity`), and no instance is meant. Whoever
    made or licensed a class is none either, unless the file says that it is one.
    """
    if any(structure.triples.get(word) for word in (vocabulary.PATH, vocabulary.ON_PROPERTY)):
        return
    for property, pairs in structure.triples.items():
        if property.startswith(vocabulary.VOCABULARIES) or property in annotations:
            continue
        documentary = property.startswith(vocabulary.DOCUMENTARY)
        for subject, object in pairs:
            if subject in no_classes or object in no_classes or is_datatype(subject):
                continue
            if not (is_iri(subject) and is_iri(object)):
                continue
            if documentary and not (subject in classes and object in classes):
                continue
            structure.counted()
            yield subject, property, object


def _of_shapes(structure: Structure, classes: Collection[str]) -> Iterator[Statement]:
    triples = structure.triples
    by_itself = ((shape, shape) for shape, _ in triples.get(vocabulary.PATH, ()))
    for owner, shape in chain(triples.get(vocabulary.PROPERTY_SHAPE, ()), by_itself):
        targets = _targets(structure, owner, classes)
        if not targets or _forbids(structure, owner) or _forbids(structure, shape):
            continue
        paths = [path for path in structure.objects(shape, vocabulary.PATH) if _is_property(path)]
        values = _allowed(structure, shape, classes) if paths else ()
        for target in targets:
            for path in paths:
                for value in values:
                    yield target, path, value


def _is_property(path: str) -> bool:
    """Whether a path is one property; which class a thing has is no statement between classes."""
    return is_iri(path) and path != vocabulary.TYPE


def _targets(structure: Structure, shape: str, classes: Collection[str]) -> list[str]:
    """The classes whose instances a shape is about: those it names, or itself if it is one."""
    named = [node for node in structure.objects(shape, vocabulary.TARGET_CLASS) if is_iri(node)]
    return [*named, shape] if shape in classes else named


def _forbids(structure: Structure, shape: str) -> bool:
    return _NO_VALUES in structure.objects(shape, vocabulary.MAX_COUNT) or any(
        value in _TRUE for value in structure.objects(shape, vocabulary.DEACTIVATED)
    )


def _allowed(structure: Structure, shape: str, classes: Collection[str]) -> Iterable[str]:
    """The classes and datatypes that a property shape allows its values to have."""
    found: dict[str, None] = {}
    seen = set()
    ahead = [shape]
    while ahead:
        node = ahead.pop()
        if node in seen:
            continue
        seen.add(node)
        found.update(dict.fromkeys(structure.objects(node, vocabulary.SHAPE_CLASS)))
        found.update(dict.fromkeys(structure.objects(node, vocabulary.SHAPE_DATATYPE)))
        ahead += structure.listed(node, vocabulary.ALTERNATIVES)
        ahead += structure.objects(node, vocabulary.QUALIFIED_SHAPE)
        for other in structure.objects(node, vocabulary.SHAPE_NODE):
            targets = _targets(structure, other, classes)
            found.update(dict.fromkeys(targets))
            if not targets:
                ahead.append(other)
    return [node for node in found if is_iri(node)] or (vocabulary.TOP,)


def _of_domains(structure: Structure) -> Iterator[Statement]:
    triples = structure.triples
    ends = chain(triples.get(vocabulary.DOMAIN, ()), triples.get(vocabulary.RANGE, ()))
    for property in dict.fromkeys(property for property, _ in ends if is_iri(property)):
        values = _expressed(structure, structure.objects(property, vocabulary.RANGE))
        for owner in _expressed(structure, structure.objects(property, vocabulary.DOMAIN)):
            for value in values:
                yield owner, property, value


def _of_restrictions(structure: Structure) -> Iterator[Statement]:
    triples = structure.triples
    restricting = (vocabulary.ON_PROPERTY, vocabulary.INTERSECTION_OF)
    expressions = {node for word in restricting for node, _ in triples.get(word, ())}
    for name, expression in chain(
        triples.get(vocabulary.SUB_CLASS_OF, ()), triples.get(vocabulary.EQUIVALENT_CLASS, ())
    ):
        if expression not in expressions or not is_iri(name):
            continue
        for restriction in _parts(structure, expression):
            for property in structure.objects(restriction, vocabulary.ON_PROPERTY):
                if is_iri(property):
                    for filler in _fillers(structure, restriction):
                        yield name, property, filler


def _parts(structure: Structure, expression: str) -> set[str]:
    """A class expression and what it intersects, but not what other named classes consist of."""
    seen: set[str] = set()
    ahead = [expression]
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            inside = structure.listed(node, (vocabulary.INTERSECTION_OF,))
            ahead += [member for member in inside if not is_iri(member)]
    return seen


def _fillers(structure: Structure, restriction: str) -> Iterable[str]:
    """The classes and datatypes of the values that a restriction asks for or allows."""
    most = [n for word in vocabulary.MOST_VALUES for n in structure.objects(restriction, word)]
    if _NO_VALUES in most:
        return ()
    nodes = [node for word in vocabulary.FILLERS for node in structure.objects(restriction, word)]
    return _expressed(structure, nodes)


def _expressed(structure: Structure, expressions: Iterable[str]) -> Iterable[str]:
    """The named classes and datatypes of some class expressions; Thing where there are none."""
    found: dict[str, None] = {}
    seen = set()
    ahead = list(expressions)
    while ahead:
        node = ahead.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_iri(node):
            found[node] = None
        else:
            ahead += structure.listed(node, (vocabulary.UNION_OF, vocabulary.INTERSECTION_OF))
            ahead += structure.objects(node, vocabulary.ON_DATATYPE)
    return list(found) or (vocabulary.TOP,)
