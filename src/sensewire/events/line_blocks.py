"""Blocks of whole lines, read behind whatever their reader has not done with yet.

    file      aaa⏎bbb⏎ccc⏎ddd⏎eee⏎ff…
    block 1   aaa⏎bbb⏎ccc⏎                 the reader is not done with ccc, and gives it back
    block 2              ccc⏎ddd⏎eee⏎      ff is kept for the next one

A block ends with a line's end, which is put there where the file's last line has none, and
`PADDING` bytes follow. A line that is longer than any event comes by itself, its beginning and its
end only. Memory: a block, what was given back, and a line of at most `longest` bytes.
"""

import io
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, cast

from sensewire.events.decoding import KEPT_OF_LONG
from sensewire.events.lines import BYTE_ORDER_MARK, Line, without_end
from sensewire.events.scanning import PADDING

LINE_END = b"\r\n"
"""What is put behind a last line without an end: the `\\r` that goes with it is not the line's."""
_AROUND = 4
"""Bytes of a line that do not count: a byte order mark before it, a `\\r` behind it."""
_PIECE = 1_048_576
_TAIL = 4_096


class Block(NamedTuple):
    """The lines data[:stop]; whether the last of them was ended, and not by the file's end."""

    data: bytearray
    stop: int
    is_ended: bool = True


class LongLine(NamedTuple):
    """What is kept of a line that is too long, and whether it was ended."""

    data: bytes
    tail: bytes
    is_ended: bool

    def line(self, number: int) -> Line:
        """The same as a line."""
        return Line(number, self.data, True, self.tail)


@dataclass(slots=True)
class LineBlocks:
    """Reads a file on from a position at which a line starts."""

    stream: BinaryIO
    position: int
    longest: int
    _begun: bytes = b""
    """Of a line that is not read to its end."""
    _is_marked: bool = False

    def __post_init__(self) -> None:
        self._is_marked = self.position == 0

    def is_at(self, position: int) -> bool:
        """Whether all lines that start before a position were read."""
        return self.position >= position and not self._begun

    def read(self, given_back: bytes, limit: int, size: int) -> Block | LongLine | None:
        """What was given back, with lines that follow and start before the position `limit`.

        About `size` bytes are read, or as many as were given back. A long line is never read behind
        something: what was given back is then the caller's to keep. None at the end.
        """
        while self.position < limit:
            begun = len(given_back) + len(self._begun)
            data, read = self._read_on(given_back, min(max(size, begun), limit - self.position))
            if not read:
                break
            self.position += read
            filled = begun + read
            cut = data.rfind(b"\n", len(given_back), filled) + 1
            if cut:
                self._begun = bytes(data[cut:filled])
                return self._unmarked(Block(data, cut), len(given_back))
            self._begun = bytes(data[len(given_back) : filled])
            if len(self._begun) > self.longest + _AROUND:
                return self._long()
        return self._last(given_back) if self._begun else None

    def _read_on(self, given_back: bytes, size: int) -> tuple[bytearray, int]:
        begun = len(given_back) + len(self._begun)
        data = bytearray(begun + size + PADDING)
        data[: len(given_back)] = given_back
        data[len(given_back) : begun] = self._begun
        with memoryview(data) as view:
            read = cast(io.BufferedReader, self.stream).readinto(view[begun : begun + size])
        return data, read

    def _last(self, given_back: bytes) -> Block | LongLine:
        """The line that starts before the limit, and ends behind it, or at the file's end."""
        rest = self.stream.readline(max(self.longest + _AROUND + 1 - len(self._begun), 0))
        self.position += len(rest)
        self._begun += rest
        is_ended = self._begun.endswith(b"\n")
        if not is_ended and len(self._begun) > self.longest + _AROUND:
            return self._long()
        line = self._begun if is_ended else self._begun + LINE_END
        self._begun = b""
        stop = len(given_back) + len(line)
        block = Block(bytearray(given_back + line + bytes(PADDING)), stop, is_ended)
        return self._unmarked(block, len(given_back))

    def _unmarked(self, block: Block, given_back: int) -> Block:
        """A file's first block without a byte order mark."""
        is_first, self._is_marked = self._is_marked, False
        if not is_first or not block.data.startswith(BYTE_ORDER_MARK, given_back):
            return block
        del block.data[: len(BYTE_ORDER_MARK)]
        return block._replace(stop=block.stop - len(BYTE_ORDER_MARK))

    def _long(self) -> LongLine:
        begun, self._begun = self._begun, b""
        if self._is_marked:
            begun, self._is_marked = begun.removeprefix(BYTE_ORDER_MARK), False
        tail, is_ended = begun[-_TAIL:], False
        while not is_ended and (piece := self.stream.readline(_PIECE)):
            self.position += len(piece)
            tail = (tail + piece)[-_TAIL:]
            is_ended = piece.endswith(b"\n")
        return LongLine(begun[: min(self.longest, KEPT_OF_LONG)], without_end(tail), is_ended)
