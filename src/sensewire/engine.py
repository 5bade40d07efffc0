"""The engine: the way of an event, on one screen.

    event ──> encode ──> normalise ──────────> match ──> merged by subscription ──> matches
                         derived facts,
                         canonical terms

The same code runs wherever events are matched.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from os import PathLike
from typing import Never

from sensewire.events.encode import encode
from sensewire.explain.explanation import Explanation
from sensewire.explain.inquiry import explained
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.ambiguity import refuse_ambiguity
from sensewire.match.dispatch import dispatch_to
from sensewire.match.matcher import Answer, Operator
from sensewire.model.canonical import CanonicalClause, canonical_clauses
from sensewire.model.conditions import Variable
from sensewire.model.errors import EventError, SensewireError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.match import Failure, Match, Matches, Row
from sensewire.model.statistics import Seen, Statistics
from sensewire.model.subscription import RESERVED, Conjunction, Not, OperatorCall, Subscription
from sensewire.model.terms import Term
from sensewire.normalise.passes import normalised


@dataclass(frozen=True, slots=True)
class Standing:
    """A subscription that stands, as it was added, and its clauses."""

    id: str
    subscription: Subscription
    clauses: tuple[CanonicalClause, ...]


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
        self._standing: dict[str, Standing] = {}
        self._subscribers: dict[int, list[tuple[Standing, CanonicalClause]]] = defaultdict(list)
        self._named = 0
        self._seen = Seen()

    def match(self, event: Event, best: int | None = None) -> Matches:
        """The subscriptions that an event matches; with `best`, only that many, nearest first."""
        _check_event(event)
        if best is not None and (not isinstance(best, int) or best < 1):
            raise SensewireError(f"best={best!r}: expected a whole number above 0")
        (matches,) = self._match_all((event,))
        if isinstance(matches, EventError):
            raise matches
        if best is None:
            return matches
        nearest = nsmallest(best, matches, key=lambda match: (match.distance, match.subscription))
        return Matches(tuple(nearest), matches.failures)

    def _match_all(self, events: Sequence[Event]) -> Iterator[Matches | EventError]:
        batch = normalised(encode(events), self.knowledge)
        if batch.rejected:  # the rest is matched without them
            kept = [event for row, event in enumerate(events) if row not in batch.rejected]
            matched = self._match_all(kept)
            for row in range(len(events)):
                reason = batch.rejected.get(row)
                yield next(matched) if reason is None else EventError(reason)
            return
        self._seen.note(batch)
        for answers in self._dispatch.match(batch):
            yield self._merged(answers)

    def add(self, subscription: Subscription, id: str | None = None) -> str:
        """Let a subscription stand; equal clauses are indexed once, whoever subscribed."""
        if not isinstance(subscription, Subscription):
            raise SubscriptionError(
                f"a {type(subscription).__name__} is no subscription; make one with parse(text)"
            )
        name = self._new_id() if id is None else id
        if not isinstance(name, str) or not name:
            raise SubscriptionError(f"the id {name!r} is no string that is not empty")
        if name in self._standing:
            raise SubscriptionError(f"the id {name!r} is in use; remove it first")
        for call in _operators_of(subscription.conjunctions):
            if call not in self._operators:
                known = ", ".join(sorted(self._operators)) or "none"
                raise SubscriptionError(f"there is no operator {call!r}; registered: {known}")
        refuse_ambiguity(subscription, self.knowledge)
        standing = Standing(name, subscription, canonical_clauses(subscription))
        indexed: list[CanonicalClause] = []
        try:
            for clause in standing.clauses:
                number = self._dispatch.add(clause.clause)
                indexed.append(clause)
                self._subscribers[number].append((standing, clause))
        except SubscriptionError:
            self._forget(standing, indexed)
            raise
        self._standing[name] = standing
        return name

    def remove(self, id: str) -> None:
        """End a subscription."""
        standing = self._standing.pop(id, None)
        if standing is None:
            raise SubscriptionError(f"there is no subscription {id!r}")
        self._forget(standing, standing.clauses)

    def _forget(self, standing: Standing, clauses: Iterable[CanonicalClause]) -> None:
        for clause in clauses:
            number = self._dispatch.number_of(clause.clause)
            self._subscribers[number].remove((standing, clause))
            if not self._subscribers[number]:
                del self._subscribers[number]
            self._dispatch.remove(clause.clause)

    def _merged(self, answers: Iterable[Answer]) -> Matches:
        """What the clauses say, put together for each subscription."""
        rows: dict[str, set[tuple[tuple[str, Term], ...]]] = defaultdict(set)
        distances: dict[str, float] = {}
        reasons: dict[str, set[str]] = defaultdict(set)
        for answer in answers:
            for standing, clause in self._subscribers[answer.clause]:
                if answer.reasons:
                    reasons[standing.id].update(answer.reasons)
                if answer.rows:
                    rows[standing.id].update(_rows_for(clause, answer))
                    known = distances.get(standing.id, answer.distance)
                    distances[standing.id] = min(known, answer.distance)
        return Matches(
            tuple(Match(id, _in_order(rows[id]), distances[id]) for id in sorted(rows)),
            tuple(Failure(id, "; ".join(sorted(reasons[id]))) for id in sorted(reasons)),
        )

    def _new_id(self) -> str:
        while True:
            self._named += 1
            if f"s{self._named}" not in self._standing:
                return f"s{self._named}"

    def explain(self, id: str, event: Event) -> Explanation:
        """Why an event matches a subscription, or not: condition by condition."""
        standing = self._standing.get(id)
        if standing is None:
            raise SubscriptionError(f"there is no subscription {id!r}")
        _check_event(event)
        return explained(id, standing.subscription, event, self.knowledge, self._operators)

    def statistics(self) -> Statistics:
        """What the engine holds and what it has seen."""
        return Statistics(
            subscriptions=len(self._standing),
            clauses=len(self._subscribers),
            events=self._seen.events,
            ambiguous=dict(self._seen.ambiguous),
            unknown=dict(self._seen.unknown),
        )

    def match_batch(self, batch: object) -> Never:
        """Match an Arrow batch; this version cannot yet."""
        raise _not_yet("match an Arrow batch; call match(event) for each event")

    def save(self, path: str | PathLike[str]) -> Never:
        """Write the index to a folder; this version cannot yet."""
        raise _not_yet("save an index")

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, operators: Mapping[str, Operator] | None = None
    ) -> Never:
        """Open a saved index; this version cannot yet."""
        raise _not_yet("open a saved index")


def _check_event(event: object) -> None:
    if not isinstance(event, Event):
        raise EventError(
            f"a {type(event).__name__} is no event; make one with Event.record or Event.rdf"
        )


def _not_yet(what: str) -> SensewireError:
    return SensewireError(f"this version cannot {what}")


def _rows_for(clause: CanonicalClause, answer: Answer) -> Iterator[tuple[tuple[str, Term], ...]]:
    """An answer's rows under the names that the subscriber gave to the variables."""
    places = {variable: place for place, variable in enumerate(clause.clause.select or ())}
    for row in answer.rows:
        yield tuple(
            (name, row[places[variable]]) for name, variable in sorted(clause.names, key=_name)
        )


def _name(pair: tuple[str, Variable]) -> str:
    return pair[0]


def _in_order(rows: Iterable[tuple[tuple[str, Term], ...]]) -> tuple[Row, ...]:
    """Rows in the order of their texts, so that the same answer is always written alike."""
    by_text = sorted(rows, key=lambda row: [(name, str(term), term.kind) for name, term in row])
    return tuple(dict(row) for row in by_text)


def _operators_of(conjunctions: Iterable[Conjunction]) -> Iterator[str]:
    for conjunction in conjunctions:
        for atom in conjunction.atoms:
            if isinstance(atom, OperatorCall):
                yield atom.operator
            elif isinstance(atom, Not):
                yield from _operators_of((atom.body,))
