"""An index that is too large for a worker: split over shards, each event matched where it may be.

    slices ──> route ──┬──> slice, shard, which of its events ──> match, shard by shard ──> files
               rejections, counts                                 (one shard a task)

The route stage decodes the events and asks an engine of anchors (`routing`). What travels is a bit
for each event of a slice that goes to a shard; whoever has the shard reads the slice again, and
decodes and matches the chosen events alone. So the same stages serve any format.

    events of a slice   0 1 2 3 4 5 6 7
    to shard 0          1 0 0 0 0 1 0 0     to shard 2    0 0 1 0 0 1 1 0      to shard 1: no row
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.decoding import Decoding, Rejected
from sensewire.events.files import Slice
from sensewire.events.portions import Portion, portions
from sensewire.model.learned import Learned
from sensewire.routing import Router
from sensewire.sharding import measured, split
from sensewire.spark.careful import carefully
from sensewire.spark.index import KEEPER, Shipped
from sensewire.spark.ingest import slices_in
from sensewire.spark.outcomes import NOTHING, Outcomes, Pace, Rows, answers_of, outcomes_of
from sensewire.spark.progress import Counters
from sensewire.spark.schema import DONE, ROUTED
from sensewire.spark.task import Task, Writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_SHARD = -1

Chosen = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sharded:
    """Where workers find the router and the shards."""

    router: Shipped
    shards: tuple[Shipped, ...]


def save_shards(engine: Engine, shards: int, statistics: Learned, place: Path) -> list[Path]:
    """Split what stands over so many shards; the folders of the router, then of each shard."""
    standing = list(engine.subscriptions())
    asked = measured((each for _, each in standing), engine.knowledge, statistics.sample)
    parts = split(asked, shards)
    folders = [place / "router", *(place / f"shard-{number}" for number in range(shards))]
    Router.of(asked, parts).save(folders[0], statistics)
    for rows, folder in zip(parts, folders[1:], strict=True):
        shard = Engine(engine.knowledge)
        shard.learn(statistics)
        for row in rows.tolist():
            id, subscription = standing[row]
            shard.add(subscription, id=id)
        shard.save(folder)
    return folders


def matched_in_shards(
    slices: "DataFrame",
    index: Sharded,
    decoding: Decoding,
    writing: Writing,
    counters: Counters | None = None,
) -> "DataFrame":
    """Match the events of a table of slices; a row for each task of either stage."""
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.types import from_arrow_schema

    shards = len(index.shards)
    each = -(-max(slices.rdd.getNumPartitions(), 1) // shards)  # tasks for each shard

    def route(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        router = _router(index.router)
        with Task(writing, counters) as task:
            for row, part in zip(rows, slices_in(rows), strict=True):
                chosen = _chosen_in(part, router, decoding, task)
                for shard in np.flatnonzero(chosen.any(axis=1)).tolist():
                    place = shard * each + (task.number + shard) % each
                    bits = np.packbits(chosen[shard]).tobytes()
                    yield _row(row, place, shard, chosen.shape[1], bits)
        done = task.done(sum(row["weight"] for row in rows) // 2)
        place = task.number % (shards * each)
        yield _row(rows[0], place, _NO_SHARD, 0, b"", done.to_pylist()[0])

    def match(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        for row in rows:
            if row["shard"] == _NO_SHARD:
                yield pa.RecordBatch.from_pylist([json.loads(row["done"])], schema=DONE)
        rows = [row for row in rows if row["shard"] != _NO_SHARD]
        if not rows:
            return
        weight = 0
        with Task(writing, counters) as task:
            for row, part in zip(rows, slices_in(rows), strict=True):
                engine = _shard(index.shards[row["shard"]])
                for outcomes in _outcomes_in(part, row, engine, decoding, task):
                    task.add(outcomes, counts_events=False)
                weight += row["weight"] // (2 * shards)
        yield task.done(weight)

    routed = slices.mapInArrow(route, from_arrow_schema(ROUTED))
    placed = routed.repartitionById(shards * each, col("partition"))
    return placed.mapInArrow(match, from_arrow_schema(DONE))


def _row(
    row: dict[str, Any], place: int, shard: int, count: int, bits: bytes, done: object = None
) -> pa.RecordBatch:
    more = {
        "partition": place,
        "shard": shard,
        "count": count,
        "chosen": bits,
        "done": None if done is None else json.dumps(done),
    }
    return pa.RecordBatch.from_pylist([{**row, **more}], schema=ROUTED)


@lru_cache(maxsize=1)
def _router(index: Shipped) -> Router:
    return KEEPER.kept(lambda: Router.open(index.folder()))


@lru_cache(maxsize=1)  # a worker has memory for one
def _shard(index: Shipped) -> Engine:
    folder = index.folder()
    return KEEPER.kept(lambda: Engine.open(folder, version=index.version, as_it_is=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Numbered:
    """A portion whose events are numbered through their slice."""

    portion: Portion
    numbers: Rows

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, row: int) -> str:
        return self.portion.place(row)

    def raw(self, row: int) -> bytes:
        return self.portion.raw(row)

    def at(self, rows: Sequence[int]) -> "_Numbered":
        return _Numbered(self.portion.at(rows), self.numbers[list(rows)])


def _chosen_in(part: Slice, router: Router, decoding: Decoding, task: Task) -> Chosen:
    """For each shard which of a slice's events go there; what is no event is the task's to tell."""

    def routing(numbered: _Numbered) -> Iterator[Outcomes]:
        for answer in answers_of(numbered.portion, router.engine, decoding):
            goes = router.routes(answer.result, len(answer.rows))
            shards = np.repeat(np.arange(len(goes)), [len(rows) for rows in goes])
            numbers = numbered.numbers[answer.rows[np.concatenate(goes)]]
            columns: list[Any] = [pa.array(numbers), pa.array(shards)]
            routes = pa.Table.from_arrays(columns, names=["event", "shard"])
            yield Outcomes(answer.events, routes, NOTHING.failed, answer.rejected, answer.seen)

    first = 0
    routes: list[pa.Table] = []
    for portion in portions([part], decoding, wanted=router.engine):
        if isinstance(portion, Rejected):
            task.add(replace(NOTHING, rejected=(portion,)))
            continue
        numbered = _Numbered(portion, np.arange(first, first + len(portion)))
        first += len(portion)
        for outcomes in carefully(numbered, routing) if task.is_again else routing(numbered):
            if "shard" in outcomes.matches.column_names:
                routes.append(outcomes.matches)
            task.add(replace(outcomes, matches=NOTHING.matches))
    chosen = np.zeros((router.shards, first), np.bool_)
    for table in routes:
        chosen[table.column("shard").to_numpy(), table.column("event").to_numpy()] = True
    return chosen


def _outcomes_in(
    part: Slice, row: dict[str, Any], engine: Engine, decoding: Decoding, task: Task
) -> Iterator[Outcomes]:
    """What comes of the events of a slice that were chosen for this shard."""

    pace = Pace(engine)

    def matching(portion: Portion) -> Iterator[Outcomes]:
        # What is no event, the route stage has told.
        for outcomes in outcomes_of(portion, engine, decoding, pace):
            yield replace(outcomes, rejected=())

    bits = np.frombuffer(row["chosen"], np.uint8)
    chosen = np.unpackbits(bits, count=row["count"]).astype(np.bool_)
    first = 0
    for portion in portions([part], decoding, wanted=engine):
        if isinstance(portion, Rejected):
            continue
        mine = np.flatnonzero(chosen[first : first + len(portion)])
        first += len(portion)
        if len(mine):
            some = portion if len(mine) == len(portion) else portion.at(mine.tolist())
            yield from carefully(some, matching) if task.is_again else matching(some)
    if first != len(chosen):
        reason = (
            f"had {len(chosen):,} events when it was first read and {first:,} when it was read "
            "again: it changed meanwhile; leave files alone while a run reads them"
        )
        yield replace(NOTHING, rejected=(Rejected(part.file.name, b"", reason),))
