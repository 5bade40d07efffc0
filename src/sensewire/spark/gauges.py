"""What a running stream tells about itself: counted batch by batch, read by whoever asks.

    the batch's own code --note()-->          +--now()--> the line on the terminal
    Spark's listener ----progress(), ...--> Gauges
                                              +--now()--> /metrics, whenever it is scraped

Invariant: a number is kept in one place, the reading, which is replaced as a whole under a lock; so
no reader sees half of a batch, and a scrape changes nothing. All is counted from the start of this
process. O(1) per batch; it keeps the batches of the last ten seconds, for the rates.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Literal

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from prometheus_client import Metric
    from prometheus_client.registry import Collector
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
        StreamingQueryListener,
    )

WINDOW = 10.0
"""The seconds that a rate is taken over; two batches, where those last longer."""

BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""The seconds that batches are sorted by; there is one more for what lasts longer."""

State = Literal["waiting", "running", "idle", "ended"]


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A batch that was committed."""

    batch: int
    events: int
    matches: int
    repeats: int
    rejected: int
    failed: int
    seconds: float  # from its begin to its commit
    lag: int | None  # events of the log that are not matched yet; None where the source can't say
    version: str  # of the index
    subscriptions: int
    delta: int  # changes of subscriptions since the index was compiled
    latest: float | None  # seconds from the append of its oldest event to the commit


@dataclass(frozen=True, slots=True)
class Trigger:
    """What Spark says of a batch: the rows that it read, the seconds that each phase took."""

    batch: int
    rows: int
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """A stream at one moment: totals, rates, and the last batch as it was told."""

    state: State = "waiting"
    error: str | None = None  # that ended it
    restarts: int = 0
    batches: int = 0
    events: int = 0
    matches: int = 0
    repeats: int = 0
    rejected: int = 0
    failed: int = 0
    seconds: float = 0.0  # of all batches
    durations: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)  # batches by BUCKETS
    events_per_second: float = 0.0
    matches_per_second: float = 0.0
    last: BatchDone | None = None
    trigger: Trigger | None = None


class Gauges:
    """Counts what a stream does. Any thread may tell, and any may read.

    >>> seconds = iter([100.0, 104.0])
    >>> gauges = Gauges(clock=lambda: next(seconds))
    >>> gauges.note(BatchDone(0, 500, 900, 0, 1, 0, 1.0, 20, "v000001", 7, 0, None))
    >>> reading = gauges.now()
    >>> reading.events, reading.events_per_second, reading.last.lag
    (500, 100.0, 20)
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._reading = Reading()
        self._starts = 0
        self._began: float | None = None  # the first batch
        self._recent: deque[tuple[float, BatchDone]] = deque()

    def note(self, done: BatchDone) -> None:
        """A batch was committed, just now."""
        with self._lock:
            now = self._clock()
            if self._began is None:
                self._began = now - done.seconds
            self._recent.append((now, done))
            was = self._reading
            bucket = bisect_left(BUCKETS, done.seconds)
            self._reading = replace(
                was,
                state="running",
                batches=was.batches + 1,
                events=was.events + done.events,
                matches=was.matches + done.matches,
                repeats=was.repeats + done.repeats,
                rejected=was.rejected + done.rejected,
                failed=was.failed + done.failed,
                seconds=was.seconds + done.seconds,
                durations=tuple(n + (at == bucket) for at, n in enumerate(was.durations)),
                last=done,
            )
            self._forget(now)

    def started(self) -> None:
        """The stream was started; each time but the first is a restart."""
        with self._lock:
            self._starts += 1
            restarts = self._starts - 1
            self._reading = replace(self._reading, state="running", error=None, restarts=restarts)

    def progress(self, trigger: Trigger) -> None:
        """Spark told of a batch."""
        with self._lock:
            self._reading = replace(self._reading, state="running", trigger=trigger)

    def idle(self) -> None:
        """There is nothing to match."""
        with self._lock:
            self._reading = replace(self._reading, state="idle")

    def ended(self, error: str | None) -> None:
        """The stream was stopped, or an error ended it."""
        with self._lock:
            self._reading = replace(self._reading, state="ended", error=error)

    def now(self) -> Reading:
        """All that is known, with the rates up to now."""
        with self._lock:
            now = self._clock()
            window = self._forget(now)
            if not self._recent or self._began is None:
                return self._reading
            # A stream that is younger than the window is measured from its begin. Two batches of
            # one instant have no rate: one that is too small is better than one without end.
            seconds = max(min(window, now - self._began), 1e-3)
            return replace(
                self._reading,
                events_per_second=sum(done.events for _, done in self._recent) / seconds,
                matches_per_second=sum(done.matches for _, done in self._recent) / seconds,
            )

    def _forget(self, now: float) -> float:
        """Drop the batches that ended before the window began; how long the window is."""
        last = self._reading.last
        window = max(WINDOW, 2 * last.seconds if last is not None else 0.0)
        while self._recent and self._recent[0][0] <= now - window:
            self._recent.popleft()
        return window


def listener(gauges: Gauges, name: str) -> "StreamingQueryListener":
    """What tells `gauges` of the stream of that name, for `spark.streams.addListener`.

    A session may have others, and tells of an end when the next has begun.
    """
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        run: object = None

        def onQueryStarted(self, event: "QueryStartedEvent") -> None:  # noqa: N802 - Spark's names
            if event.name == name:
                self.run = event.runId
                gauges.started()

        def onQueryProgress(self, event: "QueryProgressEvent") -> None:  # noqa: N802
            told = event.progress
            if told.runId == self.run:
                seconds = {phase: ms / 1000 for phase, ms in told.durationMs.items()}
                gauges.progress(Trigger(told.batchId, told.numInputRows, seconds))

        def onQueryIdle(self, event: "QueryIdleEvent") -> None:  # noqa: N802
            if event.runId == self.run:
                gauges.idle()

        def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:  # noqa: N802
            if event.runId == self.run:
                gauges.ended(event.exception)

    return Listener()


@contextmanager
def served(gauges: Gauges, port: int, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve the gauges to Prometheus at /metrics of this port, which is told; 0 for a free one."""
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError as error:
        raise SensewireError(
            f'metrics cannot be served ({error}); right would be: pip install "sensewire[spark]"'
        ) from error

    registry = CollectorRegistry()
    registry.register(_collector(gauges))
    try:
        server, thread = start_http_server(port, host, registry)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SensewireError(
            f"metrics cannot be served at {host}:{port}: {reason}; "
            "right would be: a port that is free, or 0 for any"
        ) from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _collector(gauges: Gauges) -> "Collector":
    from prometheus_client.registry import Collector

    class Scraped(Collector):
        def collect(self) -> Iterable["Metric"]:
            reading = gauges.now()
            yield from _totals(reading)
            if reading.last is not None:
                yield from _last(reading.last)
            if reading.trigger is not None:
                yield from _triggered(reading.trigger)

    return Scraped()


def _totals(reading: Reading) -> Iterator["Metric"]:
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    for name, what, count in (
        ("batches", "Batches committed", reading.batches),
        ("events", "Events matched", reading.events),
        ("matches", "Matches found", reading.matches),
        ("repeats", "Events that had been matched before", reading.repeats),
        ("rejected", "Events that could not be read", reading.rejected),
        ("failed", "Subscriptions that failed on an event", reading.failed),
        ("restarts", "Times that the stream was started again", reading.restarts),
    ):
        yield CounterMetricFamily(f"sensewire_{name}", what, value=count)
    running = reading.state in ("running", "idle")
    yield GaugeMetricFamily("sensewire_running", "1 while the stream runs", value=running)
    bounds = [*map(str, BUCKETS), "+Inf"]
    yield HistogramMetricFamily(
        "sensewire_batch_duration_seconds",
        "From the begin of a batch to its commit",
        buckets=list(zip(bounds, accumulate(reading.durations), strict=True)),
        sum_value=reading.seconds,
    )


def _last(done: BatchDone) -> Iterator["Metric"]:
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

    for name, what, value in (
        ("batch_seconds", "From the begin of the last batch to its commit", done.seconds),
        ("lag_events", "Events of the log that are not matched yet", done.lag),
        ("latest_seconds", "Age of the last batch's oldest event at the commit", done.latest),
        ("subscriptions", "Subscriptions that events are matched to", done.subscriptions),
        ("delta_subscriptions", "Changes since the index was compiled", done.delta),
    ):
        if value is not None:
            yield GaugeMetricFamily(f"sensewire_{name}", what, value=value)
    yield InfoMetricFamily("sensewire_index", "The index", value={"version": done.version})


def _triggered(trigger: Trigger) -> Iterator["Metric"]:
    from prometheus_client.core import GaugeMetricFamily

    yield GaugeMetricFamily("sensewire_trigger_rows", "Rows of the last batch", value=trigger.rows)
    seconds = GaugeMetricFamily(
        "sensewire_trigger_seconds", "Phases of the last batch, by Spark", labels=["phase"]
    )
    for phase, took in trigger.seconds.items():
        seconds.add_metric([phase], took)
    yield seconds
