"""The processes of a session on this machine: what each has of the processor and the memory.

    this process ──> JVM ──> daemon ──fork──> worker, worker

From /proc, and so on Linux only.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROC = Path("/proc")
_DAEMON = "-m sensewire.spark.daemon"
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.1  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Processes:
    """Who there is, by process id."""

    jvm: int
    daemons: tuple[int, ...]
    workers: tuple[int, ...]

    @classmethod
    def of(cls, spark: "SparkSession") -> "Processes":
        """The processes of a session on this machine, once a job has run in it."""
        java: Any = spark.sparkContext._jvm  # Any: py4j has no types
        jvm = int(java.java.lang.ProcessHandle.current().pid())
        daemons = [id for id in _children(jvm) if _DAEMON in _command(id)]
        return cls(jvm, tuple(daemons), tuple(id for each in daemons for id in _children(each)))

    @staticmethod
    def are_seen() -> bool:
        """Whether this system tells of its processes."""
        return (_PROC / "self" / "smaps_rollup").exists()

    def memory(self) -> int:
        """The workers' proportional share of memory (PSS), in bytes."""
        return sum(_sizes(_PROC / str(id) / "smaps_rollup", "Pss:") for id in self.workers)

    def touched(self, folder: Path) -> int:
        """Bytes of a folder's files that are mapped by some worker, by whichever has most."""
        return max(_mapped(id, folder) for id in self.workers)

    def seconds(self) -> dict[str, float]:
        """The processor time that each had so far, in seconds."""
        return {
            "workers": sum(map(_seconds, (*self.daemons, *self.workers))),
            "JVM": _seconds(self.jvm),
            "driver": _seconds(os.getpid()),
        }


@dataclass(slots=True)
class Highest:
    """The most memory that workers were seen with."""

    memory: int = 0


@contextmanager
def watched(spark: "SparkSession") -> Iterator[Highest]:
    """Look at the workers' memory every now and then, until the end."""
    highest, ended = Highest(), threading.Event()

    def look() -> None:
        while not ended.wait(_EVERY):
            with suppress(OSError):  # one that ended meanwhile
                highest.memory = max(highest.memory, Processes.of(spark).memory())

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield highest
    finally:
        ended.set()
        looking.join()


def _children(id: int) -> list[int]:
    tasks = (_PROC / str(id) / "task").glob("*/children")
    return sorted(int(child) for task in tasks for child in task.read_text().split())


def _command(id: int) -> str:
    return (_PROC / str(id) / "cmdline").read_bytes().replace(b"\0", b" ").decode()


def _stat(id: int) -> list[str]:
    """What follows a process's name: its state, its parent …"""
    return (_PROC / str(id) / "stat").read_text().rpartition(")")[2].split()


def _seconds(id: int) -> float:
    """Of a process, and of its children that have ended."""
    return sum(map(int, _stat(id)[11:15])) / _TICKS


def _sizes(path: Path, name: str) -> int:
    lines = path.read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _mapped(id: int, folder: Path) -> int:
    """Resident bytes of a folder's files in a process."""
    total, is_here = 0, False
    for line in (_PROC / str(id) / "smaps").read_text().splitlines():
        if not line.split(maxsplit=1)[0].endswith(":"):  # the head of a mapping
            is_here = str(folder) in line
        elif is_here and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total
