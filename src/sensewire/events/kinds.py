"""What kind of events a file holds, told by its name.

    .jsonl .ndjson          JSON lines              .parquet               Parquet
    .json                   a document, or lines    .arrow .arrows .feather  Arrow IPC
    .nq .trig               named graphs            .csv .tsv              a table of texts
    .nt .ttl .rdf .jsonld .n3   a document          .rss .atom             a feed
    .xml                    a document, or a feed   .jpg .wav .pdf .txt …  a payload

Text may be compressed, which one more suffix says: `day.jsonl.gz`. Media types are those that
Python knows by itself, not those of the machine, so that a name means the same everywhere.
"""

import mimetypes
from enum import StrEnum
from typing import NamedTuple

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
    XML = "xml"
    """One XML document, one event."""
    FEED = "feed"
    """RSS or Atom: one event for each item."""
    CSV = "csv"
    """Rows of texts, the first of which names the attributes: one event for each other one."""
    PARQUET = "parquet"
    """Rows of a Parquet file: one column an attribute, or one column `json`."""
    ARROW = "arrow"
    """The same in an Arrow IPC file or stream."""
    PACKED = "packed"
    """The same in Arrow IPC streams, each a cell of a Parquet file's one column `packed`, or the
    data of a slice itself."""
    PAYLOAD = "payload"
    """A picture, a sound, a text …: one event, whose payload is the file's bytes."""


class Naming(NamedTuple):
    """What a file's name says: the kind, its suffix, and how the file is compressed, if it is."""

    kind: Kind
    suffix: str
    packing: str | None


PACKINGS = (".gz", ".bz2", ".xz", ".zst", ".lz4")
"""What the names of compressed files end in."""

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
    ".xml": Kind.XML,
    ".rss": Kind.FEED,
    ".atom": Kind.FEED,
    ".csv": Kind.CSV,
    ".tsv": Kind.CSV,
    ".parquet": Kind.PARQUET,
    ".arrow": Kind.ARROW,
    ".arrows": Kind.ARROW,
    ".feather": Kind.ARROW,
}
_NOT_TEXT = (Kind.PARQUET, Kind.ARROW, Kind.PAYLOAD)
_MEDIA = ("image/", "audio/", "video/")
_MEDIA_TYPES = ("application/pdf", "text/plain", "text/html", "text/markdown", "message/rfc822")
_KNOWN_TYPES = mimetypes.MimeTypes(filenames=())


def naming(name: str) -> Naming:
    """What a file's name says of it.

    >>> naming("2024/day.jsonl.gz")
    Naming(kind=<Kind.LINES: 'lines'>, suffix='.jsonl', packing='.gz')
    """
    whole, suffix = _split(name)
    if suffix == ".zip":
        raise EventError(
            f"{name}: archives are not opened; unpack it and name the folder, "
            "or compress each file by itself, as .gz"
        )
    packing = suffix if suffix in PACKINGS else None
    if packing is not None:
        _, suffix = _split(whole)
    kind = _KINDS.get(suffix)
    if kind is None and _is_media(media_type("x" + suffix)):
        kind = Kind.PAYLOAD
    if kind is None:
        known = " ".join(_KINDS)
        raise EventError(
            f"{name}: no kind of events has names in {suffix!r}; expected {known}, "
            "or the suffix of a picture, sound, film or text"
        )
    if packing is not None and kind in _NOT_TEXT:
        raise EventError(f"{name}: {suffix} is not read from inside {packing}; unpack it")
    return Naming(kind, suffix, packing)


def media_type(name: str) -> str | None:
    """The media type that a name's suffix stands for.

    >>> media_type("photo.JPG"), media_type("a.b")
    ('image/jpeg', None)
    """
    return _KNOWN_TYPES.guess_type("x" + _split(name)[1])[0]


def _is_media(type: str | None) -> bool:
    return type is not None and (type.startswith(_MEDIA) or type in _MEDIA_TYPES)


def _split(name: str) -> tuple[str, str]:
    """A name's suffix, in small letters, and what stands before it; without a dot no suffix."""
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return (stem, f".{suffix.lower()}") if stem and dot else (name, "")
