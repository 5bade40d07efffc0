"""A batch of events as columns: the form that passes and matchers work on.

terms      the dictionary: code → term, each term once
subject    ┐
property   │ one row a fact, as codes; `origin` is RAW, or the number of the mapping function
object     │ that derived it
origin     ┘
offsets    event i owns the rows offsets[i] … offsets[i + 1] − 1
home       each event's home vertex as a code, NO_HOME where it has none
events     the raw events, which the oracle and the operators read
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sensewire.model.event import Event
from sensewire.model.terms import Term

RAW = -1
NO_HOME = -1
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Events as columns of codes into one dictionary of terms."""

    terms: Sequence[Term]
    subject: Codes
    property: Codes
    object: Codes
    origin: Codes
    offsets: npt.NDArray[np.int64]
    home: Codes
    events: Sequence[Event]

    def __len__(self) -> int:
        return len(self.events)
