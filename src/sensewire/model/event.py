"""Events: an id, a time, a set of facts around an optional home vertex, and an opaque payload."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

from sensewire.model import datatypes, flatten, rdf
from sensewire.model.errors import EventError
from sensewire.model.home import home_vertex
from sensewire.model.terms import HOME, Kind, Term, literal

_DATE_TIME = datatypes.DATE_TIME


class Fact(NamedTuple):
    """One statement of an event; a record's property is its attribute's name, as a string term."""

    subject: Term
    property: Term
    object: Term


@dataclass(frozen=True, slots=True)
class Event:
    """One event, as its publisher sent it."""

    id: str
    time: datetime
    facts: tuple[Fact, ...]
    home: Term | None
    payload: Any = None  # opaque: only operators read it

    @classmethod
    def record(
        cls,
        data: Mapping[str, Any],
        *,
        id: str | None = None,
        time: datetime | str | None = None,
        payload: Any = None,
    ) -> Self:
        """A record as an event: a star of facts around the home vertex.

        >>> data = {"product": "laptop", "size": {"screen": 14}, "tags": ["new"]}
        >>> event = Event.record(data, id="e1")
        >>> [(fact.property.text, fact.object.text) for fact in event.facts]
        [('product', 'laptop'), ('size.screen', '14'), ('tags', 'new')]
        """
        facts = distinct(Fact(HOME, name, value) for name, value in flatten.attributes(data))
        return cls(
            id=_id(id, flatten.id_in(data, "id")),
            time=moment(time),
            facts=facts,
            home=HOME,
            payload=payload,
        )

    @classmethod
    def rdf(
        cls,
        data: bytes | str,
        format: str = "nt",
        *,
        id: str | None = None,
        time: datetime | str | None = None,
        home: Term | str | None = None,
        payload: Any = None,
    ) -> Self:
        """An RDF document as an event; of a dataset, its only named graph.

        >>> event = Event.rdf('<http://x.org/a> <http://x.org/price> "5" .', id="e2")
        >>> print(event.home, event.facts[0].object.kind)
        <http://x.org/a> untyped
        """
        graph, triples = rdf.only_graph(data, format)
        facts = distinct(Fact(*triple) for triple in triples)
        return cls(
            id=_id(id, graph.text if graph is not None and graph.kind is Kind.IRI else None),
            time=moment(time),
            facts=facts,
            home=home_vertex(facts, graph, home),
            payload=payload,
        )


def distinct(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts as a set, in the order in which they were sent."""
    return tuple(dict.fromkeys(facts))


def moment(time: datetime | str | None) -> datetime:
    """A time as an aware datetime: ISO text is read, without a zone UTC; None is now."""
    match time:
        case None:
            return datetime.now(UTC)
        case datetime():
            if time.tzinfo is None:
                raise EventError(f"the time {time} has no zone; expected an aware datetime")
            return time
        case str():
            for made in (literal(time, datatypes.DATE), literal(_with_seconds(time), _DATE_TIME)):
                if isinstance(made.value, datetime):
                    return made.value
    raise EventError(f"the time {time!r} is no date; expected YYYY-MM-DD[Thh:mm[:ss[.f]][zone]]")


def _with_seconds(time: str) -> str:
    """2024-03-01T10:00Z as 2024-03-01T10:00:00Z, which XSD asks for."""
    return f"{time[:16]}:00{time[16:]}" if time[10:11] == "T" and time[16:17] != ":" else time


def _id(given: str | None, found: str | None) -> str:
    """The id that was given, else the one found in the event, else a new one."""
    return str(given) if given is not None else found if found is not None else str(uuid.uuid4())
