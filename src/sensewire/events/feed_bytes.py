"""The bytes of a feed that is read piece by piece, as far as somebody may still ask for them.

read and gone ──────────┤ held from here │ the piece that is read
                        └ the open item begins, or what was not read yet
"""

import re

_TAG = re.compile(rb"""<(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")
_NAME = re.compile(rb"<([^\s/>]+)")


class Held:
    """Bytes from a place on. Places are counted from the first byte of the document."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._first = 0

    def add(self, piece: bytes, needed: int) -> None:
        """Take what comes next; what stands before the place `needed` is forgotten."""
        gone = max(0, needed - self._first)
        del self._bytes[:gone]
        self._first += gone
        self._bytes += piece

    def between(self, start: int, end: int) -> bytes:
        """The bytes of [start, end)."""
        return bytes(self._bytes[max(0, start - self._first) : max(0, end - self._first)])

    def tag(self, at: int) -> bytes:
        """The tag that begins at a place.

        >>> held = Held()
        >>> held.add(b"<a><b c='>'/></a>", 0)
        >>> held.tag(3), held.end_of(3, 13), held.end_of(0, 13)
        (b"<b c='>'/>", 13, 17)
        """
        found = _TAG.match(self._bytes, at - self._first)
        return found[0] if found is not None else b""

    def end_of(self, start: int, closed: int) -> int:
        """Where an element ends that began at a place, and was closed at another."""
        tag = self.tag(start)
        if tag.endswith(b"/>"):
            return start + len(tag)
        return closed + len(self.tag(closed))


def enclosed(inner: bytes, around: list[bytes]) -> bytes:
    """An element between the tags of those around it, which are closed behind it.

    >>> enclosed(b"<c/>", [b"<a x='1'>", b"<b>"])
    b"<a x='1'><b><c/></b></a>"
    """
    names = [found[1] for tag in reversed(around) if (found := _NAME.match(tag))]
    return b"".join((*around, inner, *(b"</%s>" % name for name in names)))
