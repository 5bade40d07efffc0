"""Slices as portions for the engine: the fast way in, with the outcomes of `decode`.

    JSON lines ───────────────── line_portions ──> RecordPortion   records as they lie
    Parquet, Arrow, packed ───── tables ─────────> RecordPortion
    CSV ──────────────────────── csv_portions ───> RecordPortion
    N-Quads ──────────────────── graph_portions ─> EventPortion    facts as columns
    RDF, documents, payloads ─── decode ─────────> EventPortion    events, from many small files too

What is rejected comes between them, as it is met.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from sensewire.events.csv_events import separator_of
from sensewire.events.csv_portions import csv_portions
from sensewire.events.decode import content_lines, decode, vanished
from sensewire.events.decoding import Decoded, Decoding, Rejected, Wanted
from sensewire.events.files import Slice
from sensewire.events.graphs import Graphs
from sensewire.events.kinds import Kind
from sensewire.events.line_portions import line_portions
from sensewire.events.locations import LocationError
from sensewire.events.record_portion import RecordPortion
from sensewire.events.tables import choice_of, row_portions
from sensewire.events.unpacking import opened

EVENTS_AT_ONCE = 1_024
"""Events of a portion, at most."""

_BYTES_AT_ONCE = 33_554_432


class EventPortion:
    """Events: of RDF, of JSON documents, of payloads. Those of N-Quads are columns, and become
    events when somebody asks for them."""

    __match_args__ = ("decoded",)
    __slots__ = ("_decoded", "graphs")

    def __init__(self, decoded: tuple[Decoded, ...] | Graphs) -> None:
        self.graphs: Graphs | None = None
        self._decoded: tuple[Decoded, ...] | None = None
        if isinstance(decoded, Graphs):
            self.graphs = decoded
        else:
            self._decoded = decoded

    @property
    def decoded(self) -> tuple[Decoded, ...]:
        """The events, each with its place and bytes."""
        if self._decoded is None:
            assert self.graphs is not None
            self._decoded = tuple(self.graphs.decoded())
        return self._decoded

    def __len__(self) -> int:
        return len(self.decoded if self.graphs is None else self.graphs)

    def place(self, row: int) -> str:
        """Where an event stands."""
        return self.decoded[row].place if self.graphs is None else self.graphs.place(row)

    def raw(self, row: int) -> bytes:
        """The bytes that an event was read from."""
        return self.decoded[row].raw if self.graphs is None else self.graphs.raw(row)

    def at(self, rows: Sequence[int]) -> "EventPortion":
        """Some of the events."""
        if self.graphs is not None:
            return EventPortion(self.graphs.at(rows))
        return EventPortion(tuple(self.decoded[row] for row in rows))

    def some(self, first: int, count: int) -> "EventPortion":
        """Events that follow each other."""
        if first == 0 and count >= len(self):
            return self
        return self.at(range(first, min(first + count, len(self))))


Portion = RecordPortion | EventPortion


def portions(
    parts: Iterable[Slice],
    decoding: Decoding,
    *,
    wanted: Wanted | None = None,
) -> Iterator[RecordPortion | EventPortion | Rejected]:
    """The portions of some slices.

    With `wanted`, columns that nobody wants are not read, and events of N-Quads and N-Triples lack
    the facts whose properties nobody wants.
    """
    kept = None if wanted is None else wanted.wants_property
    held: list[Decoded] = []
    size = 0
    for part in parts:
        match part.file.kind:
            case Kind.LINES | Kind.PARQUET | Kind.ARROW | Kind.PACKED | Kind.CSV:
                yield from _records(part, decoding, wanted)
                continue
            case Kind.NQUADS:
                yield from _graphs(part, decoding, kept)
                continue
        for outcome in decode(part, decoding, kept=kept):
            if isinstance(outcome, Rejected):
                yield outcome
                continue
            held.append(outcome)
            size += len(outcome.raw)
            if len(held) >= EVENTS_AT_ONCE or size >= _BYTES_AT_ONCE:
                yield EventPortion(tuple(held))
                held, size = [], 0
    if held:
        yield EventPortion(tuple(held))


def _graphs(
    part: Slice, decoding: Decoding, kept: Callable[[str], bool] | None
) -> Iterator[EventPortion | Rejected]:
    from sensewire.events.nquads import graph_portions  # with its kernels

    try:
        for found in graph_portions(part, decoding, kept):
            yield found if isinstance(found, Rejected) else EventPortion(found)
    except (OSError, LocationError) as error:
        yield vanished(part, error)


def _records(
    part: Slice, decoding: Decoding, wanted: Wanted | None
) -> Iterator[RecordPortion | Rejected]:
    try:
        if part.file.kind is Kind.LINES:
            yield from line_portions(part, decoding)
        elif part.file.kind is Kind.CSV:
            yield from _csv(part, decoding, wanted)
        else:
            yield from row_portions(part, decoding, wanted)
    except (OSError, pa.ArrowException, LocationError) as error:
        yield vanished(part, error)


def _csv(
    part: Slice, decoding: Decoding, wanted: Wanted | None
) -> Iterator[RecordPortion | Rejected]:
    choice = None if wanted is None else choice_of(wanted, decoding)
    separator = separator_of(part.file.naming.suffix)
    with opened(part.source, part.packing) as content:
        lines = content_lines(content, part, decoding)
        yield from csv_portions(lines, part.file.name, decoding, separator, choice)
