"""Matching records: how fast indexes are built, how large they are, how fast they match.

Six workloads at several sizes, each contender on one core, warmed, the shortest of several times.
As many events are matched in one timing as take about a second, at most 8,192. Two levels are
measured: indexes of conjunctions (`measured_indexes`), and the engine as its users see it
(`contenders/engine.py`: texts, records, JSON lines and Arrow columns). Every contender's answers
are compared with the truth on some of the events that it was timed on.

    size       10,000   100,000   1,000,000        --quick: the first two
    indexes    compiled, counting, DuckDB at all; the others up to what they can stand
    engine     equality Zipf at 100,000            --quick: at 10,000
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from contenders.compiled import COMPILED, COUNTING
from contenders.contender import Contender
from contenders.duckdb_join import DUCKDB
from contenders.engine import Budget, measured_engine
from contenders.pivot_dictionary import PIVOT_DICTIONARY
from contenders.polars_join import POLARS
from frame import LeftOut, Row, Settings, timed
from sensewire.match.compiled.conjunctions import Entries
from workloads import brick_classes, ranked, records, tags
from workloads.brick_classes import Classes, Reading
from workloads.truth import Truth
from workloads.workload import Workload, first

CHARTED = "match"
CONTENDERS = (COMPILED, COUNTING, PIVOT_DICTIONARY, DUCKDB, POLARS)
WITHOUT_KNOWLEDGE = "compiled, same without knowledge"
_EVENTS, _SAMPLE = 8_192, 4_096
_LONGEST = 1_000_000  # events × conjunctions of a slow contender, before it is asked for more


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a run does."""

    sizes: tuple[int, ...]
    engine_size: int
    seconds: float  # that one timing of a match should take
    times: int
    checked: int  # events of each contender


QUICK = Effort((10_000, 100_000), 10_000, 0.3, 2, 4)
FULL = Effort((10_000, 100_000, 1_000_000), 100_000, 1.0, 5, 10)


def measured(settings: Settings) -> Iterator[Row | LeftOut]:
    """All workloads, then the engine."""
    effort = QUICK if settings.quick else FULL
    yield from measured_indexes(settings, effort)
    budget = Budget(_EVENTS, effort.seconds, effort.times, effort.checked)
    yield from measured_engine(settings, effort.engine_size, budget)


def measured_indexes(settings: Settings, effort: Effort) -> Iterator[Row | LeftOut]:
    """Every contender on every workload, and what follows from the figures."""
    for name, drawn in workloads(settings.seed).items():
        rows: list[Row] = []
        for size in effort.sizes:
            settings.report(f"{name}, {size:,}: drawing")
            for found in _measured(drawn(size), settings, effort):
                if isinstance(found, Row):
                    rows.append(found)
                yield found
        yield from derived(rows)


def workloads(seed: int) -> dict[str, Callable[[int], list[tuple[Workload, list[Contender]]]]]:
    """By name: what a size gives, and who is measured on it."""
    every = [*CONTENDERS]

    def of_records(kind: records.Kind) -> Callable[[int], list[tuple[Workload, list[Contender]]]]:
        return lambda size: [
            (ranked.workload(records.drawn(kind, size, _EVENTS, _SAMPLE, seed)), every)
        ]

    def on_brick(size: int) -> list[tuple[Workload, list[Contender]]]:
        classes = Classes()
        knowing, not_knowing = (
            brick_classes.workload(classes, reading, size, _EVENTS, _SAMPLE, seed)
            for reading in (Reading.MEANING, Reading.WORDS)
        )
        unknowing = Contender(WITHOUT_KNOWLEDGE, COMPILED.build, compiles=True)
        return [(knowing, every), (not_knowing, [unknowing])]

    return {
        **{kind.name: of_records(kind) for kind in records.KINDS},
        "tags Zipf": lambda size: [(tags.workload(size, _EVENTS, _SAMPLE, seed), every)],
        "meaning on Brick": on_brick,
    }


def _measured(
    drawn: list[tuple[Workload, list[Contender]]], settings: Settings, effort: Effort
) -> Iterator[Row | LeftOut]:
    for workload, contenders in drawn:
        size, known = len(workload.conjunctions), Truth(workload)
        for contender in contenders:
            if size > contender.stands:
                yield LeftOut(workload.name, size, contender.name, contender.beyond)
                continue
            settings.report(f"{workload.name}, {size:,}: {contender.name}")
            yield from measure(contender, workload, known, effort)


def measure(
    contender: Contender, workload: Workload, known: Truth, effort: Effort
) -> Iterator[Row]:
    """Build and match, timed apart; the answers checked."""
    size = len(workload.conjunctions)
    times = effort.times if contender.compiles else 1
    contender_size = (workload.name, size, contender.name)
    if contender.compiles:  # the JIT is warm before anything is timed
        contender.build(workload).match(first(workload.events, 128))
    building, index = timed(min(times, 3), lambda: contender.build(workload))
    yield Row(*contender_size, "build", size / building, "subscriptions/s")
    yield Row(*contender_size, "memory", index.nbytes / size, "bytes/subscription")
    # A first guess of its speed decides how many events are matched in one timing.
    few = 128 if contender.compiles else min(32, max(2, _LONGEST // size))
    trial, _ = timed(1, lambda: index.match(first(workload.events, few)))
    count = int(min(len(workload.events), max(few, few * effort.seconds / max(trial, 1e-9))))
    events: Entries = first(workload.events, count)
    matching, answer = timed(effort.times, lambda: index.match(events))
    known.check(contender.name, answer, count, effort.checked)
    yield Row(*contender_size, "match", count / matching, "events/s")


def derived(rows: list[Row]) -> Iterator[Row]:
    """What follows: ratios over compiled counting, and the slowdown from the least size on."""
    rates = {(row.contender, row.size): row.value for row in rows if row.metric == CHARTED}
    for (contender, size), rate in rates.items():
        workload = rows[0].workload
        if contender == COMPILED.name and (COUNTING.name, size) in rates:
            over = rate / rates[COUNTING.name, size]
            yield Row(workload, size, contender, "match, over compiled counting", over, "times")
        least = min(other for name, other in rates if name == contender)
        if size > least:
            slower = rates[contender, least] / rate
            yield Row(workload, size, contender, f"slowdown from {least:,}", slower, "times")
