"""Fail-points of whoever drives a stream: places at which a test can let it die, once.

    SENSEWIRE_FAIL_POINT="stream:PLACE:BATCH"    the whole group of processes dies of SIGKILL when
                                                 it is at the place in that batch, or in a later one

    delta         the changes were read, and nothing is pinned yet
    sink          the batch was matched, and nothing of it was written
    transaction   notifications are being written, inside of the transaction
    committed     all is committed, and Spark does not know
    swap          a new index version is there, and half of the program knows

Without the variable nothing is looked at.
"""

import os
import signal

VARIABLE = "SENSEWIRE_FAIL_POINT"
PLACES = ("delta", "sink", "transaction", "committed", "swap")


def passed(place: str, batch: int) -> None:
    """Die here if that is planted."""
    planted = os.environ.get(VARIABLE)
    if planted is None:
        return
    kind, where, number, *_ = [*planted.split(":"), "", "", ""]
    if kind == "stream" and where == place and batch >= int(number):
        os.killpg(os.getpgid(0), signal.SIGKILL)
