"""Ours: the compiled index of graph patterns, from encoded facts to subscriptions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from sensewire.match.compiled.graph_coding import coded
from sensewire.match.compiled.graph_index import GraphIndex, build
from sensewire.match.compiled.graph_terms import GraphEvents, TermRows
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.model.batch import Batch, columns_of
from sensewire.model.canonical import clauses_of
from sensewire.model.conditions import Equal, exact
from sensewire.model.event import Event
from workloads.graph_texts import property_of, vertex_of
from workloads.graph_workload import GraphWorkload, Int32, Int64, Patterns
from workloads.workload import offsets_of

NAME = "compiled"
_NONE = -1


@dataclass(frozen=True, slots=True)
class Coded:
    """Subscriptions as codes of the index, one after another."""

    codes: Int32
    offsets: Int64
    vocabulary: Vocabulary


def encoded(workload: GraphWorkload) -> Coded:
    """A workload's subscriptions as codes; patterns without classes without making objects."""
    vocabulary = Vocabulary(workload.knowledge)
    if workload.numbered is not None and workload.numbered.patterns.is_plain():
        return _of_numbers(workload, workload.numbered.patterns, vocabulary)
    codes = []
    for subscription in workload.asked(range(workload.size)):
        for clause in clauses_of(subscription):
            code = coded(clause, vocabulary)
            assert code.sure, "a benchmark's subscription must be said by its code"
            codes.append(code.code)
    flat = np.fromiter((number for code in codes for number in code), np.int32)
    return Coded(flat, offsets_of([*map(len, codes)]), vocabulary)


def _of_numbers(workload: GraphWorkload, patterns: Patterns, vocabulary: Vocabulary) -> Coded:
    """The codes of plain patterns. Those of as many edges and variables differ in their edges
    alone, so that one of them is coded, and the edges of the others put in the place of its own."""
    edges = _edges(patterns, vocabulary)
    lengths = np.diff(patterns.offsets)
    lowest = np.minimum(np.minimum(patterns.subject, patterns.object), 0)
    variables = -np.minimum.reduceat(lowest, patterns.offsets[:-1]).astype(np.int64)
    shape = lengths * 64 + variables
    sizes = np.zeros(len(patterns), np.int64)
    made = []
    for each in np.unique(shape).tolist():
        rows = np.flatnonzero(shape == each)
        length = int(lengths[rows[0]])
        (clause,) = clauses_of(next(workload.asked(rows[:1].tolist())))
        template = np.array(coded(clause, vocabulary).code, np.int32)
        some = edges[patterns.offsets[rows][:, None] + np.arange(length)].reshape(len(rows), -1)
        place = _place_of(some[0], template)
        codes = np.tile(template, (len(rows), 1))
        codes[:, place : place + 3 * length] = some
        sizes[rows] = len(template)
        made.append((rows, codes))
    offsets = offsets_of(sizes)
    flat = np.empty(int(offsets[-1]), np.int32)
    for rows, codes in made:
        flat[offsets[rows][:, None] + np.arange(codes.shape[1])] = codes
    return Coded(flat, offsets, vocabulary)


def _edges(patterns: Patterns, vocabulary: Vocabulary) -> Int32:
    """All edges with the numbers that the vocabulary gives to vertices and properties."""
    used = np.unique(patterns.property).tolist()
    properties = np.zeros(max(used, default=0) + 1, np.int32)
    for number in used:
        properties[number] = vocabulary.property_of(exact(property_of(number)), strict=False)
    ends = np.unique(np.concatenate((patterns.subject, patterns.object)))
    vertices = np.zeros(int(ends.max(initial=0)) + 1, np.int32)
    for number in ends[ends >= 0].tolist():
        vertices[number] = vocabulary.test(Equal(exact(vertex_of(number))))

    def as_tests(column: Int32) -> Int32:
        return np.where(column < 0, column, vertices[np.maximum(column, 0)]).astype(np.int32)

    columns = as_tests(patterns.subject), properties[patterns.property], as_tests(patterns.object)
    return np.stack(columns, axis=1)


def _place_of(edges: Int32, code: Int32) -> int:
    """Where a pattern's edges stand in its code, which numbers its variables in its own order."""
    windows = np.lib.stride_tricks.sliding_window_view(code, len(edges))
    (places,) = np.nonzero(((windows == edges) | ((windows < 0) & (edges < 0))).all(axis=1))
    assert len(places) == 1, "a pattern's edges stand once in its code"
    return int(places[0])


class _Events:
    def __init__(self, index: GraphIndex, events: GraphEvents) -> None:
        self._index, self._events = index, events

    def __len__(self) -> int:
        return len(self._events)

    def match(self, event: int) -> Int32:
        return self._index.match(self._events, event, event + 1).patterns

    def match_all(self) -> None:
        self._index.match(self._events)


class Compiled:
    """The index, and the rows of terms that events are encoded by."""

    def __init__(self, workload: GraphWorkload, coded: Coded) -> None:
        self._workload = workload
        self._index = build(coded.codes, coded.offsets, coded.vocabulary)
        self._rows = TermRows(coded.vocabulary)

    @property
    def nbytes(self) -> int:
        return self._index.nbytes

    def events(self) -> Asked:
        return self._asked(self._workload.events)

    def others(self) -> Asked:
        return self._asked(self._workload.others)

    def _asked(self, events: Sequence[Event]) -> Asked:
        columns = columns_of(Batch(events))
        codes = {term: code for code, term in enumerate(columns.terms)}
        homes = [_NONE if event.home is None else codes[event.home] for event in events]
        encoded = self._rows.encoded(columns, np.array(homes, np.int32))
        return _Events(self._index, encoded)


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    coded = encoded(workload)
    return lambda: Compiled(workload, coded)


OURS = GraphContender(NAME, _ready, compiles=True)
