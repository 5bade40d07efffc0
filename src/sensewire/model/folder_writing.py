"""Write an index folder so that a crash at any moment leaves the old version or the new, whole.

    1  lock LOCK                               one writer; others get an error
    2  writing/arrays.bin, manifest.json       written and synced, then the folder is synced
    3  writing/ → v000004-5e88…/               renamed; index/ is synced
    4  CURRENT.new → CURRENT                   synced, then replaced: from here on, the new one
    5  v000002-…/ goes                         the one before the new stays

A writer that dies before 4 leaves what the next one removes; before 4, whatever goes wrong (a full
disk, a right that is missing) is undone and told. Readers look at CURRENT alone and need no lock.

Cost: one pass over the arrays; beside them it needs memory only for one that is not contiguous.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version as version_of_package
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from sensewire.model.errors import IndexFolderError
from sensewire.model.folder import Array, current_version
from sensewire.model.folder_manifest import (
    ALIGNMENT,
    ARRAYS,
    CURRENT,
    HEAD,
    LOCK,
    LOCK_TEXT,
    MANIFEST,
    VERSION_NAME,
    WRITING,
    Manifest,
    Place,
    current_line,
    digest_of,
    manifest_as_bytes,
    new_digest,
    text_of,
)

_NEW_CURRENT = f"{CURRENT}.new"
_AT_A_TIME = 1 << 20  # small enough to be in the cache still when it is written
_KINDS = "biuf"


def write_folder(
    path: str | PathLike[str],
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    *,
    format_version: int,
    kind: str,
) -> str:
    """Write a new version of an index folder, and make it the current one; the version's name.

    The path is made where it is not there; one that is there and is something else is refused, and
    nothing in it is touched. `meta` is whatever JSON has; what is large should be an array.
    """
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise IndexFolderError(
                f"the array {name!r} is of type {array.dtype}: expected truths or plain numbers"
            )
    folder = Path(path)
    try:
        _make(folder)
        with _locked(folder):
            previous = current_version(folder) if (folder / CURRENT).exists() else None
            _remove_what_a_crash_left(folder, previous)
            new = _written(folder, arrays, meta, format_version, kind)
            _made_current(folder, new)
            _drop_versions(folder, {new, previous})
    except OSError as error:
        raise IndexFolderError(_in_words(folder, arrays, error)) from error
    return new


def go_back(path: str | PathLike[str], version: str) -> None:
    """Make an older version that is there the current one again; the next writer removes those
    that came after it."""
    folder = Path(path)
    try:
        with _locked(folder):
            _point_to(folder, version)
            _sync(folder)
    except OSError as error:
        raise IndexFolderError(f"{folder}: cannot go back to {version}: {error}") from error


def _make(folder: Path) -> None:
    """Make the folder, unless it is an index folder already, or one that was begun, or empty."""
    if folder.exists() and not folder.is_dir():
        raise IndexFolderError(f"{folder}: this is a file; expected an index folder")
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
    for place in missing:
        _sync(place.parent)
    if (folder / CURRENT).exists():
        current_version(folder)  # refuses what is not ours
        return
    foreign = sorted(entry.name for entry in folder.iterdir() if not _is_ours(entry))
    if foreign:
        raise IndexFolderError(
            f"{folder}: the folder holds other things ({', '.join(foreign[:3])}, …), and is no"
            " index folder; give a path that is not there yet, or empty"
        )


def _is_ours(entry: Path) -> bool:
    """Whether a writer that died before its first CURRENT may have left this."""
    if entry.name == LOCK:
        return entry.read_bytes() in (b"", LOCK_TEXT)
    if entry.name == _NEW_CURRENT:
        return True
    return entry.is_dir() and (
        (entry.name == WRITING or VERSION_NAME.fullmatch(entry.name) is not None)
        and all(file.name in (ARRAYS, MANIFEST) for file in entry.iterdir())
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IndexFolderError(
                f"{folder}: somebody else is writing this index now; wait until that is done, or"
                " write elsewhere"
            ) from None
        try:
            if lock.tell() == 0:
                lock.write(LOCK_TEXT)
                lock.flush()
            yield
        finally:
            # A process that was forked meanwhile has the file open too: closing would not do.
            fcntl.flock(lock, fcntl.LOCK_UN)


def _remove_what_a_crash_left(folder: Path, current: str | None) -> None:
    _remove_tree(folder / WRITING)
    (folder / _NEW_CURRENT).unlink(missing_ok=True)
    for name in _versions(folder):
        # Renamed, but never made current: its writer died between the two.
        if current is None or _number(name) > _number(current):
            _remove_tree(folder / name)


def _written(
    folder: Path, arrays: Mapping[str, Array], meta: Mapping[str, Any], version: int, kind: str
) -> str:
    """Write all files of a version, synced, under its name; the name."""
    writing = folder / WRITING
    writing.mkdir()
    try:
        with (writing / ARRAYS).open("wb") as file:
            places = _written_arrays(file, arrays)
            size = file.tell()
            _flush(file)
        manifest = Manifest(
            kind, version, version_of_package("sensewire"), size, places, dict(meta)
        )
        text = manifest_as_bytes(manifest)
        with (writing / MANIFEST).open("wb") as file:
            file.write(text)
            _flush(file)
        _sync(writing)
        number = 1 + max(map(_number, _versions(folder)), default=0)
        name = f"v{number:06}-{digest_of(text)}"
        writing.rename(folder / name)
    except BaseException:
        _remove_tree(writing)
        raise
    return name


def _written_arrays(file: IO[bytes], arrays: Mapping[str, Array]) -> dict[str, Place]:
    file.write(HEAD)
    offset = len(HEAD)
    places: dict[str, Place] = {}
    for name, array in arrays.items():
        little = array.dtype.newbyteorder("<")
        plain = np.asarray(array, dtype=little, order="C")
        data = plain.reshape(-1).view(np.uint8).data
        digest = new_digest()
        for start in range(0, len(data), _AT_A_TIME):
            chunk = data[start : start + _AT_A_TIME]
            digest.update(chunk)
            file.write(chunk)
        padding = bytes(-len(data) % ALIGNMENT)
        digest.update(memoryview(padding))
        file.write(padding)
        size = len(data) + len(padding)
        places[name] = Place(little.str, array.shape, offset, size, text_of(digest))
        offset += size
    return places


def _made_current(folder: Path, name: str) -> None:
    try:
        _sync(folder)  # the version must be there before it is named
        _point_to(folder, name)
    except BaseException:
        with suppress(OSError):
            (folder / _NEW_CURRENT).unlink(missing_ok=True)
        _remove_tree(folder / name)
        raise
    try:
        _sync(folder)
    except OSError as error:
        raise IndexFolderError(
            f"{folder}: the new version {name} is the current one now, but may not outlast a power"
            f" cut: {error.strerror or error}; write it again"
        ) from error


def _point_to(folder: Path, name: str) -> None:
    new = folder / _NEW_CURRENT
    with new.open("wb") as file:
        file.write(current_line(name))
        _flush(file)
    new.replace(folder / CURRENT)


def _drop_versions(folder: Path, kept: set[str | None]) -> None:
    for name in _versions(folder):
        if name not in kept:
            _remove_tree(folder / name)


def _versions(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if VERSION_NAME.fullmatch(entry.name)]


def _number(version: str) -> int:
    name = VERSION_NAME.fullmatch(version)
    assert name is not None
    return int(name[1])


def _remove_tree(folder: Path) -> None:
    """Remove a version; what cannot be removed now is tried again by the next writer."""
    shutil.rmtree(folder, ignore_errors=True)


def _flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _in_words(folder: Path, arrays: Mapping[str, Array], error: OSError) -> str:
    needed = sum(array.nbytes for array in arrays.values())
    try:
        free = f"{shutil.disk_usage(folder).free} are free"
    except OSError:
        free = "the folder is not there"
    return (
        f"{error.filename or folder}: cannot write the index: {error.strerror or error}; it takes"
        f" {needed} bytes, {free}; what was there before is as it was"
    )
