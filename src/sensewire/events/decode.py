"""A slice of a file as events: the one way from bytes to events, wherever it runs."""

import sys
from collections.abc import Iterator
from typing import assert_never

import pyarrow as pa

from sensewire.events import rdf, records
from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.files import Slice
from sensewire.events.kinds import Kind
from sensewire.events.lines import BrokenOff, Line, lines_in
from sensewire.events.locations import LocationError, reason_of
from sensewire.events.payloads import payload
from sensewire.events.tables import row_portions
from sensewire.events.unpacking import Content, opened

_TRIG_EVENTS = 64
"""A compressed TriG document, which is read whole, may unpack to as many of the longest events."""


def decode(part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    """The events of a slice, and what in it is none, in the order of the file."""
    try:
        yield from _decode(part, decoding)
    except (OSError, pa.ArrowException, LocationError) as error:
        yield vanished(part, error)


def vanished(part: Slice, error: Exception) -> Rejected:
    """What is said of a file that cannot be read any more."""
    why = error.reason if isinstance(error, LocationError) else reason_of(error)
    why = why.partition("; expected")[0]
    return Rejected(
        part.file.name, b"", f"cannot be read ({why}), though it was there when the run began"
    )


def content_lines(content: Content, part: Slice, decoding: Decoding) -> Iterator[Line]:
    """The lines of a slice; of a compressed file that breaks, those before, then `BrokenOff`."""
    if content.unpacked is None:
        yield from lines_in(
            content.stream,
            part.start,
            part.end,
            first_line=part.first_line,
            longest=decoding.longest,
        )
        return
    held: Line | None = None
    for line in lines_in(content.stream, 0, sys.maxsize, longest=decoding.longest):
        if held is not None:
            yield held
        held = line
    if content.problem is None or content.ends_a_line:
        if held is not None:
            yield held
        if content.problem is not None:
            raise BrokenOff(held.number + 1 if held else 1, b"", content.problem)
    elif held is not None:
        raise BrokenOff(held.number, held.data, content.problem)


def _decode(part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    match part.file.kind:
        case Kind.PARQUET | Kind.ARROW | Kind.PACKED:
            for portion in row_portions(part, decoding):
                if isinstance(portion, Rejected):
                    yield portion
                else:
                    for row in range(len(portion)):
                        yield from portion.outcomes(row, decoding)
        case Kind.LINES:
            with opened(part.source, part.packing) as content:
                yield from _lines(content, part, decoding)
        case Kind.NQUADS:
            with opened(part.source, part.packing) as content:
                yield from _nquads(content, part, decoding)
        case Kind.TRIG:
            with opened(part.source, part.packing) as content:
                yield from _trig(content, part, decoding)
        case Kind.JSON | Kind.DOCUMENT | Kind.PAYLOAD:
            with opened(part.source, part.packing) as content:
                yield from _document(content, part, decoding)
        case _ as never:
            assert_never(never)


def _lines(content: Content, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    name = part.file.name
    try:
        for line in content_lines(content, part, decoding):
            place = f"{name}:{line.number}"
            if line.too_long:
                yield Rejected(place, line.data, too_long(decoding.longest, len(line.data)))
            elif not line.is_empty:
                yield from records.line(line.data, place, decoding)
    except BrokenOff as broken:
        yield Rejected(f"{name}:{broken.number}", broken.data, broken.reason)


def _nquads(content: Content, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    file = content.stream
    lines = content_lines(content, part, decoding)
    running = None
    if part.start > 0:
        running = rdf.running_before(file, part.start, part.end, decoding)

    def later(number: int) -> Iterator[Line]:
        if part.end >= part.file.size:  # as of every compressed file, which is read whole
            return iter(())
        size = part.file.size
        return lines_in(file, part.end, size, first_line=number, longest=decoding.longest)

    yield from rdf.nquads(lines, part.file.name, decoding, running=running, later=later)


def _trig(content: Content, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    name = part.file.name
    if content.unpacked is None:
        yield from rdf.trig(content.stream.read(), name, decoding)
        return
    most = _TRIG_EVENTS * decoding.longest
    raw = content.stream.read(most + 1)
    if len(raw) > most:
        kept = raw[: min(decoding.longest, KEPT_OF_LONG)]
        yield Rejected(name, kept, f"it unpacks to what is {too_long(most, len(kept))}; unpack it")
    else:
        yield from rdf.trig(raw, name, decoding, broken=content.problem)


def _document(content: Content, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    name, kind = part.file.name, part.file.kind
    raw = content.stream.read(decoding.longest + 1)
    if len(raw) > decoding.longest:
        kept = raw[: min(decoding.longest, KEPT_OF_LONG)]
        yield Rejected(name, kept, too_long(decoding.longest, len(kept)))
    elif kind is Kind.JSON:
        yield from _json(raw, content.problem, part, decoding)
    elif content.problem is not None:
        line = raw.count(b"\n") + 1
        yield Rejected(f"{name}:{line}", raw, content.problem)
    elif kind is Kind.PAYLOAD:
        yield payload(part, raw, decoding)
    else:
        format = part.file.naming.suffix.removeprefix(".")
        yield rdf.document(raw, format, name, part.file.id, decoding)


def _json(raw: bytes, problem: str | None, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    """A JSON document; where it is none but some of its lines are, JSON lines with bad ones."""
    whole = list(records.document(raw, f"{part.file.name}:1", decoding))
    if problem is None and any(isinstance(outcome, Decoded) for outcome in whole):
        yield from whole
        return
    with opened(part.source, part.packing) as again:
        lines = list(_lines(again, part, decoding))
    if any(isinstance(outcome, Decoded) for outcome in lines):
        yield from lines
    elif problem is not None:
        line = raw.count(b"\n") + 1
        yield Rejected(f"{part.file.name}:{line}", raw, problem)
    else:
        yield from whole
