"""Where files are: on this machine, or at an address that Arrow reads (s3, gs, hdfs, abfs, …).

A place is its text, which is all that travels between machines; whoever has the text can open it:

    data/day.jsonl                                       a path; it travels as the absolute one
    file:///data/day.jsonl                               the same
    s3://key:secret@bucket/day.jsonl?region=eu-west-1    an address, options and all
    s3://bucket/day.jsonl                                its name: what people get to read

Whatever goes wrong becomes a `LocationError`, which names the place and never what is secret of it.
A file system is asked for once a process and kept.
"""

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pyarrow as pa
from pyarrow import fs

from sensewire.model.errors import EventError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_READ_AHEAD = 1_048_576  # a request over the network costs as much as some hundred thousand bytes
_HIDDEN = (".", "_")


class LocationError(EventError):
    """A place that cannot be used: its name, and why."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(name, reason)

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Standing(StrEnum):
    """What is at a place. A pipe or a device is something other: it cannot be read twice."""

    NOTHING = "nothing"
    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"


_STANDINGS = {
    fs.FileType.NotFound: Standing.NOTHING,
    fs.FileType.File: Standing.FILE,
    fs.FileType.Directory: Standing.FOLDER,
}


class Status(NamedTuple):
    """What is at a place; the bytes of a file."""

    standing: Standing
    size: int


class Found(NamedTuple):
    """A file below a folder: where it is, its path under the folder, its size where it is known."""

    location: "Location"
    path: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder: `text` leads to it from anywhere, `name` is for people."""

    text: str
    name: str

    @property
    def is_local(self) -> bool:
        """Whether it is a path of this machine."""
        return not _ADDRESS.match(self.text)

    def open(self) -> BinaryIO:
        """The file's bytes, to be read in any order."""
        with _told(self.name):
            if self.is_local:
                return Path(self.text).open("rb")
            # A stream of Arrow is all that a raw stream of Python needs to be.
            return io.BufferedReader(cast(io.RawIOBase, self.open_arrow()), _READ_AHEAD)

    def open_arrow(self) -> pa.NativeFile:
        """The same for Arrow's own readers, which then need no Python."""
        with _told(self.name):
            system, path = self._place()
            return system.open_input_file(path)

    def open_output(self) -> BinaryIO:
        """A new file at this place, or a new content for the one that is there."""
        with _told(self.name):
            if self.is_local:
                return Path(self.text).open("wb")
            system, path = self._place()
            stream = system.open_output_stream(path)
            return io.BufferedWriter(cast(io.RawIOBase, stream), _READ_AHEAD)

    def status(self) -> "Status":
        """What is there, and how large."""
        with _told(self.name):
            if self.is_local:
                return _local_status(Path(self.text))
            system, path = self._place()
            info: Any = system.get_file_info(path)  # Any: the stubs think of many paths
            return Status(_STANDINGS.get(info.type, Standing.OTHER), info.size or 0)

    def below(self) -> Iterator[Found]:
        """The files below a folder, in order; what begins with `.` or `_` is passed over."""
        with _told(self.name, "it cannot be listed"):
            yield from self._walked() if self.is_local else self._selected()

    def child(self, path: str) -> "Location":
        """What is at a path under this folder."""
        if self.is_local:
            return Location(str(Path(self.text) / path), _joined(self.name, path))
        return self._followed_by("/" + path)

    def sibling(self, name: str) -> "Location":
        """What has another name in the same folder."""
        if self.is_local:
            shown = Path(self.name).parent / name
            return Location(str(Path(self.text).with_name(name)), str(shown))
        parts = urlsplit(self.text)
        path = f"{parts.path.rstrip('/').rpartition('/')[0]}/{quote(name)}"
        folder = self.name.rstrip("/").rpartition("/")[0]
        return Location(urlunsplit(parts._replace(path=path)), f"{folder}/{name}")

    @property
    def moves_folders(self) -> bool:
        """Whether a folder can be moved as a whole: object stores have none."""
        return self.is_local or urlsplit(self.text).scheme in ("hdfs", "viewfs")

    def beside(self, suffix: str) -> "Location":
        """What has the same name with more at its end."""
        if self.is_local:
            return Location(self.text + suffix, self.name + suffix)
        return self._followed_by(suffix)

    def create(self) -> None:
        """Make a folder, and those that it is in."""
        with _told(self.name, "it cannot be made"):
            system, path = self._place()
            system.create_dir(path, recursive=True)

    def move(self, target: "Location") -> None:
        """Give it another place on the same file system; a folder only on this machine."""
        with _told(self.name, f"it cannot be moved to {target.name}"):
            system, path = self._place()
            system.move(path, target._place()[1])

    def remove(self) -> None:
        """Remove a file, or a folder with all that is below it; nothing where nothing is."""
        standing = self.status().standing
        with _told(self.name, "it cannot be removed"):
            system, path = self._place()
            if standing is Standing.FOLDER:
                system.delete_dir(path)
            elif standing is not Standing.NOTHING:
                system.delete_file(path)

    def _place(self) -> tuple[fs.FileSystem, str]:
        if self.is_local:
            return fs.LocalFileSystem(), self.text
        parts = urlsplit(self.text)
        system, root = _file_system(urlunsplit(parts._replace(path="/", fragment="")), os.getpid())
        below = unquote(parts.path).strip("/")
        return system, f"{root.rstrip('/')}/{below}" if root else below

    def _followed_by(self, more: str) -> "Location":
        parts = urlsplit(self.text)
        path = parts.path.rstrip("/") + quote(more)
        return Location(urlunsplit(parts._replace(path=path)), self.name.rstrip("/") + more)

    def _walked(self) -> Iterator[Found]:
        for here, folders, names in os.walk(self.text, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
            for name in sorted(names):
                if not name.startswith(_HIDDEN):
                    path = (Path(here) / name).relative_to(self.text).as_posix()
                    yield Found(self.child(path), path, None)

    def _selected(self) -> Iterator[Found]:
        system, path = self._place()
        found: Any = system.get_file_info(fs.FileSelector(path, recursive=True))
        sizes = {
            info.path.removeprefix(path).lstrip("/"): info.size
            for info in found
            if info.type is fs.FileType.File
        }
        # The order of a walk: a folder's files before the folders in it.
        for below in sorted(sizes, key=lambda path: (*_folders(path), (0, path))):
            if not any(part.startswith(_HIDDEN) for part in below.split("/")):
                yield Found(self.child(below), below, sizes[below])


def location(place: "str | Path | Location") -> Location:
    """The place that a text names: a path, or an address.

    >>> location("s3://key:secret@bucket/day.jsonl?region=eu-west-1").name
    's3://bucket/day.jsonl'
    >>> location("file:///data/a%20day.jsonl").text
    '/data/a day.jsonl'
    """
    if isinstance(place, Location):
        return place
    if isinstance(place, Path) or not _ADDRESS.match(place):
        return Location(str(Path(place).absolute()), str(Path(place)))
    parts = urlsplit(place)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise LocationError(place, f"a file of the machine {parts.netloc}; expected file:///…")
        return Location(unquote(parts.path), place)
    user, at, host = parts.netloc.rpartition("@")
    shown = host if ":" in user else user + at + host  # before a colon stands a key, or a name
    return Location(place, f"{parts.scheme}://{shown}{unquote(parts.path)}")


def reason_of(error: Exception) -> str:
    """What a system's error says, in a line."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.partition(". Detail:")[0].partition("\n")[0] or type(error).__name__


@lru_cache(maxsize=64)
def _file_system(root: str, process: int) -> tuple[fs.FileSystem, str]:
    """The file system of an address, and the path of its root; a fork of ours asks for its own."""
    return fs.FileSystem.from_uri(root)


@contextmanager
def _told(
    name: str, right: str = "expected a place that can be reached and read"
) -> Iterator[None]:
    """Errors of file systems as ours."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise LocationError(name, f"{reason_of(error)}; {right}") from error


def _local_status(path: Path) -> Status:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Status(Standing.NOTHING, 0)
    if stat.S_ISDIR(found.st_mode):
        return Status(Standing.FOLDER, 0)
    standing = Standing.FILE if stat.S_ISREG(found.st_mode) else Standing.OTHER
    return Status(standing, found.st_size)


def _joined(name: str, path: str) -> str:
    return f"{name.rstrip('/')}/{path}" if _ADDRESS.match(name) else str(Path(name) / path)


def _folders(path: str) -> list[tuple[int, str]]:
    return [(1, folder) for folder in path.split("/")[:-1]]


def _raise(error: OSError) -> None:
    raise error
