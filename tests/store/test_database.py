"""Opening a store, and its transactions: one state for readers, whole or nothing for writers."""

import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st

from sensewire.model.errors import SensewireError
from sensewire.store import database, schema
from sensewire.store.database import (
    CHANGE,
    EVENT,
    LOG,
    Column,
    Store,
    StoreAwayError,
    StoreError,
    added,
    head,
    held,
    microseconds,
    moment_of,
    moved,
    open_store,
    opened_store,
    stated_store,
)
from sensewire.store.log import append
from tests.postgresql import Server, reachable_folder, server
from tests.store.acting import started, together
from tests.store.making import NOW, documents

SECRET = "s3cr3t"


def raw_connection(place: str) -> sa.Engine:
    """The database at a place, as somebody else opens it."""
    url = place if "://" in place else f"sqlite:///{place}"
    return sa.create_engine(url, poolclass=sa.NullPool)


def test_opening_makes_the_tables_and_opening_again_finds_them(place: str) -> None:
    first = open_store(place)
    first_id, secret = first.id, first.secret
    with first.reading() as connection:
        there = set(sa.inspect(connection).get_table_names())
        assert there == {*schema.metadata.tables, "alembic_version"}
        assert [head(connection, name) for name in (LOG, CHANGE, EVENT)] == [0, 0, 0]
    append(first, documents(2), NOW)
    first.close()
    again = open_store(place, create=False)
    assert (again.id, again.secret) == (first_id, secret)
    with again.reading() as connection:
        assert head(connection, LOG) == 3
    again.close()


def test_another_process_opens_it_by_its_url(store: Store) -> None:
    assert store.is_local is store.url.startswith("sqlite")
    assert together([started("opening", store.url)]) == [[store.id, store.secret.hex()]]


def test_two_stores_have_two_names_and_two_secrets(store: Store, tmp_path: Path) -> None:
    other = open_store(tmp_path / "other.db")
    assert other.id != store.id
    assert other.secret != store.secret
    assert len(store.secret) == 16
    other.close()


def test_what_the_migrations_make_is_what_the_schema_says(store: Store) -> None:
    with store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        inspector = sa.inspect(connection)
        for table in schema.metadata.tables.values():
            keys = inspector.get_pk_constraint(table.name)["constrained_columns"]
            assert keys == [column.name for column in table.primary_key]
            for index in inspector.get_indexes(table.name):
                assert index["name"] in {each.name for each in table.indexes}


def test_rows_of_one_live_id_are_kept_out_by_the_tables_themselves(store: Store) -> None:
    row = {"id": "a", "text": "t", "state": "live", "created": 0, "added": 1, "since": 0}
    with store.writing() as connection:
        ended = {"removed": 2, "until": 0}
        connection.execute(schema.subscriptions.insert(), {**row, "key": 1, **ended})
        connection.execute(schema.subscriptions.insert(), {**row, "key": 2, **ended})
        connection.execute(schema.subscriptions.insert(), {**row, "key": 3})
    with pytest.raises(StoreError), store.writing() as connection:
        connection.execute(schema.subscriptions.insert(), {**row, "key": 4})


def test_a_store_of_a_newer_program_is_refused_and_stays_as_it_is(place: str) -> None:
    open_store(place).close()
    with raw_connection(place).begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0999'"))
    with pytest.raises(SensewireError, match=r"newer Sensewire .*revision 0999.*up to 0001"):
        open_store(place)
    with raw_connection(place).begin() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "0999"


@pytest.mark.parametrize("has_alembic", [True, False])
@pytest.mark.parametrize("create", [True, False])
def test_a_database_of_others_is_refused_and_stays_as_it_is(
    place: str, create: bool, has_alembic: bool
) -> None:
    with raw_connection(place).begin() as connection:
        connection.execute(sa.text("CREATE TABLE birds (name text)"))
        if has_alembic:
            connection.execute(sa.text("CREATE TABLE alembic_version (version_num text)"))
            connection.execute(sa.text("INSERT INTO alembic_version VALUES ('beef')"))
        tables = sorted(sa.inspect(connection).get_table_names())
    with pytest.raises(SensewireError, match=r"holds other tables \(.*birds, …\), and is no store"):
        open_store(place, create=create)
    with raw_connection(place).begin() as connection:
        assert sorted(sa.inspect(connection).get_table_names()) == tables


def test_an_empty_database_is_no_store_where_none_is_to_be_made(place: str) -> None:
    with raw_connection(place).begin() as connection:
        connection.execute(sa.text("SELECT 1"))
    if "://" not in place:
        Path(place).touch()
    with pytest.raises(SensewireError, match="is empty; `sensewire run` makes a store of it"):
        open_store(place, create=False)


def test_a_file_that_is_no_database_is_told_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "poem.db"
    path.write_bytes(b"Shall I compare thee to a summer's day?\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"poem\.db is no store: .*name another file"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_missing_file_is_told_with_what_makes_one(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(StoreError, match=r"there is no store .*none\.db; `sensewire run --store"):
        open_store(path, create=False)
    assert not path.exists()


def test_a_folder_or_a_path_without_one_is_no_place_for_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no file; name a file"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match=r"there is no folder .*absent; make it first"):
        open_store(tmp_path / "absent" / "store.db")


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://me:{SECRET}@host/name",
        f"postgres://me:{SECRET}@host/name",
        f"postgresql://me:{SECRET}@host:port/name",
        f"nonsense://me:{SECRET}@host?x=1",
        f"http://me:a@{SECRET}@host/name",
        f"nonsense://host/name?user=me&password={SECRET}",
        f"postgresql:/me:{SECRET}@host/name",
        f"postgresql+psycopg:me:{SECRET}@host/name",
        "sqlite:store.db",
        "sqlite://",
    ],
)
def test_a_wrong_url_is_told_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="names no store; right would be a path") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "form",
    [
        "postgresql://me:{secret}@127.0.0.1:{port}/name",
        "postgresql+psycopg://me:{secret}@127.0.0.1:{port}/name",
        "postgresql://me@127.0.0.1:{port}/name?password={secret}",
        "postgresql://127.0.0.1:{port}/name?user=me&password={secret}&sslmode=prefer",
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(form: str) -> None:
    url = form.format(secret=SECRET, port=1)
    with pytest.raises(StoreAwayError, match=r"cannot be reached: .*is the server run") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert "127.0.0.1:1/name" in str(caught.value)


def test_a_database_that_a_server_does_not_have_is_told(postgresql: Server) -> None:
    url = postgresql.address("absent").replace("postgres@", f"postgres:{SECRET}@")
    with pytest.raises(StoreError, match='"absent" does not exist') as caught:
        open_store(url)
    assert SECRET not in str(caught.value)


def test_the_password_is_kept_for_other_processes_and_nowhere_else(postgresql: Server) -> None:
    plain = postgresql.database("guarded")
    opened = open_store(plain.replace("postgres@", f"postgres:{SECRET}@"))
    assert SECRET in opened.url
    assert SECRET not in opened.name
    with pytest.raises(StoreError) as caught, opened.writing() as connection:
        connection.execute(sa.text("SELECT nothing"))
    assert SECRET not in str(caught.value)
    opened.close()


def test_processes_that_open_a_new_store_at_once_open_one(place: str) -> None:
    told = together([started("opening", place) for _ in range(4)])
    assert len({tuple(each) for each in told}) == 1


def test_threads_that_open_a_new_store_at_once_open_one(place: str) -> None:
    barrier = threading.Barrier(4)

    def opened() -> tuple[str, bytes]:
        barrier.wait()
        store = open_store(place)
        said = store.id, store.secret
        store.close()
        return said

    with ThreadPoolExecutor(4) as pool:
        told = {future.result() for future in [pool.submit(opened) for _ in range(4)]}
    assert len(told) == 1


def test_a_reader_sees_one_state_whatever_is_written_meanwhile(store: Store) -> None:
    with store.reading() as connection:
        assert head(connection, LOG) == 0
        append(store, documents(3), NOW)
        assert head(connection, LOG) == 0
        assert connection.execute(schema.log.select()).all() == []
    with store.reading() as connection:
        assert head(connection, LOG) == 6


def test_a_reader_sees_nothing_of_a_writer_that_has_not_ended(store: Store) -> None:
    with store.writing() as connection:
        held(connection, LOG)
        moved(connection, LOG, 7)
        with store.reading() as other:
            assert head(other, LOG) == 0
    with store.reading() as other:
        assert head(other, LOG) == 7


def test_a_writer_sees_what_the_one_before_it_wrote(store: Store) -> None:
    """(However early its transaction began: the heads are read when they are held.)"""
    begun, done = threading.Event(), threading.Event()

    def later() -> int:
        begun.wait()
        with store.writing() as connection:
            value = held(connection, LOG)[LOG]
            done.set()
            return value

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(later)
        with store.writing() as connection:
            held(connection, LOG)
            begun.set()
            assert not done.wait(0.2)
            moved(connection, LOG, 5)
        assert found.result() == 5


def test_a_write_that_fails_leaves_nothing(store: Store) -> None:
    def written(numbers: list[int], then: int) -> None:
        with store.writing() as connection:
            held(connection, LOG)
            moved(connection, LOG, 9)
            added(connection, "events", {"number": [1], "id": ["a"]})
            connection.execute(
                schema.events.insert(), [{"number": number, "id": "b"} for number in numbers]
            )
            moved(connection, LOG, 9 // then)

    with pytest.raises(ZeroDivisionError):
        written([2], 0)
    with pytest.raises(StoreError):
        written([2, 2], 1)
    with store.reading() as connection:
        assert head(connection, LOG) == 0
        assert connection.execute(schema.events.select()).all() == []


def test_many_rows_are_added_as_they_are(store: Store) -> None:
    ids = ["plain", "", "tab\tline\nback\\slash", "\\N", "Zürich 🦊", '"quoted", comma']
    many = [ids[number % len(ids)] for number in range(1_000)]  # more than a statement takes
    places = [None if number % 3 else id for number, id in enumerate(many)]
    rows = [
        (number, id, 7, place) for number, (id, place) in enumerate(zip(many, places, strict=True))
    ]
    columns: dict[str, Column] = {
        "number": list(range(1_000)),
        "id": many,
        "position": 7,
        "place": places,
    }
    with store.writing() as connection:
        added(connection, "events", columns)
        added(connection, "events", {"number": [], "id": [], "place": None})
        added(connection, "events", {"number": [-1], "id": ["last"], "place": None})
        found = connection.execute(schema.events.select().order_by(schema.events.c.number))
        assert [tuple(row) for row in found] == [(-1, "last", None, None), *rows]


def test_rows_that_are_refused_are_an_error_of_ours(store: Store) -> None:
    with pytest.raises(StoreError), store.writing() as connection:
        added(connection, "events", {"number": [1, 1], "id": ["a", "b"]})
    with store.reading() as connection:
        assert connection.execute(schema.events.select()).all() == []


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_kept_to_the_microsecond(moment: datetime) -> None:
    assert moment_of(microseconds(moment)) == moment


def test_the_store_is_that_of_the_option_else_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(database.VARIABLE, raising=False)
    assert stated_store(None) == "sensewire.db"
    monkeypatch.setenv(database.VARIABLE, "postgresql://there/is")
    assert stated_store(None) == "postgresql://there/is"
    assert stated_store("mine.db") == "mine.db"


def test_a_server_that_comes_back_is_waited_for(postgresql: Server) -> None:
    """(A server of its own, which is killed: before a transaction, in one, and in a COPY.)"""
    del postgresql  # skips this test too, with the reason, where there is none
    with reachable_folder() as folder, server(folder) as own:
        store = open_store(own.database("waited"))
        append(store, documents(1), NOW)
        own.kill()
        with pytest.raises(StoreAwayError, match="cannot be reached"):
            append(store, documents(1), NOW)
        begin = time.monotonic()
        with pytest.raises(StoreError, match=r"was not there for 1 s: .*nothing that was ack"):
            store.patiently(lambda: append(store, documents(1), NOW), patience=1.0)
        assert time.monotonic() - begin < 5
        back = threading.Timer(0.5, own.start)
        back.start()
        assert store.patiently(lambda: append(store, documents(1), NOW)) == range(2, 3)
        back.join()
        tries: list[str] = []

        def killed_inside(rows: bool) -> int:
            with store.writing() as connection:
                value = held(connection, LOG)[LOG]
                if not tries:
                    own.kill()
                    threading.Timer(0.3, own.start).start()
                tries.append("again")
                if rows:
                    added(connection, "events", {"number": [value], "id": ["a"]})
                moved(connection, LOG, value + 1)
                return value + 1

        assert store.patiently(lambda: killed_inside(False)) == 3
        tries.clear()
        assert store.patiently(lambda: killed_inside(True)) == 4
        assert len(tries) > 1
        store.close()


def test_whoever_a_stream_starts_waits_for_the_server_before_it_opens_the_store(
    postgresql: Server,
) -> None:
    del postgresql  # skips this test too, with the reason, where there is none
    with reachable_folder() as folder, server(folder) as own:
        with closing(open_store(own.database("opened"))) as store:
            url, name = store.url, store.id
        own.kill()
        back = threading.Timer(0.5, own.start)
        back.start()
        with closing(opened_store(url)) as again:
            assert again.id == name
        back.join()
        opened_store.cache_clear()


def test_a_journal_that_another_changes_is_waited_for() -> None:
    """(SQLite says so only if it sees a deadlock coming, a matter of microseconds.)"""
    refused = ["database is locked", "database table is locked"]

    class Busy:
        def execute(self, statement: str) -> None:
            assert statement == "PRAGMA journal_mode=wal"
            if refused:
                raise sqlite3.OperationalError(refused.pop())

    busy: Any = Busy()
    database._set_journal(busy)
    assert not refused
    refused.append("disk I/O error")
    with pytest.raises(sqlite3.OperationalError, match="disk"):
        database._set_journal(busy)


def test_what_is_no_absence_is_not_waited_for(store: Store) -> None:
    tries = []

    def wrong() -> None:
        tries.append(1)
        with store.reading() as connection:
            connection.execute(sa.text("SELECT nothing"))

    with pytest.raises(StoreError, match="nothing"):
        store.patiently(wrong)
    assert len(tries) == 1


def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    append(store, documents(1), NOW)
    with store.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def filled() -> None:
        with store.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 1}")
            row = {"first": 2, "last": 2, "arrival": 0, "kind": "lines"}
            connection.execute(schema.log.insert(), {**row, "body": os.urandom(100_000)})

    with pytest.raises(StoreError, match=r"cannot be written: .*disk is full.*make room"):
        filled()
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as plain:
        assert plain.execute("SELECT last FROM log").fetchall() == [(1,)]
    plain.close()
