"""Bad input and bad places: a message that says which and what to do; nothing half visible."""

import gzip
import io
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from sensewire.cli.main import main
from sensewire.engine import Engine
from sensewire.events.locations import Location
from sensewire.language.parse import parse
from sensewire.model.folder_manifest import ARRAYS, CURRENT, MANIFEST
from sensewire.spark import job as jobs
from sensewire.spark import output
from sensewire.spark.failpoints import VARIABLE
from sensewire.spark.job import MatchJob, MatchSummary, run
from tests.spark.commands import begun, matched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
PATIENCE = 120  # seconds


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    """A command line whose input is good."""
    (tmp_path / "s.jsonl").write_text('{"id": "all", "text": "everything"}\n')
    events = [json.dumps({"id": f"e{number}", "fill": "x" * 50}) for number in range(500)]
    (tmp_path / "e.jsonl").write_text("\n".join(["bad", *events]))
    options = {"--subscriptions": "s.jsonl", "--events": "e.jsonl", "--out": "out"}
    paths = [part for name, path in options.items() for part in (name, str(tmp_path / path))]
    return ["match", *paths, "--partitions", "4"]


@contextmanager
def planted(spark: "SparkSession", text: str) -> Iterator[None]:
    """Let workers fail at a fail-point."""
    environment = spark.sparkContext.environment
    environment[VARIABLE] = text
    try:
        yield
    finally:
        del environment[VARIABLE]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def written(folder: Path) -> bytes:
    """A good Parquet file, as bytes."""
    pq.write_table(pa.table({"id": ["a", "b"]}), folder / "whole")
    data = (folder / "whole").read_bytes()
    (folder / "whole").unlink()
    return data


def cell(*ids: str) -> bytes:
    sink = io.BytesIO()
    table = pa.table({"id": list(ids)})
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("memory", [None, 1])
def test_what_cannot_be_read_in_a_folder_costs_itself_alone(
    spark: "SparkSession", tmp_path: Path, memory: int | None
) -> None:
    asked = [json.dumps({"id": f"s{number}", "text": "id exists"}) for number in range(3)]
    (tmp_path / "s.jsonl").write_text("\n".join(asked))
    events = tmp_path / "events"
    (events / "folder.jsonl").mkdir(parents=True)
    (events / "folder.jsonl" / "inner.jsonl").write_text('{"id": "inner"}')
    (events / "good.jsonl").write_text('{"id": "good"}')
    (events / "link.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    os.mkfifo(events / "pipe.jsonl")
    lines = b"".join(b'{"id": "z%d", "fill": "%s"}\n' % (n, os.urandom(99).hex().encode())
                     for n in range(100))  # fmt: skip
    (events / "cut.jsonl.gz").write_bytes(gzip.compress(lines)[:-3000])
    (events / "cut.parquet").write_bytes(written(tmp_path)[:-9])
    torn = bytearray(written(tmp_path))
    torn[4:60] = b"\xff" * 56
    (events / "torn.parquet").write_bytes(bytes(torn))
    cells = pa.array([cell("p", "q"), cell("lost")[:-40], b"", cell("r")], pa.binary())
    pq.write_table(pa.table({"packed": cells}), events / "packed.parquet")
    gone = [events / f"gone.{kind}" for kind in ("jsonl", "parquet", "nq", "ttl")]
    for path in gone:
        path.write_bytes(written(tmp_path) if path.suffix == ".parquet" else b'{"id": "gone"}')

    def session() -> "SparkSession":
        """By now the files have been listed."""
        for path in gone:
            path.unlink()
        return spark

    job = MatchJob(
        tmp_path / "s.jsonl", (events,), tmp_path / "out", NOW, partitions=3, index_memory=memory
    )
    run(job, session)
    found = {row["event"] for row in pq.read_table(tmp_path / "out").to_pylist()}
    unpacked = {id for id in found if id.startswith("z")}
    assert found - unpacked == {"inner", "good", "p", "q", "r"}
    assert 0 < len(unpacked) < 100
    rejected = pq.read_table(tmp_path / "out/_rejected").to_pylist()
    reasons = {Path(row["place"]).name: row["reason"] for row in rejected}
    cut = f"cut.jsonl.gz:{len(unpacked) + 1}"
    for place, part in {
        "link.jsonl": "No such file",
        "pipe.jsonl": "no regular file",
        cut: "the .gz file is truncated",
        "cut.parquet": "no Parquet that can be read, perhaps truncated",
        "torn.parquet:1": "row group 1 is corrupt",
        "packed.parquet[2]:1": "no Arrow IPC stream",
        "packed.parquet[3]:1": "no Arrow IPC stream",
        **{path.name: "though it was there when the run began" for path in gone},
    }.items():
        assert part in reasons.pop(place, ""), (place, reasons)
    assert not reasons
    assert len(rejected) == 7 + len(gone)


def test_what_cannot_be_read_is_an_error_where_it_is_named(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.parquet").write_bytes(written(tmp_path)[:-9])
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    before = names(tmp_path)
    for name, part in {
        "cut.parquet": "no Parquet that can be read, perhaps truncated",
        "pipe.jsonl": "no regular file; expected a file or folder of events",
        "link.jsonl": "No such file or directory",
    }.items():
        assert main([*line, "--events", str(tmp_path / name)]) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith(f"sensewire: {tmp_path / name}: ")
        assert part in captured.err
        assert captured.err.count("\n") == 1
    assert names(tmp_path) == before


def _other_layout(index: Path) -> None:
    text = (index / CURRENT).read_text()
    assert text.startswith("sensewire index 1 ")
    (index / CURRENT).write_text(text.replace("index 1 ", "index 7 "))


def _no_current(index: Path) -> None:
    (index / CURRENT).unlink()


def _cut_arrays(index: Path) -> None:
    (arrays,) = index.glob(f"v*/{ARRAYS}")
    arrays.write_bytes(arrays.read_bytes()[:-64])


def _no_manifest(index: Path) -> None:
    (manifest,) = index.glob(f"v*/{MANIFEST}")
    manifest.unlink()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_other_layout, "written in layout 7 of index folders"),
        (_no_current, "index: "),
        (_cut_arrays, "save the index again"),
        (_no_manifest, "save the index again"),
        (shutil.rmtree, "index: "),
    ],
)
def test_an_index_that_is_none(
    tmp_path: Path,
    spoil: Callable[[Path], None],
    message: str,
    line: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = Engine()
    engine.add(parse("price > 5"), id="s")
    engine.save(tmp_path / "index")
    spoil(tmp_path / "index")
    before = names(tmp_path)
    options = [word for word in line if word not in ("--subscriptions", str(tmp_path / "s.jsonl"))]
    assert main([*options, "--index", str(tmp_path / "index")]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("sensewire: ")
    assert message in captured.err
    assert str(tmp_path / "index") in captured.err
    assert captured.err.count("\n") == 1
    assert names(tmp_path) == before


def test_subscriptions_and_an_index_are_not_both(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Engine().save(tmp_path / "index")
    (tmp_path / "k.yaml").write_text("synonyms: {price: [cost]}\n")
    alone = [word for word in line if word not in ("--subscriptions", str(tmp_path / "s.jsonl"))]
    index = ["--index", str(tmp_path / "index")]
    for words, message in (
        (alone, "expected --subscriptions or --index, one of them"),
        ([*line, *index], "expected --subscriptions or --index, one of them"),
        ([*alone, *index, "--knowledge", str(tmp_path / "k.yaml")], "--knowledge beside --index"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_no_room_for_what_workers_write(
    spark: "SparkSession",
    line: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    format: str,
) -> None:
    before = names(tmp_path)
    with planted(spark, "full"):
        assert main([*line, "--format", format]) == 2
    captured = capsys.readouterr()
    place = tmp_path / "out"
    assert captured.err == (
        f"sensewire: the Spark job failed: {place}: File too large; "
        "nothing is left there: make room, or name another folder\n"
    )
    assert names(tmp_path) == before


def test_no_room_for_what_the_driver_writes(
    spark: "SparkSession",
    line: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(line) == 0
    before = names(tmp_path), names(tmp_path / "out")
    capsys.readouterr()
    open_output = Location.open_output

    def full(place: Location) -> BinaryIO:
        is_last = place.name.endswith("_run.json")
        return Path("/dev/full").open("wb") if is_last else open_output(place)

    monkeypatch.setattr(Location, "open_output", full)
    assert main([*line, "--overwrite"]) == 2
    assert f"{tmp_path / 'out'}: No space left on device; " in capsys.readouterr().err
    assert (names(tmp_path), names(tmp_path / "out")) == before


def test_the_files_of_a_try_that_failed_are_not_in_the_output(
    spark: "SparkSession", line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []
    finish = output.finish

    def noted(draft: Any, format: str, kept: list[str], more: Any) -> None:
        seen.append({path.name for path in Path(draft.text).glob("*.parquet")})
        finish(draft, format, kept, more)

    monkeypatch.setattr(jobs, "finish", noted)
    job = MatchJob(
        tmp_path / "s.jsonl", (tmp_path / "e.jsonl",), tmp_path / "out", NOW, partitions=3
    )
    with planted(spark, "written"):
        assert run(job, lambda: spark) == MatchSummary(500, 500, 1, 0)
    (draft,) = seen
    files = {path.name for path in (tmp_path / "out").glob("*.parquet")}
    assert (len(draft), len(files)) == (6, 3)  # two tries of each task
    assert files < draft
    found = pq.read_table(tmp_path / "out").column("event").to_pylist()
    assert sorted(map(str, found)) == sorted(f"e{number}" for number in range(500))
    assert pq.read_table(tmp_path / "out/_rejected").num_rows == 1


@pytest.mark.spark
@pytest.mark.long
def test_a_driver_that_is_killed_leaves_no_output_that_looks_whole(
    line: list[str], tmp_path: Path
) -> None:
    events = [json.dumps({"id": f"e{number}", "fill": "x" * 50}) for number in range(4_000)]
    (tmp_path / "e.jsonl").write_text("\n".join(events))
    words = [*line[1:], "--master", "local[1]"]
    command = begun(*words, "--partitions", "20")
    end = time.monotonic() + PATIENCE
    try:
        while not list(tmp_path.glob(".out.*/new/*.parquet")):
            assert command.poll() is None, "it ended before its middle was seen"
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        command.send_signal(signal.SIGKILL)
        command.wait()
        command.communicate()
    assert not (tmp_path / "out").exists()
    time.sleep(1)
    assert names(tmp_path)[1:] == ["e.jsonl", "s.jsonl"]
    again = matched(*words)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.endswith("4000 events, 4000 matches, 0 rejected, 0 failed\n")
    assert pq.read_table(tmp_path / "out").num_rows == 4_000
