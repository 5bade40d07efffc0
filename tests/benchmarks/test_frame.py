"""The frame: a run is kept whole, with what it depended on, as tables, JSON and a chart.

Proved by breaking: rows of another metric in the chart's data, ratios to the last contender instead
of the first, and left-out contenders not written: each was caught.
"""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

import frame
from frame import LeftOut, Row, Settings


def toy(settings: Settings) -> Iterator[Row | LeftOut]:
    """A benchmark of two contenders, of which one cannot go on."""
    settings.report("measuring")
    yield Row("words", 10, "ours", "match", 4000.0, "events/s")
    yield Row("words", 10, "theirs", "match", 1000.0, "events/s")
    yield Row("words", 100, "ours", "match", 3000.0, "events/s")
    yield Row("words", 10, "ours", "memory", 12.5, "bytes")
    yield LeftOut("words", 100, "theirs", "it is too slow")


@pytest.fixture
def benchmark_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("toy")
    module.measured = toy  # type: ignore[attr-defined]  # a module made by hand
    module.CHARTED = "match"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy", module)
    monkeypatch.setitem(frame.KNOWN, "toy", "a toy")


@pytest.mark.usefixtures("benchmark_toy")
def test_a_run_is_written_whole(tmp_path: Path) -> None:
    said: list[str] = []
    run = frame.run("toy", Settings(quick=True, seed=7, report=said.append))
    assert said == ["measuring"]
    out = tmp_path / "new" / "toy.json"
    chart = run.write(out)
    assert chart == tmp_path / "new" / "toy.png"
    assert chart.read_bytes().startswith(b"\x89PNG")
    written = json.loads(out.read_text())
    assert written["benchmark"] == "toy"
    assert (written["seed"], written["quick"]) == (7, True)
    assert written["rows"][0] == {
        "workload": "words",
        "size": 10,
        "contender": "ours",
        "metric": "match",
        "value": 4000.0,
        "unit": "events/s",
    }
    assert len(written["rows"]) == 4
    assert [each["reason"] for each in written["left_out"]] == ["it is too slow"]
    assert {"cpu", "cores", "avx512", "memory", "system"} == written["machine"].keys()
    assert written["versions"]["numba"][0].isdigit()
    assert written["commit"]


@pytest.mark.usefixtures("benchmark_toy")
def test_tables_hold_values_and_ratios() -> None:
    run = frame.run("toy", Settings(quick=True, seed=7))
    console = Console(width=100, record=True, file=StringIO())
    (table,) = run.tables()
    console.print(table)
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "│ match, events/s │ ours │ 4,000 │ 3,000 │" in lines
    assert "│ │ theirs │ 1,000 (0.25×) │ - │" in lines
    assert "│ memory, bytes │ ours │ 12.5 │ - │" in lines


@pytest.mark.usefixtures("benchmark_toy")
def test_a_chart_draws_the_metric_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Row] = []
    monkeypatch.setattr(frame, "_draw", lambda rows, path, title: drawn.extend(rows))
    frame.run("toy", Settings(quick=True, seed=7)).write(tmp_path / "toy.json")
    assert {row.metric for row in drawn} == {"match"}
    assert len(drawn) == 3


def test_small_ratios_are_fractions() -> None:
    assert frame._cell(5.0, 5_000.0) == "5 (1/1,000)"
    assert frame._cell(15.0, 10.0) == "15 (1.5×)"
    assert frame._cell(None, 1.0) == "-"


def test_the_machine_is_told() -> None:
    told = frame.machine()
    flags = Path("/proc/cpuinfo")
    if flags.exists():
        assert told["cpu"] in flags.read_text()
        assert told["avx512"] is ("avx512f" in flags.read_text())
    assert told["memory"] > 0.1


def test_the_shortest_time_counts() -> None:
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    assert frame.timed(3, lambda: "done", lambda: next(clock)) == (2.0, "done")


def test_every_known_benchmark_is_one() -> None:
    for name in frame.KNOWN:
        module = __import__(name)
        assert callable(module.measured)
        assert module.CHARTED
