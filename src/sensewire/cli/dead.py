"""`sensewire dead`: what a stream could not read as an event, and what becomes of it."""

import argparse
import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sensewire.cli.replay import printable
from sensewire.cli.storing import add_store, opened_store
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from sensewire.store.dead import DeadLetter

_SHOWN = 120


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "dead",
        help="list, retry or drop what a stream could not read",
        description=(
            "Dead letters are what a stream could not read as an event: with the place, the reason "
            "and the bytes. list shows them, retry publishes them again to their stream, drop "
            "forgets them."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("what", choices=("list", "retry", "drop"), help="what to do with them")
    add("numbers", nargs="*", type=int, metavar="N", help="which, as `dead list` numbers them")
    add("--all", action="store_true", help="retry or drop all of them")
    add("--json", action="store_true", help="list them as JSON lines, bytes as base64")
    add_store(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it, and count."""
    from sensewire.store.dead import dead_letters, drop, retry

    numbers: list[int] = arguments.numbers
    if arguments.what != "list" and bool(numbers) == arguments.all:
        raise SensewireError(
            f"dead {arguments.what}: expected the numbers of dead letters, or --all"
        )
    with opened_store(arguments) as store:
        match arguments.what:
            case "list":
                letters = dead_letters(store, numbers)
                for each in letters:
                    print(_as_json(each) if arguments.json else _in_words(each))
                if not arguments.json:
                    print(f"{len(letters)} dead letters")
            case "retry":
                print(f"{retry(store, numbers, datetime.now(UTC))} dead letters published again")
            case _:
                print(f"{drop(store, numbers)} dead letters dropped")
    return 0


def _in_words(each: "DeadLetter") -> str:
    raw = printable(each.raw[: 4 * _SHOWN].decode(errors="replace"))
    raw = raw if len(raw) <= _SHOWN else f"{raw[: _SHOWN - 1]}…"
    return f"{each.number}  {printable(each.place)}: {printable(each.reason)}\n   {raw}"


def _as_json(each: "DeadLetter") -> str:
    from sensewire.store.database import moment_of

    return json.dumps(
        {
            "number": each.number,
            "place": each.place,
            "reason": each.reason,
            "time": moment_of(each.time).isoformat(),
            "raw": base64.b64encode(each.raw).decode(),
        },
        ensure_ascii=False,
    )
