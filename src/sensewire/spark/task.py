"""One try of a task: its files, its counts, and the row that says what it did."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import pyarrow as pa

from sensewire.events.locations import Location
from sensewire.spark import failpoints
from sensewire.spark.outcomes import Outcomes
from sensewire.spark.progress import Counters
from sensewire.spark.schema import DONE
from sensewire.spark.writing import Files

Seen = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Writing:
    """Where tasks write their files, and as what."""

    draft: Location
    format: str


def is_again() -> bool:
    """Whether the task that runs here was tried before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


class Task:
    """What this try of a task has done so far."""

    def __init__(self, writing: Writing, counters: Counters | None) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        self.number = 0 if context is None else context.partitionId()
        self.is_again = is_again()
        self._files = Files(writing.draft, writing.format, self.number)
        self._counters = counters
        self._counts: Counter[str] = Counter()
        self._seen: dict[str, Counter[str]] = {}

    def add(self, outcomes: Outcomes, *, counts_events: bool = True) -> None:
        """Take what came of some events; they may have been counted before."""
        self._files.add(outcomes)
        self._counts["events"] += outcomes.events if counts_events else 0
        self._counts["matches"] += outcomes.matches.num_rows
        self._counts["rejected"] += len(outcomes.rejected)
        self._counts["failed"] += outcomes.failed.num_rows
        if counts_events:
            for kind, counts in outcomes.seen.items():
                self._seen.setdefault(kind, Counter()).update(counts)

    def __enter__(self) -> "Task":
        failpoints.begun()
        self._files.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.__exit__(kind, error, trace)
        pa.default_memory_pool().release_unused()  # the worker waits now, perhaps for long

    def done(self, weight: int) -> pa.RecordBatch:
        """The row that says what was done, once all files are closed."""
        failpoints.written(is_again=self.is_again)
        counts = {name: self._counts[name] for name in ("events", "matches", "rejected", "failed")}
        if self._counters is not None:
            self._counters.add(weight, counts)
        row = {**counts, "files": self._files.names, "seen": json.dumps(self._seen)}
        return pa.RecordBatch.from_pylist([row], schema=DONE)
