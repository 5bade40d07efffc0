"""What a stream reads and where it delivers, as people write them.

log                             the event log of the store
folder:/data/incoming           files that come into a folder
kafka://host:9092/topic         messages; ?format=ttl where they are not JSON

table                           the notifications of the store
parquet:/data/out  delta:/data/out  kafka://host:9092/topic
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from sensewire.events.kinds import Kind, naming
from sensewire.events.locations import Standing, location
from sensewire.model.errors import EventError, SensewireError


@dataclass(frozen=True, slots=True)
class FromLog:
    """The event log of the store."""


@dataclass(frozen=True, slots=True)
class FromFolder:
    """Files that come into a folder, and stay as they are."""

    path: str


@dataclass(frozen=True, slots=True)
class FromKafka:
    """Messages of a topic, each a record or a document in one format."""

    servers: str
    topic: str
    kind: Kind
    suffix: str


@dataclass(frozen=True, slots=True)
class ToTable:
    """The notifications of the store."""


@dataclass(frozen=True, slots=True)
class ToFiles:
    """Parquet files or Delta tables in a folder."""

    format: str
    path: str


@dataclass(frozen=True, slots=True)
class ToKafka:
    """A topic, keyed by subscription."""

    servers: str
    topic: str


Source = FromLog | FromFolder | FromKafka
Target = ToTable | ToFiles | ToKafka

_SOURCES = "log, folder:/path or kafka://host:port/topic"
_SINKS = "table, parquet:/path, delta:/path or kafka://host:port/topic"


def source_in(text: str) -> Source:
    """What a text names as a source.

    >>> source_in("folder:/data/incoming")
    FromFolder(path='/data/incoming')
    >>> source_in("kafka://localhost:9092/orders").topic
    'orders'
    """
    scheme, colon, rest = text.partition(":")
    match scheme:
        case "log" if not colon:
            return FromLog()
        case "folder" if rest:
            return FromFolder(rest)
        case "kafka" if rest:
            return _from_kafka(text)
    raise SensewireError(f"--source {text!r} is no source; right would be {_SOURCES}")


def target_in(text: str) -> Target:
    """What a text names as a sink.

    >>> target_in("parquet:/data/out")
    ToFiles(format='parquet', path='/data/out')
    """
    scheme, colon, rest = text.partition(":")
    match scheme:
        case "table" if not colon:
            return ToTable()
        case "parquet" | "delta" if rest:
            return ToFiles(scheme, rest)
        case "kafka" if rest:
            servers, topic, options = _kafka(text, "--sink")
            _only(options, (), text)
            return ToKafka(servers, topic)
    raise SensewireError(f"--sink {text!r} is no sink; right would be {_SINKS}")


def check_folder(source: FromFolder) -> None:
    """Raise unless the folder is there, on this machine or mounted."""
    place = location(source.path)
    if not place.is_local:
        raise SensewireError(
            f"--source folder:{source.path}: a stream watches folders by their path; mount it, or "
            "run sensewire match on what is there"
        )
    if place.status().standing is not Standing.FOLDER:
        raise SensewireError(f"--source folder:{source.path}: there is no such folder; make it")


def _from_kafka(text: str) -> FromKafka:
    servers, topic, options = _kafka(text, "--source")
    _only(options, ("format",), text)
    format = options.get("format", "jsonl")
    try:
        named = naming(f"x.{format}")
    except EventError:
        raise SensewireError(
            f"--source {text!r}: no format {format!r}; expected a suffix that event files have, as "
            "jsonl, ttl, nq, xml, csv or arrow"
        ) from None
    return FromKafka(servers, topic, named.kind, named.suffix)


def _kafka(text: str, option: str) -> tuple[str, str, dict[str, str]]:
    parts = urlsplit(text)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise SensewireError(f"{option} {text!r}: right would be kafka://host:port/topic")
    return parts.netloc, topic, dict(parse_qsl(parts.query))


def _only(options: dict[str, str], known: tuple[str, ...], text: str) -> None:
    for name in options:
        if name not in known:
            said = " or ".join(f"?{each}=…" for each in known) or "none"
            raise SensewireError(f"{text!r}: there is no option {name!r}; expected {said}")
