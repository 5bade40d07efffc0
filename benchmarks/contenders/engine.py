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
from sensewire.model.match import Matches
from workloads import ranked, texts
from workloads.records import EQUALITY_ZIPF, Records, drawn
from workloads.truth import Truth

Answer = tuple[Int32, Int32]
Matched = list[Matches] | pa.Table
"""What the engine answers: the matches of each event, or the table of a batch."""
Way = Callable[[int], Matched]
CONTENDER = "engine"
_CANNOT = "this version cannot"
_FEW = 20  # events of a first guess at its speed
_REMOVED = 10  # one in so many


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is done: most events, seconds that one timing should take, timings, checks."""

    events: int
    seconds: float
    times: int
    checked: int


@dataclass(frozen=True, slots=True)
class _Measure:
    """What all rows have in common, and how answers are checked."""

    workload: str
    size: int
    budget: Budget
    known: Truth

    def row(self, metric: str, value: float, unit: str) -> Row:
        return Row(self.workload, self.size, CONTENDER, metric, value, unit)

    def matching(self, metric: str, work: Way) -> Iterator[Row | LeftOut]:
        """Events per second, or that this version cannot do it."""
        budget = self.budget
        few = min(_FEW, budget.events)
        try:
            work(few)  # the JIT is warm before anything is timed
        except SensewireError as error:
            if not str(error).startswith(_CANNOT):
                raise
            yield LeftOut(self.workload, self.size, CONTENDER, f"{metric}: {error}")
            return
        trial, _ = timed(1, lambda: work(few))
        count = int(min(budget.events, max(few, few * budget.seconds / max(trial, 1e-9))))
        work(count)  # a batch may be matched by other kernels than a few events
        seconds, answer = timed(budget.times, lambda: work(count))
        self.known.check(f"the engine ({metric})", _pairs(answer), count, budget.checked)
        yield self.row(metric, count / seconds, "events/s")


def measured_engine(settings: Settings, size: int, budget: Budget) -> Iterator[Row | LeftOut]:
    """Everything that the engine is asked for, in the order in which users ask."""
    settings.report(f"engine, {size:,}: drawing")
    records = drawn(EQUALITY_ZIPF, size, budget.events, 0, settings.seed)
    name = f"{EQUALITY_ZIPF.name}, engine"
    measure = _Measure(name, size, budget, Truth(ranked.workload(records)))
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


def _ways(engine: Engine, records: Records) -> Iterator[tuple[str, Way]]:
    """Each way to ask the engine about the first events of all."""
    events = [Event.record(record) for record in texts.as_records(records, records.events)]
    yield "match, one by one", lambda count: _one_by_one(engine, events[:count])
    columns = texts.as_columns(records, records.events)
    yield "match_batch", lambda count: _in_a_batch(engine, columns.slice(0, count))
    lines = texts.as_lines(records, records.events)
    as_json = pa.RecordBatch.from_arrays([pa.array(lines, pa.binary())], names=["json"])
    yield "JSON to matches", lambda count: _in_a_batch(engine, as_json.slice(0, count))

    def decoded_one_by_one(count: int) -> Matched:
        return _one_by_one(engine, [Event.record(orjson.loads(line)) for line in lines[:count]])

    yield "JSON to matches, one by one", decoded_one_by_one


def _one_by_one(engine: Engine, events: list[Event]) -> Matched:
    return [engine.match(event) for event in events]


def _in_a_batch(engine: Engine, batch: pa.RecordBatch) -> Matched:
    return engine.match_batch(batch).matches


def _pairs(answer: Matched) -> Answer:
    """Events and subscriptions; their ids are numbers here."""
    if isinstance(answer, pa.Table):
        subscriptions = answer.column("subscription").cast(pa.int32())
        return answer.column("event").to_numpy().astype(np.int32), subscriptions.to_numpy()
    pairs = [(row, int(match.subscription)) for row, found in enumerate(answer) for match in found]
    found = np.array(pairs, np.int32).reshape(-1, 2)
    return found[:, 0], found[:, 1]
