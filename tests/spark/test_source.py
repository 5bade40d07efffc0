"""The log as a source of Spark's, and the processes that Spark starts for it: none of them writes
on the terminal when it is no longer needed."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from sensewire.spark.source import LogSource
from sensewire.store.database import Store, open_store
from tests.spark.streams import ask, begun, check, publish, runs, wait_for_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENOUGH = 20.0  # seconds
INITIAL_OFFSET, REPORT_OFFSET = 884, 892  # what Spark asks, as numbers
THROWN = -2  # what answers that an exception follows


@dataclass(slots=True)
class Wire:
    """A connection on which numbers and bytes are sent as Spark sends them; Any: a socket's file,
    which can be read and written."""

    file: Any

    def number(self) -> int:
        """Read a number."""
        return int.from_bytes(self.file.read(4), "big", signed=True)

    def text(self) -> str:
        """Read a text."""
        return str(self.file.read(self.number()), "utf-8")

    def write(self, *items: int | bytes) -> None:
        """Write numbers and bytes."""
        for item in items:
            if isinstance(item, bytes):
                self.file.write(len(item).to_bytes(4, "big") + item)
            else:
                self.file.write(item.to_bytes(4, "big"))
        self.file.flush()


@contextmanager
def asked(url: str, errors: Path) -> Iterator[tuple["subprocess.Popen[bytes]", "Wire"]]:
    """The process that Spark asks for the log, and a connection to it as Spark has it."""
    from pyspark.serializers import CPickleSerializer
    from pyspark.sql.types import LongType, StructType

    source = LogSource({"store": url, "most": "0", "tasks": "1"})
    columns = StructType().add("after", LongType()).add("upto", LongType())
    # The path of a socket has a hundred letters at most, and a test's folder has more.
    with TemporaryDirectory(prefix="sensewire-") as folder, socket.socket(socket.AF_UNIX) as spark:
        path = f"{folder}/socket"
        spark.bind(path)
        spark.listen()
        with (
            errors.open("wb") as written,
            subprocess.Popen(
                [sys.executable, "-m", "pyspark.sql.streaming.python_streaming_source_runner"],
                env={**os.environ, "PYTHON_WORKER_FACTORY_SOCK_PATH": path},
                stderr=written,
            ) as process,
        ):
            connection, _ = spark.accept()
            with connection, connection.makefile("rwb") as file:
                wire = Wire(file)
                pickled: Any = CPickleSerializer()
                assert wire.number() == process.pid
                wire.write(
                    b"%d.%d" % sys.version_info[:2],
                    folder.encode(),
                    0,  # further files
                    pickled.dumps(source),
                    columns.json().encode(),
                    100,  # rows of a batch
                )
                assert wire.number() == 0
                yield process, wire
            process.wait(ENOUGH)


@pytest.mark.parametrize("question", [None, INITIAL_OFFSET], ids=["idle", "before it answers"])
def test_who_is_asked_for_the_log_ends_without_a_word_when_spark_has_gone(
    tmp_path: Path, question: int | None
) -> None:
    store = open_store(tmp_path / "store.db")
    errors = tmp_path / "errors"
    with asked(store.url, errors) as (process, wire):
        if question is not None:
            wire.write(question)
            time.sleep(0.3)  # what is not read by then is lost with the connection
    assert process.returncode != 0
    assert errors.read_text() == ""
    store.close()


def test_who_is_asked_for_the_log_says_what_went_wrong(tmp_path: Path) -> None:
    with asked(str(tmp_path / "none.db"), tmp_path / "errors") as (_, wire):
        wire.write(REPORT_OFFSET)
        assert wire.number() == THROWN
        said = wire.text()
    assert "there is no store" in said


def test_only_a_lost_connection_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    from sensewire.spark.source import _tell_unless_left

    for error in (BrokenPipeError(), ConnectionResetError()):
        _tell_unless_left(type(error), error, None)
    assert capsys.readouterr().err == ""
    _tell_unless_left(ValueError, ValueError("a fault"), None)
    assert capsys.readouterr().err == "ValueError: a fault\n"


@pytest.mark.long
@pytest.mark.spark
def test_a_stream_that_has_nothing_to_do_says_nothing(filed: Store, tmp_path: Path) -> None:
    """(After a minute Spark closes the connections of processes that it does not need.)"""
    with begun(tmp_path, "run", "--store", filed.url, "--checkpoint", tmp_path / "c") as running:
        running.ready()
        time.sleep(90)
        publish(filed, [{"id": "late"}])
        wait_for_all(filed, running)
        assert running.told_to_end() == 0
        said = running.errors.splitlines()
    assert all(re.match(r"[\d,]+ events/s, ", line) for line in said), said


def test_one_session_has_one_stream_after_another(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ask(filed, {"all": "everything"})
    for name in "ab":
        with runs(spark, filed, tmp_path / name) as (_, gauges):
            publish(filed, [{"id": name}])
            wait_for_all(filed, gauges)
    assert len(check(filed)) == 2
