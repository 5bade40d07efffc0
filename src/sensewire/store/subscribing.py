"""Subscriptions of a store: who asks what, and in which order they came and went.

Every change has a number, and a place in the event log: a subscription stands for the events that
are appended after it (`since`) and up to the one that was last when it was cancelled (`until`). The
transaction that writes a change holds both heads, so that nobody can append in between.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select
from sqlalchemy.exc import IntegrityError

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError, SubscriptionError
from sensewire.stated import Stated, stated_in
from sensewire.store import schema
from sensewire.store.database import CHANGE, LOG, Store, held, microseconds, moved

LIVE, CANCELLED, REFUSED = "live", "cancelled", "refused"

_IDS_AT_ONCE = 500  # that a statement may name


@dataclass(frozen=True, slots=True)
class Asked:
    """A subscription of the store; times in microseconds, None: never, or not yet.

    `key` is its own for ever, while an `id` may be used again when its subscription was cancelled.
    """

    key: int
    id: str
    text: str
    language: str | None
    reading: str | None
    tolerance: float | None
    expires: int | None
    state: str
    reason: str | None
    added: int
    since: int
    removed: int | None
    until: int | None

    def data(self) -> dict[str, Any]:
        """What it states, as JSON has it."""
        said = {
            "id": self.id,
            "text": self.text,
            "language": self.language,
            "reading": self.reading,
            "tolerance": self.tolerance,
        }
        return {key: value for key, value in said.items() if value is not None}

    def stated(self) -> Stated:
        """What it states, read."""
        return stated_in(self.data())


@dataclass(frozen=True, slots=True)
class Wish:
    """A subscription that somebody wants to have: what a line of JSON states, and what it says."""

    data: dict[str, Any]  # as it was stated
    stated: Stated


class Judge:
    """Says of subscriptions whether an engine with some knowledge takes them."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._engine = Engine(knowledge)

    def wished(self, data: dict[str, Any]) -> Wish:
        """What is stated, if it is taken; else an error that says why."""
        stated = stated_in(data)
        self._engine.remove(self._engine.add(stated.subscription, id=stated.id))
        return Wish(data, stated)


def subscribe(store: Store, wishes: Sequence[Wish], now: datetime) -> int:
    """Let subscriptions stand, all or none; the number of the change. An id that is in use is an
    error."""
    rows = []
    for wish in wishes:
        expires = wish.stated.expires
        rows.append(
            {
                "id": wish.stated.id,
                "text": wish.data["text"],
                "language": wish.data.get("language"),
                "reading": wish.data.get("reading"),
                "tolerance": wish.data.get("tolerance"),
                "expires": None if expires is None else microseconds(expires),
                "state": LIVE,
                "created": microseconds(now),
            }
        )
    try:
        with store.writing() as connection:
            heads = held(connection, CHANGE, LOG)
            if not rows:
                return heads[CHANGE]
            table = schema.subscriptions
            key = connection.execute(select(func.coalesce(func.max(table.c.key), 0))).scalar_one()
            change = heads[CHANGE] + 1
            for place, row in enumerate(rows):
                row |= {"key": key + 1 + place, "added": change, "since": heads[LOG]}
            connection.execute(table.insert(), rows)
            moved(connection, CHANGE, change)
            return change
    except SensewireError as error:
        if isinstance(error.__cause__, IntegrityError):
            raise SubscriptionError(_in_use(store, [row["id"] for row in rows])) from None
        raise


def unsubscribe(store: Store, ids: Sequence[str]) -> int:
    """End subscriptions, all or none; the number of the change. An id that is not there is an
    error."""
    table = schema.subscriptions
    with store.writing() as connection:
        heads = held(connection, CHANGE, LOG)
        change = heads[CHANGE] + 1
        for id in ids:
            ended = connection.execute(
                table.update()
                .where(table.c.id == id, table.c.removed.is_(None))
                .values(removed=change, until=heads[LOG], state=CANCELLED)
            )
            if not ended.rowcount:
                raise SubscriptionError(
                    f"there is no subscription {id!r} in {store.name}, or it was cancelled before; "
                    "`sensewire subscriptions` lists those that are there"
                )
        moved(connection, CHANGE, change)
        return change


def refuse(connection: Connection, key: int, reason: str) -> None:
    """Note why no engine takes a subscription; it stays, and is tried again by the next index."""
    table = schema.subscriptions
    held(connection, CHANGE)  # or it and who cancels many may each wait for the other
    connection.execute(
        table.update()
        .where(table.c.key == key, table.c.removed.is_(None))
        .values(state=REFUSED, reason=reason)
    )


def accept(connection: Connection, key: int) -> None:
    """Note that an engine takes a subscription which was refused before."""
    table = schema.subscriptions
    held(connection, CHANGE)
    connection.execute(
        table.update()
        .where(table.c.key == key, table.c.state == REFUSED)
        .values(state=LIVE, reason=None)
    )


def changed(connection: Connection, after: int, upto: int) -> Iterator[Asked]:
    """Those that came or went between two changes, in the order of their keys."""
    table = schema.subscriptions
    came = table.c.added.between(after + 1, upto)
    went = table.c.removed.between(after + 1, upto)
    query = select(table).where(came | went).order_by(table.c.key)
    return map(_asked, connection.execute(query))


def standing(connection: Connection, change: int, in_log: bool, floor: int) -> Iterator[Asked]:
    """All up to a change that may match what comes behind `floor`, a number of the log or of a
    change: those that stand, and those that went later than that."""
    table = schema.subscriptions
    ended = table.c.until <= floor if in_log else table.c.removed <= floor
    query = (
        select(table)
        .where(table.c.added <= change)
        .where(table.c.removed.is_(None) | ~ended)
        .order_by(table.c.key)
    )
    return map(_asked, connection.execution_options(yield_per=4_096).execute(query))


def listed(connection: Connection, ids: Sequence[str] = ()) -> Iterator[Asked]:
    """Those that stand, or all that ever had one of some ids."""
    table = schema.subscriptions
    query = select(table).order_by(table.c.key)
    query = query.where(table.c.id.in_(ids)) if ids else query.where(table.c.removed.is_(None))
    return map(_asked, connection.execute(query))


def by_key(connection: Connection, key: int) -> Asked:
    """The subscription of a key, whether it stands or not."""
    table = schema.subscriptions
    return _asked(connection.execute(select(table).where(table.c.key == key)).one())


def _asked(row: Row[Any]) -> Asked:
    return Asked(
        row.key,
        row.id,
        row.text,
        row.language,
        row.reading,
        row.tolerance,
        row.expires,
        row.state,
        row.reason,
        row.added,
        row.since,
        row.removed,
        row.until,
    )


def _in_use(store: Store, ids: Sequence[str]) -> str:
    table = schema.subscriptions
    live = select(table.c.id).where(table.c.removed.is_(None))
    found = None
    with store.reading() as connection:
        for first in range(0, len(ids), _IDS_AT_ONCE):
            some = ids[first : first + _IDS_AT_ONCE]
            found = found or connection.execute(live.where(table.c.id.in_(some)).limit(1)).scalar()
    if found is None:
        twice = Counter(ids).most_common(1)[0][0]
        return f"the id {twice!r} stands twice among those that are to be added; nothing was added"
    return (
        f"the id {found!r} is in use in {store.name}; cancel it first (sensewire unsubscribe "
        f"{found}), or take another; nothing was added"
    )
