"""The event log as a source of Spark's: a streaming data source in Python, with admission control.

Its rows are numbers between which to read, not events: workers read the log themselves. An offset
is the number up to which all is read. The source that reads what is for one query only serves
streams that have their events from elsewhere: dead letters that somebody had published again.

Spark asks in processes of their own, which import this module when they start: so it is light.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from sensewire.spark.daemon import quiet_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.dataframe import DataFrame

NAME = "sensewire-log"
SCHEMA = "after long, upto long"

_POSITION = "position"
_RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"  # the process that is asked
_DAEMON = "pyspark.daemon"  # from which the processes are forked that plan
_LOOKING = f"{_DAEMON} pyspark.sql.worker.lookup_data_sources"
_SPLIT_FROM = 4_096
"""Events of a batch that are worth a second task."""


class Between(InputPartition):
    """What one task reads."""

    def __init__(self, after: int, upto: int) -> None:
        self.after = after
        self.upto = upto


class LogStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a log, from its begin."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._url = options["store"]
        self._most = int(options["most"])
        self._tasks = int(options["tasks"])
        self._query = options.get("query")  # the only one that entries are read for
        self._target: int | None = None

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self.reportLatestOffset()[_POSITION]

    def initialOffset(self) -> dict[str, int]:
        return {_POSITION: 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        from sqlalchemy import func, select

        from sensewire.store import schema
        from sensewire.store.database import LOG, head, opened_store
        from sensewire.store.log import end_after

        after = start[_POSITION]
        store = opened_store(self._url)
        is_limited = isinstance(limit, ReadMaxRows)

        def end() -> int:
            with store.reading() as connection:
                if self._query is not None:
                    table = schema.log
                    mine = select(func.max(table.c.last)).where(table.c.query == self._query)
                    found = connection.execute(mine.where(table.c.last > after)).scalar()
                    return after if found is None else int(found)
                if not is_limited:
                    return head(connection, LOG)
                return end_after(connection, after, limit.max_rows)  # type: ignore[attr-defined]

        found = store.patiently(end)
        return {_POSITION: max(after, found if self._target is None else min(found, self._target))}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._most) if self._most else ReadAllAvailable()

    def reportLatestOffset(self) -> dict[str, int]:
        from sensewire.store.database import LOG, head, opened_store

        store = opened_store(self._url)

        def last() -> int:
            with store.reading() as connection:
                return head(connection, LOG)

        return {_POSITION: store.patiently(last)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        after, upto = start[_POSITION], end[_POSITION]
        if after >= upto:
            return []
        if upto - after < _SPLIT_FROM or self._query is not None:
            return [Between(after, upto)]
        from sensewire.store.database import opened_store
        from sensewire.store.log import cut

        store = opened_store(self._url)

        def parts() -> list[tuple[int, int]]:
            with store.reading() as connection:
                return cut(connection, after, upto, self._tasks)

        return [Between(*part) for part in store.patiently(parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Between)
        yield pa.RecordBatch.from_pydict({"after": [partition.after], "upto": [partition.upto]})


class LogSource(DataSource):
    """The log of a store."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: Any) -> LogStream:
        return LogStream(self.options)


def _end_quietly() -> None:
    """In a process of Spark's: end without a word when Spark has closed the connection.

    So it does when a stream ends, and a minute after it has planned one. A traceback would stand on
    the user's terminal, each time or if we are fast enough.
    """
    spec = sys.modules["__main__"].__spec__
    if spec is not None and spec.name == _RUNNER:
        sys.excepthook = _tell_unless_left
    if spec is not None and spec.name == _DAEMON:
        quiet_workers(sys.modules["__main__"])


def _tell_unless_left(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if not isinstance(error, ConnectionError):
        sys.__excepthook__(kind, error, trace)


_end_quietly()


def log_table(
    spark: "SparkSession", url: str, *, most: int, tasks: int, query: str | None = None
) -> "DataFrame":
    """A streaming table of the log: of all of it, or of what is for one query."""
    spark.dataSource.register(LogSource)
    options = {"store": url, "most": str(most), "tasks": str(tasks)}
    if query is not None:
        options["query"] = query
    table = spark.readStream.format(NAME).options(**options).load()
    _end_search(spark)
    return table


def _end_search(spark: "SparkSession") -> None:
    """End the process in which Spark has looked for sources that it does not know, as it does once:
    ours is not imported there, and so it would not end quietly."""
    from py4j.protocol import Py4JError

    jvm: Any = spark.sparkContext._jvm
    with suppress(Py4JError):  # what is left behind harms nobody
        for daemon in jvm.java.lang.ProcessHandle.current().children().toArray():
            if _LOOKING in daemon.info().commandLine().orElse(""):
                for worker in daemon.children().toArray():
                    worker.destroyForcibly()
