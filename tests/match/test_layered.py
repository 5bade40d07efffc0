"""Live updates over segments: whatever comes and goes, and whenever segments are merged.

A machine adds, removes, matches, saves and opens in any order, with the oracle for a model and with
limits so low that nearly every step compiles or merges. Merges run when the machine says so: then
the same steps always give the same answers. Real threads are tried apart.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match import layered
from sensewire.match.compiled import values
from sensewire.match.layered import Layered
from sensewire.model.batch import Batch
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription
from sensewire.testing.events import events
from tests.answers import (
    ATTRIBUTES,
    OPERATORS,
    TERMS,
    any_knowledge,
    any_record,
    any_subscription,
    ids,
    of_predicates,
    told,
    told_in_batch,
)

names = st.sampled_from([f"s{number}" for number in range(12)])


def of(engine: Engine) -> Layered:
    """The compiled matcher of an engine."""
    first = engine._dispatch.matchers[0]
    assert isinstance(first, Layered)
    return first


class Later:
    """A thread that works when somebody waits for it: a merge that takes as long as one likes."""

    def __init__(
        self, target: Callable[..., None], args: tuple[Any, ...] = (), **_: object
    ) -> None:
        self._work: Callable[[], None] | None = lambda: target(*args)

    def start(self) -> None:
        pass

    def is_alive(self) -> bool:
        return self._work is not None

    def join(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            work()


def limited(
    patch: pytest.MonkeyPatch, *, small: int, growth: int, most: int, later: bool = True
) -> None:
    """Let segments be merged all the time."""
    patch.setattr(layered, "SMALL", small)
    patch.setattr(layered, "GROWTH", growth)
    patch.setattr(layered, "MOST_SEGMENTS", most)
    patch.setattr(layered, "UNPLANNED", 1)
    patch.setattr(values, "MOST_WORDS", 20)
    if later:
        fake = SimpleNamespace(Thread=Later, RLock=threading.RLock, Lock=threading.Lock)
        patch.setattr(layered, "threading", fake)


class Living(RuleBasedStateMachine):
    """An engine that lives, beside an oracle that is told the same."""

    @initialize(
        known=any_knowledge,
        small=st.integers(0, 6),
        growth=st.integers(1, 4),
        most=st.integers(1, 3),
    )
    def begin(self, known: Knowledge, small: int, growth: int, most: int) -> None:
        self.patch = pytest.MonkeyPatch()
        limited(self.patch, small=small, growth=growth, most=most)
        self.folder = TemporaryDirectory()
        self.engine = Engine(known, operators=OPERATORS)
        self.model = Engine(known, matcher="oracle", operators=OPERATORS)

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()
            self.folder.cleanup()

    @rule(name=names, subscription=any_subscription)
    def add(self, name: str, subscription: Subscription) -> None:
        assert self._said(self.engine.add, subscription, name) == self._said(
            self.model.add, subscription, name
        )

    @rule(several=st.lists(st.tuples(names, of_predicates), min_size=1, max_size=6))
    def add_many(self, several: list[tuple[str, Subscription]]) -> None:
        for name, subscription in several:
            self.add(name, subscription)

    @rule(several=st.lists(names, min_size=1, max_size=4))
    def remove(self, several: list[str]) -> None:
        for name in several:
            assert self._said(self.engine.remove, name) == self._said(self.model.remove, name)

    @rule(event=events(ATTRIBUTES, TERMS))
    def match(self, event: Event) -> None:
        assert told(self.engine, event) == told(self.model, event)

    @rule(records=st.lists(any_record, max_size=4))
    def match_batch(self, records: list[dict[str, object]]) -> None:
        texts = [written(record) for record in records]
        batch = pa.RecordBatch.from_arrays([pa.array(texts, pa.binary())], ["json"])
        alone = [
            told(self.model, Event.record(record, id=f"row {row}"))
            for row, record in enumerate(records)
        ]
        assert told_in_batch(self.engine, batch) == alone

    @rule()
    def settle(self) -> None:
        of(self.engine).settle()

    @rule(name=names, record=any_record)
    def explain(self, name: str, record: dict[str, object]) -> None:
        event = Event.record(record, id="e")
        assert self._said(self._explained, self.engine, name, event) == self._said(
            self._explained, self.model, name, event
        )

    @rule()
    def save_and_open(self) -> None:
        self.engine.save(self.folder.name)
        self.engine = Engine.open(self.folder.name, operators=OPERATORS)

    @invariant()
    def as_many_stand(self) -> None:
        if hasattr(self, "engine"):
            mine, other = self.engine.statistics(), self.model.statistics()
            assert mine.subscriptions == other.subscriptions

    @staticmethod
    def _explained(engine: Engine, name: str, event: Event) -> str:
        return str(engine.explain(name, event))

    @staticmethod
    def _said(ask: Callable[..., object], *arguments: object) -> str:
        """What is answered, or refused."""
        try:
            return repr(ask(*arguments))
        except sw.SensewireError as error:
            return f"{type(error).__name__}: {error}"


def written(record: dict[str, object]) -> bytes:
    return json.dumps(record).encode()


TestLiving = Living.TestCase
TestLiving.settings = settings(stateful_step_count=14)


# Merges that are under way


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine whose merge has begun, and takes its time."""
    limited(monkeypatch, small=100, growth=2, most=1)
    engine = Engine()
    for count in (64, 16):
        for number in range(count):
            engine.add(sw.parse(f"a = {number} and not b = {count}"), id=f"{count}/{number}")
        engine.match(Event.record({"a": 1}))
    return engine


def all_of(engine: Engine) -> list[str]:
    return ids(engine.match(Event.record({"a": list(range(100))})))


def test_what_comes_while_a_merge_is_under_way_is_not_lost(crowded: Engine) -> None:
    before = all_of(crowded)
    assert of(crowded)._merging is not None
    for number in range(20):
        crowded.add(sw.parse(f"a = {number} and a exists"), id=f"new/{number}")
        assert len(all_of(crowded)) == len(before) + number + 1
    of(crowded).settle()
    assert all_of(crowded) == sorted([*before, *(f"new/{number}" for number in range(20))])
    of(crowded).settle()
    assert len(all_of(crowded)) == len(before) + 20


def test_what_goes_while_a_merge_is_under_way_stays_away(crowded: Engine) -> None:
    before = all_of(crowded)
    gone = before[::2]
    for id in gone:
        crowded.remove(id)
    assert all_of(crowded) == before[1::2]
    of(crowded).settle()
    assert all_of(crowded) == before[1::2]


def test_a_subscription_that_comes_again_while_a_merge_is_under_way(crowded: Engine) -> None:
    before = all_of(crowded)
    for id in before:
        crowded.remove(id)
        crowded.add(sw.parse("a = 99"), id=id)
    for _ in range(3):
        assert all_of(crowded) == before
        assert ids(crowded.match(Event.record({"a": 1}))) == []
        of(crowded).settle()


def test_a_merge_of_nothing(crowded: Engine) -> None:
    for id in all_of(crowded):
        crowded.remove(id)
    of(crowded).settle()
    assert all_of(crowded) == []
    crowded.add(sw.parse("a = 1"), id="one")
    assert all_of(crowded) == ["one"]


def test_segments_stay_few(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, small=4, growth=2, most=3, later=False)
    engine = Engine()
    for number in range(200):
        engine.add(sw.parse(f"a = {number}"), id=str(number))
        assert ids(engine.match(Event.record({"a": number}))) == [str(number)]
        of(engine).settle()
        assert len(of(engine)._segments) <= 4
    assert len(all_of(engine)) == 100


def test_what_is_gone_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, small=8, growth=2, most=3, later=False)
    engine = Engine()
    for number in range(100):
        engine.add(sw.parse(f"a = {number}"), id=str(number))
    all_of(engine)
    for number in range(95):
        engine.remove(str(number))
    of(engine).settle()
    held = sum(len(segment) for segment in of(engine)._segments)
    assert held <= 2 * 5 + 8 + 9  # as many again, and what is left until somebody looks
    assert all_of(engine) == ["95", "96", "97", "98", "99"]


def test_the_matcher_itself_leaves_out_what_went() -> None:
    """Not only because nobody subscribes to it any more."""
    engine = Engine()
    for text in ("a = 1", "a = 2", "select ?x where a = ?x"):
        engine.add(sw.parse(text), id=text)
    batch = Batch((Event.record({"a": [1, 2]}),))
    before = of(engine).match(batch)
    assert sorted(before.clauses.tolist()) == [0, 1]
    assert [answer.clause for _, answer in before.answers] == [2]
    engine.remove("a = 1")
    assert of(engine).match(batch).clauses.tolist() == [1]
    engine.remove("select ?x where a = ?x")
    assert of(engine).match(batch).answers == []


def test_a_clause_that_is_judged_is_kept_until_it_goes(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(sw.parse("select ?x where a = ?x"), id="one")
    engine.save(tmp_path / "index")
    for each in (engine, Engine.open(tmp_path / "index")):
        assert ids(each.match(Event.record({"a": 1}))) == ["one"]
        assert len(of(each)._judged) == 1
        each.remove("one")
        assert of(each)._judged == {}


# Threads


@pytest.fixture
def hectic() -> Iterator[None]:
    """Threads that take turns all the time, so that whatever can go wrong does so soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


TEXTS = [f"{number} is a long value " * 12 for number in range(8)]
RECORD: dict[str, object] = {
    **{f"k{number}": text for number, text in enumerate(TEXTS)},
    "n": list(range(40)),
}
EACH = 150


def question(thread: int, number: int) -> str:
    """Questions about the record, for attributes, words and lengths that were not asked before."""
    key, text = f"k{number % 8}", TEXTS[number % 8]
    return (
        f"n >= {number / 7} or new{thread}x{number} = 1",
        f"{key} = '{text}' and not new{thread}x{number} exists",
        f"{key} suffix '{text[number:]}' and n = {number % 40}",
        f"{key} contains '{text[: 1 + number]}' or n > {thread + number}",
        f"select ?x where n = ?x and {key} exists",
        f"(home, {key}, ?x) and n < {number}",
    )[number % 6]


class Crowd:
    """Threads that add and remove, each its own ids; every third one goes at once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.standing: set[str] = set()
        self.removed: set[str] = set()
        self.lock = threading.Lock()
        self.errors: list[Exception] = []
        self.threads = [threading.Thread(target=self._live, args=(each,)) for each in range(2)]

    def _live(self, thread: int) -> None:
        try:
            for number in range(EACH):
                id = f"{thread}/{number}"
                self.engine.add(sw.parse(question(thread, number)), id=id)
                if number % 3:
                    with self.lock:
                        self.standing.add(id)
                else:
                    self.engine.remove(id)
                    with self.lock:
                        self.removed.add(id)
        except Exception as error:
            self.errors.append(error)


def test_threads_that_subscribe_while_others_match(
    monkeypatch: pytest.MonkeyPatch, hectic: None
) -> None:
    limited(monkeypatch, small=16, growth=2, most=2, later=False)
    engine, model = Engine(), Engine(matcher="oracle")
    for thread in range(2):
        for number in range(EACH):
            model.add(sw.parse(question(thread, number)), id=f"{thread}/{number}")
    event = Event.record(RECORD, id="row 0")
    batch = pa.RecordBatch.from_arrays([pa.array([written(RECORD)], pa.binary())], ["json"])
    met = set(ids(model.match(event)))
    crowd = Crowd(engine)
    for each in crowd.threads:
        each.start()
    while any(each.is_alive() for each in crowd.threads):
        for way in (
            lambda: ids(engine.match(event)),
            lambda: engine.match_batch(batch).matches.column("subscription").to_pylist(),
        ):
            with crowd.lock:
                before, removed = set(crowd.standing), set(crowd.removed)
            found = set(way())
            assert before & met <= found
            assert not found & removed
            assert found <= met
    for each in crowd.threads:
        each.join()
    assert crowd.errors == []
    for thread in range(2):
        for number in range(0, EACH, 3):
            model.remove(f"{thread}/{number}")
    for _ in range(2):
        assert told(engine, event) == told(model, event)
        assert told_in_batch(engine, batch) == [told(model, event)]
        of(engine).settle()


def test_threads_that_ask_for_ever_new_lengths_and_attributes(hectic: None) -> None:
    """What is tried on values, and what attributes there are, changes while others look there."""
    engine = Engine()
    engine.add(sw.parse("a contains 'word'"), id="word")
    asked = [0, 0]
    errors: list[Exception] = []
    ending = threading.Event()

    def ask(thread: int) -> None:
        relation = ("suffix", "contains")[thread]
        try:
            while not ending.is_set():
                number = asked[thread]
                text = "y" * (number + 1)
                engine.add(sw.parse(f"a {relation} '{text}' or b{thread}x{number} exists"))
                asked[thread] += 1
                ending.wait(0.001)
        except Exception as error:
            errors.append(error)

    def look(number: int) -> None:
        record: dict[str, object] = {"a": [f"word {number} {other}" for other in range(5)]}
        assert ids(engine.match(Event.record(record))) == ["word"]
        batch = pa.RecordBatch.from_arrays([pa.array([written(record)], pa.binary())], ["json"])
        assert told_in_batch(engine, batch) == [["word at 0: -"]]

    look(0)
    threads = [threading.Thread(target=ask, args=(each,)) for each in range(2)]
    for each in threads:
        each.start()
    try:
        for number in range(12):
            look(number)
    finally:
        ending.set()
        for each in threads:
            each.join()
    assert errors == []
    assert min(asked) > 3
    assert len(engine.match(Event.record({"a": "y" * max(asked)}))) == sum(asked)
    assert len(engine.match(Event.record({f"b0x{asked[0] - 1}": 1, "b1x0": 1}))) == 2


# Words that are forgotten


def test_words_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_WORDS", 10)
    engine = Engine()
    engine.add(sw.parse("a = w7"), id="seven")
    engine.add(sw.parse("a suffix '5'"), id="five")
    engine.add(sw.parse("not a = w3"), id="not three")
    for _ in range(2):
        for number in range(40):
            expected = [
                *(["five"] if number % 10 == 5 else []),
                *(["not three"] if number != 3 else []),
                *(["seven"] if number == 7 else []),
            ]
            assert ids(engine.match(Event.record({"a": f"w{number}"}))) == expected
            record: dict[str, object] = {"a": f"w{number}"}
            batch = pa.RecordBatch.from_arrays([pa.array([written(record)])], ["json"])
            assert told_in_batch(engine, batch) == [[f"{id} at 0: -" for id in expected]]
            assert len(of(engine)._values.words) <= 20
    engine.add(sw.parse("a = w9"), id="nine")
    assert ids(engine.match(Event.record({"a": ["w9", "w7", "w3"]}))) == ["nine", "seven"]


def test_saving_while_a_merge_is_under_way(crowded: Engine, tmp_path: Path) -> None:
    before = all_of(crowded)
    crowded.remove(before[0])
    crowded.add(sw.parse("a = 3"), id="late")
    crowded.save(tmp_path / "index")
    expected = sorted([*before[1:], "late"])
    assert all_of(Engine.open(tmp_path / "index")) == expected
    of(crowded).settle()
    assert all_of(crowded) == expected
