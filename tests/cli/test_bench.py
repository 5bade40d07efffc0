"""`sensewire bench`: it lists what it knows, runs from a checkout only, and prints what it found.

Proved by breaking: a quick run that writes without being asked, and a folder without benchmarks
taken for a checkout: each was caught.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from sensewire.cli import bench
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from frame import Row, Settings


def run(*arguments: str) -> int:
    """What the command line does with these arguments."""
    parser = argparse.ArgumentParser()
    bench.add_to(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["bench", *arguments])
    return int(parsed.run(parsed))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A benchmark that measures nothing, and the checkout that it is in."""
    import frame

    def measured(settings: "Settings") -> Iterator["Row"]:
        settings.report("toying")
        if settings.seed == 13:
            raise frame.WrongAnswerError("ours answers event 3 with 1 where 2 match")
        yield frame.Row("toys", 10, "ours", "match", 5.0, "events/s")

    module = ModuleType("toy")
    module.measured = measured  # type: ignore[attr-defined]  # a module made by hand
    module.CHARTED = "match"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy", module)
    monkeypatch.setitem(frame.KNOWN, "toy", "a toy")
    monkeypatch.setattr(bench, "benchmarks", lambda: tmp_path)
    monkeypatch.setattr(bench, "_frame", lambda folder: frame)
    return tmp_path


def test_without_a_name_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert capsys.readouterr().out.startswith("records: matching records")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SensewireError, match="there is no benchmark 'record'; there are: records"):
        run("record")


def test_help_says_what_is_written_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "benchmarks/results/NAME.json" in said
    assert "It needs a checkout" in said


def test_elsewhere_it_says_that_it_needs_a_checkout(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "sensewire"
    (tmp_path / "benchmarks").mkdir(parents=True)  # somebody else's
    with pytest.raises(SensewireError, match="from a checkout of Sensewire only"):
        bench.benchmarks(package)
    assert (bench.benchmarks() / "frame.py").is_file()


@pytest.mark.usefixtures("toy")
def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda name: None if name == "duckdb" else name)
    with pytest.raises(SensewireError, match="bench needs duckdb; in the checkout: pip install"):
        run("toy")


def test_a_run_prints_a_table_and_writes_its_results(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("toy", "--seed", "5") == 0
    captured = capsys.readouterr()
    assert "toying" in captured.err
    assert captured.out.startswith("toy: seed 5, commit ")
    assert "match, events/s" in captured.out
    written = json.loads((toy / "results" / "toy.json").read_text())
    assert (written["seed"], written["quick"]) == (5, False)
    assert (toy / "results" / "toy.png").exists()


def test_a_quick_run_writes_what_it_is_asked_to(toy: Path, tmp_path: Path) -> None:
    assert run("toy", "--quick") == 0
    assert not (toy / "results").exists()
    assert run("toy", "--quick", "--json", str(tmp_path / "mine.json")) == 0
    assert json.loads((tmp_path / "mine.json").read_text())["quick"] is True


@pytest.mark.usefixtures("toy")
def test_a_name_that_the_chart_would_overwrite_is_refused() -> None:
    with pytest.raises(SensewireError, match=r"mine.png: expected a name that ends in .json"):
        run("toy", "--json", "mine.png")


@pytest.mark.usefixtures("toy")
def test_a_wrong_answer_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SensewireError, match="ours answers event 3"):
        run("toy", "--seed", "13")
    assert "events/s" not in capsys.readouterr().out


def test_declaring_the_command_loads_nothing_heavy() -> None:
    program = (
        "import sys; from sensewire.cli import bench;"
        "print(sorted({'numba', 'numpy', 'rich', 'matplotlib', 'frame'} & {*sys.modules}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
