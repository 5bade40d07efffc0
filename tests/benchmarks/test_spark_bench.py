"""The benchmark of the pipeline, in small: all contenders are right, and a wrong answer ends it.

Proved by breaking: ranges of the join that begin too high, a function by row that
leaves out a match, outputs with a pair left out, given twice or exchanged, ratios turned upside
down: each was caught.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spark as bench
from contenders.spark_join import exploded, tables
from contenders.spark_pipeline import Done, bare
from contenders.spark_rivals import JOIN, UDF, speed_in
from frame import LeftOut, Row, Settings, WrongAnswerError
from sensewire.engine import Engine
from spark import BARE, BY_JVM, ONE_CORE, PIPELINE, Effort, Prepared, PreparedGraphs
from workloads import event_files, graph_files, indexes, texts
from workloads.graph_gtopss import gtopss
from workloads.pairs import Pairs
from workloads.records import EQUALITY_ZIPF, Records, drawn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TINY = Effort(300, 64, 3, 1, 0.0, 64, 300, 64, 300, 5)
SETTINGS = Settings(quick=True, seed=1)


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """As `prepared` makes one, but for the process of its own that builds the index."""
    folder = tmp_path_factory.mktemp("bench")
    records = drawn(EQUALITY_ZIPF, TINY.size, TINY.drawn, 0, SETTINGS.seed)
    files = event_files.written(records, TINY.repeats, folder / "events")
    indexes.save_texts([*texts.subscriptions(records)], files.lines, folder / "index")
    pairs = Pairs.of(Engine.open(folder / "index"), records, TINY.checked)
    assert len(pairs.event) > 10
    return Prepared(records, files, folder / "index", pairs, folder)


def in_this_process(
    spark: "SparkSession",
    name: str,
    records: Records,
    pairs: Pairs,
    cores: int,
    seconds: float,
    folder: Path,
) -> float:
    """As `speed`, without a Spark of its own."""
    assert cores == bench.CORES
    return speed_in(spark, name, records, pairs, seconds, folder)


def rows_of(found: Iterator[Row | LeftOut]) -> list[Row]:
    return [each for each in found if isinstance(each, Row)]


@pytest.mark.long
def test_all_contenders_are_right(
    spark: "SparkSession", workload: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_FEW", 100)
    rows = list(bench.measured_start(spark, workload, SETTINGS))
    rows += rows_of(bench.measured_pipeline(spark, workload, SETTINGS, TINY))
    monkeypatch.setattr(bench, "speed", partial(in_this_process, spark))
    rows += bench.measured_rivals(workload, SETTINGS, TINY)
    found = {(row.workload, row.contender) for row in rows if row.metric == bench.CHARTED}
    formats = {f"equality Zipf, {format}" for format in workload.files.by_format}
    due = {(format, contender) for format in formats for contender in (BARE, PIPELINE)}
    due.add(("equality Zipf, packed rows", BY_JVM))
    due |= {("equality Zipf, JSON lines", contender) for contender in (JOIN, UDF)}
    assert found == due
    assert all(row.value > 0 for row in rows if not row.metric.startswith("processor"))


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> PreparedGraphs:
    """As `prepared_graphs` makes one, but for the process of its own that builds the index."""
    folder = tmp_path_factory.mktemp("graphs")
    drawn = gtopss(TINY.graphs, SETTINGS.seed)
    graph_files.written(drawn.events, 1, folder / "few.nq")
    events = graph_files.written(drawn.events, TINY.graph_repeats, folder / "events.nq")
    graph_files.save_workload(drawn, folder / "events.nq", folder / "index")
    pairs = Pairs.of_graphs(Engine.open(folder / "index"), drawn, TINY.checked)
    assert len(pairs.event) > 10
    few, file, index = (folder / name for name in ("few.nq", "events.nq", "index"))
    return PreparedGraphs(drawn.name, TINY.graphs, file, few, events, index, pairs, folder)


@pytest.mark.long
def test_the_pipeline_is_right_about_graphs(spark: "SparkSession", graphs: PreparedGraphs) -> None:
    rows = rows_of(bench.measured_graphs(spark, graphs, SETTINGS, TINY))
    found = {row.contender: row.value for row in rows if row.metric == bench.CHARTED}
    assert found.keys() == {BARE, PIPELINE}
    assert {row.workload for row in rows} == {"G-ToPSS, N-Quads"}


def test_graphs_are_repeated_with_new_ids(graphs: PreparedGraphs, tmp_path: Path) -> None:
    pairs = graphs.pairs
    assert bare(Engine.open(graphs.index), graphs.file) == Done(200, 5 * len(pairs.event))
    events, subscriptions = output(pairs, 5)
    named = [f"{graph_files.NAMED}{event}" for event in events]
    for given in (named, pa.array(named).dictionary_encode()):
        table = pa.table({"event": given, "subscription": subscriptions})
        pq.write_table(table, tmp_path / "part-0.parquet")
        pairs.check_output("somebody", tmp_path, graphs.events)
    subscriptions[5] = str(int(subscriptions[5]) + 1)
    table = pa.table({"event": named, "subscription": subscriptions})
    pq.write_table(table, tmp_path / "part-0.parquet")
    with pytest.raises(WrongAnswerError, match="somebody answers"):
        pairs.check_output("somebody", tmp_path, graphs.events)


def test_every_format_has_the_same_events(workload: Prepared) -> None:
    engine = Engine.open(workload.index)
    due = Done(192, workload.pairs.matches(192))
    assert due.matches == 3 * len(workload.pairs.event)
    assert [bare(engine, path) for path in workload.files.by_format.values()] == [due] * 3


def output(pairs: Pairs, repeats: int) -> tuple[list[str], list[str]]:
    """The right answer to repeated events."""
    events = [
        str(event + repeat * pairs.drawn)
        for repeat in range(repeats)
        for event in pairs.event.tolist()
    ]
    return events, [str(id) for id in pairs.subscription.tolist()] * repeats


@pytest.mark.parametrize("wrong", ["", "left out", "twice", "exchanged", "other event"])
def test_a_wrong_output_is_seen(workload: Prepared, tmp_path: Path, wrong: str) -> None:
    pairs = workload.pairs
    events, subscriptions = output(pairs, 3)
    match wrong:
        case "left out":
            del events[5], subscriptions[5]
        case "twice":
            events.append(events[5])
            subscriptions.append(subscriptions[5])
        case "exchanged":
            subscriptions[5] = str(int(subscriptions[5]) + 1)
        case "other event":
            events[5] = str(int(events[5]) + pairs.drawn)
    table = pa.table({"event": events, "subscription": subscriptions})
    pq.write_table(table, tmp_path / "part-0.parquet")
    if not wrong:
        pairs.check_output("somebody", tmp_path, 192)
        return
    with pytest.raises(WrongAnswerError, match="somebody answers"):
        pairs.check_output("somebody", tmp_path, 192)


def test_a_wrong_answer_to_the_first_events_is_seen(workload: Prepared) -> None:
    pairs = workload.pairs
    asked = pairs.event < 40
    event, subscription = pairs.event[asked], pairs.subscription[asked]
    pairs.check_first("somebody", event[::-1], subscription[::-1], 40)
    with pytest.raises(WrongAnswerError, match="somebody answers 40 events"):
        pairs.check_first("somebody", event[1:], subscription[1:], 40)


def test_what_is_exploded_is_all_there_is(workload: Prepared) -> None:
    records = workload.records
    found = tables(records)
    predicates = {
        (each["subscription"], each["attribute"])
        for table in found.values()
        for each in table.select(["subscription", "attribute"]).to_pylist()
    }
    assert len(predicates) == len(records.asked.attribute)
    table = exploded(records, 10)
    assert table.num_rows == records.events.offsets[10]
    assert table.column("word").null_count + table.column("number").null_count == table.num_rows
    assert np.unique(table.column("event").to_numpy()).tolist() == [*range(10)]


def test_ratios_follow_from_rates() -> None:
    def rate(contender: str, value: float) -> Row:
        return Row("words, JSON lines", 10, contender, bench.CHARTED, value, "events/s")

    rates = {BARE: 500.0, PIPELINE: 800.0, ONE_CORE: 400.0, JOIN: 4.0, UDF: 8.0}
    rows = [rate(contender, value) for contender, value in rates.items()]
    rows.append(replace(rows[1], metric="job", value=3.0))
    found = {(row.contender, row.metric): row.value for row in bench.derived(rows)}
    assert found == {
        (PIPELINE, "match, over 2 × bare engine"): 0.8,
        (PIPELINE, "two cores over one"): 2.0,
        (PIPELINE, "match, over Spark SQL"): 200.0,
        (PIPELINE, "match, over a Python function by row"): 100.0,
    }
