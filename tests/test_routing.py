"""Shards that are asked only about what is routed to them say what one engine of all says."""

import json
from collections.abc import Sequence
from itertools import filterfalse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.canonical import clauses_of
from sensewire.model.errors import EventError, IndexFolderError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.features import Feature, features_of
from sensewire.model.subscription import Conjunction, Predicate, Subscription
from sensewire.model.terms import term_of
from sensewire.routing import Router
from sensewire.sharding import measured, split
from sensewire.testing.events import events
from sensewire.testing.subscriptions import conditions, subscriptions, vocabulary
from tests.answers import (
    ATTRIBUTES,
    OPERATORS,
    TERMS,
    any_knowledge,
    any_record,
    any_subscription,
    is_added,
    told,
    told_in_batch,
)

asked_for = st.lists(any_subscription, min_size=1, max_size=6)
any_event = events(ATTRIBUTES, TERMS)
samples = st.none() | st.lists(any_event, max_size=4)


def calls_operators(subscription: Subscription) -> bool:
    return any(Feature.OPERATOR in features_of(clause) for clause in clauses_of(subscription))


class Cluster:
    """One engine of everything, and shards of it with a router."""

    def __init__(
        self,
        known: Knowledge,
        asked: Sequence[Subscription],
        shards: int,
        sample: Sequence[Event] | None = None,
    ) -> None:
        self.whole = Engine(known, operators=OPERATORS)
        names = [f"s{n}" for n, each in enumerate(asked) if is_added(self.whole, each, f"s{n}")]
        taken = [asked[int(name[1:])] for name in names]
        subscriptions = measured(taken, known, sample)
        parts = split(subscriptions, shards)
        self.router = Router.of(subscriptions, parts)
        self.shards = [Engine(known, operators=OPERATORS) for _ in parts]
        for shard, rows in zip(self.shards, parts, strict=True):
            for row in rows.tolist():
                shard.add(taken[row], id=names[row])

    def told(self, event: Event) -> list[str]:
        """What the shards say of an event, each if it is routed there."""
        try:
            found = self.router.engine.match(event)
        except EventError as error:
            return [f"rejected: {error}"]
        return sorted(
            line
            for shard in self.router.shards_of(found)
            for line in told(self.shards[shard], event)
        )

    def told_in_batch(self, batch: pa.RecordBatch) -> list[list[str]]:
        """What the shards say of the rows that are routed to them; the router says what is
        rejected."""
        found = self.router.engine.match_batch(batch)
        lines: list[list[str]] = [[] for _ in range(batch.num_rows)]
        for rejected in found.rejected.to_pylist():
            lines[rejected["event"]].append(f"rejected: {rejected['reason']}")
        routes = self.router.routes(found, batch.num_rows)
        for shard, rows in zip(self.shards, routes, strict=True):
            answers = told_in_batch(shard, batch.take(rows))
            for row, said in zip(rows.tolist(), answers, strict=True):
                lines[row] += said
        return [sorted(each) for each in lines]


@given(
    known=any_knowledge,
    asked=asked_for,
    sent=st.lists(any_event, min_size=1, max_size=4),
    shards=st.integers(1, 4),
    sample=samples,
)
def test_shards_together_say_what_one_engine_says(
    known: Knowledge,
    asked: list[Subscription],
    sent: list[Event],
    shards: int,
    sample: list[Event] | None,
) -> None:
    cluster = Cluster(known, asked, shards, sample)
    for event in sent:
        assert cluster.told(event) == told(cluster.whole, event)


@given(
    known=any_knowledge,
    asked=asked_for,
    sent=st.lists(any_record, min_size=1, max_size=4),
    shards=st.integers(1, 4),
)
def test_shards_together_say_of_a_batch_what_one_engine_says(
    known: Knowledge, asked: list[Subscription], sent: list[dict[str, object]], shards: int
) -> None:
    cluster = Cluster(known, asked, shards)
    texts = [json.dumps(record).encode() for record in sent] + [b"{"]
    batch = pa.RecordBatch.from_pydict({"json": texts})
    assert cluster.told_in_batch(batch) == told_in_batch(cluster.whole, batch)


@given(
    known=any_knowledge,
    asked=asked_for.map(lambda asked: [*filterfalse(calls_operators, asked)]),
    sent=st.lists(any_record, min_size=1, max_size=4),
    shards=st.integers(1, 4),
)
def test_a_router_counts_what_one_engine_counts(
    known: Knowledge, asked: list[Subscription], sent: list[dict[str, object]], shards: int
) -> None:
    """(Where only the oracle takes a clause, an engine does not count in its attributes.)"""
    cluster = Cluster(known, asked, shards)
    batch = pa.RecordBatch.from_pydict({"json": [json.dumps(record) for record in sent]})
    cluster.whole.match_batch(batch)
    cluster.router.engine.match_batch(batch)
    seen, expected = cluster.router.engine.statistics(), cluster.whole.statistics()
    assert seen.events == expected.events
    assert seen.ambiguous == expected.ambiguous
    assert seen.unknown == expected.unknown


@settings(max_examples=30)  # each writes and opens a folder
@given(
    known=any_knowledge,
    asked=asked_for,
    sent=st.lists(any_record, min_size=1, max_size=4),
    shards=st.integers(1, 4),
)
def test_a_router_that_was_saved_routes_alike(
    tmp_path_factory: pytest.TempPathFactory,
    known: Knowledge,
    asked: list[Subscription],
    sent: list[dict[str, object]],
    shards: int,
) -> None:
    router = Cluster(known, asked, shards).router
    path = tmp_path_factory.mktemp("router")
    router.save(path)
    opened = Router.open(path)
    assert opened.shards == shards
    batch = pa.RecordBatch.from_pydict({"json": [json.dumps(record) for record in sent]})
    expected = router.routes(router.engine.match_batch(batch), len(sent))
    found = opened.routes(opened.engine.match_batch(batch), len(sent))
    assert [rows.tolist() for rows in found] == [rows.tolist() for rows in expected]


KNOWN = """\
hierarchy: {laptop: computer, computer: device}
properties: {maker: brand}
mappings:
  - name: ratio
    inputs: [price]
    outputs: {quality: "1 / (price - price)"}
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path = tmp_path_factory.mktemp("known") / "known.yaml"
    path.write_text(KNOWN)
    return Knowledge.load(path)


RELATED = [*map(term_of, ("laptop", "computer", "device", 1, 2))]
NAMES = ["maker", "brand", "product", "price", "quality"]
WORDS = vocabulary(attributes=NAMES, terms=RELATED)
_near = st.lists(st.builds(Predicate, WORDS.attributes, conditions(WORDS)), min_size=1, max_size=2)
nearly: SearchStrategy[Subscription] = st.builds(
    Subscription,
    st.lists(_near.map(lambda atoms: Conjunction(tuple(atoms))), min_size=1, max_size=2).map(tuple),
    tolerance=st.sampled_from([None, 1.0, 2.0]),
)


@given(
    asked=st.lists(nearly | subscriptions(WORDS), min_size=1, max_size=6),
    sent=st.lists(events(NAMES, RELATED), min_size=1, max_size=6),
    shards=st.integers(2, 4),
)
def test_words_that_are_all_related(
    known: Knowledge, asked: list[Subscription], sent: list[Event], shards: int
) -> None:
    """Where nearly every word is above or below another, distances and failures are many."""
    cluster = Cluster(known, asked, shards)
    for event in sent:
        assert cluster.told(event) == told(cluster.whole, event)


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("product = computer", {"product": "laptop"}),
        ("product is a computer", {"product": "laptop"}),
        ("brand = Acer", {"maker": "Acer"}),
        ("product = laptop within 1", {"product": "computer"}),
        ("maker = Acer within 1", {"brand": "Acer"}),
        ("maker in (Acer, Dell) within 1", {"brand": "Acer"}),
        ("year < 5 within 1", {"year": 8}),
        ("quality = high", {"price": 1}),
        ("quality = ?x and ?x > 5", {"price": 1}),
        ("(home, quality, high) and (home, price, ?x)", {"price": 1}),
        ("(?x, price, 1)", {"price": 1}),
        ("not product = computer", {}),
        ("not quality = high", {"price": 1}),
        ("seen() and product = computer", {"product": "laptop"}),
        ("product = car or product = computer", {"product": "laptop"}),
    ],
)
def test_what_has_an_answer_is_routed(
    known: Knowledge, text: str, record: dict[str, object]
) -> None:
    """With others around, so that it has a shard of its own."""
    others = [f"other = o{n}" for n in range(4)]
    cluster = Cluster(known, [parse(each) for each in (text, *others)], 3)
    event = Event.record(record, id="e")
    answer = told(cluster.whole, event)
    assert answer
    assert cluster.told(event) == answer
    assert len(cluster.router.shards_of(cluster.router.engine.match(event))) == 1
    batch = pa.RecordBatch.from_pydict({"json": [json.dumps(record)]})
    assert cluster.told_in_batch(batch) == [answer]


@pytest.mark.parametrize(
    "text",
    [
        "(?x, price, 1)",
        "(?x, price, ?y) and ?y < 5 injective",
        "(<http://x.org/b>, price, 1)",
        "(?x, exactly <http://x.org/price>, exactly 1.0)",
        "(?x, type, computer)",
        "(?x, quality, high)",
        "(?x, ?y, <http://x.org/Laptop>)",
        "(<http://x.org/b>, <http://x.org/price>, ?y) strict",
        "(home, has, ?x) and (?x, price, 1)",
        "(home, has, <http://x.org/b>) injective",
        "(home, <http://x.org/has>, <http://x.org/b>) strict",
    ],
)
def test_what_is_said_of_other_vertices_is_routed(known: Knowledge, text: str) -> None:
    event = Event.rdf(
        """_:H <http://x.org/has> <http://x.org/b> .
        <http://x.org/b> <http://x.org/price> 1 .
        <http://x.org/b> a <http://x.org/Laptop> .""",
        "ttl",
        id="e",
    )
    cluster = Cluster(known, [parse(text), parse("other = 1"), parse("other = 2")], 3)
    answer = told(cluster.whole, event)
    assert answer
    assert cluster.told(event) == answer
    assert cluster.router.shards_of(cluster.router.engine.match(event)) == [
        shard for shard, engine in enumerate(cluster.shards) if told(engine, event)
    ]


@pytest.mark.parametrize("shards", [1, 3])
def test_strict_terms_that_equal_nothing_are_still_the_same(shards: int) -> None:
    """NaN is the same term as NaN to SPARQL's patterns, and equal to no number."""
    nan = '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>'
    asked = parse(f"(home, <http://x.org/p>, {nan}) strict")
    event = Event.rdf(f"_:H <http://x.org/p> {nan} .", id="e")
    cluster = Cluster(Knowledge(), [asked, parse("a = 1"), parse("a = 2")], shards)
    assert cluster.told(event) == told(cluster.whole, event) == ["s0 at 0: -"]


def test_an_event_goes_only_where_it_may_be_answered() -> None:
    asked = measured([parse(f"brand = b{n} and price < {n}") for n in range(90)])
    parts = split(asked, 3)
    router = Router.of(asked, parts)
    batch = pa.RecordBatch.from_pydict({"brand": [f"b{n}" for n in range(90)] + ["other"]})
    routes = router.routes(router.engine.match_batch(batch), 91)
    assert [rows.tolist() for rows in routes] == [rows.tolist() for rows in parts]


def test_rejected_rows_go_nowhere_and_are_told() -> None:
    asked = measured([parse("everything"), parse("a = 1")])
    router = Router.of(asked, split(asked, 2))
    found = router.engine.match_batch(pa.RecordBatch.from_pydict({"json": ["{", "{}"]}))
    assert sorted(rows.tolist() for rows in router.routes(found, 2)) == [[], [1]]
    assert found.rejected.column("event").to_pylist() == [0]


def test_attributes_of_all_are_watched_however_many() -> None:
    asked = measured([parse(f"a = 1 and b{n} > 1") for n in range(40)], sample=[])
    router = Router.of(asked, split(asked, 2))
    assert router.engine.statistics().subscriptions == 3 + 2 * 1
    found = router.engine.match_batch(pa.RecordBatch.from_pydict({"b7": [1]}))
    assert [len(rows) for rows in router.routes(found, 1)] == [0, 0]


def test_no_subscriptions_at_all(tmp_path: Path) -> None:
    nothing = measured([])
    router = Router.of(nothing, split(nothing, 2))
    router.save(tmp_path)
    router = Router.open(tmp_path)
    found = router.engine.match_batch(pa.RecordBatch.from_pydict({"a": [1]}))
    assert [rows.tolist() for rows in router.routes(found, 1)] == [[], []]
    assert router.shards_of(router.engine.match(Event.record({"a": 1}))) == []


def test_a_folder_of_something_else_is_no_router(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(parse("a = 1"), id="anna")
    engine.save(tmp_path)
    with pytest.raises(IndexFolderError, match=r"this is no router; expected what Router.save"):
        Router.open(tmp_path)


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path = tmp_path_factory.mktemp("ambiguous")
    (path / "one.yaml").write_text("hierarchy: {jaguar: cat}\n")
    (path / "two.yaml").write_text("hierarchy: {jaguar: car}\n")
    return Knowledge.load(path)


def test_a_word_of_two_meanings_is_refused_as_an_engine_refuses_it(ambiguous: Knowledge) -> None:
    asked = measured([parse("p = jaguar")], ambiguous)
    with pytest.raises(SubscriptionError, match="'jaguar' has 2 meanings"):
        Router.of(asked, [np.array([0])])


@pytest.mark.parametrize("also", ["animal != dog", "not animal = dog", "animal = ?x and ?x != dog"])
def test_words_are_counted_in_attributes_that_no_anchor_asks_for(
    ambiguous: Knowledge, also: str
) -> None:
    cluster = Cluster(ambiguous, [parse(f"brand = b and {also}"), parse("brand = c")], 2)
    batch = pa.RecordBatch.from_pydict({"animal": ["jaguar", "cat"], "else": ["jaguar", "jaguar"]})
    for engine in (cluster.whole, cluster.router.engine):
        engine.match_batch(batch)
        assert engine.statistics().ambiguous == {"jaguar": 1}


@pytest.mark.parametrize(
    "text",
    [
        "brand = b and animal != dog within 1",
        "(?x, animal, ?y) and ?y > 5",
        "(?x, ?y, 5)",
    ],
)
def test_words_are_counted_where_patterns_and_nearness_look(
    tmp_path: Path, ambiguous: Knowledge, text: str
) -> None:
    (tmp_path / "known.yaml").write_text("properties: {animal: creature}\n")
    words = [tmp_path.parent / "ambiguous0" / name for name in ("one.yaml", "two.yaml")]
    known = Knowledge.load(tmp_path / "known.yaml", *words)
    cluster = Cluster(known, [parse(text), parse("brand = c")], 2)
    batch = pa.RecordBatch.from_pydict({"animal": ["jaguar", "cat"], "creature": ["jaguar", "ox"]})
    for engine in (cluster.whole, cluster.router.engine):
        engine.match_batch(batch)
    seen = cluster.whole.statistics().ambiguous
    assert cluster.router.engine.statistics().ambiguous == seen
    assert seen["jaguar"] == 1 if "?y > 5" in text else 2
