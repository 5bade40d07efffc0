"""Fail-points: places at which a test can let the pipeline break.

    SENSEWIRE_FAIL_POINT="match:POISON"     a worker dies when it is to match what holds POISON

Without the variable nothing is looked at. Workers read it when they start.
"""

import os
import signal

from sensewire.events.portions import Portion

VARIABLE = "SENSEWIRE_FAIL_POINT"


def reached(place: str, portion: Portion) -> None:
    """Die, as by a bug in a native library, if that is planted here and the portion holds it."""
    planted = os.environ.get(VARIABLE)
    if planted is None:
        return
    where, _, text = planted.partition(":")
    raws = (portion.raw(row) for row in range(len(portion)))
    if where == place and any(text.encode() in raw for raw in raws):
        os.kill(os.getpid(), signal.SIGKILL)
