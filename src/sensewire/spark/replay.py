"""The replay job: what would these subscriptions have received from a history of events?

    slices ──> match ──> for each subscription: counts by day, and its latest events

Tasks count what they match, and hold a few events of each subscription; the driver adds up. The
same comes out however the files are cut: of equally late events the first by place are kept.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.days import days_of
from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import Slice, listing
from sensewire.events.locations import location
from sensewire.events.portions import Portion, portions
from sensewire.model.errors import SensewireError
from sensewire.spark.failures import spark_errors
from sensewire.spark.index import Shipped, opened, shipped
from sensewire.spark.ingest import sliced, slices_in
from sensewire.spark.outcomes import Answer, Rows, answers_of
from sensewire.spark.progress import Counters, Report, reported
from sensewire.spark.schema import REPLAYED
from sensewire.spark.standing import standing_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNTIMED = datetime.min.replace(tzinfo=UTC)
"""Stands for the time of an event that has none: no day of its own."""
_NO_DAY = ""
MOST_SHOWN = 2_000
"""Characters of an example that are kept."""


class Example(NamedTuple):
    """An event that a subscription would have received."""

    day: str | None
    place: str
    event: str
    raw: str


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
    problems: tuple[Rejected, ...]  # subscriptions and files that could not be read

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
    if job.examples < 0:
        raise SensewireError(f"--examples {job.examples}: expected 0 or more")
    files = listing([location(place) for place in job.events])
    standing = standing_in(job.subscriptions, None, job.knowledge, job.now)
    if not standing.told.live:
        raise SensewireError(f"{job.subscriptions}: no subscription that could be replayed")
    with TemporaryDirectory(prefix="sensewire-index-") as place, spark_errors():
        folder = standing.saved(Path(place))
        spark = session()
        counters = Counters.of(spark)
        with reported(counters, sum(file.size for file in files.files), report):
            slices = sliced(spark, files.files, job.partitions)
            sent = shipped(spark, folder, Path(place), shared=False)
            decoding = Decoding(UNTIMED, job.id_field, job.time_field, job.max_event_bytes)
            rows = _replayed(slices, sent, decoding, job.examples, counters).collect()
    total = Tally(job.examples)
    for row in rows:
        total.add(json.loads(row["tally"]))
    ids = [id for id, _ in standing.engine.subscriptions()]
    return total.replayed(ids, (*standing.told.rejected, *files.rejected))


def _replayed(
    slices: "DataFrame", index: Shipped, decoding: Decoding, examples: int, counters: Counters
) -> "DataFrame":
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        tally = tallied(slices_in(rows), opened(index), decoding, examples)
        counters.add(sum(row["weight"] for row in rows), tally.counts)
        row = {"tally": json.dumps(tally.as_json())}
        yield pa.RecordBatch.from_pylist([row], schema=REPLAYED)

    return slices.mapInArrow(stage, from_arrow_schema(REPLAYED))


def tallied(parts: Iterable[Slice], engine: Engine, decoding: Decoding, examples: int) -> "Tally":
    """What subscriptions receive from the events of slices."""
    tally = Tally(examples)
    for portion in portions(parts, decoding, wanted=engine.wants):
        if isinstance(portion, Rejected):
            tally.counts["rejected"] += 1
            continue
        for answer in answers_of(portion, engine, decoding):
            tally.counts["events"] += answer.events
            tally.counts["rejected"] += len(answer.rejected)
            tally.counts["failed"] += answer.result.failures.num_rows
            tally.counts["matches"] += answer.result.matches.num_rows
            if answer.result.matches.num_rows:
                tally.count(portion, answer, decoding)
    return tally


class Tally:
    """What subscriptions have received so far, of which each holds a few examples."""

    def __init__(self, examples: int) -> None:
        self._most = examples
        self.counts: Counter[str] = Counter()
        self._days: dict[str, Counter[str]] = defaultdict(Counter)
        self._examples: dict[str, list[_Kept]] = defaultdict(list)

    def count(self, portion: Portion, answer: Answer, decoding: Decoding) -> None:
        """Take the matches of some events."""
        events = answer.result.matches.column("event").to_numpy()
        rows = answer.rows[events]
        met, of_met = np.unique(rows, return_inverse=True)
        days: Any = days_of(portion, met, decoding).dictionary_encode()
        known = [*days.dictionary.to_pylist(), _NO_DAY]
        codes = np.asarray(days.indices.fill_null(len(known) - 1))[of_met]
        names: Any = answer.result.matches.column("subscription").combine_chunks()
        names = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
        numbers = np.asarray(names.indices).astype(np.int64)
        pairs, counts = np.unique(numbers * len(known) + codes, return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            name = names.dictionary[pair // len(known)].as_py()
            self._days[name][known[pair % len(known)]] += count
        late = np.argsort(np.argsort(known))[codes]  # later days are greater; no day is least
        for place in _first_of_each(numbers, -late, rows, self._most).tolist():
            row, id = int(rows[place]), answer.ids[int(events[place])].as_py()
            name = names.dictionary[int(numbers[place])].as_py()
            shown = portion.raw(row)[:MOST_SHOWN].decode(errors="replace")
            self._keep(name, _Kept(known[codes[place]], portion.place(row), id, shown))

    def _keep(self, name: str, example: "_Kept") -> None:
        kept = self._examples[name]
        kept.append(example)
        if len(kept) > self._most:
            kept.sort(key=_Kept.order)
            del kept[self._most :]

    def as_json(self) -> dict[str, Any]:
        """All of it, for the driver."""
        return {"counts": self.counts, "days": self._days, "examples": self._examples}

    def add(self, other: dict[str, Any]) -> None:
        """Take what another tally says."""
        self.counts.update(other["counts"])
        for name, days in other["days"].items():
            self._days[name].update(days)
        for name, examples in other["examples"].items():
            for each in examples:
                self._keep(name, _Kept(*each))

    def replayed(self, ids: Iterable[str], problems: tuple[Rejected, ...]) -> Replayed:
        """The result, for subscriptions of these ids."""
        counts = self.counts
        received = (self._received(id) for id in ids)
        return Replayed(
            counts["events"],
            counts["matches"],
            counts["rejected"] + len(problems),
            counts["failed"],
            tuple(received),
            problems,
        )

    def _received(self, id: str) -> Received:
        days: Mapping[str, int] = self._days.get(id, {})
        examples = sorted(self._examples.get(id, ()), key=_Kept.order)
        return Received(
            id,
            sum(days.values()),
            {day or None: days[day] for day in sorted(days)},
            tuple(Example(each.day or None, each.place, each.event, each.raw) for each in examples),
        )


class _Kept(NamedTuple):
    day: str
    place: str
    event: str
    raw: str

    def order(self) -> tuple[int, str, int, str]:
        """The latest day first; of one day the first by place."""
        day = -date.fromisoformat(self.day).toordinal() if self.day else 0
        name, _, number = self.place.rpartition(":")
        return (day, name, int(number), "") if number.isdecimal() else (day, self.place, 0, "")


def _first_of_each(groups: Rows, *keys: Any) -> Rows:
    *orders, most = keys
    order = np.lexsort((*reversed(orders), groups))
    starts = np.flatnonzero(np.concatenate(([True], np.diff(groups[order]) != 0)))
    within = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    chosen: Rows = order[within < most]
    return chosen
