"""`sensewire check`: the canonical form, or the caret."""

import subprocess
import sys

import pytest

from sensewire.cli.main import main


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("price<=1600", "price <= 1600"),
        ("price\n <= 1600", "price <= 1600"),
        ("'two words' = x", '"two words" = x'),
    ],
)
def test_the_canonical_form_on_one_line(
    text: str, canonical: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", text]) == 0
    assert capsys.readouterr().out == canonical + "\n"
    assert main(["check", canonical]) == 0
    assert capsys.readouterr().out == canonical + "\n"


def test_a_caret_under_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "colour = red and price <="]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second = captured.err.splitlines()
    assert first == "colour = red and price <="
    assert second == " " * len(first) + "^ expected a value"


@pytest.mark.parametrize("options", [["--language", "klingon"], ["--reading", "backwards"]])
def test_an_unknown_language_or_reading_is_an_error(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "b = 1", *options]) == 2
    assert options[1] in capsys.readouterr().err


def test_the_command_itself() -> None:
    command = [sys.executable, "-W", "error", "-m", "sensewire.cli.main"]
    good = subprocess.run([*command, "check", "b=1"], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout, good.stderr) == (0, "b = 1\n", "")
    bad = subprocess.run([*command, "check", "b="], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "Traceback" not in bad.stderr
