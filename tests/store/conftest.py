"""A fresh store for each test, which runs on both kinds: a file, and a database of a server."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from sensewire.store.database import Store, open_store
from tests.postgresql import Server

_numbers = count(1)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be, and none is yet."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.database(f"store{next(_numbers)}")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """A new store."""
    opened = open_store(place)
    yield opened
    opened.close()
