"""A stream that is killed at any moment goes on when it is started again: whoever stood when an
event was appended gets it, once.

Each test ends with the store's notifications compared with what the oracle says of the whole log.
"""

import os
import random
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from sensewire.store import schema
from sensewire.store.database import Store
from sensewire.store.failpoints import PLACES, VARIABLE
from tests.spark import streams
from tests.spark.streams import (
    ask,
    ask_all,
    begun,
    cancel,
    caught_up,
    check,
    events,
    publish,
    streamed,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KILLS = int(os.environ.get("SENSEWIRE_KILLS", "20"))


def command(store: Store, folder: Path) -> tuple[str | Path, ...]:
    """A stream of small batches."""
    return ("run", "--store", store.url, "--checkpoint", folder / "stream", "--most", "40")


def catch_up(spark: "SparkSession", store: Store, folder: Path) -> None:
    """Let the stream match what is left: in this process, which has a Spark already."""
    streamed(spark, store, folder / "stream", most=5_000)


# All of them, and on a server too, in `make test-long`: that takes minutes.
@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.spark
def test_a_stream_that_is_killed_at_fail_points_loses_and_doubles_nothing(
    spark: "SparkSession", store: Store, step: int, tmp_path: Path
) -> None:
    run = command(store, tmp_path)
    ask_all(store)
    publish(store, events(0, 40))
    first = 40
    places = [place for place in PLACES if place != "swap"][::step]
    for batch, dies_at in enumerate(places, 1):
        publish(store, events(first, 40))
        planted = {VARIABLE: f"stream:{dies_at}:{batch}"}
        with begun(tmp_path, *run, "--trigger", "available-now", **planted) as running:
            assert running.ended() == -signal.SIGKILL
        assert streams.last_batch(store) == (batch - 1 if dies_at == "delta" else batch)
        # They stood when the batch that died was published, and so they get it.
        cancel(store, f"s{2 * batch - 2}", f"s{2 * batch - 1}")
        ask(store, {f"s{2 * batch - 2}": "price < 50", f"late{batch}": "everything"})
        first += 40
    with begun(tmp_path, *run, **{VARIABLE: "stream:swap:0"}) as running:
        running.ready()
        ask(store, {f"many{n}": streams.TEXTS[1:][n % 8] for n in range(1_100)})
        while running.process.poll() is None:
            publish(store, events(first, 4))
            first += 4
            assert first < 2_000
            time.sleep(0.1)
        assert running.ended() == -signal.SIGKILL
    cancel(store, *(f"many{n}" for n in range(0, 1_100, 2)))
    publish(store, events(first, 40))
    catch_up(spark, store, tmp_path)
    assert len(check(store)) > 1_000


@pytest.mark.spark
def test_a_stream_whose_jvm_is_killed_says_so_and_goes_on_when_it_is_started_again(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ask_all(filed)
    publish(filed, events(0, 200))
    with begun(tmp_path, *command(filed, tmp_path)) as running:
        running.ready()
        publish(filed, events(200, 200))
        (jvm,) = children(running.process.pid, "java")
        os.kill(jvm, signal.SIGKILL)
        assert running.ended() == 2
        (said,) = (line for line in running.errors.splitlines() if " events/s, " not in line)
        assert said == "sensewire: the Spark job failed: its JVM ended, perhaps for want of memory"
    catch_up(spark, filed, tmp_path)
    assert len({event for id, _, event in check(filed) if id == "s0"}) == 400


def children(parent: int, name: str) -> list[int]:
    """The processes that a process has started, by the name of their program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            # pid (program) state parent …
            program, rest = (folder / "stat").read_text().partition("(")[2].rsplit(")", 1)
            if program == name and int(rest.split()[1]) == parent:
                found.append(int(folder.name))
    return found


@pytest.mark.spark
@pytest.mark.long
def test_a_stream_that_is_told_to_end_ends_its_batch_and_counts(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ask_all(filed)
    for first in range(0, 2_000, 40):
        publish(filed, events(first, 40))
    run = command(filed, tmp_path)
    with begun(tmp_path, *run) as running:
        running.ready()
        streams.wait(lambda: streams.last_batch(filed) >= 2, "the third batch")
        assert running.told_to_end() == 0
        last = running.output.splitlines()[-1]
        assert running.errors == ""
    table = schema.batches
    with filed.reading() as connection:
        done = connection.execute(select(table.c.done, table.c.events)).all()
    assert 3 <= len(done) < 50
    assert all(row.done is not None for row in done)
    counts = re.fullmatch(r"(\d+) events, (\d+) matches, 0 repeats, 0 rejected, 0 failed", last)
    assert counts is not None, last
    assert (int(counts[1]), int(counts[2])) == (
        sum(row.events for row in done), len(streams.told(filed)),
    )  # fmt: skip
    publish(filed, events(2_000, 40))
    catch_up(spark, filed, tmp_path)
    assert len(check(filed)) > 1_000


@pytest.mark.long
@pytest.mark.spark
def test_a_stream_that_is_killed_many_times_loses_and_doubles_nothing(
    store: Store, tmp_path: Path
) -> None:
    chance = random.Random(tmp_path.name)
    run = command(store, tmp_path)
    with streams.traffic(tmp_path, store.url, "t", 3_600.0) as traffic:
        for _ in range(KILLS):
            batch = streams.last_batch(store) + chance.randint(1, 8)
            dies_at = chance.choice([*PLACES, "any", "any", "any"])
            planted = {} if dies_at == "any" else {VARIABLE: f"stream:{dies_at}:{batch}"}
            with begun(tmp_path, *run, **planted) as running:
                if dies_at == "swap":
                    running.ready()
                    name = f"many{batch}"
                    ask(store, {f"{name}-{n}": streams.TEXTS[-1] for n in range(1_100)})
                if dies_at == "any":  # while it starts, too
                    time.sleep(chance.uniform(1.0, 20.0))
                    assert running.process.poll() is None, running.errors
                    running.kill()
                assert running.ended() == -signal.SIGKILL, running.errors
        traffic.end()
        caught_up(tmp_path, *run, "--most", "5000")
        check(store)
        streams.keep_promises(store, [traffic])
