"""Opening a store: SQLite by path, PostgreSQL by URL; transactions, and their errors as ours.

    store.db                      a file of this machine; WAL, every commit synced
    postgresql://user@host/name   a server; every machine of a cluster may read it

Whoever writes holds the store's heads first (`held`): writers follow each other in one order, in
which numbers have no gaps, and nobody sees a number before all that are smaller.
"""

import os
import re
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from sensewire.model.errors import SensewireError
from sensewire.store import schema
from sensewire.store.migrating import migrated

PATIENCE = 120.0
"""Seconds that a server may be away before whoever waits for it gives up."""

VARIABLE = "SENSEWIRE_STORE"
"""The variable that names the store where no option does."""

DEFAULT = "sensewire.db"

LOG, CHANGE, EVENT = "log", "change", "event"
"""The heads: the last number of the log, of changes to subscriptions, of events."""

_BUSY = 60_000  # milliseconds that a writer waits for another
_CACHE = 65_536  # KiB
_CHECKPOINT = 8_192  # pages of the write-ahead log after which it is folded in
_WRITES = "sensewire_writes"
_FULL = ("disk is full", "No space left", "disk I/O error", "53100")
_MISTYPED = re.compile(r"(?:postgres\w*|sqlite)(?:\+\w+)?:")  # a URL without its two slashes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_ROWS_AT_ONCE = 64  # that one statement adds

Result = TypeVar("Result")
Column = list[Any] | float | None
"""The values of a column, one a row; or the one that all rows have."""


class StoreError(SensewireError):
    """A store that cannot be opened, read or written."""


class Store:
    """An open store. Threads may share it; a process that was forked opens its own."""

    def __init__(self, engine: Engine, name: str, url: str) -> None:
        self._engine = engine
        self.name = name
        self.url = url
        """What another process of ours opens it by; it may hold a password."""

    @property
    def is_local(self) -> bool:
        """Whether it is a file, which other machines do not see."""
        return self._engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of everything."""
        with self._told(), self._engine.connect() as connection:
            if not self.is_local:  # where else each statement sees the newest
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is there whole, on disk, or not at all."""
        with self._told(), self._engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                yield connection

    def patiently(self, work: Callable[[], Result], patience: float = PATIENCE) -> Result:
        """Do what may be done twice, and again while a server is away."""
        return patiently(work, patience)

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    @property
    def id(self) -> str:
        """The name that a store has for ever, wherever it is moved to."""
        return self._said("id")

    @property
    def secret(self) -> bytes:
        """The key of its hashes: nobody can make two ids that have one."""
        return bytes.fromhex(self._said("secret"))

    def _said(self, name: str) -> str:
        query = select(schema.store.c.value).where(schema.store.c.name == name)
        with self.reading() as connection:
            return str(connection.execute(query).scalar_one())

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise _in_words(self.name, error) from error


class StoreAwayError(StoreError):
    """The server is not there, or went away: whoever can wait tries again."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(
            f"{name} cannot be reached: {reason}; is the server running, and the address right?"
        )


def patiently(work: Callable[[], Result], patience: float = PATIENCE) -> Result:
    """Do what may be done twice, and again while a server is away: whatever opens the store, or
    works with it, while a stream runs."""
    until = time.monotonic() + patience
    pause = 0.05
    while True:
        try:
            return work()
        except StoreAwayError as error:
            if time.monotonic() + pause > until:
                raise StoreError(
                    f"{error.name} was not there for {patience:.0f} s: {error.reason}; start the "
                    "server, then this again: nothing that was acknowledged is lost"
                ) from error
        time.sleep(pause)
        pause = min(2 * pause, 2.0)


def open_store(place: str | Path, *, create: bool = True) -> Store:
    """Open the store at a path or URL, and bring its tables up to date.

    >>> import tempfile
    >>> store = open_store(Path(tempfile.mkdtemp()) / "store.db")
    >>> store.is_local
    True
    """
    url, name = _url(str(place))
    if url.get_backend_name() == "sqlite":
        _check_file(url, name, create=create)
    try:
        engine = create_engine(url, **_options(url))
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{name}: {error}; right would be: pip install 'sensewire[postgresql]'"
        ) from None
    if url.get_backend_name() == "sqlite":
        _prepare_sqlite(engine)
    store = Store(engine, name, url.render_as_string(hide_password=False))
    try:
        migrated(store.writing, store.reading, name, create=create)
        _introduce(store)
    except BaseException:
        store.close()
        raise
    return store


@lru_cache(maxsize=2)
def opened_store(url: str) -> Store:
    """A store that is there, once a process: for processes that a running stream starts, and that
    may do so at the very moment that the server is away."""
    return patiently(lambda: open_store(url, create=False))


def stated_store(given: str | None) -> str:
    """The store that an option names, else the environment, else `sensewire.db`."""
    return given or os.environ.get(VARIABLE) or DEFAULT


def held(connection: Connection, *names: str) -> dict[str, int]:
    """The values of some heads, which nobody else moves until the transaction ends."""
    table = schema.heads
    query = select(table).where(table.c.name.in_(names)).order_by(table.c.name).with_for_update()
    return {row.name: row.value for row in connection.execute(query)}


def moved(connection: Connection, name: str, value: int) -> None:
    """Move a head that is held."""
    table = schema.heads
    connection.execute(table.update().where(table.c.name == name).values(value=value))


def head(connection: Connection, name: str) -> int:
    """The value of a head, as far as it is committed."""
    query = select(schema.heads.c.value).where(schema.heads.c.name == name)
    return int(connection.execute(query).scalar_one())


def added(connection: Connection, table: str, columns: Mapping[str, Column]) -> None:
    """Add many rows: by statements that hold some dozen of them, or by COPY, the fastest way of
    each. A column is a list, or what is the same in all rows."""
    lists = [column for column in columns.values() if isinstance(column, list)]
    if not lists or not lists[0]:
        return
    if connection.dialect.name == "sqlite":
        _insert(connection, table, columns, lists)
        return
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    cursor: Any = connection.connection.cursor()  # Any: psycopg's, behind SQLAlchemy's
    dbapi: Any = connection.dialect.dbapi
    values = [each if isinstance(each, list) else repeat(each) for each in columns.values()]
    try:
        with cursor.copy(statement) as copy:
            for row in zip(*values, strict=False):  # what is repeated has no end
                copy.write_row(row)
    except dbapi.Error as error:  # which SQLAlchemy did not see
        raise DBAPIError(statement, None, error) from error


def _insert(
    connection: Connection, table: str, columns: Mapping[str, Column], lists: list[list[Any]]
) -> None:
    """Rows into SQLite: a statement for each would cost four times as much."""
    marks = (
        "?" if isinstance(each, list) else "NULL" if each is None else repr(each)
        for each in columns.values()
    )
    row = f"({', '.join(marks)})"
    head = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
    values = list(chain.from_iterable(zip(*lists, strict=True)))
    width = len(lists) * _ROWS_AT_ONCE
    whole = len(values) // width * width
    for some, step in ((values[:whole], width), (values[whole:], len(lists))):
        if some:
            statement = head + ", ".join([row] * (step // len(lists)))
            parts = [tuple(some[at : at + step]) for at in range(0, len(some), step)]
            connection.exec_driver_sql(statement, parts)


def microseconds(moment: datetime) -> int:
    """A time as the store keeps it: exact, and without a float.

    >>> microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_of(microseconds: int) -> datetime:
    """A time that the store keeps."""
    return _EPOCH + timedelta(microseconds=microseconds)


def _url(place: str) -> tuple[URL, str]:
    if "://" not in place and not _MISTYPED.match(place):
        url = URL.create("sqlite", database=str(Path(place).absolute()))
        return url, place
    try:
        url = make_url(place)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError, NoSuchModuleError):
        backend = ""
    if backend == "sqlite" and url.database:
        return url.set(database=str(Path(url.database).absolute())), url.database
    if backend == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
        shown = url.set(drivername="postgresql", query={})  # which may hold a password too
        return url, shown.render_as_string(hide_password=True)
    raise StoreError(
        f"{_without_password(place)!r} names no store; right would be a path (store.db) or "
        "postgresql://user@host/name"
    )


def _without_password(place: str) -> str:
    scheme, colon, rest = place.partition(":")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return f"{scheme}{colon}{slashes}{rest.lstrip('/').rpartition('@')[2].partition('?')[0]}"


def _options(url: URL) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": _BUSY / 1_000, "check_same_thread": False}}
    return {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}


def _check_file(url: URL, name: str, *, create: bool) -> None:
    path = Path(str(url.database))
    if not path.exists() and not create:
        raise StoreError(
            f"there is no store {name}; `sensewire run --store {name}` makes one, or name it with "
            f"--store, or the variable {VARIABLE}"
        )
    if path.exists() and not path.is_file():
        raise StoreError(f"{name} is no file; name a file for the store, as {name}/store.db")
    if not path.parent.is_dir():
        raise StoreError(f"{name}: there is no folder {path.parent}; make it first")


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, and as we say
        _set_journal(connection)
        for pragma in (
            "synchronous=full",
            f"busy_timeout={_BUSY}",
            f"cache_size=-{_CACHE}",
            f"wal_autocheckpoint={_CHECKPOINT}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # One who reads first and writes later may be refused in the middle; so writers say so.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_journal(connection: sqlite3.Connection) -> None:
    """Write ahead. SQLite does not wait for others when it changes that of a new file, so we do."""
    until = time.monotonic() + _BUSY / 1_000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _introduce(store: Store) -> None:
    """Give a new store its name, its secret and its heads."""
    with store.reading() as connection:
        if connection.execute(select(schema.heads.c.name)).first():
            return
    with store.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("LOCK TABLE store IN EXCLUSIVE MODE")
        if connection.execute(select(schema.heads.c.name)).first():
            return
        said = {"id": str(uuid.uuid4()), "secret": os.urandom(16).hex()}
        rows = [{"name": name, "value": value} for name, value in said.items()]
        connection.execute(schema.store.insert(), rows)
        zeros = [{"name": name, "value": 0} for name in (LOG, CHANGE, EVENT)]
        connection.execute(schema.heads.insert(), zeros)


def _in_words(name: str, error: SQLAlchemyError) -> StoreError:
    reason = _reason(error)
    if any(sign in str(error) for sign in _FULL):
        return StoreError(
            f"{name} cannot be written: {reason}; make room and start again: what was acknowledged "
            "is there, and nothing else is"
        )
    if isinstance(error, DBAPIError) and _is_away(error):
        return StoreAwayError(name, reason)
    if "database is locked" in reason:
        return StoreError(f"{name} is locked by another writer for more than {_BUSY // 1_000} s")
    if "not a database" in reason or "malformed" in reason:
        return StoreError(f"{name} is no store: {reason}; name another file")
    return StoreError(f"{name}: {reason}")


def _is_away(error: DBAPIError) -> bool:
    if error.connection_invalidated:
        return True
    kind = type(error.orig).__name__
    return kind in ("OperationalError", "AdminShutdown", "CannotConnectNow", "CrashShutdown") and (
        type(error.orig).__module__.startswith("psycopg")
    )


def _reason(error: SQLAlchemyError) -> str:
    original = getattr(error, "orig", None)
    return " ".join(str(original or error).split())
