"""Compiled indexes, and engines that follow the changes since: whoever stands gets the event.

The law: whatever came and went and was compiled, in whichever order, an event gets the answer that
the definition gives: those that stood for it and whose text matches by the oracle.
"""

import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.event import Event
from sensewire.store.batches import commit, pin
from sensewire.store.database import CHANGE, LOG, Store, head, microseconds
from sensewire.store.indexing import (
    CHANGE_ORDER,
    LOG_ORDER,
    IndexVersion,
    compile_index,
    increment,
    newest,
    sample_of,
)
from sensewire.store.knowing import know, knowledge_of
from sensewire.store.ledger import Ledger
from sensewire.store.subscribing import (
    CANCELLED,
    LIVE,
    REFUSED,
    Asked,
    listed,
    subscribe,
    unsubscribe,
)
from sensewire.tenures import LiveEngine, Tenures
from tests.store.making import NOW, emptied, found, published, subscribed, wish

TEXTS = [
    "price < 5",
    "price >= 5",
    "colour = red",
    "not colour = red",
    "price < 5 or colour = blue",
    "select ?x where price = ?x and weight = ?x",
]
RECORDS: list[dict[str, object]] = [
    {"price": 1, "colour": "red"},
    {"price": 5, "weight": 5},
    {"price": 9, "colour": "blue"},
    {"colour": "green"},
]
EVENTS = [Event.record(each, id=str(place)) for place, each in enumerate(RECORDS)]
HOURS = [NOW + timedelta(hours=hour) for hour in range(3)]


def oracle_matches() -> set[tuple[str, int]]:
    """Which text matches which record, by the definition."""
    engine = Engine(matcher="oracle")
    for text in TEXTS:
        engine.add(parse(text), id=text)
    return {
        (match.subscription, place)
        for place, event in enumerate(EVENTS)
        for match in engine.match(event)
    }


MATCHES = oracle_matches()


@dataclass(frozen=True, slots=True)
class Sent:
    """An event that was sent: its place in the order, and the change that was newest then."""

    record: int
    place: int
    arrival: int
    change: int


@dataclass(frozen=True, slots=True)
class Made:
    """An index version, and how many events were committed when it was made."""

    version: IndexVersion
    committed: int


@dataclass(slots=True)
class History:
    """What happens to a store and to one query of it, step by step."""

    store: Store
    folder: Path
    order: str
    sent: list[Sent] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    named: int = 0
    live: list[str] = field(default_factory=list)
    committed: int = 0
    batches: int = 0

    def subscribe(self, text: int, expires: int | None) -> None:
        self.named += 1
        id = f"s{self.named}"
        when = {} if expires is None else {"expires": HOURS[expires].isoformat()}
        subscribe(self.store, [wish(id, TEXTS[text], **when)], NOW)
        self.live.append(id)

    def unsubscribe(self, which: int) -> None:
        if self.live:
            unsubscribe(self.store, [self.live.pop(which % len(self.live))])

    def send(self, record: int, hour: int) -> None:
        """An event of the log; or, in the order of changes, a batch of one that is pinned."""
        arrival = microseconds(HOURS[hour])
        place = published(self.store, RECORDS[record], now=HOURS[hour]).start
        with self.store.reading() as connection:
            change = head(connection, CHANGE)
        if self.order == CHANGE_ORDER:
            place = pin(self.store, "q", len(self.sent), "v", NOW).change
        self.sent.append(Sent(record, place, arrival, change))

    def commit(self, count: int) -> None:
        """Commit some of the events that were sent, the oldest first."""
        upto = min(self.committed + count, len(self.sent))
        if self.order == CHANGE_ORDER:
            for batch in range(self.committed, upto):
                self._commit(batch, None)
        elif upto > self.committed:
            self._commit(self.batches, self.sent[upto - 1].place)
            self.batches += 1
        self.committed = upto

    def _commit(self, batch: int, position: int | None) -> None:
        pinned = pin(self.store, "q", batch, "v", NOW)
        commit(self.store, pinned, found([]), Ledger("q"), NOW, position=position)

    def compile(self) -> None:
        version = compile_index(self.store, "q", self.folder, self.order, NOW)
        self.made.append(Made(version, self.committed))

    def expected(self, asked: list[Asked], event: Sent) -> set[int]:
        """Who gets an event, as the definition says."""
        return {
            each.key
            for each in asked
            if (each.text, event.record) in MATCHES
            and (each.expires is None or event.arrival < each.expires)
            and (
                each.since < event.place and (each.until is None or event.place <= each.until)
                if self.order == LOG_ORDER
                else each.added <= event.place
                and (each.removed is None or event.place < each.removed)
            )
        }


def answers(live: LiveEngine, sent: list[Sent]) -> list[set[int]]:
    """Who gets each event, by an engine at a change."""
    table = live.engine.match_events([EVENTS[each.record] for each in sent]).matches
    events = table.column("event").to_numpy()
    keys = live.keys(table.column("subscription"))
    place = np.array([each.place for each in sent], np.int64)
    arrival = np.array([each.arrival for each in sent], np.int64)
    stays = live.tenures.live(keys, place[events], arrival[events])
    result: list[set[int]] = [set() for _ in sent]
    for event, key in zip(events[stays].tolist(), keys[stays].tolist(), strict=True):
        result[event].add(key)
    return result


def opened(folder: Path, version: IndexVersion) -> LiveEngine:
    engine = Engine.open(folder, version=version.version, as_it_is=True)
    return LiveEngine(engine, Tenures(engine.beside or None), version.change)


def check(history: History, made: Made) -> None:
    """A version answers all that was not committed when it was made: followed step by step, and
    at once up to the newest change."""
    store = history.store
    with store.reading() as connection:
        asked = list(listed(connection, [f"s{number + 1}" for number in range(history.named)]))
        last = head(connection, CHANGE)
    sent = history.sent[made.committed :]
    expected = [history.expected(asked, each) for each in sent]
    slow = opened(history.folder, made.version)
    for each, who in zip(sent, expected, strict=True):
        if each.change > slow.change:
            with store.reading() as connection:
                more = increment(connection, slow.change, each.change, history.order)
            slow.advance([more, more])  # who gets it twice takes it once
        assert answers(slow, [each]) == [who]
    assert answers(slow, sent) == expected
    quick = opened(history.folder, made.version)
    with store.reading() as connection:
        quick.advance([increment(connection, quick.change, last, history.order)])
    assert answers(quick, sent) == expected
    assert slow.refused == quick.refused == {}


Step = tuple[object, ...]
GOES: list[Step] = [(History.unsubscribe, 0), (History.send, 0, 0)]


def steps() -> SearchStrategy[list[Step]]:
    return st.lists(
        st.one_of(
            st.tuples(
                st.just(History.subscribe),
                st.integers(0, len(TEXTS) - 1),
                st.sampled_from([None, None, 1, 2]),
            ),
            st.tuples(st.just(History.unsubscribe), st.integers(0, 5)),
            st.tuples(st.just(History.send), st.integers(0, len(RECORDS) - 1), st.integers(0, 2)),
            st.tuples(st.just(History.commit), st.integers(1, 3)),
            st.tuples(st.just(History.compile)),
        ),
        min_size=1,
        max_size=18,
    )


@pytest.mark.parametrize("order", [LOG_ORDER, CHANGE_ORDER])
@settings(
    max_examples=max(1, settings().max_examples // 2),  # each compiles several times
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(steps=[(History.send, 0, 0), (History.subscribe, 0, None)])
@example(steps=[(History.subscribe, 0, 1), (History.send, 0, 1), (History.unsubscribe, 0)])
@example(steps=[(History.subscribe, 0, None), (History.compile,), *GOES, (History.send, 0, 0)])
@example(steps=[(History.compile,), (History.subscribe, 0, None), (History.send, 0, 0), *GOES])
@given(steps=steps())
def test_whoever_stood_for_an_event_gets_it_from_any_index(
    store: Store, order: str, steps: list[Step]
) -> None:
    emptied(store)
    with TemporaryDirectory() as place:
        history = History(store, Path(place) / "index", order)
        for act, *arguments in steps:
            assert callable(act)
            act(history, *arguments)
        history.compile()
        for made in history.made[-2:]:  # older ones are gone from the folder
            check(history, made)


def states(store: Store) -> dict[str, tuple[str, str | None]]:
    with store.reading() as connection:
        return {each.id: (each.state, each.reason) for each in listed(connection)}


def compiled(store: Store, folder: Path, order: str = LOG_ORDER, now: datetime = NOW) -> Engine:
    version = compile_index(store, "q", folder, order, now)
    with store.reading() as connection:
        version_of = knowledge_of(connection).version
        assert newest(connection, "q", version_of) == version
        assert version.change == head(connection, CHANGE)
    engine = Engine.open(folder, version=version.version)
    assert version.subscriptions == len(engine.ids())
    return engine


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Knowledge in which jaguar has two meanings."""
    path = tmp_path_factory.mktemp("ambiguous")
    (path / "one.yaml").write_text("hierarchy: {jaguar: cat}\n")
    (path / "two.yaml").write_text("hierarchy: {jaguar: car}\n")
    return Knowledge.load(path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Knowledge in which it has one."""
    path = tmp_path_factory.mktemp("plain")
    (path / "one.yaml").write_text("hierarchy: {jaguar: cat}\n")
    return Knowledge.load(path)


def test_what_knowledge_makes_ambiguous_is_refused_and_the_rest_stands(
    store: Store, tmp_path: Path, ambiguous: Knowledge, plain: Knowledge
) -> None:
    subscribe(store, [wish("a", "x = jaguar"), wish("b", "x = cat"), wish("c", "y = 1")], NOW)
    know(store, ambiguous, NOW)
    engine = compiled(store, tmp_path / "index")
    assert engine.ids() == ["2", "3"]
    state, reason = states(store)["a"]
    assert state == REFUSED
    assert reason is not None
    assert "'jaguar' has 2 meanings" in reason
    assert (states(store)["b"], states(store)["c"]) == ((LIVE, None), (LIVE, None))
    know(store, plain, NOW)
    engine = compiled(store, tmp_path / "index")
    assert engine.ids() == ["1", "2", "3"]
    assert states(store)["a"] == (LIVE, None)
    event = Event.record({"x": "jaguar"})
    assert [match.subscription for match in engine.match(event)] == ["1", "2"]
    unsubscribe(store, ["a"])
    with store.reading() as connection:
        assert [each.state for each in listed(connection, ["a"])] == [CANCELLED]


def test_a_refusal_in_an_increment_is_told_and_the_rest_is_taken(
    store: Store, tmp_path: Path, ambiguous: Knowledge
) -> None:
    know(store, ambiguous, NOW)
    version = compile_index(store, "q", tmp_path / "index", LOG_ORDER, NOW)
    subscribe(store, [wish("a", "x = jaguar"), wish("b", "x = cat")], NOW)
    live = opened(tmp_path / "index", version)
    with store.reading() as connection:
        live.advance([increment(connection, version.change, 1, LOG_ORDER)])
    assert live.engine.ids() == ["2"]
    assert list(live.refused) == [1]
    assert "2 meanings" in live.refused[1]


def test_knowledge_is_kept_by_version_and_said_once(
    store: Store, ambiguous: Knowledge, plain: Knowledge
) -> None:
    with store.reading() as connection:
        assert knowledge_of(connection).version == Knowledge().version
    for each in (plain, plain, ambiguous, plain):
        know(store, each, NOW)
        with store.reading() as connection:
            assert knowledge_of(connection).version == each.version
            assert knowledge_of(connection).content == each.content


def test_an_index_of_other_knowledge_is_not_the_newest(
    store: Store, tmp_path: Path, plain: Knowledge
) -> None:
    first = compile_index(store, "q", tmp_path / "index", LOG_ORDER, NOW)
    with store.reading() as connection:
        assert newest(connection, "q", Knowledge().version) == first
        assert newest(connection, "q", plain.version) is None
        assert newest(connection, "other", Knowledge().version) is None
    know(store, plain, NOW)
    second = compile_index(store, "q", tmp_path / "index", LOG_ORDER, NOW - timedelta(days=1))
    with store.reading() as connection:
        assert newest(connection, "q", plain.version) == second
    third = compile_index(store, "q", tmp_path / "index", LOG_ORDER, NOW - timedelta(days=2))
    with store.reading() as connection:
        assert newest(connection, "q", plain.version) == third
        assert newest(connection, "q", Knowledge().version) is None  # its folder is gone


def test_what_expired_long_ago_is_left_out_and_what_did_lately_is_not(
    store: Store, tmp_path: Path
) -> None:
    for days in (29, 31):
        expired = (NOW - timedelta(days=days)).isoformat()
        subscribe(store, [wish(f"expired {days} days ago", expires=expired)], NOW)
    subscribe(store, [wish("later", expires=(NOW + timedelta(days=1)).isoformat())], NOW)
    engine = compiled(store, tmp_path / "index")
    assert engine.ids() == ["1", "3"]
    tenures = Tenures(engine.beside)
    keys = np.array([1, 3])
    order = np.array([1, 1])
    now = np.full(2, microseconds(NOW))
    assert tenures.live(keys, order, now).tolist() == [False, True]
    assert tenures.live(keys, order, now + 86_400_000_000).tolist() == [False, False]
    assert tenures.live(keys, order, now - 30 * 86_400_000_000).tolist() == [True, True]
    assert compiled(store, tmp_path / "index", now=NOW + timedelta(days=60)).ids() == []


def test_what_went_before_all_that_is_left_to_match_is_left_out(
    store: Store, tmp_path: Path
) -> None:
    subscribed(store, "anna", "bert")
    published(store, {"a": 1}, {"a": 2})
    unsubscribe(store, ["anna"])
    assert compiled(store, tmp_path / "index").ids() == ["1", "2"]
    pinned = pin(store, "q", 0, "v", NOW)
    commit(store, pinned, found([]), Ledger("q"), NOW, position=2)
    assert compiled(store, tmp_path / "index").ids() == ["2"]


@pytest.mark.parametrize("gone", ["version", "all"])
def test_an_index_whose_folder_vanished_is_made_from_the_store_alone(
    store: Store, tmp_path: Path, gone: str
) -> None:
    folder = tmp_path / "index"
    subscribed(store, "anna")
    first = compile_index(store, "q", folder, LOG_ORDER, NOW)
    shutil.rmtree(folder / first.version if gone == "version" else folder)
    subscribed(store, "bert")
    engine = compiled(store, folder)
    assert engine.ids() == ["1", "2"]
    assert [match.subscription for match in engine.match(Event.record({"price": 1}))] == ["1", "2"]


def test_an_index_is_planned_by_a_sample_of_records(store: Store, tmp_path: Path) -> None:
    subscribed(store, "anna")
    assert sample_of([], NOW) is None
    assert sample_of([b"no JSON"], NOW) is None
    sample = sample_of([b'{"price": 1}', b"no JSON", b'{"price": 2}'], NOW)
    assert sample is not None
    assert len(sample.sample) == 2
    made = compile_index(store, "q", tmp_path / "index", LOG_ORDER, NOW, sample)
    assert made.planned
    with store.reading() as connection:
        assert newest(connection, "q", Knowledge().version) == made
        assert head(connection, LOG) == 0
