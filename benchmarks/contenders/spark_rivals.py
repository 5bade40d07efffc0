"""What one would write without the pipeline: how fast it is, in a Spark of its own.

Each runs in a process of its own, with the JVM that Spark starts by itself: its optimising compiler
and its collector, which our own sessions do without, are what such plans live on.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from contenders.spark_join import Join
from contenders.spark_udf import RowByRow
from sensewire.spark.session import JAVA_OPTIONS, spark_session
from workloads.pairs import Numbers, Pairs
from workloads.records import Records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOIN = "Spark SQL, join and count"
UDF = "Python function by row, counting"
_FIRST = 64  # events that it is asked about first
_WHOLE_JVM = "-XX:TieredStopAtLevel=4 -XX:+UseG1GC"


class Rival(Protocol):
    """A slow contender: how long the first events take, and the pairs that it finds."""

    def match(self, count: int, folder: Path) -> tuple[float, Numbers, Numbers]: ...


def speed(
    name: str, records: Records, pairs: Pairs, cores: int, seconds: float, folder: Path
) -> float:
    """Events a second, on as many events as take about so long; each answer checked."""
    context = get_context("spawn")  # a JVM is started with its options, and once a process
    with ProcessPoolExecutor(1, mp_context=context) as one:
        return one.submit(_speed, name, records, pairs, cores, seconds, folder).result()


def _speed(
    name: str, records: Records, pairs: Pairs, cores: int, seconds: float, folder: Path
) -> float:
    spark = spark_session(master=f"local[{cores}]", settings={JAVA_OPTIONS: _WHOLE_JVM})
    found = speed_in(spark, name, records, pairs, seconds, folder)
    spark.stop()
    return found


def speed_in(
    spark: "SparkSession", name: str, records: Records, pairs: Pairs, seconds: float, folder: Path
) -> float:
    """The same, in a session."""
    folder.mkdir()
    rival: Rival
    rival = Join.of(spark, records) if name == JOIN else RowByRow.of(spark, records, folder)
    count = min(_FIRST, pairs.drawn)
    rival.match(count, folder / "warm")
    while True:
        took, event, subscription = rival.match(count, folder / str(count))
        pairs.check_first(name, event, subscription, count)
        if took >= seconds / 2 or count == pairs.drawn:
            return count / took
        count = min(pairs.drawn, max(2 * count, int(count * seconds / took)))
