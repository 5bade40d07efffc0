"""How events are read, and what comes out of reading: an event, or what was rejected and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, moment
from sensewire.model.terms import Kind, Term, local_name

LONGEST_EVENT = 8 * 1024 * 1024
"""Bytes of an event; a longer one is rejected, unless the caller says otherwise."""

KEPT_OF_LONG = 65_536
"""Bytes that are kept of what is rejected for its length."""

_TEXTS = (Kind.STRING, Kind.UNTYPED, Kind.DATE)


class Wanted(Protocol):
    """Whoever asks for some of what events say, as an engine does; the rest need not be read."""

    def wants(self, attribute: str) -> bool:
        """Whether an attribute of records, by its dotted path, is asked for."""
        ...

    def wants_property(self, address: str) -> bool:
        """Whether a property of graphs, by its IRI, is asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Decoding:
    """Where an event's id and time stand, the moment that the run began, and the longest event.

    `id_field` None: no field holds the id. `time_field` None: no field holds the time.
    """

    now: datetime
    id_field: str | None = "id"
    time_field: str | None = None
    longest: int = LONGEST_EVENT

    def time_in(self, facts: Iterable[Fact], home: Term | None) -> datetime:
        """The time that the home vertex's time field holds; without one, the run's moment.

        A nested field is named by its dotted path; an RDF property by its IRI or its local name.
        """
        if self.time_field is None:
            return self.now
        values = [
            fact.object
            for fact in facts
            if fact.subject == home and _names(fact.property, self.time_field)
        ]
        if not values:
            return self.now
        if len(values) > 1:
            raise EventError(
                f"the time field {self.time_field!r} holds {len(values)} values, not 1"
            )
        return self._moment(values[0])

    def _moment(self, value: Term) -> datetime:
        try:
            return moment(value.text if value.kind in _TEXTS else str(value))
        except EventError as error:
            raise EventError(f"time field {self.time_field!r}: {error}") from None


@dataclass(frozen=True, slots=True)
class Decoded:
    """An event, with the place and the bytes that it was read from."""

    place: str
    raw: bytes
    event: Event


@dataclass(frozen=True, slots=True)
class Rejected:
    """What could not be read as an event: `file:line`, the reason, and the bytes themselves."""

    place: str
    raw: bytes
    reason: str


Outcome = Decoded | Rejected


def too_long(longest: int, kept: int) -> str:
    """Why something long was rejected, and what became of its bytes.

    >>> too_long(8_388_608, 65_536)
    'longer than 8,388,608 bytes, the most that is read; the first 65,536 bytes are kept'
    """
    return (
        f"longer than {longest:,} bytes, the most that is read; the first {kept:,} bytes are kept"
    )


def _names(property: Term, field: str) -> bool:
    return property.text == field or (
        property.kind is Kind.IRI and local_name(property.text) == field
    )
