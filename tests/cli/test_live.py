"""The line of a running stream: it changes on a terminal, and is told now and then elsewhere."""

import os
import pty
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from sensewire.cli.live import in_words, live_line
from sensewire.spark.gauges import BatchDone, Gauges, Reading

DONE = BatchDone(0, 100, 300, 0, 3, 0, 0.31, 1_204, "v000002", 500, 14, None)
WORDS = r"[\d,]+ events/s, [\d,]+ matches/s, lag 1,204, batch 0\.31 s, 3 rejected, index v000002"
SCRIPT = """
import time
from sensewire.cli.live import live_line
from sensewire.spark.gauges import BatchDone, Gauges

gauges = Gauges()
with live_line(gauges):
    time.sleep(0.7)
    gauges.note(BatchDone(0, 100, 300, 0, 3, 0, 0.31, 1_204, "v000002", 500, 14, None))
    print("a match")
    time.sleep(1.2)
"""


def test_what_is_not_known_or_not_there_is_not_said() -> None:
    last = replace(DONE, lag=None, delta=0)
    assert in_words(Reading(last=last)) == (
        "0 events/s, 0 matches/s, batch 0.31 s, 0 rejected, index v000002"
    )


def test_what_failed_is_said() -> None:
    assert ", 3 rejected, 2 failed, index" in in_words(Reading(rejected=3, failed=2, last=DONE))


def test_where_there_is_no_terminal_a_line_is_told_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gauges = Gauges()
    gauges.note(DONE)
    with live_line(gauges, every=0.1):
        time.sleep(0.55)
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert 2 <= len(lines) <= 5
    assert all(re.fullmatch(WORDS + r" \+ 14", line) for line in lines)
    assert said.out == ""


def test_where_there_is_no_terminal_a_short_run_says_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with live_line(Gauges()):
        pass
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_line_changes_and_the_output_stays_apart() -> None:
    ours, theirs = pty.openpty()
    try:
        run = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        shown = _shown(ours)
        assert run.communicate(timeout=60)[0] == b"a match\n"
        assert run.returncode == 0
    finally:
        os.close(ours)
    before, _, _ = re.split(f"({WORDS})", shown, maxsplit=1)
    assert "no batch yet" in before
    assert shown.endswith("\x1b[2K")  # the line is taken away at the end


def _shown(terminal: int) -> str:
    """All that was written to a terminal until nobody has it open."""
    found = b""
    while True:
        try:
            some = os.read(terminal, 65_536)
        except OSError:  # how Linux says that the other side was closed
            some = b""
        if not some:
            return found.decode()
        found += some
