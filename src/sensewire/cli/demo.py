"""`sensewire demo`: the stories under `examples/`, matched on Spark, and who gets what."""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAMES = {"shop": "A shop", "newsdesk": "A news desk"}
"""The stories, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Story:
    """A folder of examples: its title, its subscriptions and its events."""

    title: str
    subscriptions: Path
    events: tuple[Path, ...]


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="run the example stories on Spark, and print who gets what",
        description="Run the example stories on Spark, and print who gets what.",
        allow_abbrev=False,
    )
    parser.add_argument("--master", metavar="URL", help="a Spark master")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Match each story, and print what came of it."""
    from rich.console import Console

    from sensewire.cli.match import progress_bar
    from sensewire.spark.foreground import foreground_session
    from sensewire.spark.job import MatchJob
    from sensewire.spark.job import run as run_job

    console = Console()
    for story in stories(examples()):
        with tempfile.TemporaryDirectory(prefix="sensewire-demo-") as folder:
            out = Path(folder) / "matches"
            job = MatchJob(story.subscriptions, story.events, out, now=datetime.now(UTC))
            with progress_bar(story.title) as report:
                summary = run_job(job, lambda: foreground_session(arguments.master), report)
            _tell(story, out, console)
        console.print(f"{summary}\n", highlight=False)
    return 0


def examples() -> Path:
    """Where the examples are: in the package that was installed, or beside `src` in a checkout."""
    package = Path(__file__).parent.parent
    for place in (package / "examples", package.parent.parent / "examples"):
        if all((place / name).is_dir() for name in NAMES):
            return place
    raise SensewireError(f"the examples are not in {package}; install Sensewire again")


def stories(folder: Path) -> Iterator[Story]:
    """The stories of a folder of examples."""
    for name, title in NAMES.items():
        subscriptions = folder / name / "subscriptions.jsonl"
        known = (subscriptions, folder / name / "README.md")
        events = sorted(path for path in (folder / name).iterdir() if path not in known)
        yield Story(title, subscriptions, tuple(events))


def _tell(story: Story, out: Path, console: "Console") -> None:
    import pyarrow.parquet as pq

    texts = dict(_texts(story.subscriptions))
    got: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for match in pq.read_table(out).to_pylist():
        got[match["subscription"]].append(match)
    rejected = pq.read_table(out / "_rejected").to_pylist()
    console.rule(f"[bold]{story.title}")
    console.print(_who_gets_what(texts, got))
    if rejected:
        console.print(_what_was_rejected(rejected))


def _texts(subscriptions: Path) -> Iterator[tuple[str, str]]:
    for line in subscriptions.read_text(encoding="utf-8").splitlines():
        stated = json.loads(line)
        until = f"\n(until {stated['expires']})" if "expires" in stated else ""
        yield stated["id"], stated["text"] + until


def _who_gets_what(texts: dict[str, str], got: dict[str, list[dict[str, Any]]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True, expand=True)
    table.add_column("who", no_wrap=True)
    for title, ratio in (("asked for", 5), ("gets", 3), ("with", 4)):
        table.add_column(title, ratio=ratio, overflow="fold")
    for name, text in texts.items():
        matches = sorted(got[name], key=lambda match: (match["distance"], match["event"]))
        events = "\n".join(_event(match) for match in matches) or "nothing"
        bindings = "\n".join(_bindings(match["rows"]) for match in matches)
        table.add_row(
            Text(name, "bold"),
            Text(text),
            Text(events, "green" if matches else "dim"),
            Text(bindings.strip()),
        )
    return table


def _event(match: dict[str, Any]) -> str:
    id = str(match["event"]).rpartition("/")[2]
    return f"{id} (distance {match['distance']:.3g})" if match["distance"] else id


def _bindings(rows: Sequence[Sequence[tuple[str, str]]] | None) -> str:
    return "; ".join(
        ", ".join(f"{name} = {_short(term)}" for name, term in row) for row in rows or ()
    )


def _short(term: str) -> str:
    """An N-Triples term as people say it.

    >>> _short('"5"^^<http://www.w3.org/2001/XMLSchema#integer>'), _short("<http://x.org/a>")
    ('5', 'a')
    """
    if term.startswith("<"):
        return term[1:-1].rpartition("/")[2]
    return term.rpartition('"')[0].removeprefix('"') or term


def _what_was_rejected(rejected: list[dict[str, Any]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True, expand=True, title="rejected, while the rest went on")
    table.add_column("where", ratio=2, overflow="fold")
    table.add_column("why", ratio=5, overflow="fold")
    for item in sorted(rejected, key=lambda item: str(item["place"])):
        table.add_row(Text(Path(item["place"]).name), Text(item["reason"], "yellow"))
    return table
