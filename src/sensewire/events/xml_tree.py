"""Elements with all that is in them, from what a reading tells; no deeper or larger than a bound.

The bounds are met while a document is read: what passes them costs no more than they do.
"""

from sensewire.events.xml_reading import Element, Name
from sensewire.model.errors import EventError

DEEPEST = 200
"""Elements inside each other."""
MOST_FACTS = 1_000_000
"""Facts of an event; an element or an attribute is one at least."""


class Tree:
    """An element that is being read."""

    def __init__(self) -> None:
        self._open: list[Element] = []
        self._count = 0

    @property
    def depth(self) -> int:
        """How many elements have begun and not ended."""
        return len(self._open)

    def opened(self, name: Name, attributes: list[tuple[Name, str]], line: int) -> None:
        """An element begins."""
        self._count += 1 + len(attributes)
        if len(self._open) >= DEEPEST:
            raise EventError(f"elements nested deeper than {DEEPEST} levels, the most that is read")
        if self._count > MOST_FACTS:
            raise EventError(
                f"more than {MOST_FACTS:,} elements and attributes, the most that an event may have"
            )
        element = Element(name, attributes, line)
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)

    def closed(self) -> Element | None:
        """The innermost element ends; the outermost one, if that was it."""
        element = self._open.pop()
        if self._open:
            return None
        self._count = 0
        return element

    def said(self, text: str) -> None:
        """Text of the innermost element."""
        element = self._open[-1]
        element.texts.append((len(element.children), text))

    def drop(self) -> None:
        """Forget the element that is open."""
        self._open.clear()
        self._count = 0
