"""The compiled index of a query: made from the store's subscriptions, and made anew when many have
come and gone.

    subscriptions of the store ──> engine, ids are keys ──> folder, version ──> index_versions
                                   tenures beside it

What is compiled holds all that an event may still match which the query has not committed yet: also
subscriptions that went since. So any version serves any batch, and the newest is the fastest.
Compiling is done by a process of its own (`python -m sensewire.store.indexing`), since it would
take the lock of Python from whoever commits batches.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, select

from sensewire.engine import Engine
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.records import line
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.folder import current_version
from sensewire.model.learned import Learned, load_learned
from sensewire.store import schema
from sensewire.store.batches import last_done
from sensewire.store.database import (
    CHANGE,
    VARIABLE,
    Store,
    head,
    microseconds,
    moment_of,
    opened_store,
)
from sensewire.store.knowing import knowledge_of
from sensewire.store.log import first_arrival
from sensewire.store.subscribing import REFUSED, Asked, accept, changed, refuse, standing
from sensewire.tenures import NEVER, Change, Increment, Tenure, Tenures

LOG_ORDER, CHANGE_ORDER = "log", "change"
"""The two orders in which events and subscriptions may stand (`tenures`)."""

_KEPT = timedelta(days=30)
"""How long a subscription is kept after it expired: clocks are set, and events come late."""


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """A compiled index: its version in the folder, and the change that it knows of."""

    version: str
    change: int
    subscriptions: int
    planned: bool


def newest(connection: Connection, query: str, knowledge: str) -> IndexVersion | None:
    """The newest index of a query that was made with this version of knowledge."""
    table = schema.index_versions
    row = connection.execute(
        select(table)
        .where(table.c.query == query, table.c.knowledge == knowledge)
        .order_by(table.c.version.desc())  # which is numbered; clocks may be set back
        .limit(1)
    ).first()
    if row is None:
        return None
    return IndexVersion(row.version, row.change, row.subscriptions, bool(row.planned))


def compile_index(
    store: Store,
    query: str,
    folder: Path,
    order: str,
    now: datetime,
    statistics: Learned | None = None,
) -> IndexVersion:
    """Compile what stands into a new version of the folder, and tell the store of it."""
    with store.reading() as connection:
        knowledge = knowledge_of(connection)
        change = head(connection, CHANGE)
        done = last_done(connection, query)
        reached, position = (0, 0) if done is None else (done[0], done[1] or 0)
        floor = position if order == LOG_ORDER else reached
        # The first place that an event may have which is not committed: a batch is pinned to the
        # newest change, which may be that of the batch before it.
        lowest = position + 1 if order == LOG_ORDER else reached
        known = newest(connection, query, knowledge.version)
        earliest = microseconds(now - _KEPT)
        if order == LOG_ORDER:  # whoever begins late, or anew, reads what came long ago
            earliest = min(earliest, first_arrival(connection, position, earliest))
        wanted = {
            asked.key: asked
            for asked in standing(connection, change, order == LOG_ORDER, floor)
            if not _is_gone_before(earliest, asked)
        }
    engine = _engine(folder, known, knowledge)
    refused = _brought_to(engine, wanted)
    tenures = Tenures()
    for key, asked in wanted.items():
        tenure = tenure_of(asked, order)
        if tenure.begin >= lowest or tenure.end != NEVER or tenure.expires != NEVER:
            tenures.put(key, tenure)
    engine.save(folder, statistics, beside=tenures.arrays())
    made = IndexVersion(current_version(folder), change, len(engine.ids()), statistics is not None)
    with store.writing() as connection:
        for key, reason in refused.items():
            refuse(connection, key, reason)
        for key, asked in wanted.items():
            if asked.state == REFUSED and key not in refused:
                accept(connection, key)
        table = schema.index_versions
        there = [path.name for path in folder.iterdir()]
        gone = table.c.version.not_in(there)
        connection.execute(table.delete().where(table.c.query == query, gone))
        connection.execute(
            table.insert(),
            {
                "query": query,
                "version": made.version,
                "change": change,
                "knowledge": knowledge.version,
                "subscriptions": made.subscriptions,
                "planned": int(made.planned),
                "made": microseconds(now),
            },
        )
    return made


def increment(connection: Connection, after: int, upto: int, order: str) -> Increment:
    """What came and went between two changes, to be taken by whoever stands at the first."""
    changes = (
        Change(
            asked.key,
            tenure_of(asked, order),
            None if asked.added <= after else asked.data(),
        )
        for asked in changed(connection, after, upto)
    )
    return Increment.of(upto, changes)


def tenure_of(asked: Asked, order: str) -> Tenure:
    """When a subscription stands, in one of the two orders."""
    begin = asked.since if order == LOG_ORDER else asked.added - 1
    ended = asked.until if order == LOG_ORDER else asked.removed and asked.removed - 1
    return Tenure(
        begin,
        NEVER if ended is None else ended,
        NEVER if asked.expires is None else asked.expires,
    )


def _is_gone_before(earliest: int, asked: Asked) -> bool:
    return asked.expires is not None and asked.expires < earliest


def _engine(folder: Path, known: IndexVersion | None, knowledge: Knowledge) -> Engine:
    """The newest engine that is there, or an empty one."""
    if known is not None:
        try:
            return Engine.open(folder, version=known.version)
        except SensewireError:
            pass  # somebody removed it: it is made from the store alone
    return Engine(knowledge)


def _brought_to(engine: Engine, wanted: dict[int, Asked]) -> dict[int, str]:
    """Let an engine have what is wanted and nothing else; what it does not take, and why."""
    there = set(map(int, engine.ids()))
    for key in there - wanted.keys():
        engine.remove(str(key))
    refused: dict[int, str] = {}
    for key in sorted(wanted.keys() - there):
        try:
            engine.add(wanted[key].stated().subscription, id=str(key))
        except SensewireError as error:
            refused[key] = str(error)
    return refused


def sample_of(lines: Sequence[bytes], now: datetime) -> Learned | None:
    """Records as statistics that have nothing but a sample; None where there is none."""
    events: list[Event] = []
    for raw in lines:
        for outcome in line(raw, "sample", Decoding(now)):
            if isinstance(outcome, Decoded):
                events.append(outcome.event)
    return Learned(len(events), 0, (), tuple(events)) if events else None


def _main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile the index of a query anew.")
    parser.add_argument("query")
    parser.add_argument("folder", type=Path)
    parser.add_argument("order", choices=(LOG_ORDER, CHANGE_ORDER))
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--statistics", type=Path)
    parser.add_argument("--now", type=int, required=True, help="microseconds since 1970")
    given = parser.parse_args(arguments)
    os.nice(10)
    now = moment_of(given.now)
    statistics = None
    if given.statistics is not None:
        statistics = load_learned(given.statistics)
    elif given.sample is not None:
        statistics = sample_of(given.sample.read_bytes().splitlines(), now)
    try:
        store = opened_store(os.environ[VARIABLE])
        compile_index(store, given.query, given.folder, given.order, now, statistics)
    except SensewireError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
