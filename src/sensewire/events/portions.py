"""Slices as portions for the engine: the fast way in, with the outcomes of `decode`.

    JSON lines ───────────────── line_portions ──> RecordPortion   records as they lie
    Parquet, Arrow, packed ───── tables ─────────> RecordPortion
    CSV ──────────────────────── csv_portions ───> RecordPortion
    RDF, documents, payloads ─── decode ─────────> EventPortion    events, from many small files too

What is rejected comes between them, as it is met.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sensewire.events.csv_events import separator_of
from sensewire.events.csv_portions import csv_portions
from sensewire.events.decode import content_lines, decode, vanished
from sensewire.events.decoding import Decoded, Decoding, Rejected, Wanted
from sensewire.events.files import Slice
from sensewire.events.kinds import Kind
from sensewire.events.line_portions import line_portions
from sensewire.events.locations import LocationError
from sensewire.events.record_portion import RecordPortion
from sensewire.events.tables import choice_of, row_portions
from sensewire.events.unpacking import opened

EVENTS_AT_ONCE = 1_024
"""Events of a portion, at most."""

_BYTES_AT_ONCE = 33_554_432


@dataclass(frozen=True, slots=True)
class EventPortion:
    """Events that are decoded: of RDF, of JSON documents, of payloads."""

    decoded: tuple[Decoded, ...]

    def __len__(self) -> int:
        return len(self.decoded)

    def place(self, row: int) -> str:
        """Where an event stands."""
        return self.decoded[row].place

    def raw(self, row: int) -> bytes:
        """The bytes that an event was read from."""
        return self.decoded[row].raw

    def at(self, rows: Sequence[int]) -> "EventPortion":
        """Some of the events."""
        return EventPortion(tuple(self.decoded[row] for row in rows))

    def some(self, first: int, count: int) -> "EventPortion":
        """Events that follow each other."""
        return EventPortion(self.decoded[first : first + count])


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
