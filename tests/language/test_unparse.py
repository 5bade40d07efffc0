"""`parse(unparse(s)) == s` for every subscription, and what no text can say is refused.

Proved by breaking, each caught: brackets left out around an `or`, around a variable or constant on
the left, and behind a minus; `not` for `not all`; reserved words and prefixed names left bare; an
exact string written as a word.
"""

import pytest
from hypothesis import HealthCheck, given, settings

from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.conditions import (
    Binds,
    Equal,
    Exists,
    Order,
    Relation,
    Variable,
    meaning,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import Expression, Minus, Or, Test
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Not,
    Predicate,
    Subscription,
)
from sensewire.model.terms import HOME, TRUE, Term, blank, iri, string, term_of
from sensewire.testing.subscriptions import HOSTILE, SMALL, subscriptions

LAW = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
X = Variable("x")


@LAW
@given(subscriptions(SMALL))
def test_what_is_written_reads_back_the_same(subscription: Subscription) -> None:
    assert parse(unparse(subscription)) == subscription


@LAW
@given(subscriptions(HOSTILE))
def test_hostile_names_and_values_read_back_the_same(subscription: Subscription) -> None:
    text = unparse(subscription)
    assert parse(text) == subscription
    assert unparse(parse(text)) == text


def asked(value: Term) -> Subscription:
    return Subscription((Conjunction((Predicate(meaning("a"), Equal(meaning(value))),)),))


def constrained(*constraints: Expression) -> Subscription:
    bound = Predicate(meaning("a"), Binds(X))
    return Subscription((Conjunction((bound,), constraints),))


def deep(levels: int) -> Expression:
    found: Expression = X
    for _ in range(levels):
        found = Minus(found)
    return found


@pytest.mark.parametrize(
    "subscription",
    [
        asked(HOME),
        asked(blank("b")),
        asked(string("\ud800")),
        asked(iri("relative")),
        asked(iri("http://x.org/a b")),
        asked(Term(TRUE.kind, "maybe", TRUE.datatype)),
        Subscription((Conjunction((Predicate(meaning(term_of(5)), Exists()),)),)),
        Subscription((Conjunction((Bind(Variable("two words"), TRUE),)),)),
        Subscription(tuple(asked(term_of(i)).conjunctions[0] for i in range(1_025))),
        constrained(Or((X, meaning("a")))),
        constrained(Test(X, Order(Relation.LESS, TRUE))),
        constrained(deep(300)),
    ],
    ids=lambda subscription: str(subscription)[-80:],
)
def test_what_no_text_says_is_refused(subscription: Subscription) -> None:
    with pytest.raises(UnsupportedError, match="cannot be written"):
        unparse(subscription)


def test_not_all_only_where_plain_not_would_read_otherwise() -> None:
    one = Predicate(meaning("b"), Exists())
    binding = Predicate(meaning("c"), Binds(X))
    for body, text in (
        (Conjunction((one,)), "not b exists"),
        (Conjunction((binding,)), "not c = ?x"),
        (Conjunction((one, binding)), "not (b exists and c = ?x)"),
        (Conjunction((one, Predicate(meaning("d"), Exists()))), "not all (b exists and d exists)"),
        (Conjunction((Not(Conjunction((one,))),)), "not all (not b exists)"),
        (Conjunction(), "not everything"),
    ):
        assert unparse(Subscription((Conjunction((Not(body),)),))) == text
