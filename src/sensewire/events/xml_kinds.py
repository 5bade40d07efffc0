"""What kind of events an XML document holds, told by its first elements.

    <rss>, Atom's <feed> and <entry>          a feed
    <rdf:RDF> with a channel or item of RSS   a feed
    any other <rdf:RDF>                       an RDF document
    anything else                             XML

Looked at: the first mebibyte, or less. What cannot be read is XML, and rejected as such later on.
"""

from contextlib import suppress
from typing import BinaryIO

from sensewire.events.kinds import Kind
from sensewire.events.xml_reading import Name, Reading, utf8_pieces
from sensewire.model import datatypes
from sensewire.model.errors import EventError

RSS_NAMESPACES = (
    "http://purl.org/rss/1.0/",
    "http://my.netscape.com/rdf/simple/0.9/",
    "http://channel.netscape.com/rdf/simple/0.9/",
    "http://purl.org/net/rss1.1#",
    "http://backend.userland.com/rss2",
    "",  # as in RSS 0.91 to 2.0
)
ATOM_NAMESPACES = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")

_RSS_1_1 = Name("http://purl.org/net/rss1.1#", "Channel")
_RDF = Name(datatypes.RDF, "RDF")


def kind_within(stream: BinaryIO) -> Kind:
    """The kind of a document that is called XML."""
    looking = _Looking()
    reading = Reading(looking, 0)
    with suppress(EventError, _Seen):
        reading.feed(next(utf8_pieces(stream)))
    return looking.kind


def is_feed(root: Name) -> bool:
    """Whether a root element is that of a feed, or of one item of a feed.

    >>> is_feed(Name("", "rss")), is_feed(Name("", "html"))
    (True, False)
    """
    if root.namespace in ATOM_NAMESPACES:
        return root.local in ("feed", "entry")
    return root == _RSS_1_1 or (root.namespace in RSS_NAMESPACES and root.local == "rss")


class _Seen(Exception):  # noqa: N818 (no error: enough was seen)
    """That the kind is known."""


class _Looking:
    """Listens to the first elements."""

    def __init__(self) -> None:
        self.kind = Kind.XML
        self._depth = 0

    def opened(self, name: Name, attributes: list[tuple[Name, str]], line: int, at: int) -> None:
        self._depth += 1
        if self._depth == 1 and name == _RDF:
            self.kind = Kind.DOCUMENT
            return
        is_item = self._depth == 2 and _is_of_rss(name)
        if is_item or (self._depth == 1 and is_feed(name)):
            self.kind = Kind.FEED
        if is_item or self._depth == 1:
            raise _Seen

    def closed(self, at: int) -> None:
        self._depth -= 1

    def said(self, text: str, at: int) -> None:
        """Says nothing of the kind."""


def _is_of_rss(name: Name) -> bool:
    return bool(name.namespace) and name.namespace in RSS_NAMESPACES
