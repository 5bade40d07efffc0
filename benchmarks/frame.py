"""What all benchmarks share: rows, what a run depended on, tables, a chart and a file of results.

A benchmark is a module of this folder with a line in `KNOWN`. It has

    CHARTED                 the metric that its chart draws over sizes
    measured(settings)      rows and what was left out, one by one, as they are found

and raises `WrongAnswerError` where an answer that it timed was not the right one. All values of one
run come from one machine and one hour: compare contenders within a run, never across.
"""

import gc
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from rich.table import Table

KNOWN = {
    "records": "matching records: build, match, add and remove, from 10,000 to 1,000,000 "
    "subscriptions, beside counting, Python, DuckDB and polars; 8 minutes of one core, or more",
    "spark": "the pipeline on two cores of Spark, with 100,000 subscriptions: beside the bare "
    "engine, a join of Spark SQL and a Python function by row; its start, and its memory with "
    "1,000,000; 15 minutes of two cores that nobody else uses",
    "graphs": "matching graphs: G-ToPSS from 10,000 to 1,000,000 subscriptions, OPS, classes of "
    "Brick, predicates and patterns in one, beside a compiled G-ToPSS, pyoxigraph and CLIPS; "
    "N-Quads and the engine; 15 minutes of one core",
    "stream": "the stream with 100,000 subscriptions and its store in SQLite: latency at 1,000 "
    "events/s, the highest rate, how soon a subscription counts, restart after kill −9; 8 minutes "
    "of two cores that nobody else uses",
}
_Result = TypeVar("_Result")
FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
_PACKAGES = (
    "sensewire",
    "numba",
    "numpy",
    "pyarrow",
    "pyoxigraph",
    "clipspy",
    "duckdb",
    "polars",
    "brickschema",
    "pyspark",
)


class WrongAnswerError(SensewireError):
    """A contender gave an answer that is not the right one: its figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One value that was measured."""

    workload: str
    size: int
    contender: str
    metric: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not measured, and why."""

    workload: str
    size: int
    contender: str
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What a benchmark is told: how much to do, the seed, and whom to tell what it is doing."""

    quick: bool
    seed: int
    report: Callable[[str], None] = field(default=lambda _: None, compare=False)


def timed(
    times: int, work: Callable[[], _Result], clock: Callable[[], float] = process_time
) -> tuple[float, _Result]:
    """The shortest time of some, in seconds, and the last result.

    Unless told otherwise, it is the time that the cores gave to this process: on one thread, what
    one core takes, also while others use the machine.

    >>> seconds, result = timed(2, lambda: 7)
    >>> seconds >= 0, result
    (True, 7)
    """
    shortest = float("inf")
    gc.collect()  # what other work left behind is not paid for here
    for _ in range(times):
        started = clock()
        result = work()
        shortest = min(shortest, clock() - started)
    return shortest, result


class Benchmark(Protocol):
    """What a module of this folder has to offer."""

    CHARTED: str

    def measured(self, settings: Settings) -> Iterator[Row | LeftOut]: ...


@dataclass(slots=True)
class Run:
    """All that came of a benchmark."""

    name: str
    about: dict[str, Any]
    charted: str
    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def tables(self) -> Iterator["Table"]:
        """A table for each workload: metrics and contenders by size, with ratios to the first."""
        from rich.table import Table

        for workload in dict.fromkeys(row.workload for row in self.rows):
            rows = [row for row in self.rows if row.workload == workload]
            sizes = sorted({row.size for row in rows})
            table = Table(title=workload, title_justify="left")
            table.add_column("metric")
            table.add_column("contender")
            for size in sizes:
                table.add_column(f"{size:,}", justify="right", no_wrap=True)
            for (metric, unit), values in _by_metric(rows).items():
                contenders = [*dict.fromkeys(contender for contender, _ in values)]
                for number, contender in enumerate(contenders):
                    measured = (values.get((contender, size)) for size in sizes)
                    first = (
                        values.get((contenders[0], size)) if number else None for size in sizes
                    )
                    cells = map(_cell, measured, first)
                    table.add_row("" if number else f"{metric}, {unit}", contender, *cells)
                table.add_section()
            yield table

    def write(self, path: Path) -> Path:
        """Write everything as JSON, and the chart beside it; where the chart is."""
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = {
            "benchmark": self.name,
            **self.about,
            "rows": [asdict(row) for row in self.rows],
            "left_out": [asdict(each) for each in self.left_out],
        }
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
        chart = path.with_suffix(".png")
        drawn = [row for row in self.rows if row.metric == self.charted]
        _draw(drawn, chart, f"{self.name}, commit {self.about['commit']}")
        return chart


def run(name: str, settings: Settings) -> Run:
    """Run a benchmark to its end; `WrongAnswerError` if an answer was."""
    benchmark = cast(Benchmark, import_module(name))
    result = Run(name, circumstances(settings), benchmark.CHARTED)
    for found in benchmark.measured(settings):
        if isinstance(found, Row):
            result.rows.append(found)
        else:
            result.left_out.append(found)
    return result


def circumstances(settings: Settings) -> dict[str, Any]:
    """What a run depends on: seed, commit, machine and versions."""
    return {
        "seed": settings.seed,
        "quick": settings.quick,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def machine() -> dict[str, Any]:
    """The processor, its cores, whether it has AVX-512, and the memory in GiB."""
    model, flags = platform.processor() or platform.machine(), ""
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = (line.partition(":") for line in information.read_text().splitlines())
        found = {key.strip(): value.strip() for key, _, value in lines}
        model, flags = found.get("model name", model), found.get("flags", "")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "avx512": "avx512f" in flags.split(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
    }


def commit() -> str:
    """The commit that is checked out, and whether files differ from it."""
    try:
        said = [
            subprocess.run(
                ["git", *command], cwd=FOLDER, capture_output=True, text=True, check=True
            ).stdout.strip()
            for command in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said[0] + (" with changes" if said[1] else "")


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _by_metric(rows: Iterable[Row]) -> dict[tuple[str, str], dict[tuple[str, int], float]]:
    """For each metric and its unit, in the order in which they came: contender, size → value."""
    found: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    for row in rows:
        found.setdefault((row.metric, row.unit), {})[row.contender, row.size] = row.value
    return found


def _cell(value: float | None, first: float | None) -> str:
    """A value, and its ratio to the first contender's, as a fraction where it is small."""
    if value is None:
        return "-"
    if not first or not value:
        return written(value)
    ratio = value / first
    return f"{written(value)} ({f'{ratio:.3g}×' if ratio >= 0.1 else f'1/{1 / ratio:,.0f}'})"


def written(value: float) -> str:
    """A value with as many digits as can be read.

    >>> written(123456.7), written(12.34), written(0.0123)
    ('123,457', '12.3', '0.0123')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _draw(rows: Sequence[Row], path: Path, title: str) -> None:
    """A panel for each workload, a line for each contender, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    workloads = [*dict.fromkeys(row.workload for row in rows)]
    contenders = [*dict.fromkeys(row.contender for row in rows)]
    across = min(3, max(1, len(workloads)))
    down = max(1, -(-len(workloads) // across))
    figure, panels = pyplot.subplots(
        down, across, figsize=(5 * across, 4 * down), squeeze=False, layout="constrained"
    )
    for panel in panels.flat[len(workloads) :]:
        panel.set_visible(False)
    lines = {}
    for panel, workload in zip(panels.flat, workloads, strict=False):
        some = sorted((row for row in rows if row.workload == workload), key=_by_contender)
        for contender, points in groupby(some, key=lambda row: row.contender):
            line = [(row.size, row.value) for row in points]
            colour = f"C{contenders.index(contender)}"
            (lines[contender],) = panel.plot(*zip(*line, strict=True), marker="o", color=colour)
        panel.set(xscale="log", yscale="log", title=workload, xlabel="subscriptions")
        panel.set_ylabel(f"{some[0].metric}, {some[0].unit}")
        panel.grid(visible=True, alpha=0.3)
    handles = [lines[contender] for contender in contenders]
    figure.legend(handles, contenders, loc="outside lower center", ncols=3)
    figure.suptitle(title)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _by_contender(row: Row) -> tuple[str, int]:
    return row.contender, row.size
