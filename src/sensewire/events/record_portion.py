"""Records that nobody has decoded yet: JSON texts, or rows of columns, each with its place.

`batch` is what the engine matches at once; `raw` and `outcomes` are for the few rows of which
somebody wants to know more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from sensewire.events import records
from sensewire.events.column_records import Records
from sensewire.events.column_terms import compute
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.lines import without_end
from sensewire.model.errors import EventError

JSON = "json"
"""The name of the one column of a batch whose records are JSON texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """The bytes that rows of texts were read from: the header of all, and those of each row."""

    header: bytes
    rows: Any  # an array of Arrow's, of large_binary

    def at(self, rows: npt.NDArray[np.int64]) -> "Written":
        """Those of some rows."""
        return Written(self.header, self.rows.take(pa.array(rows)))

    def some(self, first: int, count: int) -> "Written":
        """Those of rows that follow each other."""
        return Written(self.header, self.rows.slice(first, count))

    def row(self, number: int) -> bytes:
        """The bytes of a row, which are a table by themselves."""
        return b"%s\n%s" % (self.header, self.rows[number].as_py())


@dataclass(frozen=True, slots=True, eq=False)
class RecordPortion:
    """Records for one call of the engine.

    `batch` has one column `json` of large_binary, where a text may have its line's end with it, or
    one column for each attribute that was read. `file` is how places begin, `numbers` the number of
    each record's line or row; `written` is what rows of texts were read from.
    """

    batch: pa.RecordBatch
    file: str
    numbers: npt.NDArray[np.int64]
    written: Written | None = None

    def __len__(self) -> int:
        return self.batch.num_rows

    @property
    def is_json(self) -> bool:
        """Whether the records are JSON texts."""
        return self.batch.schema.names == [JSON]

    def at(self, rows: Sequence[int]) -> "RecordPortion":
        """Some of the records."""
        chosen = np.asarray(rows, np.int64)
        written = None if self.written is None else self.written.at(chosen)
        return RecordPortion(self.batch.take(chosen), self.file, self.numbers[chosen], written)

    def some(self, first: int, count: int) -> "RecordPortion":
        """Records that follow each other; nothing is copied."""
        numbers = self.numbers[first : first + count]
        written = None if self.written is None else self.written.some(first, count)
        return RecordPortion(self.batch.slice(first, count), self.file, numbers, written)

    def place(self, row: int) -> str:
        """Where a record stands: `file:number`."""
        return f"{self.file}:{self.numbers[row]}"

    def raw(self, row: int) -> bytes:
        """A record's bytes: its line without the end; of columns, the row as JSON, unless it was
        written as text."""
        return self.as_json(row) if self.written is None else self.written.row(row)

    def as_json(self, row: int) -> bytes:
        """A record as JSON."""
        if self.is_json:
            return without_end(self.batch.column(0)[row].as_py() or b"")
        names = self.batch.schema.names
        columns: list[Any] = self.batch.columns  # Any: arrays of every type
        values = {
            name: _value(column.slice(row, 1)) for name, column in zip(names, columns, strict=True)
        }
        try:
            return orjson.dumps(values, default=_written, option=orjson.OPT_NON_STR_KEYS)
        except orjson.JSONEncodeError:  # nested more deeply than orjson writes
            return str(values).encode(errors="replace")

    def outcomes(self, row: int, decoding: Decoding) -> Iterator[Outcome]:
        """What the plain decoder makes of a record; several where it is a batch of CloudEvents."""
        if self.is_json:
            yield from records.line(self.raw(row), self.place(row), decoding)
            return
        try:
            event = Records(self.batch, decoding, self.place).event_at(row)
        except EventError as error:
            yield Rejected(self.place(row), self.raw(row), str(error))
        else:
            yield Decoded(self.place(row), self.raw(row), event)


def _value(cell: Any) -> object:  # Any: an array of one value, of whatever type
    """A cell's Python value; what Python cannot hold, as Arrow writes it, or not at all."""
    try:
        return cell[0].as_py()
    except (ValueError, OverflowError, KeyError, pa.ArrowException):
        try:
            return compute.cast(cell, pa.string())[0].as_py()
        except (ValueError, pa.ArrowException):
            return None


def _written(value: object) -> object:
    """What JSON has no form for: bytes as hexadecimal digits, all else as Python writes it."""
    return value.hex() if isinstance(value, bytes) else str(value)
