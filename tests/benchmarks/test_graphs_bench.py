"""The benchmark of graphs, in small: everything is measured, and a wrong answer ends the run.

Proved by breaking: edges coded with their subjects for objects, facts of CLIPS not taken back, a
question of SPARQL without what keeps vertices apart, G-ToPSS without its first match, each check of
an answer left out, and ratios turned upside down: each was caught.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

import graphs
from contenders import graph_engine
from contenders.graph_clips import CLIPS
from contenders.graph_contender import Asked, GraphContender, GraphMatching
from contenders.graph_engine import GraphBudget
from contenders.graph_gtopss import GTOPSS
from contenders.graph_matches import ENGINE
from contenders.graph_ours import OURS
from contenders.graph_oxigraph import OXIGRAPH
from frame import LeftOut, Row, Settings, WrongAnswerError
from graphs import CONTENDERS, Effort
from sensewire.engine import Engine
from sensewire.model.event import Event
from sensewire.model.match import Matches
from tests.benchmarks.test_graph_workloads import DRAWN, TYPED
from workloads import graph_gtopss, graph_ops
from workloads.graph_truth import GraphTruth, refuse_difference
from workloads.graph_workload import GraphWorkload, Int32

BUDGET = GraphBudget(200, 60, 1)
TINY = Effort((100, 200), 200, 50, (50,), 1, 1, 1, 2, BUDGET)
SETTINGS = Settings(quick=True, seed=1)
PLAIN = [graph_gtopss.NAME, graph_gtopss.ALL_VARIABLE]


def answers(contender: GraphContender, workload: GraphWorkload, most: int = 40) -> list[Int32]:
    events = contender.ready(workload)().events()
    assert len(events) == len(workload.events)
    return [events.match(event).copy() for event in range(most)]


@pytest.mark.parametrize("name", DRAWN)
def test_ours_gives_the_right_answers(name: str) -> None:
    workload = DRAWN[name](400, 2)
    truth = GraphTruth(workload)
    for event, given in enumerate(answers(OURS, workload)[:10]):
        truth.check(OURS.name, event, given)


@pytest.mark.parametrize("contender", [GTOPSS, OXIGRAPH, CLIPS], ids=lambda each: each.name)
@pytest.mark.parametrize("name", [*PLAIN, *TYPED[:2]])
def test_others_give_the_same(contender: GraphContender, name: str) -> None:
    workload = DRAWN[name](60, 2)
    if contender.refuses(workload) is not None:
        assert contender is not OXIGRAPH
        assert name in TYPED or contender is CLIPS or "none" in str(contender.refuses(workload))
        return
    most = 8 if name in TYPED else 40
    given = answers(contender, workload, most)
    for event, due in enumerate(answers(OURS, workload, most)):
        refuse_difference(workload, contender.name, event, given[event], due)


def test_patterns_as_numbers_are_coded_as_subscriptions_are() -> None:
    workload = graph_gtopss.gtopss(500, 3)
    coded = replace(workload, numbered=None)
    for one, other in zip(answers(OURS, workload), answers(OURS, coded), strict=True):
        assert sorted(one.tolist()) == sorted(other.tolist())


def rows_of(found: Iterator[Row | LeftOut]) -> list[Row]:
    return [each for each in found if isinstance(each, Row)]


@pytest.mark.long
def test_every_workload_and_clock_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_FLUSHED", 1 << 16)
    found = [*graphs.measured_patterns(SETTINGS, TINY)]
    rows = rows_of(iter(found))
    assert all(row.value > 0 for row in rows if row.metric != "matches")
    timed = {(row.workload, row.metric) for row in rows if row.contender == OURS.name}
    for workload in DRAWN:
        assert {(workload, clock) for clock in graphs.CLOCKS} < timed
    pairs = {(row.workload, row.contender) for row in rows} | {
        (each.workload, each.contender) for each in found if isinstance(each, LeftOut)
    }
    assert {(name, contender.name) for name in DRAWN for contender in CONTENDERS} <= pairs
    assert {"build", "memory", "matches", *graphs.CLOCKS} == {
        row.metric for row in rows if row.workload in DRAWN
    }
    said = {row.metric for row in rows if row.workload == graphs.RATIOS}
    assert {"CLIPS over ours, warm", "slowdown from 100, warm"} < said
    assert "OPS hierarchy over OPS, first sight" in said


def test_a_slow_contender_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_FLUSHED", 1 << 16)
    workload = graph_gtopss.gtopss(100, 1)
    found = [*graphs.measure(workload, SETTINGS, TINY, (OURS, OXIGRAPH))]
    metrics = [row.metric for row in rows_of(iter(found)) if row.contender == OXIGRAPH.name]
    assert metrics == ["build", "first sight"]
    metrics = [row.metric for row in rows_of(iter(found)) if row.contender == OURS.name]
    assert metrics == ["build", "memory", "matches", *graphs.CLOCKS]


def test_what_a_contender_does_not_take_is_left_out() -> None:
    workload = graph_gtopss.gtopss(20_000, 1)
    found = [*graphs.measure(workload, SETTINGS, TINY, (OXIGRAPH, CLIPS, ENGINE))]
    assert [type(each) for each in found] == [LeftOut] * 3
    assert "grows with the subscriptions" in found[0].reason  # type: ignore[union-attr]


def test_the_engine_gives_the_same_where_records_and_patterns_are_one() -> None:
    workload = DRAWN["mixed"](200, 2)
    given = answers(ENGINE, workload)
    for event, due in enumerate(answers(OURS, workload)):
        refuse_difference(workload, ENGINE.name, event, given[event], due)


class Forgetful:
    """Events of which one match is forgotten."""

    def __init__(self, events: Asked) -> None:
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    def match(self, event: int) -> Int32:
        return self._events.match(event)[1:]

    def match_all(self) -> None:
        self._events.match_all()


class Forgetting:
    """An index that forgets."""

    def __init__(self, index: GraphMatching) -> None:
        self._index, self.nbytes = index, index.nbytes

    def events(self) -> Asked:
        return Forgetful(self._index.events())

    def others(self) -> Asked:
        return Forgetful(self._index.others())


def forgetting(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    return lambda: Forgetting(OURS.ready(workload)())


@pytest.mark.parametrize("others", [(), (OURS,)], ids=["against the truth", "against ours"])
def test_a_contender_that_is_wrong_ends_the_run(others: tuple[GraphContender, ...]) -> None:
    contenders = (*others, GraphContender("forgetful", forgetting))
    effort = replace(TINY, checked=0 if others else TINY.checked)
    with pytest.raises(WrongAnswerError, match=r"forgetful answers event 0 .* missing: \[[0-9]+\]"):
        rows_of(graphs.measure(graph_ops.ops(300, 1), SETTINGS, effort, contenders))


def test_ratios_follow_from_times() -> None:
    def taken(workload: str, size: int, contender: str, value: float) -> Row:
        return Row(workload, size, contender, "warm", value, "µs/event")

    rows = [taken("G-ToPSS", 10, "compiled", 2.0), taken("G-ToPSS", 1_000, "compiled", 8.0)]
    rows += [taken("G-ToPSS", 1_000, "compiled G-ToPSS", 80.0)]
    rows += [taken("OPS distinct", 10, "compiled", 6.0)]
    rows += [taken("all variable", 1_000, "compiled", 24.0)]
    found = {(row.size, row.metric): row.value for row in graphs.ratios(rows)}
    assert found == {
        (1_000, "compiled G-ToPSS over ours, warm"): 10.0,
        (1_000, "slowdown from 10, warm"): 4.0,
        (10, "OPS distinct over G-ToPSS, warm"): 3.0,
        (1_000, "all variable over G-ToPSS, warm"): 3.0,
    }


def test_bytes_and_the_engine_are_measured() -> None:
    rows = [*graph_engine.measured_bytes(1, BUDGET)]
    rows += graph_engine.measured_graph_engine(SETTINGS, BUDGET)
    assert all(row.value > 0 for row in rows)
    metrics = {row.metric for row in rows}
    assert {"N-Quads to facts", "facts to rows, new terms", "facts to rows, known terms"} < metrics
    assert {"parse", "add", "match, one by one", "match_graphs", "N-Quads to matches"} < metrics
    assert "remove" in metrics


def test_an_engine_that_is_wrong_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Engine.match

    def forgetful(self: Engine, event: Event) -> Matches:
        return Matches(match(self, event)[1:])

    monkeypatch.setattr(Engine, "match", forgetful)
    with pytest.raises(WrongAnswerError, match="engine answers event 0"):
        [*graph_engine.measured_graph_engine(SETTINGS, BUDGET)]


def test_a_batch_that_is_wrong_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = graph_engine._pairs

    def forgetful(*arguments: object) -> tuple[Int32, Int32]:
        rows, subscriptions = pairs(*arguments)  # type: ignore[arg-type]
        return rows, np.where(np.arange(len(rows)) == 0, -1, subscriptions).astype(np.int32)

    monkeypatch.setattr(graph_engine, "_pairs", forgetful)
    with pytest.raises(WrongAnswerError, match=r"engine \(match_graphs\) answers event 0"):
        [*graph_engine.measured_graph_engine(SETTINGS, BUDGET)]
