"""N-Quads cut anywhere: the parts together give what the whole file gives, places and all."""

import io
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from sensewire.events import rdf
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome
from sensewire.events.files import EventFile, Slice
from sensewire.events.kinds import Kind
from sensewire.events.lines import count_lines

DECODING = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC), longest=150)


def quad(value: int, graph: str) -> bytes:
    return f"<http://x/a> <http://x/p> <http://x/{value}> {graph} .".encode()


GRAPHS = ["<http://x/g1>", "<http://x/g2>", "_:b", ""]
lines = st.one_of(
    st.builds(quad, st.integers(0, 5), st.sampled_from(GRAPHS)),
    st.sampled_from(
        [
            b"",
            b"  \t",
            b"# a comment <http://x/g1> .",
            b"gibberish",
            b"<http://x/a b> <http://x/p> <http://x/c> <http://x/g1> .",
            b"<http://x/a b> <http://x/p> <http://x/c> <http://x/g2> .",
            b"\xff <http://x/p> <http://x/c> <http://x/g1> .",
            quad(1, "") + quad(2, "<http://x/g2>"),
            b'<http://x/a> <http://x/p> "' + b"x" * 200 + b'" <http://x/g1> .',
            b'<http://x/a> <http://x/p> "' + b"x" * 200 + b'" <http://x/g2> .',
            b"x" * 200,
            b"# " + b"x" * 200,
        ]
    ),
)
files = st.builds(
    lambda mark, lines, ends, last: (
        mark
        + b"".join(line + end for line, end in zip(lines, ends * len(lines), strict=False))
        + last
    ),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(lines, max_size=14),
    st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=1, max_size=3),
    st.one_of(st.just(b""), lines),
)


def read(data: bytes, borders: Sequence[int]) -> list[Outcome]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.nq"
        path.write_bytes(data)
        file = EventFile(str(path), "e.nq", "e.nq", Kind.NQUADS, len(data))
        found: list[Outcome] = []
        first_line = 1
        for start, end in pairwise(borders):
            found += decode(Slice(file, start, end, first_line), DECODING)
            first_line += count_lines(io.BytesIO(data), start, end)
        return found


@given(data=files, cuts=st.lists(st.integers(0, 5_000), max_size=6))
@example(data=b"gibberish\n" + quad(1, "_:b") + b"\ngibberish\n" + quad(2, "_:b"), cuts=[3, 70, 80])
def test_any_parts_give_what_the_whole_gives(data: bytes, cuts: list[int]) -> None:
    borders = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    assert read(data, borders) == read(data, [0, len(data)])


@given(data=files)
def test_a_cut_before_and_after_each_line_changes_nothing(data: bytes) -> None:
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
    borders = sorted({0, len(data), *ends, *(end - 1 for end in ends)})
    assert read(data, borders) == read(data, [0, len(data)])


def test_looking_back_over_very_much_is_done_in_blocks() -> None:
    data = quad(1, "<http://x/g1>") + b"\n" + b"#\n" * 500_000 + b"#" + b"x" * 5_000_000 + b"\n"
    file = io.BytesIO(data + quad(2, "<http://x/g2>"))
    tracemalloc.start()
    try:
        running = rdf.running_before(file, len(data), len(data) + 10, DECODING)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert running is not None
    assert str(running.graph) == "<http://x/g1>"
    assert peak < 4_000_000


def test_a_long_event_is_finished_by_the_part_in_which_it_starts() -> None:
    data = b"\n".join([quad(n, "<http://x/g1>") for n in range(2)] + [quad(3, "<http://x/g2>")])
    first, second = read(data, [0, 10, 80, len(data)])
    assert isinstance(first, Decoded)
    assert (len(first.event.facts), first.place) == (2, "e.nq:1")
    assert isinstance(second, Decoded)
    assert second.place == "e.nq:3"
