"""Python's collector of garbage, paused while many objects are made that all stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Without the collector: a large file or index makes millions of objects, and all of them stay;
    looking for garbage among them took half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
