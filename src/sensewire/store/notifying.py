"""Notifications as people read them: who got which event; and the event itself, from the log."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import select

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.files import held_slice
from sensewire.events.kinds import Kind
from sensewire.events.records import line
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription
from sensewire.store import schema
from sensewire.store.database import Store, moment_of
from sensewire.store.log import find
from sensewire.store.subscribing import by_key

_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Notification:
    """That a subscription got an event; `number` is the event's, and grows."""

    number: int
    event: str
    subscription: str
    key: int
    rows: list[dict[str, str]] | None
    distance: float
    position: int | None
    place: str | None


def notifications(
    store: Store, after: int = 0, subscriptions: Sequence[str] = (), limit: int | None = None
) -> list[Notification]:
    """Notifications of events behind a number, a thousand events' at most, in their order."""
    told, events, asked = schema.notifications, schema.events, schema.subscriptions
    query = (
        select(told, events.c.id.label("event_id"), events.c.position, events.c.place)
        .add_columns(asked.c.id.label("subscription_id"))
        .join(events, events.c.number == told.c.event)
        .join(asked, asked.c.key == told.c.subscription)
        .where(told.c.event > after)
        .order_by(told.c.event, told.c.subscription)
    )
    if subscriptions:
        keys = select(asked.c.key).where(asked.c.id.in_(subscriptions))
        query = query.where(told.c.subscription.in_(keys))
    with store.reading() as connection:
        if subscriptions and not connection.execute(keys.limit(1)).first():
            named = ", ".join(map(repr, subscriptions))
            raise SubscriptionError(f"{store.name} never had a subscription {named}")
        rows = connection.execute(query.limit(_AT_ONCE if limit is None else limit)).all()
        if limit is None and len(rows) == _AT_ONCE:  # whole events only, or some would be missed
            last = rows[-1].event
            rest = query.where(told.c.event == last)
            rows = [*(row for row in rows if row.event < last), *connection.execute(rest)]
    return [
        Notification(
            row.event,
            row.event_id,
            row.subscription_id,
            row.subscription,
            None if row.rows is None else orjson.loads(row.rows),
            row.distance,
            row.position,
            row.place,
        )
        for row in rows
    ]


def event_of(store: Store, told: Notification) -> Event | None:
    """The event of a notification, read from the log again; None where it came from elsewhere."""
    if told.position is None:
        return None
    with store.reading() as connection:
        logged = find(connection, told.position)
    if logged is None:
        return None
    decoding = Decoding(moment_of(logged.arrival))
    entry = logged.entry
    if entry.kind is Kind.LINES:
        raw = entry.body.split(b"\n")[told.position - logged.first]
        outcomes = list(line(raw, f"log:{told.position}", decoding))
    else:
        name = f"log/{logged.first}/{entry.name or f'event.{entry.kind.value}'}"
        part = held_slice(entry.body, entry.kind, name, facts=entry.facts)
        outcomes = list(decode(part, decoding))
    events = [each.event for each in outcomes if isinstance(each, Decoded)]
    named = [event for event in events if event.id == told.event]
    return next(iter(named or events), None)


def subscription_of(store: Store, told: Notification) -> Subscription:
    """What the subscription of a notification asked for."""
    with store.reading() as connection:
        return by_key(connection, told.key).stated().subscription
