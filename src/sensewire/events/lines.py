"""The lines of a file, by byte range.

A range owns the lines that start in it, wherever they end, so that ranges which together cover the
file own every line once:

    bytes     0         10        20        30
    text      aaaaa⏎bbbbbbbbbbbbbbbbbb⏎ccccc⏎
    ranges    [────────)[─────────)[────────)     a and b; nothing; c

Only `\\n` ends a line; a `\\r` before it goes with it. Cost: linear in the bytes of the range and
of the line that reaches over its end. Memory: one line of at most `longest` bytes.
"""

from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from sensewire.events.decoding import KEPT_OF_LONG

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1_048_576
_COUNTED_AT_ONCE = 262_144  # bytes that stay in the processor's cache between two looks
_NEWLINE = 0x0A
_TAIL = 4_096
_BACK = 65_536


class BrokenOff(Exception):  # noqa: N818 (the end of what can be read, and its place)
    """Lines that end because their file is broken: in which line, what there is of it, and why."""

    def __init__(self, number: int, data: bytes, reason: str) -> None:
        super().__init__(reason)
        self.number = number
        self.data = data
        self.reason = reason


class Line(NamedTuple):
    """A line without its end. Of one that is too long, the first bytes only, and the last."""

    number: int
    data: bytes
    too_long: bool = False
    tail: bytes = b""

    @property
    def is_empty(self) -> bool:
        return not self.too_long and not self.data.strip()


def lines_in(
    file: BinaryIO, start: int, end: int, *, first_line: int = 1, longest: int
) -> Iterator[Line]:
    """The lines that start in [start, end); the first of them has the number `first_line`.

    >>> import io
    >>> [line.data for line in lines_in(io.BytesIO(b"a\\r\\nbb\\nccc"), 1, 7, longest=9)]
    [b'bb', b'ccc']
    """
    position = first_start(file, start, end)
    number = first_line
    while position < end:
        at_start = position == 0
        limit = longest + 2 + (len(BYTE_ORDER_MARK) if at_start else 0)
        piece = file.readline(limit)
        if not piece:
            return
        position += len(piece)
        data = without_end(piece.removeprefix(BYTE_ORDER_MARK) if at_start else piece)
        if len(data) <= longest:
            yield Line(number, data)
        else:
            skipped, tail = (0, b"") if piece.endswith(b"\n") else _skip(file)
            position += skipped
            tail = without_end((data + tail)[-_TAIL:] if skipped else data[-_TAIL:])
            yield Line(number, data[: min(longest, KEPT_OF_LONG)], True, tail)
        number += 1


def first_start(file: BinaryIO, start: int, end: int) -> int:
    """Where the first line that starts at `start` or later starts; the file is left there."""
    if start == 0:
        if file.seekable():  # else it has just been opened
            file.seek(0)
        return 0
    position = start - 1
    file.seek(position)
    while position < end:
        piece = file.readline(_PIECE)
        position += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return position


def starts_before(file: BinaryIO, position: int) -> Iterator[int]:
    """Where the lines that start before a position start, the last one first.

    >>> import io
    >>> list(starts_before(io.BytesIO(b"a\\nbb\\nccc"), 5))
    [2, 0]
    """
    # A line starts after each newline; one at position - 1 would start at the position itself.
    end = position - 1
    while end > 0:
        start = max(end - _BACK, 0)
        file.seek(start)
        block = file.read(end - start)
        found = len(block)
        while (found := block.rfind(b"\n", 0, found)) >= 0:
            yield start + found + 1
        end = start
    if position > 0:
        yield 0


def count_lines(file: BinaryIO, start: int, end: int) -> int:
    """How many lines start in [start, end), where `end` is at most the size of the file.

    >>> import io
    >>> [count_lines(io.BytesIO(b"a\\nb\\nc"), start, start + 1) for start in range(5)]
    [1, 0, 1, 0, 1]
    """
    if start >= end:
        return 0
    # A line starts after each newline, and at the very start.
    count = 1 if start == 0 else 0
    position = max(start - 1, 0)
    file.seek(position)
    piece = np.empty(_COUNTED_AT_ONCE, np.uint8)
    while position < end - 1:
        read = cast(BufferedReader, file).readinto(piece[: end - 1 - position].data)
        if not read:
            break
        count += int(np.count_nonzero(piece[:read] == _NEWLINE))
        position += read
    return count


def _skip(file: BinaryIO) -> tuple[int, bytes]:
    """Read on to the end of the line; how many bytes that were, and the last of them."""
    skipped, tail = 0, b""
    while piece := file.readline(_PIECE):
        skipped += len(piece)
        tail = (tail + piece)[-_TAIL:]
        if piece.endswith(b"\n"):
            break
    return skipped, tail


def without_end(piece: bytes) -> bytes:
    """A line without its end."""
    return piece.removesuffix(b"\n").removesuffix(b"\r") if piece.endswith(b"\n") else piece
