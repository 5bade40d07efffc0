"""An XML document as one event: elements and attributes as facts, whatever the vocabulary.

    <order xmlns:s="http://s.org/ns" n="7">       _:H   rdf:type        "order"
      <s:price currency="EUR">5</s:price>         _:H   n               "7"
      <to><city>Toronto</city></to>               _:H   s:price         _:b1
    </order>                                      _:b1  currency        "EUR"
                                                  _:b1  rdf:value       "5"
    and for whoever asks of the home vertex:      _:H   to              _:b2
                                                  _:b2  city            "Toronto"
    _:H  price "5"   _:H  price.currency "EUR"   _:H  to.city "Toronto"

The root is the home vertex. A name with a namespace is an IRI, any other a string, as a record's
attributes are; texts are untyped, or in the language that their own element names. Every leaf
below is an attribute of the home vertex too, by its dotted path, as in nested JSON. Cost: linear in
the bytes and in the characters of the paths, which are bounded.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO

from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.xml_reading import XML, BrokenXmlError, Element, Name, read_into
from sensewire.events.xml_tree import MOST_FACTS, Tree
from sensewire.model import datatypes
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.flatten import LONGEST_NAMES
from sensewire.model.terms import (
    HOME,
    RDF_TYPE,
    Term,
    blank,
    iri,
    language_string,
    string,
    untyped,
)

RDF_VALUE = iri(datatypes.RDF + "value")

_SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_NIL = Name(_SCHEMA_INSTANCE, "nil")
_LANGUAGE = Name(XML, "lang")
_RESOURCE = Name(datatypes.RDF, "resource")
_ABSOLUTE = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|\\^`]+""")
_ENDS = ("#", "/", ":", "?", "=")


def document(raw: bytes, file: str, id: str, decoding: Decoding) -> Outcome:
    """A document as one event, with the id given."""
    try:
        facts = document_facts(raw)
        time = decoding.time_in(facts, HOME)
    except BrokenXmlError as error:
        return Rejected(f"{file}:{error.line}", raw, str(error))
    except EventError as error:
        return Rejected(f"{file}:1", raw, str(error))
    return Decoded(f"{file}:1", raw, Event(id, time, facts, HOME))


def document_facts(raw: bytes) -> tuple[Fact, ...]:
    """The facts of a document.

    >>> for fact in document_facts(b"<a><b c='1'>2</b></a>"):
    ...     print(fact.subject, fact.property.text.rpartition("#")[2], fact.object)
    _:H type "a"
    _:H b _:b1
    _:b1 value "2"
    _:H b "2"
    _:b1 c "1"
    _:H b.c "1"
    """
    listener = _Document()
    read_into(listener, BytesIO(raw), len(raw))
    root = listener.root
    assert root is not None  # for expat refuses a document without one
    graph = Graph(HOME, name_term)
    graph.add(HOME, RDF_TYPE, name_term(root.name))
    graph.take(root)
    return distinct(graph.facts)


class _Document:
    """Listens to a whole document."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._tree = Tree()

    def opened(self, name: Name, attributes: list[tuple[Name, str]], line: int, at: int) -> None:
        self._tree.opened(name, attributes, line)

    def closed(self, at: int) -> None:
        self.root = self._tree.closed()

    def said(self, text: str, at: int) -> None:
        self._tree.said(text)


@lru_cache(maxsize=4_096)
def name_term(name: Name) -> Term:
    """The term of a name: an IRI, where it has a namespace.

    >>> print(name_term(Name("http://x.org/ns", "a")), name_term(Name("", "a")))
    <http://x.org/ns#a> "a"
    """
    if not name.namespace:
        return string(name.local)
    between = "" if name.namespace.endswith(_ENDS) else "#"
    return iri(f"{name.namespace}{between}{name.local}")


def is_absolute(text: str) -> bool:
    """Whether a text is an IRI that means the same everywhere.

    >>> is_absolute("http://x.org/a"), is_absolute("urn:x:1"), is_absolute("a/b")
    (True, True, False)
    """
    return _ABSOLUTE.fullmatch(text) is not None


def facts_in(element: Element) -> list[tuple[Name, str]]:
    """The attributes that say something of an element, and not of how it is to be read."""
    return [
        (name, value)
        for name, value in element.attributes
        if name.namespace not in (XML, _SCHEMA_INSTANCE)
    ]


def literal_of(element: Element, text: str) -> Term:
    """A text of an element, in the language that the element itself names."""
    language = element.attribute(_LANGUAGE)
    return language_string(text, language) if language else untyped(text)


class Graph:
    """The facts of one element and all that is in it, around a home vertex.

    `named` says which term the name of an element is.
    """

    def __init__(self, home: Term, named: Callable[[Name], Term]) -> None:
        self.facts: list[Fact] = []
        self._home = home
        self._named = named
        self._blanks = 0
        self._characters = 0

    def add(self, subject: Term, property: Term, object: Term) -> None:
        """One more fact."""
        if len(self.facts) >= MOST_FACTS:
            raise EventError(f"more than {MOST_FACTS:,} facts, the most that an event may have")
        self.facts.append(Fact(subject, property, object))

    def take(self, element: Element) -> None:
        """The facts of the element that is the home vertex."""
        self._take(element, self._home, "")

    def _take(self, element: Element, vertex: Term, path: str) -> None:
        """The facts of an element, which is a vertex, by its path from the home vertex."""
        if text := element.text:
            literal = literal_of(element, text)
            self.add(vertex, RDF_VALUE, literal)
            if path:
                self.add(self._home, string(path), literal)
        for name, value in facts_in(element):
            if value:
                self._fact(vertex, name_term(name), untyped(value), path, name.local)
        for child in element.children:
            self._child(child, vertex, path)

    def _child(self, child: Element, vertex: Term, path: str) -> None:
        if child.attribute(_NIL) in ("true", "1"):
            return
        property, attributes = self._named(child.name), facts_in(child)
        if not child.children and not attributes:
            if text := child.text:
                literal = literal_of(child, text)
                self._fact(vertex, property, literal, path, child.name.local)
            return
        resource = child.attribute(_RESOURCE)
        if resource and len(attributes) == 1 and not child.children and is_absolute(resource):
            self._fact(vertex, property, iri(resource), path, child.name.local)
            return
        self._blanks += 1
        inner = blank(f"b{self._blanks}")
        self.add(vertex, property, inner)
        self._take(child, inner, self._below(path, child.name.local))

    def _fact(self, vertex: Term, property: Term, object: Term, path: str, local: str) -> None:
        self.add(vertex, property, object)
        if path:  # without one it is a fact of the home vertex already
            self.add(self._home, string(self._below(path, local)), object)

    def _below(self, path: str, local: str) -> str:
        """The path of something under another: a few bytes of XML can ask for very long ones."""
        found = f"{path}.{local}" if path else local
        self._characters += len(found)
        if self._characters > LONGEST_NAMES:
            raise EventError(
                f"nested so that its attributes' names come to over {LONGEST_NAMES:,} "
                "characters; nest less, or shorten the names"
            )
        return found
