"""The match stage: slices of files in; the matches go to files, and what was done comes out.

    slices ──> portions of events ──> engine ──> files of this task      one row: counts, names

Each is one task's own work: nothing is shuffled, and no event or match passes through the JVM. The
stage reads and asks the engine, and has no rule of its own. A task that is tried again because its
worker died goes about it more carefully (`careful`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.decoding import Decoding, Rejected
from sensewire.events.files import Slice
from sensewire.events.portions import Portion, portions
from sensewire.spark.careful import carefully
from sensewire.spark.index import Shipped, opened
from sensewire.spark.ingest import slices_in
from sensewire.spark.outcomes import NOTHING, Outcomes, Pace, outcomes_of
from sensewire.spark.progress import Counters
from sensewire.spark.schema import DONE
from sensewire.spark.task import Task, Writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def matched(
    slices: "DataFrame",
    index: Shipped,
    decoding: Decoding,
    writing: Writing,
    counters: Counters | None = None,
) -> "DataFrame":
    """Match the events of a table of slices; a row for each task."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        engine = opened(index)
        with Task(writing, counters) as task:
            for outcomes in outcomes_in(
                slices_in(rows), engine, decoding, is_careful=task.is_again
            ):
                task.add(outcomes)
        yield task.done(sum(row["weight"] for row in rows))

    return slices.mapInArrow(stage, from_arrow_schema(DONE))


def outcomes_in(
    parts: Iterable[Slice], engine: Engine, decoding: Decoding, *, is_careful: bool = False
) -> Iterator[Outcomes]:
    """What comes of the events of slices."""

    pace = Pace(engine)

    def matching(portion: Portion) -> Iterator[Outcomes]:
        return outcomes_of(portion, engine, decoding, pace)

    for portion in portions(parts, decoding, wanted=engine):
        if isinstance(portion, Rejected):
            yield replace(NOTHING, rejected=(portion,))
        elif is_careful:
            yield from carefully(portion, matching)
        else:
            yield from matching(portion)
