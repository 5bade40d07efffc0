"""A stream as a process of its own, what happens around it, and what the definition says of it.

    begun ──> Running       `sensewire run` in a session of its own: ready, ended, killed
    traffic                 another process that publishes, subscribes and cancels meanwhile
    expected ──> Told       who is to get what: the oracle, event by event, over the whole log
    told ──> Told           who got it, as the store has it; raises where one got an event twice

An event is matched by whoever stood when it was appended: by its number and its arrival, whatever
the stream knew at that moment, however often it died.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import LONGEST_EVENT, Decoded, Decoding
from sensewire.events.files import held_slice
from sensewire.events.kinds import Kind
from sensewire.events.records import line
from sensewire.model.errors import EventError, SubscriptionError
from sensewire.model.event import Event, Fact
from sensewire.spark.gauges import Gauges, Reading
from sensewire.spark.stream import MOST, Stream, StreamJob, streaming
from sensewire.spark.stream_places import FromLog, Target, ToTable
from sensewire.store import schema
from sensewire.store.database import LOG, Store, head, moment_of, opened_store
from sensewire.store.indexing import LOG_ORDER, tenure_of
from sensewire.store.knowing import knowledge_of
from sensewire.store.log import Entry, append, entries_of_lines
from sensewire.store.subscribing import Asked, Judge, subscribe, unsubscribe
from sensewire.tenures import Tenure
from tests.spark.commands import environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 120.0  # seconds
SENSEWIRE = (sys.executable, "-m", "sensewire.cli.main")
ROOT = Path(__file__).parents[2]
TO_TABLE = ToTable()

Told = set[tuple[str, int, str]]
"""Who got what: the subscription's id and key, the event's id."""

FOODS = ("bread", "milk", "rice", "salt", "tea")
TEXTS = (
    "everything",
    "what = bread",
    "what = milk and price < 50",
    "price >= 90",
    "what in (rice, salt) or price < 5",
    "not what = tea and price > 40",
    "select ?w where what = ?w and price = 7",
    "price <= 10 within 0.5",
    "what = nothing",
)


@dataclass(slots=True)
class Running:
    """A command that runs in a session of its own, and what it has written so far."""

    process: "subprocess.Popen[bytes]"
    said: Path
    complained: Path

    @property
    def output(self) -> str:
        return self.said.read_text()

    @property
    def errors(self) -> str:
        return self.complained.read_text()

    def ready(self) -> "Running":
        """Wait until it says that it is."""
        wait(lambda: "ready:" in self.output or self.process.poll() is not None, "the stream")
        assert self.process.poll() is None, self.errors
        return self

    def ended(self) -> int:
        """Wait for its end; the exit code."""
        return self.process.wait(PATIENCE)

    def told_to_end(self) -> int:
        """The same, after a word to all of its processes, as `timeout` has it and systemd."""
        os.killpg(self.process.pid, signal.SIGTERM)
        return self.ended()

    def kill(self) -> None:
        """End all of its processes at once: the driver, the JVM, the workers, the compiler."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def begun(folder: Path, *arguments: str | Path, **variables: str) -> Iterator[Running]:
    """Start a command of ours; nothing of it is left at the end."""
    number = len(list(folder.glob("*.out")))
    said, complained = folder / f"{number}.out", folder / f"{number}.err"
    with said.open("wb") as output, complained.open("wb") as errors:
        process = subprocess.Popen(
            [*SENSEWIRE, *map(str, arguments)],
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    running = Running(process, said, complained)
    try:
        yield running
    finally:
        running.kill()


def caught_up(folder: Path, *arguments: str | Path) -> str:
    """Run a stream until all that is there now is matched; its last line."""
    with begun(folder, *arguments, "--trigger", "available-now") as running:
        assert running.ended() == 0, running.errors
        return running.output.splitlines()[-1]


def streamed(
    spark: "SparkSession",
    store: Store,
    checkpoint: Path,
    *,
    target: Target = TO_TABLE,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    most: int = MOST,
    longest: int = LONGEST_EVENT,
) -> Reading:
    """Run a stream in this process until all that is there now is matched; what it counted."""
    gauges = Gauges()
    job = StreamJob(
        store.url, checkpoint, FromLog(), target, "available-now", most=most,
        max_event_bytes=longest,
    )  # fmt: skip
    with streaming(job, lambda: spark, gauges, clock) as stream:
        stream.wait()
    return gauges.now()


@contextmanager
def runs(
    spark: "SparkSession", store: Store, folder: Path, most: int = MOST
) -> Iterator[tuple[Stream, Gauges]]:
    """A stream of the log in this process, that goes on."""
    gauges = Gauges()
    job = StreamJob(store.url, folder, FromLog(), TO_TABLE, most=most)
    with streaming(job, lambda: spark, gauges) as stream:
        yield stream, gauges


def wait(until: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + patience
    while not until():
        assert time.monotonic() < end, f"waited {patience:.0f} s for {what}"
        time.sleep(0.05)


def is_committed(store: Store) -> bool:
    """Whether all of the log is matched and committed."""
    table = schema.batches
    with store.reading() as connection:
        last = head(connection, LOG)
        done = select(func.max(table.c.position)).where(table.c.done.is_not(None))
        return (connection.execute(done).scalar() or 0) >= last


def wait_for_all(store: Store, running: Running | Gauges, patience: float = PATIENCE) -> None:
    """Wait until a stream, of another process or of this, has committed all that was published."""

    def is_done() -> bool:
        if isinstance(running, Gauges):
            assert running.now().state != "ended", running.now().error
        else:
            assert running.process.poll() is None, running.errors
        return store.patiently(lambda: is_committed(store))

    wait(is_done, "the log to be committed", patience)


def last_batch(store: Store) -> int:
    """The number of the newest batch that was pinned, by whomever; -1 before the first."""
    with store.reading() as connection:
        found = connection.execute(select(func.max(schema.batches.c.batch))).scalar()
    return -1 if found is None else int(found)


def publish(store: Store, events: Iterable[dict[str, Any]], now: datetime | None = None) -> None:
    """Append events, in one entry unless they are many."""
    lines = (json.dumps(event, ensure_ascii=False).encode() for event in events)
    append(store, list(entries_of_lines(lines)), now or datetime.now(UTC))


def publish_lines(store: Store, *lines: bytes) -> None:
    """Append lines as they are."""
    append(store, list(entries_of_lines(lines)), datetime.now(UTC))


def publish_document(
    store: Store, kind: Kind, body: bytes, name: str, facts: bytes | None = None
) -> None:
    """Append a document."""
    append(store, [Entry(kind, body, name=name, facts=facts)], datetime.now(UTC))


def ask(store: Store, texts: dict[str, str], now: datetime | None = None, **more: Any) -> int:
    """Let subscriptions stand, by id; the change."""
    with store.reading() as connection:
        judge = Judge(knowledge_of(connection))
    wishes = [judge.wished({"id": id, "text": text, **more}) for id, text in texts.items()]
    return subscribe(store, wishes, now or datetime.now(UTC))


def ask_all(store: Store) -> None:
    """Let a subscription of each kind stand: `s0` wants everything."""
    ask(store, {f"s{n}": text for n, text in enumerate(TEXTS)})


def cancel(store: Store, *ids: str) -> int:
    """Cancel subscriptions; the change."""
    return unsubscribe(store, ids)


def events(first: int, count: int, name: str = "e") -> list[dict[str, Any]]:
    """Events of several kinds, by number."""
    return [
        {"id": f"{name}{n}", "what": FOODS[n % len(FOODS)], "price": n * 7 % 100}
        for n in range(first, first + count)
    ]


def told(store: Store) -> Told:
    """Who got what; nobody got an event twice."""
    told, events, asked = schema.notifications, schema.events, schema.subscriptions
    query = (
        select(asked.c.id, asked.c.key, events.c.id.label("event"))
        .select_from(told)
        .join(events, events.c.number == told.c.event)
        .join(asked, asked.c.key == told.c.subscription)
    )
    with store.reading() as connection:
        rows = [(row.id, row.key, row.event) for row in connection.execute(query)]
        count = connection.execute(select(func.count()).select_from(told)).scalar_one()
    assert len(rows) == count  # each names an event and a subscription
    found = set(rows)
    assert len(found) == len(rows), "somebody got an event twice"
    return found


def expected(
    store: Store, without: Iterable[str] = (), longest: int = LONGEST_EVENT, query: str = ""
) -> Told:
    """Who is to get what, by the oracle; some events apart, which no one can match.

    No subscription of ours reads an event's id or time: what differs in these alone is asked about
    once.
    """
    with store.reading() as connection:
        asked = [Asked(**_columns(row)) for row in connection.execute(select(schema.subscriptions))]
        engine = Engine(knowledge_of(connection), matcher="oracle")
        decoded = list(_decoded(connection, longest, query))
    standing: dict[str, list[tuple[Asked, Tenure]]] = {}
    for each in asked:
        data = {name: value for name, value in each.data().items() if name != "id"}
        key = json.dumps(data)
        if key not in standing:
            engine.add(each.stated().subscription, id=key)
        standing.setdefault(key, []).append((each, tenure_of(each, LOG_ORDER)))
    known: dict[frozenset[Fact], list[str]] = {}
    seen = set(without)
    found: Told = set()
    for event, position, arrival in decoded:
        if event.id in seen:
            continue
        seen.add(event.id)
        content = frozenset(fact for fact in event.facts if fact.property.text != "id")
        if content not in known:
            known[content] = [match.subscription for match in engine.match(event)]
        found.update(
            (each.id, each.key, event.id)
            for text in known[content]
            for each, tenure in standing[text]
            if tenure.holds(position, arrival)
        )
    return found


def _columns(row: Any) -> dict[str, Any]:  # Any: a row of SQLAlchemy's
    return {name: getattr(row, name) for name in Asked.__dataclass_fields__}


def _decoded(connection: Any, longest: int, query: str) -> Iterator[tuple[Event, int, int]]:
    """The events of a log, each with its number and its arrival."""
    table = schema.log
    mine = table.c.query.is_(None) | (table.c.query == query)
    for row in connection.execute(select(table).where(mine).order_by(table.c.last)):
        decoding = Decoding(moment_of(row.arrival), "id", None, longest)
        kind = Kind(row.kind)
        if kind is Kind.LINES:
            for number, raw in enumerate(row.body.split(b"\n"), row.first):
                outcomes = line(raw, f"log:{number}", decoding) if len(raw) <= longest else ()
                for each in outcomes:
                    if isinstance(each, Decoded):
                        yield each.event, number, row.arrival
            continue
        with suppress(EventError):
            part = held_slice(row.body, kind, f"log/{row.first}/{row.name}", facts=row.facts)
            for each in decode(part, decoding):
                if isinstance(each, Decoded):
                    yield each.event, row.first, row.arrival


def check(store: Store, without: Iterable[str] = ()) -> Told:
    """That everybody got what the oracle says, nothing is lost and nothing doubled."""
    found, right = told(store), expected(store, without)
    lost, extra = right - found, found - right
    assert not lost, f"{len(lost)} of {len(right)} lost: {sorted(lost)[:5]}"
    assert not extra, f"{len(extra)} too many: {sorted(extra)[:5]}"
    return found


_MOST_LIVE = 10  # of one process


@dataclass(slots=True)
class Traffic:
    """Another process that publishes, subscribes and cancels; it ends when its seconds are over."""

    process: "subprocess.Popen[bytes]"
    journal: Path

    def ended(self) -> None:
        """Wait for its end."""
        assert self.process.wait(PATIENCE + 600) == 0

    def end(self) -> None:
        """Let it end with what it does now."""
        self.process.terminate()
        self.ended()

    def promised(self, word: str) -> set[tuple[str, str]]:
        """What it was promised, by the order of its own calls: `always` or `never`, subscription
        and event."""
        rows = map(json.loads, self.journal.read_text().splitlines())
        return {(row["subscription"], row["event"]) for row in rows if row["promise"] == word}


@contextmanager
def traffic(
    folder: Path, place: str, name: str, seconds: float, rate: float = 200.0
) -> Iterator[Traffic]:
    """Start one, with about so many events a second."""
    journal = folder / f"{name}.journal"
    command = [sys.executable, "-m", "tests.spark.streams", place, name, str(journal)]
    process = subprocess.Popen([*command, str(seconds), str(rate)], cwd=ROOT)
    try:
        yield Traffic(process, journal)
    finally:
        process.kill()
        process.wait()


def keep_promises(store: Store, some: Sequence[Traffic]) -> None:
    """That what was promised to other processes was kept."""
    got = {(id, event) for id, _, event in told(store)}
    for each in some:
        always, never = each.promised("always"), each.promised("never")
        assert always
        assert never
        assert always <= got, f"lost: {sorted(always - got)[:5]}"
        assert not never & got, f"too many: {sorted(never & got)[:5]}"


def _come_and_go(place: str, name: str, journal: Path, seconds: float, rate: float) -> None:
    """What the other process does."""
    store = opened_store(place)
    chance = random.Random(name)
    signal.signal(signal.SIGTERM, lambda *_: setattr(chance, "over", True))
    begin = time.monotonic()
    live: list[str] = []
    published = asked = 0

    def post(more: list[dict[str, Any]]) -> None:
        store.patiently(lambda: publish(store, more))

    def come(text: str) -> str:
        nonlocal asked
        asked += 1
        id = f"{name}-s{asked}"
        with suppress(SubscriptionError):  # it was there, and the server went before it said so
            store.patiently(lambda: ask(store, {id: text}))
        return id

    def go(id: str) -> None:
        with suppress(SubscriptionError):
            store.patiently(lambda: cancel(store, id))

    with journal.open("w", buffering=1) as notes:

        def note(promise: str, subscription: str, event: str) -> None:
            row = {"promise": promise, "subscription": subscription, "event": event}
            notes.write(json.dumps(row) + "\n")

        while time.monotonic() < begin + seconds and not hasattr(chance, "over"):
            some = chance.randint(1, max(20, int(rate / 5)))
            post(events(published, some, f"{name}-e"))
            published += some
            action = chance.random()
            if action < 0.3 and len(live) < _MOST_LIVE:
                live.append(come(chance.choice(TEXTS)))
            elif action < 0.5 and live:
                go(live.pop(chance.randrange(len(live))))
            elif action < 0.6:
                mine = come(f"token = {name}-{asked}")
                said = {"token": f"{name}-{asked - 1}"}
                post([{"id": f"{mine}-in", **said}])
                note("always", mine, f"{mine}-in")
                go(mine)
                post([{"id": f"{mine}-out", **said}])
                note("never", mine, f"{mine}-out")
            due = begin + published / rate
            time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    place, name, journal, seconds, rate = sys.argv[1:]
    _come_and_go(place, name, Path(journal), float(seconds), float(rate))
