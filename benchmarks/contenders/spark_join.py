"""A join-and-count plan of Spark SQL: what one would write without a matcher.

Events and subscriptions stand exploded in typed columns, before the clock runs:

    events     event, attribute, word or number                      Parquet
    equal      subscription, needed, attribute, word or number       a row for each choice of `in`
    ranges     subscription, needed, attribute, low, high
    others     subscription, needed, attribute, sign, word           !=, prefix and exists

    events ⋈ each of them   ──> hits ──> group by event, subscription: count = needed ──> Parquet

Equality is a hash join on attribute and value, the others one on attribute with a condition; the
subscriptions' side is broadcast. A record has one value for an attribute, and so a predicate is met
once at most. All is in whole numbers where ours has strings.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workloads.pairs import Numbers
from workloads.records import CHOICES, Operator, Records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SHUFFLED = "spark.sql.shuffle.partitions"
_TASKS_A_CORE = 3
_BELOW = (Operator.BELOW, Operator.AT_MOST)
_RANGES = (*_BELOW, Operator.ABOVE, Operator.AT_LEAST, Operator.BETWEEN)
_OTHERS = (Operator.UNEQUAL, Operator.PREFIX, Operator.EXISTS)


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The plan, with the subscriptions' side in Spark."""

    spark: "SparkSession"
    records: Records
    predicates: dict[str, "DataFrame"]

    @classmethod
    def of(cls, spark: "SparkSession", records: Records) -> "Join":
        """Explode the subscriptions and cache them."""
        made: dict[str, DataFrame] = {}
        for name, table in tables(records).items():
            made[name] = spark.createDataFrame(table).cache()
            made[name].count()
        return cls(spark, records, made)

    def match(self, count: int, folder: Path) -> tuple[float, Numbers, Numbers]:
        """Match the first events in a new folder: how long it took, and the pairs."""
        folder.mkdir(parents=True)
        source, out = folder / "exploded.parquet", folder / "joined"
        pq.write_table(exploded(self.records, count), source)
        with _shuffled(self.spark, self._tasks):
            began = perf_counter()
            self._plan(self.spark.read.parquet(str(source))).write.parquet(str(out))
            seconds = perf_counter() - began
        found = pq.read_table(out)
        event, subscription = (found.column(name).to_numpy() for name in found.column_names)
        return seconds, event.astype(np.int64), subscription.astype(np.int64)

    @property
    def _tasks(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism) * _TASKS_A_CORE

    def _plan(self, events: "DataFrame") -> "DataFrame":
        from pyspark.sql import functions as sql

        events = events.repartition(self._tasks, "event")
        words = events.where(events.word.isNotNull()).drop("number")
        numbers = events.where(events.number.isNotNull()).drop("word")
        asked = {name: sql.broadcast(table) for name, table in self.predicates.items()}
        other = asked["others"].withColumnRenamed("word", "said")
        ranges = asked["ranges"]
        inside = numbers.number.between(ranges.low, ranges.high)
        said = (
            ((other.sign == int(Operator.UNEQUAL)) & (events.word != other.said))
            | ((other.sign == int(Operator.PREFIX)) & events.word.startswith(other.said))
            | (other.sign == int(Operator.EXISTS))
        )
        joined = [
            words.join(asked["words"], ["attribute", "word"]),
            numbers.join(asked["numbers"], ["attribute", "number"]),
            numbers.join(ranges, (numbers.attribute == ranges.attribute) & inside),
            events.join(other, (events.attribute == other.attribute) & said),
        ]
        hits = [each.select("event", "subscription", "needed") for each in joined]
        met = hits[0].unionAll(hits[1]).unionAll(hits[2]).unionAll(hits[3])
        counted = met.groupBy("event", "subscription", "needed").count()
        return counted.where("count = needed").select("event", "subscription")


def tables(records: Records) -> dict[str, pa.Table]:
    """The subscriptions, exploded, as one table for each way to join them."""
    asked = records.asked
    assert not asked.negated.any(), "a plan that counts knows no negation"
    sizes = np.diff(asked.offsets)
    subscription = np.repeat(np.arange(len(sizes)), sizes)
    columns: dict[str, Any] = {  # Any: whole numbers of several widths
        "subscription": subscription.astype(np.int32),
        "needed": sizes[subscription],
        "attribute": asked.attribute,
    }
    operator, numeric = asked.operator, records.numeric[asked.attribute]

    def rows_of(*operators: Operator) -> Numbers:
        return np.flatnonzero(np.isin(operator, operators))

    def table(rows: Numbers, **more: Any) -> pa.Table:
        return pa.table({**{name: column[rows] for name, column in columns.items()}, **more})

    equal, chosen = rows_of(Operator.EQUAL), rows_of(Operator.IN)
    choices = asked.choices[chosen].ravel()
    rows = np.concatenate([equal, np.repeat(chosen, CHOICES)[choices >= 0]])
    values = np.concatenate([asked.value[equal], choices[choices >= 0]])
    of_numbers = numeric[rows]
    ranges, others = rows_of(*_RANGES), rows_of(*_OTHERS)
    return {
        "words": table(rows[~of_numbers], word=_words(values[~of_numbers])),
        "numbers": table(rows[of_numbers], number=values[of_numbers] / 4),
        "ranges": table(ranges, **_bounds(records, ranges)),
        "others": table(
            others, sign=operator[others].astype(np.int32), word=_said(records, others)
        ),
    }


def exploded(records: Records, count: int) -> pa.Table:
    """The first events, a row for each value."""
    events = records.events
    end = int(events.offsets[count])
    attribute, value = events.attribute[:end], events.value[:end]
    numeric = records.numeric[attribute]
    return pa.table(
        {
            "event": pa.array(np.repeat(np.arange(count), np.diff(events.offsets[: count + 1]))),
            "attribute": pa.array(attribute),
            "word": pa.array(_words(value), mask=numeric),
            "number": pa.array(value / 4, mask=~numeric),
        }
    )


def _words(codes: Any) -> list[str]:
    return [f"w{code:04}" for code in codes.tolist()]


def _bounds(records: Records, rows: Numbers) -> dict[str, Any]:
    """Both ends of each range, themselves inside."""
    asked, operator = records.asked, records.asked.operator[rows]
    low, high = asked.value[rows] / 4, asked.upper[rows] / 4
    low = np.where(np.isin(operator, _BELOW), -np.inf, low)
    low = np.where(operator == Operator.ABOVE, np.nextafter(low, np.inf), low)
    high = np.where(np.isin(operator, (Operator.ABOVE, Operator.AT_LEAST)), np.inf, high)
    high = np.where(operator == Operator.BELOW, np.nextafter(high, -np.inf), high)
    return {"low": low, "high": high}


def _said(records: Records, rows: Numbers) -> list[str]:
    """What a word is compared with: of a prefix without the digits that are left open."""
    asked = records.asked
    said = []
    for word, row in zip(_words(asked.value[rows]), rows.tolist(), strict=True):
        low, high = int(asked.value[row]), int(asked.upper[row])
        is_prefix = asked.operator[row] == Operator.PREFIX
        left_open = 1 if high - low < 10 and low // 10 == high // 10 else 2
        said.append(word[:-left_open] if is_prefix else word)
    return said


@contextmanager
def _shuffled(spark: "SparkSession", partitions: int) -> Iterator[None]:
    """As many partitions after a shuffle as cores have use for, not Spark's 200."""
    before = spark.conf.get(_SHUFFLED)
    spark.conf.set(_SHUFFLED, str(partitions))
    try:
        yield
    finally:
        assert before is not None
        spark.conf.set(_SHUFFLED, before)
