"""The PostgreSQL of the tests is a real one: what was committed outlives it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from tests.postgresql import Server, UnavailableError, reachable_folder, server


@contextmanager
def connected(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection


def written(url: str) -> None:
    with connected(url) as connection:
        connection.execute(sa.text("CREATE TABLE words (word text)"))
        connection.execute(sa.text("INSERT INTO words VALUES ('kept')"))


def words(url: str) -> list[str]:
    with connected(url) as connection:
        return list(connection.scalars(sa.text("SELECT word FROM words")))


def test_what_was_committed_outlives_a_kill_and_a_stop(postgresql: Server) -> None:
    """(A server of its own: other tests may hold connections to the shared one.)"""
    del postgresql  # skips this test too, with the reason, where there is none
    with reachable_folder() as folder, server(folder) as own:
        url = own.database("words")
        written(url)
        own.kill()
        with pytest.raises(sa.exc.OperationalError):
            words(url)
        own.start()
        assert words(url) == ["kept"]
        own.stop()
        own.start()
        assert words(url) == ["kept"]


def test_a_kill_ends_even_a_process_that_listens_to_nobody(postgresql: Server) -> None:
    """(One that lives on would keep the server from starting again.)"""
    del postgresql
    with reachable_folder() as folder, server(folder) as own:
        busy = psycopg.connect(own.url.replace("+psycopg", ""))
        busy.pgconn.send_query(b"DO 'BEGIN LOOP END LOOP; END'")
        own.kill()
        own.start()
        busy.close()


def test_a_database_is_new_each_time(postgresql: Server) -> None:
    url = postgresql.database("fresh")
    written(url)
    assert words(url) == ["kept"]
    assert postgresql.database("fresh") == url
    with connected(url) as connection:
        assert sa.inspect(connection).get_table_names() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs it as somebody else")
def test_a_folder_that_the_server_cannot_reach_is_told(postgresql: Server, tmp_path: Path) -> None:
    del postgresql
    tmp_path.chmod(0o700)
    (tmp_path / "closed").mkdir()
    with pytest.raises(UnavailableError, match="closed"), server(tmp_path / "closed"):
        pass
