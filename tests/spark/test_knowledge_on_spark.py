"""Knowledge reaches the workers: professor X by the events' own time, ambiguity, functions."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.spark.job import MatchJob, MatchSummary, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNIVERSITY = """
synonyms: {school: [university, college]}
mappings:
  - name: experience
    inputs: [{graduated: "graduation date"}]
    outputs: {professional experience: "event.time.getFullYear() - graduated"}
  - name: yearly
    inputs: [salary, months]
    outputs: {yearly salary: "salary * 12 / months"}
  - name: endless
    inputs: [counter]
    outputs: {counter: "counter + 1"}
"""
PLANTS = "hierarchy: {oak: plant}"
FACTORIES = "hierarchy: {sawmill: plant}"
PROFESSOR_X = 'university = Y and degree = PhD and "professional experience" > 4'

Run = Callable[..., MatchSummary]


def path(place: Path | str | None) -> Path:
    """A place of a job that is a path."""
    assert isinstance(place, Path)
    return place


def lines(*items: dict[str, Any]) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


@pytest.fixture
def matching(spark: "SparkSession", tmp_path: Path) -> Run:
    """Run a job over subscriptions and events with some knowledge."""
    job = MatchJob(
        subscriptions=tmp_path / "s.jsonl",
        events=(tmp_path / "e.jsonl",),
        out=tmp_path / "out",
        now=datetime(2003, 9, 7, tzinfo=UTC),
        partitions=2,
    )

    def matching(subscriptions: str, events: str, **knowledge: str) -> MatchSummary:
        path(job.subscriptions).write_text(subscriptions)
        path(job.events[0]).write_text(events)
        files = [tmp_path / f"{name}.yaml" for name in knowledge]
        for file, text in zip(files, knowledge.values(), strict=True):
            file.write_text(text)
        return run(replace(job, knowledge=tuple(files), time_field="when"), lambda: spark)

    return matching


def matches(folder: Path) -> set[tuple[str, str]]:
    rows = pq.read_table(folder / "out").to_pylist()
    return {(row["event"], row["subscription"]) for row in rows}


def test_professor_x_by_the_time_of_the_events(matching: Run, tmp_path: Path) -> None:
    student = {"school": "Y", "degree": "PhD", "graduation date": 1990}
    summary = matching(
        lines({"id": "X", "text": PROFESSOR_X}),
        lines(
            {**student, "id": "in time", "when": "1995-01-01"},
            {**student, "id": "too soon", "when": "1994-12-31"},
            {**student, "id": "by the run"},
            {**student, "id": "elsewhere", "school": "Z"},
        ),
        university=UNIVERSITY,
    )
    assert str(summary) == "4 events, 2 matches, 0 rejected, 0 failed"
    assert matches(tmp_path) == {("in time", "X"), ("by the run", "X")}
    record = json.loads((tmp_path / "out/_run.json").read_text())
    assert record["knowledge"] == Knowledge.load(tmp_path / "university.yaml").version
    assert record["options"]["knowledge"] == [str(tmp_path / "university.yaml")]


def test_a_function_that_fails_leaves_only_its_own_undecided(matching: Run, tmp_path: Path) -> None:
    summary = matching(
        lines({"id": "rich", "text": '"yearly salary" > 9'}, {"id": "all", "text": "everything"}),
        lines(
            {"id": "good", "salary": 1, "months": 1},
            {"id": "bad", "salary": 1, "months": 0},
            {"id": "endless", "counter": 1},
        ),
        university=UNIVERSITY,
    )
    assert str(summary) == "2 events, 3 matches, 1 rejected, 1 failed"
    (failed,) = pq.read_table(tmp_path / "out/_failed").to_pylist()
    assert (failed["event"], failed["subscription"]) == ("bad", "rich")
    assert failed["reason"] == "mapping yearly failed: division by zero"
    (rejected,) = pq.read_table(tmp_path / "out/_rejected").to_pylist()
    assert "endless came to no end" in rejected["reason"]
    record = json.loads((tmp_path / "out/_run.json").read_text())
    assert record["unknown"] == {"mapping yearly failed: division by zero": 1}


def test_words_of_two_meanings(matching: Run, tmp_path: Path) -> None:
    summary = matching(
        lines(
            {"id": "which", "text": "topic = plant"},
            {"id": "green", "text": 'topic = "plants:plant"'},
            {"id": "text", "text": "topic = exactly plant"},
        ),
        lines({"id": "oak", "topic": "oak"}, {"id": "word", "topic": ["plant", "x"]}),
        plants=PLANTS,
        factories=FACTORIES,
    )
    assert str(summary) == "2 events, 2 matches, 1 rejected, 0 failed"
    assert matches(tmp_path) == {("oak", "green"), ("word", "text")}
    (rejected,) = pq.read_table(tmp_path / "out/_rejected").to_pylist()
    assert rejected["reason"].startswith(
        '\'plant\' has 2 meanings: "factories:plant", "plants:plant"'
    )
    record = json.loads((tmp_path / "out/_run.json").read_text())
    assert record["ambiguous"] == {"plant": 1}
