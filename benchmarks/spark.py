"""The pipeline on Spark beside the bare engine, and beside what one would write without either.

One run on this machine's two cores: files of events against an index folder, answers checked down
to every pair that was written (`workloads/pairs.py`).

    workload × format    bare engine on one core, the pipeline on two, by turns; the ratio to twice
                         the bare one; also of graphs in N-Quads, with the workload of G-ToPSS
    JSON lines           the pipeline on one core; a join of Spark SQL; a Python function by row
    start                a session, its first job, a job with nothing to do; the whole command
    memory               both workers with a large index, without, and the index on disk

The bare engine is given processor time, the pipeline time by the clock: others on the machine make
the pipeline look worse, never better. Sessions are warm before anything is timed in them.
"""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from contenders.spark_pipeline import Done, bare, by_the_jvm, counting, pipeline
from contenders.spark_processes import Processes, watched
from contenders.spark_rivals import JOIN, UDF, speed
from frame import LeftOut, Row, Settings, WrongAnswerError, timed
from sensewire.engine import Engine
from sensewire.spark.session import spark_session
from sensewire.spark.standing import bytes_of
from workloads import event_files, graph_files, indexes
from workloads.event_files import EventFiles
from workloads.graph_gtopss import gtopss
from workloads.pairs import Pairs
from workloads.records import EQUALITY_ZIPF, Kind, Records, drawn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHARTED = "match"
CORES = 2
BARE = "bare engine, one core"
PIPELINE = "pipeline, two cores"
BY_JVM = "pipeline, two cores, cells by the JVM"
ONE_CORE = "pipeline, one core"
# Hardly any with two or three predicates, which make up most of the matches.
SELECTIVE = replace(EQUALITY_ZIPF, name="few matches", sizes=(0.0, 4.0, 22.0, 18.0, 13.0, 9.0, 6.0))
KINDS = (EQUALITY_ZIPF, SELECTIVE)
_FEW = 1_000  # events of a small job
_COMMAND = "from sensewire.cli.main import main; raise SystemExit(main())"
_NO_PROC = "this system has no /proc to read memory and processor time from"
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a run does."""

    size: int  # subscriptions
    drawn: int  # different events
    repeats: int  # how often they stand in the files
    times: int
    rival_seconds: float  # that one timing of a slow contender should take
    checked: int  # events that are compared with the truth
    large: int  # subscriptions of the index whose memory is measured
    large_drawn: int  # different events that are to touch all of it
    graphs: int  # subscriptions to graphs
    graph_repeats: int  # how often the graphs stand in the file


QUICK = Effort(10_000, 8_192, 122, 2, 6.0, 4, 100_000, 65_536, 30_000, 800)
FULL = Effort(100_000, 8_192, 244, 2, 40.0, 10, 1_000_000, 131_072, 30_000, 4_000)


class Workload(Protocol):
    """A workload as files and an index folder, with what must match."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def index(self) -> Path: ...
    @property
    def pairs(self) -> Pairs: ...
    @property
    def folder(self) -> Path:
        """For what is written while it is measured."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A workload of records."""

    records: Records
    files: EventFiles
    index: Path
    pairs: Pairs
    folder: Path

    @property
    def name(self) -> str:
        return self.records.kind.name

    @property
    def size(self) -> int:
        return len(self.records.asked.offsets) - 1

    @property
    def events(self) -> int:
        return self.files.events


@dataclass(frozen=True, slots=True, eq=False)
class PreparedGraphs:
    """A workload of graphs: one file of N-Quads."""

    name: str
    size: int
    file: Path
    few: Path
    """A file of the drawn events, each once."""
    events: int
    index: Path
    pairs: Pairs
    folder: Path


def row(workload: Workload, format: str, contender: str, metric: str, of: float, unit: str) -> Row:
    """A row of a workload in a format."""
    return Row(f"{workload.name}, {format}", workload.size, contender, metric, of, unit)


def check(workload: Workload, who: str, done: Done, out: Path | None = None) -> None:
    """Raise unless all events were matched right; with `out`, every pair in it is looked at."""
    done.check(who, workload.events, workload.pairs.matches(workload.events))
    if out is not None:
        workload.pairs.check_output(who, out, workload.events)


def measured(settings: Settings) -> Iterator[Row | LeftOut]:
    """Everything, in one run."""
    effort = QUICK if settings.quick else FULL
    rows: list[Row] = []
    with TemporaryDirectory(prefix="sensewire-bench-") as place:
        for found in _measured(settings, effort, Path(place)):
            if isinstance(found, Row):
                rows.append(found)
            yield found
    yield from derived(rows)


def _measured(settings: Settings, effort: Effort, place: Path) -> Iterator[Row | LeftOut]:
    workloads = [prepared(kind, settings, effort, place / kind.name) for kind in KINDS]
    first = workloads[0]
    with session(CORES) as (spark, started):
        yield Row("start", first.size, "session", "seconds", started, "s")
        yield from measured_start(spark, first, settings)
        for workload in workloads:
            yield from measured_pipeline(spark, workload, settings, effort)
        graphs = prepared_graphs(settings, effort, place / "graphs")
        yield from measured_graphs(spark, graphs, settings, effort)
    with session(1) as (spark, _):
        small_job(spark, first, _FEW)
        counting(spark, first.files.lines)
        yield from measured_one_core(spark, first, settings, effort)
    yield from measured_rivals(first, settings, effort)
    yield from measured_command(first, settings)
    yield from measured_memory(settings, effort, place)


@contextmanager
def session(cores: int) -> Iterator[tuple["SparkSession", float]]:
    """A session on some cores of this machine, and how many seconds it took to start."""
    began = perf_counter()
    spark = spark_session(master=f"local[{cores}]")
    started = perf_counter() - began
    try:
        yield spark, started
    finally:
        spark.stop()


def prepared(kind: Kind, settings: Settings, effort: Effort, folder: Path) -> Prepared:
    """Draw a workload, write its files and its index, and ask what must match."""
    folder.mkdir()
    settings.report(f"{kind.name}, {effort.size:,}: writing events and the index")
    records = drawn(kind, effort.size, effort.drawn, 0, settings.seed)
    files = event_files.written(records, effort.repeats, folder / "events")
    index = folder / "index"
    indexes.saved(kind, effort.size, settings.seed, files.lines, index)
    pairs = Pairs.of(Engine.open(index), records, effort.checked)
    return Prepared(records, files, index, pairs, folder)


def prepared_graphs(settings: Settings, effort: Effort, folder: Path) -> PreparedGraphs:
    """The workload of G-ToPSS as a file of N-Quads, its index, and what must match."""
    folder.mkdir()
    settings.report(f"G-ToPSS, {effort.graphs:,}: writing events and the index")
    drawn = gtopss(effort.graphs, settings.seed)
    few, file, index = folder / "few.nq", folder / "events.nq", folder / "index"
    graph_files.written(drawn.events, 1, few)
    events = graph_files.written(drawn.events, effort.graph_repeats, file)
    graph_files.saved(effort.graphs, settings.seed, file, index)
    pairs = Pairs.of_graphs(Engine.open(index), drawn, effort.checked)
    return PreparedGraphs(drawn.name, effort.graphs, file, few, events, index, pairs, folder)


def measured_start(spark: "SparkSession", workload: Prepared, settings: Settings) -> Iterator[Row]:
    """The first job of a session, and what a job costs before it does anything."""
    size = workload.size
    settings.report("start: the first job, and jobs with nothing to do")
    yield Row(
        "start",
        size,
        f"first job, {_FEW:,} events",
        "seconds",
        small_job(spark, workload, _FEW),
        "s",
    )
    again = min(small_job(spark, workload, _FEW) for _ in range(2))
    yield Row("start", size, f"next job, {_FEW:,} events", "seconds", again, "s")
    one = min(small_job(spark, workload, 1) for _ in range(3))
    yield Row("start", size, "next job, one event", "seconds", one, "s")
    counting(spark, workload.files.lines)
    seconds, parts = counting(spark, workload.files.lines)
    yield Row("start", size, "counting the lines", "seconds", seconds, "s")
    yield Row("start", size, "to the workers", "rows of a job", parts.count(), "rows")
    back = parts.rdd.getNumPartitions()
    yield Row("start", size, "from the workers", "rows of a job", back, "rows")


def small_job(spark: "SparkSession", workload: Prepared, events: int) -> float:
    """Seconds of a job on the first events."""
    path = _first(workload, events)
    out = workload.folder / "small"
    done = pipeline(spark, workload.index, path, out)
    done.check("a small job", events, workload.pairs.matches(events))
    rmtree(out)
    return done.seconds


def measured_pipeline(
    spark: "SparkSession", workload: Prepared, settings: Settings, effort: Effort
) -> Iterator[Row | LeftOut]:
    """The bare engine and the pipeline in every format, by turns; packed rows in two ways."""
    small_job(spark, workload, _FEW)  # the workers open the index
    warm = workload.folder / "warm"
    by_the_jvm(spark, workload.index, event_files.first_cells(workload.files, warm), warm / "out")
    engine = Engine.open(workload.index)
    for format, path in workload.files.by_format.items():
        ways = {PIPELINE: pipeline}
        if path == workload.files.packed:
            ways[BY_JVM] = by_the_jvm
        yield from _by_turns(spark, engine, workload, format, path, ways, settings, effort)


def measured_graphs(
    spark: "SparkSession", workload: PreparedGraphs, settings: Settings, effort: Effort
) -> Iterator[Row | LeftOut]:
    """The bare engine and the pipeline on N-Quads."""
    out = workload.folder / "small"
    done = pipeline(spark, workload.index, workload.few, out)  # the workers open the index
    done.check("a small job", workload.pairs.drawn, workload.pairs.matches(workload.pairs.drawn))
    workload.pairs.check_output("a small job", out, workload.pairs.drawn)
    rmtree(out)
    engine, ways = Engine.open(workload.index), {PIPELINE: pipeline}
    yield from _by_turns(spark, engine, workload, "N-Quads", workload.file, ways, settings, effort)


def _by_turns(
    spark: "SparkSession",
    engine: Engine,
    workload: Workload,
    format: str,
    path: Path,
    ways: Mapping[str, Callable[..., Done]],
    settings: Settings,
    effort: Effort,
) -> Iterator[Row | LeftOut]:
    """The bare engine and the ways of the pipeline on one file."""
    runs: dict[str, list[_Run]] = {BARE: [], **{way: [] for way in ways}}
    bare(engine, path, _FEW)  # the JIT is warm before anything is timed
    for _ in range(effort.times):
        settings.report(f"{workload.name}, {format}: {', '.join(runs)}")
        runs[BARE].append(_bare_run(engine, workload, path))
        for contender, way in ways.items():
            runs[contender].append(_run(contender, way, spark, workload, path))
    for contender, found in runs.items():
        best = min(found, key=lambda run: run.seconds)
        rate = workload.events / best.seconds
        yield row(workload, format, contender, CHARTED, rate, "events/s")
        if contender == BARE:
            an_event = workload.pairs.an_event
            yield row(workload, format, contender, "matches", an_event, "an event")
            size = path.stat().st_size / workload.events
            yield row(workload, format, contender, "file", size, "bytes/event")
            continue
        yield row(workload, format, contender, "job", best.seconds, "s")
        for who, seconds in best.used.items():
            yield row(workload, format, contender, f"processor time, {who}", seconds, "s")
        if not best.used:
            yield LeftOut("processor time", workload.size, contender, _NO_PROC)


class _Run(NamedTuple):
    """How long a run took, and the processor time that each of its processes had."""

    seconds: float
    used: Mapping[str, float]


def _bare_run(engine: Engine, workload: Workload, path: Path) -> _Run:
    seconds, done = timed(1, lambda: bare(engine, path))
    check(workload, BARE, done)
    return _Run(seconds, {})


def _run(
    contender: str, way: Callable[..., Done], spark: "SparkSession", workload: Workload, path: Path
) -> _Run:
    out = workload.folder / "out"
    before = Processes.of(spark).seconds() if Processes.are_seen() else {}
    done = way(spark, workload.index, path, out)
    after = Processes.of(spark).seconds() if before else {}
    check(workload, f"{contender} ({path.name})", done, out)
    rmtree(out)
    return _Run(done.seconds, {who: after[who] - before[who] for who in after})


def measured_one_core(
    spark: "SparkSession", workload: Prepared, settings: Settings, effort: Effort
) -> Iterator[Row]:
    """The pipeline in a session of one core."""
    settings.report(f"{workload.records.kind.name}, JSON lines: {ONE_CORE}")
    rates = []
    for _ in range(effort.times):
        out = workload.folder / "out"
        done = pipeline(spark, workload.index, workload.files.lines, out)
        check(workload, ONE_CORE, done, out)
        rmtree(out)
        rates.append(done.events / done.seconds)
    yield row(workload, "JSON lines", ONE_CORE, CHARTED, max(rates), "events/s")


def measured_rivals(workload: Prepared, settings: Settings, effort: Effort) -> Iterator[Row]:
    """What one would write without the pipeline."""
    for name in (JOIN, UDF):
        settings.report(f"{workload.records.kind.name}: {name}")
        folder, seconds = workload.folder / name, effort.rival_seconds
        rate = speed(name, workload.records, workload.pairs, CORES, seconds, folder)
        yield row(workload, "JSON lines", name, CHARTED, rate, "events/s")


def measured_command(workload: Prepared, settings: Settings) -> Iterator[Row]:
    """`sensewire match` from its start to its end, on few events: the first match comes before."""
    settings.report("start: the whole command")
    path, out = _first(workload, _FEW), workload.folder / "commanded"
    places = ["--index", str(workload.index), "--events", str(path), "--out", str(out)]
    options = [*places, "--overwrite"]
    command = [sys.executable, "-c", _COMMAND, "match", *options, "--master", f"local[{CORES}]"]
    shortest = float("inf")
    for _ in range(2):
        began = perf_counter()
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shortest = min(shortest, perf_counter() - began)
        due = f"{_FEW} events, {workload.pairs.matches(_FEW)} matches, 0 rejected, 0 failed"
        if said.splitlines()[-1] != due:
            raise WrongAnswerError(f"sensewire match says {said!r} where it is {due!r}")
    contender = f"sensewire match, {_FEW:,} events"
    yield Row("start", workload.size, contender, "seconds", shortest, "s")


def measured_memory(settings: Settings, effort: Effort, place: Path) -> Iterator[Row | LeftOut]:
    """What a large index costs both workers together."""
    if not Processes.are_seen():
        yield LeftOut("memory", effort.large, "both workers", _NO_PROC)
        return
    folder = place / "memory"
    folder.mkdir()
    settings.report(f"memory: writing an index of {effort.large:,} subscriptions")
    records = drawn(EQUALITY_ZIPF, 1, effort.large_drawn, 0, settings.seed)
    events = event_files.written(records, 1, folder / "events").lines  # cut, for both workers
    full, empty = folder / "index", folder / "empty"
    indexes.saved(EQUALITY_ZIPF, effort.large, settings.seed, events, full)
    indexes.save_texts(['nobody = "asks"'], events, empty)
    settings.report(f"memory: workers with {effort.large:,} subscriptions, and with one")
    with_it, after, touched, done = _memory(full, events, folder / "out")
    without, after_nothing, _, nothing = _memory(empty, events, folder / "out")
    nothing.check("an index of nothing", effort.large_drawn, 0)
    due = bare(Engine.open(full), events)
    done.check("the pipeline", due.events, due.matches)
    size = bytes_of(full)

    def row(contender: str, metric: str, value: float, unit: str) -> Row:
        return Row("memory", effort.large, contender, metric, value, unit)

    yield row("index on disk", "memory", size / _MIB, "MiB")
    yield row("both workers, with the index", "memory at its highest", with_it / _MIB, "MiB")
    yield row("both workers, with an empty one", "memory at its highest", without / _MIB, "MiB")
    yield row("both workers, with the index", "memory after the job", after / _MIB, "MiB")
    yield row(
        "both workers, with an empty one", "memory after the job", after_nothing / _MIB, "MiB"
    )
    costs = {"at its highest": with_it - without, "after the job": after - after_nothing}
    for when, cost in costs.items():
        metric = f"what the index costs, over its size, {when}"
        yield row("both workers", metric, cost / size, "times")
    yield row("both workers", "share of the index that one has read", touched / size, "times")


def _memory(index: Path, events: Path, out: Path) -> tuple[int, int, int, Done]:
    """PSS of both workers in a job in a session of its own, at its highest and after it; and what
    one mapped of the index."""
    with session(CORES) as (spark, _):
        with watched(spark) as highest:
            done = pipeline(spark, index, events, out)
        rmtree(out)
        gc.collect()  # the driver opened the index too, and lets go of its pages here
        found = Processes.of(spark)
        if len(found.workers) != CORES:
            raise WrongAnswerError(f"{len(found.workers)} workers where there should be {CORES}")
        return highest.memory, found.memory(), found.touched(index), done


def derived(rows: Sequence[Row]) -> Iterator[Row]:
    """The ratios that follow from the rates of one run."""
    rates = {(row.workload, row.contender): row for row in rows if row.metric == CHARTED}
    ratios = (
        (BARE, CORES, f"{CHARTED}, over {CORES} × bare engine"),
        (ONE_CORE, 1, "two cores over one"),
        (JOIN, 1, f"{CHARTED}, over Spark SQL"),
        (UDF, 1, f"{CHARTED}, over a Python function by row"),
    )
    for (workload, contender), row in rates.items():
        if contender not in (PIPELINE, BY_JVM):
            continue
        for other, times, metric in ratios:
            if (workload, other) in rates:
                ratio = row.value / (times * rates[workload, other].value)
                yield replace(row, metric=metric, value=ratio, unit="times")


def _first(workload: Prepared, events: int) -> Path:
    """A file of the first events."""
    path = workload.folder / f"first-{events}.jsonl"
    if not path.exists():
        with workload.files.lines.open("rb") as lines:
            path.write_bytes(b"".join(next(lines) for _ in range(events)))
    return path
