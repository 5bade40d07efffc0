"""XML as elements, read by expat, piece by piece; nothing that a document names is ever opened.

    bytes ──> UTF-8, whatever the document is written in ──> expat ──> a Listener

A DOCTYPE is refused where it begins: no entity is ever declared, so that none can explode or lead
anywhere. Names come with their namespaces; comments and instructions are passed over, CDATA is
text. Cost: linear in the bytes. Memory: a piece, and the longest tag, which is bounded.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple, Protocol
from xml.parsers import expat

from sensewire.model.errors import EventError

XML = "http://www.w3.org/XML/1998/namespace"

_PIECE = 1_048_576
_BETWEEN = " "  # a namespace and a name, as expat gives them; no name has one
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_CHARACTERS = (
    *("utf-8", "ascii", "iso8859", "cp", "koi8", "mac-", "tis-620", "shift_jis", "euc_", "gb"),
    *("big5", "iso2022", "hz"),
)
"""How Python calls encodings of characters; it has others, which are none of XML's."""


class BrokenXmlError(EventError):
    """XML that cannot be read, or is refused: in which line, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class Name(NamedTuple):
    """A name and its namespace, which is empty where there is none."""

    namespace: str
    local: str


@dataclass(slots=True, eq=False)
class Element:
    """An element with all that is in it; each text with the number of children before it."""

    name: Name
    attributes: list[tuple[Name, str]]
    line: int
    children: list["Element"] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)

    def attribute(self, name: Name) -> str | None:
        """The value of an attribute, where the element has it."""
        return next((value for each, value in self.attributes if each == name), None)

    @property
    def text(self) -> str:
        """Its own text, without the white space around it."""
        return "".join(text for _, text in self.texts).strip()

    @property
    def whole_text(self) -> str:
        """All text in it, that of the elements in it too, without the white space around it."""
        return "".join(self._pieces()).strip()

    def _pieces(self) -> Iterator[str]:
        told = 0
        for before, text in self.texts:
            for child in self.children[told:before]:
                yield from child._pieces()
            told = before
            yield text
        for child in self.children[told:]:
            yield from child._pieces()


class Listener(Protocol):
    """What is told of a document, in its order. `at` is a place in its UTF-8 bytes."""

    def opened(self, name: Name, attributes: list[tuple[Name, str]], line: int, at: int) -> None:
        """An element begins."""

    def closed(self, at: int) -> None:
        """The element that began last, and has not ended, ends."""

    def said(self, text: str, at: int) -> None:
        """Text; one text may come in pieces."""


class Reading:
    """A document that is being read: pieces in, a listener told."""

    def __init__(self, listener: Listener, longest: int) -> None:
        self._listener = listener
        self._longest = longest
        self._fed = 0
        self._parser = expat.ParserCreate("utf-8", _BETWEEN)
        self._parser.ordered_attributes = True
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._say

    @property
    def line(self) -> int:
        """The line that was reached."""
        return self._parser.CurrentLineNumber

    @property
    def at(self) -> int:
        """How many bytes were read; the rest of those that were fed is a tag that goes on."""
        return max(0, self._parser.CurrentByteIndex)

    def feed(self, piece: bytes) -> None:
        """Read on, in UTF-8. What is broken is a BrokenXmlError."""
        self._fed += len(piece)
        self._parse(piece, False)
        if self._fed - self.at > self._longest + _PIECE:
            raise self._problem(f"a tag or comment longer than {self._longest:,} bytes")

    def end(self) -> None:
        """That was all."""
        self._parse(b"", True)

    def _parse(self, piece: bytes, is_last: bool) -> None:
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            what = expat.errors.messages[error.code]
            place = f"line {error.lineno}, column {error.offset + 1}"
            raise BrokenXmlError(error.lineno, f"broken XML at {place}: {what}") from None
        except EventError as error:
            raise self._problem(str(error)) from None

    def _problem(self, reason: str) -> BrokenXmlError:
        column = self._parser.CurrentColumnNumber + 1
        return BrokenXmlError(self.line, f"{reason} (line {self.line}, column {column})")

    def _refuse(self, *_: object) -> None:
        raise EventError("XML with a DTD is refused: write entities out and drop the DOCTYPE")

    def _open(self, name: str, attributes: list[str]) -> None:
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        named = [(_name(each), value) for each, value in pairs]
        self._listener.opened(_name(name), named, self.line, self._parser.CurrentByteIndex)

    def _close(self, _: str) -> None:
        self._listener.closed(self._parser.CurrentByteIndex)

    def _say(self, text: str) -> None:
        self._listener.said(text, self._parser.CurrentByteIndex)


def utf8_pieces(stream: BinaryIO) -> Iterator[bytes]:
    """A document's bytes in UTF-8, from whatever it says that it is written in.

    Where it is not written in that, an EventError comes after all that is.

    >>> import io
    >>> said = "<?xml version='1.0' encoding='latin-1'?><a>é</a>".encode("latin-1")
    >>> b"".join(utf8_pieces(io.BytesIO(said)))[-9:].decode()
    '<a>é</a>'
    """
    piece = stream.read(_PIECE)
    encoding = _encoding(piece)
    decoder = codecs.getincrementaldecoder(encoding)()
    while True:
        try:
            yield decoder.decode(piece, final=not piece).encode()
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode(encoding, "ignore").encode()
            bad = error.object[error.start]
            raise EventError(f"not {encoding}: the byte 0x{bad:02x} cannot be read") from None
        if not piece:
            return
        piece = stream.read(_PIECE)


def read_into(listener: Listener, stream: BinaryIO, longest: int) -> None:
    """Tell a listener of a whole document."""
    reading = Reading(listener, longest)
    try:
        for piece in utf8_pieces(stream):
            reading.feed(piece)
    except BrokenXmlError:
        raise
    except EventError as error:
        raise BrokenXmlError(reading.line, str(error)) from None
    reading.end()


def _encoding(head: bytes) -> str:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _DECLARED.match(head)
    if declared is None:
        return "utf-8"
    name = declared[1].decode()
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if found.startswith("utf-16"):  # it is not: the declaration could not have been read
        return "utf-8"
    if not found.startswith(_CHARACTERS):
        raise EventError(f"the encoding {name!r} is not known; expected UTF-8, or another of XML's")
    return found


def _name(name: str) -> Name:
    namespace, _, local = name.rpartition(_BETWEEN)
    return Name(namespace, local)
