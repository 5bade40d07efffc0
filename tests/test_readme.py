"""The examples of the README are run: those in Python as doctests, those for the shell too."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def test_the_examples_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert not results.failed


def shell_commands() -> list[str]:
    """The commands of the README that call `sensewire`, whole lines joined."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("sensewire ")]


@pytest.mark.spark
@pytest.mark.parametrize("command", shell_commands(), ids=lambda line: line.split()[1])
def test_the_examples_for_the_shell(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)[1:]
    words = [str(tmp_path / "out") if word.startswith("/tmp/") else word for word in words]
    script = Path(sys.executable).with_name("sensewire")
    run = subprocess.run(
        [str(script), *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert re.search(r"\d+ events, \d+ matches, \d+ rejected, \d+ failed", run.stdout)
