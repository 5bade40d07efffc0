"""A batch of events as columns: the form that passes and matchers work on.

terms      the dictionary: code → term, each term once
subject    ┐
property   │ one row a fact, as codes; `origin` is RAW, or the number of the mapping function
object     │ that derived it; `root` is the number of the object's root, read in the scope of
origin     │ its property, NO_ROOT before the pass that finds it
root       ┘
roots      number → root
offsets    event i owns the rows offsets[i] … offsets[i + 1] − 1
home       each event's home vertex as a code, NO_HOME where it has none
unknown    row number of an event → what functions that failed might have said of it
rejected   row number of an event → why it cannot be matched
ambiguous  word of several meanings → how many facts have it; each stays a plain word
events     the raw events, which the oracle and the operators read
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sensewire.model.derived import Unknown
from sensewire.model.event import Event
from sensewire.model.terms import Term

RAW = -1
NO_HOME = -1
NO_ROOT = -1
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
    root: Codes
    roots: Sequence[Term] = ()
    unknown: Mapping[int, Sequence[Unknown]] = field(default_factory=dict)
    rejected: Mapping[int, str] = field(default_factory=dict)
    ambiguous: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.events)
