"""The facts of many records as columns, before anybody asked what their values mean.

event       ┐ one row a fact, in the order of the events
attribute   │ the number of the attribute's name
kind        │ WORD, INTEGER or DOUBLE
word        │ of a WORD: the number of its (attribute, term), NO_WORD for others, UNSEEN for a
number      ┘ string that nothing asks for; of an INTEGER (up to 2 ** 53 on either side) or a
              DOUBLE, NaN and infinities included: its value
attributes  number → the attribute's name
words       number → (number of the attribute, term): strings, booleans, and whatever else is no
            plain number: longer integers, decimals, dates
rejected    row number of an event → why it cannot be matched; it has no facts

Numbers of attributes and of words stay what they are from batch to batch, as long as one dictionary
makes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.model.event import Event
from sensewire.model.terms import Term

WORD, INTEGER, DOUBLE = 0, 1, 2
NO_WORD = -1
UNSEEN = -2
LARGEST_INTEGER = 2**53

Int32 = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Ids = Any
"""An Arrow array of strings."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Many records as columns."""

    count: int  # of events
    event: Int32
    attribute: Int32
    kind: npt.NDArray[np.uint8]
    word: Int32
    number: Doubles
    attributes: Sequence[str]
    words: Sequence[tuple[int, Term]]
    rejected: Mapping[int, str]
    event_at: Callable[[int], Event]
    """The event of a row, whole, for whoever needs more than these facts."""
    ids: Ids | None = None
    """The ids that the events have themselves, where somebody asked for them; null for none."""

    def __len__(self) -> int:
        return self.count
