"""The end of `sensewire demo`: a stream, from subscribing to cancelling."""

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from rich.console import Console

    from sensewire.spark.foreground import Starting
    from sensewire.store.database import Store

_WHO, _WHAT = "anna", "product = computer and price <= 1600"
_PATIENCE = 60.0  # seconds


def tell_stream(shop: Path, session: "Starting", console: "Console") -> None:
    """Subscribe, publish, see the notification and its reason, cancel, publish, see none."""
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.spark.gauges import Gauges
    from sensewire.spark.stream import StreamJob, streaming
    from sensewire.spark.stream_places import FromLog, ToTable
    from sensewire.store.database import open_store
    from sensewire.store.subscribing import Judge, subscribe, unsubscribe

    knowledge = (shop / "knowledge",)
    console.rule("[bold]A stream")
    with tempfile.TemporaryDirectory(prefix="sensewire-demo-") as place:
        store = open_store(Path(place) / "store.db")
        job = StreamJob(
            store.url, Path(place) / "stream", FromLog(), ToTable(), knowledge=knowledge
        )
        with streaming(job, session, Gauges()):
            wish = Judge(Knowledge.load(*knowledge)).wished({"id": _WHO, "text": _WHAT})
            subscribe(store, [wish], datetime.now(UTC))
            console.print(f"$ sensewire subscribe {_WHO} '{_WHAT}'", highlight=False)
            began = time.monotonic()
            _publish(store, '{"id": "offer", "product": "notebook", "value": 900}', console)
            said = _notified(store)
            seconds = time.monotonic() - began
            console.print(f"[green]{_WHO} ← offer[/green] after {seconds:.1f} s", highlight=False)
            console.print(said, highlight=False, markup=False)
            unsubscribe(store, [_WHO])
            console.print(f"$ sensewire unsubscribe {_WHO}", highlight=False)
            _publish(store, '{"id": "later", "product": "notebook", "value": 800}', console)
            _wait_until_matched(store)
            count = _count(store)
        store.close()
    console.print(f"{count} notification in all: the second offer reached nobody", highlight=False)


def _publish(store: "Store", event: str, console: "Console") -> None:
    from sensewire.store.log import append, entries_of_lines

    console.print(f"$ sensewire publish --event '{event}'", highlight=False)
    append(store, list(entries_of_lines([event.encode()])), datetime.now(UTC))


def _notified(store: "Store") -> str:
    """Wait for the notification; why it came."""
    from sensewire.cli.notifications import Reasons
    from sensewire.store.notifying import notifications

    until = time.monotonic() + _PATIENCE
    while not (found := notifications(store)):
        _check(until)
    return Reasons(store).of(found[0])


def _wait_until_matched(store: "Store") -> None:
    """Wait until all that was published is matched."""
    from sqlalchemy import func, select

    from sensewire.store import schema
    from sensewire.store.database import LOG, head

    until = time.monotonic() + _PATIENCE
    reached = select(func.max(schema.batches.c.position))
    while True:
        with store.reading() as connection:
            if (connection.execute(reached).scalar() or 0) >= head(connection, LOG):
                return
        _check(until)


def _count(store: "Store") -> int:
    from sensewire.store.notifying import notifications

    return len(notifications(store))


def _check(until: float) -> None:
    if time.monotonic() > until:
        raise SensewireError(f"the stream did not answer within {_PATIENCE:.0f} s")
    time.sleep(0.02)
