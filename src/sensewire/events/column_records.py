"""The rows of an Arrow batch as events, one by one: the plain decoder of columns.

A row is the record of its Python values, as `to_pylist` gives them; but nanoseconds are kept, and
columns whose values are no terms are left out. Cost: Python's, for every value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyarrow import types

from sensewire.events.column_terms import (
    Array,
    has_untyped_texts,
    is_list,
    is_term,
    members,
    plain,
    values_of,
)
from sensewire.events.decoding import Decoding
from sensewire.model import flatten
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.terms import HOME, untyped


@dataclass(frozen=True, eq=False)
class Records:
    """A batch, how it is read, and how its rows are called."""

    batch: pa.RecordBatch
    decoding: Decoding
    place: Callable[[int], str]

    @cached_property
    def columns(self) -> Mapping[str, Array]:
        """Columns by their names; of two with one name the last counts, as in JSON."""
        return dict(zip(self.batch.schema.names, self.batch.columns, strict=True))

    def event_at(self, row: int) -> Event:
        """The event of a row."""
        data = {name: _values(column.slice(row, 1))[0] for name, column in self.columns.items()}
        attributes = flatten.attributes(data)
        if has_untyped_texts(self.batch):
            attributes = ((name, untyped(value.text)) for name, value in attributes)
        facts = distinct(Fact(HOME, *fact) for fact in attributes)
        id = flatten.id_in(data, self.decoding.id_field)
        return Event(
            id=self.place(row) if id is None else id,
            time=self.decoding.time_in(facts, HOME),
            facts=facts,
            home=HOME,
        )

    def problem(self, row: int) -> str | None:
        """Why a row is no event; None if it is one."""
        try:
            self.event_at(row)
        except EventError as error:
            return str(error)
        return None


def _values(array: Array) -> list[Any]:  # Any: whatever a record may hold
    """The Python values of an array; None for what is no term."""
    array = plain(array)
    if types.is_struct(array.type):
        columns = {name: _values(member) for name, member in members(array).items()}
        return [
            {name: values[row] for name, values in columns.items()} for row in range(len(array))
        ]
    if is_list(array.type):
        return [_values(item.values) if item.is_valid else None for item in array]
    if not is_term(array.type):
        return [None] * len(array)
    return [None if isinstance(value, EventError) else value for value in values_of(array)]
