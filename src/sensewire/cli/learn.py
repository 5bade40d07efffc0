"""`sensewire learn`: what a history of events is like, for the planner and for people, on Spark."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.cli import options
from sensewire.cli.progress import progress_bar

if TYPE_CHECKING:
    from sensewire.model.distribution import Distribution
    from sensewire.model.learned import Learned

_WIDTH = 80
_BAR = 10
_MOST_SHOWN = 50
_MOST_REASONS = 5


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "learn",
        help="learn from a history of events what is frequent and what is rare, on Spark",
        description=(
            "Learn from a history of events what is frequent and what is rare, on Spark, and write "
            "it to a file that `match` and `save` plan by. The last line of stdout counts what was "
            "learned."
        ),
        allow_abbrev=False,
    )
    options.add_events(parser)
    add = parser.add_argument
    add("--out", required=True, type=Path, metavar="STATS", help="the file to write")
    add("--sample", type=int, metavar="N", help="how many events to keep; 16384 unless given")
    options.add_knowledge(parser)
    add("--overwrite", action="store_true", help="replace the file if sensewire learn wrote it")
    options.add_session(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the job; show what was learned, and count it on the last line of stdout."""
    from sensewire.events.decoding import LONGEST_EVENT
    from sensewire.spark.learn import SAMPLE, LearnJob
    from sensewire.spark.learn import run as run_job

    longest = arguments.max_event_bytes
    job = LearnJob(
        events=tuple(arguments.events),
        out=arguments.out,
        sample=SAMPLE if arguments.sample is None else arguments.sample,
        knowledge=tuple(map(Path, arguments.knowledge)),
        id_field=options.id_field_of(arguments),
        time_field=arguments.time_field,
        overwrite=arguments.overwrite,
        max_event_bytes=LONGEST_EVENT if longest is None else longest,
        partitions=arguments.partitions,
    )
    with progress_bar("learning") as report:
        summary = run_job(job, options.session_of(arguments), report)
    for item in summary.rejected[:_MOST_REASONS]:
        print(f"sensewire: {item.place}: {' '.join(item.reason.split())}", file=sys.stderr)
    _show(summary.learned)
    print(summary)
    return 0


def _show(learned: "Learned") -> None:
    """The attributes as a table, the most frequent first."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sensewire.model.terms import escaped

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("attribute", no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("events", no_wrap=True, min_width=_BAR + 5)
    table.add_column("each", justify="right", no_wrap=True)
    table.add_column("distinct", justify="right", no_wrap=True)
    table.add_column("values", no_wrap=True, overflow="ellipsis")
    for each in learned.attributes[:_MOST_SHOWN]:
        table.add_row(
            Text(escaped(each.attribute.text)),
            Text(bar(each.share)),
            Text(f"{each.values:.3g}"),
            Text(f"{each.distinct:,}"),
            Text(" ".join(_values(each).split())),
        )
    console = Console(width=_WIDTH, highlight=False)
    console.print(table)
    left = len(learned.attributes) - _MOST_SHOWN
    if left > 0:
        console.print(f"… and {left:,} more attributes")


def bar(share: float) -> str:
    """A share as a bar of ten characters, in eighths, and in per cent.

    >>> bar(0.5), bar(0.004)
    ('█████       50%', '▏           <1%')
    """
    eighths = max(1, round(share * _BAR * 8))
    blocks = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    return f"{blocks:<{_BAR}} {_percent(share):>4}"


def _percent(share: float) -> str:
    return "<1%" if share < 0.01 else f"{share:.0%}"


def _values(found: "Distribution") -> str:
    """What values look like: from where to where numbers and dates go, else the commonest."""
    if len(found.numbers) > 1:
        low, middle, high = (found.numbers[place] for place in (0, len(found.numbers) // 2, -1))
        return f"{low:g} … {middle:g} … {high:g}"
    if len(found.dates) > 1:
        return f"{found.dates[0]} … {found.dates[-1]}"
    if found.common:
        value, share = found.common[0]
        return f"{_percent(share)} {value}"
    return " ".join(kind for kind, _ in found.kinds)
