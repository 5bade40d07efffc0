"""Rows of CSV and TSV as portions of records: texts in columns, and no event for each row.

The texts are marked as untyped (`column_terms.UNTYPED`): they are read as `csv_events` reads them.
Cost: that of splitting the rows; of columns that nobody asks about, nothing more.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sensewire.events.arrow_files import ROWS_AT_ONCE, Choice
from sensewire.events.column_terms import UNTYPED
from sensewire.events.csv_rows import Header, Row, Table, table_of
from sensewire.events.decoding import Decoding, Rejected
from sensewire.events.lines import Line
from sensewire.events.record_portion import JSON, RecordPortion, Written

_BYTES_AT_ONCE = 33_554_432
_NOTHING = pa.field("", pa.null())


def csv_portions(
    lines: Iterator[Line],
    file: str,
    decoding: Decoding,
    separator: str | None,
    choice: Choice | None = None,
) -> Iterator[RecordPortion | Rejected]:
    """The rows of a table's lines; with a choice, the columns that it names."""
    table = table_of(lines, file, decoding.longest, separator)
    if not isinstance(table, Table):
        yield from () if table is None else (table,)
        return
    columns = _Columns(table.header, file, choice)
    held: list[Row] = []
    size = 0
    for row in table.rows:
        if isinstance(row, Rejected):
            yield row
            continue
        held.append(row)
        size += len(row.raw)
        if len(held) == ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield columns.portion(held)
            held, size = [], 0
    if held:
        yield columns.portion(held)


class _Columns:
    """The columns of a table, and which of them are read."""

    def __init__(self, header: Header, file: str, choice: Choice | None) -> None:
        self._header = header
        self._file = file
        places: dict[str, list[int]] = {}
        for place, name in enumerate(header.names):
            places.setdefault(name, []).append(place)
        fields = [pa.field(name, _type(places[name])) for name in places]
        chosen = list(places) if choice is None else choice(pa.schema(fields))
        self._places = {name: places[name] for name in chosen}
        read = [pa.field(name, _type(self._places[name])) for name in chosen]
        # One column `json` alone would be taken for JSON texts.
        self._beside = [_NOTHING] if chosen == [JSON] else []
        self._schema = pa.schema([*read, *self._beside], UNTYPED)

    def portion(self, rows: Sequence[Row]) -> RecordPortion:
        """Rows for one call of the engine."""
        cells = list(zip(*(row.cells for row in rows), strict=True))
        arrays: list[Any] = [
            pa.array(_values([cells[place] for place in places]), _type(places))
            for places in self._places.values()
        ]
        arrays += [pa.nulls(len(rows)) for _ in self._beside]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        numbers = np.array([row.line for row in rows], np.int64)
        raws = pa.array([row.raw for row in rows], pa.large_binary())
        return RecordPortion(batch, self._file, numbers, Written(self._header.raw, raws))


def _type(places: list[int]) -> pa.DataType:
    return pa.string() if len(places) == 1 else pa.list_(pa.string())


def _values(columns: list[Sequence[str]]) -> list[Any]:  # Any: texts, or lists of them
    """The values of an attribute: None for an empty cell; of several columns, all that have one."""
    if len(columns) == 1:
        return [cell or None for cell in columns[0]]
    return [[cell for cell in cells if cell] for cells in zip(*columns, strict=True)]
