"""Event files: which there are, what kind each is, and how it is cut into slices to be read apart.

The kind follows the name. `.json` is looked into: if its first line is a whole object it is JSON
lines, else one document. A folder is read with all that is below it, in sorted order; names that
begin with a dot or an underscore are passed over, as they are everywhere on Spark.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import orjson

from sensewire.events.decoding import Rejected
from sensewire.model.errors import EventError


class Kind(StrEnum):
    """How a file holds events."""

    LINES = "lines"
    """JSON lines: a record, a CloudEvent or a batch of CloudEvents on each line."""
    JSON = "json"
    """One JSON document: an event, or a list of events."""
    NQUADS = "nq"
    TRIG = "trig"
    DOCUMENT = "document"
    """One RDF document, one event."""


_KINDS = {
    ".jsonl": Kind.LINES,
    ".ndjson": Kind.LINES,
    ".json": Kind.JSON,
    ".nq": Kind.NQUADS,
    ".trig": Kind.TRIG,
    ".nt": Kind.DOCUMENT,
    ".ttl": Kind.DOCUMENT,
    ".rdf": Kind.DOCUMENT,
    ".jsonld": Kind.DOCUMENT,
    ".n3": Kind.DOCUMENT,
}
_COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
_LONGEST_FIRST_LINE = 1_048_576


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file of events.

    `path` is absolute, for whoever reads it wherever; `name` is as the user wrote it, and begins
    every place; `id` is the file's name under what the user named, the id of a file that is one
    event.
    """

    path: str
    name: str
    id: str
    kind: Kind
    size: int


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a file that one reader reads: [start, end), whose first line is `first_line`."""

    file: EventFile
    start: int
    end: int
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class Listing:
    """The event files under some paths, and those in folders that cannot be read as events."""

    files: tuple[EventFile, ...]
    rejected: tuple[Rejected, ...]


def listing(paths: Iterable[Path]) -> Listing:
    """The event files that the paths name: each a file, or a folder with all that is below it."""
    files: list[EventFile] = []
    rejected: list[Rejected] = []
    for path in paths:
        if not path.is_dir():
            files.append(_event_file(path, path.name))
            continue
        for below in _below(path):
            try:
                files.append(_event_file(below, below.relative_to(path).as_posix()))
            except EventError as error:
                rejected.append(Rejected(str(below), b"", str(error)))
    return Listing(tuple(files), tuple(rejected))


def slices(file: EventFile, longest: int) -> list[Slice]:
    """The file cut into slices of at most `longest` bytes, where it can be cut: JSON lines only.

    The line numbers that the slices begin with are not known yet.
    """
    step = longest if file.kind is Kind.LINES else max(file.size, 1)
    return [
        Slice(file, start, min(start + step, file.size)) for start in range(0, file.size or 1, step)
    ]


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(names):
            if not name.startswith((".", "_")):
                yield Path(here) / name


def _raise(error: OSError) -> None:
    raise EventError(f"{error.filename}: {error.strerror}; it cannot be listed") from error


def _event_file(path: Path, id: str) -> EventFile:
    try:
        status = path.stat()
        kind = _kind(path)
        if not stat.S_ISREG(status.st_mode):  # a pipe cannot be cut, nor read twice
            raise EventError(f"{path}: no regular file; expected a file or folder of events")
        with path.open("rb") as file:
            if kind is Kind.JSON and _is_object(file.readline(_LONGEST_FIRST_LINE)):
                kind = Kind.LINES
    except OSError as error:
        raise EventError(f"{path}: {error.strerror}; expected a file or folder of events") from None
    return EventFile(str(path.absolute()), str(path), id, kind, status.st_size)


def _kind(path: Path) -> Kind:
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED:
        raise EventError(f"{path}: {suffix} files are not unpacked; unpack it and name the result")
    if suffix not in _KINDS:
        known = " ".join(_KINDS)
        raise EventError(f"{path}: no kind of events has names in {suffix!r}; expected {known}")
    return _KINDS[suffix]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line.removeprefix(b"\xef\xbb\xbf")), dict)
    except orjson.JSONDecodeError:
        return False
