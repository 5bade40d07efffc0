"""Whatever happens around a stream, whoever stood when an event was appended gets it, once: others
come and go, events come twice, late and broken, the disk is full, the server dies, clocks are set.

Each test ends with the store's notifications compared with what the oracle says of the whole log.
"""

import io
import json
import os
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc
from sqlalchemy import select, text

from sensewire.cli.main import main
from sensewire.events.kinds import Kind
from sensewire.model.errors import SensewireError
from sensewire.spark import failpoints
from sensewire.spark.checkpoint import checkpoint_at
from sensewire.spark.gauges import Gauges
from sensewire.spark.stream import StreamJob, streaming
from sensewire.spark.stream_places import FromLog, ToFiles, ToTable
from sensewire.store import schema
from sensewire.store.database import Column, Store, StoreAwayError, added, open_store
from sensewire.store.dead import dead_letters, retry
from tests.postgresql import Server, UnavailableError, reachable_folder, server
from tests.spark import streams
from tests.spark.cluster import Cluster
from tests.spark.streams import (
    Running,
    ask,
    begun,
    cancel,
    caught_up,
    check,
    events,
    publish,
    publish_document,
    publish_lines,
    streamed,
    told,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORES = ["sqlite", "postgresql"]
SOAK = float(os.environ.get("SENSEWIRE_SOAK", "600"))  # seconds


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store is: a file, or a database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    running: Server = request.getfixturevalue("postgresql")
    return running.database("chaos")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """The store, empty."""
    opened = open_store(place)
    yield opened
    opened.close()


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Store]:
    """A store that is a file, where the kind of store makes no difference."""
    opened = open_store(tmp_path / "store.db")
    yield opened
    opened.close()


def ask_all(store: Store) -> None:
    ask(store, {f"s{n}": text for n, text in enumerate(streams.TEXTS)})


def many(name: str) -> dict[str, str]:
    """So many subscriptions that the index is compiled anew; most of them match nothing."""
    return {
        f"{name}{n}": streams.TEXTS[-1] if n % 50 else streams.TEXTS[n // 50 % 8]
        for n in range(1_100)
    }


@pytest.mark.spark
def test_others_come_and_go_while_it_runs(store: Store, tmp_path: Path) -> None:
    run = ("run", "--store", store.url, "--checkpoint", tmp_path / "stream")
    with begun(tmp_path, *run) as running:
        running.ready()
        with (
            streams.traffic(tmp_path, store.url, "a", 12.0) as one,
            streams.traffic(tmp_path, store.url, "b", 12.0) as two,
        ):
            ask(store, many("many"))
            time.sleep(5.0)
            ask(store, many("more"))
            cancel(store, *(f"many{n}" for n in range(0, 1_100, 3)))
            one.ended()
            two.ended()
        streams.wait_for_all(store, running)
        assert running.told_to_end() == 0, running.errors
    check(store)
    streams.keep_promises(store, [one, two])


@pytest.mark.parametrize("most", [300, pytest.param(50_000, marks=pytest.mark.long)])
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


@contextmanager
def planted(spark: "SparkSession", what: str) -> Iterator[None]:
    """Let workers fail at a fail-point."""
    environment = spark.sparkContext.environment
    environment[failpoints.VARIABLE] = what
    try:
        yield
    finally:
        del environment[failpoints.VARIABLE]


def test_an_event_that_kills_the_worker_is_a_dead_letter_after_three_tries(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ask_all(filed)
    poison = {3, 4, 250, 599}
    made = events(0, 600)
    for number in poison:
        made[number]["what"] = "POISON"
    publish(filed, made)
    journal = tmp_path / "journal"
    with planted(spark, f"match:POISON:{journal}"):
        counted = streamed(spark, filed, tmp_path / "stream")
        publish(filed, events(600, 50))
        streamed(spark, filed, tmp_path / "stream")
    assert (counted.events, counted.rejected) == (600 - len(poison), len(poison))
    letters = dead_letters(filed)
    assert {each.place for each in letters} == {f"log:{number + 1}" for number in poison}
    assert all("died of SIGKILL" in each.reason for each in letters)
    assert {json.loads(each.raw)["id"] for each in letters} == {f"e{number}" for number in poison}
    assert max(Counter(journal.read_bytes().splitlines()).values()) <= 3
    check(filed, without=[f"e{number}" for number in poison])
    # Whatever killed the worker is mended: they are events as any other.
    retry(filed, [], datetime.now(UTC))
    query = letters[0].query
    streamed(spark, filed, tmp_path / "stream")
    assert dead_letters(filed) == []
    assert told(filed) == streams.expected(filed, query=query)


@dataclass(frozen=True, slots=True)
class Poison:
    """What is no event, between events of its format; how often one is rejected is counted."""

    kind: Kind
    name: str
    good: bytes
    bad: bytes
    facts: bytes | None = None
    reason: str = ""


def _parquet(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def _arrow(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def _cloud_event(**more: object) -> bytes:
    head = {"specversion": "1.0", "type": "t", "data": {"what": "bread", "price": 3}}
    return json.dumps({**head, **more}).encode()


GRAPH = b'<urn:s> <urn:what> "bread" <urn:g%d> .'
TRIPLE = b'<urn:s> <urn:what> "bread" .'
XML = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:">%s</rdf:RDF>'
XML_FACT = b'<rdf:Description rdf:about="urn:s"><what>bread</what></rdf:Description>'
ROWS: list[dict[str, object]] = [{"id": "r1", "what": "bread"}, {"id": "r2", "what": "milk"}]
MORE: list[dict[str, object]] = [{"id": "a1", "what": "bread"}, {"id": "a2", "what": "milk"}]

POISONS = {
    "json": Poison(Kind.LINES, "", b'{"id": "j1", "what": "bread"}', b'{"id": "j2", "what": '),
    "no record": Poison(Kind.LINES, "", b'{"id": "n1", "what": "bread"}', b"5"),
    "no text": Poison(Kind.LINES, "", b'{"id": "u1", "what": "bread"}', b'{"id": "\xff\xfe"}'),
    "cloudevent": Poison(
        Kind.LINES, "", _cloud_event(id="c1", source="/s"), _cloud_event(id="c2")
    ),
    "too long": Poison(
        Kind.LINES, "", b'{"id": "l1", "what": "bread"}',
        b'{"id": "l2", "what": "bread", "fill": "%s"}' % (b"x" * 5_000), reason="longer than",
    ),
    "nq": Poison(Kind.NQUADS, "e.nq", GRAPH % 1, b"<urn:s> oops <urn:g2> ."),
    "trig": Poison(Kind.TRIG, "e.trig", b"<urn:g3> { %s }" % TRIPLE, b"<urn:g4> { oops }"),
    "ttl": Poison(Kind.DOCUMENT, "e.ttl", TRIPLE, b"<urn:s>\n oops ."),
    "rdf": Poison(Kind.DOCUMENT, "e.rdf", XML % XML_FACT, XML % b"<oops>"),
    "jsonld": Poison(
        Kind.DOCUMENT, "e.jsonld", b'{"@id": "urn:s", "urn:what": "bread"}', b'{"@id": [5}'
    ),
    "parquet": Poison(Kind.PARQUET, "e.parquet", _parquet(ROWS), _parquet(ROWS)[:-20]),
    "arrow": Poison(Kind.ARROW, "e.arrow", _arrow(MORE), _arrow(MORE)[:200]),
    "payload": Poison(Kind.PAYLOAD, "e.txt", b"a text", b"a text", b"no facts"),
}  # fmt: skip


def _publish_good(store: Store, each: Poison) -> None:
    if each.kind is Kind.LINES:
        publish_lines(store, each.good)
        return
    facts = b'{"what": "bread"}' if each.kind is Kind.PAYLOAD else None
    publish_document(store, each.kind, each.good, each.name, facts)


def _publish_bad(store: Store, each: Poison) -> None:
    if each.kind is Kind.LINES:
        publish_lines(store, each.bad)
        return
    publish_document(store, each.kind, each.bad, each.name, each.facts)


def test_what_is_no_event_in_any_format_is_a_dead_letter_and_its_neighbours_are_matched(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"bread": "what = bread", "all": "everything"})
    for name, each in POISONS.items():
        _publish_good(store, each)
        _publish_bad(store, each)
        publish(store, [{"id": f"after {name}", "what": "bread"}])
    counted = streamed(spark, store, tmp_path / "stream", longest=2_000)
    letters = sorted(dead_letters(store), key=lambda each: int(re.findall(r"\d+", each.place)[0]))
    assert counted.rejected == len(letters) == len(POISONS)
    for number, (letter, each) in enumerate(zip(letters, POISONS.values(), strict=True)):
        place = 3 * number + 2
        assert letter.place.startswith((f"log:{place}", f"log/{place}/")), letter
        assert each.reason in letter.reason
        assert letter.reason
        assert each.bad.startswith(letter.raw.rstrip(b"\n"))
        assert letter.raw
        assert letter.facts == each.facts
    found = told(store)
    assert found == streams.expected(store, longest=2_000)
    assert len({event for _, _, event in found}) == 2 * len(POISONS) + 2


def test_a_dead_letter_is_matched_once_what_was_wrong_is_mended(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"bread": "what = bread"})
    fill = "x" * 100_000  # more than a dead letter keeps
    publish(store, [{"id": "long", "what": "bread", "fill": fill}, {"id": "e", "what": "bread"}])
    turtle = TRIPLE + b"\n# " + fill.encode()
    publish_document(store, Kind.DOCUMENT, turtle, "e.ttl")
    streamed(spark, store, tmp_path / "stream", longest=2_000)
    letters = dead_letters(store)
    assert [each.place for each in letters] == ["log:1", "log/3/e.ttl"]
    assert {event for _, _, event in told(store)} == {"e"}
    assert retry(store, [], datetime.now(UTC)) == 2
    counted = streamed(spark, store, tmp_path / "stream")
    assert (counted.events, counted.rejected) == (2, 0)
    assert {event for _, _, event in told(store)} == {"e", "long", "log/5/e.ttl"}


def test_an_event_with_a_character_that_a_store_does_not_have_does_not_end_the_stream(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"all": "everything", "names": "select ?w where what = ?w"})
    publish(store, [{"id": "a\0b", "what": "c\0d"}, {"id": "e", "what": "bread"}])
    streamed(spark, store, tmp_path / "stream")
    assert len(told(store)) == 4
    assert {event for id, _, event in told(store) if id == "all"} >= {"e"}


def failed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command complains of that ends with exit code 2."""
    assert main(list(map(str, arguments))) == 2
    said = capsys.readouterr().err
    assert said.startswith("sensewire: ")
    assert "Traceback" not in said
    return said


def test_the_checkpoint_of_another_stream_is_refused(
    filed: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "stream"
    begun_once = checkpoint_at(folder, filed, FromLog(), ToTable())
    begun_once.spark.mkdir()
    (begun_once.spark / "metadata").write_text("{}")  # as Spark leaves it
    other = open_store(tmp_path / "other.db")
    other.close()
    said = failed(capsys, "run", "--store", tmp_path / "other.db", "--checkpoint", folder)
    assert f"--checkpoint {folder} belongs to another stream: its store is" in said
    (tmp_path / "in").mkdir()
    source = f"folder:{tmp_path / 'in'}"
    said = failed(
        capsys, "pipeline", "--store", filed.url, "--checkpoint", folder, "--source", source
    )
    assert "belongs to another stream: its source is" in said
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"a")
    said = failed(capsys, "run", "--store", filed.url, "--checkpoint", tmp_path / "photos")
    assert "holds other things" in said


def test_a_store_of_a_newer_program_is_refused_by_every_command(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    at = ("--store", store.url)
    for command in (
        ("run", "--checkpoint", tmp_path / "stream", *at),
        ("publish", "--event", "{}", *at),
        ("subscribe", "a", "price < 1", *at),
        ("dead", "list", *at),
        ("notifications", *at),
    ):
        said = failed(capsys, *command)
        assert "was written by a newer Sensewire" in said
        assert "9999" in said


def test_a_sink_of_another_stream_is_refused(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    out = ToFiles("parquet", str(tmp_path / "out"))
    streamed(spark, filed, tmp_path / "stream", target=out)
    with pytest.raises(SensewireError, match="belongs to another stream"):
        streamed(spark, filed, tmp_path / "other", target=out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("a")
    with pytest.raises(SensewireError, match="holds other files already"):
        streamed(
            spark, filed, tmp_path / "third", target=ToFiles("parquet", str(tmp_path / "full"))
        )


@pytest.mark.spark
def test_a_cluster_with_a_store_that_is_a_file_is_refused(
    filed: Store, standalone: Cluster, tmp_path: Path
) -> None:
    run = ("run", "--store", filed.url, "--checkpoint", tmp_path / "stream")
    with begun(tmp_path, *run, "--master", standalone.master) as running:
        assert running.ended() == 2
        assert "is a file of this machine, which the workers of" in running.errors
        assert "right would be postgresql://" in running.errors
        assert "Traceback" not in running.errors


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
    mortal: Server, tmp_path: Path
) -> None:
    place = mortal.database("mortal")
    store = open_store(place)
    ask_all(store)
    run = ("run", "--store", place, "--checkpoint", tmp_path / "stream", "--most", "500")
    with begun(tmp_path, *run) as running:
        running.ready()
        with streams.traffic(tmp_path, place, "t", 16.0, rate=1_000.0) as traffic:
            for away in (0.0, 2.0, 0.5):
                time.sleep(2.5)
                mortal.kill()
                time.sleep(away)
                mortal.start()
            traffic.ended()
            streams.wait_for_all(store, running)
        assert running.told_to_end() == 0, running.errors
        store.patiently(lambda: check(store))
        streams.keep_promises(store, [traffic])
    store.close()


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
def test_a_disk_that_is_full_under_the_store_ends_publishing_and_the_stream_and_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
        caught_up(tmp_path, *run[:-1], "50000")
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
                streams.wait(lambda: streams.is_committed(filed), "the batch")
                assert first < 5_000
            publish(filed, events(first, 20), now)
            first += 20
            streams.wait(lambda: streams.is_committed(filed), "the last batch")
            cancel(filed, *(f"{came}{n}" for n in range(0, 1_100, 2)))
            assert gauges.now().state != "ended"
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
    assert len({event for _, _, event in found}) > 100 * SOAK
