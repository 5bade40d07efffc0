"""The story of all kernels: told with no compiler where the cache has them, and with no thread."""

import os
import subprocess
import sys
from pathlib import Path

COMPILED = """
from numba.core import event
from sensewire import warming
with event.install_recorder("numba:compile") as recorder:
    complete = warming.load_kernels()
import threading
print(complete, len(recorder.buffer), threading.active_count())
"""


def told(variables: dict[str, str]) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", COMPILED],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


def test_what_the_cache_has_is_loaded() -> None:
    warm = [sys.executable, "-m", "sensewire.cli.main", "warm"]
    subprocess.run(warm, check=True, capture_output=True)
    assert told({}) == ["True", "0", "1"]


def test_what_the_cache_has_not_is_not_compiled(tmp_path: Path) -> None:
    complete, _, threads = told({"NUMBA_CACHE_DIR": str(tmp_path)})
    assert (complete, threads) == ("False", "1")
    assert not list(tmp_path.rglob("*.nbc"))
