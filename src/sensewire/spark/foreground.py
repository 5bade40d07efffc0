"""The session of a command that somebody waits for at a terminal."""

import signal
from typing import TYPE_CHECKING

from sensewire.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def foreground_session(master: str | None) -> "SparkSession":
    """The session of a command: Ctrl-C ends it, and it says nothing itself. For the main thread."""
    session = spark_session(master=master)
    # A task that fails reaches the user as one line, from the job's own error; and when we end, the
    # JVM, which ends with us, is not to complain that its workers are gone.
    session.sparkContext.setLogLevel("OFF")
    # PySpark's own handler calls the JVM from inside of the call that it interrupts, and fails.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return session
