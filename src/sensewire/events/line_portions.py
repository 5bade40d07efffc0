"""JSON lines as portions of records: blocks of bytes, cut at their newlines, and no Python a line.

    block     {"a": 1}⏎{"a": 2}⏎  ⏎{"a": 3}⏎{"a"          read at once, 4 MiB
    newlines          ^        ^  ^        ^              found by numpy
    texts     ────────┤────────┤  x────────┤ ····         the bytes as they lie, no blank lines
    carried                                   {"a"        into the next block

The texts are an Arrow array over the block's own bytes: each has its line's end with it, which is
white space to JSON. Lines that begin with white space are looked at one by one, in case they are
blank. Memory: a block, and a line of at most `longest` bytes.
"""

import io
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.arrow_files import ROWS_AT_ONCE
from sensewire.events.decoding import KEPT_OF_LONG, Decoding, Rejected, too_long
from sensewire.events.files import Slice
from sensewire.events.lines import BYTE_ORDER_MARK, first_start, without_end
from sensewire.events.record_portion import JSON, RecordPortion
from sensewire.events.unpacking import opened

_BLOCK = 4_194_304
_PIECE = 1_048_576
_SPACE = 0x20
_NEWLINE = 0x0A

_AROUND = 4
"""Bytes of a line that do not count: a byte order mark before it, a `\\r` behind it."""

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

_ONE = np.ones(1, np.int64)


def line_portions(
    part: Slice, decoding: Decoding, block: int = _BLOCK
) -> Iterator[RecordPortion | Rejected]:
    """The records of a slice of JSON lines, and what in it is too long, or broken."""
    name, longest = part.file.name, decoding.longest
    number = part.first_line
    with opened(part.source, part.packing) as content:
        end = part.end if content.unpacked is None else sys.maxsize
        for piece in _pieces(content.stream, part.start, end, longest, block):
            if content.problem is not None and not piece.is_ended:
                line = piece.content.tobytes()
                kept = line if len(line) <= longest else line[: min(longest, KEPT_OF_LONG)]
                yield Rejected(f"{name}:{number}", kept, content.problem)
                return
            if piece.is_long:
                yield _too_long(piece.content, f"{name}:{number}", longest)
            else:
                yield from _portions(piece, name, number, longest)
            number += len(piece.ends)
        if content.problem is not None:
            yield Rejected(f"{name}:{number}", b"", content.problem)


class _Piece(NamedTuple):
    """Whole lines, and where each ends; or the beginning of one that is longer than any event."""

    content: Bytes
    ends: Int64
    is_long: bool = False
    is_ended: bool = True  # whether a line's end was seen, and not the file's


def _pieces(stream: BinaryIO, start: int, end: int, longest: int, block: int) -> Iterator[_Piece]:
    """The lines that start in [start, end), as they come, without a byte order mark."""
    position = first_start(stream, start, end)
    is_marked = position == 0
    carried = np.zeros(0, np.uint8)
    while position < end:
        content, read = _read_behind(carried, stream, min(max(block, len(carried)), end - position))
        if not read:
            break
        position += read
        ends = np.flatnonzero(content[len(carried) :] == _NEWLINE) + (len(carried) + 1)
        carried = content
        if len(ends):
            cut = int(ends[-1])
            yield (
                _unmarked(_Piece(content[:cut], ends)) if is_marked else _Piece(content[:cut], ends)
            )
            is_marked = False
            carried = content[cut:]
        if len(carried) > longest + _AROUND:
            skipped, is_ended = _skipped(stream)
            position += skipped
            piece = _Piece(carried, _ONE, True, is_ended)
            yield _unmarked(piece) if is_marked else piece
            is_marked = False
            carried = carried[:0]
    if len(carried):  # the line that reaches over the end of the range
        rest = stream.readline(longest + _AROUND + 1 - len(carried))
        line = np.concatenate((carried, np.frombuffer(rest, np.uint8)))
        is_ended = rest.endswith(b"\n")
        is_long = not is_ended and len(line) > longest + _AROUND
        if is_long:
            _, is_ended = _skipped(stream)
        piece = _Piece(line, np.array([len(line)]), is_long, is_ended)
        yield _unmarked(piece) if is_marked else piece


def _read_behind(carried: Bytes, stream: BinaryIO, size: int) -> tuple[Bytes, int]:
    """What was carried over with what follows it in the file, and how much that is."""
    content = np.empty(len(carried) + size, np.uint8)
    content[: len(carried)] = carried
    read = cast(io.BufferedReader, stream).readinto(content[len(carried) :].data)
    return content[: len(carried) + read], read


def _unmarked(piece: _Piece) -> _Piece:
    """A file's first piece without a byte order mark."""
    mark = len(BYTE_ORDER_MARK)
    if piece.content[:mark].tobytes() != BYTE_ORDER_MARK:
        return piece
    return piece._replace(content=piece.content[mark:], ends=piece.ends - mark)


def _skipped(stream: BinaryIO) -> tuple[int, bool]:
    """Read on to the end of the line: how many bytes that were, and whether it has an end."""
    skipped = 0
    while piece := stream.readline(_PIECE):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            return skipped, True
    return skipped, False


def _portions(
    piece: _Piece, name: str, number: int, longest: int
) -> Iterator[RecordPortion | Rejected]:
    content = piece.content
    offsets = np.concatenate((np.zeros(1, np.int64), piece.ends))
    starts, lengths = offsets[:-1], np.diff(offsets)
    kept = lengths > 0  # one of no bytes is what a byte order mark leaves of a file without lines
    for row in np.flatnonzero(content[starts[kept]] <= _SPACE).tolist():
        kept[row] = bool(content[offsets[row] : offsets[row + 1]].tobytes().strip())
    for row in np.flatnonzero(lengths > longest).tolist():
        line = content[offsets[row] : offsets[row + 1]]
        if len(without_end(line.tobytes())) > longest:
            kept[row] = False
            yield _too_long(line, f"{name}:{number + row}", longest)
    buffer = pa.py_buffer(content.data)
    # Even ones: a small one at the end would cost as much as a large one.
    rows = len(kept)
    step = -(-rows // -(-rows // ROWS_AT_ONCE))
    for first in range(0, rows, step):
        places = pa.py_buffer(offsets[first : first + step + 1].data)
        chosen = kept[first : first + step]
        texts: Any = pa.Array.from_buffers(  # Any: the stubs know no filter by an array
            pa.large_binary(), len(chosen), [None, places, buffer]
        )
        numbers = np.arange(number + first, number + first + len(chosen), dtype=np.int64)
        if not chosen.all():
            texts, numbers = texts.filter(pa.array(chosen)), numbers[chosen]
        if len(numbers):
            yield RecordPortion(pa.RecordBatch.from_arrays([texts], names=[JSON]), name, numbers)


def _too_long(line: Bytes, place: str, longest: int) -> Rejected:
    kept = line[: min(longest, KEPT_OF_LONG)].tobytes()
    return Rejected(place, kept, too_long(longest, len(kept)))
