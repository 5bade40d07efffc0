"""What a stream tells of itself: rates by a clock of ours, metrics as Prometheus reads them."""

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from sensewire.model.errors import SensewireError
from sensewire.spark.gauges import BatchDone, Gauges, Reading, Trigger, listener, served

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DONE = BatchDone(
    batch=0,
    events=100,
    matches=300,
    repeats=5,
    rejected=2,
    failed=1,
    seconds=0.4,
    lag=1_204,
    version="v000002",
    subscriptions=500,
    delta=14,
    latest=1.5,
)

NAME = "ours"
IDLE = "spark.sql.streaming.noDataProgressEventInterval"


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def scraped(port: int) -> dict[str, Metric]:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(metrics: dict[str, Metric], name: str) -> float:
    (sample,) = metrics[name].samples
    return sample.value


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_before_the_first_batch_nothing_is_claimed() -> None:
    assert Gauges().now() == Reading()


def test_a_rate_is_of_the_last_ten_seconds() -> None:
    clock = Clock()
    gauges = Gauges(clock)
    for second in range(30):
        clock.seconds = 1_000 + second
        events = 100 if second < 15 else 400
        gauges.note(replace(DONE, events=events, matches=3 * events, seconds=1.0))
    reading = gauges.now()
    assert reading.events_per_second == 400
    assert reading.matches_per_second == 1_200
    assert reading.events == 15 * 100 + 15 * 400
    assert reading.batches == 30
    clock.seconds += 5
    assert gauges.now().events_per_second == 200
    clock.seconds += 60
    assert gauges.now().events_per_second == 0
    assert gauges.now().events == reading.events


def test_a_young_stream_is_measured_from_its_begin() -> None:
    clock = Clock()
    gauges = Gauges(clock)
    gauges.note(replace(DONE, events=100, seconds=0.5))
    assert gauges.now().events_per_second == 200
    clock.seconds += 1.5
    assert gauges.now().events_per_second == 50


@pytest.mark.parametrize("later", [0.0, 1.0, 15.0, 29.0])
def test_batches_longer_than_the_window_have_a_rate_at_any_moment(later: float) -> None:
    clock = Clock()
    gauges = Gauges(clock)
    for _ in range(5):
        clock.seconds += 30
        gauges.note(replace(DONE, events=3_000, seconds=30.0))
    clock.seconds += later
    assert gauges.now().events_per_second == 100


def test_a_batch_of_no_time_has_a_rate_all_the_same() -> None:
    gauges = Gauges(Clock())
    gauges.note(replace(DONE, seconds=0.0))
    assert gauges.now().events_per_second > 0


def test_no_batch_is_lost_between_threads() -> None:
    gauges = Gauges()

    def tell() -> None:
        for _ in range(200):
            gauges.note(DONE)

    threads = [Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reading = gauges.now()
    assert (reading.batches, reading.events) == (800, 80_000)
    assert sum(reading.durations) == 800


def test_a_start_after_the_first_is_a_restart() -> None:
    gauges = Gauges()
    gauges.started()
    assert (gauges.now().state, gauges.now().restarts) == ("running", 0)
    gauges.ended("it broke")
    assert (gauges.now().state, gauges.now().error) == ("ended", "it broke")
    gauges.started()
    assert (gauges.now().state, gauges.now().error, gauges.now().restarts) == ("running", None, 1)


def test_prometheus_reads_what_was_noted() -> None:
    gauges = Gauges()
    with served(gauges, 0) as port:
        assert value(scraped(port), "sensewire_events") == 0
        assert "sensewire_lag_events" not in scraped(port)
        gauges.started()
        gauges.note(DONE)
        gauges.note(replace(DONE, batch=1, seconds=3.0, lag=7))
        gauges.progress(Trigger(1, 100, {"addBatch": 0.25, "walCommit": 0.01}))
        metrics = scraped(port)
        assert scraped(port).keys() == metrics.keys()  # a scrape changes nothing
    numbers = {
        name.removeprefix("sensewire_"): family.samples[0].value
        for name, family in metrics.items()
        if len(family.samples) == 1
    }
    assert numbers == {
        "batches": 2,
        "events": 200,
        "matches": 600,
        "repeats": 10,
        "rejected": 4,
        "failed": 2,
        "restarts": 0,
        "running": 1,
        "batch_seconds": 3.0,
        "lag_events": 7,
        "latest_seconds": 1.5,
        "subscriptions": 500,
        "delta_subscriptions": 14,
        "index_info": 1,
        "trigger_rows": 100,
    }
    assert metrics["sensewire_events"].samples[0].name == "sensewire_events_total"
    assert metrics["sensewire_index_info"].samples[0].labels == {"version": "v000002"}
    phases = {
        one.labels["phase"]: one.value for one in metrics["sensewire_trigger_seconds"].samples
    }
    assert phases == {"addBatch": 0.25, "walCommit": 0.01}
    histogram = metrics["sensewire_batch_duration_seconds"].samples
    upto = {one.labels["le"]: one.value for one in histogram if one.name.endswith("_bucket")}
    assert (upto["0.25"], upto["0.5"], upto["2.5"], upto["5.0"], upto["+Inf"]) == (0, 1, 1, 2, 2)
    assert {one.name: one.value for one in histogram if not one.labels} == {
        "sensewire_batch_duration_seconds_count": 2,
        "sensewire_batch_duration_seconds_sum": 3.4,
    }


def test_a_lag_that_nobody_knows_is_not_told() -> None:
    gauges = Gauges()
    gauges.note(replace(DONE, lag=None, latest=None))
    with served(gauges, 0) as port:
        assert scraped(port).keys().isdisjoint({"sensewire_lag_events", "sensewire_latest_seconds"})


@pytest.mark.parametrize("port", [70_000, None])
def test_a_port_that_cannot_be_had_is_named(port: int | None) -> None:
    with (
        served(Gauges(), 0) as taken,
        pytest.raises(SensewireError, match=rf":{port or taken}: .*right would be: a port"),
        served(Gauges(), port or taken),
    ):
        pass


def test_a_port_is_free_again_afterwards() -> None:
    with served(Gauges(), 0) as port:
        scraped(port)
    with served(Gauges(), port) as again:
        assert again == port


def test_spark_tells_of_a_stream(spark: "SparkSession") -> None:
    gauges = Gauges()
    ours = listener(gauges, NAME)
    spark.streams.addListener(ours)
    spark.conf.set(IDLE, "100ms")
    try:
        rows = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
        query = rows.writeStream.foreachBatch(_counted).queryName(NAME).start()
        try:
            until(lambda: (told := gauges.now().trigger) is not None and told.rows > 0)
            until(lambda: gauges.now().state == "idle")  # this source has rows once a second
            told = gauges.now().trigger
            assert told is not None
            assert {"triggerExecution", "addBatch", "walCommit"} <= told.seconds.keys()
            assert 0 < told.seconds["addBatch"] <= told.seconds["triggerExecution"] < 60
        finally:
            query.stop()
        until(lambda: gauges.now().state == "ended")
        assert gauges.now().error is None
    finally:
        spark.conf.unset(IDLE)
        spark.streams.removeListener(ours)


def test_spark_tells_why_a_stream_ended(spark: "SparkSession") -> None:
    gauges = Gauges()
    ours = listener(gauges, NAME)
    spark.streams.addListener(ours)
    try:
        rows = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
        other = rows.writeStream.foreachBatch(_counted).queryName("another").start()
        query = rows.writeStream.foreachBatch(_broken).queryName(NAME).start()
        other.stop()
        with pytest.raises(Exception, match="broken on purpose"):
            query.awaitTermination(60)
        until(lambda: gauges.now().state == "ended")
        assert "broken on purpose" in (gauges.now().error or "")
        later = rows.writeStream.foreachBatch(_counted).queryName("a later one").start()
        time.sleep(1)
        later.stop()
        assert gauges.now().state == "ended"
    finally:
        spark.streams.removeListener(ours)


def _counted(rows: "DataFrame", batch: int) -> None:
    rows.count()  # Spark counts the rows of a batch as they are read


def _broken(rows: "DataFrame", batch: int) -> None:
    raise ValueError("broken on purpose")
