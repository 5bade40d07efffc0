"""The event log: what was published, in the order in which it was taken.

    number   1  2  3 │ 4 │ 5 … 1028 │ 1029
    entry    3 lines │ a │ lines    │ a picture        each with its arrival

An entry holds the lines of some records, each of which has a number of its own, or one document in
any other format. Numbers have no gaps, and are seen in their order (`database.held`). An entry is
on disk when `append` returns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from sensewire.events.kinds import Kind
from sensewire.store import schema
from sensewire.store.database import LOG, Store, held, microseconds, moved

LINES_AT_ONCE = 4_096
BYTES_AT_ONCE = 2_097_152
"""Of an entry of lines, about: entries are what readers share out among themselves."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is appended: lines without blank ones, or a document; `count` is how many numbers.

    `name` is what the document is called, `facts` those of a payload; `query` the only reader that
    it is for.
    """

    kind: Kind
    body: bytes
    count: int = 1
    name: str | None = None
    facts: bytes | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry of the log: its numbers, and when it arrived, in microseconds."""

    first: int
    last: int
    arrival: int
    entry: Entry


def entries_of_lines(lines: Iterable[bytes], query: str | None = None) -> Iterator[Entry]:
    """Lines of records as entries of a good size; blank ones are left out.

    >>> [(entry.count, entry.body) for entry in entries_of_lines([b'{"a": 1}', b" ", b'{"a": 2}'])]
    [(2, b'{"a": 1}\\n{"a": 2}')]
    """
    held: list[bytes] = []
    size = 0
    for line in lines:
        line = line.rstrip(b"\r\n")
        if not line.strip():
            continue
        held.append(line)
        size += len(line) + 1
        if len(held) >= LINES_AT_ONCE or size >= BYTES_AT_ONCE:
            yield Entry(Kind.LINES, b"\n".join(held), len(held), query=query)
            held, size = [], 0
    if held:
        yield Entry(Kind.LINES, b"\n".join(held), len(held), query=query)


def append(store: Store, entries: Sequence[Entry], now: datetime) -> range:
    """Append entries, all or none; their numbers. What is appended is on disk."""
    with store.writing() as connection:
        return appended(connection, entries, now)


def appended(connection: Connection, entries: Sequence[Entry], now: datetime) -> range:
    """The same, inside of a transaction that does more."""
    last = held(connection, LOG)[LOG]
    begin = last + 1
    rows = []
    arrival = microseconds(now)
    for entry in entries:
        first, last = last + 1, last + entry.count
        rows.append(
            {
                "first": first,
                "last": last,
                "arrival": arrival,
                "kind": entry.kind.value,
                "name": entry.name,
                "query": entry.query,
                "body": entry.body,
                "facts": entry.facts,
            }
        )
    if rows:
        connection.execute(schema.log.insert(), rows)
        moved(connection, LOG, last)
    return range(begin, last + 1)


def read(
    connection: Connection, after: int, upto: int, query: str, *, only: bool = False
) -> Iterator[Logged]:
    """The entries that a query reads between two numbers, in order; or those for it only."""
    table = schema.log
    mine = table.c.query == query
    rows = connection.execute(
        select(table)
        .where(table.c.last > after, table.c.last <= upto)
        .where(mine if only else table.c.query.is_(None) | mine)
        .order_by(table.c.last)
    )
    return map(_logged, rows)


def find(connection: Connection, number: int) -> Logged | None:
    """The entry that holds a number."""
    table = schema.log
    row = connection.execute(
        select(table).where(table.c.last >= number).order_by(table.c.last).limit(1)
    ).first()
    if row is None or row.first > number:
        return None
    return _logged(row)


def _logged(row: Row[Any]) -> Logged:
    entry = Entry(
        Kind(row.kind), row.body, row.last - row.first + 1, row.name, row.facts, row.query
    )
    return Logged(row.first, row.last, row.arrival, entry)


def first_arrival(connection: Connection, after: int, unless: int) -> int:
    """When the earliest of what stands behind a number arrived; `unless` where there is nothing."""
    table = schema.log
    query = select(func.coalesce(func.min(table.c.arrival), unless)).where(table.c.last > after)
    return int(connection.execute(query).scalar_one())


def end_after(connection: Connection, after: int, most: int) -> int:
    """Where a reader stops that has read up to `after` and may take about `most` more: the end of
    an entry, and one at least if there is any."""
    table = schema.log
    within = select(func.max(table.c.last)).where(
        table.c.last > after, table.c.last <= after + most
    )
    found = connection.execute(within).scalar()
    if found is None:
        found = connection.execute(
            select(func.min(table.c.last)).where(table.c.last > after)
        ).scalar()
    return after if found is None else int(found)


def cut(connection: Connection, after: int, upto: int, parts: int) -> list[tuple[int, int]]:
    """The numbers between two as parts of about the same size, at ends of entries."""
    table = schema.log
    cuts = [after]
    for part in range(1, parts):
        wanted = after + (upto - after) * part // parts
        found = connection.execute(
            select(func.min(table.c.last)).where(table.c.last >= wanted, table.c.last <= upto)
        ).scalar()
        if found is not None and cuts[-1] < found < upto:
            cuts.append(int(found))
    return list(zip(cuts, [*cuts[1:], upto], strict=True))
