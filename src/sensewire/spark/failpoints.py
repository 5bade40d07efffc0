"""Fail-points: places at which a test can let the pipeline break.

    SENSEWIRE_FAIL_POINT="match:POISON"     a worker dies when it is to match what holds POISON
                         "match:POISON:J"   and before it dies it notes the poison in the file J
                         "written"          a worker dies when it has written the files of a task
                                            that was not tried before
                         "full"             no file of a worker can grow

Without the variable nothing is looked at. Workers read it when they start.
"""

import os
import resource
import signal
from pathlib import Path

from sensewire.events.portions import Portion

VARIABLE = "SENSEWIRE_FAIL_POINT"


def reached(place: str, portion: Portion) -> None:
    """Die, as by a bug in a native library, if that is planted here and the portion holds it."""
    planted = os.environ.get(VARIABLE)
    if planted is None:
        return
    where, _, rest = planted.partition(":")
    text, _, journal = rest.partition(":")
    raws = (portion.raw(row) for row in range(len(portion)))
    found = [raw for raw in raws if text.encode() in raw] if where == place else []
    if found and journal:
        with Path(journal).open("ab") as file:
            file.writelines(raw.rstrip() + b"\n" for raw in found)
    if found:
        os.kill(os.getpid(), signal.SIGKILL)


def begun() -> None:
    """Let no file grow from here on, as on a disk that is full, if that is planted."""
    if os.environ.get(VARIABLE) == "full":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def written(*, is_again: bool) -> None:
    """Die, when the files of a task are there but nobody knows of them, if that is planted."""
    if os.environ.get(VARIABLE) == "written" and not is_again:
        os.kill(os.getpid(), signal.SIGKILL)
