"""Mixed subscriptions: where many patterns are alike, the index of records proposes them.

Proved by breaking: proposals that nobody tries.
"""

import pytest

import sensewire as sw
from sensewire.engine import Engine
from sensewire.match.layered import Layered
from sensewire.model.event import Event, Fact, moment
from sensewire.model.terms import HOME, iri, term_of
from sensewire.testing.agreement import agree

PATTERN = "(home, near, ?y) and (?y, rating, ?r) and ?r > 2"
ALIKE = 100


def texts(select: str) -> list[str]:
    ranges = [f"{select}price between {low} and {low + 7} and {PATTERN}" for low in range(ALIKE)]
    return [*ranges, f"{select}price < 5 and {PATTERN}", "price = 3 and (home, near, ?y)"]


def event(price: int, rating: int, vertices: int = 1) -> Event:
    near, of_price, rated = (iri(f"http://x.org/{name}") for name in ("near", "price", "rating"))
    others = [iri(f"http://x.org/v{number}") for number in range(vertices)]
    facts = [Fact(HOME, of_price, term_of(price))]
    facts += [Fact(HOME, near, other) for other in others]
    facts += [Fact(other, rated, term_of(rating)) for other in others]
    return Event(f"e{price}-{rating}", moment("2024-03-01"), tuple(facts), HOME)


EVENTS = [
    event(price, rating, vertices)
    for price in (3, 50, 200)
    for rating in (1, 5)
    for vertices in (1, 70)
]


@pytest.mark.parametrize("select", ["", "select ?r where "])
def test_what_is_proposed_is_verified(select: str) -> None:
    agreed = agree("auto", [sw.parse(text) for text in texts(select)], EVENTS)
    assert agreed.matches > 2 * 8


def test_ranges_alone_propose() -> None:
    engine = Engine()
    for text in texts(""):
        engine.add(sw.parse(text), id=text)
    engine.match(EVENTS[0])
    (compiled,) = (each for each in engine._dispatch.matchers if isinstance(each, Layered))
    (segment,) = compiled._segments
    (graphs,) = segment.graphs
    assert graphs.pattern_of is not None
    assert (graphs.pattern_of[:ALIKE] >= 0).all()
    assert segment.records >= ALIKE
