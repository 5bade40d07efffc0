"""`sensewire warm`: after it, a start compiles nothing; and what it says when it cannot keep it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from numba.core.event import Event, EventStatus

import sensewire
from sensewire.cli import warm
from sensewire.cli.main import main

NOWHERE = "/proc/nowhere"
"""Nobody, root included, can make a folder there."""

LOOKUP_ONLY = """
import sys
from sensewire import warming
from sensewire.cli.main import main
warming.STORY = (warming.look_up_strings,)  # seconds, where the whole story takes a minute
sys.exit(main(["warm"]))
"""

OTHER_WORK = """
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    import sensewire as sw
    from sensewire.model.lookup import Lookup
    from sensewire.model.strings import Strings
    engine = sw.Engine()
    for number in range(200):
        engine.add(sw.parse(f"price between {number} and {number + 9} and size > {number}"))
        engine.add(sw.parse(f"colour = red{number % 7} and not used = true"))
    found = 0
    for number in range(20):
        record = {"price": number, "size": [number / 2, 50], "colour": f"red{number % 9}"}
        found += len(list(engine.match(sw.Event.record(record))))
    names = Strings.of(f"s{number}" for number in range(5_000))
    assert Lookup.of(names).find("s4999") == 4_999
ours = [recorded.data["dispatcher"].py_func for _, recorded in recorder.buffer]
print(found, *{f"{f.__module__}.{f.__name__}" for f in ours if "sensewire" in f.__module__})
"""


def started(
    *arguments: str, variables: dict[str, str], sources: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run Python with these variables beside its own, and with a copy of the sources if given."""
    if sources is not None:
        variables = {**variables, "PYTHONPATH": str(sources)}
    return subprocess.run(
        [sys.executable, "-B", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )


def warm_with(variables: dict[str, str], sources: Path | None = None) -> tuple[int, str, str]:
    run = started("-m", "sensewire.cli.main", "warm", variables=variables, sources=sources)
    return run.returncode, run.stdout, run.stderr


def test_what_was_compiled_comes_from_the_cache(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    cold = started("-c", LOOKUP_ONLY, variables=cache)
    assert (cold.returncode, cold.stderr) == (0, "")
    *lines, summary = cold.stdout.splitlines()
    compiled = [line for line in lines if line.startswith("compiled ")]
    assert re.fullmatch(rf"{len(compiled)} compiled, 0 from the cache, in [\d.]+ s", summary)
    for name in ("_fill", "_number_of"):
        kernel = re.compile(rf"compiled sensewire\.model\.lookup\.{name}\(.*\) in \d+\.\d\d s")
        assert len(list(filter(kernel.fullmatch, compiled))) == 1
    folders = {line.removeprefix("cache: ") for line in lines if line.startswith("cache: ")}
    assert folders == {str(folder) for folder in tmp_path.iterdir()}

    warm_now = started("-c", LOOKUP_ONLY, variables=cache)
    assert (warm_now.returncode, warm_now.stderr) == (0, "")
    *lines, summary = warm_now.stdout.splitlines()
    assert not any(line.startswith("compiled ") for line in lines)
    assert re.fullmatch(r"nothing to compile: all 2 came from the cache, in [\d.]+ s", summary)

    for file in tmp_path.glob("*/lookup._number_of-*"):
        file.unlink()
    again = started("-c", LOOKUP_ONLY, variables=cache)
    assert "compiled sensewire.model.lookup._number_of(" in again.stdout
    assert "compiled sensewire.model.lookup._fill(" not in again.stdout


def check_later_starts(cache: dict[str, str]) -> None:
    """Warm again, and do other things than the story does: nothing is compiled."""
    code, out, errors = warm_with(cache)
    assert (code, errors) == (0, "")
    last = out.splitlines()[-1]
    assert re.fullmatch(r"nothing to compile: all [1-9]\d* came from the cache, in [\d.]+ s", last)
    other = started("-c", OTHER_WORK, variables=cache)
    assert other.returncode == 0, other.stderr
    found, *compiled = other.stdout.split()
    assert int(found) > 0
    assert compiled == []


def test_a_second_start_compiles_nothing() -> None:
    """With the cache that all tests share, so that only the first run of all takes long."""
    assert warm_with({})[0] == 0
    check_later_starts({})


@pytest.mark.long
def test_a_second_start_compiles_nothing_after_a_cold_one(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    code, out, errors = warm_with(cache)
    assert (code, errors) == (0, "")
    assert re.search(r"^\d+ compiled, 0 from the cache, in [\d.]+ s$", out, re.MULTILINE)
    check_later_starts(cache)


def test_a_cache_folder_that_cannot_be_written_is_told() -> None:
    code, out, errors = warm_with({"NUMBA_CACHE_DIR": NOWHERE})
    assert code == 0
    assert "__pycache__" in out
    assert errors == (
        f"sensewire: NUMBA_CACHE_DIR={NOWHERE} cannot be written: the cache is elsewhere\n"
    )


def test_no_place_at_all_for_a_cache(tmp_path: Path) -> None:
    """A file where the folder `__pycache__` should be stops root too."""
    copy = tmp_path / "sensewire"
    package = Path(sensewire.__file__).parent
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    nowhere = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), NOWHERE)
    code, out, errors = warm_with(nowhere, tmp_path)
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1
    assert errors.startswith("sensewire: there is no place for compiled kernels: ")
    assert errors.endswith("set NUMBA_CACHE_DIR to a folder that can\n")


def test_without_compilation_there_is_nothing_to_warm() -> None:
    code, out, errors = warm_with({"NUMBA_DISABLE_JIT": "1"})
    assert (code, out) == (2, "")
    assert errors == (
        "sensewire: NUMBA_DISABLE_JIT is set: there is nothing to compile; unset it\n"
    )


def test_a_kernels_time_is_its_own() -> None:
    """The outer one took 10 s, of which 4 were the inner one's."""

    def dispatcher(name: str, module: str) -> SimpleNamespace:
        return SimpleNamespace(py_func=SimpleNamespace(__module__=module, __qualname__=name))

    def event(name: str, status: EventStatus, module: str = "sensewire.fox") -> Event:
        data = {"dispatcher": dispatcher(name, module), "args": ("int64",), "return_type": None}
        recorded: Event = cast(Any, Event)("numba:compile", status, data)  # numba: no types
        return recorded

    start, end = EventStatus.START, EventStatus.END
    events = [
        (0.0, event("outer", start)),
        (1.0, event("inner", start)),
        (2.0, event("theirs", start, "numba.np")),
        (4.0, event("theirs", end, "numba.np")),
        (5.0, event("inner", end)),
        (10.0, event("outer", end)),
        (20.0, event("last", start)),
        (21.0, event("last", end)),
    ]
    assert list(warm._compilations(events)) == [
        ("sensewire.fox.inner(int64)", 2.0),
        ("sensewire.fox.outer(int64)", 6.0),
        ("sensewire.fox.last(int64)", 1.0),
    ]


def test_the_help_says_where_the_cache_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["warm", "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("NUMBA_CACHE_DIR", "__pycache__", "~/.cache/numba"))
