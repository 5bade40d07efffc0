"""What must match, from the definition of patterns alone: plain backtracking, an event at a time.

First all patterns go of which one edge fits no fact of the event, read apart from the other edges;
then each of the others is tried, one fact after another, for one edge after another. What was not
drawn as numbers is asked of the oracle, on some subscriptions. No contender has a part in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from frame import WrongAnswerError
from sensewire.match.oracle import Oracle
from sensewire.model.batch import Batch
from sensewire.model.canonical import clauses_of
from workloads.graph_workload import NO_CLASS, GraphWorkload, Int32, Int64, Numbered

_SOME = 200
"""Subscriptions that the oracle is asked about besides those that were found."""


@dataclass(slots=True)
class GraphTruth:
    """What must match in a workload, found when asked for, and once."""

    workload: GraphWorkload
    _known: dict[int, Int64] = field(default_factory=dict)

    def of(self, event: int, numbered: Numbered) -> Int64:
        """The patterns that an event matches, ascending."""
        if event not in self._known:
            self._known[event] = matching(numbered, event)
        return self._known[event]

    def check(self, who: str, event: int, given: Int32) -> None:
        """Compare what was answered for an event."""
        numbered = self.workload.numbered
        if numbered is not None:
            refuse_difference(self.workload, who, event, given, self.of(event, numbered))
            return
        rows = np.unique(np.linspace(0, self.workload.size - 1, _SOME).astype(np.int64))
        asked = np.union1d(rows, given)
        some = given[np.isin(given, asked)]
        due = asked[by_oracle(self.workload, event, asked.tolist())]
        refuse_difference(self.workload, who, event, some, due)


def refuse_difference(
    workload: GraphWorkload, who: str, event: int, given: Int32, due: Int32 | Int64
) -> None:
    """Raise WrongAnswerError unless two answers are one set, and the first has nothing twice."""
    if not np.array_equal(np.sort(given), np.sort(due)):
        raise WrongAnswerError(
            f"{workload.name}, {workload.size:,} subscriptions: {who} answers event {event} with "
            f"{len(given):,} where {len(due):,} match; "
            f"wrong or given twice: {_left(given, due)}, missing: {_left(due, given)}"
        )


def _left(some: Int32 | Int64, others: Int32 | Int64) -> list[int]:
    values, counts = np.unique(some, return_counts=True)
    found: list[int] = values[(counts > 1) | ~np.isin(values, others)][:5].tolist()
    return found


def by_oracle(workload: GraphWorkload, event: int, rows: Sequence[int]) -> list[bool]:
    """Whether an event matches each of some subscriptions."""
    oracle = Oracle(workload.knowledge)
    for row, subscription in zip(rows, workload.asked(rows), strict=True):
        (clause,) = clauses_of(subscription)
        oracle.add(row, clause)
    found = oracle.match(Batch((workload.events[event],)))
    held = {int(clause) for clause in found.clauses}
    held.update(answer.clause for _, answer in found.answers if answer.rows)
    return [row in held for row in rows]


def matching(numbered: Numbered, event: int) -> Int64:
    """The patterns that an event matches, ascending."""
    facts = [*zip(*(column.tolist() for column in numbered.events.triples(event)), strict=True)]
    search = _Search(numbered, facts, numbered.events.types(event))
    return np.array([row for row in _likely(numbered, event) if search.finds(row)], np.int64)


def _likely(numbered: Numbered, event: int) -> Iterable[int]:
    """The patterns of which each edge alone fits some fact."""
    patterns = numbered.patterns
    subject, property, object = numbered.events.triples(event)
    ends = (patterns.subject, patterns.object, subject, object)
    vertices = 2 + max(int(column.max(initial=0)) for column in ends)
    properties = 1 + max(int(column.max(initial=0)) for column in (patterns.property, property))

    def keys(subject: Int32, property: Int32, object: Int32) -> Int64:
        one, other = np.maximum(subject, -1) + 1, np.maximum(object, -1) + 1
        found: Int64 = (one.astype(np.int64) * properties + property) * vertices + other
        return found

    any_vertex = np.full_like(subject, -1)
    facts = np.concatenate(
        [
            keys(one, property, other)
            for one in (subject, any_vertex)
            for other in (object, any_vertex)
        ]
    )
    fits = np.isin(keys(patterns.subject, patterns.property, patterns.object), facts)
    found: list[int] = np.flatnonzero(np.logical_and.reduceat(fits, patterns.offsets[:-1])).tolist()
    return found


class _Search:
    """The facts of an event, and where the variables of one pattern may stand."""

    def __init__(
        self, numbered: Numbered, facts: Sequence[tuple[int, int, int]], types: dict[int, int]
    ) -> None:
        self._patterns = numbered.patterns
        self._facts: dict[int, list[tuple[int, int]]] = {}
        for subject, property, object in facts:
            self._facts.setdefault(property, []).append((subject, object))
        above = numbered.taxonomy.above
        self._classes = {vertex: above[of] for vertex, of in types.items()}

    def finds(self, pattern: int) -> bool:
        """Whether the event has the pattern."""
        patterns = self._patterns
        classes = patterns.classes_of(pattern)
        fitting = []
        for subject, property, object in patterns.edges(pattern):
            pairs = [
                pair
                for pair in self._facts.get(property, ())
                if self._may_be(subject, pair[0], classes)
                and self._may_be(object, pair[1], classes)
            ]
            if not pairs:
                return False
            fitting.append((subject, object, pairs))
        fitting.sort(key=lambda edge: len(edge[2]))
        return self._goes_on(self._in_turn(fitting), 0, {})

    def _may_be(self, end: int, vertex: int, classes: Sequence[int]) -> bool:
        if end >= 0:
            return end == vertex
        if self._patterns.rooted and end == -1 and vertex != 0:
            return False
        of = classes[-end - 1] if classes else NO_CLASS
        return of == NO_CLASS or of in self._classes.get(vertex, ())

    def _in_turn(
        self, edges: list[tuple[int, int, list[tuple[int, int]]]]
    ) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """The edges so that each has an end in common with one before it, where one has."""
        order: list[tuple[int, int, list[tuple[int, int]]]] = []
        bound: set[int] = set()
        left = [*edges]
        while left:
            met = [edge for edge in left if {edge[0], edge[1]} <= bound]
            met = met or [edge for edge in left if edge[0] in bound or edge[1] in bound]
            edge = (met or left)[0]
            left.remove(edge)
            order.append(edge)
            bound.update(edge[:2])
        return order

    def _goes_on(
        self,
        edges: Sequence[tuple[int, int, list[tuple[int, int]]]],
        place: int,
        bound: dict[int, int],
    ) -> bool:
        if place == len(edges):
            return True
        subject, object, pairs = edges[place]
        for pair in pairs:
            more = dict(bound)
            for end, vertex in zip((subject, object), pair, strict=True):
                if more.setdefault(end, vertex) != vertex:
                    break
            else:
                if self._patterns.injective and len(set(more.values())) < len(more):
                    continue
                if self._goes_on(edges, place + 1, more):
                    return True
        return False
