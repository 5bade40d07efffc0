"""Events read from an object store, output written to one, and no secret in what is said."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sensewire.events.locations import Location, location
from sensewire.model.errors import SensewireError
from sensewire.spark.job import MatchJob, MatchSummary, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


def put(place: Location, data: bytes) -> None:
    with place.open_output() as file:
        file.write(data)


def rows(folder: Location) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in folder.below():
        with file.location.open_arrow() as opened:
            found += pq.read_table(opened).to_pylist()
    return found


def test_a_job_from_a_bucket_to_a_bucket(
    spark: "SparkSession", bucket: str, tmp_path: Path
) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "s", "text": "price < 100"}\n')
    home = f"s3://key:secret@bucket/{tmp_path.name}"
    events, out = (location(f"{home}/{name}{bucket}") for name in ("in", "out"))
    lines = [b'{"id": "e%d", "price": %d}\n' % (number, number) for number in range(300)]
    put(events.child("a.jsonl"), b"".join([*lines, b"bad\n"]))
    put(events.child("b.parquet"), b"PAR1")
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": ["p0", "p1"], "price": [5, 500]}), sink)
    put(events.child("c.parquet"), sink.getvalue().to_pybytes())
    job = MatchJob(
        tmp_path / "s.jsonl", (events.text,), out.text, NOW, partitions=3, overwrite=True
    )
    for _ in range(2):
        assert run(job, lambda: spark) == MatchSummary(302, 101, 2, 0)
        found = {row["event"] for row in rows(out)}
        assert found == {"p0", *(f"e{number}" for number in range(100))}
        assert {row["place"] for row in rows(out.child("_rejected"))} == {
            f"{events.name}/a.jsonl:301",
            f"{events.name}/b.parquet",
        }
        with out.child("_run.json").open() as file:
            text = file.read().decode()
        assert (json.loads(text)["events"], json.loads(text)["options"]["out"]) == (302, out.name)
        assert "secret" not in text
        assert "endpoint" not in text
    beside = location(f"{home}{bucket}")
    assert {file.path.partition("/")[0] for file in beside.below()} == {"in", "out"}
    assert not [name for name in everything(beside) if "/." in name], "a draft was left"


def everything(folder: Location) -> list[str]:
    """The paths of all objects below a folder, hidden ones too."""
    from pyarrow import fs

    system, path = folder._place()
    found: Any = system.get_file_info(fs.FileSelector(path, recursive=True))
    return [info.path for info in found]


def test_what_is_wrong_there_is_told_without_the_key(
    spark: "SparkSession", bucket: str, tmp_path: Path
) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "s", "text": "price < 100"}\n')
    (tmp_path / "e.jsonl").write_text('{"price": 5}\n')
    events, asked = tmp_path / "e.jsonl", tmp_path / "s.jsonl"
    theirs = location(f"s3://key:secret@bucket/{tmp_path.name}/theirs{bucket}")
    put(theirs.child("thesis.txt"), b"years of work")
    nowhere = f"s3://key:secret@none/out{bucket}"
    for job, message in (
        (MatchJob(asked, (events,), theirs.text, NOW), "/theirs exists; name another folder"),
        (MatchJob(asked, (events,), theirs.text, NOW, overwrite=True), "was not written by"),
        (MatchJob(asked, (events,), nowhere, NOW), "s3://none/out cannot be written: "),
        (MatchJob(asked, (nowhere,), tmp_path / "out", NOW), "s3://none/out: No such file"),
    ):
        with pytest.raises(SensewireError, match=message) as raised:
            run(job, lambda: spark)
        assert "secret" not in str(raised.value)
