"""The columns of facts: put in order, and joined with facts that Python made one by one.

For the few events that no kernel decodes: each of their facts is a row, and the rows are laid into
the columns where their events stand. Cost: linear in the columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events.dictionary import Dictionary
from sensewire.events.scanning import Int32, Int64, compiled
from sensewire.model import datatypes
from sensewire.model.event import Event
from sensewire.model.facts import DOUBLE, INTEGER, LARGEST_INTEGER, NO_WORD, WORD, Facts, Ids
from sensewire.model.terms import Term, number_of


class Row(NamedTuple):
    """One fact."""

    event: int
    attribute: int
    kind: int
    word: int
    number: float


class Columns(NamedTuple):
    """Many facts."""

    event: Int32
    attribute: Int32
    kind: npt.NDArray[np.uint8]
    word: Int32
    number: npt.NDArray[np.float64]

    def at(self, index: Int64 | npt.NDArray[np.bool_]) -> "Columns":
        """The facts at these places."""
        event, attribute, kind, word, number = self
        return Columns(event[index], attribute[index], kind[index], word[index], number[index])


def rows_of(events: Iterable[tuple[int, Event]], dictionary: Dictionary) -> list[Row]:
    """The facts of records, the events of these rows, that the dictionary knows."""
    known = [
        (row, dictionary.attribute(fact.property.text), fact.object)
        for row, event in events
        for fact in event.facts
        if fact.property.text in dictionary
    ]
    kinds = [_plain_kind(term) for _, _, term in known]
    words = iter(
        dictionary.words_of(
            [
                (attribute, term)
                for (_, attribute, term), kind in zip(known, kinds, strict=True)
                if kind is None
            ]
        )
    )
    return [
        Row(row, attribute, WORD, next(words), 0.0)
        if kind is None
        else Row(row, attribute, kind, NO_WORD, float(number_of(term)))
        for (row, attribute, term), kind in zip(known, kinds, strict=True)
    ]


def _plain_kind(term: Term) -> int | None:
    """INTEGER or DOUBLE, if a number is all that a term of JSON is."""
    if term.datatype == datatypes.DOUBLE:
        return DOUBLE
    if term.datatype == datatypes.INTEGER and abs(int(term.text)) <= LARGEST_INTEGER:
        return INTEGER
    return None


def with_rows(columns: Columns, rows: Sequence[Row]) -> Columns:
    """The columns with more facts, at their end."""
    event, attribute, kind, word, number = zip(*rows, strict=True)
    return Columns(
        np.append(columns.event, np.array(event, np.int32)),
        np.append(columns.attribute, np.array(attribute, np.int32)),
        np.append(columns.kind, np.array(kind, np.uint8)),
        np.append(columns.word, np.array(word, np.int32)),
        np.append(columns.number, np.array(number, np.float64)),
    )


def in_order(columns: Columns, events: int) -> Columns:
    """The facts in the order of their events, of which there are so many."""
    return columns.at(_order(columns.event, events))


@compiled
def _order(event: Int32, events: int) -> Int64:
    """A counting sort: facts of one event stay in the order in which they stand."""
    place = np.zeros(events + 1, np.int64)
    for number in event:
        place[number + 1] += 1
    for number in range(events):
        place[number + 1] += place[number]
    order = np.empty(len(event), np.int64)
    for fact, number in enumerate(event):
        order[place[number]] = fact
        place[number] += 1
    return order


def facts_in(
    columns: Columns,
    events: int,
    dictionary: Dictionary,
    rejected: Mapping[int, str],
    event_at: Callable[[int], Event],
    ids: Ids | None = None,
) -> Facts:
    """What decoders hand over."""
    return Facts(
        count=events,
        event=columns.event,
        attribute=columns.attribute,
        kind=columns.kind,
        word=columns.word,
        number=columns.number,
        attributes=dictionary.attributes,
        words=dictionary.words,
        rejected=rejected,
        event_at=event_at,
        ids=ids,
    )
