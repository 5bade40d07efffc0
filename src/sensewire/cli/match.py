"""`sensewire match`: match files of events against subscriptions, on Spark."""

import argparse
from pathlib import Path

from sensewire.cli import options
from sensewire.cli.progress import progress_bar


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "match",
        help="match files of events against subscriptions, on Spark",
        description=(
            "Match files of events against a file of subscriptions, or an index of them, on Spark. "
            "The last line of stdout counts what came of it."
        ),
        allow_abbrev=False,
    )
    options.add_subscriptions(parser, required=False)
    add = parser.add_argument
    add("--index", type=Path, metavar="I", help="an index that `sensewire save` wrote, instead")
    options.add_events(parser)
    add("--out", required=True, type=options.text, metavar="O", help="the folder to write")
    add("--format", default="parquet", choices=("parquet", "jsonl", "delta"), help="what to write")
    add("--overwrite", action="store_true", help="replace the folder if an earlier run wrote it")
    add(
        "--statistics",
        type=Path,
        metavar="STATS",
        help="what `sensewire learn` wrote, to plan by; else a few of the events themselves",
    )
    add(
        "--index-memory",
        type=options.size,
        metavar="SIZE",
        help="the most that a worker may hold of the index (512m, 4g); above it, it is split",
    )
    add(
        "--index-shared",
        action="store_true",
        help="--index is a path that every machine sees: send nothing",
    )
    options.add_session(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the job, and count on the last line of stdout what came of it."""
    from sensewire.events.decoding import LONGEST_EVENT
    from sensewire.spark.delta import delta_settings
    from sensewire.spark.job import MatchJob
    from sensewire.spark.job import run as run_job

    longest = arguments.max_event_bytes
    job = MatchJob(
        subscriptions=None if arguments.subscriptions is None else Path(arguments.subscriptions),
        index=arguments.index,
        events=tuple(arguments.events),
        out=arguments.out,
        knowledge=tuple(map(Path, arguments.knowledge)),
        statistics=arguments.statistics,
        now=options.now_of(arguments),
        id_field=options.id_field_of(arguments),
        time_field=arguments.time_field,
        format=arguments.format,
        overwrite=arguments.overwrite,
        max_event_bytes=LONGEST_EVENT if longest is None else longest,
        partitions=arguments.partitions,
        index_memory=arguments.index_memory,
        index_shared=arguments.index_shared,
    )
    added = delta_settings if job.format == "delta" else dict
    with progress_bar("matching") as report:
        summary = run_job(job, options.session_of(arguments, added), report)
    print(summary)
    return 0
