"""The same answers in every format: for any partitions and shards, on one machine and on a cluster.

What is expected is what an engine says in this process, asked event by event of what the plain
decoder read.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.files import listing, slices
from sensewire.model.errors import EventError
from sensewire.spark.job import MatchJob, run
from sensewire.spark.standing import bytes_of, standing_in
from tests.spark import formats
from tests.spark.cluster import Cluster
from tests.spark.commands import matched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
Tables = list[list[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Subscriptions as an index folder, and how much memory makes three shards of it."""

    index: Path
    memory: int


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    folder = tmp_path_factory.mktemp("asked")
    subscriptions, knowledge = formats.write_asked(folder)
    index = standing_in(subscriptions, None, knowledge, NOW).saved(folder)
    return Asked(index, bytes_of(index) // 3 + 1)


@pytest.mark.parametrize("format", formats.SOME)
def test_partitions_and_shards_change_nothing(
    spark: "SparkSession", asked: Asked, tmp_path: Path, format: str
) -> None:
    folder = formats.write(format, tmp_path / "events")
    tables, counts = expected(asked.index, folder)
    check_worth(tables, counts)
    for partitions, shards in ((1, 1), (2, 3), (7, 1)):
        out = tmp_path / f"{partitions}-{shards}"
        job = MatchJob(
            None, (folder,), out, NOW, index=asked.index, time_field="seen",
            index_memory=None if shards == 1 else asked.memory, partitions=partitions,
        )  # fmt: skip
        run(job, lambda: spark)
        assert tables_in(out) == tables, out.name
        assert counts_in(out) == {**counts, "shards": shards}, out.name


@pytest.mark.spark
@pytest.mark.parametrize("shards", [pytest.param(1, marks=pytest.mark.long), 3])
def test_a_cluster_says_the_same_of_all_formats(
    standalone: Cluster, asked: Asked, tmp_path: Path, shards: int
) -> None:
    for format in formats.FORMATS:
        formats.write(format, tmp_path / "events" / format)
    tables, counts = expected(asked.index, tmp_path / "events")
    memory = () if shards == 1 else ("--index-memory", str(asked.memory))
    run = matched(
        *("--index", asked.index, "--events", tmp_path / "events", "--out", tmp_path / "out"),
        *("--now", NOW.isoformat(), "--time-field", "seen", "--master", standalone.master),
        *memory,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert tables_in(tmp_path / "out") == tables
    assert counts_in(tmp_path / "out") == {**counts, "shards": shards}
    # What was sent to the workers is not left beside the index.
    assert [path.name for path in asked.index.parent.glob("*.tar")] == []


def expected(index: Path, folder: Path) -> tuple[Tables, dict[str, Any]]:
    """The tables, and what is counted."""
    engine = Engine.open(index)
    found = listing([folder])
    decoding = Decoding(NOW, time_field="seen")
    matches: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    rejected = [*found.rejected]
    events = 0
    for part in (part for file in found.files for part in slices(file, 10**9)):
        for outcome in decode(part, decoding):
            if isinstance(outcome, Rejected):
                rejected.append(outcome)
                continue
            try:
                answer = engine.match(outcome.event)
            except EventError as error:
                rejected.append(Rejected(outcome.place, outcome.raw, str(error)))
                continue
            events += 1
            matches += [match_row(outcome, match) for match in answer]
            failed += [
                {
                    "event": outcome.event.id,
                    "subscription": each.subscription,
                    "reason": each.reason,
                }
                for each in answer.failures
            ]
    bad = [{"place": each.place, "reason": each.reason, "raw": each.raw} for each in rejected]
    seen = engine.statistics()
    counts = {
        "events": events,
        "matches": len(matches),
        "rejected": len(rejected),
        "failed": len(failed),
        "ambiguous": dict(seen.ambiguous),
        "unknown": dict(seen.unknown),
    }
    return [texts(rows) for rows in (matches, failed, bad)], counts


def match_row(outcome: Decoded, match: Any) -> dict[str, Any]:
    rows = [[(name, str(term)) for name, term in row.items()] for row in match.rows]
    return {
        "event": outcome.event.id,
        "subscription": match.subscription,
        "rows": None if match.rows == ({},) else rows,
        "distance": match.distance,
    }


def check_worth(tables: Tables, counts: dict[str, Any]) -> None:
    """That a set of events says something: whatever its format, the same answers of each event."""
    assert counts["events"] == formats.EVENTS - 7
    assert counts["rejected"] >= 8
    matches, failed, _ = ([json.loads(text) for text in texts] for texts in tables)
    found: dict[str, set[int]] = {id: set() for id in formats.SUBSCRIPTIONS}
    for row in matches:
        found[row["subscription"]].add(int(re.findall(r"\d+", row["event"])[0]))
    assert len(matches) == sum(map(len, found.values()))
    assert found == {
        "laptops": {0, 9, 18, 27, 36, 45, 54},
        "prices": {41, 45, 46, 50, 54, 55, 59},
        "near": {0, 1, 5, 7, 9, 10, 14, 16, 25, 34, 43, 52, 61},
        "zürich": {11, 29, 47},
        "green": {3, 21, 39, 57},
        "rich": {13, 31, 49},
        "rich or near": {0, 1, 13, 31, 49},
        "pages": {number for number in range(formats.EVENTS) if number % 9 in (5, 7)},
        "a page": {59},
        "unasked": set(),
        "all": {number for number in range(formats.EVENTS) if number % 9 != 6},
    }
    assert {row["subscription"] for row in failed} == {"rich", "rich or near"}
    assert len({row["distance"] for row in matches}) > 1


def texts(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Rows as texts, in an order of their own; those of one match have none."""
    ordered = ({**row, "rows": sorted(row.get("rows") or [])} for row in rows)
    return sorted(json.dumps(row, default=str) for row in ordered)


def tables_in(out: Path) -> Tables:
    """Matches, failures and rejections."""
    return [texts(pq.read_table(out / name).to_pylist()) for name in ("", "_failed", "_rejected")]


def counts_in(out: Path) -> dict[str, Any]:
    record = json.loads((out / "_run.json").read_text())
    names = ("events", "matches", "rejected", "failed", "ambiguous", "unknown", "shards")
    return {name: record[name] for name in names}
