"""An event that kills whoever matches it is rejected with its place, and the job ends well."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from sensewire.spark.failpoints import VARIABLE
from sensewire.spark.job import MatchJob, MatchSummary, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def poisoned(spark: "SparkSession") -> Iterator["SparkSession"]:
    """A session whose workers die of what holds POISON."""
    environment = spark.sparkContext.environment
    environment[VARIABLE] = "match:POISON"
    yield spark
    del environment[VARIABLE]


@pytest.mark.parametrize("kind", ["jsonl", "nq"])
def test_events_that_kill_the_worker_are_rejected_with_their_places(
    poisoned: "SparkSession", tmp_path: Path, kind: str
) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "all", "text": "everything"}\n')
    poison = {7, 8, 700, 1_200, 1_499}
    events = tmp_path / f"e.{kind}"
    with events.open("w") as file:
        for number in range(1_500):
            word = "POISON" if number in poison else "food"
            if kind == "jsonl":
                file.write(json.dumps({"id": f"e{number}", "what": word}) + "\n")
            else:
                file.write(f'<urn:s> <urn:what> "{word}" <urn:e{number}> .\n')
    job = MatchJob(tmp_path / "s.jsonl", (events,), tmp_path / "out", NOW, partitions=2)
    assert run(job, lambda: poisoned) == MatchSummary(1_495, 1_495, 5, 0)
    rejected = pq.read_table(tmp_path / "out" / "_rejected").to_pylist()
    assert {row["place"] for row in rejected} == {f"{events}:{number + 1}" for number in poison}
    assert all(b"POISON" in row["raw"] for row in rejected)
    assert all("died of SIGKILL" in row["reason"] for row in rejected)
    found = set(pq.read_table(tmp_path / "out").column("event").to_pylist())
    name = "e" if kind == "jsonl" else "urn:e"
    assert found == {f"{name}{number}" for number in range(1_500) if number not in poison}
