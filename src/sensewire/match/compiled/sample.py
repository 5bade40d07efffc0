"""A sample of the events that were seen, for the planner: what is likely, and what is rare.

At most `MOST` events are kept: the first ones, then every second, every fourth … so that old and
new weigh the same and noting one costs next to nothing.

Beside them stand the events that somebody learned from a history. They are kept as they are, since
they may come before the subscriptions do: their columns hold what is asked for, and are made anew
when something else is.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sensewire.match.compiled.facts import Reader
from sensewire.match.compiled.ranking import NO_FACTS, Columns
from sensewire.match.compiled.values import Values
from sensewire.model.event import Fact
from sensewire.model.terms import Term

MOST = 4_096


class Sample:
    """Events, each kept with the same chance whenever it came."""

    def __init__(self, before: Callable[[Values], Columns] | None = None) -> None:
        self._before = before
        """Gives the events that were kept in an index folder, once somebody asks for them."""
        self._kept: list[Columns] = []
        self.events = 0
        """How many are kept."""
        self._stride = 1
        self._passed = 0

    def note(self, columns: Columns) -> None:
        """Perhaps keep some events."""
        first = -self._passed % self._stride
        self._passed += columns.events
        if first >= columns.events:
            return
        self._kept.append(_every(columns, first, self._stride))
        self.events += self._kept[-1].events
        self._thin_out()

    def columns(self, values: Values) -> Columns:
        """The events that are kept."""
        if self._before is not None:
            before, self._before = self._before(values), None
            if before.events:
                self._kept.insert(0, before)
                self.events += before.events
                self._thin_out()
        return self._joined()

    def _thin_out(self) -> None:
        """Keep every second event, until they are few enough."""
        while self.events > MOST:
            self._stride *= 2
            whole = _every(self._joined(), 0, 2)
            self._kept = [whole]
            self.events = whole.events

    def _joined(self) -> Columns:
        if len(self._kept) != 1:
            self._kept = [_joined(self._kept)]
        return self._kept[0]

    def clear(self) -> None:
        """Forget all, when the numbers of words have changed."""
        self._kept = []
        self.events = 0
        self._before = None


class Lessons:
    """Events of a history, as columns of what is asked for."""

    def __init__(self, events: Sequence[tuple[Term | None, Sequence[Fact]]] = ()) -> None:
        self._events = events
        self._columns = NO_FACTS
        self._as_of: object = None

    def __len__(self) -> int:
        return len(self._events)

    def columns(self, reader: Reader) -> Columns:
        """The events, as a reader that knows what is asked for reads them."""
        catalogue = reader.catalogue
        as_of = (reader, len(catalogue.attributes), len(catalogue.sensitive))
        if self._events and as_of != self._as_of:
            self._columns, self._as_of = reader.columns(self._events), as_of
        return self._columns


def together(first: Columns, second: Columns) -> Columns:
    """The events of both."""
    if not (first.events and second.events):
        return first if first.events else second
    return _joined([first, second])


def thinned(columns: Columns) -> Columns:
    """At most `MOST` of the events: every so many-th."""
    return _every(columns, 0, -(-columns.events // MOST)) if columns.events else columns


def _every(columns: Columns, first: int, stride: int) -> Columns:
    """Every so many-th event."""
    if stride == 1 and first == 0:
        return columns
    chosen = (columns.event >= first) & ((columns.event - first) % stride == 0)
    return Columns(
        len(range(first, columns.events, stride)),
        ((columns.event[chosen] - first) // stride).astype(np.int32),
        columns.property[chosen],
        columns.kind[chosen],
        columns.word[chosen],
        columns.number[chosen],
    )


def _joined(parts: list[Columns]) -> Columns:
    if not parts:
        return NO_FACTS
    starts = np.cumsum([0, *(part.events for part in parts)])
    shifted = [part.event + start for part, start in zip(parts, starts, strict=False)]
    return Columns(
        int(starts[-1]),
        np.concatenate(shifted).astype(np.int32),
        np.concatenate([part.property for part in parts]),
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.word for part in parts]),
        np.concatenate([part.number for part in parts]),
    )
