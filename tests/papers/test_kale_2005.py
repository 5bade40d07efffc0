"""Kale et al. 2005, section 2: an online newspaper; interest is 1, disinterest 0, neither *."""

from itertools import product

import pytest

from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.model.event import Event
from sensewire.model.features import Feature
from sensewire.testing.agreement import takers

TOPICS = ("sports", "politics", "arts")


def subscription_text(interests: tuple[str, ...]) -> str:
    """The paper's vector as tags: 1 is the tag, 0 is not the tag, * is nothing."""
    words = [
        topic if interest == "1" else f"not {topic}"
        for topic, interest in zip(TOPICS, interests, strict=True)
        if interest != "*"
    ]
    return " and ".join(words) or "everything"


def paper_says(interests: tuple[str, ...], article: tuple[str, ...]) -> bool:
    return all(asked in ("*", has) for asked, has in zip(interests, article, strict=True))


def event(article: tuple[str, ...]) -> Event:
    tags = [topic for topic, has in zip(TOPICS, article, strict=True) if has == "1"]
    return Event.record({"tags": tags}, id="article")


def test_the_newspaper_of_section_2() -> None:
    """Sports, and no politics; an article about politics and arts."""
    engine = Engine()
    engine.add(parse("sports and not politics"), id="reader")
    assert not engine.match(event(("0", "1", "1")))
    assert engine.match(event(("1", "0", "1")))
    assert not engine.match(event(("1", "1", "0")))


@pytest.mark.parametrize("matcher", takers([Feature.EQUAL, Feature.NEGATED_PREDICATE]))
def test_every_interest_against_every_article(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    interests = list(product("01*", repeat=3))
    for vector in interests:
        engine.add(parse(subscription_text(vector)), id="".join(vector))
    for article in product("01", repeat=3):
        found = {match.subscription for match in engine.match(event(article))}
        assert found == {"".join(v) for v in interests if paper_says(v, article)}


def test_counting_needs_all_of_a_subscriptions_predicates() -> None:
    """Section 3: the counter must equal the number of predicates, each counted once."""
    engine = Engine(matcher="counting")
    engine.add(parse("a > 1 and b > 1"), id="s")
    assert not engine.match(Event.record({"a": [2, 3]}))
    assert engine.match(Event.record({"a": [2, 3], "b": 2}))
