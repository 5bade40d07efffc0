"""A fresh store for each test, which runs on both kinds: a file, and a database of a server."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sensewire.store.database import Store, open_store
from tests.postgresql import Server


@pytest.fixture(scope="session")
def shared_database(postgresql: Server) -> str:
    """A database of the server, which tests use one after the other: to make one takes long."""
    return postgresql.database("stores")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be, and none is yet."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    url: str = request.getfixturevalue("shared_database")
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(  # who is left from a test that failed
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """A new store."""
    opened = open_store(place)
    yield opened
    opened.close()
