"""Micro-batches: what each is pinned to before it is matched, and what is committed when it was.

    pinned     (query, batch) → index version, change, now     durable before all matching
    committed  numbers of its events, notifications, failures, dead letters, ledger, `done`

all of the second in one transaction: a batch that is done was done once, and one that comes again
after a crash is matched as the first time, or not at all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, func, select

from sensewire.store import failpoints, schema
from sensewire.store.database import CHANGE, EVENT, Store, added, head, held, microseconds, moved
from sensewire.store.found import Found, numbers
from sensewire.store.ledger import Ledger
from sensewire.store.subscribing import refuse


@dataclass(frozen=True, slots=True)
class Pin:
    """What a batch is matched with: an index version, and changes up to a number.

    `now` is the moment that it was pinned; `done` says whether it was committed before.
    """

    query: str
    batch: int
    version: str
    change: int
    now: int
    done: bool = False


@dataclass(frozen=True, slots=True)
class Committed:
    """What was committed of a batch."""

    events: int
    matches: int
    repeats: int
    rejected: int
    failed: int


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """What is new in what was found: events that came for the first time, and their tables."""

    found: Found
    is_new: npt.NDArray[np.bool_]
    matches: pa.Table
    failed: pa.Table
    events: pa.Table

    @property
    def repeats(self) -> int:
        """How many events came again."""
        return len(self.is_new) - int(np.count_nonzero(self.is_new))


def pin(store: Store, query: str, batch: int, version: str, now: datetime) -> Pin:
    """Pin a batch to an index version and to the newest change; or find what it was pinned to."""
    table = schema.batches
    with store.writing() as connection:
        known = _pinned(connection, query, batch)
        if known is not None:
            return known
        failpoints.passed("delta", batch)
        new = Pin(query, batch, version, head(connection, CHANGE), microseconds(now))
        connection.execute(
            table.insert(),
            {
                "query": query,
                "batch": batch,
                "version": version,
                "change": new.change,
                "now": new.now,
            },
        )
        return new


def _pinned(connection: Connection, query: str, batch: int) -> Pin | None:
    table = schema.batches
    row = connection.execute(
        select(table).where(table.c.query == query, table.c.batch == batch)
    ).first()
    if row is None:
        return None
    return Pin(query, batch, row.version, row.change, row.now, row.done is not None)


def fresh(found: Found, ledger: Ledger) -> Fresh:
    """What of a batch is new to a ledger."""
    is_new = ledger.is_new(found.hashes)
    if is_new.all():
        return Fresh(found, is_new, found.matches, found.failed, found.events)
    kept = (
        table.filter(pa.array(is_new[numbers(table, "event")]))
        for table in (found.matches, found.failed, found.events)
    )
    return Fresh(found, is_new, *kept)


def commit(
    store: Store,
    pinned: Pin,
    found: Found,
    ledger: Ledger,
    now: datetime,
    *,
    position: int | None = None,
    deliver: Callable[[Fresh], None] | None = None,
) -> Committed | None:
    """Commit what was found in a batch; None if it was committed before.

    With `deliver` the notifications go elsewhere, and not to the table; it is called before the
    transaction, and may be called again for the same batch.
    """
    if deliver is not None:
        with store.reading() as connection:
            known = _pinned(connection, pinned.query, pinned.batch)
            if known is not None and known.done:
                return None
            ledger.refresh(connection)
        deliver(fresh(found, ledger))
    with store.writing() as connection:
        first = held(connection, EVENT)[EVENT] + 1
        known = _pinned(connection, pinned.query, pinned.batch)
        if known is not None and known.done:
            return None
        ledger.refresh(connection)
        new = fresh(found, ledger)
        event_numbers = first - 1 + np.cumsum(new.is_new, dtype=np.int64)
        failpoints.passed("transaction", pinned.batch)
        if deliver is None:
            _write_notifications(connection, new, event_numbers)
        rejected = _write_dead_letters(connection, pinned, found.rejected, microseconds(now))
        for row in found.refused.to_pylist():
            refuse(connection, row["subscription"], row["reason"])
        result = Committed(
            len(new.is_new) - new.repeats,
            new.matches.num_rows,
            new.repeats,
            rejected,
            new.failed.num_rows,
        )
        last = first - 1 + result.events
        if result.events:
            ledger.write(connection, last, found.hashes[new.is_new])
            moved(connection, EVENT, last)
        _write_done(connection, pinned, result, first, position, microseconds(now))
    failpoints.passed("committed", pinned.batch)
    return result


def last_done(connection: Connection, query: str) -> tuple[int, int | None] | None:
    """The change and the place in the log that a query's committed batches have reached."""
    table = schema.batches
    row = connection.execute(
        select(func.max(table.c.change).label("change"), func.max(table.c.position).label("at"))
        .where(table.c.query == query)
        .where(table.c.done.is_not(None))
    ).one()
    return None if row.change is None else (row.change, row.at)


def _write_notifications(
    connection: Connection, new: Fresh, event_numbers: npt.NDArray[np.int64]
) -> None:
    events, matches, failed = new.events, new.matches, new.failed
    added(
        connection,
        "events",
        {
            "number": event_numbers[numbers(events, "event")].tolist(),
            "id": _texts(connection, events, "id"),
            "position": _column(events, "position"),
            "place": _texts(connection, events, "place"),
        },
    )
    # In the order of their key, by which they are appended at the end of the tree.
    event = event_numbers[numbers(matches, "event")]
    subscription = numbers(matches, "subscription")
    order = np.lexsort((subscription, event))
    taken = matches.take(order)
    distances = numbers(taken, "distance")
    added(
        connection,
        "notifications",
        {
            "event": event[order].tolist(),
            "subscription": subscription[order].tolist(),
            "rows": _column(taken, "rows"),
            "distance": distances.tolist() if distances.any() else 0.0,
        },
    )
    added(
        connection,
        "failures",
        {
            "event": event_numbers[numbers(failed, "event")].tolist(),
            "subscription": numbers(failed, "subscription").tolist(),
            "reason": _texts(connection, failed, "reason"),
        },
    )


def _column(table: pa.Table, name: str) -> list[Any] | None:
    """A column's values; None where all of them are null."""
    column: Any = table.column(name)  # Any: the stubs know no columns of nulls
    return None if column.null_count == len(column) else column.to_pylist()


def _texts(connection: Connection, table: pa.Table, name: str) -> list[Any] | None:
    """A column of texts as the database takes them: PostgreSQL's have no NUL."""
    if connection.dialect.name == "postgresql":
        column = pc.replace_substring(table.column(name), "\0", "\N{REPLACEMENT CHARACTER}")
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return _column(table, name)


def _write_dead_letters(connection: Connection, pinned: Pin, rejected: pa.Table, time: int) -> int:
    texts = {name: _texts(connection, rejected, name) for name in ("place", "reason", "name")}
    rows = [
        {
            **row,
            **{name: None if column is None else column[place] for name, column in texts.items()},
            "query": pinned.query,
            "batch": pinned.batch,
            "time": time,
            "state": "dead",
            "tries": 0,
        }
        for place, row in enumerate(rejected.to_pylist())
    ]
    if rows:
        connection.execute(schema.dead_letters.insert(), rows)
    return len(rows)


def _write_done(
    connection: Connection,
    pinned: Pin,
    result: Committed,
    first: int,
    position: int | None,
    time: int,
) -> None:
    table = schema.batches
    connection.execute(
        table.update()
        .where(table.c.query == pinned.query, table.c.batch == pinned.batch)
        .values(
            done=time,
            first_event=first,
            events=result.events,
            matches=result.matches,
            repeats=result.repeats,
            rejected=result.rejected,
            failed=result.failed,
            position=position,
        )
    )
