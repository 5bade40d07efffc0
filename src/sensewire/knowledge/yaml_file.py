"""Reads the short YAML form of knowledge, for people who have none of the other files.

    scheme: shop                                    # else the file's stem
    synonyms: {price: [value, cost]}                # a root and the others
    hierarchy: {laptop: computer}                   # narrower: broader
    properties: {cellPhoneNumber: telephoneNumber}  # narrower: broader
    instances: {HomePage325: [UofT, PubSub]}        # individual: classes
    scope: {topic: [news]}                          # attribute: schemes of its values
    statements: [[Selling, target, Product]]
    mappings: [{name: …, inputs: […], outputs: {attribute: expression}}]

Every name is the text as written, so `no`, `1` and `yes` are names. It is a local name of the
scheme, or `<an IRI>`, or `prefix:name` where an RDF file declared the prefix or the prefix is a
scheme of a file that is read with it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from sensewire.knowledge.cel_names import problem_with_name
from sensewire.knowledge.content import (
    SCHEME,
    Draft,
    EntityKind,
    Pair,
    Place,
    in_scheme,
    is_plain_name,
)
from sensewire.knowledge.mappings import mapping_function
from sensewire.knowledge.vocabulary import THING
from sensewire.knowledge.yaml_nodes import Fields, Items, Node, Text, cut, root_of, shown
from sensewire.model import datatypes
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import RDF_TYPE, Term, iri, string

_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*')
_SHAPES = {
    "scheme": "one name: `scheme: shop`",
    "synonyms": "a root and the others: `price: [value, cost]`",
    "hierarchy": "a narrower name and a broader one, or a list: `laptop: computer`",
    "properties": "a narrower property and a broader one, or a list: `cell: telephone`",
    "instances": "an individual and a class, or a list: `HomePage325: [UofT, PubSub]`",
    "scope": "an attribute and a scheme, or a list: `topic: [news]`",
    "statements": "a list of three names each: `- [Selling, target, Product]`",
    "mappings": "a list of functions: `- {name: n, inputs: [a], outputs: {b: 'a + 1'}}`",
}
"""The keys of a file, and what each of them holds."""
_MAPPING = ("name", "inputs", "outputs")


def read_yaml(paths: Sequence[Path], draft: Draft) -> None:
    """Read some files into the draft; each may name what the others hold."""
    documents = [(path, _sections(path)) for path in paths]
    schemes = [_scheme(path, fields) for path, fields in documents]
    stated = {prefix: address for prefix, address in draft.prefixes.items() if address}
    prefixes = {"xsd": datatypes.XSD, **stated}
    for (path, fields), scheme in zip(documents, schemes, strict=True):
        source = _Source(str(path), scheme, draft, prefixes, frozenset(schemes))
        for key, read in _SECTIONS.items():
            if key in fields:
                read(source, fields[key])


def _sections(path: Path) -> dict[str, Node]:
    root = root_of(path)
    if not isinstance(root, Fields):
        raise KnowledgeError(
            f"{Place(str(path), root.line)}: expected keys such as `hierarchy:`, "
            f"found {shown(root)}"
        )
    return _by_key(str(path), root, _SHAPES)


def _scheme(path: Path, fields: Mapping[str, Node]) -> str:
    given = fields.get("scheme")
    if given is None:
        return path.stem.replace(":", "_")
    name = _name(str(path), given, "scheme")
    if ":" in name.text:
        raise KnowledgeError(
            f"{Place(str(path), name.line)}: the scheme {cut(name.text)!r} has a colon, which "
            "stands between a scheme and a name; leave it out"
        )
    return name.text


def _name(file: str, node: Node, section: str) -> Text:
    """A node that is one name."""
    if not isinstance(node, Text):
        raise _wrong(file, node, section)
    if not node.text.strip():
        raise KnowledgeError(
            f"{Place(file, node.line)}: an empty name; {section!r} holds {_SHAPES[section]}"
        )
    return node


def _wrong(file: str, node: Node, section: str) -> KnowledgeError:
    return KnowledgeError(
        f"{Place(file, node.line)}: {section!r} holds {_SHAPES[section]}; found {shown(node)}"
    )


def check_synonyms(draft: Draft) -> None:
    """Refuse a word with two roots, and circles; only between plain names, RDF declares no root.

    >>> draft = Draft()
    >>> draft.same[in_scheme("price", "shop"), in_scheme("value", "shop")] = Place("a.yaml", 3)
    >>> draft.same[in_scheme("worth", "shop"), in_scheme("value", "shop")] = Place("b.yaml", 4)
    >>> check_synonyms(draft)
    Traceback (most recent call last):
        ...
    sensewire.model.errors.KnowledgeError: 'value' is a synonym of 'price' at a.yaml:3 and of \
'worth' at b.yaml:4; name one root
    """
    stated = [
        (place, root, other)
        for (root, other), place in draft.same.items()
        if is_plain_name(root) and is_plain_name(other)
    ]
    stated.sort(key=lambda each: (each[0].file, each[0].line or 0))  # whatever the files' order
    roots: dict[Term, tuple[Place, Term]] = {}
    for place, root, other in stated:
        before, known = roots.setdefault(other, (place, root))
        if known != root:
            word, first, second = _called(other, known, root)
            raise KnowledgeError(
                f"{word} is a synonym of {first} at {before} and of {second} at {place}; "
                "name one root"
            )
    _refuse_circles(roots)


def _refuse_circles(roots: Mapping[Term, tuple[Place, Term]]) -> None:
    checked: set[Term] = set()
    for start in roots:
        path: dict[Term, Place] = {}  # from each word to its root
        word = start
        while word in roots and word not in checked and word not in path:
            path[word], word = roots[word]
        if word in path:
            circle = list(path)[list(path).index(word) :]
            if len(circle) == 1:
                raise KnowledgeError(
                    f"{path[word]}: {_called(word)[0]} is listed as a synonym of itself; remove it"
                )
            shown = " of ".join(_called(*circle, word))
            places = ", ".join(str(path[each]) for each in circle)
            raise KnowledgeError(f"synonyms in a circle: {shown} ({places}); name one root")
        checked.update(path)


def _called(*words: Term) -> tuple[str, ...]:
    """Plain names for a message; with their schemes, where these differ."""
    if len({word.datatype for word in words}) == 1:
        return tuple(repr(word.text) for word in words)
    return tuple(
        repr(f"{(word.datatype or '').removeprefix(SCHEME)}:{word.text}") for word in words
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """The file that is read, with what its names may refer to."""

    file: str
    scheme: str
    draft: Draft
    prefixes: Mapping[str, str]
    schemes: frozenset[str]  # of the files that are read together

    def place(self, node: Node) -> Place:
        return Place(self.file, node.line)

    def wrong(self, node: Node, section: str) -> KnowledgeError:
        return _wrong(self.file, node, section)

    def name(self, node: Node, section: str) -> Text:
        return _name(self.file, node, section)

    def names(self, node: Node, section: str) -> tuple[Text, ...]:
        """One name, or a list of them."""
        items = node.items if isinstance(node, Items) else (node,)
        if not items:
            raise self.wrong(node, section)
        return tuple(self.name(item, section) for item in items)

    def entries(self, node: Node, section: str) -> Iterator[tuple[Text, Node]]:
        if isinstance(node, Fields):
            for key, value in node.entries:
                yield self.name(key, section), value
        elif node != Text("", node.line):  # a section whose lines are all commented out
            raise self.wrong(node, section)

    def items(self, node: Node, section: str) -> tuple[Node, ...]:
        if not isinstance(node, Items) and node != Text("", node.line):
            raise self.wrong(node, section)
        return node.items if isinstance(node, Items) else ()

    def address(self, name: Text) -> Term | None:
        """The IRI that a name writes, in full or with a prefix; None if it writes none."""
        text = name.text
        prefix, _, local = text.partition(":")
        if text.startswith("<") and text.endswith(">"):
            address = text[1:-1]
        elif local and prefix in self.prefixes:
            address = self.prefixes[prefix] + local
        else:
            return None
        if not _IRI.fullmatch(address):
            raise KnowledgeError(
                f"{self.place(name)}: {cut(text)!r} is no IRI; "
                "expected one such as <http://example.org/name>"
            )
        return iri(address)

    def attribute(self, name: Text) -> Term:
        """A name that is looked up later, as the attributes of events are."""
        return self.address(name) or string(name.text)

    def output(self, name: Text) -> Term:
        """What a function writes: any attribute but `rdf:type`, since a class is no literal."""
        found = self.attribute(name)
        if found == RDF_TYPE:
            raise KnowledgeError(
                f"{self.place(name)}: a function cannot declare the class of a subject; "
                "let it write another attribute, such as kind"
            )
        return found

    def entity(self, name: Text, kind: EntityKind) -> Term:
        if name.text == THING.text and kind is not EntityKind.PROPERTY:
            return THING
        address = self.address(name)
        if address is not None:
            return self.draft.entity(address, self.scheme, kind)
        prefix, _, local = name.text.partition(":")
        if local and prefix in self.schemes:
            return self.draft.entity(in_scheme(local, prefix), prefix, kind)
        return self.draft.entity(in_scheme(name.text, self.scheme), self.scheme, kind)

    def end(self, name: Text) -> Term:
        """Subject or object of a statement: a concept, Thing or a datatype."""
        address = self.address(name)
        if address is not None and address.text.startswith(datatypes.XSD):
            return address
        return self.entity(name, EntityKind.CONCEPT)


def _pairs(
    section: str, into: Callable[[Draft], dict[Pair, Place]], left: EntityKind, right: EntityKind
) -> Callable[[_Source, Node], None]:
    def read(source: _Source, node: Node) -> None:
        for key, value in source.entries(node, section):
            for name in source.names(value, section):
                pair = (source.entity(key, left), source.entity(name, right))
                into(source.draft).setdefault(pair, source.place(name))

    return read


def _scope(source: _Source, node: Node) -> None:
    for key, value in source.entries(node, "scope"):
        schemes = [name.text for name in source.names(value, "scope")]
        source.draft.scope(source.attribute(key), schemes, source.place(key))


def _statements(source: _Source, node: Node) -> None:
    for item in source.items(node, "statements"):
        if not isinstance(item, Items) or len(item.items) != 3:
            raise source.wrong(item, "statements")
        subject, verb, thing = (source.name(each, "statements") for each in item.items)
        property_ = source.entity(verb, EntityKind.PROPERTY)
        statement = (source.end(subject), property_, source.end(thing))
        source.draft.statements.setdefault(statement, source.place(item))


def _mappings(source: _Source, node: Node) -> None:
    for item in source.items(node, "mappings"):
        if not isinstance(item, Fields):
            raise source.wrong(item, "mappings")
        fields = _by_key(source.file, item, _MAPPING)
        place = source.place(item)
        for key in _MAPPING:
            if key not in fields:
                raise KnowledgeError(
                    f"{place}: a mapping without {key!r}; 'mappings' holds {_SHAPES['mappings']}"
                )
        name = source.name(fields["name"], "mappings").text
        inputs = _inputs(source, fields["inputs"])
        outputs = [
            (source.output(attribute), source.name(expression, "mappings").text)
            for attribute, expression in source.entries(fields["outputs"], "mappings")
        ]
        try:
            function = mapping_function(name, inputs, outputs)
        except KnowledgeError as error:
            raise KnowledgeError(f"{place}: {error}") from None
        source.draft.mapping(function, place)


def _inputs(source: _Source, node: Node) -> list[tuple[str, Term]]:
    """The attributes that a function reads, each with its name in the expressions."""
    found: list[tuple[str, Term]] = []
    for item in node.items if isinstance(node, Items) else (node,):
        if isinstance(item, Fields) and item is not node:
            for alias, value in item.entries:
                found.append((alias.text, source.attribute(source.name(value, "mappings"))))
            continue
        name = source.name(item, "mappings")
        problem = problem_with_name(name.text)
        if problem is not None:
            shown = repr(cut(name.text))
            raise KnowledgeError(
                f"{source.place(name)}: the input {shown} {problem}; "
                f"give it an alias: {{alias: {shown}}}"
            )
        found.append((name.text, source.attribute(name)))
    return found


_CONCEPT, _INDIVIDUAL = EntityKind.CONCEPT, EntityKind.INDIVIDUAL
_PROPERTY = EntityKind.PROPERTY
_SECTIONS: Mapping[str, Callable[[_Source, Node], None]] = {
    "synonyms": _pairs("synonyms", lambda draft: draft.same, _CONCEPT, _CONCEPT),
    "hierarchy": _pairs("hierarchy", lambda draft: draft.broader, _CONCEPT, _CONCEPT),
    "properties": _pairs("properties", lambda draft: draft.subproperties, _PROPERTY, _PROPERTY),
    "instances": _pairs("instances", lambda draft: draft.instances, _INDIVIDUAL, _CONCEPT),
    "scope": _scope,
    "statements": _statements,
    "mappings": _mappings,
}


def _by_key(file: str, fields: Fields, keys: Iterable[str]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for key, value in fields.entries:
        if key.text not in keys:
            near = get_close_matches(key.text[:100], tuple(keys), n=1, cutoff=0.0)[0]
            raise KnowledgeError(
                f"{Place(file, key.line)}: there is no key {cut(key.text)!r}; "
                f"did you mean {near!r}?"
            )
        found[key.text] = value
    return found
