"""Outcomes as bytes, between a process and its child: tables as Arrow streams, the rest as JSON.

frame   marker · length · number of outcomes · for each: header, matches, failed, rejected
"""

import json
import struct
from typing import BinaryIO

import pyarrow as pa

from sensewire.events.decoding import Rejected
from sensewire.spark.outcomes import Outcomes
from sensewire.spark.schema import REJECTED, rejected_table

_FRAME = struct.Struct("<4sQI")
_PART = struct.Struct("<Q")
_MARKER = b"SWF1"


def write_frame(file: BinaryIO, outcomes: list[Outcomes]) -> None:
    """Write outcomes so that a reader knows whether they are all there."""
    parts = b"".join(_part(part) for each in outcomes for part in _written(each))
    file.write(_FRAME.pack(_MARKER, len(parts), len(outcomes)) + parts)
    file.flush()


def read_frame(file: BinaryIO) -> list[Outcomes] | None:
    """The next frame; None where there is no whole one, and the file stays where it was."""
    begin = file.tell()
    head = file.read(_FRAME.size)
    if len(head) == _FRAME.size:
        marker, length, count = _FRAME.unpack(head)
        if marker == _MARKER:
            body = file.read(length)
            if len(body) == length:
                return _read(body, count)
    file.seek(begin)
    return None


def _written(outcomes: Outcomes) -> tuple[bytes, ...]:
    header = {"events": outcomes.events, "seen": outcomes.seen}
    return (
        json.dumps(header).encode(),
        _stream(outcomes.matches),
        _stream(outcomes.failed),
        _stream(rejected_table(outcomes.rejected)),
    )


def _part(data: bytes) -> bytes:
    return _PART.pack(len(data)) + data


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _read(body: bytes, count: int) -> list[Outcomes]:
    parts = []
    at = 0
    while at < len(body):
        (length,) = _PART.unpack_from(body, at)
        at += _PART.size
        parts.append(body[at : at + length])
        at += length
    assert len(parts) == 4 * count
    return [_outcomes(*parts[first : first + 4]) for first in range(0, len(parts), 4)]


def _outcomes(header: bytes, matches: bytes, failed: bytes, rejected: bytes) -> Outcomes:
    said = json.loads(header)
    rows = pa.ipc.open_stream(rejected).read_all().cast(REJECTED).to_pylist()
    return Outcomes(
        said["events"],
        pa.ipc.open_stream(matches).read_all(),
        pa.ipc.open_stream(failed).read_all(),
        tuple(Rejected(row["place"], row["raw"], row["reason"]) for row in rows),
        said["seen"],
    )
