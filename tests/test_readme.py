"""The examples of the README are run: those in Python as doctests, those for the shell too."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sensewire.cli.main import main
from tests.terminals import running, typed_in

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def test_the_examples_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert not results.failed


def shell_blocks(folder: Path) -> list[str]:
    """The blocks that call `sensewire`, with a folder of the test's in the place of /tmp."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [block.replace("/tmp", str(folder)) for block in blocks if "sensewire " in block]


@pytest.mark.spark
def test_the_first_five_minutes(tmp_path: Path) -> None:
    """As somebody types it, in a shell, with the command that was installed."""
    start = shell_blocks(tmp_path)[0]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["sh", "-e", "-c", start],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    said = run.stdout.splitlines()
    (summary,) = re.findall(r"`match` ends with `(.*)`", README.read_text(encoding="utf-8"))
    assert said[0] == summary
    assert sorted(said[1:3]) == [
        '{"event":"kite","subscription":"ben","rows":null,"distance":0.0}',
        '{"event":"offer","subscription":"anna","rows":null,"distance":0.0}',
    ]
    assert f'"place":"{tmp_path}/start/events.jsonl:3"' in said[3]
    assert said[4] == "yes: offer matches the subscription"


@pytest.mark.usefixtures("spark")
def test_the_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    block = shell_blocks(tmp_path)[1]
    commands = [shlex.split(line)[1:] for line in block.splitlines()]
    assert [command[0] for command in commands] == ["replay", "learn", "save", "match"]
    for command in commands:
        assert main(command) == 0, capsys.readouterr().err
    assert re.search(r"\d+ events, \d+ matches, \d+ rejected, \d+ failed", capsys.readouterr().out)


@pytest.mark.spark
def test_the_stream(tmp_path: Path) -> None:
    """Two terminals: one runs it, the other subscribes and publishes."""
    starting, typed = shell_blocks(tmp_path)[2:]
    with running(starting) as environment:
        said = typed_in(typed, environment)
    assert said == [
        "anna stands",
        "1 events published, the log reaches to 1",
        "1  anna ← offer",
        "   yes: offer matches anna",
        '     ✓ product = computer  product: "notebook"; notebook means laptop, which is a kind of '
        "computer",
        "     ✓ price <= 1600       value: 900; value means price; 900 <= 1600",
        "anna cancelled",
    ]
