"""A real cluster on this machine: Spark's standalone master and two workers, as processes.

    with cluster(folder) as standing:
        standing.master            spark://127.0.0.1:40123
        standing.workers[0].kill() the worker and its executors, at once

All from the Python package of Spark, on loopback and on free ports. What a worker started, that is
its executors and their Python, are found as its descendants: nobody else's processes are touched.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyspark

from sensewire.spark.java import java_home, packaged_java

HOST = "127.0.0.1"
HOME = Path(pyspark.__file__).parent
PATIENCE = 90  # seconds


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process, and the folder that its executors work in."""

    process: "subprocess.Popen[bytes]"
    folder: Path

    def descendants(self) -> list[int]:
        """The processes of this worker: itself, its executors, their Python."""
        parents = dict(_parents())
        found = [self.process.pid]
        for one in found:
            found += [pid for pid, parent in parents.items() if parent == one]
        return found

    def kill(self) -> None:
        """End it as a machine that fails does: everything at once, with no word to anybody."""
        for pid in self.descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)  # so that nothing is started meanwhile
        for pid in self.descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True)
class Cluster:
    """A master, and its workers."""

    master: str
    page: str
    variables: Mapping[str, str]
    workers: list[Worker]

    def status(self) -> dict[str, Any]:
        """What the master says of its workers and applications."""
        with urlopen(f"{self.page}/json/", timeout=10) as answer:
            status: dict[str, Any] = json.load(answer)
            return status

    def restart(self, worker: Worker) -> None:
        """Put a worker in the place of one that was killed."""
        place = self.workers.index(worker)
        self.workers[place] = self.started(worker.folder)
        self.wait()

    def started(self, folder: Path) -> Worker:
        """A new worker of one core, which works in this folder."""
        options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder))
        return _started("worker.Worker", folder, self.variables, *options, self.master)

    def wait(self) -> None:
        """Wait until every worker has been seen by the master."""
        count = len(self.workers)
        _until(lambda: self.status()["aliveworkers"] == count, "the workers did not register")


@contextmanager
def cluster(
    folder: Path, count: int = 2, environment: Mapping[str, str] = os.environ
) -> Iterator[Cluster]:
    """Start a master and workers of one core each, and end them and all that they started."""
    variables = {
        **environment,
        "JAVA_HOME": str(java_home(environment, packaged=packaged_java())),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
    }
    ports = ("--port", "0", "--webui-port", "0")
    master = _started("master.Master", folder / "master", variables, *ports)
    workers: list[Worker] = []
    try:
        address = _said(master, "Starting Spark master at ")
        page = f"http://{HOST}:{_said(master, 'Bound MasterWebUI to ').rpartition(':')[2]}"
        standing = Cluster(address, page, variables, workers)
        workers += [standing.started(folder / f"worker{number}") for number in range(count)]
        standing.wait()
        yield standing
    finally:
        for each in (*workers, master):
            each.kill()


def _started(name: str, folder: Path, variables: Mapping[str, str], *arguments: str) -> Worker:
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", HOST]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *arguments],
            env=dict(variables),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return Worker(process, folder)


def _said(worker: Worker, words: str) -> str:
    """What follows these words in a process's log, as soon as it stands there."""
    log = worker.folder / "log"

    def found() -> str:
        _, _, rest = log.read_text(errors="replace").partition(words)
        line, newline, _ = rest.partition("\n")
        return line.strip().rstrip(".") if newline else ""

    _until(lambda: bool(found()), f"no {words!r} in {log}")
    return found().split(", ")[-1]


def _until(true: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.1)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                yield int(entry.name), int(fields[1])
