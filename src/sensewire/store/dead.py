"""Dead letters: what could not be read as an event, kept with its bytes until somebody decides.

To retry one is to publish it again, to the stream that it came from: it goes back into the log, for
that query only, as an event that arrives now.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from sensewire.events.kinds import Kind
from sensewire.model.errors import SensewireError
from sensewire.store import schema
from sensewire.store.database import LOG, Store, held
from sensewire.store.log import Entry, appended, find

DEAD, RETRIED = "dead", "retried"

_WHOLE = (Kind.DOCUMENT, Kind.XML, Kind.PAYLOAD)
_IN_LOG = re.compile(r"log[:/](\d+)")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What was rejected, where, why and when."""

    number: int
    query: str
    place: str
    reason: str
    raw: bytes
    kind: Kind
    name: str | None
    facts: bytes | None
    time: int
    state: str


def dead_letters(store: Store, numbers: Sequence[int] = ()) -> list[DeadLetter]:
    """Those that wait for somebody to decide; or some, by number."""
    with store.reading() as connection:
        return _found(connection, store.name, numbers)


def retry(store: Store, numbers: Sequence[int], now: datetime) -> int:
    """Publish dead letters again, all of them or those of some numbers; how many."""
    table = schema.dead_letters
    with store.writing() as connection:
        held(connection, LOG)
        letters = _found(connection, store.name, numbers)
        entries = [
            Entry(
                each.kind, _whole(connection, each), name=each.name, facts=each.facts,
                query=each.query,
            )
            for each in letters
        ]  # fmt: skip
        appended(connection, entries, now)
        for each in letters:
            connection.execute(
                table.update()
                .where(table.c.number == each.number)
                .values(state=RETRIED, tries=table.c.tries + 1)
            )
    return len(letters)


def drop(store: Store, numbers: Sequence[int]) -> int:
    """Forget dead letters, all of them or those of some numbers; how many."""
    table = schema.dead_letters
    with store.writing() as connection:
        letters = _found(connection, store.name, numbers)
        for each in letters:
            connection.execute(table.delete().where(table.c.number == each.number))
    return len(letters)


def _found(connection: Connection, name: str, numbers: Sequence[int]) -> list[DeadLetter]:
    table = schema.dead_letters
    query = select(table).where(table.c.state == DEAD).order_by(table.c.number)
    if numbers:
        query = query.where(table.c.number.in_(numbers))
    letters = list(map(_letter, connection.execute(query)))
    missing = set(numbers) - {each.number for each in letters}
    if missing:
        raise SensewireError(
            f"{name} has no dead letter {min(missing)}, or it was retried or dropped before; "
            "`sensewire dead list` lists those that are there"
        )
    return letters


def _whole(connection: Connection, letter: DeadLetter) -> bytes:
    """The bytes of a dead letter: those of the log, where it keeps only the first of many."""
    place = _IN_LOG.match(letter.place)
    logged = None if place is None else find(connection, int(place[1]))
    if place is None or logged is None:
        return letter.raw
    body = logged.entry.body
    if letter.kind is Kind.LINES and logged.entry.kind is Kind.LINES:
        body = body.split(b"\n")[int(place[1]) - logged.first]
    elif letter.kind not in _WHOLE:  # it may be a part: one graph of many
        return letter.raw
    return body if body.startswith(letter.raw) else letter.raw


def _letter(row: Row[Any]) -> DeadLetter:
    return DeadLetter(
        row.number,
        row.query,
        row.place,
        row.reason,
        row.raw,
        Kind(row.kind),
        row.name,
        row.facts,
        row.time,
        row.state,
    )
