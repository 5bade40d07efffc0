"""Spark's classes as an archive that the JVM maps, in the place of reading a few hundred jars.

Java can write the classes that a process has loaded to a file when it ends, and map them when the
next one starts (class data sharing). `sensewire warm` lets a small job end so; every local session
of this Java and this Spark then starts in less than half the time. Java itself sees to it that an
archive fits, and passes over it where jars have changed. One that was cut short would kill it: so
the name says the size, and only an archive of that size is mapped.

    ~/.cache/sensewire/java-1f0c…/spark-4.3.0-9b1e…-157442048.jsa   beside the launcher of that Java
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sensewire.model.errors import SensewireError

_QUIET = "-Xlog:disable -Xlog:all=error:stderr"  # or it tells of each class, and what does not fit
_LONGEST = 300  # seconds


def archive_beside(java_home: Path) -> Path | None:
    """The archive of this Spark for the Java of a launcher; None where there is no whole one."""
    for path in java_home.glob(f"{_stem()}-*.jsa"):
        with suppress(OSError):
            if path.stem == f"{_stem()}-{path.stat().st_size}":
                return path
    return None


def _stem() -> str:
    import pyspark

    # Java takes the archive of these jars only: installed anew at the same place, they are others.
    jars = Path(pyspark.__file__).absolute().with_name("jars")
    installed = f"{jars} {jars.stat().st_mtime_ns if jars.is_dir() else 0}"
    return f"spark-{pyspark.__version__}-{hashlib.sha256(installed.encode()).hexdigest()[:12]}"


def mapping_options(java_home: Path) -> str:
    """The options that let a JVM map the archive; none where there is no archive."""
    with suppress(ImportError):
        if archive := archive_beside(java_home):
            return f'"-XX:SharedArchiveFile={archive}" {_QUIET}'
    return ""


def archived(java_home: Path) -> bool:
    """Write the archive, unless it is there; whether it was written now."""
    if archive_beside(java_home):
        return False
    java_home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=java_home) as place:
        draft = Path(place) / "draft.jsa"
        command = [sys.executable, "-m", "sensewire.spark.classes", str(draft)]
        try:
            run = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LONGEST,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SensewireError(f"the job that loads them did not run ({error})") from error
        if run.returncode or not draft.is_file():
            said = run.stderr.strip().splitlines()[-1:] or ["Java wrote no archive"]
            raise SensewireError(f"the job that loads them failed: {said[0]}")
        draft.replace(java_home / f"{_stem()}-{draft.stat().st_size}.jsa")
    return True


def _write(draft: Path) -> None:
    """Run a small job, and end its JVM so that it writes the archive."""
    from pyspark import SparkContext

    from sensewire.spark.job import MatchJob, run
    from sensewire.spark.session import JAVA_OPTIONS, spark_session

    with tempfile.TemporaryDirectory(prefix="sensewire-classes-") as place:
        folder = Path(place)
        (folder / "subscriptions.jsonl").write_text('{"id": "a", "text": "price > 5"}\n')
        (folder / "events.jsonl").write_text('{"price": 7}\n')
        settings = {JAVA_OPTIONS: f'"-XX:ArchiveClassesAtExit={draft}" {_QUIET}'}
        spark = spark_session(master="local[1]", settings=settings)
        now = datetime.now(UTC)
        events = (folder / "events.jsonl",)
        run(
            MatchJob(folder / "subscriptions.jsonl", events, folder / "out", now),
            lambda: spark,
        )
        spark.stop()
    gateway: Any = SparkContext._gateway  # Any: py4j has no types
    gateway.shutdown()
    gateway.proc.stdin.close()  # which is what the JVM waits for
    if gateway.proc.wait(_LONGEST):
        raise SensewireError("Java ended with an error when it wrote the archive")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write an archive of Spark's classes to a file.")
    parser.add_argument("draft", type=Path)
    _write(parser.parse_args().draft)
    os._exit(0)  # py4j would wait for a JVM that has ended
