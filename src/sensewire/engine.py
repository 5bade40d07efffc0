"""The engine: the way of an event, on one screen.

    event ──> normalise ────────> match ───────────> merged by subscription ──> matches
              derived facts       clauses            subscribers
    batch ──> facts ──────────────┘

The same code runs wherever events are matched.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from os import PathLike
from typing import TYPE_CHECKING, Self

from sensewire.explain.explanation import Explanation
from sensewire.explain.inquiry import explained
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.ambiguity import refuse_ambiguity
from sensewire.match.concept_model import ConceptModel
from sensewire.match.dispatch import dispatch_to
from sensewire.match.matcher import Answer, Found, Operator
from sensewire.model.batch import Batch
from sensewire.model.canonical import clauses_of
from sensewire.model.collecting import collection_paused
from sensewire.model.errors import EventError, IndexFolderError, SensewireError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.learned import Learned
from sensewire.model.match import BatchMatches, Failure, Match, Matches, Row
from sensewire.model.statistics import Seen, Statistics
from sensewire.model.subscription import RESERVED, Conjunction, Not, OperatorCall, Subscription
from sensewire.model.terms import Term, iri, whole
from sensewire.normalise.passes import normalised
from sensewire.subscribers import Names, Standing, Subscribers

if TYPE_CHECKING:
    import pyarrow as pa

    from sensewire.batches import Batches, Reading
    from sensewire.events.graphs import Graphs
    from sensewire.model.folder import Array


_NOTHING_SELECTED: frozenset[tuple[tuple[str, Term], ...]] = frozenset({()})
_ONE_EMPTY_ROW: tuple[Row, ...] = ({},)
_NO_MATCHES = Matches(())


class Engine:
    """Standing subscriptions, and the matching of events against all of them.

    >>> from sensewire.language.parse import parse
    >>> engine = Engine()
    >>> engine.add(parse("product = laptop and price <= 1600"), id="anna")
    'anna'
    >>> event = Event.record({"product": "laptop", "price": 900}, id="e1")
    >>> [match.subscription for match in engine.match(event)]
    ['anna']
    """

    def __init__(
        self,
        knowledge: Knowledge = Knowledge(),  # noqa: B008 - a frozen value
        *,
        matcher: str = "auto",
        operators: Mapping[str, Operator] | None = None,
    ) -> None:
        if not isinstance(knowledge, Knowledge):
            raise SensewireError(
                f"a {type(knowledge).__name__} is no knowledge; load it with Knowledge.load(path)"
            )
        self.knowledge = knowledge
        self._operators = dict(operators or {})
        for name in self._operators:
            if name.lower() in RESERVED:
                raise SensewireError(f"{name} is a function of constraints; rename the operator")
        self._dispatch = dispatch_to(matcher, knowledge, self._operators)
        self._concepts = ConceptModel(knowledge)
        self._subscribers = Subscribers()
        self._named = 0
        self._seen = Seen()
        self._lock = threading.RLock()
        self._batches: Batches | None = None
        self.beside: Mapping[str, Array] = {}
        """Arrays that whoever saved it kept beside the index."""

    def match(self, event: Event, best: int | None = None) -> Matches:
        """The subscriptions that an event matches; with `best`, only that many, nearest first."""
        _check_event(event)
        if best is not None and (not isinstance(best, int) or best < 1):
            raise SensewireError(f"best={best!r}: expected a whole number above 0")
        batch = normalised(Batch((event,)), self.knowledge)
        if batch.rejected:
            raise EventError(batch.rejected[0])
        known = self.knowledge
        self._seen.note(batch, known.is_ambiguous_in if known.content.entities else None)
        found = self._dispatch.match(batch)
        with self._lock:
            matches = self._merged(found)
        if best is None:
            return matches
        nearest = nsmallest(best, matches, key=lambda match: (match.distance, match.subscription))
        return Matches(tuple(nearest), matches.failures)

    def match_batch(
        self, batch: "pa.RecordBatch", reading: "Reading | None" = None
    ) -> BatchMatches:
        """The matches of many records: one column an attribute, or one column `json` of bytes.

        `reading` says where their ids and times stand, and what else is wanted of them.

        >>> import pyarrow as pa
        >>> from sensewire.language.parse import parse
        >>> engine = Engine()
        >>> engine.add(parse("price <= 1600"), id="anna")
        'anna'
        >>> batch = pa.RecordBatch.from_pydict({"price": [900, 1700, None]})
        >>> engine.match_batch(batch).matches.select(["event", "subscription"]).to_pylist()
        [{'event': 0, 'subscription': 'anna'}]
        """
        return self._of_batches().matched(batch, reading)

    def match_events(self, events: Sequence[Event], *, encoded: bool = False) -> BatchMatches:
        """The matches of many events, whatever they are; `event` is the place among them."""
        for event in events:
            _check_event(event)
        return self._of_batches().matched_events(events, encoded)

    def match_graphs(self, graphs: "Graphs", *, encoded: bool = False) -> BatchMatches:
        """The matches of many events of RDF as columns; `event` is the place among them."""
        return self._of_batches().matched_graphs(graphs, encoded)

    def wants(self, attribute: str) -> bool:
        """Whether an attribute of records, by its dotted path, can make a difference to anybody."""
        return self._of_batches().wants(attribute)

    def wants_property(self, address: str) -> bool:
        """Whether a property of graphs, by its IRI, can make a difference to anybody."""
        return self._of_batches().wants_property(iri(address))

    def _of_batches(self) -> "Batches":
        if self._batches is None:
            from sensewire.batches import Batches  # the decoders' kernels are imported with it

            self._batches = Batches(
                self.knowledge, self._dispatch, self._subscribers, self._seen, self._lock
            )
        return self._batches

    def add(self, subscription: Subscription, id: str | None = None) -> str:
        """Let a subscription stand; equal clauses are indexed once, whoever subscribed.

        (Those of a folder that was opened apart: a clause that is there too is indexed again.)
        """
        if not isinstance(subscription, Subscription):
            raise SubscriptionError(
                f"a {type(subscription).__name__} is no subscription; make one with parse(text)"
            )
        with self._lock:
            try:
                return self._added(subscription, self._new_id() if id is None else id)
            except RecursionError:  # of texts, `parse` says so itself
                raise SubscriptionError("the subscription is nested too deeply") from None

    def _added(self, subscription: Subscription, name: str) -> str:
        if not isinstance(name, str) or not name:
            raise SubscriptionError(f"the id {name!r} is no string that is not empty")
        try:
            whole(name)
        except EventError as error:
            raise SubscriptionError(f"the id {name!r} is no text: {error}") from None
        if name in self._subscribers:
            raise SubscriptionError(f"the id {name!r} is in use; remove it first")
        for call in _operators_of(subscription.conjunctions):
            if call not in self._operators:
                known = ", ".join(sorted(self._operators)) or "none"
                raise SubscriptionError(f"there is no operator {call!r}; registered: {known}")
        refuse_ambiguity(subscription, self.knowledge)
        self._concepts.refuse_impossible(subscription)
        indexed = []
        try:
            for clause in clauses_of(subscription):
                indexed.append(self._dispatch.add(clause))
        except (SubscriptionError, RecursionError):
            for number, _ in indexed:
                self._dispatch.remove(number)
            raise
        numbers = tuple(number for number, _ in indexed)
        names = tuple(names for _, names in indexed)
        self._subscribers.add(Standing(name, subscription, numbers, names))
        return name

    def remove(self, id: str) -> None:
        """End a subscription."""
        with self._lock:
            clauses = self._subscribers.remove(id)
            if clauses is None:
                raise SubscriptionError(f"there is no subscription {id!r}")
            for number in clauses:
                if not self._dispatch.is_restored(number):
                    self._dispatch.remove(number)
                elif not self._subscribers.users_of(number):
                    self._dispatch.forget(number)

    def _merged(self, found: Found) -> Matches:
        """What the clauses say of one event, put together for each subscription."""
        if not found.answers:
            ids = self._subscribers.ids_with(found.clauses)
            return Matches(tuple([Match(id, _ONE_EMPTY_ROW) for id in ids])) if ids else _NO_MATCHES
        rows: dict[str, frozenset[tuple[tuple[str, Term], ...]]] = defaultdict(frozenset)
        distances: dict[str, float] = {}
        reasons: dict[str, set[str]] = defaultdict(set)
        for id in self._subscribers.ids_with(found.clauses):
            rows[id] = _NOTHING_SELECTED
            distances[id] = 0.0
        for _, answer in found.answers:
            for standing, names in self._subscribers.of(answer.clause):
                if answer.reasons:
                    reasons[standing.id].update(answer.reasons)
                    self._seen.note_failure(standing.id, answer.reasons)
                if answer.rows:
                    rows[standing.id] |= set(_rows_for(names, answer))
                    known = distances.get(standing.id, answer.distance)
                    distances[standing.id] = min(known, answer.distance)
        return Matches(
            tuple(Match(id, _in_order(rows[id]), distances[id]) for id in sorted(rows)),
            tuple(Failure(id, "; ".join(sorted(reasons[id]))) for id in sorted(reasons)),
        )

    def _new_id(self) -> str:
        while True:
            self._named += 1
            if f"s{self._named}" not in self._subscribers:
                return f"s{self._named}"

    def explain(self, id: str, event: Event) -> Explanation:
        """Why an event matches a subscription, or not: condition by condition."""
        with self._lock:
            standing = self._subscribers.find(id)
        if standing is None:
            raise SubscriptionError(f"there is no subscription {id!r}")
        _check_event(event)
        return explained(id, standing.subscription, event, self.knowledge, self._operators)

    def subscriptions(self) -> Iterator[tuple[str, Subscription]]:
        """All that stand, with their ids, in the order in which they came."""
        with self._lock:
            rows = list(self._subscribers.rows())
        for row in rows:
            standing = self._subscribers.standing(row)
            yield standing.id, standing.subscription

    def ids(self) -> list[str]:
        """The ids of all that stand, in the order in which they came."""
        with self._lock:
            return [self._subscribers.id(row) for row in self._subscribers.rows()]

    def statistics(self) -> Statistics:
        """What the engine holds and what it has seen."""
        return Statistics(
            subscriptions=len(self._subscribers),
            clauses=len(self._dispatch),
            without_pivot=self._dispatch.without_pivot,
            events=self._seen.events,
            ambiguous=dict(self._seen.ambiguous),
            unknown=dict(self._seen.unknown),
            costly=dict(self._seen.costly),
        )

    def learn(self, statistics: Learned) -> None:
        """Plan for events like those of a history, before or after subscriptions are added.

        Answers stay the same, and the events count as not seen. `load_learned` reads statistics;
        new ones take the place of those that were learned before.
        """
        if not isinstance(statistics, Learned):
            raise SensewireError(
                f"a {type(statistics).__name__} is no statistics; read them with load_learned(path)"
            )
        compiled = self._dispatch.of_facts
        if compiled is not None:  # any other matcher does not plan
            batch = normalised(Batch(statistics.sample), self.knowledge)
            compiled.learn(
                [
                    (event.home, batch.facts(row))
                    for row, event in enumerate(batch.events)
                    if row not in batch.rejected
                ]
            )

    @property
    def is_planned(self) -> bool:
        """Whether it was compiled by what events are like, or is so small that it need not be."""
        compiled = self._dispatch.of_facts
        return compiled is None or compiled.is_planned

    def save(
        self,
        path: str | PathLike[str],
        statistics: Learned | None = None,
        beside: "Mapping[str, Array] | None" = None,
    ) -> None:
        """Write all that stands to an index folder, which `Engine.open` maps into memory; with
        `statistics`, planned for events like those. Arrays that the caller gives are kept beside,
        as `engine.beside`."""
        from sensewire.saving import save

        if statistics is not None:
            self.learn(statistics)
        compiled = self._dispatch.of_facts
        if compiled is None:
            raise SensewireError('an engine with a matcher of its own cannot be saved; use "auto"')
        with self._lock:
            save(path, self.knowledge, compiled, self._subscribers, beside or {})

    @classmethod
    @collection_paused()
    def open(
        cls,
        path: str | PathLike[str],
        *,
        operators: Mapping[str, Operator] | None = None,
        version: str | None = None,
        as_it_is: bool = False,
    ) -> Self:
        """The engine that was saved to a folder; its index is mapped, and read where it is needed.

        Operators are no part of the folder: those that subscriptions call are given again.
        `version` pins one that was saved before, while it is there; the current one unless given.
        An index that was planned before anybody knew what events are like is planned anew once it
        has seen some; `as_it_is` leaves it, so that many processes go on to share one.
        """
        from sensewire.language.parse import parse
        from sensewire.saving import (
            Saved,
            apart_in,
            beside_in,
            knowledge_in,
            opened_folder,
            restored,
        )

        folder = opened_folder(path, version)
        try:
            engine = cls(knowledge_in(folder), operators=operators)
            saved = Saved.of(folder.arrays)
            compiled = engine._dispatch.of_facts
            restored(compiled, folder, engine.knowledge, saved, plans=not as_it_is)
            apart = list(apart_in(folder.arrays))
        except KeyError as error:
            raise IndexFolderError(f"{path}: the index lacks {error}; save it again") from None
        engine._dispatch.restore(saved.clauses)
        engine._subscribers = Subscribers(saved)
        engine.beside = beside_in(folder.arrays)
        for id, text in apart:
            engine.add(parse(text), id=id)
        return engine


def _check_event(event: object) -> None:
    if not isinstance(event, Event):
        raise EventError(
            f"a {type(event).__name__} is no event; make one with Event.record or Event.rdf"
        )


def _rows_for(names: Names, answer: Answer) -> Iterator[tuple[tuple[str, Term], ...]]:
    """An answer's rows under the names that the subscriber gave to the variables."""
    for row in answer.rows:
        yield tuple((name, row[place]) for name, place in names)


def _in_order(rows: Iterable[tuple[tuple[str, Term], ...]]) -> tuple[Row, ...]:
    """Rows in the order of their texts, so that the same answer is always written alike."""
    if rows is _NOTHING_SELECTED:
        return _ONE_EMPTY_ROW
    by_text = sorted(rows, key=lambda row: [(name, str(term), term.kind) for name, term in row])
    return tuple(dict(row) for row in by_text)


def _operators_of(conjunctions: Iterable[Conjunction]) -> Iterator[str]:
    for conjunction in conjunctions:
        for atom in conjunction.atoms:
            if isinstance(atom, OperatorCall):
                yield atom.operator
            elif isinstance(atom, Not):
                yield from _operators_of((atom.body,))
