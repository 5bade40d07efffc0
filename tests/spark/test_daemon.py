"""The daemon of Spark's workers: it has what a worker needs, and forks only what can be forked."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from sensewire.spark.daemon import strange_threads
from sensewire.spark.session import DAEMON, session_settings
from tests.spark.streams import wait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOAD = """
import os, sys
variables = dict(os.environ)
from sensewire.spark import daemon
daemon.load()
print(daemon.strange_threads(), dict(os.environ) == variables)
print(all(name in sys.modules for name in ("sensewire.batches", "pyspark.worker", "numba")))
"""


def first_words(*lines: str) -> bytes:
    """What the daemon writes first, started with these lines of Python before it."""
    code = "\n".join(
        [
            "import os, runpy, sys",
            *lines,
            "sys.argv = ['daemon', 'pyspark.worker']",
            f"runpy.run_module({DAEMON!r}, run_name='__main__', alter_sys=False)",
        ]
    )
    daemon = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHON_WORKER_FACTORY_SECRET": "secret"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    try:
        return daemon.stdout.read(4)
    finally:
        daemon.stdin.close()
        daemon.stdout.close()
        daemon.wait()


def test_what_is_loaded_starts_no_thread_and_changes_no_variable() -> None:
    run = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[] True", "True"]


def test_a_thread_is_seen() -> None:
    ended = Event()
    before = len(strange_threads())
    thread = Thread(target=ended.wait)
    thread.start()
    try:
        assert len(strange_threads()) == before + 1
    finally:
        ended.set()
        thread.join()


def is_port(words: bytes) -> bool:
    return 1_024 <= int.from_bytes(words, "big") <= 65_535


def test_the_first_word_is_the_port_whatever_is_printed_before() -> None:
    noise = "import sensewire.warming as w; w.load_kernels = lambda: os.write(1, b'compiling')"
    assert is_port(first_words(noise))


def test_a_failure_to_load_is_none_to_work() -> None:
    assert is_port(first_words("sys.modules['sensewire.warming'] = None"))


def test_a_process_with_threads_becomes_sparks_own_daemon() -> None:
    seen = "replaced = os.execv; os.execv = lambda *a: (os.write(1, a[1][2].encode()), os._exit(0))"
    thread = (
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
    )
    assert first_words(seen, thread) == b"pysp"
    assert is_port(first_words(thread))


def test_a_worker_that_nobody_listens_to_any_more_ends_without_a_word() -> None:
    assert words_of_an_orphan(DAEMON, "pyspark.worker") == b""


PLANNER = """
import struct, sys

def main(infile, outfile):
    {source}
    try:
        (number,) = struct.unpack("!i", infile.read(4))
        outfile.write(struct.pack("!i", number))
    except BaseException:
        outfile.write(b"whom Spark does not hear any more")
        sys.exit(-1)
"""


@pytest.mark.parametrize(
    ("source", "is_quiet"),
    [("import sensewire.spark.source", True), ("", False)],
    ids=["of the log", "of others"],
)
def test_who_planned_to_read_the_log_ends_without_a_word(
    tmp_path: Path, source: str, is_quiet: bool
) -> None:
    """(A process that plans is forked from Spark's own daemon, and asked until Spark closes.)"""
    (tmp_path / "pyspark_planner.py").write_text(PLANNER.format(source=source))
    found = words_of_an_orphan(
        "pyspark.daemon", "pyspark_planner", questions=1,
        PYTHONPATH=str(tmp_path), SPARK_REUSE_WORKER="1",
    )  # fmt: skip
    assert (found == b"") == is_quiet, found


def words_of_an_orphan(
    module: str, worker_module: str, questions: int = 0, **variables: str
) -> bytes:
    """What a worker of a daemon writes whose connection is closed when it has just begun, or when
    it has answered some questions."""
    with (
        # The path of a socket has a hundred letters at most, and a test's folder has more.
        TemporaryDirectory(prefix="sensewire-") as folder,
        subprocess.Popen(
            [sys.executable, "-m", module, worker_module],
            env={
                **os.environ,
                "PYTHON_UNIX_DOMAIN_ENABLED": "true",
                "PYTHON_WORKER_FACTORY_SOCK_DIR": folder,
                "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1",
                **variables,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as daemon,
    ):
        assert daemon.stdout is not None
        assert daemon.stderr is not None
        path = daemon.stdout.read(int.from_bytes(daemon.stdout.read(4), "big")).decode()
        with socket.socket(socket.AF_UNIX) as spark:
            spark.connect(path)
            worker = int.from_bytes(spark.recv(4), "big")
            for number in range(questions):
                spark.sendall(number.to_bytes(4, "big"))
                assert spark.recv(4) == number.to_bytes(4, "big")
        wait(lambda: not Path(f"/proc/{worker}").exists(), "the worker's end")
        daemon.kill()
        return daemon.stderr.read()


def test_workers_have_the_kernels_when_they_start(spark: "SparkSession") -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        loaded = "sensewire.match.compiled.panel" in sys.modules
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"loaded": [loaded]})

    [row, *_] = spark.range(1).mapInArrow(look, "loaded boolean").collect()
    assert row.loaded
    assert spark.sparkContext.getConf().get("spark.python.daemon.module") == DAEMON


def test_the_daemon_module_can_be_another() -> None:
    name = "spark.python.daemon.module"
    assert session_settings("yarn", {name: "pyspark.daemon"})[name] == "pyspark.daemon"
