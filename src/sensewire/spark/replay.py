"""The replay job: what would these subscriptions have received from a history of events?

    slices ──> match ──> for each subscription: counts by day, and its latest events

Tasks count what they match, and hold a few events of each subscription (`tally`); the driver adds
up. The same comes out however the files are cut: of equally late events the first by place are
kept.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import Slice, listing
from sensewire.events.locations import location
from sensewire.events.portions import Portion, portions
from sensewire.model.errors import SensewireError
from sensewire.spark.careful import killers
from sensewire.spark.failures import spark_errors
from sensewire.spark.index import Shipped, opened, shipped
from sensewire.spark.ingest import sliced, slices_in
from sensewire.spark.outcomes import Outcomes, Pace, answers_of, outcomes_of
from sensewire.spark.planning import looked_at
from sensewire.spark.progress import Counters, Report, reported
from sensewire.spark.schema import REPLAYED
from sensewire.spark.standing import Told, standing_in
from sensewire.spark.tally import Example, Problem, Tally, first_problems
from sensewire.spark.task import is_again

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Received:
    """What one subscription would have received; days as ISO dates, None for events without."""

    subscription: str
    matches: int
    days: Mapping[str | None, int]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found, of every subscription, also of those that would have got nothing."""

    events: int
    matches: int
    rejected: int
    failed: int
    subscriptions: tuple[Received, ...]
    problems: tuple[Problem, ...]  # subscriptions and files that cannot be read, and a few events

    def __str__(self) -> str:
        return (
            f"{self.events} events, {self.matches} matches, "
            f"{self.rejected} rejected, {self.failed} failed"
        )


@dataclass(frozen=True, slots=True)
class ReplayJob:
    """Which subscriptions to try on which history."""

    subscriptions: Path
    events: tuple[Path | str, ...]
    now: datetime
    knowledge: tuple[Path, ...] = ()
    id_field: str | None = "id"
    time_field: str | None = None
    max_event_bytes: int = LONGEST_EVENT
    partitions: int | None = None
    examples: int = 3


def run(
    job: ReplayJob, session: Callable[[], "SparkSession"], report: Report | None = None
) -> Replayed:
    """Run a job. The session is asked for when the input has been seen to be there."""
    _check(job)
    files = listing([location(place) for place in job.events])
    standing = standing_in(job.subscriptions, None, job.knowledge, job.now)
    if not standing.told.live:
        raise SensewireError(_nothing_live(job.subscriptions, standing.told))
    decoding = Decoding(job.now, job.id_field, job.time_field, job.max_event_bytes)
    if not standing.engine.is_planned:
        standing = standing.planned(looked_at(files.files, decoding))
    with TemporaryDirectory(prefix="sensewire-index-") as place, spark_errors():
        folder = standing.saved(Path(place))
        spark = session()
        counters = Counters.of(spark)
        with reported(counters, sum(file.size for file in files.files), report):
            slices = sliced(spark, files.files, job.partitions)
            sent = shipped(spark, folder, Path(place), shared=False)
            rows = _replayed(slices, sent, decoding, job.examples, counters).collect()
    total = Total(job.examples)
    for row in rows:
        total.add(json.loads(row["tally"]))
    ids = (id for id, _ in standing.engine.subscriptions())
    return total.replayed(ids, (*standing.told.rejected, *files.rejected))


def _check(job: ReplayJob) -> None:
    if job.examples < 0:
        raise SensewireError(f"--examples {job.examples}: expected a whole number, 0 or more")
    for name, number in (("max-event-bytes", job.max_event_bytes), ("partitions", job.partitions)):
        if number is not None and number < 1:
            raise SensewireError(f"--{name} {number}: expected a whole number above 0")


def _nothing_live(path: Path, told: Told) -> str:
    if told.rejected:
        first = told.rejected[0]
        reason = f"none of its lines is a subscription; the first: {first.place}: {first.reason}"
    elif told.expired:
        reason = "every subscription has expired; --now says for which moment they are read"
    else:
        reason = "no subscription; expected JSON lines with at least one"
    return f"{path}: {reason}"


def _replayed(
    slices: "DataFrame", index: Shipped, decoding: Decoding, examples: int, counters: Counters
) -> "DataFrame":
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        parts = slices_in(rows)
        tally = tallied(parts, opened(index), decoding, examples, is_careful=is_again())
        counters.add(sum(row["weight"] for row in rows), tally.counts)
        row = {"tally": tally.as_json()}
        yield pa.RecordBatch.from_pylist([row], schema=REPLAYED)

    return slices.mapInArrow(stage, from_arrow_schema(REPLAYED))


def tallied(
    parts: Iterable[Slice],
    engine: Engine,
    decoding: Decoding,
    examples: int,
    *,
    is_careful: bool = False,
) -> Tally:
    """What subscriptions receive from the events of slices."""
    tally = Tally(examples)
    pace = Pace(engine)

    def matching(portion: Portion) -> Iterator[Outcomes]:
        return outcomes_of(portion, engine, decoding, pace)

    for portion in portions(parts, decoding, wanted=engine):
        if isinstance(portion, Rejected):
            tally.reject([portion])
            continue
        if is_careful and (found := killers(portion, matching)):
            tally.reject([each.rejected for each in found])
            dead = {each.row for each in found}
            portion = portion.at([row for row in range(len(portion)) if row not in dead])
        for answer in answers_of(portion, engine, decoding):
            tally.add(answer, decoding)
    return tally


class Total:
    """What all tasks counted and kept together."""

    def __init__(self, examples: int) -> None:
        self._most = examples
        self._counts: Counter[str] = Counter()
        self._days: dict[str, Counter[str]] = defaultdict(Counter)
        self._examples: dict[str, list[Example]] = defaultdict(list)
        self._rejected: list[Problem] = []

    def add(self, tally: dict[str, Any]) -> None:
        """Take what a task says."""
        self._counts.update(tally["counts"])
        self._rejected = first_problems(
            [*self._rejected, *(Problem(*each) for each in tally["rejected"])]
        )
        for name, days in tally["days"].items():
            self._days[name].update(days)
        for name, examples in tally["examples"].items():
            kept = [*self._examples[name], *(Example(*each) for each in examples)]
            self._examples[name] = sorted(kept, key=Example.order)[: self._most]

    def replayed(self, ids: Iterable[str], problems: tuple[Rejected, ...]) -> Replayed:
        """The result, for subscriptions of these ids, in their order."""
        counts = self._counts
        return Replayed(
            counts["events"],
            counts["matches"],
            counts["rejected"] + len(problems),
            counts["failed"],
            tuple(map(self._received, ids)),
            (*(Problem(each.place, each.reason) for each in problems), *self._rejected),
        )

    def _received(self, id: str) -> Received:
        days: Mapping[str, int] = self._days.get(id, {})
        return Received(
            id,
            sum(days.values()),
            {day or None: days[day] for day in sorted(days)},
            tuple(self._examples.get(id, ())),
        )
