"""What tests of the store put into it: entries, wishes, and what a task found."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from sensewire.model.siphash import Hashes, hashes_of
from sensewire.model.strings import Strings
from sensewire.stated import stated_in
from sensewire.store import schema
from sensewire.store.batches import Committed, commit, pin
from sensewire.store.database import Store
from sensewire.store.found import EVENTS, FAILED, MATCHES, REFUSED, REJECTED, SAMPLE, Found
from sensewire.store.ledger import Ledger
from sensewire.store.log import Entry, append, entries_of_lines
from sensewire.store.subscribing import Wish, subscribe

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
KEY = bytes(range(16))
TABLE = "table"


def published(store: Store, *records: Mapping[str, Any], now: datetime = NOW) -> range:
    """Records in the log, as one entry of lines."""
    return append(store, list(entries_of_lines(json.dumps(each).encode() for each in records)), now)


def documents(count: int) -> list[Entry]:
    """Entries of some lines each: 1, 2, 3, 1, 2, 3, …"""
    lines = [[f'{{"a": {place}}}'.encode()] * (1 + place % 3) for place in range(count)]
    return [entry for some in lines for entry in entries_of_lines(some)]


def wish(id: str, text: str = "price < 900", **more: Any) -> Wish:  # Any: whatever JSON holds
    """What somebody wants to have."""
    data = {"id": id, "text": text, **more}
    return Wish(data, stated_in(data))


def subscribed(store: Store, *ids: str, now: datetime = NOW) -> int:
    """Let subscriptions of these ids stand; the change."""
    return subscribe(store, [wish(id) for id in ids], now)


def hashes(ids: Iterable[str]) -> Hashes:
    """The hashes of ids."""
    strings = Strings.of(ids)
    return hashes_of(strings.utf8, strings.offsets[:-1], strings.offsets[1:], KEY)


def found(
    ids: Sequence[str],
    matches: Sequence[tuple[int, int]] = (),
    *,
    failed: Sequence[tuple[int, int, str]] = (),
    rejected: Sequence[bytes] = (),
    refused: Mapping[int, str] | None = None,
    kind: str = "lines",
    positions: Sequence[int] | None = None,
) -> Found:
    """Events of these ids; who gets which, by place and key; what is none."""
    named = sorted({event for event, _ in matches} | {event for event, _, _ in failed})
    return Found(
        hashes(ids),
        pa.Table.from_pylist(
            [
                {
                    "event": event,
                    "id": ids[event],
                    "position": None if positions is None else positions[event],
                    "place": f"file:{event}" if positions is None else None,
                }
                for event in named
            ],
            schema=EVENTS,
        ),
        pa.Table.from_pylist(
            [
                {"event": event, "subscription": key, "rows": None, "distance": 0.0}
                for event, key in matches
            ],
            schema=MATCHES,
        ),
        pa.Table.from_pylist(
            [
                {"event": event, "subscription": key, "reason": reason}
                for event, key, reason in failed
            ],
            schema=FAILED,
        ),
        pa.Table.from_pylist(
            [
                {
                    "place": f"log:{number}",
                    "reason": "no JSON",
                    "raw": raw,
                    "kind": kind,
                    "name": None,
                    "facts": None,
                }
                for number, raw in enumerate(rejected, 1)
            ],
            schema=REJECTED,
        ),
        pa.Table.from_pylist(
            [{"subscription": key, "reason": why} for key, why in (refused or {}).items()],
            schema=REFUSED,
        ),
        SAMPLE.empty_table(),
    )


def committed(
    store: Store,
    batch: int,
    what: Found,
    *,
    query: str = "q",
    ledger: Ledger | None = None,
    position: int | None = None,
) -> Committed | None:
    """Pin a batch and commit what was found in it, by a ledger that is read anew."""
    pinned = pin(store, query, batch, "v1", NOW)
    return commit(store, pinned, what, ledger or Ledger(TABLE), NOW, position=position)


def content(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All that a store holds, its name apart; Any: whatever the columns hold."""
    with store.reading() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(table.select())), key=repr)
            for table in schema.metadata.sorted_tables
        }


def emptied(store: Store) -> None:
    """Let a store be as new, its name apart."""
    with store.writing() as connection:
        for table in schema.metadata.sorted_tables:
            if table.name == "heads":
                connection.execute(table.update().values(value=0))
            elif table.name != "store":
                connection.execute(table.delete())


def numbers_seen(rows: Iterable[tuple[int, int]]) -> list[int]:
    """The numbers of entries, from their first and last ones."""
    return [number for first, last in rows for number in range(first, last + 1)]


def no_events() -> Hashes:
    """The hashes of nothing."""
    return np.empty((0, 2), np.uint64)
