"""The index of a running stream: what is compiled, what came since, and the process that compiles.

    base v000003, change 40 ─────┬── increment 40 → 41 ── 41 → 47 ──► the pinned batch
    compiling v000004 (nice) ────┘   small, travels with the tasks

A batch gets the base that was newest when it began. When the compiling process ends well, the next
batch maps the new version, and the increments begin anew at its change.
"""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sensewire.events.decoding import Decoding, Wanted
from sensewire.events.kinds import Kind
from sensewire.events.record_portion import JSON, RecordPortion
from sensewire.match.layered import ENOUGH, UNPLANNED
from sensewire.model.folder import current_version
from sensewire.model.folder_writing import go_back
from sensewire.model.learned import load_learned
from sensewire.spark.arrivals import Arrived, Sort
from sensewire.spark.checkpoint import Checkpoint
from sensewire.spark.index import Shipped, shipped
from sensewire.spark.stream_match import At, matched_stream
from sensewire.store import failpoints
from sensewire.store.batches import Pin
from sensewire.store.database import LOG, VARIABLE, Store, head, microseconds
from sensewire.store.indexing import IndexVersion, compile_index, increment, newest, sample_of
from sensewire.store.knowing import knowledge_of
from sensewire.store.log import read
from sensewire.tenures import Increment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = 1_000
"""Subscriptions that come or go until the index is compiled anew; or a twentieth of what stands."""

_SHARE = 20
_SAMPLE = 4_096
_SAMPLED_A_TASK = 256
_PAUSE = 60.0  # seconds before compiling is tried again that failed

_TEXT: pa.DataType = pa.large_binary()

_logger = logging.getLogger(__name__)


class HotIndex:
    """The index that batches are matched by."""

    def __init__(
        self,
        store: Store,
        checkpoint: Checkpoint,
        order: str,
        spark: "SparkSession",
        clock: Callable[[], datetime],
        statistics: Path | None,
    ) -> None:
        self._store = store
        self._checkpoint = checkpoint
        self._order = order
        self._spark = spark
        self._clock = clock
        self._statistics = statistics
        self._base: IndexVersion | None = None
        self._shipped: Shipped | None = None
        self._increments: list[Increment] = []
        self._compiling: subprocess.Popen[bytes] | None = None
        self._not_before = 0.0
        self._sample: list[bytes] = []
        self._sent: TemporaryDirectory[str] | None = None  # what a cluster is sent

    @property
    def subscriptions(self) -> int:
        """How many are compiled."""
        return 0 if self._base is None else self._base.subscriptions

    @property
    def delta(self) -> int:
        """How many subscriptions came or went since."""
        return sum(each.count for each in self._increments)

    def prepare(self) -> None:
        """Have an index: the newest that was compiled, or one that is compiled now."""
        known = self._newest()
        if known is None:
            statistics = None
            if self._statistics is not None:
                statistics = load_learned(self._statistics)
            else:
                statistics = sample_of(self._logged(), self._clock())
            known = compile_index(
                self._store,
                self._checkpoint.query,
                self._checkpoint.index,
                self._order,
                self._clock(),
                statistics,
            )
        elif current_version(self._checkpoint.index) != known.version:
            # A compiler died before it told the store. Whoever compiles next keeps the version
            # before its own, and that must be the one that batches are matched by.
            go_back(self._checkpoint.index, known.version)
        self._swap(known)

    def open_in_workers(self, tasks: int, decoding: Decoding) -> None:
        """Have workers started, with the index mapped, before the first event waits for them."""
        assert self._base is not None
        assert self._shipped is not None
        at = At(self._shipped, self._base.change, (), self._base.change, bytes(16))
        rows = self._spark.range(tasks, numPartitions=tasks)
        matched_stream(rows, _one_record, at, decoding).collect()

    def _logged(self) -> list[bytes]:
        """Some records of the end of the log, for the planner."""
        with self._store.reading() as connection:
            last = head(connection, LOG)
            entries = read(connection, max(0, last - _SAMPLE), last, self._checkpoint.query)
            lines = [
                line
                for each in entries
                if each.entry.kind is Kind.LINES
                for line in each.entry.body.split(b"\n")
            ]
        return lines[-_SAMPLE:]

    def current(self, batch: int) -> str:
        """The version that a batch is pinned to: a new one, if its compiler has ended."""
        if self._compiling is not None and self._compiling.poll() is not None:
            process, self._compiling = self._compiling, None
            said = process.communicate()[1].decode(errors="replace")
            if process.returncode == 0:
                made = self._store.patiently(self._newest)
                failpoints.passed("swap", batch)
                if made is not None:
                    self._swap(made)
            else:
                _logger.warning("the index was not compiled anew: %s", said.strip()[-500:])
                self._not_before = time.monotonic() + _PAUSE
        assert self._base is not None
        return self._base.version

    def at(self, pinned: Pin, secret: bytes) -> At:
        """What tasks need to stand where a batch is pinned to."""
        assert self._base is not None
        assert self._shipped is not None
        known = self._increments[-1].upto if self._increments else self._base.change
        if pinned.change > known:
            self._increments.append(self._store.patiently(lambda: self._since(known, pinned)))
        return At(
            self._shipped,
            self._base.change,
            tuple(self._increments),
            pinned.change,
            secret,
            _SAMPLED_A_TASK if self._wants_sample else 0,
        )

    def _since(self, known: int, pinned: Pin) -> Increment:
        with self._store.reading() as connection:
            return increment(connection, known, pinned.change, self._order)

    @property
    def _wants_sample(self) -> bool:
        base = self._base
        return (
            base is not None
            and not base.planned
            and base.subscriptions + self.delta > UNPLANNED
            and len(self._sample) < _SAMPLE
        )

    def take_sample(self, sample: pa.Table) -> None:
        """Keep records for the planner."""
        raws: list[Any] = sample.column("raw").to_pylist()  # Any: Arrow says that one may be null
        self._sample.extend(raws)

    def compact_if_many(self) -> None:
        """Begin to compile anew, in a process of its own, if much has come since, or if by now it
        is known what events are like."""
        base = self._base
        if base is None or self._compiling is not None or time.monotonic() < self._not_before:
            return
        many = self.delta > max(MANY, base.subscriptions // _SHARE)
        knows = not base.planned and base.subscriptions > UNPLANNED and len(self._sample) >= ENOUGH
        if not many and not knows:
            return
        self._compiling = self._compiler()

    def _compiler(self) -> "subprocess.Popen[bytes]":
        command = [
            *(sys.executable, "-m", "sensewire.store.indexing"),
            *(self._checkpoint.query, str(self._checkpoint.index.absolute()), self._order),
            *("--now", str(microseconds(self._clock()))),
        ]
        if self._statistics is not None:
            command += ["--statistics", str(self._statistics)]
        else:
            if self._sample:
                lines = b"\n".join(line.replace(b"\n", b" ") for line in self._sample)
                self._checkpoint.sample.write_bytes(lines)
            if self._checkpoint.sample.exists():
                command += ["--sample", str(self._checkpoint.sample)]
        environment = {**os.environ, VARIABLE: self._store.url}
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def close(self) -> None:
        """End the process that compiles, if there is one: the next stream compiles."""
        if self._compiling is not None:
            self._compiling.terminate()
            self._compiling.communicate()
            self._compiling = None
        if self._sent is not None:
            self._sent.cleanup()
            self._sent = None

    def _newest(self) -> IndexVersion | None:
        """The newest index that is still there."""
        with self._store.reading() as connection:
            knowledge = knowledge_of(connection).version
            known = newest(connection, self._checkpoint.query, knowledge)
        if known is None or not (self._checkpoint.index / known.version).is_dir():
            return None
        return known

    def _swap(self, known: IndexVersion) -> None:
        if self._sent is None:
            self._sent = TemporaryDirectory(prefix="sensewire-index-")
        folder, place = self._checkpoint.index, Path(self._sent.name)
        self._shipped = shipped(self._spark, folder, place, shared=False, version=known.version)
        self._base = known
        self._increments = []
        self._sample = []


def _one_record(
    rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
) -> Iterator[Arrived]:
    """A record that nobody asks about, for each task."""
    for _ in rows:
        batch = pa.RecordBatch.from_pydict({JSON: [b"{}"]}, schema=pa.schema({JSON: _TEXT}))
        zero = np.zeros(1, np.int64)
        yield Arrived(RecordPortion(batch, "warm", zero), Sort(Kind.LINES), zero, zero)
