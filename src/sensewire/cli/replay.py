"""`sensewire replay`: what would these subscriptions have received from a history of events?"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.cli import options
from sensewire.cli.progress import progress_bar
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from sensewire.spark.replay import Received, Replayed

_BLOCKS = " ▁▂▃▄▅▆▇█"
_WIDTH = 60
_SHOWN = 200
_MOST_REASONS = 5


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        help="what would these subscriptions have received from a history of events, on Spark",
        description=(
            "Match a history of events against new subscriptions, on Spark, and show for each what "
            "it would have received: how many events, on which days, and some of them. The last "
            "line of stdout counts what came of it."
        ),
        allow_abbrev=False,
    )
    options.add_subscriptions(parser, required=True)
    options.add_events(parser)
    add = parser.add_argument
    add("--examples", type=int, default=3, metavar="N", help="how many events to show of each; 3")
    add("--json", type=Path, metavar="FILE", help="write all of it, every day and example, as JSON")
    options.add_session(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the job, and show what each subscription would have received."""
    from sensewire.events.decoding import LONGEST_EVENT
    from sensewire.spark.replay import ReplayJob
    from sensewire.spark.replay import run as run_job

    out: Path | None = arguments.json
    if out is not None:
        _check_free(out)
    longest = arguments.max_event_bytes
    job = ReplayJob(
        subscriptions=Path(arguments.subscriptions),
        events=tuple(arguments.events),
        now=options.now_of(arguments),
        knowledge=tuple(map(Path, arguments.knowledge)),
        id_field=options.id_field_of(arguments),
        time_field=arguments.time_field,
        max_event_bytes=LONGEST_EVENT if longest is None else longest,
        partitions=arguments.partitions,
        examples=arguments.examples,
    )
    with progress_bar("replaying") as report:
        found = run_job(job, options.session_of(arguments), report)
    for item in found.problems[:_MOST_REASONS]:
        print(f"sensewire: {printable(f'{item.place}: {item.reason}')}", file=sys.stderr)
    if found.matches and not any(_timed(received) for received in found.subscriptions):
        print(f"sensewire: {_no_time(arguments.time_field)}", file=sys.stderr)
    for received in found.subscriptions:
        print("\n".join(shown(received)))
    if out is not None:
        out.write_text(as_json(found) + "\n", encoding="utf-8")
    print(found)
    return 0


def _check_free(out: Path) -> None:
    if out.exists() or out.is_symlink():
        raise SensewireError(f"--json {out} exists; name another file, or remove it first")
    if not out.parent.is_dir():
        raise SensewireError(f"--json {out}: there is no folder {out.parent}; make it first")


def shown(received: "Received") -> Iterator[str]:
    """What one subscription would have received, in lines.

    >>> from sensewire.spark.replay import Received
    >>> from sensewire.spark.tally import Example
    >>> days = {"2024-03-01": 2, "2024-03-03": 8, None: 1}
    >>> some = (Example("2024-03-03", "h.jsonl:7", "e7", '{"id": "e7"}'),)
    >>> print("\\n".join(shown(Received("anna", 11, days, some))))
    anna: 11 events
      2024-03-01 ▂ █ 2024-03-03   at most 8 a day
      1 event has no time
      e7 (h.jsonl:7, 2024-03-03) {"id": "e7"}
    """
    yield f"{printable(received.subscription)}: {_events(received.matches)}"
    days = {day: count for day, count in received.days.items() if day is not None}
    if days:
        yield f"  {chart(days)}"
    untimed = received.days.get(None, 0)
    if untimed and days:
        yield f"  {_events(untimed)} {'has' if untimed == 1 else 'have'} no time"
    for each in received.examples:
        where = each.place if each.day is None else f"{each.place}, {each.day}"
        raw = printable(each.raw)
        shown = raw if len(raw) <= _SHOWN else f"{raw[: _SHOWN - 1]}…"
        yield f"  {printable(f'{each.event} ({where})')} {shown}"


def printable(text: str) -> str:
    """A text on one line, without what a terminal would obey.

    >>> printable('two\\n  lines' + chr(27) + "[2J")
    'two lines\\\\x1b[2J'
    """
    line = " ".join(text.split())
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def _timed(received: "Received") -> int:
    return sum(count for day, count in received.days.items() if day is not None)


def _no_time(field: str | None) -> str:
    if field is None:
        return "no time of these events is known; --time-field names the field that holds it"
    return f"none of these events has a time in {field!r}, which --time-field names"


def chart(days: Mapping[str, int]) -> str:
    """Counts by day as a line of bars, from the first day to the last; several days a bar if many.

    >>> chart({"2024-02-28": 4, "2024-03-01": 1})
    '2024-02-28 █ ▂ 2024-03-01   at most 4 a day'
    >>> chart({"2024-02-28": 4})
    '2024-02-28 █   4 that day'
    """
    first, last = (date.fromisoformat(day) for day in (min(days), max(days)))
    span = (last - first).days + 1
    step = -(-span // _WIDTH)
    bars = [0] * (-(-span // step))
    for day, count in days.items():
        bars[(date.fromisoformat(day) - first).days // step] += count
    most = max(bars)
    if span == 1:
        return f"{first} █   {most:,} that day"
    drawn = "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // most)] for count in bars)
    end = first + timedelta(days=span - 1)
    each = "a day" if step == 1 else f"in {step} days"
    return f"{first} {drawn} {end}   at most {most:,} {each}"


def as_json(found: "Replayed") -> str:
    """All that was found, as JSON; the days of events without a time under the key "none"."""
    whole = {
        "events": found.events,
        "matches": found.matches,
        "rejected": found.rejected,
        "failed": found.failed,
        "subscriptions": [
            {
                "subscription": each.subscription,
                "matches": each.matches,
                "days": {day or "none": count for day, count in each.days.items()},
                "examples": [example._asdict() for example in each.examples],
            }
            for each in found.subscriptions
        ],
        "problems": [{"place": item.place, "reason": item.reason} for item in found.problems],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"
