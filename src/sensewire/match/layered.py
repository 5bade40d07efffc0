"""Live updates over compiled segments: an immutable base, small segments over it, and tombstones.

    pending   clauses that came since the last match                  compiled by the next one
    small     segments of a few hundred, a few thousand … clauses     merged when they are many
    base      one large segment                                       made in the background
    removed   a mark for each clause that went                        left out of every answer

`add` and `remove` are seen by the next `match`. Segments never change, so that matching goes on
while larger ones are made; making one is work on arrays without the GIL, by a thread of its own.

Cost of an add: its tests, looked up; of a match: that of each segment, of which there are
O(log clauses).
"""

import threading
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.catalogue import Catalogue, Wanted
from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.match.compiled.facts import Reader, Translation
from sensewire.match.compiled.graph_answers import Asking, answered
from sensewire.match.compiled.graph_canonical import canonical
from sensewire.match.compiled.graph_coding import (
    coded,
    has_patterns,
    note_properties,
    tested_alone,
)
from sensewire.match.compiled.graph_index import BUDGET, NO_PROPOSALS, Proposals
from sensewire.match.compiled.graph_records import columns_of_records
from sensewire.match.compiled.graph_terms import GraphEvents, TermRows
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.compiled.growing import Growing
from sensewire.match.compiled.pending import Pending, merged
from sensewire.match.compiled.ranking import NO_FACTS, Columns
from sensewire.match.compiled.sample import Lessons, Sample, thinned, together
from sensewire.match.compiled.segment import Builder, Clauses, Segment, compiled
from sensewire.match.compiled.stored import Opened
from sensewire.match.compiled.values import Values
from sensewire.match.judging import Judge, Told
from sensewire.match.matcher import Answer, Found, Operator, found, joined
from sensewire.match.oracle_facts import Star
from sensewire.model.batch import Batch, FactColumns, columns_of
from sensewire.model.canonical import Clause
from sensewire.model.derived import Unknown
from sensewire.model.event import Event, Fact
from sensewire.model.facts import Facts
from sensewire.model.features import PREDICATES, Feature
from sensewire.model.terms import Term

SMALL = 8_192
"""Clauses that are compiled while the caller waits."""
GROWTH = 4
"""A segment is merged with the one before it, if that is not this many times as large."""
UNPLANNED = 1_024
"""Clauses that are so few that it does not matter what events look like."""
ENOUGH = 1_024
"""Events that tell the planner what is rare."""
MOST_SEGMENTS = 6
"""Segments that stand beside each other, until all are merged in the background."""


class _Standing(NamedTuple):
    """Segments, and which clauses of theirs have not been removed."""

    segments: tuple[Segment, ...]
    alive: Truths
    some_gone: bool


OF_RECORDS = PREDICATES | {
    Feature.EXACT,
    Feature.EVERYTHING,
    Feature.NEGATED_PREDICATE,
    Feature.TOLERANCE,
    Feature.BINDING,
    Feature.SELECT,
    Feature.CONSTRAINT,
}
"""What clauses of predicates on attributes ask for."""
ALL_BUT_OPERATORS = frozenset(Feature) - {Feature.OPERATOR}


class Layered:
    """Clauses, compiled: those with triple patterns as graphs, the others by their predicates;
    whatever is not sure is judged once more."""

    wants_canonical = False  # it compares the tests, whatever their order

    def __init__(
        self,
        knowledge: Knowledge,
        operators: Mapping[str, Operator],
        build: Builder,
        accepts: frozenset[Feature] = ALL_BUT_OPERATORS,
    ) -> None:
        self.accepts = accepts
        self.budget = BUDGET
        """Steps that the search for one clause with patterns may take in one event."""
        self.catalogue = Catalogue(knowledge)
        self._read_vocabulary: Callable[[], Vocabulary] = lambda: Vocabulary(knowledge)
        self._vocabulary: Vocabulary | None = None
        self._known_rows: TermRows | None = None
        self._has_graphs = False
        self._knowledge = knowledge
        self._operators = operators
        self._build = build
        self._lock = self.catalogue.lock
        self._values = Values(knowledge, self.catalogue.concepts)
        self._reader = Reader(self.catalogue, self._values)
        self._segments: tuple[Segment, ...] = ()
        self._pending = Pending()
        self._alive = Growing(np.bool_)
        self._judged: dict[int, Clause] = {}
        self._removed = 0  # since somebody last looked whether to merge
        self._some_gone = False  # whether a segment may hold a clause that was removed
        self._last: tuple[Clause, Wanted] | None = None
        self._sample = Sample()
        self._lessons = Lessons()
        self._outdated: tuple[Segment, ...] = ()  # compiled before the last lessons
        self._translation: Translation | None = None
        self._saved: Callable[[int], Clause] = _nothing_saved
        self._merging: threading.Thread | None = None
        self._in_merge: tuple[Segment, ...] = ()
        self._plans = True  # whether what was compiled blindly is so anew, once events were seen

    def restore(
        self, opened: Opened, clause: Callable[[int], Clause], *, plans: bool = True
    ) -> None:
        """Begin with a segment of an index folder, in the place of nothing; `clause` gives those of
        its clauses that are judged once more. Unless it `plans`, the segment stays as it is."""
        assert not len(self.catalogue.attributes), "something was added before"
        self.catalogue = opened.catalogue
        self._read_vocabulary = opened.vocabulary
        self._vocabulary = self._known_rows = None
        self._has_graphs = bool(opened.segment.graphs)
        self._lock = self.catalogue.lock
        self._values = opened.values
        self._reader = Reader(self.catalogue, self._values)
        self._segments = (opened.segment,)
        self._alive = Growing.over(np.ones(len(opened.segment), np.bool_))
        self._sample = Sample(opened.sample)
        self._saved = clause
        self._plans = plans

    @property
    def vocabulary(self) -> Vocabulary:
        """What clauses with patterns ask for; that of a folder is read when somebody needs it."""
        if self._vocabulary is None:
            self._vocabulary = self._read_vocabulary()
        return self._vocabulary

    @property
    def _rows(self) -> TermRows:
        if self._known_rows is None:
            self._known_rows = TermRows(self.vocabulary)
        return self._known_rows

    def has(self, number: int) -> bool:
        """Whether a clause stands here."""
        return number < len(self._alive) and bool(self._alive.view[number])

    def whole(self, numbers: Iterable[int]) -> tuple[Segment, Columns, Values]:
        """Some clauses as one segment, in the order of their numbers; and the events seen."""
        self.settle()  # what is being made in the background need not be made here too
        with self._lock:
            self._compile_pending()
            kept = np.zeros(len(self._alive), np.bool_)
            kept[np.fromiter(numbers, np.int64)] = True
            clauses = merged([segment.clauses for segment in self._segments], kept)
            in_order = clauses.at(np.argsort(clauses.numbers, kind="stable"))
            whole = self._segments[0] if len(self._segments) == 1 else None
            if (
                whole is None
                or self._is_planned_blindly()
                or not np.array_equal(whole.clauses.numbers, in_order.numbers)
            ):
                whole = self._compiled(in_order)
            return whole, thinned(self._expected()), self._values

    def learn(self, events: Sequence[tuple[Term | None, Sequence[Fact]]]) -> None:
        """Plan by these events too, given as home vertices and facts, in the place of those that
        were learned before; what stands is planned anew in the background."""
        with self._lock:
            self._lessons = Lessons(events)
            self._outdated = self._segments
            self._merge_if_many()

    def _expected(self) -> Columns:
        """The events that are planned for: those that were learned, and those that were seen."""
        learned = self._lessons.columns(self._reader)
        return together(learned, self._sample.columns(self._values))

    # What stands

    @property
    def without_pivot(self) -> int:
        with self._lock:
            self._compile_pending()
        return sum(segment.without_pivot for segment in self._segments)

    def key_as_written(self, clause: Clause) -> Hashable | None:
        """The key of a clause whose variables may have any names; None where they must not."""
        with self._lock:
            wanted = self._wanted(clause)
        if not wanted.sure or not wanted.code:
            return None
        code, is_told_apart = canonical(np.array(wanted.code, np.int32))
        return (code.tobytes(), clause.strict) if is_told_apart else None

    def key(self, clause: Clause) -> Hashable:
        with self._lock:
            wanted = self._wanted(clause)
        if wanted.sure and not wanted.code:
            return array("i", wanted.tests).tobytes()
        conjunction = clause.conjunction
        parts = frozenset(conjunction.atoms), frozenset(conjunction.constraints)
        return (*parts, clause.select, clause.injective, clause.strict, clause.tolerance)

    def add(self, number: int, clause: Clause) -> None:
        with self._lock:
            wanted = self._wanted(clause)
            if number >= len(self._alive):
                self._alive.extend([False] * (number + 1 - len(self._alive)))
            self._alive.view[number] = True
            self._pending.add(number, wanted)
            self._has_graphs = self._has_graphs or bool(wanted.code)
            if not wanted.sure or wanted.code:
                self._judged[number] = clause

    def remove(self, number: int) -> None:
        with self._lock:
            self._alive.view[number] = False
            self._some_gone = True
            self._judged.pop(number, None)
            self._removed += 1
            if self._removed > SMALL:
                self._removed = 0
                self._merge_if_many()

    def _wanted(self, clause: Clause) -> Wanted:
        last = self._last
        if last is None or last[0] is not clause:
            last = self._last = (clause, self._asked_by(clause))
        return last[1]

    def _asked_by(self, clause: Clause) -> Wanted:
        note_properties(clause, self.vocabulary)
        if not has_patterns(clause):
            return self.catalogue.wanted(clause)
        found = coded(clause, self.vocabulary)
        alone = tested_alone(clause)
        tests = () if alone is None else self.catalogue.wanted(alone).tests
        return Wanted(tests, found.sure, found.code)

    # Matching

    def match(self, batch: Batch) -> Found:
        with self._lock:
            self._compile_pending()
            self._renew_values()
            values = self._values
            events = [(event.home, batch.facts(row)) for row, event in enumerate(batch.events)]
            columns = self._reader.columns(events)
            self._sample.note(columns)
            if self._is_planned_blindly():
                self._merge_if_many()
            standing = self._standing()
            graphs = self._graphs_of(batch) if self._has_graphs else None

        def told(row: int) -> tuple[Event, Star]:
            unknown = tuple(batch.unknown.get(row, ()))
            return batch.events[row], Star(tuple(batch.facts(row)), unknown=unknown)

        proposals: dict[Segment, Proposals] = {}
        found = self._found(standing, columns, values, _unknown_at_home(batch), told, proposals)
        return self._with_graphs(found, standing, graphs, batch.unknown, told, proposals)

    def asks_for(self, property: Term) -> bool:
        """Whether some clause asks for a property."""
        with self._lock:
            if self._reader.numbers_are_words(property) is not None:
                return True
            return self.vocabulary.asks_for(property)

    def names(self) -> Iterable[str]:
        """The names that clauses call attributes by, without their synonyms."""
        with self._lock:
            return [*self.catalogue.attributes.names(), *self.vocabulary.names()]

    @property
    def reads_all(self) -> bool:
        """Whether attributes can make a difference that nobody names."""
        with self._lock:
            return self.vocabulary.asks_for_all

    @property
    def asked(self) -> tuple[int, int, int]:
        """Changes whenever something is asked for that was not."""
        catalogue = self.catalogue
        return catalogue.version, len(catalogue.columns.slot), self.vocabulary.version

    def only_words(self, property: Term) -> Iterable[str] | None:
        """The words that alone can make a difference among a property's strings; None: any may."""
        with self._lock:
            if self.vocabulary.asks_for(property):
                return None
            return self.catalogue.only_words(property)

    def match_facts(self, facts: Facts, but: Truths) -> Found:
        """The answers for records that are not events yet, but for some rows; where they must, they
        become events."""
        with self._lock:
            self._compile_pending()
            self._renew_values()
            values = self._values
            if self._translation is None or not self._translation.is_of(self._reader, facts):
                self._translation = Translation(self._reader, facts)
            columns = self._translation.columns(facts)
            self._sample.note(columns)
            if self._is_planned_blindly():
                self._merge_if_many()
            standing = self._standing()

        def told(row: int) -> tuple[Event, Star]:
            event = facts.event_at(row)
            return event, Star(event.facts)

        proposals: dict[Segment, Proposals] = {}
        found = self._found(standing, columns, values, {}, told, proposals, but)
        if not self._has_graphs:
            return found
        with self._lock:
            graphs = self._rows.encoded(*columns_of_records(facts, but))
        return self._with_graphs(found, standing, graphs, {}, told, proposals)

    def match_columns(
        self, facts: FactColumns, homes: Int32, event_at: Callable[[int], Event]
    ) -> Found:
        """The answers for events as columns; where they must, they become events."""
        with self._lock:
            self._compile_pending()
            self._renew_values()
            values = self._values
            columns = replace(NO_FACTS, events=len(homes))
            if any(segment.records for segment in self._segments):
                columns = self._reader.columns_at_home(facts, homes)
                self._sample.note(columns)
                if self._is_planned_blindly():
                    self._merge_if_many()
            standing = self._standing()
            graphs = self._rows.encoded(facts, homes) if self._has_graphs else None

        def told(row: int) -> tuple[Event, Star]:
            event = event_at(row)
            return event, Star(event.facts)

        proposals: dict[Segment, Proposals] = {}
        found = self._found(standing, columns, values, {}, told, proposals)
        return self._with_graphs(found, standing, graphs, {}, told, proposals)

    def _standing(self) -> "_Standing":
        """What stands now: all of it, or nothing of what comes or goes meanwhile."""
        return _Standing(self._segments, self._alive.view, self._some_gone)

    def _found(
        self,
        standing: "_Standing",
        columns: Columns,
        values: Values,
        unknown: Mapping[int, Sequence[Unknown]],
        told: Told,
        proposals: dict[Segment, Proposals],
        but: Truths | None = None,
    ) -> Found:
        """What the index of records says; what it only proposes goes into `proposals`."""
        segments, alive, some_gone = standing
        sure: list[tuple[np.ndarray, np.ndarray]] = []
        answers: list[tuple[int, Answer]] = []
        judge = Judge(self._knowledge, self._operators, told)
        judged = self._judged
        for segment in segments:
            events, places, loose = segment.match(columns, values, unknown)
            if any(each.pattern_of is not None for each in segment.graphs):
                if but is not None:
                    events, places = events[~but[events]], places[~but[events]]
                events, places = self._proposed(segment, events, places, proposals)
            if not len(events):
                continue
            numbers = segment.clauses.numbers[places]
            is_plain = not (some_gone or segment.has_judged or loose.any())
            if is_plain and (but is None or not but.any()):  # as nearly always
                sure.append((events, numbers))
                continue
            kept = alive[numbers]
            if but is not None:
                kept &= ~but[events]
            doubtful = kept & (loose[events] | segment.clauses.judged[places])
            for event, place, number in zip(
                events[doubtful].tolist(),
                places[doubtful].tolist(),
                numbers[doubtful].tolist(),
                strict=True,
            ):
                clause = judged.get(number)
                if clause is None and segment.clauses.judged[place]:
                    if not self._alive.view[number]:
                        continue  # it went this very moment
                    clause = judged[number] = self._saved(number)
                if clause is None:
                    clause = self.catalogue.clause(segment.clauses.tests_of(place))
                answer = judge.answer(event, number, clause)
                if answer.rows or answer.reasons:
                    answers.append((event, answer))
            kept &= ~doubtful
            sure.append((events[kept], numbers[kept]))
        if len(sure) == 1:
            return Found(*sure[0], answers)
        if not sure:
            return found(answers)
        return Found(
            np.concatenate([events for events, _ in sure]),
            np.concatenate([numbers for _, numbers in sure]),
            answers,
        )

    # Graphs

    def _graphs_of(self, batch: Batch) -> GraphEvents:
        """Events as the kernels of graphs read them."""
        columns = columns_of(batch)
        homes = np.full(len(batch), -1, np.int32)
        with_home = [row for row, event in enumerate(batch.events) if event.home is not None]
        if with_home:
            codes: dict[Term | None, int] = {term: at for at, term in enumerate(columns.terms)}
            homes[with_home] = [codes.get(batch.events[row].home, -1) for row in with_home]
        return self._rows.encoded(columns, homes)

    def _proposed(
        self, segment: Segment, events: Int32, places: Int32, proposals: dict[Segment, Proposals]
    ) -> tuple[Int32, Int32]:
        """The pairs of clauses without patterns; the others are proposals."""
        is_one = segment.proposes(places)
        order = np.argsort(events[is_one], kind="stable")
        proposals[segment] = Proposals(events[is_one][order], places[is_one][order])
        return events[~is_one], places[~is_one]

    def _with_graphs(
        self,
        found: Found,
        standing: "_Standing",
        graphs: GraphEvents | None,
        unknown: Mapping[int, Sequence[Unknown]],
        told: Told,
        proposals: Mapping[Segment, Proposals],
    ) -> Found:
        """With what the clauses with patterns say."""
        if graphs is None:
            return found
        judge = Judge(self._knowledge, self._operators, told)
        with self._lock:
            properties = {
                row: frozenset[int]().union(
                    *(self.vocabulary.served_by(each.property, derived=True) for each in of_row)
                )
                for row, of_row in unknown.items()
            }
        asking = Asking(standing.alive, self._clause_of, judge, self.budget, graphs.odd, properties)
        parts = [found]
        for segment in standing.segments:
            proposed = proposals.get(segment, NO_PROPOSALS)
            for some in segment.graphs:
                events = some.events(graphs)
                pairs = some.match(events, proposed, self.budget)
                parts.append(answered(segment, some, pairs, events, asking))
        return joined(parts)

    def _clause_of(self, number: int) -> Clause | None:
        """A clause with patterns; None if it went this very moment."""
        clause = self._judged.get(number)
        if clause is None and self._alive.view[number]:
            clause = self._judged[number] = self._saved(number)
        return clause

    def _renew_values(self) -> None:
        if self._values.is_full:
            self._values = Values(self._knowledge, self.catalogue.concepts)
            self._reader = Reader(self.catalogue, self._values)
            self._sample.clear()

    # Compiling

    def _compile_pending(self) -> None:
        """Compile what is pending, with the segments that are not much larger, if that is quick."""
        if not len(self._pending):
            return
        clauses = self._pending.clauses()
        self._pending = Pending()
        segments = list(self._segments)
        while segments and len(segments[-1]) < GROWTH * len(clauses):
            if len(segments[-1]) + len(clauses) > SMALL or segments[-1] in self._in_merge:
                break
            clauses = merged([segments.pop().clauses, clauses], self._alive.view)
        segments.append(self._compiled(clauses))
        self._segments = tuple(segments)
        self._merge_if_many()

    def _merge_if_many(self) -> None:
        """Begin to make one segment of all, where the small ones have become many or large, or
        much of what is compiled is gone."""
        if self._in_merge:
            return
        sizes = [len(segment) for segment in self._segments]
        held, base = sum(sizes), sizes[0] if sizes else 0
        standing = int(np.count_nonzero(self._alive.view)) - len(self._pending)
        crowded = len(sizes) > 1 and (len(sizes) > MOST_SEGMENTS or held > base + base // GROWTH)
        if crowded or held > 2 * standing + SMALL or self._is_planned_blindly():
            self._in_merge = self._segments
            self._merging = threading.Thread(
                target=self._merge, name="sensewire-merge", daemon=True
            )
            self._merging.start()

    @property
    def is_planned(self) -> bool:
        """Whether all was compiled by somebody who knew what events look like."""
        with self._lock:
            return len(self._pending) <= UNPLANNED and all(
                segment.planned_with >= ENOUGH or segment.records <= UNPLANNED
                for segment in self._segments
            )

    def _is_planned_blindly(self) -> bool:
        """Whether the base was compiled before anybody knew, or said, what events look like."""
        if not self._segments:
            return False
        base = self._segments[0]
        if base.records <= UNPLANNED:
            return False
        if base in self._outdated:
            return len(self._lessons) > 0
        known = self._sample.events + len(self._lessons)
        return self._plans and base.planned_with < ENOUGH <= known

    def _merge(self) -> None:
        """Make one segment of those in the merge, and put it in their place; matching goes on
        meanwhile, and newer segments are left alone."""
        try:
            with self._lock:
                segments, alive = self._in_merge, self._alive.view
            clauses = merged([segment.clauses for segment in segments], alive)
            made = self._compiled(clauses)
            with self._lock:
                later = self._segments[len(segments) :]
                self._segments = (made, *later) if len(clauses) else later
                self._outdated = tuple(old for old in self._outdated if old in self._segments)
                alive = self._alive.view
                self._some_gone = not all(
                    alive[segment.clauses.numbers].all() for segment in self._segments
                )
        finally:
            self._in_merge = ()

    def settle(self) -> None:
        """Wait until nothing is pending, and nothing is or should be merged."""
        while True:
            with self._lock:
                self._compile_pending()
                self._merge_if_many()
                merging = self._merging if self._in_merge else None
            if merging is None:
                return
            merging.join()

    def _compiled(self, clauses: Clauses) -> Segment:
        with self._lock:
            values, lessons = self._values, self._lessons
            sample = self._expected() if len(clauses) > UNPLANNED else NO_FACTS
        made = compiled(self.catalogue, clauses, self._build, sample, values, self.vocabulary)
        with self._lock:
            if lessons is not self._lessons:  # which came meanwhile
                self._outdated += (made,)
        return made


def _nothing_saved(number: int) -> Clause:
    raise AssertionError(f"clause {number} is judged, but was not kept")


def _unknown_at_home(batch: Batch) -> dict[int, list[Unknown]]:
    """What is unknown of home vertices, by event."""
    at_home = {
        row: [each for each in unknown if each.subject == batch.events[row].home]
        for row, unknown in batch.unknown.items()
    }
    return {row: unknown for row, unknown in at_home.items() if unknown}
