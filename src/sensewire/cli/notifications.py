"""`sensewire notifications`: who got what, and why."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from sensewire.cli.storing import add_store, opened_store

if TYPE_CHECKING:
    from sensewire.store.database import Store
    from sensewire.store.notifying import Notification

_LOOK = 0.1  # seconds


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "notifications",
        help="show who got which event, and why",
        description="Show the notifications of a store, in the order in which events were matched.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--subscription", action="append", default=[], metavar="ID", help="only of these")
    add("--after", type=int, default=0, metavar="N", help="only behind the event with this number")
    add("--limit", type=int, metavar="N", help="at most so many")
    add("--follow", action="store_true", help="wait for more; Ctrl-C ends it")
    add("--why", action="store_true", help="say why, condition by condition")
    add("--json", action="store_true", help="as JSON lines")
    add_store(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print them; with --follow, as they come."""
    from sensewire.store.notifying import notifications

    with opened_store(arguments) as store:
        reasons = Reasons(store) if arguments.why else None
        after, left = arguments.after, arguments.limit
        while True:
            found = notifications(store, after, arguments.subscription, left)
            for each in found:
                _show(each, reasons, as_json=arguments.json)
                after = each.number
            if left is not None:
                left -= len(found)
            if not arguments.follow or left == 0:
                break
            sys.stdout.flush()
            if not found:
                time.sleep(_LOOK)
    return 0


def _show(each: "Notification", reasons: "Reasons | None", *, as_json: bool) -> None:
    why = None if reasons is None else reasons.of(each)
    if as_json:
        said: dict[str, Any] = {
            "number": each.number,
            "event": each.event,
            "subscription": each.subscription,
            "rows": each.rows,
            "distance": each.distance,
        }
        print(json.dumps(said | ({} if why is None else {"why": why}), ensure_ascii=False))
        return
    rows = "; ".join(
        ", ".join(f"{name} = {term}" for name, term in row.items()) for row in each.rows or ()
    )
    distance = f" (distance {each.distance:.3g})" if each.distance else ""
    print(
        f"{each.number}  {each.subscription} ← {each.event}{distance}{f'  {rows}' if rows else ''}"
    )
    if why is not None:
        print("\n".join(f"   {line}" for line in why.splitlines()))


class Reasons:
    """Why a subscription got an event, if the event is in the log."""

    def __init__(self, store: "Store") -> None:
        from sensewire.store.knowing import knowledge_of

        self._store = store
        with store.reading() as connection:
            self._knowledge = knowledge_of(connection)

    def of(self, each: "Notification") -> str:
        """The explanation, or why there is none."""
        from sensewire.engine import Engine
        from sensewire.store.notifying import event_of, subscription_of

        event = event_of(self._store, each)
        if event is None:
            return f"the event is not in the log; it came from {each.place}"
        engine = Engine(self._knowledge)
        engine.add(subscription_of(self._store, each), id=each.subscription)
        return str(engine.explain(each.subscription, event))
