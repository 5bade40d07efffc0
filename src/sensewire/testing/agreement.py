"""The agreement test: a matcher against the oracle, on any case.

Inside what a matcher accepts it equals the oracle; outside it raises. There are no skip lists: what
it accepts is read from the matcher itself.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import NamedTuple

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.dispatch import AUTO, MATCHERS
from sensewire.match.matcher import Operator
from sensewire.model.canonical import clauses_of
from sensewire.model.errors import EventError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.features import Feature, features_of
from sensewire.model.match import Failure, Match, is_over_budget
from sensewire.model.subscription import Subscription


class Agreement(NamedTuple):
    """How many subscriptions a matcher took, and how many matches and failures it agreed on."""

    taken: int
    matches: int
    failures: int


def agree(
    matcher: str,
    subscriptions: Sequence[Subscription],
    events: Sequence[Event],
    *,
    knowledge: Knowledge = Knowledge(),  # noqa: B008 - a frozen value
    operators: Mapping[str, Operator] | None = None,
) -> Agreement:
    """Hold a matcher, named as `Engine` names it, to the oracle; raises AssertionError if it errs.

    Every other subscription is removed halfway, so that an index that forgets badly is found too.

    >>> from sensewire.language.parse import parse
    >>> agree("counting", [parse("a = 1"), parse("(?x, a, ?x)")], [Event.record({"a": 1})])
    Agreement(taken=1, matches=1, failures=0)
    """
    operators = operators or {}
    tested = Engine(knowledge, matcher=matcher, operators=operators)
    oracle = Engine(knowledge, matcher="oracle", operators=operators)
    accepted = _accepted(matcher, knowledge, operators)
    taken = []
    for number, subscription in enumerate(subscriptions):
        name = f"s{number}"
        if _is_refused(oracle, subscription, name):  # for a word of two meanings
            _must_refuse(tested, subscription, name)
        elif all(features_of(clause) <= accepted for clause in clauses_of(subscription)):
            tested.add(subscription, id=name)
            taken.append(name)
        else:
            oracle.remove(name)
            _must_refuse(tested, subscription, name)
    before = _compared(tested, oracle, events, matcher)
    for name in taken[::2]:
        tested.remove(name)
        oracle.remove(name)
    after = _compared(tested, oracle, events, matcher)
    return Agreement(len(taken), before[0] + after[0], before[1] + after[1])


def takers(asked: Collection[Feature]) -> tuple[str, ...]:
    """The matchers that take clauses with these features, by what they say themselves.

    >>> takers([Feature.EQUAL, Feature.NEGATED_PREDICATE])
    ('compiled', 'compiled_counting', 'counting', 'oracle')
    """
    return tuple(name for name in MATCHERS if _accepted(name, Knowledge(), {}).issuperset(asked))


def _accepted(
    matcher: str, knowledge: Knowledge, operators: Mapping[str, Operator]
) -> frozenset[Feature]:
    names = AUTO if matcher == "auto" else (matcher,)
    made = (MATCHERS[name](knowledge, operators) for name in names)
    return frozenset(feature for each in made for feature in each.accepts)


def _is_refused(engine: Engine, subscription: Subscription, name: str) -> bool:
    try:
        engine.add(subscription, id=name)
    except SubscriptionError:
        return True
    return False


def _must_refuse(engine: Engine, subscription: Subscription, name: str) -> None:
    assert _is_refused(engine, subscription, name), (
        f"a subscription beyond what the matcher accepts was taken: {subscription}"
    )


def _compared(
    tested: Engine, oracle: Engine, events: Sequence[Event], matcher: str
) -> tuple[int, int]:
    matched = failed = 0
    for event in events:
        try:
            expected = oracle.match(event)
        except EventError as error:
            _must_reject(tested, event, str(error))
            continue
        found = tested.match(event)
        # Where the oracle gave up, it does not know.
        open_ones = {each.subscription for each in expected.failures if is_over_budget(each.reason)}
        told, right = _text(found, open_ones), _text(expected, open_ones)
        assert told == right, f"{matcher} differs from the oracle on {event}"
        told, right = _text(found.failures, open_ones), _text(expected.failures, open_ones)
        assert told == right, f"{matcher}: failures on {event}"
        matched += len(expected)
        failed += len(expected.failures)
    return matched, failed


def _must_reject(engine: Engine, event: Event, reason: str) -> None:
    found = ""
    try:
        engine.match(event)
    except EventError as error:
        found = str(error)
    assert found == reason, f"{event}: the oracle rejects it ({reason}), not so ({found})"


def _text(results: Sequence[Match] | Sequence[Failure], but: Set[str]) -> list[str]:
    """One line a result, but for some subscriptions, so that a difference is easy to read."""
    return [
        f"{each.subscription}: {each.reason}"
        if isinstance(each, Failure)
        else f"{each.subscription} at {each.distance:.12g}: {[dict(row) for row in each.rows]}"
        for each in results
        if each.subscription not in but
    ]
