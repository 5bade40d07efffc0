"""The files that a task writes: matches, failures and rejections, as Parquet or JSON lines.

The workers write them; no match travels through the JVM. Every try of a task has files of its own
names, and the driver keeps those of the tries that ended well:

    draft/part-00007-4f1c….parquet  draft/_failed/part-…  draft/_rejected/part-…

Ids of events and subscriptions arrive as Arrow dictionaries, and go to Parquet as such where that
is the shorter way. JSON lines are put together by Arrow, column by column. Memory: what is held
until a file gets it, `_ROWS_AT_ONCE` matches or so.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO, Literal, Protocol
from uuid import uuid4

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sensewire.events.decoding import Rejected
from sensewire.events.locations import Location, LocationError, reason_of
from sensewire.spark.outcomes import Outcomes, same_words
from sensewire.spark.schema import FAILED, MATCHES, REJECTED, rejected_table

_ROWS_AT_ONCE = 1_000_000
_BYTES_AT_ONCE = 33_554_432
_LINES_AT_ONCE = 65_536
_COMPRESSION: Literal["zstd"] = "zstd"
_OFTEN = 4  # times that ids are written on average, for which all of them may be in a dictionary
_LARGEST_DICTIONARY = 268_435_456
FOLDERS = {"match": "", "failed": "_failed", "rejected": "_rejected"}
"""What a run writes, and where below its folder."""
SCHEMAS = {"match": MATCHES, "failed": FAILED, "rejected": REJECTED}
SUFFIXES = {"parquet": ".parquet", "jsonl": ".jsonl"}

compute: Any = pc  # the stubs do not know all of its functions
Array = Any


class _File(Protocol):
    def write(self, table: pa.Table) -> None: ...
    def close(self) -> None: ...


class Files:
    """The files of one try of a task; `names` are those that were begun, below the draft."""

    def __init__(self, draft: Location, format: str, task: int) -> None:
        self._draft = draft
        self._format = format
        self._name = f"part-{task:05}-{uuid4().hex}{SUFFIXES[format]}"
        self._open: dict[str, _File] = {}
        self._matches: list[pa.Table] = []
        self._held = 0
        self._rejected: list[Rejected] = []
        self._raw = 0
        self.names: list[str] = []

    def add(self, outcomes: Outcomes) -> None:
        """Take what came of some events."""
        with being_written(self._draft):
            self._take(outcomes)

    def _take(self, outcomes: Outcomes) -> None:
        if outcomes.matches.num_rows:
            self._matches.append(outcomes.matches)
            self._held += outcomes.matches.num_rows
        if outcomes.failed.num_rows:
            self._write("failed", plain(outcomes.failed, FAILED))
        self._rejected.extend(outcomes.rejected)
        self._raw += sum(len(each.raw) for each in outcomes.rejected)
        if self._held >= _ROWS_AT_ONCE:
            self._write_matches()
        if len(self._rejected) >= _ROWS_AT_ONCE or self._raw >= _BYTES_AT_ONCE:
            self._write_rejected()

    def _write_matches(self) -> None:
        self._write("match", together(self._matches))
        self._matches, self._held = [], 0

    def _write_rejected(self) -> None:
        self._write("rejected", rejected_table(self._rejected))
        self._rejected, self._raw = [], 0

    def _write(self, kind: str, table: pa.Table) -> None:
        if kind not in self._open:
            folder = FOLDERS[kind]
            name = f"{folder}/{self._name}" if folder else self._name
            file = self._draft.child(name).open_output()
            self.names.append(name)
            self._open[kind] = new_file(file, self._format, SCHEMAS[kind], table.schema)
        self._open[kind].write(table)

    def __enter__(self) -> "Files":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            for file in self._open.values():
                with suppress(OSError, pa.ArrowException):  # nobody keeps it
                    file.close()
            return
        with being_written(self._draft):
            if self._matches:
                self._write_matches()
            if self._rejected:
                self._write_rejected()
            for file in self._open.values():
                file.close()


@contextmanager
def being_written(folder: Location) -> Iterator[None]:
    """Errors of writing below a folder as ours, with the folder's name."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = f"{reason_of(error)}; nothing is left there: make room, or name another folder"
        raise LocationError(folder.name, reason) from error


def new_file(file: BinaryIO, format: str, schema: pa.Schema, given: pa.Schema | None) -> _File:
    """A file of a table; `given` is how the first part of it comes, dictionaries and all."""
    if format == "jsonl":
        return _JsonLines(file)
    return _Parquet(file, schema if given is None else given)


class _Parquet:
    """A Parquet file, without what its strings' least and greatest are: ids have no order."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._file = file
        self._schema = schema
        opened: Any = pq.ParquetWriter  # its stubs know of no list of columns
        self._writer = opened(
            file,
            schema,
            store_schema=False,  # whoever reads it sees strings, and no dictionaries
            compression=_COMPRESSION,
            use_dictionary=[field.name for field in schema if _is_text(field.type)],
            write_statistics=False,
            dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        )

    def write(self, table: pa.Table) -> None:
        table = _encoded_as(table, self._schema)
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def close(self) -> None:
        self._writer.close()
        self._file.close()


def _is_text(form: pa.DataType) -> bool:
    return pa.types.is_string(form) or pa.types.is_dictionary(form)


class _JsonLines:
    """A file with an object on each line."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        for first in range(0, table.num_rows, _LINES_AT_ONCE):
            lines = json_lines(table.slice(first, _LINES_AT_ONCE))
            _, offsets, texts = lines.buffers()
            size = int(np.frombuffer(offsets, np.int64)[len(lines)])
            self._file.write(memoryview(texts)[:size])

    def close(self) -> None:
        self._file.close()


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of matches as one: ids as one dictionary, or as strings where these are fewer."""
    columns = [
        _joined([table.column("event").combine_chunks() for table in tables]),
        _joined([table.column("subscription").combine_chunks() for table in tables]),
        *(
            pa.chunked_array(
                [chunk for table in tables for chunk in table.column(name).chunks],
                MATCHES.field(name).type,
            )
            for name in ("rows", "distance")
        ),
    ]
    fields = zip(MATCHES, columns, strict=True)
    schema = pa.schema([field.with_type(column.type) for field, column in fields])
    return pa.Table.from_arrays(columns, schema=schema)


def _joined(parts: Sequence[Array]) -> Array:
    """Ids of several tables: numbers of one dictionary where it is shorter than what it writes."""
    if not all(pa.types.is_dictionary(part.type) for part in parts):
        return pa.concat_arrays([_strings(part) for part in parts])
    dictionaries: list[Array] = []
    numbers = np.empty(sum(map(len, parts)), np.int32)
    filled = size = 0
    for part in parts:
        if not dictionaries or not same_words(part.dictionary, dictionaries[-1]):
            size += len(dictionaries[-1]) if dictionaries else 0
            dictionaries.append(part.dictionary)
        end = filled + len(part)
        np.add(np.asarray(part.indices), np.int32(size), out=numbers[filled:end])
        filled = end
    words: Array = pa.chunked_array(dictionaries)
    if _OFTEN * len(words) > len(numbers):
        is_used = np.zeros(len(words), np.bool_)
        is_used[numbers] = True
        words = words.filter(pa.array(is_used))
        numbers = (np.cumsum(is_used, dtype=np.int32) - np.int32(1))[numbers]
    words = words.cast(pa.string()).combine_chunks()
    if 2 * len(words) > len(numbers):
        return words.take(pa.array(numbers))
    return pa.DictionaryArray.from_arrays(numbers, words)


def plain(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with strings in the place of dictionaries, in the types of a schema."""
    return pa.Table.from_arrays(
        [_strings(table.column(name).combine_chunks()) for name in schema.names], schema=schema
    )


def _strings(array: Array) -> Array:
    if pa.types.is_dictionary(array.type):
        return array.dictionary.take(array.indices).cast(pa.string())
    return array


def _encoded_as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table whose columns are dictionaries, or strings, as those of the file's first part."""
    if table.schema == schema:
        return table
    columns = []
    for field in schema:
        array: Array = table.column(field.name).combine_chunks()
        if pa.types.is_dictionary(array.type) and not pa.types.is_dictionary(field.type):
            array = _strings(array)
        elif pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        columns.append(array)
    return pa.Table.from_arrays(columns, schema=schema)


def json_lines(table: pa.Table) -> Array:
    """A table as JSON objects, each with its line's end; null fields are written.

    >>> table = pa.table({"event": ["a", 'b"'], "distance": [0.0, 1.5], "rows": [None, None]})
    >>> print("".join(json_lines(table).to_pylist()), end="")
    {"event":"a","distance":0.0,"rows":null}
    {"event":"b\\"","distance":1.5,"rows":null}
    """
    parts: list[Any] = []
    for place, name in enumerate(table.schema.names):
        head = f"{',' if place else '{'}{orjson.dumps(name).decode()}:"
        parts.extend((pa.scalar(head, _TEXT), _json_column(table.column(name))))
    return compute.binary_join_element_wise(*parts, pa.scalar("}\n", _TEXT), pa.scalar("", _TEXT))


def _json_column(column: Array) -> Array:
    """The values of a column as JSON texts: each distinct one is written once."""
    array: Array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if array.null_count == len(array):
        return pa.array(["null"], _TEXT).take(np.zeros(len(array), np.int64))
    if pa.types.is_nested(array.type):
        return pa.array([_json(value) for value in array.to_pylist()], _TEXT)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts: Array = pa.array([_json(value) for value in encoded.dictionary.to_pylist()], _TEXT)
    return compute.fill_null(texts.take(encoded.indices), "null")


_TEXT = pa.large_string()


def _json(value: Any) -> str:
    """A value as JSON: maps as objects, bytes as base64."""
    return orjson.dumps(_plain_value(value)).decode()


def _plain_value(value: Any) -> Any:
    if isinstance(value, bytes):
        from base64 import b64encode

        return b64encode(value).decode()
    if isinstance(value, list):
        return [dict(row) for row in value]
    return value
