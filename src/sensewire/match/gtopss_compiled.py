"""G-ToPSS (Liu 2005, section 4), compiled: the baseline of graph patterns.

Clauses of triple patterns become subscriptions of a `MergedGraph`, which see only numbers:

    constant     a label: what it stands for, by its reading, and where it is looked up
    variable     a star
    property     a label
    fact         a triple for each label of its subject, of its property and of its object

so that all that constants mean has gone into labels before the graph is asked. Constraints are
checked on the rows of joint bindings, as in *CheckConstraint*.

Cost: of an event the triples that its facts become, and what `compiled/gtopss.py` says of those;
of the first match after a clause came or went, a step for each edge of each clause.

Invariant: the graph that is asked holds the clauses that stand.

Departure: *CheckConstraint* as printed returns at a row's first variable; here every constraint of
every variable must hold, and any constraint may stand there.

Departure: *Insert* puts one subscription into the graph. Here the graph is built anew when it is
asked after a change, since its arrays do not grow.
"""

import threading
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice, product
from typing import NamedTuple, assert_never

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.match.compiled.flags import Flags
from sensewire.match.compiled.graph_index import BUDGET
from sensewire.match.compiled.graph_terms import MOST_MEMBERS
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.compiled.gtopss import EVENT, SUBSCRIPTION
from sensewire.match.judging import Judge
from sensewire.match.matcher import Answer, Found, found
from sensewire.match.merged_graph import MergedGraph, Triples
from sensewire.match.oracle_constraints import BRIDGED, truth
from sensewire.match.oracle_facts import Star
from sensewire.match.oracle_members import memberships
from sensewire.match.oracle_values import EVERYWHERE, Reader
from sensewire.match.views import spelled, view_of
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.conditions import Constant, Equal, Variable
from sensewire.model.event import Event, Fact
from sensewire.model.features import Feature
from sensewire.model.subscription import Home, TriplePattern, Vertex
from sensewire.model.terms import RDF_TYPE, Term

_NAMELESS, _HOME = 0, 1
"""Labels: of a vertex that no pattern names, and of the home vertex."""
_REMEMBERED = 65_536
Edge = tuple[int, int, int]
Labels = tuple[int, ...]


class _Coded(NamedTuple):
    """A clause as the edges of a subscription, and its variables in the order of their stars."""

    clause: Clause
    edges: tuple[Edge, ...]
    stars: tuple[Variable, ...]

    @property
    def wants_rows(self) -> bool:
        return bool(self.clause.select or self.clause.conjunction.constraints)


class _Standing(NamedTuple):
    """The graph, and of each of its subscriptions the clause, its number, and if it wants rows."""

    graph: MergedGraph
    coded: Sequence[_Coded]
    numbers: Int32
    wanting: Truths


class GToPSS:
    """Clauses of triple patterns, in one graph."""

    accepts = frozenset({Feature.PATTERN, Feature.CONSTRAINT, Feature.SELECT})
    wants_canonical = True

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._labels = _Labels(knowledge)
        self._coded: dict[int, _Coded] = {}
        self._standing: _Standing | None = None
        self._lock = threading.Lock()

    @property
    def without_pivot(self) -> int:
        return 0

    def key(self, clause: Clause) -> Hashable:
        return clause

    def add(self, number: int, clause: Clause) -> None:
        with self._lock:
            self._coded[number] = self._labels.coded(clause)
            self._standing = None

    def remove(self, number: int) -> None:
        with self._lock:
            del self._coded[number]
            self._standing = None

    def match(self, batch: Batch) -> Found:
        with self._lock:
            if not self._coded:
                return found()
            self._standing = standing = self._standing or _built(self._coded)
            triples, terms = self._labels.triples(batch)
        rows = standing.graph.rows(triples, standing.wanting, BUDGET)
        rows = rows[~np.isin(rows[:, EVENT], list(batch.unknown))]
        is_over = rows[:, SUBSCRIPTION] < 0
        over, rows = rows[is_over], rows[~is_over]
        wanted = standing.wanting[rows[:, SUBSCRIPTION]]
        answers = [*self._bound(standing, batch, rows[wanted], terms)]
        for row, place in zip(over[:, EVENT].tolist(), over[:, SUBSCRIPTION].tolist(), strict=True):
            reason = f"budget exceeded: more than {BUDGET:,} steps"
            answers.append((row, Answer(int(standing.numbers[-1 - place]), reasons=(reason,))))
        answers += self._judged(standing, batch)
        sure = rows[~wanted]
        return Found(sure[:, EVENT].copy(), standing.numbers[sure[:, SUBSCRIPTION]], answers)

    def _bound(
        self, standing: _Standing, batch: Batch, rows: Int32, terms: Sequence[Term]
    ) -> Iterator[tuple[int, Answer]]:
        """The answers of joint bindings, those that some constraint refuses left out."""
        readers: dict[int, Reader] = {}
        answers: dict[tuple[int, int], set[tuple[Term, ...]]] = defaultdict(set)
        for row, place, *vertices in rows.tolist():
            if row not in readers:
                readers[row] = Reader(self._knowledge, batch.facts(row))
            clause, _, stars = standing.coded[place]
            values = {star: terms[vertices[at]] for at, star in enumerate(stars)}
            constraints = clause.conjunction.constraints
            if all(truth(each, values, BRIDGED, readers[row]) is True for each in constraints):
                answers[row, place].add(tuple(values[each] for each in clause.select or ()))
        for (row, place), selected in answers.items():
            yield row, Answer(int(standing.numbers[place]), frozenset(selected))

    def _judged(self, standing: _Standing, batch: Batch) -> Iterator[tuple[int, Answer]]:
        """The answers for events of which something is unknown, since a function failed."""

        def told(row: int) -> tuple[Event, Star]:
            return batch.events[row], Star(
                tuple(batch.facts(row)), unknown=tuple(batch.unknown[row])
            )

        judge = Judge(self._knowledge, {}, told)
        for row in batch.unknown:
            for number, coded in zip(standing.numbers.tolist(), standing.coded, strict=True):
                answer = judge.answer(row, number, coded.clause)
                if answer.rows or answer.reasons:
                    yield row, answer


def _built(coded: Mapping[int, _Coded]) -> _Standing:
    codes = tuple(coded.values())
    columns = np.array([edge for code in codes for edge in code.edges], np.int32).T.copy()
    offsets = np.array([0, *accumulate(len(code.edges) for code in codes)], np.int64)
    return _Standing(
        MergedGraph.build(offsets, *columns),
        codes,
        np.array(list(coded), np.int32),
        np.array([code.wants_rows for code in codes], np.bool_),
    )


class _Labels:
    """What constants stand for, numbered; and by which labels the terms of events are found.

    Nothing is forgotten: a label stays what it is.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._properties = Vocabulary(knowledge)
        self._vertices = Flags(knowledge)
        self._numbers: dict[tuple[Constant, Scope], int] = {}
        self._of_vertex = lru_cache(maxsize=_REMEMBERED)(self._labels_of_vertex)
        self._of_property = lru_cache(maxsize=_REMEMBERED)(self._labels_of_property)

    def coded(self, clause: Clause) -> _Coded:
        """A clause of triple patterns as edges."""
        stars: dict[Variable, int] = {}
        edges = []
        for pattern in clause.conjunction.atoms:
            assert isinstance(pattern, TriplePattern), f"dispatch let {pattern} through"
            property = pattern.property
            assert isinstance(property, Constant), f"dispatch let {pattern} through"
            scope = self._knowledge.scope_of(spelled(property))
            subject = self._end(pattern.subject, EVERYWHERE.constant, stars)
            label = self._properties.property_of(property, strict=False)
            edges.append((subject, label, self._end(pattern.object, scope, stars)))
        self._of_vertex.cache_clear()
        self._of_property.cache_clear()
        return _Coded(clause, tuple(edges), tuple(stars))

    def _end(self, part: Vertex, scope: Scope, stars: dict[Variable, int]) -> int:
        match part:
            case Variable():
                return -1 - stars.setdefault(part, len(stars))
            case Home():
                return _HOME
            case Constant():
                number = self._numbers.get((part, scope))
                if number is None:
                    number = self._numbers[part, scope] = _HOME + 1 + len(self._numbers)
                    self._vertices.add(number, Equal(part), scope)
                return number
            case _:
                assert_never(part)

    def triples(self, batch: Batch) -> tuple[Triples, Sequence[Term]]:
        """Facts as triples of labels, and of vertices: places among the terms."""
        codes: dict[Term, int] = {}
        rows: list[tuple[int, int, int, int, int]] = []
        offsets = [0]
        for row, event in enumerate(batch.events):
            facts = batch.facts(row)
            types: dict[Term, list[Term]] = defaultdict(list)
            for fact in facts:
                if fact.property == RDF_TYPE:
                    types[fact.subject].append(fact.object)
            for fact, properties in self._asked_for(facts):
                scope = self._knowledge.scope_of(fact.property)
                ends = ((fact.subject, EVERYWHERE.value), (fact.object, scope))
                named = [
                    (*self._of_vertex(term, scope, tuple(types[term])), _HOME)
                    if term == event.home
                    else self._of_vertex(term, scope, tuple(types[term])) or (_NAMELESS,)
                    for term, scope in ends
                ]
                source, target = (codes.setdefault(term, len(codes)) for term, _ in ends)
                labels = product(named[0], properties, named[1])
                rows.extend((*each, source, target) for each in labels)
            offsets.append(len(rows))
        columns = np.array(rows, np.int32).reshape(-1, 5).T.copy()
        return Triples(np.array(offsets, np.int64), *columns), tuple(codes)

    def _asked_for(self, facts: Sequence[Fact]) -> Iterator[tuple[Fact, tuple[int, ...]]]:
        """The facts that some pattern may ask for, with the labels of their properties."""
        for fact in facts:
            labels = self._of_property(fact.property)
            if labels:
                yield fact, labels
        if self._properties.reads_members:
            for fact in islice(memberships(facts), MOST_MEMBERS):
                yield fact, self._properties.reading_lists()

    def _labels_of_vertex(self, term: Term, scope: Scope, types: tuple[Term, ...]) -> Labels:
        root = self._knowledge.value_root(term, scope)
        view = view_of(term, root, types, self._knowledge)
        return tuple(dict.fromkeys(self._vertices.held_by(view)))

    def _labels_of_property(self, property: Term) -> Labels:
        return tuple(self._properties.served_by(property))
