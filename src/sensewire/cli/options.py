"""The options that several commands have, said once."""

import argparse
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensewire.spark.foreground import Starting

_EVENTS = (
    "files or folders of events, by path or address (s3://bucket/folder): .jsonl .ndjson .json "
    "(records, CloudEvents), .parquet .arrow (records by columns, or packed), .nq .trig (an event "
    "for each named graph), .nt .ttl .rdf .jsonld .n3 (one event), .csv .tsv (an event for each "
    "row), .rss .atom (an event for each item), .xml (a feed, or one event), pictures and other "
    "media (one event each); texts also as .gz .bz2 .xz .zst .lz4"
)
_SUBSCRIPTIONS = (
    'JSON lines {"id", "text", "language"?, "reading"?, "tolerance"?, "expires"?}; one that has '
    "expired is left out"
)
LANGUAGES = "sensewire (unless given), sparql, gql or statements"
"""What a subscription may be written in, for `--help`."""
Added = Callable[[dict[str, str]], dict[str, str]]
"""Adds settings of ours to those that were given."""

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def text(value: str) -> str:
    """A text that is not empty, for a path or an address."""
    if not value:
        raise argparse.ArgumentTypeError("expected a path, not an empty text")
    return value


def size(value: str) -> int:
    """Bytes, as people write them.

    >>> size("4g"), size("512M"), size("1000")
    (4294967296, 536870912, 1000)
    """
    found = re.fullmatch(r"(\d+)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{value!r} is no size; right would be 512m or 4g")
    return int(found[1]) * _UNITS[found[2]]


def add_events(parser: argparse.ArgumentParser) -> None:
    """--events, and how they are read."""
    add = parser.add_argument
    add("--events", required=True, nargs="+", action="extend", type=text, metavar="E", help=_EVENTS)
    add("--time-field", metavar="F", help="the field of an event's time, as a.b")
    add("--id-field", default="id", metavar="F", help="the field of its id, - for none; id")
    add("--max-event-bytes", type=int, metavar="N", help="reject longer lines and files; 8 MiB")
    add("--partitions", type=int, metavar="N", help="parts to read the events in; by size")


def add_subscriptions(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """--subscriptions and the knowledge that they are read with."""
    add = parser.add_argument
    add("--subscriptions", required=required, type=text, metavar="S", help=_SUBSCRIPTIONS)
    add("--now", metavar="TIME", help="the moment that the run takes for now; to repeat a run")
    add_knowledge(parser)


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """--knowledge."""
    parser.add_argument(
        "--knowledge",
        nargs="+",
        action="extend",
        default=[],
        type=text,
        metavar="K",
        help="files of synonyms, hierarchies and functions: .yaml, RDF in any syntax, WordNet's",
    )


def add_session(parser: argparse.ArgumentParser) -> None:
    """--master and --conf."""
    add = parser.add_argument
    add(
        "--master",
        metavar="URL",
        help="a Spark master; that of spark-submit, else every core of this machine",
    )
    add(
        "--conf",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="settings of Spark's, as spark.executor.memory=4g",
    )


def session_of(arguments: argparse.Namespace, added: Added = dict) -> "Starting":
    """Starts the session that --master and --conf ask for; `added` adds settings of ours."""
    from sensewire.spark.foreground import foreground_session
    from sensewire.spark.session import settings_in

    settings = added(settings_in(arguments.conf))
    return lambda: foreground_session(arguments.master, settings)


def now_of(arguments: argparse.Namespace) -> datetime:
    """The moment that a run takes for now."""
    from sensewire.model.event import moment

    return datetime.now(UTC) if arguments.now is None else moment(arguments.now)


def id_field_of(arguments: argparse.Namespace) -> str | None:
    """The field of ids, None for none."""
    field: str = arguments.id_field
    return None if field == "-" else field
