"""What the tests of index folders share: versions that say their number, and a look at memory."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.model.folder import Folder, open_folder
from sensewire.model.folder_manifest import VERSION_NAME
from sensewire.model.folder_writing import write_folder

ROOT = Path(__file__).parent.parent.parent


def write(path: Path, number: int = 1, count: int = 100) -> str:
    """Write a version that says its number everywhere."""
    content: dict[str, npt.NDArray[Any]] = {
        "small": np.array([number], dtype=np.int32),
        "large": np.full(count, number, dtype=np.int64),
    }
    return write_folder(path, content, {"number": number}, format_version=3, kind="fox")


def opened(path: Path) -> Folder:
    return open_folder(path, kind="fox", newest_version=3)


def number_in(path: Path) -> int:
    """Open and verify; the number that the whole version says."""
    folder = opened(path)
    folder.verify()
    number = folder.meta["number"]
    assert isinstance(number, int)
    assert set(folder.arrays["small"].tolist()) == {number}
    assert set(folder.arrays["large"].tolist()) == {number}
    return number


def versions(path: Path) -> list[str]:
    """The numbers of the versions that are there; nothing else is but CURRENT and LOCK."""
    names = {entry.name for entry in path.iterdir()} - {"CURRENT", "LOCK"}
    assert all(VERSION_NAME.fullmatch(name) for name in names), names
    return sorted(name[:7] for name in names)


def run(code: str, *arguments: object) -> str:
    """What a program in a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def memory_of(folder: Folder) -> tuple[int, int, int]:
    """Of the mapping of a folder's arrays, in this process: bytes resident, its share, private."""
    file = str((folder.path / folder.version / "arrays.bin").resolve())
    found: dict[str, int] = {}
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            inside = line.endswith(file)
        elif inside and (size := re.match(r"(\w+): +(\d+) kB", line)):
            found[size[1]] = found.get(size[1], 0) + 1024 * int(size[2])
    return found["Rss"], found["Pss"], found["Private_Dirty"]
