"""Whatever happens around a stream, whoever stood when an event was appended gets it, once: others
come and go, events come twice, late and broken, the disk is full, the server dies, clocks are set.

Each test ends with the store's notifications compared with what the oracle says of the whole log.
"""

import json
import os
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from sensewire.cli.main import main
from sensewire.spark.gauges import Gauges
from sensewire.spark.stream import StreamJob, streaming
from sensewire.spark.stream_places import FromLog, ToFiles, ToTable
from sensewire.store import schema
from sensewire.store.database import LOG, Column, Store, StoreAwayError, added, head, open_store
from tests.postgresql import Server, UnavailableError, reachable_folder, server
from tests.spark import streams
from tests.spark.streams import (
    Running,
    ask,
    ask_all,
    begun,
    cancel,
    caught_up,
    check,
    events,
    publish,
    runs,
    streamed,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOAK = float(os.environ.get("SENSEWIRE_SOAK", "600"))  # seconds


def many(name: str) -> dict[str, str]:
    """So many subscriptions that the index is compiled anew; most of them match nothing."""
    return {
        f"{name}{n}": streams.TEXTS[-1] if n % 50 else streams.TEXTS[n // 50 % 8]
        for n in range(1_100)
    }


@pytest.mark.spark
@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_others_come_and_go_while_it_runs(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    with runs(spark, store, tmp_path / "stream") as (stream, gauges):
        with (
            streams.traffic(tmp_path, store.url, "a", 8.0) as one,
            streams.traffic(tmp_path, store.url, "b", 8.0) as two,
        ):
            ask(store, many("many"))
            time.sleep(4.0)
            ask(store, many("more"))
            cancel(store, *(f"many{n}" for n in range(0, 1_100, 3)))
            one.ended()
            two.ended()
        streams.wait_for_all(store, gauges)
        stream.stop()
    check(store)
    streams.keep_promises(store, [one, two])


@pytest.mark.long
@pytest.mark.parametrize("most", [300, 50_000])
def test_events_that_come_twice_or_late_or_in_another_order_are_the_same_events(
    spark: "SparkSession", tmp_path: Path, most: int
) -> None:
    all_of_them = events(0, 5_000)  # more than one task reads
    once, often = open_store(tmp_path / "once.db"), open_store(tmp_path / "often.db")
    for each in (once, often):
        ask_all(each)
    publish(once, all_of_them)
    streamed(spark, once, tmp_path / "once")
    chance = random.Random(7)
    shuffled = [*all_of_them, *all_of_them[::2]]
    chance.shuffle(shuffled)
    early, late = shuffled[:6_000], shuffled[6_000:]
    publish(often, early[:100])
    publish(often, early)
    counted = streamed(spark, often, tmp_path / "often", most=most)
    publish(often, late)
    publish(often, early[2_000:3_000])
    more = streamed(spark, often, tmp_path / "often", most=most)
    assert counted.events + more.events == len(all_of_them)
    assert counted.repeats + more.repeats == len(shuffled) + 1_100 - len(all_of_them)
    assert check(often) == check(once)
    with often.reading() as connection:
        numbers = connection.execute(select(schema.events.c.number, schema.events.c.id)).all()
    assert len({row.id for row in numbers}) == len(numbers)
    once.close()
    often.close()


@pytest.fixture
def mortal() -> Iterator[Server]:
    """A server of PostgreSQL that a test may kill."""
    with reachable_folder() as folder:
        try:
            with server(folder) as running:
                yield running
        except UnavailableError as error:
            pytest.skip(str(error))


@pytest.mark.spark
def test_a_stream_goes_on_by_itself_when_its_server_was_killed_and_started_again(
    spark: "SparkSession", mortal: Server, tmp_path: Path
) -> None:
    place = mortal.database("mortal")
    with (
        closing(open_store(place)) as store,
        runs(spark, store, tmp_path / "stream", most=500) as (stream, gauges),
    ):
        ask_all(store)
        with streams.traffic(tmp_path, place, "t", 16.0, rate=1_000.0) as traffic:
            for away in (0.0, 2.0, 0.5):
                time.sleep(2.5)
                mortal.kill()
                time.sleep(away)
                mortal.start()
            traffic.ended()
            streams.wait_for_all(store, gauges)
        stream.stop()
        store.patiently(lambda: check(store))
        streams.keep_promises(store, [traffic])


def test_a_server_that_dies_while_rows_are_copied_is_away(mortal: Server) -> None:
    store = open_store(mortal.database("copied"))
    numbers = list(range(200_000))
    rows: dict[str, Column] = {
        "number": numbers,
        "id": [f"e{number}" for number in numbers],
        "place": None,
    }

    def write() -> None:
        with store.writing() as connection:
            connection.execute(select(schema.heads)).all()
            mortal.kill()
            added(connection, "events", rows)

    with pytest.raises(StoreAwayError):
        write()
    mortal.start()
    with store.writing() as connection:
        added(connection, "events", {"number": [1], "id": ["e1"]})
    store.close()


def _mount(size: str, folder: Path, *options: str) -> None:
    option = ",".join((f"size={size}", *options))
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)],
        check=True,
        capture_output=True,
    )


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of a size, where this machine lets us mount one."""
    folder.mkdir()
    try:
        _mount(size, folder)
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(file: Path) -> None:
    """Take all the room that is left."""
    with file.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(bytes(4_096))


def end_for_want_of_room(running: Running, named: Path) -> None:
    """That a command ends as it should when a disk is full."""
    assert running.ended() == 2, (running.output, running.errors)
    (last,) = running.errors.splitlines()
    assert last.startswith("sensewire: ")
    assert str(named) in last
    assert "No space left" in last or "is full" in last


@pytest.mark.spark
@pytest.mark.long
def test_a_disk_that_is_full_under_the_store_ends_publishing_and_the_stream_and_loses_nothing(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk", "6m") as disk:
        place = disk / "store.db"
        store = open_store(place)
        ask_all(store)
        run = ("run", "--store", place, "--checkpoint", tmp_path / "stream", "--most", "500")
        acknowledged = 0
        with begun(tmp_path, *run) as running:
            running.ready()
            said = ""
            while not said:
                made = events(acknowledged, 500)
                lines = "".join(json.dumps(event) + "\n" for event in made)
                (tmp_path / "e.jsonl").write_text(lines)
                if main(["publish", "--store", str(place), str(tmp_path / "e.jsonl")]) == 0:
                    acknowledged += len(made)
                    assert acknowledged < 100_000
                else:
                    said = capsys.readouterr().err
            assert f"{place} cannot be written" in said
            assert "make room" in said
            end_for_want_of_room(running, place)
        with store.reading() as connection:
            logged = connection.execute(select(schema.log)).all()
        assert sum(row.last - row.first + 1 for row in logged) == acknowledged
        subprocess.run(["mount", "-o", "remount,size=500m", str(disk)], check=True)
        publish(store, events(acknowledged, 100))
        streamed(spark, store, tmp_path / "stream")
        assert len({event for id, _, event in check(store) if id == "s0"}) == acknowledged + 100
        store.close()


@pytest.mark.spark
@pytest.mark.long
def test_a_disk_that_is_full_under_the_checkpoint_ends_the_stream_and_loses_nothing(
    filed: Store, tmp_path: Path
) -> None:
    ask_all(filed)
    with small_disk(tmp_path / "disk", "20m") as disk:
        folder = disk / "stream"
        run = ("run", "--store", filed.url, "--checkpoint", folder)
        with begun(tmp_path, *run) as running:
            running.ready()
            publish(filed, events(0, 100))
            streams.wait_for_all(filed, running)
            fill(disk / "fill")
            publish(filed, events(100, 100))
            end_for_want_of_room(running, folder)
        with begun(tmp_path, *run) as running:  # nor does it begin
            end_for_want_of_room(running, folder)
        subprocess.run(["mount", "-o", "remount,size=60m", str(disk)], check=True)
        publish(filed, events(200, 100))
        caught_up(tmp_path, *run)
        assert len({event for id, _, event in check(filed) if id == "s0"}) == 300


@pytest.mark.long
def test_a_clock_that_is_set_changes_nothing_but_who_has_expired(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    noon = datetime(2024, 3, 1, 12, tzinfo=UTC)
    day = timedelta(days=1)
    ask_all(filed)
    ask(filed, {"short": "everything"}, noon, expires=(noon + day).isoformat())
    ask(filed, {"shorter": "price < 50"}, noon, expires=(noon - day).isoformat())
    now = noon
    gauges = Gauges()
    job = StreamJob(filed.url, tmp_path / "stream", FromLog(), ToTable())
    first = 0
    with streaming(job, lambda: spark, gauges, lambda: now) as stream:
        for shift, came in ((0, "a"), (2, "b"), (-2, "c")):
            now = noon + shift * day
            before = _versions(filed)
            ask(filed, many(came), now)
            while _versions(filed) == before:
                publish(filed, events(first, 5), now)
                first += 5
                streams.wait_for_all(filed, gauges)
                assert first < 5_000
            publish(filed, events(first, 20), now)
            first += 20
            streams.wait_for_all(filed, gauges)
            cancel(filed, *(f"{came}{n}" for n in range(0, 1_100, 2)))
        stream.stop()
    found = check(filed)
    assert {event for id, _, event in found if id == "short"}
    assert {event for id, _, event in found if id == "shorter"}
    assert len({event for id, _, event in found if id == "s0"}) == first
    with filed.reading() as connection:
        table = schema.batches
        pins = connection.execute(select(table).order_by(table.c.batch)).all()
    assert all(row.done is not None for row in pins)
    assert [row.change for row in pins] == sorted(row.change for row in pins)
    assert [row.version for row in pins] == sorted(row.version for row in pins)
    positions = [row.position for row in pins if row.events]  # the first found an empty log
    assert positions == sorted(positions)
    assert len({row.version for row in pins}) >= 3
    # A replay, years later, gives the same.
    out = tmp_path / "out"
    streamed(
        spark, filed, tmp_path / "again", target=ToFiles("parquet", str(out)),
        clock=lambda: noon + 900 * day,
    )  # fmt: skip
    rows = [row for file in out.glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    replayed = Counter((row["subscription"], row["event"]) for row in rows)
    assert replayed == Counter((id, event) for id, _, event in found)


def _versions(store: Store) -> set[str]:
    """The index versions that batches were pinned to."""
    with store.reading() as connection:
        return {row.version for row in connection.execute(select(schema.batches.c.version))}


def _memory(group: int) -> dict[str, int]:
    """The memory of a session's processes in KiB, shared pages shared out, by what they are."""
    found: Counter[str] = Counter()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if os.getsid(int(folder.name)) != group:
                continue
            command = (folder / "cmdline").read_bytes()
            rollup = (folder / "smaps_rollup").read_text()
        except (OSError, ProcessLookupError):
            continue  # it ended meanwhile
        if b"sensewire.store.indexing" in command:
            continue  # it comes and goes
        pss = int(re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0])
        is_driver = int(folder.name) == group
        name = "driver" if is_driver else "jvm" if b"java" in command else "workers"
        found[name] += pss
    return found


@pytest.mark.long
@pytest.mark.spark
def test_a_stream_that_runs_for_long_needs_no_more_memory_and_loses_nothing(
    filed: Store, tmp_path: Path
) -> None:
    run = ("run", "--store", filed.url, "--checkpoint", tmp_path / "stream")
    samples: list[dict[str, int]] = []
    with begun(tmp_path, *run) as running:
        running.ready()
        with streams.traffic(tmp_path, filed.url, "t", SOAK, rate=1_000.0) as traffic:
            while traffic.process.poll() is None:
                time.sleep(SOAK / 120)
                samples.append(_memory(running.process.pid))
            traffic.ended()
        streams.wait_for_all(filed, running)
        assert running.told_to_end() == 0, running.errors
    third = len(samples) // 3
    for name in ("driver", "jvm", "workers"):
        second, last = (
            sorted(sample.get(name, 0) for sample in some)[third // 2]
            for some in (samples[third : 2 * third], samples[2 * third : 3 * third])
        )
        assert last <= 1.1 * second + 30_720, (name, [sample.get(name, 0) for sample in samples])
    found = check(filed)
    streams.keep_promises(filed, [traffic])
    with filed.reading() as connection:
        published = head(connection, LOG)
    assert published > 950 * SOAK
    # Whoever wants everything comes and goes, too: most events have somebody, and not all.
    assert 0.2 * published < len({event for _, _, event in found}) < published
