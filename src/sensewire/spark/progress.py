"""How far a Spark job is, told while it runs: counted by its tasks as they end."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

_SECONDS = 0.2


class Progress(NamedTuple):
    """How far a job is. A task that is tried again may be counted twice: it is no result."""

    share: float  # of the work, from 0 to 1
    events: int
    matches: int
    rejected: int
    seconds: float  # since the job began

    @property
    def seconds_left(self) -> float | None:
        """How long it may take still; None where nothing is known yet."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else None


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Counters:
    """Counts that tasks add to, of so much work."""

    work: "Accumulator[int]"
    events: "Accumulator[int]"
    matches: "Accumulator[int]"
    rejected: "Accumulator[int]"

    @classmethod
    def of(cls, spark: "SparkSession") -> "Counters":
        """New counters of a session."""
        return cls(*(spark.sparkContext.accumulator(0) for _ in range(4)))

    def add(self, work: int, counts: Mapping[str, int]) -> None:
        """Count what a task did; Spark tells the driver when the task has ended."""
        self.work.add(work)
        self.events.add(counts["events"])
        self.matches.add(counts["matches"])
        self.rejected.add(counts["rejected"])


@contextmanager
def reported(counters: Counters, total: int, report: Report | None) -> Iterator[None]:
    """Call `report` from a thread of its own, a few times a second, until the block ends."""
    if report is None:
        yield
        return
    ended = Event()
    thread = Thread(target=_watch, args=(counters, max(total, 1), report, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _watch(counters: Counters, total: int, report: Report, ended: Event) -> None:
    began = monotonic()
    last = False
    while not last:
        last = ended.wait(_SECONDS)
        report(
            Progress(
                min(counters.work.value / total, 1.0),
                counters.events.value,
                counters.matches.value,
                counters.rejected.value,
                monotonic() - began,
            )
        )
