"""An event that kills whoever matches it is rejected with its place, and the job ends well."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sensewire.spark import replay
from sensewire.spark.failpoints import VARIABLE
from sensewire.spark.job import MatchJob, MatchSummary, run
from sensewire.spark.replay import ReplayJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
COUNT = 1_500
POISON = {7, 8, 700, 1_200, 1_499}


@pytest.fixture
def journal(spark: "SparkSession", tmp_path: Path) -> Iterator[Path]:
    """Where workers, who die of what holds POISON, note it before they do."""
    environment = spark.sparkContext.environment
    environment[VARIABLE] = f"match:POISON:{tmp_path / 'journal'}"
    yield tmp_path / "journal"
    del environment[VARIABLE]


def write(events: Path) -> None:
    words = ["POISON" if number in POISON else "food" for number in range(COUNT)]
    match events.suffix:
        case ".jsonl":
            lines = [json.dumps({"id": f"e{n}", "what": word}) for n, word in enumerate(words)]
            events.write_text("\n".join(lines))
        case ".nq":
            quads = [f'<urn:s> <urn:what> "{word}" <urn:e{n}> .' for n, word in enumerate(words)]
            events.write_text("\n".join(quads))
        case _:
            columns = {"id": [f"e{n}" for n in range(COUNT)], "what": words}
            pq.write_table(pa.table(columns), events, row_group_size=400)


@pytest.mark.parametrize("shards", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("kind", ["jsonl", "nq", "parquet"])
def test_events_that_kill_the_worker_are_rejected_with_their_places(
    spark: "SparkSession", journal: Path, tmp_path: Path, kind: str, shards: int
) -> None:
    texts = {"all": "everything", "food": "what = food", "poison": "what = POISON"}
    asked = [json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items()]
    (tmp_path / "s.jsonl").write_text("".join(asked))
    events = tmp_path / f"e.{kind}"
    write(events)
    job = MatchJob(
        tmp_path / "s.jsonl", (events,), tmp_path / "out", NOW, partitions=2,
        index_memory=1 if shards == 3 else None,
    )  # fmt: skip
    good = COUNT - len(POISON)
    assert run(job, lambda: spark) == MatchSummary(good, 2 * good, len(POISON), 0)
    assert json.loads((tmp_path / "out/_run.json").read_text())["shards"] == shards
    rejected = pq.read_table(tmp_path / "out" / "_rejected").to_pylist()
    assert {row["place"] for row in rejected} == {f"{events}:{number + 1}" for number in POISON}
    assert all(b"POISON" in row["raw"] for row in rejected)
    assert all("died of SIGKILL" in row["reason"] for row in rejected)
    found = set(pq.read_table(tmp_path / "out").column("event").to_pylist())
    name = "urn:e" if kind == "nq" else "e"
    assert found == {f"{name}{number}" for number in range(COUNT) if number not in POISON}
    tries = Counter(journal.read_bytes().splitlines())
    assert len(tries) == len(POISON)
    assert max(tries.values()) <= 3


def test_a_replay_goes_on_without_them(
    spark: "SparkSession", journal: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "food", "text": "what = food"}\n')
    events = tmp_path / "e.jsonl"
    write(events)
    job = ReplayJob(tmp_path / "s.jsonl", (events,), NOW, partitions=2)
    found = replay.run(job, lambda: spark)
    good = COUNT - len(POISON)
    assert (found.events, found.matches, found.rejected) == (good, good, len(POISON))
    assert [each.matches for each in found.subscriptions] == [good]
    assert {each.place for each in found.problems} == {f"{events}:{n + 1}" for n in POISON}
    assert all("died of SIGKILL" in each.reason for each in found.problems)
    assert max(Counter(journal.read_bytes().splitlines()).values()) <= 3
