"""Engines that learned from a history: other plans, the same answers."""

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.match import layered
from sensewire.match.compiled import sample as sampling
from sensewire.match.compiled.segment import compiled
from sensewire.match.layered import Layered
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.learned import Learned
from sensewire.saving import opened_folder

SUBSCRIPTIONS = 4_000


def prices(count: int, seed: int) -> Iterator[dict[str, int]]:
    """Nearly all prices are low, whatever subscriptions ask for."""
    draw = random.Random(seed)
    for _ in range(count):
        yield {"price": int(abs(draw.gauss(0, 1)) * 100), "size": draw.randrange(1_000_000)}


HISTORY = Learned(2_000, 0, (), tuple(Event.record(each) for each in prices(2_000, 1)))

HIGH = Learned(
    2_000, 0, (), tuple(Event.record({"price": 99_999, "size": 1}) for _ in range(2_000))
)


def asked(engine: Engine) -> Engine:
    """With subscriptions of which half of the conditions seem likely, until events are known."""
    draw = random.Random(2)
    for _ in range(SUBSCRIPTIONS):
        low, high = draw.randrange(300, 100_000), draw.randrange(1_000_000)
        engine.add(parse(f"price > {low} and size < {high}"))
    return engine


def matcher_of(engine: Engine) -> Layered:
    matcher = engine._dispatch.of_facts
    assert isinstance(matcher, Layered)
    return matcher


def answers(engine: Engine) -> list[dict[str, object]]:
    batch = pa.RecordBatch.from_pylist([*prices(200, 3), {"price": 99_000, "size": 5}])
    found = engine.match_batch(batch).matches.select(["event", "subscription"]).to_pylist()
    assert found
    return found


def test_the_plan_is_another_and_the_answers_are_not(tmp_path: Path) -> None:
    blind = asked(Engine())
    before = Engine()
    before.learn(HISTORY)
    asked(before)
    after = asked(Engine())
    assert answers(after) == answers(blind)
    after.learn(HISTORY)
    matcher_of(after).settle()
    asked(saved := Engine())
    saved.save(tmp_path, HISTORY)
    opened = Engine.open(tmp_path)
    # Clauses that nothing rare leads to are tried for many events.
    assert blind.statistics().without_pivot > SUBSCRIPTIONS / 10
    for engine in (before, after, opened):
        assert engine.statistics().without_pivot == 0
        assert answers(engine) == answers(blind)
    assert matcher_of(opened)._segments[0].planned_with == 2_000


def test_what_was_saved_blindly_is_planned_when_it_is_saved_again(tmp_path: Path) -> None:
    asked(Engine()).save(tmp_path)
    engine = Engine.open(tmp_path)
    assert engine.statistics().without_pivot > 0
    engine.save(tmp_path, HISTORY)
    assert Engine.open(tmp_path).statistics().without_pivot == 0


def test_an_index_that_was_planned_blindly_is_planned_anew_unless_it_is_to_stay_as_it_is(
    tmp_path: Path,
) -> None:
    asked(Engine()).save(tmp_path)
    batch = pa.RecordBatch.from_pylist([*prices(layered.ENOUGH, 4)])
    opened, shared = Engine.open(tmp_path), Engine.open(tmp_path, as_it_is=True)
    for engine in (opened, shared):
        assert not engine.is_planned
        engine.match_batch(batch)
        matcher_of(engine).settle()
    assert opened.is_planned
    assert not shared.is_planned
    assert answers(shared) == answers(opened)
    shared.learn(HISTORY)  # who says so is heard
    matcher_of(shared).settle()
    assert shared.is_planned


def test_few_subscriptions_need_no_plan() -> None:
    engine = Engine()
    for number in range(layered.UNPLANNED):
        engine.add(parse(f"price > {number}"))
    assert engine.is_planned
    engine.add(parse("price > 1000000"))
    assert not engine.is_planned
    matcher_of(engine).settle()
    assert not engine.is_planned
    engine.learn(HISTORY)
    matcher_of(engine).settle()
    assert engine.is_planned


def test_a_later_lesson_takes_the_place_of_the_first() -> None:
    engine = asked(Engine())
    engine.learn(HISTORY)
    matcher_of(engine).settle()
    assert engine.statistics().without_pivot == 0
    engine.learn(HIGH)
    matcher_of(engine).settle()
    assert matcher_of(engine)._segments[0].planned_with == 2_000
    assert engine.statistics().without_pivot > SUBSCRIPTIONS / 2


def test_a_lesson_that_comes_while_a_segment_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.learn(HIGH)
    asked(engine)
    lessons = [HISTORY]

    def interrupted(*arguments: object) -> object:
        if lessons:
            engine.learn(lessons.pop())
        return compiled(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(layered, "compiled", interrupted)
    matcher_of(engine).settle()
    assert engine.statistics().without_pivot == 0


def test_a_folder_keeps_no_more_events_than_a_sample_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST", 100)
    asked(Engine()).save(tmp_path, HISTORY)
    assert opened_folder(tmp_path).arrays["sample.events"].tolist() == [100]
    assert matcher_of(Engine.open(tmp_path))._segments[0].planned_with == 2_000


def test_events_that_were_learned_are_not_seen() -> None:
    engine = asked(Engine())
    engine.learn(HISTORY)
    assert engine.statistics().events == 0


def test_what_is_asked_for_after_learning_is_planned_too() -> None:
    """Also where attributes come one after the other."""
    engine = Engine()
    engine.learn(HISTORY)
    matcher = matcher_of(engine)
    assert len(matcher._expected().property) == 0
    engine.add(parse("price = 5"))
    assert len(matcher._expected().property) == 2_000
    engine.add(parse("size = 5"))
    assert len(matcher._expected().property) == 4_000


def test_derived_facts_are_learned(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(
        "mappings:\n  - {name: double, inputs: [price], outputs: {twice: 'price * 2'}}\n"
    )
    engine = Engine(Knowledge.load(tmp_path / "k.yaml"))
    engine.add(parse("twice > 5"))
    engine.learn(HISTORY)
    assert len(matcher_of(engine)._expected().property) == 2_000


def test_what_is_no_statistics_is_refused() -> None:
    with pytest.raises(SensewireError, match="a dict is no statistics; read them with load_lear"):
        Engine().learn({})  # type: ignore[arg-type]


def test_a_matcher_that_does_not_plan_learns_nothing() -> None:
    engine = Engine(matcher="oracle")
    engine.add(parse("price = 5"), id="a")
    engine.learn(HISTORY)
    assert [match.subscription for match in engine.match(Event.record({"price": 5}))] == ["a"]


@given(
    first=st.sampled_from(["learn", "add", "match"]),
    history=st.lists(st.integers(0, 9), max_size=5),
)
def test_no_history_changes_answers(first: str, history: list[int]) -> None:
    texts = [f"a = {number % 4} and b > {number}" for number in range(12)]
    lesson = Learned(9, 0, (), tuple(Event.record({"a": n % 3, "b": n}) for n in history))
    sent = [Event.record({"a": number % 5, "b": number}) for number in range(15)]
    plain, taught = Engine(), Engine()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("UNPLANNED", "ENOUGH"):
            patch.setattr(layered, name, 2)
        if first == "learn":
            taught.learn(lesson)
        for number, text in enumerate(texts):
            for engine in (plain, taught):
                engine.add(parse(text), id=str(number))
        if first == "match":
            taught.match(sent[0])
        taught.learn(lesson)
        for event in sent:
            assert taught.match(event) == plain.match(event)
        matcher_of(taught).settle()
        assert [taught.match(event) for event in sent] == [plain.match(event) for event in sent]
