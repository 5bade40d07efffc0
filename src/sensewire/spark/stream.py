"""The streaming job: what arrives, matched in micro-batches by what stands, exactly once.

    source ──> rows ──> pin ──────────────> match ──────────> commit ──────────────> Spark's commit
    log, folder,        (query, batch)      stream_match      one transaction: events,
    kafka               → index, change     in workers        notifications, ledger, done

A batch is pinned before it is matched, and committed once: after a crash Spark hands out the same
batch again, which is then matched as before, or found to be done. New subscriptions and cancelled
ones travel with the next batch (`tenures.Increment`); when many have gathered, a process compiles
the index anew (`store.indexing`), and the batch after that maps it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import arrived
from sensewire.events.locations import Location, location
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.spark.arrivals import FileReader, LogReader, MessageReader, Reader
from sensewire.spark.checkpoint import Checkpoint, checkpoint_at, held
from sensewire.spark.failures import JvmEndedError, gist, spark_errors
from sensewire.spark.gauges import BatchDone, Gauges, listener
from sensewire.spark.hot import HotIndex
from sensewire.spark.ingest import sliced
from sensewire.spark.session import JAVA_OPTIONS
from sensewire.spark.sinks import DeltaSink, MessageSink, Names, ParquetSink, Sink, told_of
from sensewire.spark.source import log_table
from sensewire.spark.stream_match import founds_in, matched_stream
from sensewire.spark.stream_places import (
    FromFolder,
    FromKafka,
    FromLog,
    Source,
    Target,
    ToFiles,
    ToKafka,
    ToTable,
    check_folder,
)
from sensewire.store import failpoints
from sensewire.store.batches import Fresh, Pin, commit, pin
from sensewire.store.database import LOG, Store, head, microseconds, open_store
from sensewire.store.indexing import CHANGE_ORDER, LOG_ORDER
from sensewire.store.knowing import know
from sensewire.store.ledger import REMEMBERED, Ledger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MOST = 50_000
"""Events of a batch, unless the user says otherwise."""

_LOOK = 0.2  # seconds
_PATIENCE = 30.0  # seconds
_FILES = "path string, modificationTime timestamp, length long, content binary"  # as Spark has it
_CHECKPOINTS = "spark.sql.streaming.checkpointFileManagerClass"
# Spark's own for file systems without a rename that fails where something is: a stream has one
# writer, and it takes 18 ms a file where the other takes 75.
_QUICK_CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
_TABLE = "table"


@dataclass(frozen=True, slots=True)
class StreamJob:
    """What a stream reads, by what it matches, and where it delivers."""

    store: str
    checkpoint: Path
    source: Source
    target: Target
    trigger: str = "0 seconds"
    """How often a batch begins; `available-now`: until all that is there now is matched."""
    knowledge: tuple[Path, ...] | None = None
    """None: what the store knows already."""
    id_field: str | None = "id"
    time_field: str | None = None
    max_event_bytes: int = LONGEST_EVENT
    most: int = MOST
    remember: int = REMEMBERED
    statistics: Path | None = None


class Stream:
    """A stream that runs; `stop` lets the batch end that it is in."""

    def __init__(
        self,
        job: StreamJob,
        store: Store,
        checkpoint: Checkpoint,
        spark: "SparkSession",
        gauges: Gauges,
        clock: Callable[[], datetime],
    ) -> None:
        self._job = job
        self._store = store
        self._query_id = checkpoint.query
        self._checkpoint = checkpoint
        self._spark = spark
        self._gauges = gauges
        self._clock = clock
        self._tasks = spark.sparkContext.defaultParallelism
        order = LOG_ORDER if isinstance(job.source, FromLog) else CHANGE_ORDER
        self._hot = HotIndex(store, checkpoint, order, spark, clock, job.statistics)
        self._sink = _sink(job.target, checkpoint.query)
        self._ledger = Ledger(_TABLE if self._sink is None else checkpoint.query, job.remember)
        self._names = Names(store)
        self._secret = store.secret
        self._decoding = Decoding(clock(), job.id_field, job.time_field, job.max_event_bytes)
        self._error: BaseException | None = None
        self._stopping = threading.Event()
        self._in_batch = threading.Lock()
        self._query: StreamingQuery | None = None

    def start(self) -> None:
        """Compile the index if there is none, let workers map it, and begin."""
        self._hot.prepare()
        # Workers start while Spark asks for the source, which is another process's work.
        with ThreadPoolExecutor(1) as beside:
            opening = beside.submit(self._hot.open_in_workers, self._tasks, self._decoding)
            self._begin()
            opening.result()

    def _begin(self) -> None:
        writer = self._arriving().writeStream.foreachBatch(self._each).queryName(self._query_id)
        writer = writer.option("checkpointLocation", self._checkpoint.spark.absolute().as_uri())
        if self._job.trigger == "available-now":
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(processingTime=self._job.trigger)
        if self._spark.conf.get(_CHECKPOINTS, None) is None:
            self._spark.conf.set(_CHECKPOINTS, _QUICK_CHECKPOINTS)
        self._query = writer.start()
        self._wait_for_source()

    def _wait_for_source(self) -> None:
        """Wait until the source was asked for the first time: the process that answers is slow to
        start, and what is published meanwhile would wait for it."""
        assert self._query is not None
        until = time.monotonic() + _PATIENCE
        while self._query.isActive and time.monotonic() < until:
            status = self._query.status
            if status["isDataAvailable"] or status["message"].startswith("Waiting"):
                return
            time.sleep(_LOOK / 4)

    def wait(self) -> None:
        """Wait until the stream ends, or is to stop; its error, if it has one, is raised."""
        assert self._query is not None
        with spark_errors():
            while self._query.isActive and not self._stopping.wait(_LOOK):
                pass
            self.stop()
            failed = self._query.exception()
        if self._error is not None:
            raise self._error
        if failed is not None and not self._stopping.is_set():
            raise _failure(str(failed), self._checkpoint)

    def ask_to_stop(self) -> None:
        """Let `wait` return when the running batch has ended; from any thread, or a signal."""
        self._stopping.set()

    def stop(self) -> None:
        """End when the running batch has ended; what comes later waits for the next start."""
        try:
            if self._query is not None and self._query.isActive:
                self._stopping.set()
                with self._in_batch:  # one that begins later comes again, and Spark hears of it
                    pass
                self._query.stop()
        finally:
            self._hot.close()
            if self._sink is not None:
                self._sink.close()
                self._sink = None

    def _arriving(self) -> "DataFrame":
        """The streaming table of what arrives; and, from elsewhere than the log, dead letters that
        come again."""
        url, job = self._store.url, self._job
        if isinstance(job.source, FromLog):
            return log_table(self._spark, url, most=job.most, tasks=self._tasks)
        again = log_table(self._spark, url, most=0, tasks=1, query=self._query_id)
        if isinstance(job.source, FromFolder):
            files = self._spark.readStream.format("binaryFile").schema(_FILES)
            folder = Path(job.source.path).resolve().as_uri()
            arriving = files.option("recursiveFileLookup", "true").load(folder).select("path")
        else:
            from sensewire.spark.kafka import kafka_table

            arriving = kafka_table(self._spark, job.source.servers, job.source.topic, job.most)
        return arriving.unionByName(again, allowMissingColumns=True)

    def _each(self, rows: "DataFrame", batch: int) -> None:
        with self._in_batch:
            if self._stopping.is_set():
                raise SensewireError("the stream is stopping; this batch comes again")
            try:
                self._batch(rows, batch)
            except BaseException as error:
                self._error = self._error or _ours(error)
                raise

    def _batch(self, rows: "DataFrame", batch: int) -> None:
        begin = time.monotonic()
        self._checkpoint.make_last(batch)
        version = self._hot.current(batch)
        pinned = self._store.patiently(
            lambda: pin(self._store, self._query_id, batch, version, self._clock())
        )
        if pinned.done:
            return
        at = self._hot.at(pinned, self._secret)
        table, reader, rejected = self._read(rows, pinned)
        tasks = matched_stream(table, reader, at, self._decoding).collect()
        failpoints.passed("sink", batch)
        found = founds_in(tasks, rejected)
        upto = max((row["upto"] for row in tasks if row["upto"] is not None), default=None)
        self._hot.take_sample(found.sample)
        committed = self._store.patiently(
            lambda: commit(
                self._store,
                pinned,
                found,
                self._ledger,
                self._clock(),
                position=upto,
                deliver=None if self._sink is None else partial(self._deliver, self._sink, batch),
            )
        )
        if committed is not None:
            oldest = min(
                (row["oldest"] for row in tasks if row["oldest"] is not None), default=None
            )
            self._gauges.note(
                BatchDone(
                    batch,
                    committed.events,
                    committed.matches,
                    committed.repeats,
                    committed.rejected,
                    committed.failed,
                    time.monotonic() - begin,
                    self._lag(upto),
                    at.index.version,
                    self._hot.subscriptions,
                    self._hot.delta,
                    None if oldest is None else (microseconds(self._clock()) - oldest) / 1e6,
                )
            )
        self._hot.compact_if_many()

    def _deliver(self, sink: Sink, batch: int, new: Fresh) -> None:
        sink.deliver(batch, told_of(new, self._names))

    def _read(
        self, rows: "DataFrame", pinned: Pin
    ) -> tuple["DataFrame", Reader, Sequence[Rejected]]:
        """The rows of a batch, who makes events of them, and what is none to begin with."""
        is_log = isinstance(self._job.source, FromLog)
        log = LogReader(self._store.url, self._query_id, only=not is_log)
        match self._job.source:
            case FromLog():
                return rows, log, ()
            case FromKafka(_, _, kind, suffix):
                return rows, MessageReader(kind, suffix, log), ()
            case FromFolder(path):
                table, rejected = self._files(rows, path)
                return table, FileReader(pinned.now, log), rejected

    def _files(self, rows: "DataFrame", path: str) -> tuple["DataFrame", Sequence[Rejected]]:
        """The files of a batch as slices, and what comes again beside them."""
        found = rows.collect()
        folder = location(path)
        paths = [_below(folder, row["path"]) for row in found if row["path"] is not None]
        files = arrived(folder, paths)
        slices = sliced(self._spark, files.files, None)
        again = [(row["after"], row["upto"]) for row in found if row["upto"] is not None]
        table = self._spark.createDataFrame(again, "after long, upto long")
        return slices.unionByName(table, allowMissingColumns=True), files.rejected

    def _lag(self, upto: int | None) -> int | None:
        if upto is None or not isinstance(self._job.source, FromLog):
            return None

        def last() -> int:
            with self._store.reading() as connection:
                return head(connection, LOG)

        return self._store.patiently(last) - upto


def stream_settings(job: StreamJob, given: dict[str, str]) -> dict[str, str]:
    """The settings of a stream's session, beyond those of every job."""
    # A batch that is interrupted is told by an error with a long text, which Spark searches with a
    # pattern that recurs at every character.
    options = " ".join(part for part in ("-Xss16m", given.get(JAVA_OPTIONS, "")) if part)
    settings = {**given, JAVA_OPTIONS: options}
    if isinstance(job.source, FromKafka):
        from sensewire.spark.kafka import kafka_settings

        return kafka_settings(settings)
    return settings


@contextmanager
def streaming(
    job: StreamJob,
    session: Callable[[], "SparkSession"],
    gauges: Gauges,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    master: str | None = None,
) -> Iterator[Stream]:
    """A stream that has begun; it is stopped when the block ends.

    Where it is known which master the session will have, what cannot work with it is said before
    that starts.
    """
    if isinstance(job.source, FromFolder):
        check_folder(job.source)
    store = open_store(job.store)
    try:
        if job.knowledge is not None:
            know(store, Knowledge.load(*job.knowledge), clock())
        checkpoint = checkpoint_at(job.checkpoint, store, job.source, job.target)
        if master is not None:
            _check_reach(master, store)
        with held(checkpoint):
            spark = session()
            _check_reach(str(spark.sparkContext.master), store)
            heard = listener(gauges, checkpoint.query)
            spark.streams.addListener(heard)
            stream = Stream(job, store, checkpoint, spark, gauges, clock)
            try:
                with spark_errors():
                    stream.start()
                yield stream
            finally:
                with suppress(JvmEndedError), spark_errors():  # which was told before
                    stream.stop()
                    spark.streams.removeListener(heard)
    finally:
        store.close()


def _check_reach(master: str, store: Store) -> None:
    if store.is_local and not master.startswith("local"):
        raise SensewireError(
            f"the store {store.name} is a file of this machine, which the workers of {master} "
            "cannot read; right would be postgresql://…, or --master local[*]"
        )


def _sink(target: Target, query: str) -> Sink | None:
    match target:
        case ToTable():
            return None
        case ToFiles("delta", path):
            return DeltaSink(path, query)
        case ToFiles(_, path):
            return ParquetSink(path, query)
        case ToKafka(servers, topic):
            return MessageSink(servers, topic, query)


def _below(folder: Location, address: str) -> str:
    """The path under a folder of a file that Spark names by an address."""
    path = unquote(urlsplit(address).path)
    begin = Path(folder.text).resolve() if folder.is_local else Path(urlsplit(folder.text).path)
    return Path(path).relative_to(begin).as_posix()


def _failure(text: str, checkpoint: Checkpoint) -> SensewireError:
    """Why Spark ended a stream, outside of our own part of a batch."""
    if "No space left" in text:  # where all is that Spark writes of its own
        return SensewireError(
            f"--checkpoint {checkpoint.folder} cannot be written: No space left on device; make "
            "room and start again: what was acknowledged is there"
        )
    return SensewireError(f"the stream failed: {_reason(text)}")


def _ours(error: BaseException) -> BaseException:
    """An error as people should see it."""
    if isinstance(error, SensewireError):
        return error
    return SensewireError(f"the stream failed: {_reason(str(error))}")


def _reason(text: str) -> str:
    from sensewire.spark.kafka import kafka_reason

    return kafka_reason(text) or gist(text)
