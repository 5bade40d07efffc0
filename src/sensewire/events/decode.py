"""A slice of a file as events: the one way from bytes to events, wherever it runs."""

from collections.abc import Iterator
from typing import BinaryIO, assert_never

from sensewire.events import rdf, records
from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.files import Kind, Slice
from sensewire.events.lines import lines_in


def decode(part: Slice, decoding: Decoding) -> Iterator[Outcome]:
    """The events of a slice, and what in it is none, in the order of the file."""
    try:
        with open(part.file.path, "rb") as file:  # noqa: PTH123 (paths travel as texts)
            yield from _decode(part, file, decoding)
    except OSError as error:
        reason = f"cannot be read ({error.strerror}), though it was there when the run began"
        yield Rejected(part.file.name, b"", reason)


def _decode(part: Slice, file: BinaryIO, decoding: Decoding) -> Iterator[Outcome]:
    name = part.file.name
    match part.file.kind:
        case Kind.LINES:
            yield from _lines(part, file, decoding)
        case Kind.NQUADS:
            lines = lines_in(file, part.start, part.end, longest=decoding.longest)
            yield from rdf.nquads(lines, name, decoding)
        case Kind.TRIG:
            yield from rdf.trig(file.read(), name, decoding)
        case Kind.JSON | Kind.DOCUMENT as kind:
            raw = file.read(decoding.longest + 1)
            if len(raw) > decoding.longest:
                kept = raw[: min(decoding.longest, KEPT_OF_LONG)]
                yield Rejected(name, kept, too_long(decoding.longest, len(kept)))
            elif kind is Kind.JSON:
                yield from _json(raw, part, file, decoding)
            else:
                format = name.rpartition(".")[2].lower()
                yield rdf.document(raw, format, name, part.file.id, decoding)
        case _ as never:
            assert_never(never)


def _json(raw: bytes, part: Slice, file: BinaryIO, decoding: Decoding) -> Iterator[Outcome]:
    """A JSON document; where it is none but some of its lines are, JSON lines with bad ones."""
    whole = list(records.document(raw, f"{part.file.name}:1", decoding))
    if any(isinstance(outcome, Decoded) for outcome in whole):
        yield from whole
        return
    lines = list(_lines(part, file, decoding))
    some = any(isinstance(outcome, Decoded) for outcome in lines)
    yield from lines if some else whole


def _lines(part: Slice, file: BinaryIO, decoding: Decoding) -> Iterator[Outcome]:
    for line in lines_in(
        file, part.start, part.end, first_line=part.first_line, longest=decoding.longest
    ):
        place = f"{part.file.name}:{line.number}"
        if line.too_long:
            yield Rejected(place, line.data, too_long(decoding.longest, len(line.data)))
        elif not line.is_empty:
            yield from records.line(line.data, place, decoding)
