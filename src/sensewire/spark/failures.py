"""Spark's own errors as ours: what failed, in a line, and not two languages' stacks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sensewire.model.errors import SensewireError

_RAISED = re.compile(r"(?!Caused by)[\w.]+(Error|Exception|Interrupt): ")
_OURS = re.compile(r"sensewire\.[\w.]+: ")
_CAUSE = re.compile(r"(Caused by)?: ")


@contextmanager
def spark_errors() -> Iterator[None]:
    """Raise what Spark raises inside of the block as an error of ours."""
    try:
        from py4j.protocol import Py4JError, Py4JJavaError
        from pyspark.errors import PySparkException
    except ImportError:
        yield  # whoever asks for the session says what is missing
        return
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise SensewireError(f"the Spark job failed: {gist(str(error))}") from error
    except (ConnectionError, Py4JError) as error:
        raise JvmEndedError from error


class JvmEndedError(SensewireError):
    """There is no JVM any more."""

    def __init__(self) -> None:
        super().__init__("the Spark job failed: its JVM ended, perhaps for want of memory")


def gist(text: str) -> str:
    """The line that says most: a Python worker's error, else the JVM's last cause, else the first.

    >>> gist("o1 failed\\nCaused by: java.io.IOException: No space left on device\\n\\tat x")
    'java.io.IOException: No space left on device'
    >>> gist("calling o48.addArchive.\\n: java.io.IOException: no archive\\n\\tat x")
    'java.io.IOException: no archive'
    >>> gist("Traceback:\\nsensewire.events.locations.LocationError: out: no space")
    'out: no space'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    causes = [_CAUSE.sub("", line, count=1) for line in lines if _CAUSE.match(line)]
    gist = (raised or causes or lines[:1] or ["no reason was given"])[-1]
    return _OURS.sub("", gist, count=1)  # which needs no class to be understood
