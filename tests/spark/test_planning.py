"""A look at the events before a run: some of several files, bounded, and never a failure."""

import gzip
import json
import os
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sensewire.engine import Engine
from sensewire.events.decoding import Decoding
from sensewire.events.files import EventFile, listing
from sensewire.events.kinds import Kind
from sensewire.language.parse import parse
from sensewire.match.layered import ENOUGH
from sensewire.model.event import Event
from sensewire.model.learned import Learned
from sensewire.spark import planning
from sensewire.spark.job import MatchJob, _indexed
from sensewire.spark.planning import looked_at
from sensewire.spark.standing import standing_in

DECODING = Decoding(datetime(2024, 3, 1, tzinfo=UTC))


def looked_into(folder: Path) -> Learned:
    return looked_at(listing([folder]).files, DECODING)


def test_events_of_several_files_and_of_several_places(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        lines = [f'{{"id": "{name}{n}", "file": "{name}"}}\n' for n in range(20_000)]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    found = looked_into(tmp_path)
    files = Counter(event.id[0] for event in found.sample)
    assert set(files) == {"a", "b", "c"}
    assert max(files.values()) < 2 * min(files.values())
    assert found.events == len(found.sample) == 15 * (4_096 // 15)
    numbers = sorted(int(event.id[1:]) for event in found.sample if event.id[0] == "a")
    assert numbers[0] < 1_000
    assert numbers[-1] > 18_000
    assert max(b - a for a, b in pairwise(numbers)) < 2_000


def test_every_format_gives_events(tmp_path: Path) -> None:
    records = [{"id": f"e{n}", "price": n} for n in range(50)]
    lines = "".join(json.dumps(each) + "\n" for each in records)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "c.json").write_text(json.dumps(records, indent=1))
    parquet.write_table(pa.Table.from_pylist(records), tmp_path / "d.parquet", row_group_size=9)
    quads = [f"<urn:e> <urn:price> {n} <urn:g{n}> .\n" for n in ('"1"', '"2"')]
    (tmp_path / "e.nq").write_text("".join(quads).replace('g"1"', "g1").replace('g"2"', "g2"))
    (tmp_path / "f.ttl").write_text("<urn:e> <urn:price> 7 .")
    (tmp_path / "g.jpg").write_bytes(b"\xff\xd8")
    for file in listing([tmp_path]).files:
        assert looked_at([file], DECODING).sample, file.name
    ids = {event.id for event in looked_into(tmp_path).sample}
    assert {"e0", "g.jpg", "urn:g1"} <= ids


def test_it_never_fails(tmp_path: Path) -> None:
    assert looked_at([], DECODING).sample == ()
    (tmp_path / "a.jsonl").write_bytes(b"bad\n\xff\xfe\n" * 50)
    (tmp_path / "b.jsonl").write_bytes(b"")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 100)[:-20])
    (tmp_path / "d.nq").write_bytes(b"no quad")
    (tmp_path / "e.json").write_bytes(b"[1, 2")
    (tmp_path / "f.ttl").write_bytes(b"<urn:a")
    (tmp_path / "g.txt").write_bytes(b"hello")
    (tmp_path / "g.txt.json").write_bytes(b"bad")
    parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "h.parquet")
    parquet.write_table(pa.table({"json": [1, 2]}), tmp_path / "i.parquet")
    parquet.write_table(pa.table({"packed": [b"no stream"]}), tmp_path / "j.parquet")
    files = listing([tmp_path]).files
    assert len(files) == 10
    data = (tmp_path / "h.parquet").read_bytes()
    (tmp_path / "h.parquet").write_bytes(data[:4] + os.urandom(len(data) - 8) + data[-4:])
    gone = EventFile(str(tmp_path / "gone.jsonl"), "gone.jsonl", "gone", Kind.LINES, 100)
    found = looked_at([*files, gone], DECODING)
    assert len(found.sample) <= 100


@pytest.mark.parametrize("count", [1, 7, 300])
def test_it_is_bounded(tmp_path: Path, count: int) -> None:
    text = "".join(f'{{"id": "e{n}"}}\n' for n in range(6_000))
    for number in range(count):
        (tmp_path / f"{number}.jsonl").write_text(text if count < 10 else text[:5_000])
    assert 1_000 < len(looked_into(tmp_path).sample) <= 4_096


def test_a_large_document_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text('[\n{"a": 1}, {"a": 2}]')
    assert len(looked_into(tmp_path).sample) == 2
    monkeypatch.setattr(planning, "_LARGEST_WHOLE", 10)
    assert looked_into(tmp_path).sample == ()


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    """An index of many subscriptions that nobody planned."""
    engine = Engine()
    for number in range(1_100):
        engine.add(parse(f"price > {number}"))
    engine.save(tmp_path / "index")
    return tmp_path / "index"


def indexed(index: Path, events: int, place: Path, *, shared: bool = False) -> Path:
    """The folder that workers get for a run on so many events."""
    path = place / "events.jsonl"
    path.write_text("".join(f'{{"price": {number}}}\n' for number in range(events)))
    job = MatchJob(None, (path,), place / "out", DECODING.now, index=index, index_shared=shared)
    (place / "made").mkdir()
    (folder,) = _indexed(
        *(job, standing_in(None, index, (), DECODING.now), listing([path]).files, None),
        *(DECODING, place / "made"),
    )
    return folder


def test_an_index_that_nobody_planned_is_planned_once_for_all_workers(
    blind: Path, tmp_path: Path
) -> None:
    folder = indexed(blind, 5_000, tmp_path)
    assert folder != blind
    assert Engine.open(folder).is_planned
    assert not Engine.open(blind).is_planned


@pytest.mark.parametrize(("events", "shared"), [(ENOUGH - 1, False), (5_000, True)])
def test_it_stays_as_it_is_for_few_events_and_where_machines_share_it(
    blind: Path, tmp_path: Path, events: int, shared: bool
) -> None:
    assert indexed(blind, events, tmp_path, shared=shared) == blind


def test_an_index_that_was_planned_is_taken_as_it_is(blind: Path, tmp_path: Path) -> None:
    engine = Engine.open(blind)
    sample = tuple(Event.record({"price": number}) for number in range(ENOUGH))
    engine.save(blind, Learned(ENOUGH, 0, (), sample))
    assert indexed(blind, 5_000, tmp_path) == blind
