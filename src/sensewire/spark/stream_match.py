"""The match stage of a stream: what arrives in a micro-batch, matched by an engine at a change.

    rows of the source ──> Arrived ──> engine ──> live by tenure ──> Found, one cell a task
                           arrivals    outcomes   tenures            store/found

The stage has no rule of its own: who is live for which event is said by `tenures`. A task that is
tried again finds out first which of its events kill whoever matches them (`careful`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from sensewire.events.decoding import Decoding, Rejected, Wanted
from sensewire.events.kinds import Kind
from sensewire.events.portions import Portion
from sensewire.model.siphash import hashes_of
from sensewire.spark.arrivals import Arrived, Reader, Sort
from sensewire.spark.careful import killers
from sensewire.spark.index import Shipped, opened
from sensewire.spark.outcomes import Answer, Outcomes, Pace, answers_of, outcomes_of
from sensewire.spark.task import is_again
from sensewire.store.found import EVENTS, FAILED, MATCHES, REFUSED, REJECTED, SAMPLE, Found
from sensewire.store.found import together as found_together
from sensewire.tenures import Increment, LiveEngine, Tenures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Int64 = npt.NDArray[np.int64]

_TASK: dict[str, pa.DataType] = {
    "task": pa.int32(),
    "found": pa.binary(),
    "upto": pa.int64(),  # of the log
    "oldest": pa.int64(),  # arrival
}
_TASKS = pa.schema(_TASK)


@dataclass(frozen=True, slots=True)
class At:
    """Where a micro-batch stands: an index, what came and went since it was compiled, the change
    that the batch is pinned to, and the key of the store's hashes."""

    index: Shipped
    base: int
    increments: tuple[Increment, ...]
    change: int
    secret: bytes
    sample: int = 0
    """How many records a task is to send along, as they came."""


def matched_stream(rows: "DataFrame", reader: Reader, at: At, decoding: Decoding) -> "DataFrame":
    """Match what arrives; a row for each task."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        seen = _Seen(reader)
        found = found_in(seen.rows(batches), seen, at, decoding, is_careful=is_again())
        row = {"task": number, "found": found.to_bytes(), "upto": seen.upto, "oldest": seen.oldest}
        yield pa.RecordBatch.from_pylist([row], schema=_TASKS)

    return rows.mapInArrow(stage, from_arrow_schema(_TASKS))


class _Seen:
    """A reader that notes how far in the log it came, and when its oldest event arrived."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.upto: int | None = None
        self.oldest: int | None = None

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches as they are."""
        for batch in batches:
            if "upto" in batch.schema.names:
                numbers = [each for each in batch.column("upto").to_pylist() if each is not None]
                self.upto = max(numbers, default=self.upto)
            yield batch

    def __call__(
        self, rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]:
        for arrived in self._reader(rows, decoding, wanted):
            if len(arrived.arrivals):
                oldest = int(arrived.arrivals.min())
                self.oldest = oldest if self.oldest is None else min(oldest, self.oldest)
            yield arrived


@lru_cache(maxsize=2)
def _live(index: Shipped, base: int) -> LiveEngine:
    engine = opened(index)
    return LiveEngine(engine, Tenures(engine.beside or None), base)


def found_in(
    rows: Iterable[pa.RecordBatch],
    reader: Reader,
    at: At,
    decoding: Decoding,
    *,
    is_careful: bool = False,
) -> Found:
    """What comes of what arrives."""
    live = _live(at.index, at.base)
    live.advance(at.increments)
    engine = live.engine
    pace = Pace(engine)
    parts: list[Found] = []
    sampled = 0

    def matching(portion: Portion) -> Iterator[Outcomes]:
        return outcomes_of(portion, engine, decoding, pace)

    for arrived in reader(rows, decoding, engine):
        portion = arrived.portion
        if isinstance(portion, Rejected):
            parts.append(_rejected([portion], arrived.sort))
            continue
        if is_careful and (dead := killers(portion, matching)):
            parts.append(_rejected([each.rejected for each in dead], arrived.sort))
            gone = {each.row for each in dead}
            kept = [row for row in range(len(portion)) if row not in gone]
            arrived = _rows(arrived, kept)
            portion = portion.at(kept)
        if sampled < at.sample:
            some = _sample(portion, at.sample - sampled)
            sampled += len(some)
            parts.append(Found(_NO_HASHES, sample=pa.table({"raw": some}, schema=SAMPLE)))
        first = 0
        while first < len(portion):
            count = pace.piece(len(portion) - first)
            for answer in answers_of(portion.some(first, count), engine, decoding):
                pace.note(len(answer.rows), answer.result.matches.num_rows)
                parts.append(_found(answer, arrived, first + answer.rows, live, at))
            first += count
    refused = [{"subscription": key, "reason": why} for key, why in live.refused.items()]
    live.refused.clear()
    if refused:
        table = pa.Table.from_pylist(refused, schema=REFUSED)
        parts.append(Found(_NO_HASHES, refused=table))
    return found_together(parts)


_NO_HASHES = np.empty((0, 2), np.uint64)


def _rows(arrived: Arrived, kept: Sequence[int]) -> Arrived:
    positions = None if arrived.positions is None else arrived.positions[kept]
    assert not isinstance(arrived.portion, Rejected)
    return Arrived(arrived.portion.at(kept), arrived.sort, positions, arrived.arrivals[kept])


def _found(answer: Answer, arrived: Arrived, rows: Int64, live: LiveEngine, at: At) -> Found:
    """An answer of the engine in the store's words; `rows` are those of the portion that arrived,
    for each of the answer's events."""
    result = answer.result
    bad = np.zeros(len(rows), np.bool_)
    bad[result.rejected.column("event").to_numpy()] = True
    ordinal = np.cumsum(~bad, dtype=np.int32) - np.int32(1)  # among those that are events
    order = np.full(len(rows), at.change) if arrived.positions is None else arrived.positions[rows]
    arrivals = arrived.arrivals[rows]

    def kept(table: pa.Table) -> tuple[Int64, Int64, npt.NDArray[np.bool_]]:
        events: Int64 = table.column("event").combine_chunks().to_numpy()
        keys = live.keys(table.column("subscription"))
        return events, keys, live.tenures.live(keys, order[events], arrivals[events])

    events, keys, stays = kept(result.matches)
    failed, failed_keys, failed_stays = kept(result.failures)
    matches = result.matches if stays.all() else result.matches.filter(pa.array(stays))
    failures = result.failures.filter(pa.array(failed_stays))
    events, failed = events[stays], failed[failed_stays]
    named = np.unique(np.concatenate((events, failed)))
    return Found(
        _hashes(answer.ids, at.secret)[~bad],
        _named(answer, arrived, rows, named, ordinal),
        pa.Table.from_arrays(
            [
                pa.array(ordinal[events]),
                pa.array(keys[stays]),
                _as_json(matches.column("rows")),
                matches.column("distance"),
            ],
            schema=MATCHES,
        ),
        pa.Table.from_arrays(
            [
                pa.array(ordinal[failed]),
                pa.array(failed_keys[failed_stays]),
                failures.column("reason"),
            ],
            schema=FAILED,
        ),
        _rejected(answer.rejected, arrived.sort).rejected,
    )


def _named(
    answer: Answer, arrived: Arrived, rows: Int64, named: Int64, ordinal: npt.NDArray[np.int32]
) -> pa.Table:
    """The events that somebody hears of: ids and places."""
    ids: Any = answer.ids
    if arrived.positions is None:
        positions: Any = pa.nulls(len(named), pa.int64())
        places: Any = pa.array([answer.portion.place(row) for row in named.tolist()], pa.string())
    else:
        positions = pa.array(arrived.positions[rows[named]])
        places = pa.nulls(len(named), pa.string())
    return pa.Table.from_arrays(
        [pa.array(ordinal[named]), ids.take(pa.array(named)).cast(pa.string()), positions, places],
        schema=EVENTS,
    )


def _hashes(ids: Any, secret: bytes) -> npt.NDArray[np.uint64]:  # Any: an array of Arrow's
    texts = ids.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    utf8 = np.frombuffer(data or b"", np.uint8)
    return hashes_of(utf8, places[:-1], places[1:], secret)


def _as_json(rows: Any) -> Any:  # Any: a column of lists of maps; texts
    if rows.null_count == len(rows):
        return pa.nulls(len(rows), pa.string())
    texts = [
        None if row is None else orjson.dumps([dict(each) for each in row]).decode()
        for row in rows.to_pylist()
    ]
    return pa.array(texts, pa.string())


def _rejected(items: Sequence[Rejected], sort: Sort) -> Found:
    rows = [
        {
            "place": item.place,
            "reason": item.reason,
            "raw": item.raw,
            "kind": sort.of(item.raw).value,
            "name": sort.name,
            "facts": sort.facts,
        }
        for item in items
    ]
    return Found(_NO_HASHES, rejected=pa.Table.from_pylist(rows, schema=REJECTED))


def _sample(portion: Portion, most: int) -> list[bytes]:
    """Some records of a portion, as JSON: what the planner looks at."""
    from sensewire.events.record_portion import RecordPortion

    if not isinstance(portion, RecordPortion):
        return []
    rows = np.linspace(0, len(portion) - 1, min(most, len(portion)), dtype=int).tolist()
    return [portion.as_json(row) for row in rows]


def founds_in(rows: Iterable[Any], rejected: Sequence[Rejected] = ()) -> Found:
    """What all tasks of a batch found, in the order of the tasks, and what was rejected before;
    Any: rows of Spark's."""
    parts = sorted(rows, key=lambda row: row["task"])
    found = [Found.from_bytes(bytes(row["found"])) for row in parts]
    if rejected:
        found.append(_rejected(rejected, Sort(Kind.LINES)))
    return found_together(found)
