"""Open an index folder: its arrays memory-mapped and read-only, whole or not at all.

Opening reads CURRENT and the manifest and maps one file, so that it takes as long for 200 MB of
arrays as for none; a page is read when somebody first looks at it, and processes that open the same
version share it in memory. The manifest's digest, the head and the length of the arrays are checked
at once; the bytes of the arrays only by `verify`, which reads them all.

Invariant: what was opened stays as it was, whatever is written later. A version's files are never
written again, and one that is removed stays readable as long as somebody has it mapped.
"""

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.model.errors import IndexFolderError
from sensewire.model.folder_manifest import (
    ARRAYS,
    CURRENT,
    HEAD,
    LAYOUT,
    MANIFEST,
    VERSION_NAME,
    Manifest,
    digest_of,
    manifest_of,
    version_in,
)

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """One version of an index folder, opened. The mapping ends with the last array on it."""

    path: Path
    version: str
    manifest: Manifest
    arrays: Mapping[str, Array]
    _mapping: mmap.mmap

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the writer said beside the arrays."""
        return self.manifest.meta

    @property
    def format_version(self) -> int:
        """The version of the format that the writer used."""
        return self.manifest.format_version

    def verify(self) -> None:
        """Read every byte; an IndexFolderError where one is not as it was written."""
        file = self.path / self.version / ARRAYS
        with memoryview(self._mapping) as mapped:
            for name, place in self.manifest.arrays.items():
                digest = digest_of(mapped[place.offset : place.offset + place.bytes])
                if digest != place.digest:
                    raise IndexFolderError(
                        f"{file}: the array {name!r} (bytes {place.offset} to"
                        f" {place.offset + place.bytes}) is damaged: its digest is {digest} and"
                        f" was {place.digest} when it was written; save the index again"
                    )


def open_folder(
    path: str | PathLike[str],
    *,
    kind: str,
    newest_version: int,
    oldest_version: int = 0,
    version: str | None = None,
) -> Folder:
    """Open the current version of an index folder, or the one that the caller asks for.

    `kind` is what the folder must hold; the caller reads formats from the oldest to the newest.
    """
    folder = Path(path)
    if version is not None:
        return _pinned(folder, version, kind, range(oldest_version, newest_version + 1))
    version = current_version(folder)
    while True:
        try:
            return _opened(folder, version, kind, range(oldest_version, newest_version + 1))
        except FileNotFoundError as error:
            # Between our reading CURRENT and now, a writer may have gone two versions on.
            newer = current_version(folder)
            if newer == version:
                raise IndexFolderError(
                    f"{error.filename}: there is no such file, but {folder / CURRENT} names its"
                    " version; save the index again"
                ) from None
            version = newer
        except OSError as error:
            raise _unreadable(folder / version, error) from None


def _pinned(folder: Path, version: str, kind: str, formats: range) -> Folder:
    if VERSION_NAME.fullmatch(version) is None:
        raise IndexFolderError(f"{version!r} is no version of an index; expected 'v000001-…'")
    try:
        return _opened(folder, version, kind, formats)
    except FileNotFoundError:
        raise IndexFolderError(
            f"{folder}: the version {version} is gone, for newer ones were saved since;"
            f" current is {current_version(folder)}"
        ) from None
    except OSError as error:
        raise _unreadable(folder / version, error) from None


def current_version(folder: Path) -> str:
    """The name of the version that CURRENT names."""
    try:
        text = (folder / CURRENT).read_bytes()
    except FileNotFoundError:
        raise _no_index_folder(folder) from None
    except NotADirectoryError:
        raise IndexFolderError(f"{folder}: this is a file, and no index folder") from None
    except OSError as error:
        raise _unreadable(folder / CURRENT, error) from None
    found = version_in(text)
    if found is None:
        raise IndexFolderError(
            f"{folder / CURRENT}: the file is damaged, or not Sensewire's: expected one line"
            f" 'sensewire index {LAYOUT} v000001-…', found {text[:80]!r}"
        )
    layout, version = found
    if layout > LAYOUT:
        raise IndexFolderError(
            f"{folder}: written in layout {layout} of index folders; this version of Sensewire"
            f" reads up to {LAYOUT}; upgrade it"
        )
    return version


def _opened(folder: Path, version: str, kind: str, formats: range) -> Folder:
    manifest = _manifest(folder / version / MANIFEST, version)
    if manifest.kind != kind:
        raise IndexFolderError(
            f"{folder}: the folder holds {manifest.kind!r}, where {kind!r} is expected"
        )
    if manifest.format_version not in formats:
        is_older = manifest.format_version < formats.start
        reads = f"from {formats.start} on; save it again" if is_older else f"up to {formats[-1]}"
        raise IndexFolderError(
            f"{folder}: written in version {manifest.format_version} of the format of {kind!r}, by"
            f" Sensewire {manifest.written_by}; this version reads {reads}"
            + ("" if is_older else "; upgrade")
        )
    mapping = _mapping(folder / version / ARRAYS, manifest.bytes)
    arrays = {
        name: np.ndarray(place.shape, place.dtype, buffer=mapping, offset=place.offset)
        for name, place in manifest.arrays.items()
    }
    return Folder(folder, version, manifest, MappingProxyType(arrays), mapping)


def _manifest(file: Path, version: str) -> Manifest:
    data = file.read_bytes()
    name = VERSION_NAME.fullmatch(version)
    assert name is not None
    digest = digest_of(data)
    if digest != name[2]:
        raise IndexFolderError(
            f"{file}: the manifest is damaged: its digest is {digest}, and its folder's name says"
            f" {name[2]}; save the index again"
        )
    try:
        return manifest_of(data)
    except (ValueError, KeyError, TypeError) as error:
        raise IndexFolderError(
            f"{file}: this is no manifest of layout {LAYOUT} ({error!r}); save the index again"
        ) from None


def _mapping(file: Path, expected: int) -> mmap.mmap:
    with file.open("rb") as opened:
        found = opened.seek(0, 2)
        if found != expected:
            raise IndexFolderError(
                f"{file}: the file has {found} bytes, and its manifest says {expected}: it was cut"
                " short or added to; save the index again"
            )
        mapping = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    head = mapping[: len(HEAD)]
    if head != HEAD:
        raise IndexFolderError(
            f"{file}: the file begins with {head[:32]!r}, where {HEAD[:32]!r} is expected; save"
            " the index again"
        )
    return mapping


def _no_index_folder(folder: Path) -> IndexFolderError:
    if not folder.exists():
        return IndexFolderError(f"{folder}: there is no such folder; expected a saved index")
    return IndexFolderError(
        f"{folder}: this is no index folder, or one whose first version was never finished: it has"
        f" no file {CURRENT}"
    )


def _unreadable(place: Path, error: OSError) -> IndexFolderError:
    return IndexFolderError(f"{error.filename or place}: cannot be read: {error.strerror or error}")
