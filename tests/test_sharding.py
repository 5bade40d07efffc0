"""Subscriptions over shards: alike together, in fair parts, always the same."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.content import Draft, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription
from sensewire.sharding import Measured, balance, measured, split
from sensewire.testing.events import events
from sensewire.testing.knowledge import function_of_one
from tests.answers import ATTRIBUTES, TERMS, any_subscription


def of_texts(
    texts: Sequence[str], sample: Sequence[Event] | pa.RecordBatch | None = None
) -> Measured:
    return measured(map(parse, texts), sample=sample)


def anchors(asked: Measured) -> list[list[str]]:
    """The anchors of each subscription, as texts."""
    return [
        [unparse(asked.anchors[n].subscription()) for n in asked.of(np.array([row])).tolist()]
        for row in range(len(asked))
    ]


def shard_of(parts: Sequence[np.ndarray]) -> dict[int, int]:
    return {row: shard for shard, rows in enumerate(parts) for row in rows.tolist()}


@given(
    asked=st.lists(any_subscription, max_size=12),
    sample=st.none() | st.lists(events(ATTRIBUTES, TERMS), max_size=3),
    shards=st.integers(1, 5),
)
def test_every_subscription_has_one_shard_and_always_the_same(
    asked: list[Subscription], sample: list[Event] | None, shards: int
) -> None:
    found = measured(asked, Knowledge(), sample)
    parts = split(found, shards)
    assert len(parts) == shards
    assert sorted(row for rows in parts for row in rows.tolist()) == list(range(len(asked)))
    assert all(rows.tolist() == sorted(rows.tolist()) for rows in parts)
    again = split(measured(asked, Knowledge(), sample), shards)
    assert [rows.tolist() for rows in again] == [rows.tolist() for rows in parts]


def test_a_clause_is_anchored_where_the_fewest_events_are_taken() -> None:
    sample = pa.RecordBatch.from_pydict({"p": [1, 1, 2], "q": [5, 7, 7], "r": [1, None, None]})
    texts = ["p = 1 and q = 5", "p = 2 and q = 7", "p = 1 and r > 5", "q > 0 or p = 1 and r > 0"]
    expected = [["q = 5"], ["p = 2"], ["r exists"], ["q exists", "r exists"]]
    by_batch = of_texts(texts, sample)
    assert [sorted(each) for each in anchors(by_batch)] == expected
    by_events = of_texts(texts, [Event.record(row) for row in sample.to_pylist()])
    assert anchors(by_events) == anchors(by_batch)
    taken = {
        unparse(a.subscription()): n
        for a, n in zip(by_batch.anchors, by_batch.taken.tolist(), strict=True)
    }
    assert taken == {"q = 5": 1, "p = 2": 1, "r exists": 1, "q exists": 3}


def test_without_a_sample_values_come_before_attributes_and_texts_decide() -> None:
    texts = ["p > 1 and q = 5", "q = 1 and p = 1", "(?x, r, ?y) and p > 1", "not p = 1"]
    assert anchors(of_texts(texts)) == [["q = 5"], ["p = 1"], ["p exists"], ["everything"]]


def test_an_event_of_the_sample_that_is_rejected_is_taken_by_nobody() -> None:
    asked = of_texts(["everything"], pa.RecordBatch.from_pydict({"json": ["{", "{}"]}))
    assert asked.taken.tolist() == [1]


def test_what_fails_is_taken_too() -> None:
    draft = Draft()
    draft.mapping(function_of_one("ratio", "price", "colour", "1 / (price - price)"), Place("here"))
    known = Knowledge(draft.content())
    sample = [Event.record({"price": 1})]
    for sent in (sample, pa.RecordBatch.from_pydict({"price": [1]})):
        assert measured([parse("colour = red")], known, sent).taken.tolist() == [1]


def test_patterns_are_anchors_however_many() -> None:
    texts = [f"(?x, p{n}, ?y) and (?y, q, v{n % 7})" for n in range(100)]
    assert anchors(of_texts(texts)) == [[f"(?0, q, v{n % 7})"] for n in range(100)]
    sample = [Event.rdf(f'_:a <urn:p1> _:b . _:b <urn:q> "v{n % 2}" .', "ttl") for n in range(4)]
    assert [anchors(of_texts(texts[n : n + 1], sample))[0] for n in (1, 8, 0)] == [
        ["(?0, q, v1)"], ["(?0, p8, ?1)"], ["(?0, p0, ?1)"],
    ]  # fmt: skip


def test_equal_anchors_lie_together() -> None:
    texts = [f"brand = b{n % 30} and price < {n}" for n in range(900)]
    where = shard_of(split(of_texts(texts), 3))
    assert all(where[row] == where[row % 30] for row in where)
    assert len(set(where.values())) == 3


def test_equal_operator_calls_lie_together_whatever_their_variables() -> None:
    calls = [
        f"near(?{'xyz'[n % 3]}, {n % 10}) and a = v{n} and ?{'xyz'[n % 3]} > {n}"
        for n in range(100)
    ]
    where = shard_of(split(of_texts(calls), 3))
    assert all(where[row] == where[row % 10] for row in where)
    assert len(set(where.values())) == 3
    negated = [*calls, "a = other and not (near(?z, 3) and ?z > 1)"]
    where = shard_of(split(of_texts(negated), 3))
    assert where[100] == where[3]


def zipf(values: int, count: int, seed: int) -> list[int]:
    weights = 1 / np.arange(1, values + 1)
    draw = np.random.default_rng(seed).choice(values, count, p=weights / weights.sum())
    return list(draw.tolist())


def test_popular_values_are_cut_and_parts_are_fair() -> None:
    """Most of the work is one value's: it is cut, and others fill up what is left."""
    texts = [f"brand = v{value} and price < {n}" for n, value in enumerate(zipf(200, 2_000, 1))]
    brands = [f"v{value}" for value in zipf(200, 500, 2)]
    sample = pa.RecordBatch.from_pydict({"brand": brands, "price": list(range(500))})
    asked = of_texts(texts, sample)
    for shards in (2, 3, 8):
        assert max(balance(asked, split(asked, shards))) < 1.1
    assert balance(asked, split(asked, 1)) == pytest.approx((1, 1))


def test_all_on_one_value_are_cut() -> None:
    sample = pa.RecordBatch.from_pydict({"brand": ["v"], "price": [1]})
    asked = of_texts([f"brand = v and price < {n}" for n in range(1_000)], sample)
    assert max(balance(asked, split(asked, 3))) < 1.01


def test_more_shards_than_subscriptions() -> None:
    parts = split(of_texts(["a = 1", "a = 2"]), 4)
    assert sorted(map(len, parts)) == [0, 0, 1, 1]


def test_a_split_into_nothing_is_refused() -> None:
    with pytest.raises(SensewireError, match=r"a split into 0 shards: expected 1 or more"):
        split(of_texts(["a = 1"]), 0)


def test_bytes_follow_what_an_index_keeps() -> None:
    """Roughly: a test of one's own costs more than one that others have too."""
    shared, own, listed, large = of_texts(
        ["a = 1", "a = 2", "a in (3, 4, 5, 6)", "a = 1 and a = 2 and b < 7 and c > 9"]
    ).bytes.tolist()
    assert shared < listed
    assert own < listed < large
