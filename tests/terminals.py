"""What somebody types at two terminals: one runs a stream, the other talks to its store."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
_PATIENCE = 120  # seconds


@contextmanager
def running(command: str, **variables: str) -> Iterator[dict[str, str]]:
    """A command that runs a stream, once it is ready, and the environment of other terminals; it
    is ended as a user ends it, and must say at its end what came of it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **variables}
    process = subprocess.Popen(
        ["sh", "-c", f"exec {command.strip()}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        ready = process.stdout.readline()
        assert ready.startswith("ready: "), (ready, process.communicate()[1])
        yield environment
    finally:
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 0, errors
    assert out.splitlines()[-1].endswith(" failed")


def typed_in(block: str, environment: dict[str, str]) -> list[str]:
    """What a shell prints."""
    run = subprocess.run(
        ["sh", "-e", "-c", block],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()
