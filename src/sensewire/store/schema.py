"""The tables of a store, as the newest migration leaves them.

    subscriptions   who asks what, from when to when: places in two orders, that of the event log
                    (`since`, `until`) and that of changes (`added`, `removed`)
    log             events as they were published, in entries of one or many; numbers have no gaps
    batches         for each micro-batch of a query what it was pinned to, and what came of it
    events          the events that have notifications, by number
    notifications   who got which event: once, by the primary key
    failures        what could not be decided
    ledger          hashes of the ids of events, batch by batch: who comes again is no new event
    dead_letters    what could not be read as an event, with its bytes
    index_versions  which compiled index knows of which changes
    knowledge       what words mean, by version
    heads           the last number of the log, of changes and of events; whoever writes holds them

Times are microseconds since 1970 in UTC: the same in SQLite and PostgreSQL, and exact. An event's
number grows with every batch, so that notifications are appended at the end of their tree, which is
what makes them cheap (docs/decisions/store.md).
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

_NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # where only INTEGER names the row itself

store = Table(
    "store",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

heads = Table(
    "heads",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("key", _NUMBER, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", Text),
    Column("reading", Text),
    Column("tolerance", Float),
    Column("expires", BigInteger),
    Column("state", Text, nullable=False),  # live, cancelled, refused
    Column("reason", Text),  # why it is refused
    Column("created", BigInteger, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("removed", BigInteger),
    Column("until", BigInteger),
    Index(
        "one_live_subscription_an_id",
        "id",
        unique=True,
        sqlite_where=text("removed IS NULL"),
        postgresql_where=text("removed IS NULL"),
    ),
    Index("subscriptions_by_change", "added"),
    Index("subscriptions_by_end", "removed"),
)

log = Table(
    "log",
    metadata,
    Column("last", _NUMBER, primary_key=True, autoincrement=False),
    Column("first", BigInteger, nullable=False),
    Column("arrival", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),  # how it holds events, as `events.kinds.Kind`
    Column("name", Text),  # of the file that it was, where it was one
    Column("query", Text),  # the only query that it is for
    Column("body", LargeBinary, nullable=False),
    Column("facts", LargeBinary),  # of a payload, as JSON
)

batches = Table(
    "batches",
    metadata,
    Column("query", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True),
    Column("version", Text, nullable=False),
    Column("change", BigInteger, nullable=False),
    Column("now", BigInteger, nullable=False),
    Column("done", BigInteger),  # when it was committed
    Column("first_event", BigInteger),
    Column("events", BigInteger),
    Column("matches", BigInteger),
    Column("repeats", BigInteger),
    Column("rejected", BigInteger),
    Column("failed", BigInteger),
    Column("position", BigInteger),  # of the log, up to which it read
)

events = Table(
    "events",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("position", BigInteger),  # in the log
    Column("place", Text),  # elsewhere
)

notifications = Table(
    "notifications",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("subscription", BigInteger, primary_key=True, autoincrement=False),
    Column("rows", Text),
    Column("distance", Float, nullable=False),
    sqlite_with_rowid=False,
)

failures = Table(
    "failures",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("subscription", BigInteger, primary_key=True, autoincrement=False),
    Column("reason", Text, nullable=False),
    sqlite_with_rowid=False,
)

ledger = Table(
    "ledger",
    metadata,
    Column("scope", Text, primary_key=True),  # the table of notifications, or a query
    Column("last", BigInteger, primary_key=True, autoincrement=False),  # number of an event
    Column("hashes", LargeBinary, nullable=False),  # 16 bytes an event, sorted
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("query", Text, nullable=False),
    Column("batch", BigInteger, nullable=False),
    Column("place", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text),
    Column("facts", LargeBinary),
    Column("time", BigInteger, nullable=False),
    Column("state", Text, nullable=False),  # dead, retried
    Column("tries", BigInteger, nullable=False),  # how often somebody had it published again
)

index_versions = Table(
    "index_versions",
    metadata,
    Column("query", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("change", BigInteger, nullable=False),
    Column("knowledge", Text, nullable=False),
    Column("subscriptions", BigInteger, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("made", BigInteger, nullable=False),
)

knowledge = Table(
    "knowledge",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("version", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("taken", BigInteger, nullable=False),  # when
)
