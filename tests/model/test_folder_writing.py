"""Writing an index folder: whatever goes wrong on the way, one version is whole, nothing is lost.

The processes that die are real ones: killed while they write, or ended right before each single
thing that they ask of the file system.
"""

import errno
import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sensewire.model.errors import IndexFolderError
from sensewire.model.folder_writing import go_back, write_folder
from tests.model.folders import ROOT, number_in, run, versions, write


def snapshot(path: Path) -> dict[str, bytes]:
    files = (entry for entry in path.rglob("*") if entry.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_what_is_something_else_is_left_alone(tmp_path: Path) -> None:
    def foreign(name: str, *files: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text("precious")
        return folder

    (tmp_path / "file").write_text("precious")
    for path, message in [
        (tmp_path / "file", "this is a file"),
        (foreign("thesis", "chapter.txt"), "holds other things"),
        (foreign("leveldb", "CURRENT", "LOCK", "000001.ldb"), "CURRENT: the file is damaged, or"),
        (foreign("lock", "LOCK"), "holds other things"),
        (foreign("writing", "writing/chapter.txt"), "holds other things"),
        (foreign("versions", f"v000001-{'0' * 32}/chapter.txt"), "holds other things"),
    ]:
        before = snapshot(tmp_path)
        with pytest.raises(IndexFolderError, match=message) as error:
            write(path)
        assert str(path) in str(error.value)
        assert snapshot(tmp_path) == before


def test_an_empty_folder_is_taken_and_what_lies_in_an_index_is_kept(tmp_path: Path) -> None:
    write(tmp_path, 1)
    (tmp_path / "README").write_text("precious")
    for number in (2, 3):
        write(tmp_path, number)
    assert (tmp_path / "README").read_text() == "precious"
    assert number_in(tmp_path) == 3


def test_one_can_go_back_and_the_next_writer_keeps_what_one_went_back_to(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    first = write(folder, 1)
    write(folder, 2)
    go_back(folder, first)
    assert number_in(folder) == 1
    third = write(folder, 3)
    assert number_in(folder) == 3
    assert sorted(path.name for path in folder.glob("v*")) == sorted([first, third])


def test_two_cannot_write_at_once(tmp_path: Path) -> None:
    write(tmp_path, 1)
    with (tmp_path / "LOCK").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(IndexFolderError, match="somebody else is writing this index now"):
            write(tmp_path, 2)
        assert number_in(tmp_path) == 1
    write(tmp_path, 2)
    assert number_in(tmp_path) == 2


# What fails on the way


def failing(
    function: Callable[..., Any], at: int, calls: list[int], code: int
) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == at:
            raise OSError(code, os.strerror(code))
        return function(*arguments, **options)

    return call


@pytest.mark.parametrize("name", ["fsync", "mkdir", "rename", "replace"])
def test_a_full_disk_leaves_the_old_version_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of the system's function fails in turn; the last sync comes after the change."""
    write(tmp_path, 1)
    after_the_change = {"fsync": 1}.get(name, 0)
    outcomes = []
    for at in range(1, 20):
        calls: list[int] = []
        with monkeypatch.context() as patch:
            patch.setattr(os, name, failing(getattr(os, name), at, calls, errno.ENOSPC))
            try:
                write(tmp_path, 2)
            except IndexFolderError as error:
                outcomes.append((str(error), number_in(tmp_path)))
            else:
                assert len(calls) < at
                break
        if outcomes[-1][1] == 1:
            assert versions(tmp_path) == ["v000001"]
        else:
            assert versions(tmp_path) == ["v000001", "v000002"]
    old = [text for text, number in outcomes if number == 1]
    assert len(old) >= 1
    assert len(outcomes) - len(old) == after_the_change
    assert all("No space left on device; it takes 804 bytes" in text for text in old)
    assert all(text.endswith("what was there before is as it was") for text in old)
    assert all("is the current one now" in text for text, number in outcomes if number == 2)
    assert number_in(tmp_path) == 2


LIMITED = """
import resource, signal, sys
from pathlib import Path
from tests.model.folders import write
from sensewire.model.errors import IndexFolderError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write(Path(sys.argv[1]), 2, 1_000_000)
except IndexFolderError as error:
    print(error)
"""


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    write(tmp_path, 1)
    printed = run(LIMITED, tmp_path)
    assert "cannot write the index: File too large; it takes 8000004 bytes, " in printed
    assert versions(tmp_path) == ["v000001"]
    assert number_in(tmp_path) == 1


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from tests.model.folders import opened, write
from sensewire.model.errors import IndexFolderError
if os.geteuid() == 0:
    os.setuid(65534)  # nobody: root may write anywhere
for path in map(Path, sys.argv[1:]):
    for action in (write, opened):
        try:
            action(path)
            print("done")
        except IndexFolderError as error:
            print(error)
"""


def test_without_the_rights() -> None:
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        top.chmod(0o755)
        readable, hidden = top / "readable", top / "hidden"
        for path in (readable, hidden):
            write(path, 1)
        for file in readable.rglob("*"):
            file.chmod(0o555)
        readable.chmod(0o555)
        top.chmod(0o555)
        hidden.chmod(0o000)
        try:
            lines = run(WITHOUT_RIGHTS, readable, hidden, top / "new").splitlines()
        finally:
            for path in (top, hidden, readable, *readable.glob("v*")):
                path.chmod(0o755)
        assert [number_in(path) for path in (readable, hidden)] == [1, 1]
        assert versions(readable) == ["v000001"]
    assert lines[0].startswith(f"{readable}/LOCK: cannot write the index: Permission denied; ")
    assert lines[1] == "done"
    assert lines[2].startswith(f"{hidden}/CURRENT: cannot write the index: Permission denied; ")
    assert lines[3] == f"{hidden}/CURRENT: cannot be read: Permission denied"
    assert lines[4].startswith(f"{top}/new: cannot write the index: Permission denied; ")
    assert lines[5] == f"{top}/new: there is no such folder; expected a saved index"


def test_what_json_does_not_have_is_no_meta_data(tmp_path: Path) -> None:
    write(tmp_path, 1)
    for meta in ({"a": float("nan")}, {"a": {1, 2}}):
        with pytest.raises((TypeError, ValueError)):
            write_folder(tmp_path, {}, meta, format_version=3, kind="fox")
        assert versions(tmp_path) == ["v000001"]
    assert number_in(tmp_path) == 1


# What dies on the way

DYING = """
import os, sys
from pathlib import Path
from tests.model.folders import number_in, versions, write
from sensewire.model.errors import IndexFolderError

path = Path(sys.argv[1])
first = sys.argv[2] == "first"
left = -1  # how many things may still be asked of the file system

def count(event, arguments):
    global left
    if left >= 0 and event.split(".")[0] in ("open", "os", "shutil", "fcntl"):
        if left == 0:
            os._exit(9)
        left -= 1

sys.addaudithook(count)
for moment in range(200):
    place = path / str(moment)
    if not first:
        for number in (1, 2):
            write(place, number)
    child = os.fork()
    if child == 0:
        left = moment
        write(place, 3)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        found = number_in(place)
    except IndexFolderError as error:
        assert first and ("no file CURRENT" in str(error) or "no such folder" in str(error)), error
        found = 0
    write(place, 4)
    assert number_in(place) == 4
    print(status, found, *versions(place))
    if status == 0:
        break
"""


@pytest.mark.parametrize("state", ["first", "later"])
def test_a_crash_before_any_step_leaves_the_old_version_or_the_new(
    state: str, tmp_path: Path
) -> None:
    """A process ends right before its nth request to the file system, for every n."""
    lines = [line.split() for line in run(DYING, tmp_path, state).splitlines()]
    statuses = [int(line[0]) for line in lines]
    assert statuses == [9] * (len(lines) - 1) + [0]
    assert len(lines) > 20
    found = [int(line[1]) for line in lines]
    old = 0 if state == "first" else 2
    assert sorted(set(found)) == [old, 3]
    assert found == sorted(found)  # old up to some step, new from there on
    for number, *numbers in (line[1:] for line in lines):
        kept = {"0": 1, "2": 2, "3": 2}[number]
        assert len(numbers) == kept, lines


def test_what_a_crash_left_goes_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be what fills the disk."""
    current = write(tmp_path, 1)
    for name in ("writing", f"v000002-{'0' * 32}"):
        shutil.copytree(tmp_path / current, tmp_path / name)
    monkeypatch.setattr(os, "mkdir", failing(os.mkdir, 1, [], errno.ENOSPC))
    with pytest.raises(IndexFolderError, match="No space left"):
        write(tmp_path, 2)
    assert versions(tmp_path) == ["v000001"]


ENDLESS = """
import sys
from pathlib import Path
from tests.model.folders import write
print("ready", flush=True)
number = int(sys.argv[2])
while True:
    number += 1
    write(Path(sys.argv[1]), number, 20_000)
"""


@pytest.fixture
def endless_writer(tmp_path: Path) -> Iterator[Callable[[int], "subprocess.Popen[str]"]]:
    """Starts processes that write versions without end, from a number on."""
    started: list[subprocess.Popen[str]] = []

    def start(number: int) -> "subprocess.Popen[str]":
        child = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(tmp_path), str(number)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        started.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        return child

    yield start
    for child in started:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_a_reader_sees_whole_versions_while_writers_are_killed(
    tmp_path: Path, endless_writer: Callable[[int], "subprocess.Popen[str]"]
) -> None:
    write(tmp_path, 1, 20_000)
    moments = random.Random(5)
    seen = [1]
    for _ in range(4):
        writer = endless_writer(seen[-1])
        end = time.monotonic() + moments.uniform(0.1, 0.3)
        while time.monotonic() < end:
            seen.append(number_in(tmp_path))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        seen.append(number_in(tmp_path))
    assert seen == sorted(seen)
    assert len(set(seen)) > 8
    write(tmp_path, seen[-1] + 1)
    assert len(versions(tmp_path)) == 2


def test_what_is_named_was_synced_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a power cut, which no process can play: the order of what is asked of the system."""
    steps: list[str] = []
    names = re.compile(r"v000001-[0-9a-f]{32}")

    def name_of(place: object) -> str:
        text = str(place).removeprefix(str(tmp_path)).lstrip("/") or "."
        return names.sub("version", text)

    def sync(descriptor: int) -> None:
        steps.append(f"sync {name_of(Path(f'/proc/self/fd/{descriptor}').readlink())}")
        real_sync(descriptor)

    def noted(move: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def call(source: Any, target: Any) -> None:
            steps.append(f"{name_of(source)} → {name_of(target)}")
            move(source, target)

        return call

    real_sync = os.fsync
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", noted(os.rename))
    monkeypatch.setattr(os, "replace", noted(os.replace))
    write(tmp_path / "index", 1)
    assert steps == [
        "sync .",
        "sync index/writing/arrays.bin",
        "sync index/writing/manifest.json",
        "sync index/writing",
        "index/writing → index/version",
        "sync index",
        "sync index/CURRENT.new",
        "index/CURRENT.new → index/CURRENT",
        "sync index",
    ]
