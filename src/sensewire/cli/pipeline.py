"""`sensewire pipeline`: a stream of events, matched on Spark until somebody ends it."""

import argparse
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.cli import options
from sensewire.cli.storing import add_store, store_name

if TYPE_CHECKING:
    from sensewire.spark.stream import StreamJob

_TRIGGER = (
    'how often a batch begins ("2 seconds"); as soon as the one before has ended, unless given; '
    "available-now: end when all that is there now is matched"
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "pipeline",
        help="match a stream of events on Spark: from the log, a folder or Kafka",
        description=(
            "Match what arrives against the subscriptions of a store, until it is told to end "
            "(Ctrl-C, SIGTERM): then the running batch ends, and nothing is lost."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--source",
        required=True,
        type=options.text,
        metavar="SOURCE",
        help="log, folder:/path or kafka://host:port/topic[?format=ttl]",
    )
    add(
        "--sink",
        default="table",
        type=options.text,
        metavar="SINK",
        help="table (of the store), parquet:/path, delta:/path or kafka://host:port/topic; table",
    )
    add(
        "--checkpoint",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder of this stream: how far it is, and its index",
    )
    add_stream(parser)
    parser.set_defaults(run=run)


def add_stream(parser: argparse.ArgumentParser) -> None:
    """The options that every stream has."""
    add = parser.add_argument
    add_store(parser)
    add("--trigger", default="0 seconds", metavar="TIME", help=_TRIGGER)
    add("--most", type=int, metavar="N", help="events of a batch, about; 50,000")
    add("--remember", type=int, metavar="N", help="events whose ids are remembered; 10,000,000")
    add("--id-field", default="id", metavar="F", help="the field of an event's id, - for none; id")
    add("--time-field", metavar="F", help="the field of its time, as a.b")
    add("--max-event-bytes", type=int, metavar="N", help="reject longer ones; 8 MiB")
    add("--statistics", type=Path, metavar="STATS", help="what `sensewire learn` wrote, to plan by")
    add("--metrics", type=int, metavar="PORT", help="serve Prometheus metrics on this port")
    options.add_knowledge(parser)
    options.add_session(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the stream, and count at its end what came of it."""
    return run_stream(arguments, arguments.source, arguments.sink, arguments.checkpoint)


def run_stream(arguments: argparse.Namespace, source: str, sink: str, checkpoint: Path) -> int:
    """Run a stream until it ends, or is told to."""
    from sensewire.cli.live import live_line
    from sensewire.cli.progress import spinner
    from sensewire.spark.gauges import Gauges, served
    from sensewire.spark.stream import streaming

    job = _job(arguments, source, sink, checkpoint)
    gauges = Gauges()
    with ExitStack() as stack:
        if arguments.metrics is not None:
            port = stack.enter_context(served(gauges, arguments.metrics))
            print(f"metrics: http://127.0.0.1:{port}/metrics", flush=True)
        session = options.session_of(arguments, _added(job))
        with spinner("starting Spark and mapping the index"):
            stream = stack.enter_context(streaming(job, session, gauges, master=arguments.master))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stream.ask_to_stop())
        stack.enter_context(live_line(gauges))
        print(f"ready: {source} → {sink}, store {_shown(job.store)}", flush=True)
        stream.wait()
    done = gauges.now()
    print(
        f"{done.events} events, {done.matches} matches, {done.repeats} repeats, "
        f"{done.rejected} rejected, {done.failed} failed"
    )
    return 0


def _job(arguments: argparse.Namespace, source: str, sink: str, checkpoint: Path) -> "StreamJob":
    from sensewire.events.decoding import LONGEST_EVENT
    from sensewire.model.errors import SensewireError
    from sensewire.spark.stream import MOST, StreamJob
    from sensewire.spark.stream_places import source_in, target_in
    from sensewire.store.ledger import REMEMBERED

    for name in ("most", "remember", "max_event_bytes"):
        number = getattr(arguments, name)
        if number is not None and number < 1:
            option = name.replace("_", "-")
            raise SensewireError(f"--{option} {number}: expected a whole number above 0")
    return StreamJob(
        store_name(arguments),
        checkpoint,
        source_in(source),
        target_in(sink),
        trigger=arguments.trigger,
        knowledge=tuple(map(Path, arguments.knowledge)) or None,
        id_field=options.id_field_of(arguments),
        time_field=arguments.time_field,
        max_event_bytes=arguments.max_event_bytes or LONGEST_EVENT,
        most=arguments.most or MOST,
        remember=arguments.remember or REMEMBERED,
        statistics=arguments.statistics,
    )


def _added(job: "StreamJob") -> "options.Added":
    """The settings that a stream needs beyond those of every job."""
    from sensewire.spark.stream import stream_settings

    return lambda given: stream_settings(job, given)


def _shown(store: str) -> str:
    """A store without its password."""
    scheme, slashes, rest = store.partition("://")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}" if slashes else store
