"""`sensewire explain`: why an event matches a subscription, or not, condition by condition."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.cli.options import LANGUAGES
from sensewire.model.errors import EventError, ParseError

if TYPE_CHECKING:
    from sensewire.events.decoding import Decoding, Outcome
    from sensewire.model.event import Event

_SUBSCRIPTION = "the subscription"
_EVENT = "the event"
KNOWLEDGE = "files or folders of knowledge: YAML, RDF (RDFS, OWL, SKOS, SHACL), WordNet's folder"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="say why an event matches a subscription, or not",
        description=(
            "Say why an event matches a subscription, or not, condition by condition. Ends with 0 "
            "if it matches, with 1 if it does not or stays undecided, with 2 for an error."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--subscription", required=True, metavar="TEXT", help='as in "product = computer"')
    add(
        "--event",
        required=True,
        metavar="E",
        help='a JSON object, as in \'{"product": "laptop"}\'; or a file that holds one event, '
        "@file if its name could be taken for JSON",
    )
    add("--knowledge", nargs="+", action="extend", default=[], metavar="K", help=KNOWLEDGE)
    add("--language", default="sensewire", metavar="L", help=f"what it is written in: {LANGUAGES}")
    add("--reading", metavar="R", help="meaning: read its constants by meaning")
    add("--time", metavar="TIME", help="the event's time; its own, or now, unless given")
    add("--json", action="store_true", help="print the explanation as JSON")
    add("--svg", metavar="FILE", help="draw the explanation, too, into this file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; whether the event matches is the exit code."""
    from sensewire.engine import Engine
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.language.parse import parse

    try:
        subscription = parse(
            arguments.subscription, language=arguments.language, reading=arguments.reading
        )
    except ParseError as error:
        print(error, file=sys.stderr)  # as it stands: a word before it would move the caret
        return 2
    event = event_from(arguments.event, arguments.time)
    engine = Engine(Knowledge.load(*arguments.knowledge))
    explanation = engine.explain(engine.add(subscription, id=_SUBSCRIPTION), event)
    if arguments.svg is not None:
        Path(arguments.svg).write_text(explanation.to_svg(), encoding="utf-8")
    print(explanation.to_json() if arguments.json else explanation)
    return 0 if explanation.matches else 1


def event_from(given: str, time: str | None) -> "Event":
    """The event that an argument writes, or that stands in the file which it names."""
    from sensewire.events.decoding import Decoding, Rejected
    from sensewire.model.event import moment

    decoding = Decoding(now=moment(time))
    outcomes = _outcomes(given, decoding)
    if len(outcomes) != 1:
        raise EventError(f"--event: {given} holds {len(outcomes)} events; expected one")
    (found,) = outcomes
    if isinstance(found, Rejected):
        raise EventError(f"--event: {found.place}: {found.reason}")
    return found.event if time is None else replace(found.event, time=decoding.now)


def _outcomes(given: str, decoding: "Decoding") -> "list[Outcome]":
    from sensewire.events import records
    from sensewire.events.decode import decode
    from sensewire.events.files import listing, slices

    if not given.strip():
        raise EventError("--event: expected a JSON object or a file, not an empty text")
    if not given.lstrip().startswith(("{", "[", "@")) and not _is_there(given):
        raise EventError(f"--event: {given[:100]!r} is no JSON object, and there is no such file")
    if given.startswith("@"):
        path = Path(given[1:])
    elif given.lstrip().startswith(("{", "[")):
        return list(records.document(given.encode(errors="surrogatepass"), _EVENT, decoding))
    else:
        path = Path(given)
    found = listing([path])
    parts = [part for file in found.files for part in slices(file, max(1, file.size))]
    return [*found.rejected, *(each for part in parts for each in decode(part, decoding))]


def _is_there(given: str) -> bool:
    try:
        return Path(given).exists()
    except (OSError, ValueError):  # no name that a file could have
        return False
