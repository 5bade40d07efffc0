"""RDF text as triples of terms, read by pyoxigraph; nothing that the text names is ever fetched.

Departures from plain RDF: a DTD is refused before any parser sees it (entities can explode), a
JSON-LD context must stand in the document, triple terms of RDF 1.2 are refused.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from sensewire.model.errors import EventError
from sensewire.model.terms import Term, blank, iri, language_string, literal

Triple = tuple[Term, Term, Term]

FORMATS = {
    "nt": "N-Triples",
    "nq": "N-Quads",
    "ttl": "Turtle",
    "trig": "TriG",
    "rdf": "RDF/XML",
    "jsonld": "JSON-LD",
    "n3": "N3",
}
"""The names of the syntaxes, as they end file names, and what people call them."""


def only_graph(data: bytes | str, format: str) -> tuple[Term | None, list[Triple]]:
    """The triples of a document that holds one graph, with the graph's name where it has one."""
    graphs: dict[Term | None, list[Triple]] = {}
    for graph, triple in quads(data, format):
        graphs.setdefault(graph, []).append(triple)
    if len(graphs) > 1:
        names = ", ".join("the default graph" if name is None else str(name) for name in graphs)
        raise EventError(f"one event is one graph, but this document holds {names}")
    return next(iter(graphs.items()), (None, []))


def quads(data: bytes | str, format: str) -> Iterator[tuple[Term | None, Triple]]:
    """The statements of a document, each with the name of its graph (None: the default graph)."""
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise EventError(f"there is no RDF format {format!r}; expected one of {known}")
    text = _text(data)
    if format == "rdf" and _DOCTYPE.search(text):
        raise EventError("RDF/XML with a DTD is refused: write entities out and drop the DOCTYPE")
    terms = _Terms(text)
    for quad in _parsed(text, format):
        graph = terms.graph(quad.graph_name)
        yield graph, (terms.of(quad.subject), terms.of(quad.predicate), terms.of(quad.object))


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EventError(f"the RDF is not UTF-8: byte {error.start} cannot be read") from None


def _parsed(text: str, format: str) -> Iterator[Any]:  # Any: pyoxigraph's quads
    import pyoxigraph

    syntax = pyoxigraph.RdfFormat.from_extension(format)
    assert syntax is not None
    try:
        yield from pyoxigraph.parse(text.encode(), format=syntax)
    except (SyntaxError, ValueError) as error:
        if "LoadDocumentCallback" in str(error):
            raise EventError(
                "JSON-LD with a remote context is refused, nothing is fetched: "
                "put the context itself into the document"
            ) from None
        # The message names the line already; the text of a SyntaxError would add it once more.
        problem = error.msg if isinstance(error, SyntaxError) else error
        raise EventError(f"broken {FORMATS[format]}: {problem}") from None


_DOCTYPE = re.compile(r"<!doctype", re.IGNORECASE)  # the parser takes it in any case
_GENERATED = re.compile(r"[0-9a-f]{24,32}")
_LABELS = re.compile(r"""_:([\w.-]*[\w-])|\bnodeID\s*=\s*["']([^"']*)["']""")


class _Terms:
    """Turns one document's terms into ours.

    The parser gives nodes without a label a random one; they are counted instead, so that reading a
    document twice gives the same terms.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._labels: dict[str, Term] = {}
        self._counter = 0

    @cached_property
    def _written(self) -> frozenset[str]:
        """The labels that stand in the text."""
        return frozenset(found[1] or found[2] for found in _LABELS.finditer(self._text))

    def graph(self, name: Any) -> Term | None:
        import pyoxigraph

        return None if isinstance(name, pyoxigraph.DefaultGraph) else self.of(name)

    def of(self, node: Any) -> Term:
        import pyoxigraph

        match node:
            case pyoxigraph.NamedNode():
                return iri(node.value)
            case pyoxigraph.BlankNode():
                return self._blank(node.value)
            case pyoxigraph.Literal(language=str() as language):
                direction = getattr(node, "direction", None)
                tag = language if direction is None else f"{language}--{direction.value}"
                return language_string(node.value, tag)
            case pyoxigraph.Literal():
                return literal(node.value, node.datatype.value)
        raise EventError("a triple term (RDF 1.2) cannot be part of an event")

    def _blank(self, label: str) -> Term:
        known = self._labels.get(label)
        if known is None:
            known = self._labels[label] = blank(self._named(label))
        return known

    def _named(self, label: str) -> str:
        if not _GENERATED.fullmatch(label) or label in self._written:
            return label
        while True:
            self._counter += 1
            name = f"b{self._counter}"
            if name not in self._written:
                return name
