"""The ingest stage: event files as slices that workers read for themselves.

Few, small rows travel through Spark, and no event does: a row says which bytes of which file. A
slice owns the lines that start in it; so that each knows the number of its first line, the lines
of every slice are counted in a first pass, and summed up here. The pass runs in the driver where
the files are at hand and not too large, else as a job of its own.

    file of 3 slices    lines that start in each: 40, 38, 41    first lines: 1, 41, 79

Every slice is given to a task here, the largest first, each to the task that has least to do: a
hundred thousand small files are as few tasks as one large file. The paths must lead to the same
files on every machine. Cost: one more pass over the bytes of files of lines that are cut, at the
speed of the disk.

Events that are no files come as packed rows: a table whose cells are Arrow IPC streams of many
rows. `pack` makes one of any table, `packed` makes slices of it.
"""

import heapq
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from os import cpu_count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc

from sensewire.events.files import PACKED, EventFile, Slice, slices
from sensewire.events.kinds import Kind
from sensewire.events.lines import count_lines
from sensewire.events.locations import LocationError
from sensewire.spark.schema import LINE_COUNTS, SLICES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COUNTED = (Kind.LINES, Kind.NQUADS)
_PACKED = pa.schema({PACKED: pa.binary()})
_TASK = "task"

SMALLEST_SLICE = 1_048_576
LARGEST_SLICE = 33_554_432
"""Bytes of a slice, unless the number of partitions is given."""

COUNTED_HERE = 4_294_967_296
"""Bytes of local files whose lines the driver counts: a job would take longer to begin."""

_OPENING = 16_384  # bytes that could be read in the time that opening a file takes
_TASKS_A_CORE = 3  # so that a slow slice does not keep the others waiting


def sliced(
    spark: "SparkSession", files: Sequence[EventFile], partitions: int | None
) -> "DataFrame":
    """The files as a table of slices with their line numbers, spread over the partitions."""
    total = sum(file.size for file in files)
    cores = spark.sparkContext.defaultParallelism
    tasks = partitions or cores * max(_TASKS_A_CORE, -(-total // (cores * LARGEST_SLICE)))
    step = slice_size(total, tasks, given=partitions is not None)  # as many for each core
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
    counted = [part for part, after in pairwise(parts) if _goes_on(part, after)]
    counts = dict(zip(counted, _line_counts(spark, counted, tasks), strict=True))
    result: list[Slice] = []
    first_line = 1
    for part in parts:
        if part.file.kind not in _COUNTED:
            result.append(part)  # row groups know their numbers
            continue
        first_line = 1 if part.start == 0 else first_line
        result.append(replace(part, first_line=first_line))
        first_line += counts.get(part, 0)
    return result


def _goes_on(part: Slice, after: Slice) -> bool:
    """Whether the slice after it continues the same file, and needs to know its number."""
    return part.file.kind in _COUNTED and after.start > 0 and after.file.path == part.file.path


def table(spark: "SparkSession", parts: Sequence[Slice], tasks: int) -> "DataFrame":
    """Slices as a table, in as many partitions as there is work for, and the same for each."""
    tasks = max(1, min(tasks, len(parts)))
    rows: dict[str, list[Any]] = {  # Any: a column of each type
        "path": [part.file.path for part in parts],
        "name": [part.file.name for part in parts],
        "id": [part.file.id for part in parts],
        "kind": [part.file.kind.value for part in parts],
        "size": [part.file.size for part in parts],
        "start": [part.start for part in parts],
        "end": [part.end for part in parts],
        "first_line": [part.first_line for part in parts],
        "data": [part.data for part in parts],
        "weight": [part.weight for part in parts],
        _TASK: shared_out([part.weight + _OPENING for part in parts], tasks),
    }
    schema = SLICES.append(pa.field(_TASK, pa.int32()))
    held = spark.createDataFrame(pa.Table.from_pydict(rows, schema=schema))
    return held.repartitionById(tasks, held[_TASK]).drop(_TASK)


def shared_out(weights: Sequence[int], tasks: int) -> list[int]:
    """The task of each weight: the heaviest first, each to the task that has least so far.

    >>> shared_out([5, 9, 4, 1], 2)
    [1, 0, 1, 0]
    """
    loads = [(0, task) for task in range(tasks)]
    result = [0] * len(weights)
    for place in sorted(range(len(weights)), key=lambda place: -weights[place]):
        load, task = loads[0]
        result[place] = task
        heapq.heapreplace(loads, (load + weights[place], task))
    return result


def packed(
    table: "DataFrame", column: str = PACKED, name: str = PACKED, *, number: str | None = None
) -> "DataFrame":
    """The slices of a table of packed rows: a binary column of Arrow IPC streams.

    Rows are numbered within their cell, from 1. A cell is called by the column `number`, where
    there is one, else by a hash of its bytes: `name[3f0c81d2a6b4e597]:12`. Both stay the same
    however the table is cut, and so do the ids of events that bring none.
    """
    from pyspark.sql import functions as sql

    cell = sql.col(column)
    called = sql.lower(sql.hex(sql.xxhash64(cell))) if number is None else sql.col(number)
    place = sql.concat(sql.lit(f"{name}["), called.cast("string"), sql.lit("]"))
    size = sql.octet_length(cell).cast("bigint")
    return table.where(cell.isNotNull()).select(
        sql.lit("").alias("path"),
        place.alias("name"),
        place.alias("id"),
        sql.lit(Kind.PACKED.value).alias("kind"),
        size.alias("size"),
        sql.lit(0).cast("bigint").alias("start"),
        size.alias("end"),
        sql.lit(1).cast("bigint").alias("first_line"),
        cell.alias("data"),
        size.alias("weight"),
    )


def pack(table: "DataFrame", rows: int = 16_384) -> "DataFrame":
    """A table as packed rows: one binary column `packed`, whose cells hold up to `rows` rows each.

    A column is an attribute; one column `json` alone holds JSON texts.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for cell in _cells(batches, rows):
            yield pa.RecordBatch.from_pydict({PACKED: [cell]}, schema=_PACKED)

    return table.mapInArrow(stage, from_arrow_schema(_PACKED))


def _cells(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[bytes]:
    """Batches of any size as IPC streams of `rows` rows each, and one of the rest."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        while len(batch):
            held.append(batch.slice(0, rows - count))
            count += len(held[-1])
            batch = batch.slice(len(held[-1]))
            if count == rows:
                yield _stream(held)
                held, count = [], 0
    if held:
        yield _stream(held)


def _stream(batches: Sequence[pa.RecordBatch]) -> bytes:
    sink = io.BytesIO()
    (whole,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    with ipc.new_stream(sink, whole.schema) as writer:
        writer.write_batch(whole)
    return sink.getvalue()


def slices_of(batch: pa.RecordBatch) -> Iterator[Slice]:
    """The slices that a batch of the table holds."""
    return slices_in(batch.to_pylist())


def slices_in(rows: Iterable[Mapping[str, Any]]) -> Iterator[Slice]:
    """The slices that rows of the table say."""
    for row in rows:
        file = EventFile(row["path"], row["name"], row["id"], Kind(row["kind"]), row["size"])
        yield Slice(file, row["start"], row["end"], row["first_line"], row["data"])


def _line_counts(spark: "SparkSession", parts: Sequence[Slice], tasks: int) -> list[int]:
    if sum(part.end - part.start for part in parts) <= COUNTED_HERE and all(
        part.file.location.is_local for part in parts
    ):
        with ThreadPoolExecutor(cpu_count()) as threads:  # reading and counting hold no lock
            return list(threads.map(_count, parts))
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
            rows.append({"row": part.first_line, "lines": _count(part)})
        yield pa.RecordBatch.from_pylist(rows, schema=LINE_COUNTS)


def _count(part: Slice) -> int:
    try:
        with part.file.location.open() as file:
            return count_lines(file, part.start, part.end)
    except (OSError, pa.ArrowException, LocationError):
        return 0  # whoever reads it next says what is wrong with it
