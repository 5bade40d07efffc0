"""Events of RDF as columns: what a matcher of graphs reads, with no object of Python for a fact.

    facts.terms       code → term, made when it is asked for; blank nodes have a code in each event
    facts.subject     ┐ one row a fact, as codes; event i owns the rows
    facts.property    │ facts.offsets[i] … facts.offsets[i + 1] − 1
    facts.object      ┘
    graph, home       event → the code of its graph's name; of its home vertex, or NO_HOME
    times             event → its time; None where all have `now`
    sources           the lines that they were read from

Cost of an event made from them: a list look-up for each term of each fact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.column_terms import compute
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.nquads_home import HOME, NO_HOME
from sensewire.events.nquads_terms import ScopedTerms
from sensewire.events.scanning import Int32, Int64
from sensewire.model.batch import FactColumns
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact
from sensewire.model.facts import Ids
from sensewire.model.terms import Term

_fact = partial(tuple.__new__, Fact)


class Sources(NamedTuple):
    """Where statements stand: line i is data[starts[i] : ends[i]], and is called file:numbers[i].

    Event e was read from the lines firsts[e] … lasts[e], those that say something; they have
    sizes[e] bytes, with a line's end each.
    """

    file: str
    data: bytearray
    starts: Int32
    ends: Int32
    numbers: Int64
    is_said: npt.NDArray[np.bool_]
    firsts: Int32
    lasts: Int32
    sizes: Int64

    def place(self, event: int) -> str:
        """Where an event's first statement stands."""
        return f"{self.file}:{self.numbers[self.firsts[event]]}"

    def raw(self, event: int) -> bytes:
        """An event's lines, one after another."""
        first, last = int(self.firsts[event]), int(self.lasts[event])
        start, end = int(self.starts[first]), int(self.ends[last])
        if self.sizes[event] == end - start + 1:  # nothing else stands between them
            return bytes(self.data[start:end]) + b"\n"
        rows = [row for row in range(first, last + 1) if self.is_said[row]]
        return b"".join(self.line(row) + b"\n" for row in rows)

    def line(self, row: int) -> bytes:
        """A line, without its end."""
        return bytes(self.data[int(self.starts[row]) : int(self.ends[row])])


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """Some events, in the order in which they were read."""

    facts: FactColumns
    graph: Int32
    home: Int32
    now: datetime
    times: Sequence[datetime] | None
    sources: Sources

    def __len__(self) -> int:
        return len(self.graph)

    def place(self, row: int) -> str:
        """Where an event stands."""
        return self.sources.place(row)

    def raw(self, row: int) -> bytes:
        """The bytes that an event was read from."""
        return self.sources.raw(row)

    def ids(self) -> Ids:
        """The ids of the events: their graphs' IRIs; a blank graph means nothing outside its file,
        and so its place is the id."""
        terms, sources = self.facts.terms, self.sources
        assert isinstance(terms, ScopedTerms)
        is_blank = (self.graph >= terms.named) | (self.graph == HOME)
        addresses = terms.addresses(np.where(is_blank, HOME, self.graph))
        if not is_blank.any():
            return addresses
        numbers = pa.array(sources.numbers[sources.firsts]).cast(pa.string())
        places = compute.binary_join_element_wise(sources.file, numbers, ":")
        return compute.if_else(pa.array(is_blank), places, addresses)

    def time(self, row: int) -> datetime:
        """The time of an event."""
        return self.now if self.times is None else self.times[row]

    def decoded(self) -> Iterator[Decoded]:
        """The events, each with its place and bytes."""
        columns = self.facts
        terms = columns.terms
        assert isinstance(terms, ScopedTerms)
        home = np.where(self.home == NO_HOME, 0, self.home)
        subjects, properties, objects, homes = terms.lists(
            columns.subject, columns.property, columns.object, home
        )
        facts = list(map(_fact, zip(subjects, properties, objects, strict=True)))
        offsets = columns.offsets.tolist()
        for row, id in enumerate(self.ids().to_pylist()):
            event = Event(
                id=id,
                time=self.time(row),
                facts=tuple(facts[offsets[row] : offsets[row + 1]]),
                home=None if self.home[row] == NO_HOME else homes[row],
            )
            yield Decoded(self.place(row), self.raw(row), event)

    def at(self, rows: Sequence[int] | Int64) -> "Graphs":
        """Some of the events."""
        chosen = np.asarray(rows, np.int64)
        columns, sources = self.facts, self.sources
        counts = np.diff(columns.offsets)[chosen]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
        places = np.repeat(columns.offsets[chosen] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Graphs(
            columns._replace(
                subject=columns.subject[places],
                property=columns.property[places],
                object=columns.object[places],
                origin=columns.origin[places],
                offsets=offsets,
            ),
            self.graph[chosen],
            self.home[chosen],
            self.now,
            None if self.times is None else [self.times[row] for row in chosen.tolist()],
            sources._replace(
                firsts=sources.firsts[chosen],
                lasts=sources.lasts[chosen],
                sizes=sources.sizes[chosen],
            ),
        )

    def with_facts(self, is_kept: npt.NDArray[np.bool_]) -> "Graphs":
        """The same events with some of their facts only."""
        columns = self.facts
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_kept, dtype=np.int64)))
        kept = columns._replace(
            subject=columns.subject[is_kept],
            property=columns.property[is_kept],
            object=columns.object[is_kept],
            origin=columns.origin[is_kept],
            offsets=before[columns.offsets],
        )
        return Graphs(kept, self.graph, self.home, self.now, self.times, self.sources)


def timed(graphs: Graphs, decoding: Decoding) -> tuple[Graphs, dict[int, str]]:
    """The events with their times; and by row why one has none that can be read."""
    if decoding.time_field is None:
        return graphs, {}
    columns = graphs.facts
    # More than the rule asks for: the decoding itself says which of them hold the time.
    names = np.unique(columns.property).tolist()
    fitting = [code for code in names if columns.terms[code].text.endswith(decoding.time_field)]
    event = np.repeat(np.arange(len(graphs)), np.diff(columns.offsets))
    is_time = np.isin(columns.property, fitting) & (columns.subject == graphs.home[event])
    facts: dict[int, list[Fact]] = {}
    for place in np.flatnonzero(is_time).tolist():
        facts.setdefault(int(event[place]), []).append(_fact_at(columns, place))
    times = [graphs.now] * len(graphs)
    problems: dict[int, str] = {}
    for row, some in facts.items():
        try:
            times[row] = decoding.time_in(some, some[0].subject)
        except EventError as error:
            problems[row] = str(error)
    return (
        Graphs(columns, graphs.graph, graphs.home, graphs.now, times, graphs.sources),
        problems,
    )


def _fact_at(columns: FactColumns, place: int) -> Fact:
    def term(column: Int32) -> Term:
        return columns.terms[int(column[place])]

    return Fact(term(columns.subject), term(columns.property), term(columns.object))
