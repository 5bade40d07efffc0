"""Knowledge from RDF files: RDFS, OWL, DAML+OIL, SKOS and SHACL, in any syntax of RDF.

One pass over the file keeps the triples that some rule looks at, by property; the rules then run
over these, so that the order of a file's triples never matters. Nothing is written into the draft
before the whole file could be read. Cost: linear in the triples, apart from the products that
`shapes` bounds.

Departures: RDF/XML that names no base, as DAML+OIL's files do, has `file:///` and its stem as base,
not its place on disk, so that the same file is the same knowledge everywhere; other syntaxes have
none. What stands inside a formula of N3 is quoted, not stated, and is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from sensewire.knowledge import vocabulary
from sensewire.knowledge.content import Draft, EntityKind, Pair, Place
from sensewire.knowledge.roles import Roles, pairs_of, roles_of, schemes
from sensewire.knowledge.shapes import Statement, Structure, meta_statements, plain_statements
from sensewire.knowledge.vocabulary import Triples, is_iri
from sensewire.model.errors import KnowledgeError
from sensewire.model.rdf import FORMATS
from sensewire.model.terms import Term, iri, local_name


def read_rdf(path: Path, format: str, draft: Draft) -> None:
    """Read what an RDF file states into the draft; `format` is one of `model.rdf.FORMATS`."""
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise KnowledgeError(f"{path}: there is no RDF format {format!r}; expected one of {known}")
    try:
        with path.open("rb") as file:
            triples, prefixes = _triples(file, format, f"file:///{quote(path.stem)}")
        structure = Structure(triples)
        roles = roles_of(triples)
        statements = list(_statements(structure, roles))
        disjoint = list(_disjoint(structure, roles))
    except OSError as error:
        raise KnowledgeError(f"{path}: {error.strerror or error}") from None
    except KnowledgeError as error:
        raise KnowledgeError(f"{path}: {error}") from None
    for prefix, address in prefixes.items():
        draft.prefix(prefix, address)
    _File(path, draft).state(triples, roles, statements, disjoint)


def _triples(file: IO[bytes], format: str, base: str) -> tuple[Triples, dict[str, str]]:
    """The triples that some rule looks at, and the file's prefixes."""
    import pyoxigraph

    if format == "rdf" and _has_dtd(file):
        raise KnowledgeError(
            "RDF/XML with a DTD is refused: write entities out and drop the DOCTYPE"
        )
    file.seek(3 if file.read(3) == b"\xef\xbb\xbf" else 0)
    syntax = pyoxigraph.RdfFormat.from_extension(format)
    assert syntax is not None
    parser = pyoxigraph.parse(file, format=syntax, base_iri=base if format == "rdf" else None)
    found = _Gathered()
    try:
        first = next(parser, None)
        prefixes = dict(parser.prefixes)  # RDF/XML forgets them when its first element closes
        if first is not None:
            found.take(chain((first,), parser), quoting=format == "n3")
        prefixes.update(parser.prefixes)
    except (SyntaxError, ValueError) as error:
        raise KnowledgeError(_problem(error, format)) from None
    if format == "rdf" and parser.prefixes:
        raise KnowledgeError("broken RDF/XML: the file ends before its first element is closed")
    prefixes.pop("", None)
    return found.triples, prefixes


def _has_dtd(file: IO[bytes]) -> bool:
    """Whether a DTD stands in RDF/XML, which only UTF-8 can be: entities can explode."""
    kept = b""
    while chunk := file.read(1 << 20):
        if _DOCTYPE.search(kept + chunk):
            return True
        kept = (kept + chunk)[-len(b"<!doctyp") :]
    file.seek(0)
    return False


_DOCTYPE = re.compile(rb"<!doctype", re.IGNORECASE)


def _problem(error: SyntaxError | ValueError, format: str) -> str:
    if "LoadDocumentCallback" in str(error):
        return (
            "JSON-LD with a remote context is refused, nothing is fetched: "
            "put the context itself into the file"
        )
    # The message names the line already; the text of a SyntaxError would add it once more.
    return f"broken {FORMATS[format]}: {error.msg if isinstance(error, SyntaxError) else error}"


class _Gathered:
    """The triples of one file that some rule looks at; each IRI's text is held once."""

    def __init__(self) -> None:
        self.triples: dict[str, list[tuple[str, str]]] = {}
        self._lists: dict[str, list[tuple[str, str]] | None] = {}
        self._between_iris: set[str] = set()  # properties of plain triples
        self._texts: dict[str, str] = {}

    def take(self, quads: Iterable[Any], *, quoting: bool) -> None:  # Any: pyoxigraph's quads
        """Keep what is of use; where graphs quote, only the default graph states anything."""
        import pyoxigraph

        named, blank, literal = pyoxigraph.NamedNode, pyoxigraph.BlankNode, pyoxigraph.Literal
        stated = pyoxigraph.DefaultGraph()
        lists, texts = self._lists, self._texts
        for quad in quads:
            property = quad.predicate.value
            pairs = lists[property] if property in lists else self._list(property)
            if pairs is None or (quoting and quad.graph_name != stated):
                continue
            nodes = []
            for node in (quad.subject, quad.object):
                kind = type(node)
                if kind is literal:
                    if property not in self._between_iris:
                        nodes.append('"' + node.value)
                elif kind is named or kind is blank:
                    value = node.value if kind is named else "_:" + node.value
                    text = texts.get(value)
                    if text is None:
                        text = texts[value] = vocabulary.successor(value)
                    nodes.append(text)
            if len(nodes) == 2:  # a triple term of RDF 1.2 talks about a triple and states none
                pairs.append((nodes[0], nodes[1]))

    def _list(self, property: str) -> list[tuple[str, str]] | None:
        """Where the triples of a property go that was not met before; None: nowhere."""
        name = vocabulary.successor(property)
        plain = not name.startswith(vocabulary.VOCABULARIES)
        if plain:
            self._between_iris.add(property)
        kept = plain or name in vocabulary.READ
        self._lists[property] = self.triples.setdefault(name, []) if kept else None
        return self._lists[property]


def _statements(structure: Structure, roles: Roles) -> Iterator[Statement]:
    """The meta-statements; their ends are classes from then on, and their properties properties."""
    taken = roles.individuals | roles.properties | roles.thesaurus | (roles.others - roles.classes)
    for statement in chain(
        meta_statements(structure, roles.classes),
        plain_statements(structure, roles.classes, taken, roles.annotations),
    ):
        owner, property, value = statement
        roles.classes.update(node for node in (owner, value) if roles.is_class(node))
        roles.properties.add(property)
        yield statement


def _disjoint(structure: Structure, roles: Roles) -> Iterator[tuple[str, str]]:
    """The pairs of classes that nothing is both of."""
    yield from pairs_of(structure.triples, vocabulary.DISJOINT_WITH)
    for node, type in pairs_of(structure.triples, vocabulary.TYPE):
        if type == vocabulary.ALL_DISJOINT_CLASSES:
            classes = dict.fromkeys(structure.listed(node, (vocabulary.MEMBERS,)))
            roles.classes.update(filter(roles.is_class, classes))
            for pair in combinations(classes, 2):
                structure.counted()
                yield pair


class _File:
    """One file's statements on their way into the draft; each IRI becomes one term."""

    def __init__(self, path: Path, draft: Draft) -> None:
        self._scheme = path.stem
        self._place = Place(str(path))
        self._draft = draft
        self._terms: dict[str, Term] = dict.fromkeys(vocabulary.TOPS, vocabulary.THING)

    def state(
        self,
        triples: Triples,
        roles: Roles,
        statements: Iterable[Statement],
        disjoint: Iterable[tuple[str, str]],
    ) -> None:
        """Write everything that the file states into the draft."""
        draft, is_class = self._draft, roles.is_class
        self._entities(triples, roles)
        above = pairs_of(triples, vocabulary.SUB_CLASS_OF)
        self._put(draft.broader, above, lambda node: is_class(node) or node in vocabulary.TOPS)
        self._put(draft.broader, pairs_of(triples, *vocabulary.BROADER), is_iri)
        below = pairs_of(triples, *vocabulary.NARROWER)
        self._put(draft.broader, ((narrower, node) for node, narrower in below), is_iri)
        self._put(
            draft.subproperties,
            pairs_of(triples, vocabulary.SUB_PROPERTY_OF),
            lambda node: is_iri(node) and node not in vocabulary.TOP_PROPERTIES,
        )
        self._put(draft.same, pairs_of(triples, vocabulary.EQUIVALENT_CLASS), is_class)
        others = (vocabulary.EQUIVALENT_PROPERTY, vocabulary.SAME_AS, vocabulary.EXACT_MATCH)
        self._put(draft.same, pairs_of(triples, *others), is_iri)
        types = (
            pair
            for pair in pairs_of(triples, vocabulary.TYPE)
            if not pair[1].startswith(vocabulary.VOCABULARIES) or pair[1] in vocabulary.TOPS
        )
        self._put(draft.instances, types, lambda node: is_class(node) or node in vocabulary.TOPS)
        self._put(draft.disjoint, disjoint, is_class)
        for statement in statements:
            owner, property, value = map(self._term, statement)
            draft.statements.setdefault((owner, property, value), self._place)

    def _entities(self, triples: Triples, roles: Roles) -> None:
        labels = _labels(triples)
        for kind, nodes in (
            (EntityKind.CONCEPT, roles.classes | roles.thesaurus),
            (EntityKind.INDIVIDUAL, roles.individuals),
            (EntityKind.PROPERTY, roles.properties),
        ):
            for node in nodes:
                self._draft.entity(
                    self._term(node),
                    self._scheme,
                    kind,
                    labels=labels.get(node, ()),
                    deprecated=node in roles.deprecated,
                )
        for concept, scheme in schemes(triples):
            if is_iri(concept) and is_iri(scheme):
                self._draft.entity(self._term(concept), local_name(scheme))

    def _put(
        self,
        stated: dict[Pair, Place],
        pairs: Iterable[tuple[str, str]],
        is_entity: Callable[[str], bool],
    ) -> None:
        """State pairs of two different entities; what a node is to itself needs no saying."""
        for one, other in pairs:
            if one != other and is_entity(one) and is_entity(other):
                stated.setdefault((self._term(one), self._term(other)), self._place)

    def _term(self, node: str) -> Term:
        known = self._terms.get(node)
        if known is None:
            known = self._terms[node] = iri(node)
        return known


def _labels(triples: Triples) -> dict[str, list[str]]:
    """The texts that people call a node by, in all languages."""
    found: dict[str, list[str]] = {}
    forms: dict[str, list[str]] = {}
    for node, text in pairs_of(triples, vocabulary.LITERAL_FORM):
        forms.setdefault(node, []).append(text)
    through_nodes = (
        (node, text)
        for node, label in pairs_of(triples, *vocabulary.LABEL_NODES)
        for text in forms.get(label, ())
    )
    for node, text in chain(pairs_of(triples, *vocabulary.LABELS), through_nodes):
        if text.startswith('"'):
            found.setdefault(node, []).append(text[1:])
    return found
