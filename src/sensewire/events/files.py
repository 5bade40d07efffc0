"""Event files: which there are, what kind each is, and how it is cut into slices to be read apart.

The kind follows the name (`events.kinds`). `.json` is looked into: if its first line is a whole
object it is JSON lines, else one document; so is `.xml`, which may be a feed, or RDF; so is
`.parquet`, for its row groups. A folder is read with all that is below it, in sorted order; names
that begin with a dot or an underscore are passed over, as they are everywhere on Spark.
`photo.jpg.json` belongs to `photo.jpg` beside it.

    kind              is cut               start and end of a slice are
    lines, nq         anywhere             bytes
    parquet, packed   between row groups   numbers of row groups
    all others, and whatever is compressed: never

What cannot be read is an error where the user named it, and a rejection where a folder holds it.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

import orjson
import pyarrow as pa
from pyarrow import parquet, types

from sensewire.events.arrow_files import ipc_schema
from sensewire.events.decoding import Rejected
from sensewire.events.kinds import Kind, Naming, naming
from sensewire.events.locations import (
    Found,
    Location,
    LocationError,
    Standing,
    location,
    reason_of,
)
from sensewire.events.unpacking import opened
from sensewire.events.xml_kinds import kind_within
from sensewire.model.errors import EventError

PACKED = "packed"
"""The one column of a Parquet file whose cells are Arrow IPC streams of many events."""

_LONGEST_FIRST_LINE = 1_048_576
_AT_ONCE = 16  # files that are looked into; their disk or network is waited for, not the processor


@dataclass(frozen=True, slots=True)
class RowGroup:
    """What a Parquet file's footer says of a row group."""

    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file of events.

    `path` leads to it from anywhere: an absolute path, or an address; `name` is as the user wrote
    it, and begins every place; `id` is the file's path under what the user named, the id of a file
    that is one event. `groups`, of Parquet, are known to whoever listed the file.
    """

    path: str
    name: str
    id: str
    kind: Kind
    size: int
    groups: tuple[RowGroup, ...] = field(default=(), compare=False)

    @property
    def location(self) -> Location:
        return Location(self.path, self.name)

    @property
    def naming(self) -> Naming:
        return naming(self.name)


class Source(Protocol):
    """What bytes are read from."""

    def open(self) -> BinaryIO: ...
    def open_arrow(self) -> pa.NativeFile: ...


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes that are here already."""

    data: bytes

    def open(self) -> BinaryIO:
        return BytesIO(self.data)

    def open_arrow(self) -> pa.NativeFile:
        return pa.BufferReader(self.data)


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a file that one reader reads: [start, end), whose first line is `first_line`.

    Of row groups, `first_line` is the number of the first row, or packed cell. The bytes may travel
    with the slice itself, as `data`, and are not compressed then: there is no file, and its name is
    how places begin; `facts` are those of a payload, which else stand beside it.
    """

    file: EventFile
    start: int
    end: int
    first_line: int = 1
    data: bytes | None = None
    facts: bytes | None = None

    @property
    def source(self) -> Source:
        """Where its bytes are."""
        return self.file.location if self.data is None else Held(self.data)

    @property
    def packing(self) -> str | None:
        """How its bytes are compressed, if they are."""
        return self.file.naming.packing if self.data is None else None

    @property
    def weight(self) -> int:
        """About how many bytes there are to read."""
        if self.data is not None:
            return len(self.data)
        groups = self.file.groups
        if not groups:
            return self.end - self.start
        part = sum(group.bytes for group in groups[self.start : self.end])
        return self.file.size * part // max(sum(group.bytes for group in groups), 1)


@dataclass(frozen=True, slots=True)
class Listing:
    """The event files under some paths, and those in folders that cannot be read as events."""

    files: tuple[EventFile, ...]
    rejected: tuple[Rejected, ...]


def listing(paths: Iterable[Path | str | Location]) -> Listing:
    """The event files that the paths name: each a file, or a folder with all that is below it."""
    files: list[EventFile] = []
    rejected: list[Rejected] = []
    for path in paths:
        place = location(path)
        status = place.status()
        if status.standing is not Standing.FOLDER:
            id = place.name.rstrip("/").rpartition("/")[2]
            files.append(_event_file(Found(place, id, None)))
            continue
        for outcome in _looked_into(_without_companions(list(place.below()))):
            if isinstance(outcome, Rejected):
                rejected.append(outcome)
            else:
                files.append(outcome)
    return Listing(tuple(files), tuple(rejected))


def arrived(folder: Location, paths: Iterable[str]) -> Listing:
    """The event files among some that came into a folder, by their paths under it.

    A payload's facts belong to it, whether or not it is there already.
    """
    found = [
        Found(folder.child(path), path, None)
        for path in sorted(paths)
        if not (path.endswith(".json") and _is_payload(path.removesuffix(".json")))
    ]
    outcomes = _looked_into(found)
    return Listing(
        tuple(each for each in outcomes if isinstance(each, EventFile)),
        tuple(each for each in outcomes if isinstance(each, Rejected)),
    )


def slices(file: EventFile, longest: int) -> list[Slice]:
    """The file cut into slices of about `longest` bytes, where it can be cut.

    The line numbers that slices of lines begin with are not known yet.
    """
    if file.kind in (Kind.PARQUET, Kind.PACKED):
        return _runs_of_groups(file, longest)
    step = longest if _is_cut_anywhere(file) else max(file.size, 1)
    return [
        Slice(file, start, min(start + step, file.size)) for start in range(0, file.size or 1, step)
    ]


def held_slice(
    data: bytes, kind: Kind, name: str, *, first_line: int = 1, facts: bytes | None = None
) -> Slice:
    """Bytes that came otherwise than in a file, read as a file of that name would be.

    What cannot be read at all is an EventError.
    """
    groups: tuple[RowGroup, ...] = ()
    if kind is Kind.PARQUET:
        kind, groups = _footer(Held(data), name)
    elif kind is Kind.XML:
        kind = kind_within(BytesIO(data))
    end = len(groups) if groups else len(data)
    file = EventFile("", name, name, kind, len(data), groups)
    if kind is Kind.PACKED:  # a Parquet file of cells: its data is no cell itself
        raise EventError(f"{name}: packed rows in Parquet come as files; send the cells themselves")
    return Slice(file, 0, end, first_line, data, facts)


def companion(location: Location) -> Location:
    """The file beside a payload that holds its facts."""
    return location.beside(".json")


def _is_cut_anywhere(file: EventFile) -> bool:
    return file.kind in (Kind.LINES, Kind.NQUADS) and file.naming.packing is None


def _runs_of_groups(file: EventFile, longest: int) -> list[Slice]:
    scale = file.size / max(sum(group.bytes for group in file.groups), 1)
    result: list[Slice] = []
    start, first, row, size = 0, 1, 1, 0.0
    for number, group in enumerate(file.groups):
        if size and size + group.bytes * scale > longest:
            result.append(Slice(file, start, number, first))
            start, first, size = number, row, 0.0
        size += group.bytes * scale
        row += group.rows
    return [*result, Slice(file, start, len(file.groups), first)]


def _without_companions(found: Sequence[Found]) -> list[Found]:
    """Without the files of facts beside payloads."""
    payloads = {f"{file.path}.json" for file in found if _is_payload(file.path)}
    return [file for file in found if file.path not in payloads]


def _is_payload(path: str) -> bool:
    try:
        return naming(path).kind is Kind.PAYLOAD
    except EventError:
        return False


def _looked_into(found: Sequence[Found]) -> list[EventFile | Rejected]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(_outcome, found))


def _outcome(found: Found) -> EventFile | Rejected:
    try:
        return _event_file(found)
    except EventError as error:
        return Rejected(found.location.name, b"", str(error))


def _event_file(found: Found) -> EventFile:
    place = found.location
    size = _size(place) if found.size is None else found.size
    named = naming(place.name)
    kind = named.kind
    groups: tuple[RowGroup, ...] = ()
    if kind is Kind.PARQUET:
        kind, groups = _footer(place, place.name)
    elif kind is Kind.JSON:
        with opened(place, named.packing) as content:
            if _is_object(content.stream.readline(_LONGEST_FIRST_LINE)):
                kind = Kind.LINES
    elif kind is Kind.XML:
        with opened(place, named.packing) as content:
            kind = kind_within(content.stream)
    elif kind is Kind.ARROW:
        _check_arrow(place)
    elif place.is_local:
        place.open().close()  # whether we may
    return EventFile(place.text, place.name, found.path, kind, size, groups)


def _size(place: Location) -> int:
    standing, size = place.status()
    if standing is Standing.NOTHING:
        raise LocationError(
            place.name, "No such file or directory; expected a file or folder of events"
        )
    if standing is not Standing.FILE:  # a pipe cannot be cut, nor read twice
        raise LocationError(place.name, "no regular file; expected a file or folder of events")
    return size


def _footer(place: Source, name: str) -> tuple[Kind, tuple[RowGroup, ...]]:
    """Whether the rows of a Parquet file are packed, and what row groups it has."""
    try:
        with place.open_arrow() as file, parquet.ParquetFile(file) as read:
            metadata = read.metadata
            groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
            kind = Kind.PACKED if _is_packed(read.schema_arrow) else Kind.PARQUET
            return kind, tuple(RowGroup(each.num_rows, each.total_byte_size) for each in groups)
    except (OSError, pa.ArrowException) as error:
        raise _broken(name, "Parquet", error) from error


def _check_arrow(place: Location) -> None:
    try:
        with place.open_arrow() as file:
            ipc_schema(file)
    except (OSError, pa.ArrowException) as error:
        raise _broken(place.name, "Arrow IPC", error) from error


def _broken(name: str, format: str, error: Exception) -> LocationError:
    return LocationError(
        name,
        f"no {format} that can be read, perhaps truncated ({reason_of(error)}); "
        "get it once more, whole, from where it came",
    )


def _is_packed(schema: pa.Schema) -> bool:
    return schema.names == [PACKED] and (
        types.is_binary(schema.types[0]) or types.is_large_binary(schema.types[0])
    )


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line.removeprefix(b"\xef\xbb\xbf")), dict)
    except orjson.JSONDecodeError:
        return False
