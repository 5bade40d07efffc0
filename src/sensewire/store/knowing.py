"""The knowledge of a store: what its subscriptions' words mean, the same for everybody."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.stored import from_json, to_json
from sensewire.store import schema
from sensewire.store.database import CHANGE, Store, held, microseconds


def know(store: Store, knowledge: Knowledge, now: datetime) -> None:
    """Let a store have this knowledge from now on; indexes are made anew with it."""
    table = schema.knowledge
    with store.writing() as connection:
        held(connection, CHANGE)
        if _newest_version(connection) == knowledge.version:
            return
        last = connection.execute(select(func.coalesce(func.max(table.c.number), 0))).scalar_one()
        connection.execute(
            table.insert(),
            {
                "number": last + 1,
                "version": knowledge.version,
                "content": bytes(to_json(knowledge.content)),
                "taken": microseconds(now),
            },
        )


def knowledge_of(connection: Connection) -> Knowledge:
    """What a store knows now; nothing, where nobody told it anything."""
    table = schema.knowledge
    content = connection.execute(
        select(table.c.content).order_by(table.c.number.desc()).limit(1)
    ).scalar()
    return Knowledge() if content is None else Knowledge(from_json(content))


def _newest_version(connection: Connection) -> str | None:
    table = schema.knowledge
    return connection.execute(
        select(table.c.version).order_by(table.c.number.desc()).limit(1)
    ).scalar()
