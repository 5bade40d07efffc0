"""The session of a command that somebody waits for at a terminal."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

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
    return session


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals wait until the session stands, or fails: a JVM that is half started outlives us.

    Afterwards Ctrl-C is Python's own (PySpark's handler calls the JVM from inside of the call that
    it interrupts, and fails), and a request to end goes by way of every `finally`, which tidies up.
    """
    held: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, _terminated)
        if signal.SIGTERM in held:
            _terminated(signal.SIGTERM, None)
        if held:
            raise KeyboardInterrupt


def _terminated(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)
