"""What an item of a feed says, in the terms of its own feed, of Dublin Core and of schema.org.

What was sent stays as it was sent: RSS of every version under the names of RSS 1.0, Atom under its
own, all else under its namespace, nested as in any XML (`xml.py`). Beside it stands the same in
terms that all feeds share (`_FIRST`, `_ALL`), so that one subscription fits RSS and Atom alike. A
shared term that the item sends itself is left as it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sensewire.events.feed_dates import iso_date
from sensewire.events.xml import Graph, is_absolute, literal_of, name_term
from sensewire.events.xml_kinds import ATOM_NAMESPACES, RSS_NAMESPACES
from sensewire.events.xml_reading import XML, Element, Name
from sensewire.model import datatypes
from sensewire.model.event import Fact, distinct
from sensewire.model.terms import HOME, RDF_TYPE, Term, iri, local_name, string, untyped

RSS = "http://purl.org/rss/1.0/"
ATOM = "http://www.w3.org/2005/Atom#"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
CONTENT = "http://purl.org/rss/1.0/modules/content/"
SCHEMA = "https://schema.org/"
TAGS = string("tags")

_XHTML = "http://www.w3.org/1999/xhtml"
_ABOUT = Name(datatypes.RDF, "about")
_LANGUAGE = Name(XML, "lang")

Values = Callable[[Element], Iterator[Term]]


@dataclass(slots=True)
class Channel:
    """What a feed says of itself that holds for its items."""

    title: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item as facts; `id` identifies it, with the time of its last change where it has one."""

    id: str | None
    home: Term
    facts: tuple[Fact, ...]

    def times(self) -> Iterator[Fact]:
        """The facts of the home vertex, each date as ISO writes it, and once under a local name."""
        told: set[tuple[str, Term]] = set()
        for fact in self.facts:
            if fact.subject == self.home:
                date = iso_date(fact.object.text) if fact.property.text in _DATES else None
                value = fact.object if date is None else untyped(date)
                name = local_name(fact.property.text)
                if (name, value) not in told:
                    told.add((name, value))
                    yield Fact(self.home, fact.property, value)


def item_of(element: Element, channel: Channel) -> Item:
    """The item that an element is."""
    sent = _Sent(element)
    identifier = sent.identifier()
    home = iri(identifier) if identifier is not None and is_absolute(identifier) else HOME
    graph = Graph(home, feed_term)
    for type in _types(element):
        graph.add(home, RDF_TYPE, _iri(type))
    attributes = [each for each in element.attributes if each[0] != _ABOUT]
    children = [_without_markup(child) for child in element.children]
    graph.take(replace(element, attributes=attributes, children=children))
    said = {fact.property for fact in graph.facts if fact.subject == home}
    for property, value in _shared(sent, identifier, channel):
        if property not in said:
            graph.add(home, property, value)
    return Item(sent.id(identifier), home, distinct(graph.facts))


@lru_cache(maxsize=4_096)
def feed_term(name: Name) -> Term:
    """The term of an element's name in a feed: one for all versions of RSS, and one for Atom's.

    >>> print(feed_term(Name("", "title")), feed_term(Name("http://purl.org/atom/ns#", "id")))
    <http://purl.org/rss/1.0/title> <http://www.w3.org/2005/Atom#id>
    """
    if name.namespace in RSS_NAMESPACES:
        return iri(RSS + name.local)
    if name.namespace in ATOM_NAMESPACES:
        return iri(ATOM + name.local)
    return name_term(name)


def _without_markup(element: Element) -> Element:
    """An element that holds a page, as its text: of a page's markup nobody asks."""
    if not any(child.name.namespace == _XHTML for child in element.children):
        return element
    return replace(element, children=[], texts=[(0, element.whole_text)])


@dataclass(slots=True)
class _Sent:
    """The elements of an item, by their terms."""

    item: Element
    by_term: dict[str, list[Element]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_term = {}
        for child in self.item.children:
            self.by_term.setdefault(feed_term(child.name).text, []).append(child)

    def each(self, terms: tuple[str, ...], values: Values) -> Iterator[Term]:
        """The values of all elements of some terms."""
        for term in terms:
            for element in self.by_term.get(term, ()):
                yield from values(element)

    def first(self, terms: tuple[str, ...], values: Values) -> Iterator[Term]:
        """The values of the first of some terms that has any."""
        for term in terms:
            found = list(self.each((term,), values))
            if found:
                yield from found
                return

    def identifier(self) -> str | None:
        """What stands for the item: rdf:about, Atom's id, RSS's guid, else its link."""
        if about := self.item.attribute(_ABOUT):
            return about
        found = (*self.first(_IDENTIFIED, _plain), *self.first(_LINKED, _address))
        return found[0].text if found else None

    def id(self, identifier: str | None) -> str | None:
        """What identifies the item as it is now."""
        if identifier is None:
            return None
        return " ".join((identifier, *(each.text for each in self.first(_UPDATED, _date))))


def _plain(element: Element) -> Iterator[Term]:
    if text := element.whole_text:
        yield untyped(text)


def _text(element: Element) -> Iterator[Term]:
    if text := element.whole_text:
        yield literal_of(element, text)


def _date(element: Element) -> Iterator[Term]:
    found = iso_date(element.text)
    if found is not None:
        yield untyped(found)


def _person(element: Element) -> Iterator[Term]:
    """A person's name: an element of its own in Atom, the text in RSS and Dublin Core."""
    names = [child for child in element.children if child.name.local == "name"]
    yield from _plain(names[0] if names else element)


def _subject(element: Element) -> Iterator[Term]:
    term = element.attribute(Name("", "term"))
    yield from (untyped(term),) if term else _plain(element)


def _address(element: Element) -> Iterator[Term]:
    """Where a link leads: RSS has it as text, Atom as an attribute."""
    is_atom = element.name.namespace in ATOM_NAMESPACES
    text = element.attribute(Name("", "href")) if is_atom else element.text
    if text and (element.attribute(Name("", "rel")) or "alternate") == "alternate":
        yield _reference(text)


def _enclosed(element: Element) -> Iterator[Term]:
    is_atom = element.name.namespace in ATOM_NAMESPACES
    if is_atom and element.attribute(Name("", "rel")) != "enclosure":
        return
    if text := element.attribute(Name("", "href" if is_atom else "url")):
        yield _reference(text)


def _source(element: Element) -> Iterator[Term]:
    titles = [child for child in element.children if child.name.local == "title"]
    yield from _plain(titles[0] if titles else element)


def _reference(text: str) -> Term:
    return iri(text) if is_absolute(text) else untyped(text)


_IDENTIFIED = (ATOM + "id", RSS + "guid")
_LINKED = (RSS + "link", ATOM + "link")
_PUBLISHED = (
    *(RSS + "pubDate", ATOM + "published", ATOM + "issued", DC + "date", DCTERMS + "issued"),
    DCTERMS + "created",
)
_UPDATED = (ATOM + "updated", ATOM + "modified", DCTERMS + "modified", RSS + "lastBuildDate")
_BODIES = (CONTENT + "encoded", ATOM + "content")
_DATES = frozenset((*_PUBLISHED, *_UPDATED))

_FIRST: tuple[tuple[tuple[str, ...], Values, tuple[str, ...]], ...] = (
    (
        (RSS + "title", ATOM + "title", DC + "title"),
        _text,
        (DC + "title", SCHEMA + "headline", SCHEMA + "name"),
    ),
    (
        (RSS + "description", ATOM + "summary", DC + "description", *_BODIES),
        _text,
        (DC + "description", SCHEMA + "description"),
    ),
    (_BODIES, _text, (SCHEMA + "articleBody",)),
    (_LINKED, _address, (SCHEMA + "url",)),
    ((*_PUBLISHED, *_UPDATED), _date, (DC + "date",)),
    (_PUBLISHED, _date, (SCHEMA + "datePublished",)),
    (_UPDATED, _date, (DCTERMS + "modified", SCHEMA + "dateModified")),
)
"""Of the first of these that the item has: how it is read, and the terms that it is given."""

_ALL: tuple[tuple[tuple[str, ...], Values, tuple[str, ...]], ...] = (
    (
        (RSS + "author", DC + "creator", ATOM + "author"),
        _person,
        (DC + "creator", SCHEMA + "author"),
    ),
    (
        (RSS + "category", DC + "subject", ATOM + "category"),
        _subject,
        (DC + "subject", SCHEMA + "keywords"),
    ),
    ((RSS + "enclosure", ATOM + "link"), _enclosed, (SCHEMA + "associatedMedia",)),
    ((RSS + "source", ATOM + "source"), _source, (DC + "source",)),
)
"""Of all of these that the item has: the same."""

_TAGGED = (RSS + "category", DC + "subject", ATOM + "category")


def _shared(sent: _Sent, identifier: str | None, channel: Channel) -> Iterator[tuple[Term, Term]]:
    """What the item says in the terms that all feeds share."""
    for terms, values, shared in _FIRST:
        yield from _given(shared, list(sent.first(terms, values)))
    for terms, values, shared in _ALL:
        yield from _given(shared, list(sent.each(terms, values)))
    yield from ((TAGS, value) for value in sent.each(_TAGGED, _subject))
    if identifier is not None:
        yield from _given((DC + "identifier", SCHEMA + "identifier"), [untyped(identifier)])
    language = next((value.text for value in sent.each((DC + "language",), _plain)), None)
    language = language or sent.item.attribute(_LANGUAGE) or channel.language
    if language:
        yield from _given((DC + "language", SCHEMA + "inLanguage"), [untyped(language)])
    if channel.title:
        yield from _given((SCHEMA + "isPartOf",), [untyped(channel.title)])


def _given(terms: tuple[str, ...], values: list[Term]) -> Iterator[tuple[Term, Term]]:
    for term in terms:
        for value in values:
            yield _iri(term), value


_iri = lru_cache(maxsize=256)(iri)


def _types(element: Element) -> Iterator[str]:
    yield RSS + "item"
    if element.name.namespace in ATOM_NAMESPACES:
        yield ATOM + "entry"
    yield SCHEMA + "Article"
