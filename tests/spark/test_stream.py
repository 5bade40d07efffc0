"""The stream, in process: every source and sink, in every format, with the answers of an engine."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from sensewire.cli.publish import _entries
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.spark.gauges import Gauges, Reading
from sensewire.spark.standing import standing_in
from sensewire.spark.stream import StreamJob, streaming
from sensewire.spark.stream_places import (
    FromFolder,
    FromLog,
    Source,
    Target,
    ToFiles,
    ToTable,
    source_in,
    target_in,
)
from sensewire.store import schema
from sensewire.store.database import Store, open_store
from sensewire.store.dead import dead_letters, retry
from sensewire.store.knowing import know
from sensewire.store.log import append, entries_of_lines
from sensewire.store.notifying import notifications
from sensewire.store.subscribing import Judge, subscribe, unsubscribe
from tests.spark import formats
from tests.spark.streams import runs
from tests.spark.test_same_answers import NOW, expected, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_WORDS = Judge(Knowledge())


def clock() -> datetime:
    return NOW


def asked(
    store: Store, texts: dict[str, str], now: datetime = NOW, judge: Judge = NO_WORDS
) -> None:
    subscribe(store, [judge.wished({"id": id, "text": text}) for id, text in texts.items()], now)


def published(store: Store, *records: dict[str, Any], now: datetime = NOW) -> None:
    lines = (json.dumps(record).encode() for record in records)
    append(store, list(entries_of_lines(lines)), now)


def told(store: Store) -> set[tuple[str, str]]:
    return {(each.subscription, each.event) for each in notifications(store)}


def ran(
    spark: "SparkSession",
    store: Store,
    folder: Path,
    source: Source | None = None,
    target: Target | None = None,
    **options: Any,
) -> Reading:
    """Run a stream until all that is there is matched."""
    gauges = Gauges()
    job = StreamJob(
        store.url, folder, source or FromLog(), target or ToTable(), "available-now", **options
    )
    with streaming(job, lambda: spark, gauges, clock) as stream:
        stream.wait()
    return gauges.now()


def test_what_is_published_reaches_who_asked_for_it_once(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    asked(store, {"cheap": "price < 5", "dear": "select ?p where price = ?p and ?p >= 5"})
    published(store, {"id": "a", "price": 3}, {"id": "b", "price": 9}, {"id": "a", "price": 9})
    published(store, {"price": 4})
    done = ran(spark, store, tmp_path / "c")
    assert told(store) == {("cheap", "a"), ("dear", "b"), ("cheap", "log:4")}
    assert (done.events, done.matches, done.repeats) == (3, 3, 1)
    rows = {each.event: each.rows for each in notifications(store)}
    integer = '"9"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert rows == {"a": None, "b": [{"p": integer}], "log:4": None}
    again = ran(spark, store, tmp_path / "c")
    assert again.events == again.batches == 0


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_a_new_checkpoint_begins_anew_and_doubles_nothing(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    asked(store, {"cheap": "price < 5"})
    published(store, {"id": "a", "price": 3}, {"price": 4})
    ran(spark, store, tmp_path / "one")
    before = told(store)
    done = ran(spark, store, tmp_path / "two")
    assert told(store) == before == {("cheap", "a"), ("cheap", "log:2")}
    assert (done.events, done.repeats) == (0, 2)


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_subscriptions_count_from_where_they_stand_in_the_log(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    """Whatever the batches are: all of this is one batch, or each its own."""
    published(store, {"id": "before", "price": 1})
    asked(store, {"anna": "price < 5"})
    published(store, {"id": "between", "price": 1})
    unsubscribe(store, ["anna"])
    published(store, {"id": "after", "price": 1})
    asked(store, {"anna": "price < 2"})
    published(store, {"id": "again", "price": 1})
    ran(spark, store, tmp_path / "c")
    assert told(store) == {("anna", "between"), ("anna", "again")}
    for most in (1, 2):
        target = ToFiles("parquet", str(tmp_path / str(most)))
        gathered = ran(spark, store, tmp_path / f"c{most}", target=target, most=most)
        assert gathered.batches == -(-4 // most)
        matches = [json.loads(row) for row in written(tmp_path / str(most))[0]]
        assert {(row["subscription"], row["event"]) for row in matches} == told(store)


def test_a_stream_that_runs_takes_changes_with_its_next_batch(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    with runs(spark, store, tmp_path / "c") as (_, gauges):
        for number in range(4):
            now = datetime.now(UTC)
            asked(store, {f"s{number}": f"price < {number + 1}"}, now)
            published(store, {"id": f"e{number}", "price": number}, now=now)
            if number == 2:
                unsubscribe(store, ["s2"])
                published(store, {"id": "later", "price": 2}, now=now)
        wait(lambda: gauges.now().events >= 5)
        reading = gauges.now()
    assert told(store) == {(f"s{number}", f"e{number}") for number in range(4)}
    assert reading.last is not None
    assert reading.last.lag == 0
    assert reading.last.delta >= 1


def test_subscriptions_expire_by_the_arrival_of_events(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    wish = NO_WORDS.wished({"id": "anna", "text": "everything", "expires": "2024-03-02"})
    subscribe(store, [wish], NOW)
    for name, days in (("first", 0), ("late", 2), ("early", -2), ("ends", 0.5)):
        published(store, {"id": name}, now=NOW + timedelta(days=days))
    ran(spark, store, tmp_path / "c")
    assert told(store) == {("anna", "first"), ("anna", "early")}


def wait(is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def written(out: Path) -> list[list[str]]:
    """Matches, failures and rejections that a sink of files has, `rejected` without what a stream
    knows more of them."""
    from pyarrow import parquet

    result = []
    for name in ("", "_failed", "_rejected"):
        files = sorted((out / name).glob("*.parquet"))
        result.append(texts(row for file in files for row in parquet.read_table(file).to_pylist()))
    return result


@pytest.mark.parametrize("format", formats.SOME)
def test_a_folder_says_the_same_in_every_format(
    spark: "SparkSession", filed: Store, tmp_path: Path, format: str
) -> None:
    subscriptions, knowledge = formats.write_asked(tmp_path)
    index = standing_in(subscriptions, None, knowledge, NOW).saved(tmp_path / "due")
    known = Knowledge.load(*knowledge)
    know(filed, known, NOW)
    asked(filed, formats.SUBSCRIPTIONS, judge=Judge(known))
    folder = formats.write(format, tmp_path / "events")
    out = tmp_path / "out"
    source, target = FromFolder(str(folder)), ToFiles("parquet", str(out))
    done = ran(spark, filed, tmp_path / "c", source, target, time_field="seen")
    tables, counts = expected(index, folder)
    assert written(out) == tables
    assert (done.events, done.matches) == (counts["events"], counts["matches"])
    assert (done.rejected, done.failed) == (counts["rejected"], counts["failed"])
    assert len(dead_letters(filed)) == counts["rejected"]
    (folder / "more.jsonl").write_text('{"id": "more", "product": "laptop", "price": 1}\n')
    more = ran(spark, filed, tmp_path / "c", source, target, time_field="seen")
    assert (more.events, more.rejected) == (1, 0)


@pytest.mark.parametrize("format", [name for name in formats.FORMATS if name != "packed"])
def test_the_log_says_the_same_in_every_format(
    spark: "SparkSession", filed: Store, tmp_path: Path, format: str
) -> None:
    subscriptions, knowledge = formats.write_asked(tmp_path)
    index = standing_in(subscriptions, None, knowledge, NOW).saved(tmp_path / "due")
    folder = formats.write(format, tmp_path / "events")
    known = Knowledge.load(*knowledge)
    know(filed, known, NOW)
    asked(filed, formats.SUBSCRIPTIONS, judge=Judge(known))
    entries = list(_entries([str(folder)]))
    append(filed, entries, NOW)
    done = ran(spark, filed, tmp_path / "c", time_field="seen")
    tables, counts = expected(index, folder)
    due = {
        (row["subscription"], row["event"].rpartition("/")[2], row["distance"])
        for row in map(json.loads, tables[0])
    }
    found = {
        (each.subscription, each.event.rpartition("/")[2], each.distance)
        for each in notifications(filed)
    }
    assert found == due
    left_out = 1 if format == "documents" else 0  # a file that is no event is not published
    assert (done.events, done.failed) == (counts["events"], counts["failed"])
    assert done.rejected == counts["rejected"] - left_out == len(dead_letters(filed))


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_dead_letters_come_again_to_the_stream_that_they_came_from(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    asked(store, {"all": "everything"})
    folder = tmp_path / "events"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id": "long", "text": "123456789 123456789"}\n{"id": "b"}\n')
    source, out = FromFolder(str(folder)), tmp_path / "out"
    target = ToFiles("parquet", str(out))
    ran(spark, store, tmp_path / "c", source, target, max_event_bytes=20)
    (dead,) = dead_letters(store)
    assert dead.place == f"{folder}/a.jsonl:1"
    assert dead.raw == b'{"id": "long", "text"'[:20]
    # What is kept of it is no event; mended, it is one.
    published(store, {"id": "others read this"})
    with store.writing() as connection:
        connection.execute(schema.dead_letters.update().values(raw=b'{"id": "long"}'))
    assert retry(store, [], NOW) == 1
    done = ran(spark, store, tmp_path / "c", source, target, max_event_bytes=20)
    assert done.events == 1
    matches = [json.loads(row) for row in written(out)[0]]
    assert sorted(row["event"] for row in matches) == ["b", "long"]
    assert dead_letters(store) == []


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_a_delta_table_has_each_batch_once(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    from deltalake import DeltaTable

    from sensewire.spark.schema import FAILED, MATCHES, REJECTED
    from sensewire.spark.sinks import DeltaSink, Told

    asked(store, {"cheap": "price < 5", "pairs": "select ?p where price = ?p"})
    published(store, {"id": "a", "price": 3}, {"id": "b", "price": 9})
    out = str(tmp_path / "delta")
    ran(spark, store, tmp_path / "c", target=ToFiles("delta", out))
    published(store, {"id": "c", "price": 3})
    ran(spark, store, tmp_path / "c", target=ToFiles("delta", out))
    rows = DeltaTable(out).to_pyarrow_table().to_pylist()
    pairs = sorted((row["event"], row["subscription"]) for row in rows)
    assert pairs == [("a", "cheap"), ("a", "pairs"), ("b", "pairs"), ("c", "cheap"), ("c", "pairs")]
    row = {"event": "d", "subscription": "x", "rows": None, "distance": 0.0}
    import pyarrow as pa

    said = Told(
        pa.Table.from_pylist([row], schema=MATCHES), FAILED.empty_table(), REJECTED.empty_table()
    )
    sink = DeltaSink(str(tmp_path / "other"), "q")
    for batch in (3, 3, 4):
        sink.deliver(batch, said)
    assert DeltaTable(str(tmp_path / "other")).to_pyarrow_table().num_rows == 2


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_an_index_is_compiled_anew_when_much_has_changed(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    with runs(spark, store, tmp_path / "c") as (_, gauges):
        now = datetime.now(UTC)
        for first in range(0, 1_500, 150):
            for number in range(first, first + 150):
                asked(store, {f"s{number}": f"price = {number}"}, now)
            published(store, {"id": f"es{first}", "price": first}, now=now)
        wait(lambda: newest_version(store) >= "v000002")
        unsubscribe(store, ["s7"])
        published(store, {"id": "seven", "price": 7}, {"id": "eight", "price": 8}, now=now)
        wait(lambda: ("s8", "eight") in told(store))

        def is_swapped() -> bool:  # by the first batch after the compiler has ended
            published(store, {"nobody": "asks"}, now=now)
            return str(getattr(gauges.now().last, "version", "")) >= "v000002"

        wait(is_swapped)
    due = {(f"s{number}", f"es{number}") for number in range(0, 1_500, 150)}
    assert told(store) == {*due, ("s8", "eight")}


def newest_version(store: Store) -> str:
    with store.reading() as connection:
        table = schema.index_versions
        return connection.execute(select(func.max(table.c.version))).scalar() or ""


def test_what_a_checkpoint_is_of_is_not_mixed_up(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ran(spark, filed, tmp_path / "c")
    with pytest.raises(SensewireError, match="belongs to another stream: its sink"):
        ran(spark, filed, tmp_path / "c", target=ToFiles("parquet", str(tmp_path / "out")))
    other = open_store(tmp_path / "other.db")
    with pytest.raises(SensewireError, match="belongs to another stream: its store"):
        ran(spark, other, tmp_path / "c")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("a")
    with pytest.raises(SensewireError, match="holds other things"):
        ran(spark, filed, tmp_path / "full")
    with pytest.raises(SensewireError, match="holds other files"):
        ran(spark, filed, tmp_path / "d", target=ToFiles("parquet", str(tmp_path / "full")))
    ran(spark, filed, tmp_path / "d", target=ToFiles("parquet", str(tmp_path / "out")))
    with pytest.raises(SensewireError, match="belongs to another stream"):
        ran(spark, filed, tmp_path / "e", target=ToFiles("parquet", str(tmp_path / "out")))
    with pytest.raises(SensewireError, match="there is no such folder"):
        ran(spark, filed, tmp_path / "f", FromFolder(str(tmp_path / "nothing")))


def test_one_process_runs_a_stream_and_a_trigger_is_a_time(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    with (
        runs(spark, filed, tmp_path / "c"),
        pytest.raises(SensewireError, match="another process runs this stream now"),
    ):
        ran(spark, filed, tmp_path / "c")
    job = StreamJob(filed.url, tmp_path / "c", FromLog(), ToTable(), "banana")
    with (
        pytest.raises(SensewireError, match="banana"),
        streaming(job, lambda: spark, Gauges()),
    ):
        pass


def test_a_sink_that_refuses_stops_the_stream_and_loses_nothing(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    asked(filed, {"all": "everything"})
    out = tmp_path / "out"
    target = ToFiles("parquet", str(out))
    ran(spark, filed, tmp_path / "c", target=target)
    published(filed, {"id": "a"})
    (out / ".batch-000000001.parquet").mkdir()  # in the way of what is written
    with pytest.raises(SensewireError, match="out"):
        ran(spark, filed, tmp_path / "c", target=target)
    (out / ".batch-000000001.parquet").rmdir()
    ran(spark, filed, tmp_path / "c", target=target)
    assert [json.loads(row)["event"] for row in written(out)[0]] == ["a"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lag", "right would be log"),
        ("folder:", "right would be log"),
        ("kafka://localhost:9092", "kafka://host:port/topic"),
        ("kafka://localhost:9092/a/b", "kafka://host:port/topic"),
        ("kafka://localhost:9092/a?format=docx", "no format 'docx'"),
        ("kafka://localhost:9092/a?forma=ttl", "no option 'forma'"),
    ],
)
def test_a_source_that_is_none_is_told(text: str, reason: str) -> None:
    with pytest.raises(SensewireError, match=reason):
        source_in(text)


@pytest.mark.parametrize("text", ["tables", "parquet:", "kafka://x", "s3://a/b"])
def test_a_sink_that_is_none_is_told(text: str) -> None:
    with pytest.raises(SensewireError, match=r"--sink .* right would be"):
        target_in(text)


def test_the_parquet_of_a_stream_is_that_of_a_run(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    """So that whoever reads one reads the other."""
    asked(filed, {"all": "everything"})
    published(filed, {"id": "a"})
    out = tmp_path / "out"
    ran(spark, filed, tmp_path / "c", target=ToFiles("parquet", str(out)))
    assert spark.read.parquet(str(out)).columns == ["event", "subscription", "rows", "distance"]


def test_a_batch_that_begins_while_a_stream_stops_comes_again(
    spark: "SparkSession",
    filed: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked(filed, {"all": "everything"})
    with runs(spark, filed, tmp_path / "c") as (stream, _):
        query = stream._query
        assert query is not None
        plain = query.stop

        def late() -> None:
            published(filed, {"id": "late"})
            wait(lambda: not query.isActive, 20.0)
            plain()

        monkeypatch.setattr(query, "stop", late)
        stream.stop()
        assert not told(filed)
    assert ran(spark, filed, tmp_path / "c").events == 1
    assert told(filed) == {("all", "late")}
