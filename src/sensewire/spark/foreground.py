"""The session of a command that somebody waits for at a terminal."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sensewire.ending import end, heed_requests
from sensewire.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Starting = Callable[[], SparkSession]


def foreground_session(master: str | None, settings: Mapping[str, str] = {}) -> "SparkSession":
    """The session of a command: signals end it, and it says nothing itself. For the main thread."""
    with _signals_held():
        session = spark_session(master=master, settings=settings)
        # A task that fails reaches the user as one line, from the job's own error; and when we end,
        # the JVM, which ends with us, is not to complain that its workers are gone.
        session.sparkContext.setLogLevel("OFF")
        # Nor is a thread of PySpark's, when a JVM is gone that was killed.
        updates: Any = getattr(session.sparkContext, "_accumulatorServer", None)
        if updates is not None:
            updates.handle_error = lambda *_: None
    return session


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals wait until the session stands, or fails: a JVM that is half started outlives us.

    Afterwards they are ours again: PySpark's handler of Ctrl-C calls the JVM from inside of the
    call that it interrupts, and fails.
    """
    held: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        heed_requests()
        if held:
            end(signal.SIGTERM if signal.SIGTERM in held else signal.SIGINT)
