"""Matching graphs: how long an event takes, by workload, size and contender.

Every contender is asked about one event at a time, from facts that are encoded already, on one
core. Nothing is compiled while the clock runs, and the time of an event is the median over all of
them:

    first sight   an event that was never matched before, in an index that is warm from others
    warm          the same events again, several times, each after three passes that are not timed
    flushed       with 64 MB touched before each
    batch         all events in one call, a contender that has no batches one by one

Several contenders take turns, a pass each. All that one answers about an event is compared with
ours, and ours with the truth on some events.

    size          10,000  30,000  100,000  1,000,000        --quick
    G-ToPSS       x       x       x        x                10,000 and 30,000
    all variable          x                                 the same
    OPS, OPS distinct, OPS hierarchy
                  x                                         the same
    Brick classes x                                         the same
    mixed; mixed, ranges only
                  x               x                         10,000
    engine                        x                         10,000
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import numpy as np

from contenders.graph_clips import CLIPS
from contenders.graph_contender import Asked, GraphContender, GraphMatching
from contenders.graph_engine import GraphBudget, measured_bytes, measured_graph_engine
from contenders.graph_gtopss import GTOPSS
from contenders.graph_matches import ENGINE
from contenders.graph_ours import OURS
from contenders.graph_oxigraph import OXIGRAPH
from frame import LeftOut, Row, Settings, timed
from workloads import graph_brick, graph_gtopss, graph_mixed, graph_ops
from workloads.graph_truth import GraphTruth, refuse_difference
from workloads.graph_workload import GraphWorkload, Int32

CHARTED = "first sight"
CLOCKS = ("first sight", "warm", "flushed", "batch")
CONTENDERS = (OURS, GTOPSS, OXIGRAPH, CLIPS, ENGINE)
RATIOS = "ratios"
_FLUSHED = 64 << 20
_UNTIMED = 3  # of passes; after two of them caches still hold what the contender before left there
_UNIT = "µs/event"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a run does."""

    gtopss: tuple[int, ...]
    all_variable: int
    typed: int
    mixed: tuple[int, ...]
    passes: int
    flushed: int
    slow: int
    """Events that a slow contender is asked about."""
    checked: int
    engine: GraphBudget


QUICK = Effort((10_000, 30_000), 30_000, 10_000, (10_000,), 5, 1, 1, 2, GraphBudget(10_000, 300, 2))
FULL = Effort(
    (10_000, 30_000, 100_000, 1_000_000),
    30_000,
    10_000,
    (10_000, 100_000),
    20,
    3,
    3,
    3,
    GraphBudget(100_000, 1_000, 5),
)


def measured(settings: Settings) -> Iterator[Row | LeftOut]:
    """All workloads, what follows from them, then bytes and the engine."""
    effort = QUICK if settings.quick else FULL
    yield from measured_patterns(settings, effort)
    settings.report("N-Quads")
    yield from measured_bytes(settings.seed, effort.engine)
    yield from measured_graph_engine(settings, effort.engine)


def measured_patterns(settings: Settings, effort: Effort) -> Iterator[Row | LeftOut]:
    """Every contender on every workload, and the ratios between them."""
    rows: list[Row] = []
    for drawn in workloads(settings, effort):
        for found in measure(drawn(), settings, effort):
            if isinstance(found, Row):
                rows.append(found)
            yield found
    yield from ratios(rows)


def workloads(settings: Settings, effort: Effort) -> Iterator[Callable[[], GraphWorkload]]:
    """What draws each workload: the large ones are held in memory one at a time."""
    seed = settings.seed

    def drawing(
        draw: Callable[[int, int], GraphWorkload], size: int
    ) -> Callable[[], GraphWorkload]:
        return lambda: draw(size, seed)

    yield from (drawing(graph_gtopss.gtopss, size) for size in effort.gtopss)
    yield drawing(graph_gtopss.all_variable, effort.all_variable)
    for draw in (graph_ops.ops, graph_ops.distinct, graph_ops.with_hierarchy):
        yield drawing(draw, effort.typed)
    settings.report("reading Brick")
    taxonomy = graph_brick.taxonomy_of_brick()
    for each in graph_brick.with_and_without(taxonomy, effort.typed, seed):
        yield lambda each=each: each  # type: ignore[misc]
    for draw in (graph_mixed.mixed, graph_mixed.mixed_ranges):
        yield from (drawing(draw, size) for size in effort.mixed)


@dataclass(slots=True)
class _Standing:
    """A contender that was built: its events, its answers about them, its times by the clocks."""

    contender: GraphContender
    events: Asked
    answers: list[Int32] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)

    def note(self, clock: str, seconds: float) -> None:
        self.times.setdefault(clock, []).append(seconds)


def measure(
    workload: GraphWorkload,
    settings: Settings,
    effort: Effort,
    contenders: Sequence[GraphContender] = CONTENDERS,
) -> Iterator[Row | LeftOut]:
    """Build and match, timed apart; the answers checked."""
    where = f"{workload.name}, {workload.size:,}"
    truth = GraphTruth(workload)
    standing: list[_Standing] = []
    for contender in contenders:
        reason = contender.refuses(workload)
        if reason is not None:
            yield LeftOut(workload.name, workload.size, contender.name, reason)
            continue
        settings.report(f"{where}: {contender.name}")
        ready = contender.ready(workload)
        seconds, index = timed(2 if contender.compiles else 1, ready)
        yield from _of_index(workload, contender, seconds, index)
        one = _first_sight(contender, index, effort)
        for event, answer in enumerate(one.answers):
            if standing:
                refuse_difference(
                    workload, contender.name, event, answer, standing[0].answers[event]
                )
            elif event < effort.checked:
                truth.check(contender.name, event, answer)
        standing.append(one)
    settings.report(f"{where}: again and again")
    _again(standing, effort)
    if not standing:
        return
    matches = sum(map(len, standing[0].answers)) / len(standing[0].answers)
    first = standing[0].contender.name
    yield Row(workload.name, workload.size, first, "matches", matches, "matches/event")
    for clock in CLOCKS:
        for one in standing:
            if clock in one.times:
                taken = 1e6 * median(one.times[clock])
                yield Row(workload.name, workload.size, one.contender.name, clock, taken, _UNIT)


def _of_index(
    workload: GraphWorkload, contender: GraphContender, seconds: float, index: GraphMatching
) -> Iterator[Row]:
    yield Row(workload.name, workload.size, contender.name, "build", seconds, "s")
    if index.nbytes is not None:
        size = index.nbytes / workload.size
        yield Row(
            workload.name, workload.size, contender.name, "memory", size, "bytes/subscription"
        )


def _first_sight(contender: GraphContender, index: GraphMatching, effort: Effort) -> _Standing:
    """Ask about every event for the first time."""
    others = index.others()
    for event in range(len(others)):
        others.match(event)
    if not contender.is_slow:
        others.match_all()
    one = _Standing(contender, index.events())
    count = min(effort.slow, len(one.events)) if contender.is_slow else len(one.events)
    gc.collect()
    for event in range(count):
        started = perf_counter()
        answer = one.events.match(event)
        one.note("first sight", perf_counter() - started)
        one.answers.append(answer.copy())
    return one


def _again(standing: Sequence[_Standing], effort: Effort) -> None:
    """The same events again: passes by turns."""
    quick = [one for one in standing if not one.contender.is_slow]
    touched = np.zeros(_FLUSHED // 8, np.int64)
    gc.collect()
    for turn in range(effort.passes):
        for one in quick:
            _pass(one, "warm", lambda: None)
            if turn < effort.flushed:
                _pass(one, "flushed", lambda: touched.__iadd__(1))
            one.events.match_all()
            started = perf_counter()
            one.events.match_all()
            one.note("batch", (perf_counter() - started) / len(one.events))


def _pass(one: _Standing, clock: str, before: Callable[[], object]) -> None:
    if clock == "warm":
        for _ in range(_UNTIMED):
            for event in range(len(one.events)):
                one.events.match(event)
    for event in range(len(one.events)):
        before()
        started = perf_counter()
        one.events.match(event)
        one.note(clock, perf_counter() - started)


def ratios(rows: Sequence[Row]) -> Iterator[Row]:
    """What follows: times of one over times of another, by each clock that both have."""
    known = {
        (row.workload, row.size, row.contender, row.metric): row.value
        for row in rows
        if row.metric in CLOCKS
    }
    sizes = sorted({size for workload, size, *_ in known if workload == graph_gtopss.NAME})
    ours = OURS.name

    def over(
        what: str, size: int, one: tuple[str, int, str], other: tuple[str, int, str]
    ) -> Iterator[Row]:
        for clock in CLOCKS:
            if (*one, clock) in known and (*other, clock) in known:
                ratio = known[*one, clock] / known[*other, clock]
                yield Row(RATIOS, size, ours, f"{what}, {clock}", ratio, "times")

    gtopss = graph_gtopss.NAME
    for rival in (each.name for each in CONTENDERS[1:]):
        for size in sizes:
            yield from over(f"{rival} over ours", size, (gtopss, size, rival), (gtopss, size, ours))
    for size in sizes[1:]:
        what = f"slowdown from {sizes[0]:,}"
        yield from over(what, size, (gtopss, size, ours), (gtopss, sizes[0], ours))
    for what, base in (
        (graph_gtopss.ALL_VARIABLE, gtopss),
        (graph_ops.DISTINCT, gtopss),
        (graph_ops.HIERARCHY, graph_ops.NAME),
        (graph_brick.NAME, graph_brick.WITHOUT),
    ):
        for size in sorted({size for workload, size, *_ in known if workload == what}):
            yield from over(f"{what} over {base}", size, (what, size, ours), (base, size, ours))
