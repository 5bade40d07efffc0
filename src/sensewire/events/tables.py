"""Rows of Parquet files, of Arrow files and of packed cells, as portions of records.

    parquet   row groups ──────────┬──> batches of at most 16,384 rows, numbered through the file
    arrow     record batches ──────┤
    packed    cells: IPC streams ──┘    numbered through their cell, and it through the file

Each file is read by its own schema. With `wanted`, only the columns are read in which somebody
wants something: a struct's leaves are wanted by their dotted paths. What is broken costs its row
group, its cell or the rest of its Arrow file, and is rejected with the number of its first row.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from sensewire.events.arrow_files import ROWS_AT_ONCE, Choice, ipc_batches
from sensewire.events.column_terms import compute, leaves
from sensewire.events.decoding import KEPT_OF_LONG, Decoding, Rejected, Wanted, too_long
from sensewire.events.files import PACKED, Slice
from sensewire.events.kinds import Kind
from sensewire.events.locations import reason_of
from sensewire.events.record_portion import JSON, RecordPortion

_CELLS_AT_ONCE = 16
_BROKEN = (OSError, pa.ArrowException, ValueError)


def row_portions(
    part: Slice, decoding: Decoding, wanted: Wanted | None = None
) -> Iterator[RecordPortion | Rejected]:
    """The rows of a slice of a Parquet or Arrow file, or of packed rows."""
    choice = None if wanted is None else choice_of(wanted, decoding)
    match part.file.kind:
        case Kind.PACKED:
            batches = _packed(part, choice)
        case Kind.ARROW:
            batches = _arrow(part, choice)
        case _:
            batches = _parquet(part, choice)
    for item in batches:
        if isinstance(item, Rejected):
            yield item
        elif item.is_json:
            yield from _json_portions(item, decoding)
        else:
            yield item


def _parquet(part: Slice, choice: Choice | None) -> Iterator[RecordPortion | Rejected]:
    name = part.file.name
    with part.source.open_arrow() as file, parquet.ParquetFile(file) as read:
        columns = None if choice is None else choice(read.schema_arrow)
        number = part.first_line
        for group in _groups(part, read):
            first = number
            number += read.metadata.row_group(group).num_rows
            try:
                for batch in _batches_of(read, group, ROWS_AT_ONCE, columns):
                    yield _portion(batch, name, first)
                    first += len(batch)
            except _BROKEN as error:
                reason = f"row group {group + 1} is corrupt ({reason_of(error)})"
                yield Rejected(
                    f"{name}:{first}", b"", f"{reason}; rows {first} to {number - 1} are not read"
                )


def _arrow(part: Slice, choice: Choice | None) -> Iterator[RecordPortion | Rejected]:
    name, number = part.file.name, part.first_line
    with part.source.open_arrow() as file:
        try:
            for batch in ipc_batches(file, choice):
                yield _portion(batch, name, number)
                number += len(batch)
        except _BROKEN as error:
            reason = f"the Arrow file is truncated or corrupt here ({reason_of(error)})"
            yield Rejected(f"{name}:{number}", b"", f"{reason}; rows from {number} are not read")


def _packed(part: Slice, choice: Choice | None) -> Iterator[RecordPortion | Rejected]:
    name = part.file.name
    if part.data is not None:
        yield from _cell(pa.py_buffer(part.data), name, choice)
        return
    with part.source.open_arrow() as file, parquet.ParquetFile(file) as read:
        number = part.first_line
        for group in _groups(part, read):
            first = number
            number += read.metadata.row_group(group).num_rows
            try:
                for batch in _batches_of(read, group, _CELLS_AT_ONCE, [PACKED]):
                    for cell in batch.column(0):
                        if cell.is_valid:
                            yield from _cell(cell.as_buffer(), f"{name}[{first}]", choice)
                        first += 1
            except _BROKEN as error:
                reason = f"row group {group + 1} is corrupt ({reason_of(error)})"
                reason = f"{reason}; cells {first} to {number - 1} are not read"
                yield Rejected(f"{name}[{first}]:1", b"", reason)


def _cell(data: pa.Buffer, name: str, choice: Choice | None) -> Iterator[RecordPortion | Rejected]:
    """A cell is read whole or not at all: what it holds was written at once."""
    try:
        batches = list(ipc_batches(pa.BufferReader(data), choice))
    except _BROKEN as error:
        kept = data.slice(0, min(data.size, KEPT_OF_LONG)).to_pybytes()
        reason = f"no Arrow IPC stream that can be read ({reason_of(error)})"
        yield Rejected(f"{name}:1", kept, reason)
        return
    number = 1
    for batch in batches:
        yield _portion(batch, name, number)
        number += len(batch)


def _groups(part: Slice, read: parquet.ParquetFile) -> range:
    found = read.metadata.num_row_groups
    if part.end > found:
        raise OSError(f"it has {found} row groups only: it was changed")
    return range(part.start, part.end)


def _batches_of(
    read: parquet.ParquetFile, group: int, rows: int, columns: list[str] | None
) -> Iterator[pa.RecordBatch]:
    return read.iter_batches(
        batch_size=rows, row_groups=[group], columns=columns, use_threads=False
    )


def _portion(batch: pa.RecordBatch, name: str, first: int) -> RecordPortion:
    return RecordPortion(batch, name, np.arange(first, first + len(batch), dtype=np.int64))


def _json_portions(
    portion: RecordPortion, decoding: Decoding
) -> Iterator[RecordPortion | Rejected]:
    """A portion whose texts are bytes, and none of them too long."""
    column: Any = portion.batch.column(0)
    try:
        texts = compute.cast(column, pa.large_binary())
    except pa.ArrowException:
        reason = f"the one column {JSON!r} is of type {column.type}; expected JSON texts"
        yield Rejected(portion.place(0), b"", reason)
        return
    long = np.asarray(compute.fill_null(compute.binary_length(texts), 0)) > decoding.longest
    for row in np.flatnonzero(long).tolist():
        kept = texts[row].as_buffer()[: min(decoding.longest, KEPT_OF_LONG)].to_pybytes()
        yield Rejected(portion.place(row), kept, too_long(decoding.longest, len(kept)))
    if long.any():
        texts = texts.filter(pa.array(~long))
    batch = pa.RecordBatch.from_arrays([texts], names=[JSON])
    if len(batch):
        yield RecordPortion(batch, portion.file, portion.numbers[~long])


def choice_of(wanted: Wanted, decoding: Decoding) -> Choice:
    """The columns to read: where somebody wants a leaf, and where the id or the time stands."""
    held = [name for name in (decoding.id_field, decoding.time_field) if name is not None]

    def chosen(schema: pa.Schema) -> list[str]:
        names = [
            field.name
            for field in schema
            if any(name == field.name or name.startswith(f"{field.name}.") for name in held)
            or any(wanted.wants(leaf) for leaf in leaves(field.name, field.type))
        ]
        others = [name for name in schema.names if name not in names]
        # Rows are counted by a column; and one column `json` alone would be taken for JSON texts.
        return [*names, *others[:1]] if not names or names == [JSON] else names

    return chosen
