"""The replay job on Spark: the same answers however files are cut, and bad input."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.model.errors import SensewireError
from sensewire.spark.progress import Progress
from sensewire.spark.replay import Replayed, ReplayJob, run
from tests.spark.history import NOW, SUBSCRIPTIONS, expected, write_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Replaying = Callable[..., Replayed]


@pytest.fixture
def job(tmp_path: Path) -> ReplayJob:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    (tmp_path / "history").mkdir()
    return ReplayJob(
        subscriptions=tmp_path / "s.jsonl",
        events=(tmp_path / "history",),
        now=NOW,
        time_field="at",
        partitions=2,
    )


@pytest.fixture
def replaying(spark: "SparkSession", job: ReplayJob) -> Replaying:
    """Run the job with its options changed."""
    return lambda **options: run(replace(job, **options), lambda: spark)


def write_subscriptions(path: Path, texts: dict[str, str]) -> None:
    path.write_text(
        "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items())
    )


@pytest.mark.parametrize(
    "names", [["a.jsonl"], ["b.nq"], ["c.parquet"], ["d.json", "e.ttl", "h.csv", "i.rss", "j.xml"]]
)
def test_the_answers_do_not_depend_on_partitions(
    replaying: Replaying, tmp_path: Path, names: list[str]
) -> None:
    write_history(tmp_path / "history", names)
    engine = Engine()
    for id, text in SUBSCRIPTIONS.items():
        engine.add(parse(text), id=id)
    plain = expected(tmp_path / "history", engine, 3)
    found = [replaying(partitions=partitions) for partitions in (1, 2, 7)]
    assert found[0] == found[1] == found[2]
    for received, ours in zip(found[0].subscriptions, plain, strict=True):
        assert (received.subscription, received.matches) == (ours.subscription, ours.matches)
        assert received.days == ours.days
        assert [each._replace(raw="") for each in received.examples] == list(ours.examples)
    last = found[0].subscriptions[-1]
    assert (last.subscription, last.matches, last.days, last.examples) == ("nothing", 0, {}, ())


def test_functions_see_the_time_that_a_run_has(replaying: Replaying, tmp_path: Path) -> None:
    """An event that brings no time is matched as `match` would match it, and has no day."""
    (tmp_path / "k.yaml").write_text(
        "mappings:\n"
        "  - name: age\n    inputs: [born]\n"
        "    outputs: {age: 'event.time.getFullYear() - born'}\n"
    )
    write_subscriptions(tmp_path / "s.jsonl", {"adults": "age >= 18"})
    (tmp_path / "history/e.jsonl").write_text(
        '{"born": 2000}\n{"born": 2000, "at": "2010-01-01"}\n{"born": 2000, "at": "2020-01-01"}\n'
    )
    (adults,) = replaying(knowledge=(tmp_path / "k.yaml",)).subscriptions
    assert adults.days == {None: 1, "2020-01-01": 1}


def test_bad_subscriptions_files_and_events_are_told(replaying: Replaying, tmp_path: Path) -> None:
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write('{"id": "bad", "text": "price <"}\n')
        file.write('{"id": "old", "text": "price < 3", "expires": "2020-01-01"}\n')
    (tmp_path / "history/a.jsonl").write_text('{"price": 5}\nbad\n{"price": 5, "at": "soon"}\n')
    (tmp_path / "history/b.xyz").write_text("what?")
    found = replaying()
    assert str(found) == "1 events, 1 matches, 4 rejected, 0 failed"
    places = [Path(item.place).name for item in found.problems]
    assert places == ["s.jsonl:6", "b.xyz", "a.jsonl:2", "a.jsonl:3"]
    assert "time field 'at'" in found.problems[3].reason
    assert [each.subscription for each in found.subscriptions] == list(SUBSCRIPTIONS)


def test_an_empty_history(replaying: Replaying) -> None:
    found = replaying()
    assert str(found) == "0 events, 0 matches, 0 rejected, 0 failed"
    assert [each.matches for each in found.subscriptions] == [0] * 5


def test_progress_is_told(spark: "SparkSession", job: ReplayJob, tmp_path: Path) -> None:
    write_history(tmp_path / "history", ["a.jsonl"])
    told: list[Progress] = []
    found = run(job, lambda: spark, told.append)
    assert (told[-1].events, told[-1].matches) == (found.events, found.matches)
    assert told[-1].share == 1


def no_session() -> NoReturn:
    raise AssertionError("nothing is started for this")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"examples": -1}, "--examples -1: expected a whole number, 0 or more"),
        ({"partitions": 0}, "--partitions 0: expected a whole number above 0"),
        ({"max_event_bytes": 0}, "--max-event-bytes 0: expected a whole number above 0"),
        ({"events": (Path("none.jsonl"),)}, "none.jsonl: No such file or directory"),
        ({"subscriptions": Path("none.jsonl")}, r"none.jsonl"),
    ],
)
def test_bad_options(job: ReplayJob, options: dict[str, Any], message: str) -> None:
    with pytest.raises((SensewireError, OSError), match=message):
        run(replace(job, **options), no_session)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no subscription; expected JSON lines with at least one"),
        ("bad\n", r"none of its lines is a subscription; the first: .*s.jsonl:1: bad JSON"),
        ('{"id": "a", "text": "b = 1", "expires": "2020-01-01"}', "every subscription has expired"),
    ],
)
def test_nothing_to_replay(job: ReplayJob, lines: str, message: str) -> None:
    job.subscriptions.write_text(lines)
    with pytest.raises(SensewireError, match=message):
        run(job, no_session)
