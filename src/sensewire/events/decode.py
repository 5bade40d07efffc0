"""A slice of a file as events: the one way from bytes to events, wherever it runs."""

import sys
from collections.abc import Callable, Iterator
from typing import assert_never

import pyarrow as pa

from sensewire.events import rdf, records, xml
from sensewire.events.csv_events import csv_events, separator_of
from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.feeds import feed
from sensewire.events.files import Slice
from sensewire.events.kinds import Kind
from sensewire.events.lines import BrokenOff, Line, lines_in
from sensewire.events.locations import LocationError, reason_of
from sensewire.events.payloads import payload
from sensewire.events.tables import row_portions
from sensewire.events.unpacking import Content, opened

_TRIG_EVENTS = 64
"""A compressed TriG document, which is read whole, may unpack to as many of the longest events."""


def decode(
    part: Slice, decoding: Decoding, *, kept: Callable[[str], bool] | None = None
) -> Iterator[Outcome]:
    """The events of a slice, and what in it is none, in the order of the file.

    With `kept`, events of N-Quads and N-Triples lack the facts whose properties it refuses, by
    their IRIs.
    """
    try:
        yield from _decode(part, decoding, kept)
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


def _decode(
    part: Slice, decoding: Decoding, kept: Callable[[str], bool] | None
) -> Iterator[Outcome]:
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
                yield from _nquads(content, part, decoding, kept)
        case Kind.TRIG:
            with opened(part.source, part.packing) as content:
                yield from _trig(content, part, decoding)
        case Kind.CSV:
            with opened(part.source, part.packing) as content:
                yield from _csv(content, part, decoding)
        case Kind.FEED:
            with opened(part.source, part.packing) as content:
                yield from feed(content, part.file.name, decoding)
        case Kind.JSON | Kind.DOCUMENT | Kind.XML | Kind.PAYLOAD:
            with opened(part.source, part.packing) as content:
                yield from _document(content, part, decoding, kept)
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


def _nquads(
    content: Content, part: Slice, decoding: Decoding, kept: Callable[[str], bool] | None
) -> Iterator[Outcome]:
    from sensewire.events.nquads import nquads_in  # with its kernels
    from sensewire.events.nquads_scanner import Scanner

    for found in nquads_in(content, part, decoding, Scanner(kept)):
        yield from found.outcomes()


def _csv(content: Content, part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    lines = content_lines(content, part, decoding)
    yield from csv_events(lines, part.file.name, decoding, separator_of(part.file.naming.suffix))


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


def _document(
    content: Content, part: Slice, decoding: Decoding, kept: Callable[[str], bool] | None
) -> Iterator[Outcome]:
    name, kind = part.file.name, part.file.kind
    raw = content.stream.read(decoding.longest + 1)
    if len(raw) > decoding.longest:
        first = raw[: min(decoding.longest, KEPT_OF_LONG)]
        yield Rejected(name, first, too_long(decoding.longest, len(first)))
    elif kind is Kind.JSON:
        yield from _json(raw, content.problem, part, decoding)
    elif content.problem is not None:
        line = raw.count(b"\n") + 1
        yield Rejected(f"{name}:{line}", raw, content.problem)
    elif kind is Kind.PAYLOAD:
        yield payload(part, raw, decoding)
    elif kind is Kind.XML:
        yield xml.document(raw, name, part.file.id, decoding)
    else:
        suffix = part.file.naming.suffix.removeprefix(".")
        if suffix == "nt":
            from sensewire.events import ntriples  # numba is imported with it

            yield ntriples.document(raw, name, part.file.id, decoding, kept)
        else:
            format = "rdf" if suffix == "xml" else suffix
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
