"""What the commands that work with a store share: which store it is, opened."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensewire.store.database import Store


def add_store(parser: argparse.ArgumentParser) -> None:
    """--store."""
    parser.add_argument(
        "--store",
        metavar="STORE",
        help="a file (store.db) or postgresql://user@host/name; the variable SENSEWIRE_STORE, else "
        "sensewire.db",
    )


def store_name(arguments: argparse.Namespace) -> str:
    """The store that the command line, or the environment, names."""
    from sensewire.store.database import stated_store

    return stated_store(arguments.store)


@contextmanager
def opened_store(arguments: argparse.Namespace) -> Iterator["Store"]:
    """The store, which must be there."""
    from sensewire.store.database import open_store

    store = open_store(store_name(arguments), create=False)
    try:
        yield store
    finally:
        store.close()
