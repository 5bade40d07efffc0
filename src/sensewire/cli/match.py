"""`sensewire match`: match files of events against a file of subscriptions, on Spark."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensewire.spark.progress import Report

_EVENTS = (
    "files or folders of events: .jsonl .ndjson .json (records, CloudEvents), .nq .trig (an event "
    "for each named graph), .nt .ttl .rdf .jsonld .n3 (one event)"
)


_SUBSCRIPTIONS = (
    'JSON lines {"id", "text", "language"?, "reading"?, "tolerance"?, "expires"?}; one that has '
    "expired is left out"
)


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected a path, not an empty text")
    return Path(text)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "match",
        help="match files of events against subscriptions, on Spark",
        description=(
            "Match files of events against a file of subscriptions, on Spark. "
            "The last line of stdout counts what came of it."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--subscriptions", required=True, type=_path, metavar="S", help=_SUBSCRIPTIONS)
    add(
        "--events", required=True, nargs="+", action="extend", type=_path, metavar="E", help=_EVENTS
    )
    add("--out", required=True, type=_path, metavar="O", help="the folder to write")
    add(
        "--knowledge",
        nargs="+",
        action="extend",
        default=[],
        type=_path,
        metavar="K",
        help="files of synonyms, hierarchies and functions: .yaml, RDF in any syntax, WordNet's",
    )
    add("--master", metavar="URL", help="a Spark master; every core of this machine unless given")
    add("--time-field", metavar="F", help="the field that holds an event's time; a dotted path")
    add("--id-field", default="id", metavar="F", help="the field of its id; - for none")
    add("--now", metavar="TIME", help="the moment that the run takes for now; to repeat a run")
    add("--format", default="parquet", choices=("parquet", "jsonl"), help="what to write")
    add("--overwrite", action="store_true", help="replace the folder if an earlier run wrote it")
    add("--max-event-bytes", type=int, metavar="N", help="reject longer lines and files; 8 MiB")
    add("--partitions", type=int, metavar="N", help="how many parts to read the events in")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the job, and count on the last line of stdout what came of it."""
    from sensewire.events.decoding import LONGEST_EVENT
    from sensewire.model.event import moment
    from sensewire.spark.foreground import foreground_session
    from sensewire.spark.job import MatchJob
    from sensewire.spark.job import run as run_job

    longest = arguments.max_event_bytes
    job = MatchJob(
        subscriptions=arguments.subscriptions,
        events=tuple(arguments.events),
        out=arguments.out,
        knowledge=tuple(arguments.knowledge),
        now=datetime.now(UTC) if arguments.now is None else moment(arguments.now),
        id_field=None if arguments.id_field == "-" else arguments.id_field,
        time_field=arguments.time_field,
        format=arguments.format,
        overwrite=arguments.overwrite,
        max_event_bytes=LONGEST_EVENT if longest is None else longest,
        partitions=arguments.partitions,
    )
    with progress_bar("matching") as report:
        summary = run_job(job, lambda: foreground_session(arguments.master), report)
    print(summary)
    return 0


@contextmanager
def progress_bar(name: str) -> Iterator["Report | None"]:
    """A bar on stderr where that is a terminal; nothing to report to where it is none."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield report
