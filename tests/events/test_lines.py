"""Lines by byte range: however a file is cut, the same lines with the same numbers come out."""

import io
import tracemalloc
from itertools import pairwise
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events.lines import Line, count_lines, lines_in

LONGEST = 12

pieces = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"a", b"\xef\xbb\xbf", "日".encode(), b"0123456789"]
)
contents = st.lists(pieces, max_size=40).map(b"".join)


def whole(data: bytes) -> list[Line]:
    return list(lines_in(io.BytesIO(data), 0, len(data), longest=LONGEST))


@given(data=contents, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_any_ranges_give_the_lines_and_numbers_of_the_whole(data: bytes, cuts: list[int]) -> None:
    borders = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    found: list[Line] = []
    first_line = 1
    for start, end in pairwise(borders):
        file = io.BytesIO(data)
        own = list(lines_in(file, start, end, first_line=first_line, longest=LONGEST))
        assert count_lines(file, start, end) == len(own)
        first_line += len(own)
        found += own
    assert found == whole(data)


@given(data=contents)
def test_the_lines_are_those_that_splitting_at_newlines_gives(data: bytes) -> None:
    expected = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    # What follows the last newline is a line only if there is something, be it a byte order mark.
    if not expected[-1] and (len(expected) > 1 or not data):
        expected.pop()
    ended = data.count(b"\n")
    texts = [
        line.removesuffix(b"\r") if number <= ended else line
        for number, line in enumerate(expected, start=1)
    ]
    found = whole(data)
    assert [line.number for line in found] == list(range(1, len(texts) + 1))
    assert [line.too_long for line in found] == [len(text) > LONGEST for text in texts]
    assert [line.data for line in found] == [text[:LONGEST] for text in texts]
    assert [line.tail for line in found if line.too_long] == [
        text[-4_096:] for text in texts if len(text) > LONGEST
    ]


def test_a_long_line_is_never_held_whole() -> None:
    class Endless(io.RawIOBase):
        """100 MB of one line, made as it is read, then a short one."""

        def __init__(self) -> None:
            self.left = 100_000_000

        def readable(self) -> bool:
            return True

        def seekable(self) -> bool:
            return True

        def seek(self, offset: int, whence: int = 0) -> int:
            assert (offset, whence) == (0, 0)
            return 0

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            if self.left <= 0:
                tail = b"\nb" if self.left == 0 else b""
                self.left = -1
                buffer[: len(tail)] = tail
                return len(tail)
            size = min(len(buffer), self.left)
            buffer[:size] = b"a" * size
            self.left -= size
            return size

    file: BinaryIO = io.BufferedReader(Endless())
    tracemalloc.start()
    try:
        found = list(lines_in(file, 0, 100_000_002, longest=1_000_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(line.number, line.too_long, len(line.data)) for line in found] == [
        (1, True, 65_536),
        (2, False, 1),
    ]
    assert peak < 10_000_000


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_limit_counts_neither_the_end_nor_a_byte_order_mark(start: bytes, end: bytes) -> None:
    for size, too_long in ((LONGEST, False), (LONGEST + 1, True)):
        (line,) = whole(start + b"x" * size + end)
        assert (line.data, line.too_long) == (b"x" * LONGEST, too_long)


def test_an_empty_file_has_no_lines_and_an_empty_line_counts() -> None:
    assert whole(b"") == []
    assert [(line.number, line.is_empty) for line in whole(b"\n \n\nx")] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
    ]
