"""A command that is asked to end: it does, and what fails on the way is not told."""

import signal
import subprocess
import sys

import pytest

FAILING = """
import os, sys
from sensewire.cli import main, warm
from sensewire.model.errors import SensewireError

def run(arguments):
    try:
        os.kill(os.getpid(), {number})
        while True:
            pass
    finally:
        raise SensewireError("the Spark job failed")

warm.run = run
sys.exit(main.main(["warm"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_error_after_a_request_to_end_is_not_told(number: signal.Signals) -> None:
    code = FAILING.format(number=int(number))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (run.returncode, run.stderr) == (128 + number, b"")


def test_an_error_without_one_is() -> None:
    code = FAILING.format(number=0).replace("while True:", "while False:")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (run.returncode, run.stderr) == (2, b"sensewire: the Spark job failed\n")
