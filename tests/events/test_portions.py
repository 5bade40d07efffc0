"""Portions: the fast way in gives what the plain decoder gives, for any cut and any block."""

import gzip
import io
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoding, Outcome, Rejected
from sensewire.events.files import EventFile, Slice, listing, slices
from sensewire.events.kinds import Kind
from sensewire.events.line_portions import line_portions
from sensewire.events.lines import count_lines
from sensewire.events.portions import EVENTS_AT_ONCE, EventPortion, portions
from sensewire.events.record_portion import RecordPortion
from tests.events.reading import outcomes_of

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))
SHORT = replace(PLAIN, longest=20)

pieces = st.sampled_from(
    [
        *(b'{"a": 1}', b'{"id": "7", "b": [1, 2]}', b'[{"specversion": "1.0"}]', b"bad", b"{"),
        *(b"\n", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\x0b", b"\xef\xbb\xbf", b"\xff"),
        *(b"0123456789", b'{"a": "0123456789"}', b'{"a": "01234567890"}', b'{"a": "012345678901"}'),
    ]
)
contents = st.lists(pieces, max_size=25).map(b"".join)


@given(
    data=contents,
    cuts=st.lists(st.integers(0, 500), max_size=5),
    block=st.sampled_from([1, 2, 3, 7, 30, 1_000]),
    is_packed=st.booleans(),
)
@example(data=b"\xef\xbb\xbf", cuts=[], block=1, is_packed=False)
@example(data=b"\xef\xbb\xbf" + b"0" * 30 + b"\n{}", cuts=[], block=1, is_packed=False)
@example(data=b'{"a": "01234567890"}\r\n{"a": 1}\n', cuts=[], block=21, is_packed=False)
@example(data=b"0" * 60 + b"\n{}\n{}\n", cuts=[62], block=7, is_packed=False)
def test_json_lines_give_what_the_plain_decoder_gives(
    data: bytes, cuts: list[int], block: int, is_packed: bool
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("e.jsonl.gz" if is_packed else "e.jsonl")
        path.write_bytes(gzip.compress(data) if is_packed else data)
        file = EventFile(str(path), path.name, path.name, Kind.LINES, len(data))
        borders = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
        if is_packed:
            borders = [0, len(data)]
        first_line = 1
        for start, end in pairwise(borders):
            part = Slice(file, start, end, first_line)
            found = outcomes_of(line_portions(part, SHORT, block), SHORT)
            assert found == sorted(decode(part, SHORT), key=repr)
            first_line += count_lines(io.BytesIO(data), start, end)


@given(data=contents, kept=st.integers(0, 100), block=st.sampled_from([1, 7, 1_000]))
def test_a_broken_file_gives_what_the_plain_decoder_gives(
    data: bytes, kept: int, block: int
) -> None:
    packed = gzip.compress(data, compresslevel=0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.jsonl.gz"
        path.write_bytes(packed[: len(packed) * kept // 100])
        part = Slice(EventFile(str(path), "e.jsonl.gz", "e", Kind.LINES, 100), 0, 100)
        found = outcomes_of(line_portions(part, SHORT, block), SHORT)
        assert found == sorted(decode(part, SHORT), key=repr)


def test_portions_are_large_and_even(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b"".join(b'{"a": %d}\n' % n for n in range(40_000)))
    (file,) = listing([tmp_path / "e.jsonl"]).files
    found = list(portions(slices(file, 10**9), PLAIN))
    assert all(isinstance(portion, RecordPortion) for portion in found)
    assert [len(portion) for portion in found if isinstance(portion, RecordPortion)] == [
        13_334,
        13_334,
        13_332,
    ]
    (_, _, last) = found
    assert isinstance(last, RecordPortion)
    assert last.batch.schema == pa.schema({"json": pa.large_binary()})
    assert last.place(13_331) == f"{tmp_path}/e.jsonl:40000"
    assert last.raw(13_331) == b'{"a": 39999}'


def test_many_small_files_make_one_portion(tmp_path: Path) -> None:
    for number in range(EVENTS_AT_ONCE + 5):
        (tmp_path / f"{number:05}.nt").write_bytes(b"<http://x/a> <http://x/p> <http://x/c> .")
    (tmp_path / "00003.nt").write_bytes(b"bad")
    (tmp_path / "00004.jsonl").write_bytes(b'{"a": 1}')
    files = listing([tmp_path]).files
    found = list(portions((part for file in files for part in slices(file, 1_000)), PLAIN))
    assert [type(item) for item in found] == [Rejected, RecordPortion, EventPortion, EventPortion]
    assert [len(item) for item in found if isinstance(item, EventPortion)] == [EVENTS_AT_ONCE, 4]


def test_all_kinds_give_what_the_plain_decoder_gives(tmp_path: Path) -> None:
    quad = b"<http://x/a> <http://x/p> <http://x/c> <http://x/g> .\n"
    texts = {
        "a.jsonl": b'{"a": 1}\nbad\n',
        "b.json": b'[{"a": 1}, 3]',
        "c.nq": quad + b"bad",
        "d.trig": b"<http://x/g> { <http://x/a> <http://x/p> 1 } bad",
        "e.ttl": b"<http://x/a> <http://x/p> 1 .",
        "e.csv": b'id,a,a\n7,1,\n8,2\n,"3\n",4\n',
        "e.rss": b"<rss><item><title>a</title></item><item/><item></rss>",
        "e.xml": b"<a><b c='1'>2</b></a>",
        "f.txt": b"hello",
        "f.txt.json": b'{"said": "hello"}',
        "g.txt": b"hello",
        "g.txt.json": b"bad",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    parquet.write_table(pa.table({"a": [1, None]}), tmp_path / "h.parquet")
    parts = [part for file in listing([tmp_path]).files for part in slices(file, 20)]
    expected: list[Outcome] = [outcome for part in parts for outcome in decode(part, PLAIN)]
    assert outcomes_of(portions(parts, PLAIN), PLAIN) == sorted(expected, key=repr)
    assert sum(isinstance(outcome, Rejected) for outcome in expected) == 7


def test_a_file_that_vanishes_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}')
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "b.parquet")
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "c.parquet")
    parts = [part for file in listing([tmp_path]).files for part in slices(file, 10**6)]
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    found = list(portions(parts, PLAIN))
    assert [item.place for item in found if isinstance(item, Rejected)] == [
        str(tmp_path / name) for name in ("a.jsonl", "b.parquet", "c.parquet")
    ]
    assert next(item.reason for item in found if isinstance(item, Rejected)) == (
        "cannot be read (No such file or directory), though it was there when the run began"
    )
