"""A batch of events: the form that passes and matchers work on. Columns are made when asked for.

terms      the dictionary: code → term, each term once
subject    ┐
property   │ one row a fact, as codes; `origin` is RAW, or the number of the mapping function
object     │ that derived it
origin     ┘
offsets    event i owns the rows offsets[i] … offsets[i + 1] − 1
unknown    row number of an event → what functions that failed might have said of it
rejected   row number of an event → why it cannot be matched
events     the raw events, which the oracle and the operators read
"""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.model.derived import Unknown
from sensewire.model.event import Event, Fact
from sensewire.model.terms import Term

RAW = -1
Codes = npt.NDArray[np.int32]


class LastingTerms(Sequence[Term]):
    """Terms whose codes last from batch to batch, so that what is known of them can be kept."""

    @property
    @abstractmethod
    def lasting(self) -> Hashable:
        """Equal for terms that have the same codes, below `named`."""

    @property
    @abstractmethod
    def named(self) -> int:
        """Codes from here on are blank nodes, of one batch only."""

    @abstractmethod
    def some(self, codes: Sequence[int]) -> Sequence[Term]:
        """The terms of some codes below `named`, quicker than one by one."""


class FactColumns(NamedTuple):
    """The facts of events as codes into one dictionary of terms."""

    terms: Sequence[Term]
    subject: Codes
    property: Codes
    object: Codes
    origin: Codes
    offsets: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Events, and what passes have found out about them; `columns` only where facts were added."""

    events: Sequence[Event]
    columns: FactColumns | None = None
    unknown: Mapping[int, Sequence[Unknown]] = field(default_factory=dict)
    rejected: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.events)

    def facts(self, row: int) -> Sequence[Fact]:
        """The facts of an event, those that were sent and those that were derived.

        >>> batch = Batch([Event.record({"a": 1}, id="e1")])
        >>> [fact.property.text for fact in batch.facts(0)]
        ['a']
        """
        if self.columns is None:
            return self.events[row].facts
        terms, subject, property, object, _, offsets = self.columns
        rows = range(offsets[row], offsets[row + 1])
        return [Fact(terms[subject[at]], terms[property[at]], terms[object[at]]) for at in rows]


def columns_of(batch: Batch) -> FactColumns:
    """The columns of a batch. Cost: one dictionary look-up for each term of each fact.

    >>> batch = Batch([Event.record({"a": 1, "b": 1}), Event.record({"a": 2})])
    >>> columns = columns_of(batch)
    >>> columns.object.tolist(), columns.offsets.tolist(), [term.text for term in columns.terms]
    ([2, 2, 4], [0, 2, 3], ['H', 'a', '1', 'b', '2'])
    """
    if batch.columns is not None:
        return batch.columns
    codes: dict[Term, int] = {}
    rows = [
        [codes.setdefault(term, len(codes)) for term in fact]
        for event in batch.events
        for fact in event.facts
    ]
    made = np.array(rows, dtype=np.int32).reshape(-1, 3)
    offsets = [0, *accumulate(len(event.facts) for event in batch.events)]
    return FactColumns(
        terms=tuple(codes),
        subject=made[:, 0],
        property=made[:, 1],
        object=made[:, 2],
        origin=np.full(len(made), RAW, dtype=np.int32),
        offsets=np.array(offsets, dtype=np.int64),
    )
