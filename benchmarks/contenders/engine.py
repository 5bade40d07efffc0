"""The engine as its users see it, on records: texts in, matches out, on one core.

parse             texts to subscriptions
add, remove       subscriptions, one by one
match             events, one by one, each made before
match_batch       Arrow columns to matches
JSON to matches   lines of JSON to matches, decoding included
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa

from frame import LeftOut, Row, Settings, timed
from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.match.compiled.conjunctions import Int32
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from workloads import ranked, texts
from workloads.records import EQUALITY_ZIPF, Records, drawn
from workloads.truth import Truth

CONTENDER = "engine"
_CANNOT = "this version cannot"
_TIMES = 3
_REMOVED = 10  # one in so many


@dataclass(frozen=True, slots=True)
class _Measure:
    """What all rows have in common, and how answers are checked."""

    workload: str
    size: int
    events: int
    known: Truth
    checked: int

    def row(self, metric: str, value: float, unit: str) -> Row:
        return Row(self.workload, self.size, CONTENDER, metric, value, unit)

    def matching(
        self, metric: str, work: Callable[[], tuple[Int32, Int32]]
    ) -> Iterator[Row | LeftOut]:
        """Events per second, or that this version cannot do it."""
        try:
            work()  # the JIT is warm before anything is timed
        except SensewireError as error:
            if not str(error).startswith(_CANNOT):
                raise
            yield LeftOut(self.workload, self.size, CONTENDER, f"{metric}: {error}")
            return
        seconds, answer = timed(_TIMES, work)
        self.known.check(f"the engine ({metric})", answer, self.events, self.checked)
        yield self.row(metric, self.events / seconds, "events/s")


def measured_engine(
    settings: Settings, size: int, events: int, checked: int
) -> Iterator[Row | LeftOut]:
    """Everything that the engine is asked for, in the order in which users ask."""
    settings.report(f"engine, {size:,}: drawing")
    records = drawn(EQUALITY_ZIPF, size, events, 0, settings.seed)
    name = f"{EQUALITY_ZIPF.name}, engine"
    known = Truth(ranked.workload(records))
    measure = _Measure(name, size, events, known, checked)
    written = [*texts.subscriptions(records)]

    settings.report(f"engine, {size:,}: parse and add")
    parsing, subscriptions = timed(1, lambda: [parse(text) for text in written])
    yield measure.row("parse", size / parsing, "subscriptions/s")
    engine = Engine()

    def add_all() -> None:
        for number, subscription in enumerate(subscriptions):
            engine.add(subscription, id=str(number))

    adding, _ = timed(1, add_all)
    yield measure.row("add", size / adding, "subscriptions/s")

    for metric, work in _ways(engine, records):
        settings.report(f"engine, {size:,}: {metric}")
        yield from measure.matching(metric, work)

    settings.report(f"engine, {size:,}: remove")
    gone = [str(number) for number in range(0, size, _REMOVED)]

    def remove_some() -> None:
        for id in gone:
            engine.remove(id)

    removing, _ = timed(1, remove_some)
    yield measure.row("remove", len(gone) / removing, "subscriptions/s")


def _ways(
    engine: Engine, records: Records
) -> Iterator[tuple[str, Callable[[], tuple[Int32, Int32]]]]:
    """Each way to ask the engine, and what does it."""
    events = [Event.record(record) for record in texts.as_records(records, records.events)]
    yield "match, one by one", lambda: _one_by_one(engine, events)
    columns = texts.as_columns(records, records.events)
    yield "match_batch", lambda: _in_a_batch(engine, columns)
    lines = texts.as_lines(records, records.events)
    data = pa.array(lines, pa.binary())
    as_json = pa.RecordBatch.from_arrays([data], names=["json"])
    yield "JSON to matches", lambda: _in_a_batch(engine, as_json)
    yield (
        "JSON to matches, one by one",
        lambda: _one_by_one(engine, [Event.record(orjson.loads(line)) for line in lines]),
    )


def _one_by_one(engine: Engine, events: list[Event]) -> tuple[Int32, Int32]:
    pairs = [
        (row, int(match.subscription))
        for row, event in enumerate(events)
        for match in engine.match(event)
    ]
    found = np.array(pairs, np.int32).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _in_a_batch(engine: Engine, batch: pa.RecordBatch) -> tuple[Int32, Int32]:
    """Matches of a batch; their subscriptions' ids are numbers here."""
    matches: pa.Table = engine.match_batch(batch).matches
    subscriptions = matches.column("subscription").cast(pa.int32())
    return (
        matches.column("event").to_numpy().astype(np.int32),
        subscriptions.to_numpy(),
    )
