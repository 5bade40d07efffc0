"""N-Quads in columns: what comes out is what `rdf.nquads` gives, line by line.

Faults that were planted and caught: a line of an unknown graph that ends a run; an event that is
too long; raw bytes with what stands between an event's lines; a run that loses its line number when
it is given back; a part that takes the event behind its last one; a last line that loses its own
carriage return; a vertex that points at itself and is no root; a blank node that keeps its code in
later events.
"""

import gzip
import io
import tracemalloc
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.events import rdf
from sensewire.events.decode import content_lines, decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import EventFile, Slice
from sensewire.events.graphs import Graphs
from sensewire.events.kinds import Kind
from sensewire.events.lines import Line, count_lines, lines_in
from sensewire.events.nquads import LONGEST, graph_portions, nquads_in
from sensewire.events.nquads_home import NO_HOME
from sensewire.events.nquads_scanner import Kept, Scanner
from sensewire.events.portions import EventPortion, portions
from sensewire.events.unpacking import opened
from sensewire.model.batch import Batch, columns_of
from sensewire.model.event import Fact
from sensewire.model.terms import blank
from tests.events.nquads_texts import any_lines
from tests.events.reading import Wanting

DECODING = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC), longest=150)


def plainly(part: Slice, decoding: Decoding) -> list[Outcome]:
    """The outcomes of a slice, line by line."""
    with opened(part.source, part.packing) as content:
        file = content.stream
        running = None
        if part.start > 0:
            running = rdf.running_before(file, part.start, part.end, decoding)

        def later(number: int) -> Iterator[Line]:
            if part.end >= part.file.size:
                return iter(())
            size = part.file.size
            return lines_in(file, part.end, size, first_line=number, longest=decoding.longest)

        lines = content_lines(content, part, decoding)
        return list(rdf.nquads(lines, part.file.name, decoding, running=running, later=later))


def scanned(
    part: Slice, decoding: Decoding, block: int, scanner: Scanner | None = None
) -> list[Outcome]:
    with opened(part.source, part.packing) as content:
        found = nquads_in(content, part, decoding, scanner or Scanner(), block=block)
        return [outcome for each in found for outcome in each.outcomes()]


def agree(
    data: bytes, cuts: Sequence[int], block: int, decoding: Decoding, *, kept: int | None = None
) -> None:
    """With `kept`, the file is compressed, and so many hundredths of it are left."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("e.nq" if kept is None else "e.nq.gz")
        packed = gzip.compress(data, compresslevel=0)
        path.write_bytes(data if kept is None else packed[: len(packed) * kept // 100])
        file = EventFile(str(path), path.name, path.name, Kind.NQUADS, len(data))
        borders = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
        first_line = 1
        for start, end in pairwise(borders if kept is None else [0, len(data)]):
            part = Slice(file, start, end, first_line)
            assert scanned(part, decoding, block) == plainly(part, decoding)
            first_line += count_lines(io.BytesIO(data), start, end)


@dataclass(frozen=True, slots=True)
class Folder:
    """A place for files of events."""

    path: Path

    def part(self, data: bytes) -> Slice:
        path = self.path / "e.nq"
        path.write_bytes(data)
        file = EventFile(str(path), path.name, path.name, Kind.NQUADS, len(data))
        return Slice(file, 0, len(data))

    def graphs(
        self, data: bytes, decoding: Decoding | None = None, kept: Kept | None = None
    ) -> list[Graphs]:
        found = list(graph_portions(self.part(data), decoding or LONG, kept))
        return [graphs for graphs in found if isinstance(graphs, Graphs)]


def quad(subject: str, value: str, graph: str) -> bytes:
    return f"<http://x/{subject}> <http://x/p> {value} {graph} .".encode()


graphs = st.sampled_from(["<http://x/g1>", "<http://x/g2>", "<http://x/g\\u0031>", "_:b", ""])
objects = st.sampled_from(
    ["<http://x/a>", "<http://x/b>", "_:b", "_:H", '"1"', '"\\u0031"', '"x"@EN', '"x"@en']
)
statements = st.builds(quad, st.sampled_from("abc"), objects, graphs)
others = st.sampled_from(
    [
        *(
            b"",
            b"  \t",
            b"\x0b",
            b"\x0c# so",
            b"# a comment <http://x/g1> .",
            b"gibberish",
            b"_:g1",
        ),
        *(quad("a b", '"2"', graph) for graph in ("<http://x/g1>", "<http://x/g2>", "_:b")),
        *(quad("a", '"' + "x" * 200 + '"', graph) for graph in ("<http://x/g1>", "_:b", "")),
        quad("a", '"x"@de-1996', "<http://x/g1>"),
        quad("[", "_:é", "<http://x/g1>"),
        b"\xff <http://x/p> <http://x/c> <http://x/g1> .",
        b"\xef\xbb\xbf" + quad("a", '"2"', "<http://x/g1>"),
        *(
            b"x" * 200,
            b"# " + b"x" * 200,
            b"\xef\xbb\xbf",
            quad("a", '"1"', "") + quad("b", '"1"', ""),
        ),
        b'<http://x/a> <http://x/time> "2023-01-02" <http://x/g1> .',
        b'<http://x/a> <http://x/time> "yesterday" <http://x/g2> .',
        b'<http://x/g1> <http://x/time> "2023-01-02" <http://x/g1> .',
        b'<http://x/g1> <http://x/time> "2023-01-03" <http://x/g1> .',
    ]
)
contents = st.builds(
    lambda mark, lines, ends, last: (
        mark
        + b"".join(line + end for line, end in zip(lines, ends * len(lines), strict=False))
        + last
    ),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(statements | statements | others, max_size=20),
    st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=1, max_size=3),
    st.just(b"") | statements | others,
)
blocks = st.sampled_from([1, 2, 7, 60, 200, 1_000, 100_000])
decodings = st.builds(
    Decoding,
    now=st.just(DECODING.now),
    time_field=st.sampled_from([None, "time", "http://x/time"]),
    longest=st.sampled_from([60, 150, 400, 10_000]),
)


@given(contents, st.lists(st.integers(0, 5_000), max_size=6), blocks, decodings)
def test_parts_of_a_file(data: bytes, cuts: list[int], block: int, decoding: Decoding) -> None:
    agree(data, cuts, block, decoding)


@given(contents, st.integers(0, 100) | st.just(100), blocks, decodings)
def test_a_compressed_file_that_may_break(
    data: bytes, kept: int, block: int, decoding: Decoding
) -> None:
    agree(data, [], block, decoding, kept=kept)


@given(st.lists(any_lines, max_size=12), blocks)
def test_lines_of_every_form(lines: list[bytes], block: int) -> None:
    agree(b"\n".join(lines), [], block, replace(DECODING, longest=10_000))


@pytest.mark.long
@settings(max_examples=2_000)
@given(contents, st.lists(st.integers(0, 5_000), max_size=6), blocks, decodings)
def test_very_many_files(data: bytes, cuts: list[int], block: int, decoding: Decoding) -> None:
    agree(data, cuts, block, decoding)
    agree(data, [], block, decoding, kept=sum(cuts) % 101)


nodes = st.sampled_from(
    ["_:a", "_:b", "_:c", "_:d", "<http://x/g>", "<http://x/a>", "<http://x/b>"]
)
values = nodes | st.sampled_from(['"1"', '"2"', "_:H"])
shapes = st.lists(
    st.builds(
        lambda subject, value, graph: f"{subject} <http://x/p> {value} {graph} .".encode(),
        *(nodes, values, st.sampled_from(["<http://x/g>", "<http://x/h>", "_:a"])),
    ),
    max_size=12,
).map(b"\n".join)


@given(shapes)
def test_home_vertices_of_graphs_of_every_shape(data: bytes) -> None:
    agree(data, [], 100_000, replace(DECODING, longest=10_000))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


LONG = replace(DECODING, longest=10_000)


def test_a_chain_and_a_ring_have_their_roots(folder: Folder) -> None:
    chain = [f"_:n{i} <a:p> _:n{i + 1} <a:g> .".encode() for i in range(50)]
    ring = [line.replace(b"a:g", b"a:h") for line in [*chain, b"_:n50 <a:p> _:n0 <a:g> ."]]
    (graphs,) = folder.graphs(b"\n".join([*chain[::-1], *ring, b""]))
    assert graphs.facts.terms[int(graphs.home[0])] == blank("n0")
    assert graphs.home[1] == NO_HOME


def test_columns_are_those_of_the_events(folder: Folder) -> None:
    data = b"\n".join(
        [
            *(quad("a", value, "<http://x/g1>") for value in ('"1"', '"\\u0031"', "_:b", '"x"@EN')),
            *(
                quad("b", value, "<http://x/g2>")
                for value in ("_:b", "_:H", '"x"@en', "<http://x/é>")
            ),
            b"_:b <http://x/p> _:b _:b .",
            quad("a", '"1"', "<http://x/g1>"),
        ]
    )
    found = folder.graphs(data)
    assert sum(len(graphs) for graphs in found) == 4
    decoded = [each for graphs in found for each in graphs.decoded()]
    assert decoded == plainly(folder.part(data), LONG)
    for graphs in found:
        batch = Batch([each.event for each in graphs.decoded()])
        assert graphs.ids().to_pylist() == [event.id for event in batch.events]
        for row in range(len(graphs)):
            event = batch.events[row]
            assert Batch(batch.events, graphs.facts).facts(row) == list(event.facts)
            assert graphs.time(row) == event.time
        assert graphs.facts.offsets.tolist() == columns_of(batch).offsets.tolist()
        assert graphs.facts.subject.dtype == graphs.facts.object.dtype == np.int32


def test_terms_have_one_code_and_blank_nodes_one_in_each_event(folder: Folder) -> None:
    lines = [
        quad("a", value, f"<http://x/g{i}>") for i in (1, 2) for value in ('"1"', "_:b", "_:b")
    ]
    lines += [b"_:b <http://x/p> <http://x/a> <http://x/g2> .", quad("a", '"1"', "_:b")]
    lines += [quad("z", '"1"', "<http://x/g9>")]
    (graphs,) = folder.graphs(b"\n".join([*lines, b""]))
    subject, value = graphs.facts.subject.tolist(), graphs.facts.object.tolist()
    assert graphs.facts.offsets.tolist() == [0, 2, 5, 6, 7]
    assert value[0] == value[2] == value[5]
    assert value[1] != value[3] == subject[4]
    names = {value[1], value[3], int(graphs.graph[2])}
    assert len(names) == 3
    assert {str(graphs.facts.terms[code]) for code in names} == {"_:b"}


def test_only_facts_that_are_kept(folder: Folder) -> None:
    data = b"\n".join(
        [
            b"<a:r> <a:p> <a:b> <a:g> .",
            b"<a:b> <a:q> <a:c> <a:g> .",
            b'<a:r> <a:time> "2023-01-02" <a:g> .',
            b"<a:r> <a:q> <a:c> <a:h> .",
            b"# " + b"x" * 20_000,
            b"<a:r> <a:p> <a:c> <a:h> .",
        ]
    )
    decoding = replace(LONG, time_field="time")
    part = folder.part(data)
    whole = [each for each in plainly(part, decoding) if isinstance(each, Decoded)]
    assert len(whole) == 2
    for wanted in ({"a:p"}, {"a:p", "a:q", "a:time"}, set[str]()):
        some = list(decode(part, decoding, kept=wanted.__contains__))
        assert some == [
            replace(each, event=replace(each.event, facts=_those(each.event.facts, wanted)))
            for each in whole
        ]
        found = portions([part], decoding, wanted=Wanting(wanted))
        parts = [each for each in found if isinstance(each, EventPortion)]
        assert [each for portion in parts for each in portion.decoded] == some
        columns = folder.graphs(data, decoding, wanted.__contains__)
        assert [each for graphs in columns for each in graphs.decoded()] == some


def _those(facts: tuple[Fact, ...], wanted: Set[str]) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if fact.property.text in wanted)


def test_an_event_that_is_longer_than_blocks(folder: Folder) -> None:
    lines = [quad("a", f'"{i}"', "<http://x/g1>") for i in range(150)]
    lines.insert(70, b"# " + b"x" * 3_000)
    lines.append(quad("a", '"1"', "<http://x/g2>"))
    part = folder.part(b"\n".join(lines))
    for block in (1_000, 5_000, 100_000):
        for longest in (2_000, 9_000, 11_000):
            decoding = replace(DECODING, longest=longest)
            assert scanned(part, decoding, block) == plainly(part, decoding)


def test_a_return_that_is_a_lines_own_stays(folder: Folder) -> None:
    line = quad("a", '"1"', "<http://x/g1>")
    for between in (b"\n", b"\n# " + b"x" * 200 + b"\n", b"\r\n"):
        part = folder.part(line + between + line + b"\r")
        for block in (1, 100_000):
            assert scanned(part, DECODING, block) == plainly(part, DECODING)


def test_memory_is_that_of_a_block_and_an_event(folder: Folder) -> None:
    line = quad("a", '"1"', "<http://x/g1>") + b"\n# so\n"
    part = folder.part(line * 20_000 + b"x" * 12_000_000)
    tracemalloc.start()
    try:
        outcomes = scanned(part, DECODING, 65_536)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [type(outcome) for outcome in outcomes] == [Rejected]
    assert peak < 5_000_000


def test_no_run_is_longer_than_places_can_be_numbered() -> None:
    assert 4 * LONGEST + 4_194_304 < 2**31


def test_an_event_of_a_million_triples_is_refused_with_the_bound_and_the_others_go_on(
    folder: Folder,
) -> None:
    huge = b"".join(b"<a:%d> <a:p> <a:b> <g:1> .\n" % number for number in range(1_000_000))
    part = folder.part(b"<a:s> <a:p> <a:b> <g:0> .\n" + huge + b"<a:s> <a:p> <a:b> <g:2> .\n")
    first, refused, last = decode(part, Decoding(DECODING.now))
    assert isinstance(first, Decoded)
    assert isinstance(refused, Rejected)
    assert isinstance(last, Decoded)
    assert (first.event.id, last.event.id) == ("g:0", "g:2")
    assert refused.place.endswith(":2")
    assert "longer than 8,388,608 bytes, the most that is read" in refused.reason
    assert len(refused.raw) == 65_536
