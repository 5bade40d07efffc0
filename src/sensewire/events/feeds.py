"""Feeds as events: each item of RSS (0.9 to 2.0) and each entry of Atom is one event.

    <rss><channel><title>…</title>  <item>…</item>  <item>…</item>  ✂
                  └ holds for all    └ an event      └ an event     └ where it breaks, one rejection

A feed is read piece by piece, and an item is given as soon as it ends: a bad one is rejected alone,
and what stands before a break stays. An item's bytes are its own between the tags around it, so
that they are a feed by themselves. Cost: linear in the bytes. Memory: a piece and an item.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.feed_bytes import Held, enclosed
from sensewire.events.feed_terms import DC, Channel, item_of
from sensewire.events.unpacking import Content
from sensewire.events.xml_kinds import ATOM_NAMESPACES, RSS_NAMESPACES, is_feed
from sensewire.events.xml_reading import XML, BrokenXmlError, Element, Name, Reading, utf8_pieces
from sensewire.events.xml_tree import DEEPEST, Tree
from sensewire.model import datatypes
from sensewire.model.errors import EventError
from sensewire.model.event import Event

_RDF = Name(datatypes.RDF, "RDF")
_LANGUAGE = Name(XML, "lang")
_CHANNELS = ("channel", "Channel", "feed")
_OF_CHANNELS = ("title", "language")


def feed(content: Content, file: str, decoding: Decoding) -> Iterator[Outcome]:
    """The events of a feed, and what in it is none, in their order."""
    items = _Items(file, decoding)
    reading = Reading(items, decoding.longest)
    try:
        for piece in utf8_pieces(content.stream):
            items.hold(piece, reading.at)
            reading.feed(piece)
            yield from items.found()
        if content.problem is None:
            reading.end()
    except EventError as error:
        yield from items.found()
        line = error.line if isinstance(error, BrokenXmlError) else reading.line
        reason = content.problem or f"{error}; items that follow are not read"
        yield Rejected(f"{file}:{line}", items.unfinished(), reason)
        return
    yield from items.found()
    if content.problem is not None:
        yield Rejected(f"{file}:{reading.line}", items.unfinished(), content.problem)


@dataclass(slots=True)
class _Open:
    """An item that has begun: where, and what is kept of it if it is given up."""

    line: int
    at: int
    kept: bytes = b""
    problem: str | None = None
    depth: int = 0  # of the elements in it, once it is given up


class _Items:
    """Listens to a feed, and makes outcomes of its items."""

    def __init__(self, file: str, decoding: Decoding) -> None:
        self._file = file
        self._decoding = decoding
        self._channel = Channel()
        self._tree = Tree()
        self._around: list[tuple[Name, bytes]] = []  # elements that are open, and their tags
        self._item: _Open | None = None
        self._begun = 0  # where an element of the channel did that is read
        self._held = Held()
        self._outcomes: list[Outcome] = []

    def hold(self, piece: bytes, read: int) -> None:
        """Keep what comes next, behind what was not read yet and the item that is open."""
        item = self._item
        needed = read if item is None or item.problem is not None else min(item.at, read)
        self._held.add(piece, needed)

    def found(self) -> Iterator[Outcome]:
        """What was found since the last time."""
        found, self._outcomes = self._outcomes, []
        yield from found

    def unfinished(self) -> bytes:
        """The first bytes of the item that is open."""
        item = self._item
        return b"" if item is None else item.kept or self._beginning(item)

    def opened(self, name: Name, attributes: list[tuple[Name, str]], line: int, at: int) -> None:
        """An element begins."""
        if self._item is not None and self._item.problem is not None:
            self._item.depth += 1
        elif self._tree.depth:
            self._grow(name, attributes, line, at)
        elif _is_item(name):
            self._item = _Open(line, at)
            self._grow(name, attributes, line, at)
        elif self._around and self._around[-1][0].local in _CHANNELS and _is_of_channel(name):
            self._begun = at
            self._tree.opened(name, attributes, line)
        else:
            self._enter(name, attributes, at)

    def closed(self, at: int) -> None:
        """An element ends."""
        item = self._item
        if item is not None and item.problem is not None:
            item.depth -= 1
            if not item.depth:
                self._outcomes.append(Rejected(self._place(item), item.kept, item.problem))
                self._item = None
        elif self._tree.depth:
            element = self._tree.closed()
            if element is not None and item is not None:
                self._finish(element, item, at)
            elif element is not None:
                self._channel_says(element)
        else:
            self._around.pop()

    def said(self, text: str, at: int) -> None:
        """Text."""
        if self._tree.depth:
            self._tree.said(text)
            self._check_length(at)

    def _enter(self, name: Name, attributes: list[tuple[Name, str]], at: int) -> None:
        """Pass an element that items may stand in."""
        if not self._around and name != _RDF and not is_feed(name):
            raise EventError(
                f"the root element is {name.local!r}, which no feed has; "
                "expected rss, rdf:RDF, or Atom's feed or entry"
            )
        if len(self._around) >= DEEPEST:
            raise EventError(f"elements nested deeper than {DEEPEST} levels, the most that is read")
        if name.local in (*_CHANNELS, "rss", "RDF"):
            language = next((value for each, value in attributes if each == _LANGUAGE), None)
            self._channel.language = language or self._channel.language
        self._around.append((name, self._held.tag(at)))

    def _grow(self, name: Name, attributes: list[tuple[Name, str]], line: int, at: int) -> None:
        """Read an element of the item, or of the channel's."""
        try:
            self._tree.opened(name, attributes, line)
        except EventError as error:
            if self._item is None:
                raise
            self._give_up(self._item, str(error), self._tree.depth + 1)
        else:
            self._check_length(at)

    def _check_length(self, at: int) -> None:
        item, longest = self._item, self._decoding.longest
        if item is None and at - self._begun > longest:
            raise EventError(
                f"a title or language of the channel longer than {longest:,} bytes, "
                "the most that is read"
            )
        if item is not None and at - item.at > longest:
            kept = min(longest, KEPT_OF_LONG)
            self._give_up(item, too_long(longest, kept), self._tree.depth)

    def _give_up(self, item: _Open, reason: str, depth: int) -> None:
        item.problem, item.kept, item.depth = reason, self._beginning(item), depth
        self._tree.drop()

    def _finish(self, element: Element, item: _Open, at: int) -> None:
        """Make an event of an item."""
        self._item = None
        end = self._held.end_of(item.at, at)
        if end - item.at > self._decoding.longest:
            kept = self._beginning(item)
            reason = too_long(self._decoding.longest, len(kept))
            self._outcomes.append(Rejected(self._place(item), kept, reason))
            return
        raw = enclosed(self._held.between(item.at, end), [tag for _, tag in self._around])
        self._outcomes.append(self._outcome(element, self._place(item), raw))

    def _outcome(self, element: Element, place: str, raw: bytes) -> Outcome:
        try:
            item = item_of(element, self._channel)
            time = self._decoding.time_in(item.times(), item.home)
        except EventError as error:
            return Rejected(place, raw, str(error))
        return Decoded(place, raw, Event(item.id or place, time, item.facts, item.home))

    def _channel_says(self, element: Element) -> None:
        if text := element.whole_text:
            if element.name.local == "title":
                self._channel.title = text
            else:
                self._channel.language = text

    def _place(self, item: _Open) -> str:
        return f"{self._file}:{item.line}"

    def _beginning(self, item: _Open) -> bytes:
        kept = min(self._decoding.longest, KEPT_OF_LONG)
        return self._held.between(item.at, item.at + kept)


def _is_item(name: Name) -> bool:
    return (name.local == "item" and name.namespace in RSS_NAMESPACES) or (
        name.local == "entry" and name.namespace in ATOM_NAMESPACES
    )


def _is_of_channel(name: Name) -> bool:
    """Whether an element of a channel says what holds for its items."""
    known = (*RSS_NAMESPACES, *ATOM_NAMESPACES, DC)
    return name.local in _OF_CHANNELS and name.namespace in known
