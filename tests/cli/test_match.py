"""`sensewire match`: its options, its last line, its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sensewire.cli.main import main


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    """A command line over two subscriptions and three lines of events."""
    (tmp_path / "s.jsonl").write_text(
        '{"id": "anna", "text": "price < 900"}\n'
        '{"id": "ben", "text": "price >", "expires": "2024-03-02"}\n'
    )
    (tmp_path / "e.jsonl").write_text('{"id": "a", "price": 5}\nbad\n{"id": "b", "price": 950}\n')
    return [
        *("match", "--subscriptions", str(tmp_path / "s.jsonl")),
        *("--events", str(tmp_path / "e.jsonl"), "--out", str(tmp_path / "out")),
    ]


@pytest.mark.usefixtures("spark")
def test_the_last_line_counts(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*line, "--now", "2024-03-01", "--id-field", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "2 events, 1 matches, 2 rejected, 0 failed"
    assert captured.err == ""
    (match,) = pq.read_table(tmp_path / "out").to_pylist()
    assert match["event"] == f"{tmp_path / 'e.jsonl'}:1"
    run = json.loads((tmp_path / "out/_run.json").read_text())
    assert run["now"] == "2024-03-01T00:00:00+00:00"
    assert run["options"]["id_field"] is None

    assert main(line) == 2
    assert "exists; name another folder, or say --overwrite" in capsys.readouterr().err
    (tmp_path / "more.nq").write_text('<http://x/a> <http://x/price> "5" <http://x/g> .\n')
    assert main([*line, "--overwrite", "--events", str(tmp_path / "more.nq")]) == 0
    assert capsys.readouterr().out == "3 events, 2 matches, 2 rejected, 0 failed\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--knowledge", "k.ttl"], "k.ttl: there is no such file"),
        (["--now", "soon"], "the time 'soon' is no date"),
        (["--partitions", "0"], "--partitions 0: expected a whole number above 0"),
        (["--master", "mars"], "'mars' is no Spark master"),
    ],
)
def test_options_that_make_no_sense(
    line: list[str],
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*line, *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("sensewire: ")
    assert message in captured.err
    assert captured.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"s.jsonl", "e.jsonl"}


@pytest.mark.parametrize(
    "options", [["--format", "csv"], ["--partitions", "many"], ["--index-memory", "0"]]
)
def test_options_that_argparse_refuses(line: list[str], options: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*line, *options])
    assert end.value.code == 2


@pytest.mark.spark
def test_the_command_itself_in_another_folder(line: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "sensewire.cli.main"]
    found = subprocess.run(
        [*command, *line, "--master", "local[1]"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[-1] == "2 events, 1 matches, 2 rejected, 0 failed"
    assert {path.name for path in tmp_path.iterdir()} == {"s.jsonl", "e.jsonl", "out"}


@pytest.mark.spark
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_ended_leaves_nothing_behind(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    """Also while Spark starts, when a JVM is easily left alone."""
    (tmp_path / "s.jsonl").write_text('{"id": "s", "text": "everything"}')
    (tmp_path / "e.jsonl").write_text("{}")
    words = ["--subscriptions", "s.jsonl", "--events", "e.jsonl", "--out", "out"]
    run = subprocess.Popen(
        [sys.executable, "-m", "sensewire.cli.main", "match", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(2.5)
    os.killpg(run.pid, number)
    _, printed = run.communicate(timeout=60)
    assert (run.returncode, printed) == (code, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.jsonl", "s.jsonl"]
    assert not is_left(run.pid)


def is_left(group: int) -> bool:
    """Whether some process of a group, a JVM perhaps, lives on for ten seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True
