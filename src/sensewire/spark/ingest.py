"""The ingest stage: event files as slices that workers read for themselves.

Few, small rows travel through Spark, and no event does: a row says which bytes of which file. A
slice owns the lines that start in it; so that each knows the number of its first line, the lines
of every slice are counted in a first distributed pass, and summed up here.

    file of 3 slices    lines that start in each: 40, 38, 41    first lines: 1, 41, 79

The paths must lead to the same files on every machine. Cost: one more pass over the bytes of files
that are cut, at the speed of the disk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sensewire.events.files import EventFile, Kind, Slice, slices
from sensewire.events.lines import count_lines
from sensewire.spark.schema import LINE_COUNTS, SLICES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALLEST_SLICE = 1_048_576
LARGEST_SLICE = 67_108_864
"""Bytes of a slice, unless the number of partitions is given."""

_TASKS_A_CORE = 3  # so that a slow slice does not keep the others waiting


def sliced(
    spark: "SparkSession", files: Sequence[EventFile], partitions: int | None
) -> "DataFrame":
    """The files as a table of slices with their line numbers, spread over the partitions."""
    tasks = partitions or spark.sparkContext.defaultParallelism * _TASKS_A_CORE
    step = slice_size(sum(file.size for file in files), tasks, given=partitions is not None)
    parts = [part for file in files for part in slices(file, step)]
    return table(spark, numbered(spark, parts, tasks), tasks)


def slice_size(total: int, tasks: int, *, given: bool) -> int:
    """How many bytes a slice has, so that `total` bytes make about one slice a task.

    >>> slice_size(1_000, 7, given=True), slice_size(1_000, 7, given=False)
    (143, 1048576)
    """
    even = max(1, -(-total // tasks))
    return even if given else min(max(even, SMALLEST_SLICE), LARGEST_SLICE)


def numbered(spark: "SparkSession", parts: Sequence[Slice], tasks: int) -> list[Slice]:
    """The slices, each with the number of the first line that it owns."""
    # What starts at 0 starts with line 1; its lines matter where more of the file follows.
    cut = [part for part in parts if part.end < part.file.size or part.start > 0]
    counts = dict(zip(cut, _line_counts(spark, cut, tasks), strict=True))
    result: list[Slice] = []
    first_line = 1
    for part in parts:
        first_line = 1 if part.start == 0 else first_line
        result.append(replace(part, first_line=first_line))
        first_line += counts.get(part, 0)
    return result


def table(spark: "SparkSession", parts: Sequence[Slice], tasks: int) -> "DataFrame":
    """Slices as a table, spread evenly over as many partitions as there is work for."""
    rows = [
        {
            "path": part.file.path,
            "name": part.file.name,
            "id": part.file.id,
            "kind": part.file.kind.value,
            "size": part.file.size,
            "start": part.start,
            "end": part.end,
            "first_line": part.first_line,
        }
        for part in parts
    ]
    held = spark.createDataFrame(pa.Table.from_pylist(rows, schema=SLICES))
    return held.repartition(max(1, min(tasks, len(parts))))


def slices_of(batch: pa.RecordBatch) -> Iterator[Slice]:
    """The slices that a batch of the table holds."""
    for row in batch.to_pylist():
        file = EventFile(row["path"], row["name"], row["id"], Kind(row["kind"]), row["size"])
        yield Slice(file, row["start"], row["end"], row["first_line"])


def _line_counts(spark: "SparkSession", parts: Sequence[Slice], tasks: int) -> list[int]:
    if not parts:
        return []
    from pyspark.sql.pandas.types import from_arrow_schema

    # `first_line` carries the row's own number: the rows come back in any order.
    rows = [replace(part, first_line=row) for row, part in enumerate(parts)]
    counted = table(spark, rows, tasks).mapInArrow(_counted, from_arrow_schema(LINE_COUNTS))
    found = {row["row"]: row["lines"] for row in counted.collect()}
    return [found[row] for row in range(len(parts))]


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = []
        for part in slices_of(batch):
            with Path(part.file.path).open("rb") as file:
                lines = count_lines(file, part.start, part.end)
            rows.append({"row": part.first_line, "lines": lines})
        yield pa.RecordBatch.from_pylist(rows, schema=LINE_COUNTS)
