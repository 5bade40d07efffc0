"""Compressed files as streams of bytes, up to where they break.

    day.jsonl.gz ──> bytes, bytes, bytes ✂ `problem`: truncated, or corrupt

A file that was cut off, or went bad on its way, still holds what stands before that: it is read as
one that ends there, and `problem` says afterwards that it did not. Memory: a few blocks, however
much a small file unpacks to.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

import pyarrow as pa

from sensewire.events.locations import reason_of

_BLOCK = 1_048_576
_SEND_AGAIN = "get it once more, whole, from where it came"


class _Source(Protocol):
    def open(self) -> BinaryIO: ...


class _Stream(Protocol):
    def read1(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


class Unpacked(io.RawIOBase):
    """The content of a compressed file, to be read once from its start."""

    def __init__(self, location: _Source, packing: str) -> None:
        self._location = location
        self._packing = packing
        self._read = 0
        self._one_by_one = False
        self._last = b""
        self._file = location.open()
        self._stream = _stream(self._file, packing)
        self.problem: str | None = None

    @property
    def ends_a_line(self) -> bool:
        """Whether what was read so far ends with a line's end."""
        return self._last in (b"", b"\n")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.problem is not None or not len(buffer):
            return 0
        data = self._next(min(len(buffer), _BLOCK))
        buffer[: len(data)] = data
        self._read += len(data)
        self._last = data[-1:] or self._last
        if not data and self._read == 0 and self._file.tell() == 0:
            self.problem = self._told("truncated", "it is empty")
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._file.close()
        super().close()

    def _next(self, size: int) -> bytes:
        try:
            return self._stream.read1(1 if self._one_by_one else size)
        except EOFError:
            self.problem = self._told("truncated", "it ends before its end marker")
        except (OSError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
            if isinstance(self._stream, pa.NativeFile) and not self._one_by_one:
                self._start_again()
                return self._next(size)
            is_cut = "Truncated" in str(error)
            what = "truncated" if is_cut else "corrupt"
            self.problem = self._told(what, reason_of(error))
        return b""

    def _start_again(self) -> None:
        """Arrow's reader keeps to itself what it had of a block that breaks: ask for less."""
        self._stream.close()
        self._file.close()
        self._file = self._location.open()
        self._stream = _stream(self._file, self._packing)
        self._one_by_one = True
        left = self._read
        while left:
            left -= len(self._stream.read1(min(left, _BLOCK)))

    def _told(self, what: str, why: str) -> str:
        return (
            f"the {self._packing} file is {what} ({why}); {self._read:,} bytes were unpacked "
            f"before that; {_SEND_AGAIN}"
        )


@dataclass(frozen=True, slots=True)
class Content:
    """A file that is open to be read, whether it is compressed or not."""

    stream: BinaryIO
    unpacked: Unpacked | None

    @property
    def problem(self) -> str | None:
        """After reading: why this was not all of the file."""
        return None if self.unpacked is None else self.unpacked.problem

    @property
    def ends_a_line(self) -> bool:
        """Whether what was read ends with a line's end; known of compressed files only."""
        return self.unpacked is None or self.unpacked.ends_a_line


@contextmanager
def opened(location: _Source, packing: str | None) -> Iterator[Content]:
    """Open a file; of a compressed one the content, which can be read once, from its start."""
    if packing is None:
        with location.open() as file:
            yield Content(file, None)
        return
    raw = Unpacked(location, packing)
    with io.BufferedReader(raw, _BLOCK) as stream:
        yield Content(stream, raw)


def _stream(file: Any, packing: str) -> _Stream:  # Any: what each library calls a file
    match packing:
        case ".gz":
            return gzip.GzipFile(fileobj=file)
        case ".bz2":
            return bz2.BZ2File(file)
        case ".xz":
            return lzma.LZMAFile(file)
        case ".zst":
            return cast(_Stream, pa.CompressedInputStream(file, "zstd"))
        case _:
            return cast(_Stream, pa.CompressedInputStream(file, "lz4"))
