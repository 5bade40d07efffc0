"""The command `sensewire`: help, versions, errors in one line, and a light start."""

import subprocess
import sys
from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.model.subscription import Subscription


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(command in text for command in ("match", "check", "demo"))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("sensewire 0.")


@pytest.mark.parametrize("arguments", [[], ["matches"], ["match"], ["check"]])
def test_a_command_line_that_makes_no_sense_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2


def test_errors_are_one_line_on_stderr(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "none.jsonl")
    out = str(tmp_path / "out")
    assert main(["match", "--subscriptions", missing, "--events", missing, "--out", out]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"sensewire: {missing}: No such file or directory; expected a file or folder of events\n"
    )


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(text: str, language: str, reading: str | None) -> Subscription:
        raise KeyboardInterrupt

    monkeypatch.setattr("sensewire.language.parse.parse", interrupted)
    assert main(["check", "b = 1"]) == 130


def test_starting_is_light() -> None:
    program = (
        "import sys; from sensewire.cli.main import main; main(['check', 'b = 1']);"
        "print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'pyspark', 'pandas', 'pyarrow', 'numba', 'rich', 'pyoxigraph'}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("option", ["--events", "--out"])
def test_what_the_system_refuses_is_one_line(
    option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "e.jsonl").write_text("{}")
    paths = {
        "--subscriptions": str(tmp_path / "e.jsonl"),
        "--events": str(tmp_path / "e.jsonl"),
        "--out": str(tmp_path / "out"),
        option: str(tmp_path / ("x" * 300)),
    }
    assert main(["match", *(word for pair in paths.items() for word in pair)]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("sensewire: ")
    assert printed.count("\n") == 1
    assert "File name too long" in printed


def test_an_empty_path_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["match", "--subscriptions", "s", "--events", "", "--out", "o"])
    assert "expected a path, not an empty text" in capsys.readouterr().err
