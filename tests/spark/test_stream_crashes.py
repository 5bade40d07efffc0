"""A stream that is killed at any moment goes on when it is started again: whoever stood when an
event was appended gets it, once.

Each test ends with the store's notifications compared with what the oracle says of the whole log.
"""

import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from sensewire.store import schema
from sensewire.store.database import Store, open_store
from sensewire.store.failpoints import PLACES, VARIABLE
from tests.postgresql import Server
from tests.spark import streams
from tests.spark.streams import ask, begun, cancel, caught_up, check, events, publish

STORES = ["sqlite", "postgresql"]
KILLS = int(os.environ.get("SENSEWIRE_KILLS", "20"))


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store is: a file, or a database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.database("crashes")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """The store, empty."""
    opened = open_store(place)
    yield opened
    opened.close()


def command(store: Store, folder: Path) -> tuple[str | Path, ...]:
    """A stream of small batches."""
    return ("run", "--store", store.url, "--checkpoint", folder / "stream", "--most", "40")


@pytest.mark.spark
@pytest.mark.parametrize("dies_at", [place for place in PLACES if place != "swap"])
def test_a_stream_that_is_killed_at_a_fail_point_loses_and_doubles_nothing(
    store: Store, tmp_path: Path, dies_at: str
) -> None:
    ask(store, {f"s{n}": text for n, text in enumerate(streams.TEXTS)})
    for first in (0, 40, 80):
        publish(store, events(first, 40))
    run = command(store, tmp_path)
    planted = {VARIABLE: f"stream:{dies_at}:1"}
    with begun(tmp_path, *run, "--trigger", "available-now", **planted) as running:
        assert running.ended() == -signal.SIGKILL
    assert streams.last_batch(store) == (0 if dies_at == "delta" else 1)
    # They stood when the batch that died was published, and so they get it.
    cancel(store, "s0", "s1")
    ask(store, {"s0": "price < 50", "late": "everything"})
    publish(store, events(120, 40))
    caught_up(tmp_path, *run)
    assert len(check(store)) > 100


@pytest.mark.spark
def test_a_stream_that_is_killed_while_a_new_index_is_put_to_use_loses_and_doubles_nothing(
    store: Store, tmp_path: Path
) -> None:
    run = command(store, tmp_path)
    with begun(tmp_path, *run, **{VARIABLE: "stream:swap:0"}) as running:
        running.ready()
        ask(store, {f"s{n}": streams.TEXTS[1:][n % 8] for n in range(1_100)})
        first = 0
        while running.process.poll() is None:
            publish(store, events(first, 4))
            first += 4
            assert first < 2_000
            time.sleep(0.1)
        assert running.ended() == -signal.SIGKILL
    cancel(store, *(f"s{n}" for n in range(0, 1_100, 2)))
    publish(store, events(first, 40))
    caught_up(tmp_path, *run)
    assert len(check(store)) > 100


@pytest.mark.spark
def test_a_stream_that_is_told_to_end_ends_its_batch_and_counts(
    store: Store, tmp_path: Path
) -> None:
    ask(store, {f"s{n}": text for n, text in enumerate(streams.TEXTS)})
    for first in range(0, 2_000, 40):
        publish(store, events(first, 40))
    run = command(store, tmp_path)
    with begun(tmp_path, *run) as running:
        running.ready()
        streams.wait(lambda: streams.last_batch(store) >= 2, "the third batch")
        assert running.told_to_end() == 0
        last = running.output.splitlines()[-1]
        assert running.errors == ""
    table = schema.batches
    with store.reading() as connection:
        done = connection.execute(select(table.c.done, table.c.events)).all()
    assert 3 <= len(done) < 50
    assert all(row.done is not None for row in done)
    counts = re.fullmatch(r"(\d+) events, (\d+) matches, 0 repeats, 0 rejected, 0 failed", last)
    assert counts is not None, last
    assert (int(counts[1]), int(counts[2])) == (
        sum(row.events for row in done), len(streams.told(store)),
    )  # fmt: skip
    publish(store, events(2_000, 40))
    caught_up(tmp_path, *run, "--most", "1000")
    assert len(check(store)) > 1_000


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
