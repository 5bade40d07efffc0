"""The stream: how long an event takes, how many a second, how soon a new subscription counts.

`sensewire run` as a process of its own, on both cores, with its store in SQLite; the benchmark
publishes, subscribes and watches the store as others would. Events have about two matches each.

    latency      1,000 events a second: from the return of `append` until its notifications are
                 seen to be committed
    rate         a log that is full: how fast it is matched; and with a publisher beside it
    subscribe    from the call of `subscribe` until an event that was appended right after it is
                 seen to be notified
    restart      from the start after kill −9 until a new match is seen

Every notification of the full log is checked (`workloads/pairs.py`). Watching costs a look every
five milliseconds, which the figures include.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import numpy as np
from sqlalchemy import func, select, text

from frame import LeftOut, Row, Settings, WrongAnswerError
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.store import schema
from sensewire.store.database import LOG, Store, head, open_store
from sensewire.store.log import append, entries_of_lines
from sensewire.store.subscribing import Judge, subscribe
from spark import SELECTIVE
from workloads import texts
from workloads.event_files import numbered
from workloads.pairs import Pairs, digest
from workloads.records import Records, drawn

CHARTED = "match"
_WORKLOAD = "few matches, JSON in the log"
_RUN = "from sensewire.cli.main import main; raise SystemExit(main())"
_LOOK = 0.005  # seconds between two looks at the store
_TICK = 0.01  # seconds between two appends
_PATIENCE = 300  # seconds
_AT_ONCE = 10_000
_AHEAD = 100_000  # events that a publisher may be ahead of the stream


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a run does."""

    size: int  # subscriptions
    drawn: int  # different events
    repeats: int  # how often they stand in the log that is full
    seconds: float  # that events come at an even pace
    rate: int  # events a second, then
    beside: float  # seconds with a publisher that goes as fast as it can
    subscribed: int  # times that somebody subscribes
    restarts: int
    checked: int  # events that are compared with the truth


QUICK = Effort(10_000, 8_192, 40, 10.0, 1_000, 5.0, 5, 1, 4)
FULL = Effort(100_000, 8_192, 244, 60.0, 1_000, 20.0, 20, 3, 10)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A store with subscriptions and a full log."""

    store: Store
    folder: Path
    records: Records
    lines: list[bytes]
    events: int

    def row(self, contender: str, metric: str, value: float, unit: str) -> Row:
        """A row of this workload."""
        return Row(_WORKLOAD, len(self.records.asked.offsets) - 1, contender, metric, value, unit)

    def numbered(self, first: int, count: int) -> list[bytes]:
        """Lines of events, from one number on: the drawn ones over and over."""
        some = [self.lines[number % len(self.lines)] for number in range(first, first + count)]
        return [line.rstrip() for line in numbered(some, first)]


def measured(settings: Settings) -> Iterator[Row | LeftOut]:
    """Everything, in one run."""
    effort = QUICK if settings.quick else FULL
    with TemporaryDirectory(prefix="sensewire-bench-") as place:
        yield from _measured(settings, effort, Path(place))


def _measured(settings: Settings, effort: Effort, place: Path) -> Iterator[Row]:
    workload = prepared(settings, effort, place)
    settings.report(f"a full log of {workload.events:,} events, {effort.size:,} subscriptions")
    with running(place) as started:
        yield workload.row("sensewire run", "ready, with an index to compile", started, "s")
        yield from measured_rate(workload)
        check(workload, effort)
        settings.report(f"{effort.rate:,} events/s for {effort.seconds:.0f} s")
        yield from measured_latency(workload, effort)
        settings.report("subscribing while events come")
        yield from measured_subscribing(workload, effort)
        settings.report("a publisher beside it")
        yield from measured_beside(workload, effort)
    settings.report("restart after kill −9")
    yield from measured_restart(workload, effort, place)


def prepared(settings: Settings, effort: Effort, place: Path) -> Prepared:
    """Draw the workload; subscribe; fill the log."""
    settings.report("subscribing, and filling the log")
    records = drawn(SELECTIVE, effort.size, effort.drawn, 0, settings.seed)
    store = open_store(place / "store.db")
    judge = Judge(Knowledge())
    wishes = [
        judge.wished({"id": str(number), "text": said})
        for number, said in enumerate(texts.subscriptions(records))
    ]
    for first in range(0, len(wishes), _AT_ONCE):
        subscribe(store, wishes[first : first + _AT_ONCE], datetime.now(UTC))
    lines = texts.as_lines(records, records.events)
    events = effort.drawn * effort.repeats
    workload = Prepared(store, place, records, lines, events)
    for first in range(0, events, effort.drawn):
        entries = list(entries_of_lines(numbered(lines, first)))
        append(store, entries, datetime.now(UTC))
    return workload


@contextmanager
def running(place: Path, *, is_killed: bool = False) -> Iterator[float]:
    """`sensewire run` on the store, once it is ready; and how many seconds that took."""
    command = [sys.executable, "-c", _RUN, "run", "--store", str(place / "store.db")]
    began = monotonic()
    with (place / "run.err").open("w+") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready:"):
                break
        else:
            said = (place / "run.err").read_text()[-500:]
            raise WrongAnswerError(f"sensewire run ended before it was ready: {said}")
    try:
        yield monotonic() - began
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL if is_killed else signal.SIGTERM)
        process.wait(_PATIENCE)
        process.stdout.close()


def committed(store: Store) -> int:
    """The number of the log up to which all is matched and committed."""
    with store.reading() as connection:
        return connection.execute(select(func.max(schema.batches.c.position))).scalar() or 0


def wait_for(store: Store, position: int) -> float:
    """Wait until the log is matched up to a number; the moment that this was seen."""
    until = monotonic() + _PATIENCE
    while committed(store) < position:
        if monotonic() > until:
            raise WrongAnswerError(f"after {_PATIENCE} s the log is not matched up to {position}")
        sleep(_LOOK)
    return monotonic()


def measured_rate(workload: Prepared) -> Iterator[Row]:
    """How fast a full log is matched, from its first batch that is seen to its end."""
    store = workload.store
    begin = wait_for(store, 1)
    first = committed(store)
    seconds = wait_for(store, workload.events) - begin
    rate = (workload.events - first) / seconds
    yield workload.row("sensewire run", CHARTED, rate, "events/s")
    with store.reading() as connection:
        done = schema.batches.c.done - schema.batches.c.now
        took = connection.execute(select(func.avg(done))).scalar_one()
        told = connection.execute(
            select(func.count()).select_from(schema.notifications)
        ).scalar_one()
    yield workload.row("sensewire run", "a batch, from pin to commit", float(took) / 1e6, "s")
    yield workload.row("sensewire run", "matches", int(told) / workload.events, "an event")


def check(workload: Prepared, effort: Effort) -> None:
    """Check every notification of the full log."""
    index = Engine.open(workload.folder / "store.db.stream" / "index")
    keys = _Shifted(index)
    pairs = Pairs.of(keys, workload.records, effort.checked)  # type: ignore[arg-type]
    with workload.store.reading() as connection:
        rows = connection.execute(
            text(
                "SELECT CAST(events.id AS INTEGER), subscription - 1 FROM notifications "
                "JOIN events ON events.number = notifications.event"
            )
        )
        event, subscription = np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2).T
    counts = np.bincount(event, minlength=workload.events)
    if not np.array_equal(counts, pairs.counts(workload.events)):
        raise WrongAnswerError("the stream notifies of other events than those that match")
    due = digest(pairs.event, pairs.subscription) * effort.repeats % 2**64
    if digest(event % effort.drawn, subscription) % 2**64 != due:
        raise WrongAnswerError("the stream notifies others than those whom events match")


class _Shifted:
    """An engine whose subscriptions are named by keys, which begin at 1, by numbers from 0."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def match_batch(self, batch: object) -> object:
        """The matches, by numbers."""
        found = self._engine.match_batch(batch)  # type: ignore[arg-type]
        matches = found.matches
        keys = np.array(matches.column("subscription").to_pylist(), np.int64) - 1
        column = [str(key) for key in keys.tolist()]
        from sensewire.model.match import BatchMatches

        named = matches.set_column(1, "subscription", [column])
        return BatchMatches(named, found.failures, found.rejected, found.ids)


def measured_latency(workload: Prepared, effort: Effort) -> Iterator[Row]:
    """Events at an even pace, each with the time until it is seen to be committed."""
    store = workload.store
    with store.reading() as connection:
        begin = head(connection, LOG)
    appended: list[tuple[int, float]] = []
    seen: list[tuple[int, float]] = []
    ended = threading.Event()

    def watch() -> None:
        last = begin
        while not ended.is_set():
            now = committed(store)
            if now > last:
                seen.append((now, monotonic()))
                last = now
            sleep(_LOOK)

    watcher = threading.Thread(target=watch)
    watcher.start()
    each = round(effort.rate * _TICK)
    start = monotonic()
    for tick in range(round(effort.seconds / _TICK)):
        lines = workload.numbered(begin + tick * each, each)
        last = append(store, list(entries_of_lines(lines)), datetime.now(UTC))[-1]
        appended.append((last, monotonic()))
        sleep(max(0.0, start + (tick + 1) * _TICK - monotonic()))
    took = monotonic() - start
    wait_for(store, appended[-1][0])
    sleep(5 * _LOOK)
    ended.set()
    watcher.join()
    positions = np.array([position for position, _ in seen])
    times = np.array([time for _, time in seen])
    numbers = np.array([number for number, _ in appended])
    latency = times[np.searchsorted(positions, numbers)] - np.array([at for _, at in appended])
    for share in (50, 99):
        value = float(np.percentile(latency, share))
        yield workload.row("sensewire run", f"latency, p{share}", value, "s")
    yield workload.row("sensewire run", "latency, longest", float(latency.max()), "s")
    yield workload.row("publisher", "pace", len(appended) * each / took, "events/s")


def measured_subscribing(workload: Prepared, effort: Effort) -> Iterator[Row]:
    """Somebody subscribes, and publishes at once what they asked for."""
    store, judge = workload.store, Judge(Knowledge())
    took = []
    for number in range(effort.subscribed):
        wish = judge.wished({"id": f"new {number}", "text": f"brand_new = {number}"})
        began = monotonic()
        subscribe(store, [wish], datetime.now(UTC))
        line = b'{"id": "for new %d", "brand_new": %d}' % (number, number)
        append(store, list(entries_of_lines([line])), datetime.now(UTC))
        _wait_for_event(store, f"for new {number}")
        took.append(monotonic() - began)
        sleep(0.05)
    yield workload.row(
        "sensewire run", "subscribe to notified, median", float(np.median(took)), "s"
    )
    yield workload.row("sensewire run", "subscribe to notified, longest", max(took), "s")


def _wait_for_event(store: Store, id: str) -> None:
    """Wait until an event is notified: it is among the newest."""
    until = monotonic() + _PATIENCE
    events = schema.events
    newest = select(events.c.id).order_by(events.c.number.desc()).limit(64)
    while True:
        with store.reading() as connection:
            if id in {row.id for row in connection.execute(newest)}:
                return
        if monotonic() > until:
            raise WrongAnswerError(f"after {_PATIENCE} s nobody is notified of {id}")
        sleep(_LOOK)


def measured_beside(workload: Prepared, effort: Effort) -> Iterator[Row]:
    """A publisher that goes as fast as the stream, on the same cores."""
    store = workload.store
    with store.reading() as connection:
        begin = last = head(connection, LOG)
    start = monotonic()
    while monotonic() - start < effort.beside:
        if last - committed(store) < _AHEAD:
            entries = list(entries_of_lines(workload.numbered(last, 4_096)))
            last = append(store, entries, datetime.now(UTC))[-1]
        else:
            sleep(_LOOK)
    seconds = wait_for(store, last) - start
    yield workload.row(
        "sensewire run and a publisher", CHARTED, (last - begin) / seconds, "events/s"
    )


def measured_restart(workload: Prepared, effort: Effort, place: Path) -> Iterator[Row]:
    """Kill it in mid-stream, publish, start it again, and wait for the match."""
    store, judge = workload.store, Judge(Knowledge())
    wish = judge.wished({"id": "restarted", "text": "restarted exists"})
    subscribe(store, [wish], datetime.now(UTC))
    took = []
    with running(place, is_killed=True):
        lines = workload.numbered(10**9, 20_000)
        append(store, list(entries_of_lines(lines)), datetime.now(UTC))
        sleep(0.5)
    for number in range(effort.restarts):
        line = b'{"id": "restart %d", "restarted": true}' % number
        append(store, list(entries_of_lines([line])), datetime.now(UTC))
        began = monotonic()
        with running(place, is_killed=True):
            _wait_for_event(store, f"restart {number}")
            took.append(monotonic() - began)
    yield workload.row(
        "sensewire run", "restart to the first new match", float(np.median(took)), "s"
    )
    yield workload.row("sensewire run", "restart, longest", max(took), "s")
