"""The tables of a store, made and changed by alembic, step by step.

The steps are files in `migrations/versions`, named by the revision that they lead to. A store that
is newer than the program is refused: it may hold what this program would not keep.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from sensewire.model.errors import SensewireError

NEWEST = "0001"
"""The revision that this program works with."""

_TABLE = "alembic_version"
_OURS = "heads"  # which every revision has; others use alembic too
_LOCK = 7_305_437_162  # any number, the same for all of ours

Transaction = Callable[[], AbstractContextManager[Connection]]


def migrated(writing: Transaction, reading: Transaction, name: str, *, create: bool) -> None:
    """Bring a store's tables to the newest revision; refuse what is newer, or no store."""
    with reading() as connection:
        found = _revision(connection, name, create=create)
    if found == NEWEST:
        return
    with writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if _revision(connection, name, create=create) != NEWEST:
            _upgrade(connection)


def _revision(connection: Connection, name: str, *, create: bool) -> str | None:
    """The revision of the tables that are there; None where there are none."""
    tables = inspect(connection).get_table_names()
    if _TABLE not in tables or _OURS not in tables:
        if tables:
            raise SensewireError(
                f"{name} holds other tables ({', '.join(sorted(tables)[:3])}, …), and is no store; "
                "name another place"
            )
        if not create:
            raise SensewireError(f"{name} is empty; `sensewire run` makes a store of it")
        return None
    found = connection.execute(text(f"SELECT version_num FROM {_TABLE}")).scalar_one_or_none()
    if found is not None and found > NEWEST:
        raise SensewireError(
            f"{name} was written by a newer Sensewire (its tables are of revision {found}, this "
            f"program knows them up to {NEWEST}); install the newer one, or name another store"
        )
    return found


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow to import, and mostly not needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, NEWEST)
