"""A Python function for each row: our plain counting matcher in a column of Spark SQL.

    lines of JSON ──> udf(line) → ids of subscriptions ──> Parquet

Every worker builds its engine once, before the clock runs, and asks it about one line at a time:
what one writes first. It is our matcher in plain Python, not the compiled one.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from frame import FOLDER
from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.model.event import Event
from workloads import texts
from workloads.event_files import ID, numbered
from workloads.pairs import Numbers
from workloads.records import Records

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_TASKS_A_CORE = 4


@dataclass(frozen=True, slots=True, eq=False)
class RowByRow:
    """The function, in workers that have their engine."""

    spark: "SparkSession"
    lines: list[bytes]
    subscriptions: Path

    @classmethod
    def of(cls, spark: "SparkSession", records: Records, folder: Path) -> "RowByRow":
        """Let every worker build its engine."""
        path = folder / "subscriptions.txt"
        path.write_text("".join(f"{text}\n" for text in texts.subscriptions(records)))
        made = cls(spark, numbered(texts.as_lines(records, records.events)), path)
        cores = int(spark.sparkContext.defaultParallelism)
        # As many tasks as workers, at the same time: no worker gets two.
        lines = spark.range(0, cores, 1, cores).selectExpr("'{}' as value")
        lines.select(made._answer("value")).collect()
        return made

    def match(self, count: int, folder: Path) -> tuple[float, Numbers, Numbers]:
        """Match the first events in a new folder: how long it took, and the pairs."""
        folder.mkdir(parents=True)
        source, out = folder / "lines.jsonl", folder / "answered"
        source.write_bytes(b"".join(self.lines[:count]))
        tasks = int(self.spark.sparkContext.defaultParallelism) * _TASKS_A_CORE
        began = perf_counter()
        lines = self.spark.read.text(str(source)).repartition(tasks)
        lines.select("value", self._answer("value").alias("found")).write.parquet(str(out))
        seconds = perf_counter() - began
        return seconds, *_pairs(pq.read_table(out))

    def _answer(self, column: str) -> "Column":
        from pyspark.sql.functions import udf

        folder, subscriptions = str(FOLDER), str(self.subscriptions)

        def answer(line: str) -> list[str]:
            import sys

            if folder not in sys.path:  # workers do not know the benchmarks
                sys.path.insert(0, folder)
            from contenders.spark_udf import answered

            return answered(line, subscriptions)

        return udf(answer, "array<string>", useArrow=False)(column)


def answered(line: str, subscriptions: str) -> list[str]:
    """The ids of the subscriptions that a line matches."""
    record = orjson.loads(line)
    record.pop(ID, None)
    found = _engine(subscriptions).match(Event.record(record))
    return [match.subscription for match in found]


@lru_cache(maxsize=1)
def _engine(subscriptions: str) -> Engine:
    """The engine of a file of subscriptions, once a process; ids are the lines' numbers from 0."""
    engine = Engine(matcher="counting")
    with Path(subscriptions).open() as file:
        for number, text in enumerate(file):
            engine.add(parse(text.strip()), id=str(number))
    return engine


def _pairs(table: pa.Table) -> tuple[Numbers, Numbers]:
    rows = table.to_pylist()
    events = [int(orjson.loads(row["value"])[ID]) for row in rows]
    counts = [len(row["found"]) for row in rows]
    subscriptions = [int(id) for row in rows for id in row["found"]]
    return np.repeat(np.array(events, np.int64), counts), np.array(subscriptions, np.int64)
