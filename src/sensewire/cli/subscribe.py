"""`sensewire subscribe`, `unsubscribe` and `subscriptions`: who asks what of a store's stream."""

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire.cli import options
from sensewire.cli.options import LANGUAGES
from sensewire.cli.storing import add_store, opened_store
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from sensewire.store.database import Store
    from sensewire.store.subscribing import Asked

_AT_ONCE = 10_000
_MOST_REASONS = 5


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the commands."""
    _add_subscribe(commands)
    parser = commands.add_parser(
        "unsubscribe",
        help="cancel subscriptions of a store",
        description=(
            "Cancel subscriptions. An event that is published after this command has ended is not "
            "matched to them."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("ids", nargs="+", metavar="ID", help="the subscriptions to cancel")
    add_store(parser)
    parser.set_defaults(run=run_unsubscribe)
    parser = commands.add_parser(
        "subscriptions",
        help="list the subscriptions of a store",
        description="List those that stand; or all that ever had one of some ids.",
        allow_abbrev=False,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these, also cancelled ones")
    parser.add_argument("--json", action="store_true", help="as JSON lines")
    add_store(parser)
    parser.set_defaults(run=run_list)


def _add_subscribe(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "subscribe",
        help="let a subscription stand, for the stream that reads the store",
        description=(
            "Let a subscription stand, or those of a file. An event that is published after this "
            "command has ended is matched to them."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("id", nargs="?", metavar="ID", help="the name of the subscription")
    add("text", nargs="?", metavar="TEXT", help="what it asks for")
    add("--language", metavar="L", help=f"what the text is written in: {LANGUAGES}")
    add("--reading", choices=("meaning", "exact"), help="how its constants are read")
    add("--tolerance", type=float, metavar="T", help="the same as `within` at the end of the text")
    add("--expires", metavar="TIME", help="from when on it stands no more")
    add(
        "--file", type=options.text, metavar="S", help="instead: JSON lines, as for sensewire match"
    )
    add_store(parser)
    parser.set_defaults(run=run_subscribe)


def run_subscribe(arguments: argparse.Namespace) -> int:
    """Add what is stated; the last line says how many stand now."""
    from sensewire.store.knowing import knowledge_of
    from sensewire.store.subscribing import Judge, subscribe

    alone = arguments.id is not None and arguments.text is not None
    if alone == (arguments.file is not None):
        raise SensewireError("expected ID and TEXT, or --file with JSON lines")
    with opened_store(arguments) as store:
        with store.reading() as connection:
            judge = Judge(knowledge_of(connection))
        if arguments.file is not None:
            return _subscribe_all(store, Path(arguments.file), judge)
        stated: dict[str, Any] = {"id": arguments.id, "text": arguments.text}
        for key in ("language", "reading", "tolerance", "expires"):
            if getattr(arguments, key) is not None:
                stated[key] = getattr(arguments, key)
        wish = judge.wished(stated)
        now = datetime.now(UTC)
        if wish.stated.expires is not None and wish.stated.expires <= now:
            raise SensewireError(
                f"--expires {arguments.expires} is past: it would never match; name a later time"
            )
        subscribe(store, [wish], now)
        print(f"{arguments.id} stands")
    return 0


def _subscribe_all(store: "Store", path: Path, judge: Any) -> int:
    """Add the subscriptions of a file, some thousand at a time; bad lines are told and left out."""
    from sensewire.cli.progress import spinner
    from sensewire.events.records import read_json
    from sensewire.spark.subscriptions import lines_of
    from sensewire.store.subscribing import subscribe

    added = bad = 0
    wishes: list[Any] = []
    with spinner(f"reading {path}") as say:
        for line in lines_of(path):
            try:
                wishes.append(judge.wished(read_json(line.data)))
            except SensewireError as error:
                bad += 1
                if bad <= _MOST_REASONS:
                    reason = " ".join(str(error).split())
                    print(f"sensewire: {path}:{line.number}: {reason}", file=sys.stderr)
            if len(wishes) == _AT_ONCE:
                subscribe(store, wishes, datetime.now(UTC))
                added += len(wishes)
                wishes = []
                say(f"{added:,} subscriptions")
        if wishes:
            subscribe(store, wishes, datetime.now(UTC))
            added += len(wishes)
    print(f"{added} subscriptions stand, {bad} rejected")
    return 0


def run_unsubscribe(arguments: argparse.Namespace) -> int:
    """Cancel them, all or none."""
    from sensewire.store.subscribing import unsubscribe

    with opened_store(arguments) as store:
        unsubscribe(store, list(dict.fromkeys(arguments.ids)))
    print(f"{', '.join(arguments.ids)} cancelled")
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """Print them, in the order in which they came."""
    from sensewire.store.subscribing import listed

    count = 0
    with opened_store(arguments) as store, store.reading() as connection:
        for asked in listed(connection, arguments.ids):
            count += 1
            if arguments.json:
                print(json.dumps(dict(_said(asked)), ensure_ascii=False))
            else:
                print(_in_words(asked))
    if not arguments.json:
        print(f"{count} subscriptions")
    return 0


def _said(asked: "Asked") -> Iterator[tuple[str, Any]]:
    yield from asked.data().items()
    yield "state", asked.state
    if asked.reason is not None:
        yield "reason", asked.reason
    if asked.expires is not None:
        yield "expires", _moment(asked.expires)


def _in_words(asked: "Asked") -> str:
    notes = [] if asked.state == "live" else [asked.state]
    if asked.reason:
        notes.append(" ".join(asked.reason.split()))
    if asked.expires is not None:
        notes.append(f"until {_moment(asked.expires)}")
    told = f"   ({', '.join(notes)})" if notes else ""
    return f"{asked.id}: {' '.join(asked.text.split())}{told}"


def _moment(microseconds: int) -> str:
    from sensewire.store.database import moment_of

    return moment_of(microseconds).isoformat()
