"""`sensewire demo`: the stories under `examples/`, matched on Spark: who gets what, and why; and a
stream, at the end (`demo_stream`)."""

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire.cli.demo_stream import tell_stream
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAMES = {"shop": "A shop", "newsdesk": "A news desk", "building": "A building"}
"""The stories, in the order in which they are told."""
_ON_BRICK = ("building",)
_MARKS = ("✓", "✗", "?", "→", "or")


@dataclass(frozen=True, slots=True)
class Story:
    """A folder of examples: its title, its subscriptions, its events, and what is known."""

    title: str
    subscriptions: Path
    events: tuple[Path, ...]
    knowledge: tuple[Path, ...] = ()


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="run the example stories on Spark, and print who gets what and why",
        description="Run the example stories on Spark, and print who gets what and why.",
        allow_abbrev=False,
    )
    parser.add_argument("--master", metavar="URL", help="a Spark master")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Match each story, and print what came of it."""
    from rich.console import Console

    from sensewire.cli.progress import progress_bar
    from sensewire.spark.foreground import foreground_session
    from sensewire.spark.job import MatchJob
    from sensewire.spark.job import run as run_job

    console = Console()
    now = datetime.now(UTC)
    for story in stories(examples()):
        with tempfile.TemporaryDirectory(prefix="sensewire-demo-") as folder:
            out = Path(folder) / "matches"
            job = MatchJob(story.subscriptions, story.events, out, now, story.knowledge)
            with progress_bar(story.title) as report:
                summary = run_job(job, lambda: foreground_session(arguments.master), report)
            _tell(story, out, Reasons(story, now), console)
        console.print(f"{summary}\n", highlight=False)
    if brick() is None:
        console.print("One more story, a building, needs Brick: pip install brickschema")
    tell_stream(examples() / "shop", lambda: foreground_session(arguments.master), console)
    return 0


def examples() -> Path:
    """Where the examples are: in the package that was installed, or beside `src` in a checkout."""
    package = Path(__file__).parent.parent
    for place in (package / "examples", package.parent.parent / "examples"):
        if all((place / name).is_dir() for name in NAMES):
            return place
    raise SensewireError(f"the examples are not in {package}; install Sensewire again")


def stories(folder: Path) -> Iterator[Story]:
    """The stories of a folder of examples, those on Brick only where it is installed."""
    for name, title in NAMES.items():
        place = folder / name
        subscriptions = place / "subscriptions.jsonl"
        knowledge = [path for path in (place / "knowledge",) if path.is_dir()]
        if name in _ON_BRICK:
            ontology = brick()
            if ontology is None:
                continue
            knowledge.append(ontology)
        others = (subscriptions, place / "README.md", *knowledge)
        events = sorted(path for path in place.iterdir() if path not in others)
        yield Story(title, subscriptions, tuple(events), tuple(knowledge))


def brick() -> Path | None:
    """The newest Brick that the package `brickschema` brings, found without importing it."""
    found = find_spec("brickschema")
    for folder in () if found is None else found.submodule_search_locations or ():
        versions = [path.parent for path in Path(folder).glob("ontologies/*/Brick.ttl")]
        if versions:
            newest = max(versions, key=lambda path: [int(part) for part in path.name.split(".")])
            return newest / "Brick.ttl"
    return None


class Reasons:
    """Why people of a story get what they get: the same engine, asked once more."""

    def __init__(self, story: Story, now: datetime) -> None:
        from sensewire.engine import Engine
        from sensewire.events.decode import decode
        from sensewire.events.decoding import Decoded, Decoding
        from sensewire.events.files import Slice, listing
        from sensewire.knowledge.knowledge import Knowledge
        from sensewire.spark.subscriptions import subscriptions_in

        knowledge = Knowledge.load(*story.knowledge)
        self._engine = Engine(knowledge)
        for name, subscription in subscriptions_in(story.subscriptions, now, knowledge).live:
            self._engine.add(subscription, id=name)
        self._events = {
            outcome.event.id: outcome.event
            for file in listing(story.events).files
            for outcome in decode(Slice(file, 0, file.size, 1), Decoding(now))
            if isinstance(outcome, Decoded)
        }

    def why(self, subscription: str, event: str) -> str:
        """Condition by condition, the verdict left out."""
        _, *lines = str(self._engine.explain(subscription, self._events[event])).splitlines()
        told: list[str] = []
        for line in map(str.strip, lines):
            if told and not line.startswith(_MARKS):  # folded for a terminal; the table folds anew
                told[-1] += f" {line}"
            else:
                told.append(line)
        return "\n".join(re.sub(" {3,}", "  ", line) for line in told)  # columns do not fit a cell


def _tell(story: Story, out: Path, reasons: Reasons, console: "Console") -> None:
    import pyarrow.parquet as pq

    texts = dict(_texts(story.subscriptions))
    got: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for match in pq.read_table(out).to_pylist():
        got[match["subscription"]].append(match)
    rejected = pq.read_table(out / "_rejected").to_pylist()
    console.rule(f"[bold]{story.title}")
    console.print(_who_gets_what(texts, got, reasons))
    if rejected:
        console.print(_what_was_rejected(rejected))


def _texts(subscriptions: Path) -> Iterator[tuple[str, str]]:
    for line in subscriptions.read_text(encoding="utf-8").splitlines():
        stated = json.loads(line)
        until = f"\n(until {stated['expires']})" if "expires" in stated else ""
        yield stated["id"], stated["text"] + until


def _who_gets_what(
    texts: dict[str, str], got: dict[str, list[dict[str, Any]]], reasons: Reasons
) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True, expand=True)
    for title, ratio in (("who asked for what", 3), ("gets", 2), ("because", 5)):
        table.add_column(title, ratio=ratio, overflow="fold")
    for name, text in texts.items():
        who = Text.assemble((name, "bold"), "\n", text)
        matches = sorted(got[name], key=lambda match: (match["distance"], match["event"]))
        for match in matches:
            gets = Text.assemble((_event(match), "green"), "\n", _bindings(match["rows"]))
            table.add_row(who, gets, Text(reasons.why(name, match["event"])))
            who = Text("")
        if not matches:
            table.add_row(who, Text("nothing", "dim"), Text(""))
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
