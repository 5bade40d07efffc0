"""Compressed files: what they hold comes out, up to where they break."""

import bz2
import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import listing, slices
from sensewire.events.kinds import PACKINGS
from sensewire.events.portions import portions
from tests.events.reading import outcomes_of

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def by_arrow(codec: Literal["zstd", "lz4"]) -> Callable[[bytes], bytes]:
    def packed(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            for start in range(0, len(data), 10_000):
                stream.write(data[start : start + 10_000])
                stream.flush()
        return sink.getvalue().to_pybytes()

    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": by_arrow("zstd"),
    ".lz4": by_arrow("lz4"),
}
LINES = b"".join(b'{"n": %d, "x": "%d"}\n' % (n, n * n * n) for n in range(6_000))
QUADS = b"".join(
    b"<http://x/a> <http://x/p> <http://x/%d> <http://x/g%d> .\n" % (n, n // 3)
    for n in range(2_000)
)


def read(path: Path, decoding: Decoding = PLAIN) -> list[Outcome]:
    """All of a file, by both ways in, which must agree."""
    (file,) = listing([path]).files
    parts = slices(file, 1_000)
    assert len(parts) == 1
    found = [outcome for part in parts for outcome in decode(part, decoding)]
    assert outcomes_of(portions(parts, decoding), decoding) == sorted(found, key=repr)
    return found


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_there_is_a_test_for_each() -> None:
    assert tuple(PACK) == PACKINGS


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize(("name", "data"), [("e.jsonl", LINES), ("e.nq", QUADS)])
def test_a_compressed_file_gives_what_the_plain_one_gives(
    tmp_path: Path, packing: str, name: str, data: bytes
) -> None:
    half = len(data) // 2
    packed = PACK[packing](data[:half]) + PACK[packing](data[half:])  # two, one behind the other
    found = read(put(tmp_path / f"{name}{packing}", packed))
    plain = [
        o
        for p in slices(listing([put(tmp_path / name, data)]).files[0], 10**9)
        for o in decode(p, PLAIN)
    ]
    assert [(o.raw, o.place.rpartition(":")[2]) for o in found] == [
        (o.raw, o.place.rpartition(":")[2]) for o in plain
    ]
    assert all(isinstance(outcome, Decoded) for outcome in found)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("part", [0.0, 0.5, 0.9])
def test_what_stands_before_a_cut_is_read(tmp_path: Path, packing: str, part: float) -> None:
    packed = PACK[packing](LINES)
    cut = packed[: int(len(packed) * part)]
    *events, last = read(put(tmp_path / f"e.jsonl{packing}", cut))
    assert all(isinstance(event, Decoded) for event in events)
    assert [event.raw for event in events] == LINES.split(b"\n")[: len(events)]
    if packing != ".bz2":  # its blocks are 900,000 bytes long
        assert bool(events) == (part > 0)
    assert isinstance(last, Rejected)
    assert last.place.endswith(f":{len(events) + 1}")
    assert last.reason.startswith(f"the {packing} file is truncated")
    assert LINES.split(b"\n")[len(events)].startswith(last.raw)


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz"])  # the others need not have checksums
def test_what_stands_before_damage_is_read(tmp_path: Path, packing: str) -> None:
    packed = bytearray(PACK[packing](LINES))
    middle = len(packed) // 2
    packed[middle : middle + 200] = bytes(200)
    *events, last = read(put(tmp_path / f"e.jsonl{packing}", bytes(packed)))
    assert isinstance(last, Rejected)
    assert "corrupt" in last.reason or "truncated" in last.reason
    assert "bytes were unpacked" in last.reason
    assert len(events) < 6_000


def test_what_is_not_compressed_at_all_is_corrupt(tmp_path: Path) -> None:
    for packing in PACK:
        (found,) = read(put(tmp_path / f"e.jsonl{packing}", LINES))
        assert isinstance(found, Rejected)
        assert "is corrupt" in found.reason
        assert found.place.endswith(":1")


@pytest.mark.parametrize("packing", [".gz", ".lz4"])
def test_the_last_run_of_broken_quads_is_rejected(tmp_path: Path, packing: str) -> None:
    packed = PACK[packing](QUADS)
    *events, cut, last = read(put(tmp_path / f"e.nq{packing}", packed[: len(packed) * 3 // 4]))
    assert events
    assert all(isinstance(event, Decoded) and len(event.event.facts) == 3 for event in events)
    assert isinstance(cut, Rejected)
    assert "may lack facts" in cut.reason
    assert isinstance(last, Rejected)
    assert "truncated" in last.reason
    assert cut.place == last.place


def test_broken_documents_are_rejected(tmp_path: Path) -> None:
    turtle = b'<http://x/a> <http://x/p> "1" .\n' * 50
    (found,) = read(put(tmp_path / "e.ttl.gz", gzip.compress(turtle)))
    assert isinstance(found, Decoded)
    assert found.event.id == "e.ttl.gz"
    (found,) = read(put(tmp_path / "e.ttl.gz", gzip.compress(turtle)[:-8]))
    assert isinstance(found, Rejected)
    assert "truncated" in found.reason
    (found,) = read(put(tmp_path / "e.json.gz", gzip.compress(b'{\n"a": 1}')[:-8]))
    assert isinstance(found, Rejected)
    assert "truncated" in found.reason
    first, last = read(put(tmp_path / "e.json.gz", gzip.compress(b'[]\n{"a": 1}\n')[:-8]))[-2:]
    assert isinstance(first, Decoded)
    assert isinstance(last, Rejected)


def test_of_broken_trig_the_whole_graphs_stand_but_the_last(tmp_path: Path) -> None:
    graphs = [b"<http://x/g%d> { <http://x/a> <http://x/p> %d }\n" % (n, n) for n in range(4)]
    text = b"".join(graphs)
    whole = read(put(tmp_path / "e.trig.gz", gzip.compress(text)))
    assert [type(outcome) for outcome in whole] == [Decoded] * 4
    found = read(put(tmp_path / "e.trig.gz", gzip.compress(text[:-20])[:-8]))
    assert [type(outcome) for outcome in found] == [Decoded, Decoded, Rejected, Rejected]
    assert "may lack facts" in found[2].reason  # type: ignore[union-attr]
    assert "truncated" in found[3].reason  # type: ignore[union-attr]


@pytest.mark.parametrize("packing", PACK)
def test_what_unpacks_to_very_much_is_never_held(tmp_path: Path, packing: str) -> None:
    bomb = PACK[packing](b'{"a": "' + b"x" * 50_000_000 + b'"}\n{"a": 1}\n')
    put(tmp_path / f"e.jsonl{packing}", bomb)
    put(tmp_path / f"e.trig{packing}", bomb)
    decoding = Decoding(now=PLAIN.now, longest=10_000)
    del bomb
    tracemalloc.start()
    try:
        long, event = read(tmp_path / f"e.jsonl{packing}", decoding)
        (refused,) = read(tmp_path / f"e.trig{packing}", decoding)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(long, Rejected)
    assert len(long.raw) == 10_000
    assert isinstance(event, Decoded)
    assert event.place.endswith(":2")
    assert isinstance(refused, Rejected)
    assert "longer than 640,000 bytes" in refused.reason
    assert peak < 40_000_000
