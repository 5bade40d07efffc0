"""The columns that a scan writes its facts to.

They are longer than what was found: a scan stops where they are full, and goes on in longer ones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events.scanning import Bytes, Int32, Int64, inlined, lent

FACTS, OUTCOME, ROOM, OBJECTS = 0, 1, 2, 3
"""Places in `Found.counts`."""


class Found(NamedTuple):
    """The columns of the facts, longer than those that were found."""

    event: Int32
    attribute: Int32
    kind: Bytes
    word: Int32
    number: npt.NDArray[np.float64]
    counts: Int64  # [facts, outcome of the last line, room for facts, objects and lists so far]


def found_for(facts: int) -> Found:
    """Columns with room for so many facts."""
    return Found(
        event=np.empty(facts, np.int32),
        attribute=np.empty(facts, np.int32),
        kind=np.empty(facts, np.uint8),
        word=np.empty(facts, np.int32),
        number=np.empty(facts, np.float64),
        counts=np.array([0, 0, facts, 0], np.int64),
    )


def doubled(found: Found) -> Found:
    """The same facts, with room for as many again."""
    room = 2 * len(found.event)
    larger = found_for(room)
    facts = len(found.event)
    larger.event[:facts] = found.event
    larger.attribute[:facts] = found.attribute
    larger.kind[:facts] = found.kind
    larger.word[:facts] = found.word
    larger.number[:facts] = found.number
    larger.counts[:] = found.counts
    larger.counts[ROOM] = room
    return larger


@inlined
def lent_found(found: Found) -> Found:
    """The columns, for kernels."""
    return Found(
        lent(found.event),
        lent(found.attribute),
        lent(found.kind),
        lent(found.word),
        lent(found.number),
        lent(found.counts),
    )
