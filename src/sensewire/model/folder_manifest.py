"""The form of an index folder, for whoever writes and whoever opens one.

    index/
      CURRENT                  one line, replaced at once: which version is the current one
      LOCK                     locked by the one who writes
      v000003-5e884898da…/     the current version; its name ends with its manifest's digest
        manifest.json          what the arrays are, where they are, their digests; the meta data
        arrays.bin             a head of 64 bytes, then the arrays, each at a multiple of 64
      v000002-2cf24dba5f…/     the one before, for those who are about to open it
      writing/                 a version that is being written, or was when its writer died

All arrays are in one file: one file to sync, one mapping to make and one length to check, however
many arrays there are; 64 bytes are a cache line and the widest vector. Pages are shared between
processes in any case, so nothing is gained by starting arrays on pages of their own.

A digest is the first 128 bits of SHA-256. It names a version by its content: the name holds the
manifest's digest, the manifest that of every array, padding included. Of what the standard library
has, CRC-32 is faster (3.3 GB/s where SHA-256 with the CPU's instructions ran at 1.3 and BLAKE2b at
0.7), but its 32 bits are too few for a name, and they miss damage once in four thousand million.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

LAYOUT: Final = 1
"""The version of all this; that of what the arrays mean is the caller's `format_version`."""

CURRENT: Final = "CURRENT"
LOCK: Final = "LOCK"
WRITING: Final = "writing"
MANIFEST: Final = "manifest.json"
ARRAYS: Final = "arrays.bin"

ALIGNMENT: Final = 64
HEAD: Final = f"sensewire index arrays {LAYOUT}\n".encode().ljust(ALIGNMENT, b"\0")
LOCK_TEXT: Final = b"sensewire index lock\n"
VERSION_NAME: Final = re.compile(r"v(\d{6,})-([0-9a-f]{32})")
_CURRENT_LINE: Final = re.compile(r"sensewire index (\d+) (v\d{6,}-[0-9a-f]{32})\n")


@dataclass(frozen=True, slots=True)
class Place:
    """An array in the file: its type and shape, its first byte, and the digest of its bytes.

    `bytes` goes up to the next array, zeros at the end included, so that the digests cover all.
    """

    dtype: str
    shape: tuple[int, ...]
    offset: int
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one version of an index folder holds."""

    kind: str
    format_version: int
    written_by: str  # the version of Sensewire
    bytes: int  # of the file of arrays
    arrays: Mapping[str, Place]
    meta: Mapping[str, Any]  # as JSON has it


class Digest(Protocol):
    """A digest that is being computed."""

    def update(self, data: memoryview, /) -> None:
        """Take in more bytes."""

    def hexdigest(self) -> str:
        """The digest of what was taken in, in full."""


def new_digest() -> Digest:
    """A digest of nothing yet."""
    return hashlib.sha256(usedforsecurity=False)


def text_of(digest: Digest) -> str:
    """A digest as it is written: 128 bits as 32 hexadecimal digits."""
    return digest.hexdigest()[:32]


def digest_of(data: bytes | memoryview) -> str:
    """The digest of some bytes.

    >>> digest_of(b"fox")
    '776cb326ab0cd5f0a974c1b9606044d8'
    """
    digest = new_digest()
    digest.update(memoryview(data))
    return text_of(digest)


def manifest_as_bytes(manifest: Manifest) -> bytes:
    """The text of manifest.json."""
    return json.dumps(asdict(manifest), indent=1, allow_nan=False).encode() + b"\n"


def manifest_of(data: bytes) -> Manifest:
    """The manifest that a text has; ValueError, KeyError or TypeError where it is none."""
    fields = json.loads(data)
    places = {
        name: Place(**{**place, "shape": tuple(place["shape"])})
        for name, place in fields["arrays"].items()
    }
    return Manifest(**{**fields, "arrays": places})


def current_line(version: str) -> bytes:
    """The text of CURRENT.

    >>> current_line("v000001-776cb326ab0cd5f0a974c1b9606044d8")
    b'sensewire index 1 v000001-776cb326ab0cd5f0a974c1b9606044d8\\n'
    """
    return f"sensewire index {LAYOUT} {version}\n".encode()


def version_in(data: bytes) -> tuple[int, str] | None:
    """The layout and the version's name that a text of CURRENT has; None where it is none."""
    found = _CURRENT_LINE.fullmatch(data.decode(errors="replace"))
    return None if found is None else (int(found[1]), found[2])
