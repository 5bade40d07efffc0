"""The benchmark of records, in small: everything is measured, and a wrong answer ends the run.

Proved by breaking: a contender that forgets one match, an engine that forgets one, and slowdowns
turned upside down: each made a run or a test fail.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import records
from contenders import engine as whole
from contenders.compiled import COUNTING
from contenders.contender import Contender, Matching
from contenders.engine import Budget
from frame import LeftOut, Row, Settings, WrongAnswerError
from records import CONTENDERS, WITHOUT_KNOWLEDGE, Effort
from sensewire.engine import Engine
from sensewire.match.compiled.conjunctions import Entries, Int32
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.match import Matches
from workloads.workload import Workload

TINY = Effort((200, 400), 100, 0.01, 1, 3)
SETTINGS = Settings(quick=True, seed=1)


@pytest.fixture
def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_EVENTS", 200)
    monkeypatch.setattr(records, "_SAMPLE", 100)


def rows_of(found: Iterator[Row | LeftOut]) -> list[Row]:
    return [each for each in found if isinstance(each, Row)]


@pytest.mark.long
@pytest.mark.usefixtures("few_events")
def test_every_workload_and_contender_is_measured() -> None:
    effort = replace(TINY, sizes=(200,))
    rows = rows_of(records.measured_indexes(SETTINGS, effort))
    names = {contender.name for contender in CONTENDERS}
    for workload in records.workloads(1):
        for metric in ("build", "memory", "match"):
            found = {
                (row.contender, row.size)
                for row in rows
                if (row.workload, row.metric) == (workload, metric)
            }
            more = {WITHOUT_KNOWLEDGE} if workload == "meaning on Brick" else set()
            assert found == {(name, 200) for name in names | more}
    assert all(row.value > 0 for row in rows)


@pytest.mark.usefixtures("few_events")
@pytest.mark.long
def test_what_a_contender_cannot_stand_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(COUNTING, stands=300, beyond="it gets tired")
    monkeypatch.setattr(records, "CONTENDERS", (small,))
    found = [*records.measured_indexes(SETTINGS, TINY)]
    left_out = [each for each in found if isinstance(each, LeftOut)]
    assert len(left_out) == len(records.workloads(1))
    assert {(each.size, each.reason) for each in left_out} == {(400, "it gets tired")}


class Forgetful:
    """An index that leaves out one match of each call."""

    def __init__(self, index: Matching) -> None:
        self._index = index
        self.nbytes = index.nbytes

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        events, conjunctions = self._index.match(entries)
        kept = np.arange(len(events)) != np.flatnonzero(events == events[-1])[0]
        return events[kept], conjunctions[kept]


@pytest.mark.usefixtures("few_events")
def test_a_contender_that_is_wrong_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(workload: Workload) -> Matching:
        return Forgetful(COUNTING.build(workload))

    monkeypatch.setattr(records, "CONTENDERS", (Contender("forgetful", build),))
    effort = replace(TINY, checked=200)
    with pytest.raises(WrongAnswerError, match="forgetful answers event"):
        rows_of(records.measured_indexes(SETTINGS, effort))


def test_ratios_follow_from_rates() -> None:
    def rate(contender: str, size: int, value: float) -> Row:
        return Row("words", size, contender, "match", value, "events/s")

    rows = [rate("compiled", 10, 800.0), rate("compiled", 1_000, 400.0)]
    rows += [rate("compiled counting", 10, 80.0), rate("compiled counting", 1_000, 4.0)]
    found = {(row.contender, row.size, row.metric): row.value for row in records.derived(rows)}
    assert found == {
        ("compiled", 10, "match, over compiled counting"): 10.0,
        ("compiled", 1_000, "match, over compiled counting"): 100.0,
        ("compiled", 1_000, "slowdown from 10"): 2.0,
        ("compiled counting", 1_000, "slowdown from 10"): 20.0,
    }


def engine_rows(size: int = 100) -> tuple[set[str], list[LeftOut]]:
    found = [*whole.measured_engine(SETTINGS, size, Budget(40, 1.0, 1, 40))]
    rows = [each for each in found if isinstance(each, Row)]
    assert all(row.value > 0 for row in rows)
    return {row.metric for row in rows}, [each for each in found if isinstance(each, LeftOut)]


def test_the_engine_is_measured_as_far_as_it_can() -> None:
    metrics, left_out = engine_rows()
    assert {"parse", "add", "match, one by one", "remove"} < metrics
    cannot = {each.reason.partition(":")[0] for each in left_out}
    for metric in ("match_batch", "JSON to matches"):
        assert (metric in metrics) != (metric in cannot)


def test_what_the_engine_cannot_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(self: Engine, batch: object) -> None:
        raise SensewireError("this version cannot match an Arrow batch")

    monkeypatch.setattr(Engine, "match_batch", cannot)
    metrics, left_out = engine_rows()
    assert "match_batch" not in metrics
    assert [each.reason for each in left_out] == [
        "match_batch: this version cannot match an Arrow batch",
        "JSON to matches: this version cannot match an Arrow batch",
    ]


def test_another_error_of_the_engine_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Engine, batch: object) -> None:
        raise SensewireError("the batch has no columns")

    monkeypatch.setattr(Engine, "match_batch", fails)
    with pytest.raises(SensewireError, match="no columns"):
        engine_rows()


def test_an_engine_that_is_wrong_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Engine.match

    def forgetful(self: Engine, event: Event) -> Matches:
        return Matches(match(self, event)[1:])

    monkeypatch.setattr(Engine, "match", forgetful)
    with pytest.raises(WrongAnswerError, match=r"the engine \(match, one by one\) answers"):
        engine_rows(size=1_000)
