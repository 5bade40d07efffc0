"""Ours: the compiled index of graph patterns, from encoded facts to subscriptions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from sensewire.match.compiled.graph_coding import coded
from sensewire.match.compiled.graph_index import GraphIndex, build
from sensewire.match.compiled.graph_layout import HEADER
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
    if workload.numbered is not None and workload.numbered.patterns.is_plain:
        return _of_numbers(workload.numbered.patterns, vocabulary)
    codes = []
    for subscription in workload.asked(range(workload.size)):
        for clause in clauses_of(subscription):
            code = coded(clause, vocabulary)
            assert code.sure, "a benchmark's subscription must be said by its code"
            codes.append(code.code)
    flat = np.fromiter((number for code in codes for number in code), np.int32)
    return Coded(flat, offsets_of([*map(len, codes)]), vocabulary)


def _of_numbers(patterns: Patterns, vocabulary: Vocabulary) -> Coded:
    """Header and edges of each pattern, as `graph_coding` writes them."""
    used = np.unique(patterns.property).tolist()
    properties = np.zeros(max(used, default=0) + 1, np.int32)
    for number in used:
        properties[number] = vocabulary.property_of(exact(property_of(number)), strict=False)
    ends = np.unique(np.concatenate((patterns.subject, patterns.object)))
    vertices = np.zeros(int(ends.max(initial=0)) + 1, np.int32)
    for number in ends[ends >= 0].tolist():
        vertices[number] = vocabulary.test(Equal(exact(vertex_of(number))))

    def coded_ends(column: Int32) -> Int32:
        return np.where(column < 0, column, vertices[np.maximum(column, 0)]).astype(np.int32)

    lengths = np.diff(patterns.offsets)
    owner = np.repeat(np.arange(len(patterns)), lengths)
    offsets = offsets_of(HEADER + 3 * lengths)
    codes = np.zeros(int(offsets[-1]), np.int32)
    starts = offsets[:-1]
    lowest = np.minimum(np.minimum(patterns.subject, patterns.object), 0)
    codes[starts] = -np.minimum.reduceat(lowest, patterns.offsets[:-1])
    codes[starts + 1] = lengths
    at = starts[owner] + HEADER + 3 * (np.arange(len(owner)) - patterns.offsets[:-1][owner])
    codes[at] = coded_ends(patterns.subject)
    codes[at + 1] = properties[patterns.property]
    codes[at + 2] = coded_ends(patterns.object)
    return Coded(codes, offsets, vocabulary)


class _Events:
    def __init__(self, index: GraphIndex, events: GraphEvents, vocabulary: Vocabulary) -> None:
        self._index, self._events, self._vocabulary = index, events, vocabulary

    def __len__(self) -> int:
        return len(self._events)

    def match(self, event: int) -> Int32:
        return self._index.match(self._events, self._vocabulary, event, event + 1).patterns

    def match_all(self) -> None:
        self._index.match(self._events, self._vocabulary)


class Compiled:
    """The index, and the rows of terms that events are encoded by."""

    def __init__(self, workload: GraphWorkload, coded: Coded) -> None:
        self._workload, self._vocabulary = workload, coded.vocabulary
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
        return _Events(self._index, encoded, self._vocabulary)


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    coded = encoded(workload)
    return lambda: Compiled(workload, coded)


OURS = GraphContender(NAME, _ready, compiles=True)
