"""A workload of records as files of events: JSON lines, Parquet, and packed rows in Parquet.

The drawn events are repeated, each time with new ids: event number n is drawn event n modulo their
count, and its id is n. So a file can be long, and what must match is known from the drawn ones.
"""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from workloads import texts
from workloads.records import Records

ID = "id"
_GROUP = 131_072  # events of a row group
_CELL = 16_384  # events of a packed cell
_CELLS = 4  # of a row group
_PACKED = pa.schema({"packed": pa.binary()})


@dataclass(frozen=True, slots=True)
class EventFiles:
    """The same events in every format."""

    lines: Path
    parquet: Path
    packed: Path
    events: int

    @property
    def by_format(self) -> dict[str, Path]:
        """Each file, by what people call its format."""
        return {"JSON lines": self.lines, "Parquet": self.parquet, "packed rows": self.packed}


def written(records: Records, repeats: int, folder: Path) -> EventFiles:
    """Write a workload's events, so many times, in every format."""
    folder.mkdir()
    count = len(records.events)
    files = EventFiles(
        folder / "events.jsonl",
        folder / "events.parquet",
        folder / "packed.parquet",
        count * repeats,
    )
    lines = texts.as_lines(records, records.events)
    with files.lines.open("wb") as file:
        for repeat in range(repeats):
            file.write(b"".join(numbered(lines, repeat * count)))
    columns = texts.as_columns(records, records.events)
    _write_rows(columns, files.events, files.parquet)
    _write_cells(columns, files.events, files.packed)
    return files


def first_cells(files: EventFiles, folder: Path) -> Path:
    """A file of a few of the packed cells, in a new folder."""
    folder.mkdir()
    with pq.ParquetFile(files.packed) as file:
        pq.write_table(file.read_row_group(0), folder / "packed.parquet")
    return folder / "packed.parquet"


def numbered(lines: list[bytes], first: int = 0) -> list[bytes]:
    """Lines of JSON with ids that count from `first`, each with its end.

    >>> numbered([b'{"a":1}', b'{"a":2}'], 7)
    [b'{"id":"7","a":1}\\n', b'{"id":"8","a":2}\\n']
    """
    return [b'{"id":"%d",%b\n' % (first + row, line[1:]) for row, line in enumerate(lines)]


def _write_rows(columns: pa.RecordBatch, events: int, path: Path) -> None:
    with pq.ParquetWriter(path, _with_ids(columns, 0, 0).schema) as writer:
        for first in range(0, events, _GROUP):
            table = _with_ids(columns, first, min(first + _GROUP, events))
            writer.write_table(table, row_group_size=_GROUP)


def _write_cells(columns: pa.RecordBatch, events: int, path: Path) -> None:
    with pq.ParquetWriter(path, _PACKED) as writer:
        for group in range(0, events, _CELL * _CELLS):
            starts = range(group, min(group + _CELL * _CELLS, events), _CELL)
            cells = [_cell(_with_ids(columns, at, min(at + _CELL, events))) for at in starts]
            writer.write_table(pa.Table.from_pydict({"packed": cells}, schema=_PACKED))


def _with_ids(columns: pa.RecordBatch, first: int, end: int) -> pa.Table:
    """Events from `first` to `end`, their ids as the first column."""
    numbers = np.arange(first, end)
    rows = columns.take(numbers % len(columns))
    ids = pa.array(numbers).cast(pa.string())
    return pa.Table.from_batches([rows]).add_column(0, ID, ids)


def _cell(table: pa.Table) -> bytes:
    sink = BytesIO()
    (batch,) = table.combine_chunks().to_batches()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
