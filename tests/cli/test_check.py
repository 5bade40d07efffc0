"""`sensewire check`: the canonical form, or the caret."""

import subprocess
import sys
from pathlib import Path

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


def test_a_word_of_several_meanings_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Proved by breaking: knowledge that is loaded but not asked."""
    (tmp_path / "shop.yaml").write_text("hierarchy: {bank: building}")
    (tmp_path / "river.yaml").write_text("hierarchy: {bank: shore}")
    files = [str(tmp_path / name) for name in ("shop.yaml", "river.yaml")]
    assert main(["check", "place = bank", "--knowledge", files[0]]) == 0
    assert capsys.readouterr().out == "place = bank\n"
    assert main(["check", "place = bank", "--knowledge", *files]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("sensewire: 'bank' has 2 meanings: ")
    assert '"river:bank"' in captured.err
    for text in ('place = "river:bank"', "place = exactly bank"):
        assert main(["check", text, "--knowledge", *files]) == 0


def test_knowledge_that_cannot_be_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "a = b", "--knowledge", str(tmp_path / "none.yaml")]) == 2
    assert "there is no such file" in capsys.readouterr().err
