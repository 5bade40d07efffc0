"""The archive of Spark's classes: written whole or not at all, and mapped where it is there."""

import subprocess
import sys
from pathlib import Path

import pytest

from sensewire.model.errors import SensewireError
from sensewire.spark import classes
from sensewire.spark.classes import archive_beside, archived, mapping_options

FAKE = """#!/bin/sh
{}
"""


def instead_of_python(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script be what writes archives: its third argument is the file."""
    program = folder / "python"
    program.write_text(FAKE.format(script))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A launcher's folder, with an archive."""
    instead_of_python(tmp_path, monkeypatch, 'printf classes > "$3"')
    assert archive_beside(tmp_path / "home") is None
    assert archived(tmp_path / "home") is True
    return tmp_path / "home"


def test_what_is_there_is_mapped_and_not_written_again(home: Path) -> None:
    (archive,) = home.iterdir()
    assert archive_beside(home) == archive
    assert archive.read_bytes() == b"classes"
    assert f'"-XX:SharedArchiveFile={archive}"' in mapping_options(home)
    assert archived(home) is False
    assert list(home.iterdir()) == [archive]


def test_an_archive_of_another_size_would_kill_java_and_is_none(home: Path) -> None:
    (archive,) = home.iterdir()
    archive.write_bytes(b"cla")
    assert archive_beside(home) is None
    assert mapping_options(home) == ""
    assert archived(home) is True
    assert archive_beside(home) == archive
    assert archive.read_bytes() == b"classes"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('printf half > "$3"; echo one >&2; echo no memory >&2; exit 1', "failed: no memory"),
        ("exit 0", "failed: Java wrote no archive"),
        ("sleep 60", "did not run"),
    ],
)
def test_half_an_archive_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    instead_of_python(tmp_path, monkeypatch, script)
    monkeypatch.setattr(classes, "_LONGEST", 1)
    home = tmp_path / "home"
    with pytest.raises(SensewireError, match=reason):
        archived(home)
    assert list(home.iterdir()) == []


@pytest.mark.spark
@pytest.mark.long
def test_a_real_one_is_written_by_java_and_starts_spark(tmp_path: Path) -> None:
    """From nothing: in a cache folder of its own, as on a new machine."""
    program = """
import os
from sensewire.spark.classes import archive_beside, archived
from sensewire.spark.java import java_home, packaged_java
from sensewire.spark.session import spark_session
from pathlib import Path
home = java_home(os.environ, packaged=packaged_java())
assert archived(home)
spark = spark_session(master="local[1]")
jvm = int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
assert str(archive_beside(home)) in Path(f"/proc/{jvm}/maps").read_text()
print(spark.range(5).count(), home)
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert run.stdout.startswith(f"5 {tmp_path}"), run.stderr
