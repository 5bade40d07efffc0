"""`sensewire warm`: compile every kernel once, so that no later start has to; and Spark's classes.

numba keeps what it compiled on disk, for each kernel and each combination of types that it was
called with. So the way to fill its cache is to do, on a small scale, what an engine does: `STORY`.
What was compiled, and what came from the cache, is asked of numba afterwards; no list of kernels is
kept anywhere.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sensewire import warming
from sensewire.model.errors import SensewireError

_WHERE = """\
numba keeps compiled kernels in the folder that NUMBA_CACHE_DIR names, where it is set; else in
__pycache__ beside the sources; else, where that cannot be written, in the user's cache folder
(~/.cache/numba). Whoever starts later must see the same NUMBA_CACHE_DIR. If none of them can be
written, this command says so and ends with 2: set NUMBA_CACHE_DIR to a folder that can. A cache
serves one version of Sensewire and of numba, and one kind of CPU: warm again after a change.

Where PySpark is installed, the classes that it loads are kept too, as an archive that Java maps
when Spark starts on this machine: ~/.cache/sensewire/java-*/spark-*.jsa, about 160 MB."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "warm",
        help="compile every kernel once, so that later starts find them in the cache",
        description="Compile every kernel once, so that later starts find them in the cache.",
        epilog=_WHERE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fill the cache, and print what was compiled and what was there."""
    start = time.perf_counter()
    found = warmed()
    seconds = time.perf_counter() - start
    for name, took in found.compiled:
        print(f"compiled {name} in {took:.2f} s")
    for folder in found.folders:
        print(f"cache: {folder}")
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked and not all(folder.is_relative_to(Path(asked).absolute()) for folder in found.folders):
        print(
            f"sensewire: NUMBA_CACHE_DIR={asked} cannot be written: the cache is elsewhere",
            file=sys.stderr,
        )
    _keep_classes()
    print(
        f"{len(found.compiled)} compiled, {found.loaded} from the cache, in {seconds:.1f} s"
        if found.compiled
        else f"nothing to compile: all {found.loaded} came from the cache, in {seconds:.1f} s"
    )
    return 0


def _keep_classes() -> None:
    """Write the archive of Spark's classes, where there is a Spark; its want is no failure."""
    if find_spec("pyspark") is None:
        return
    from sensewire.spark.classes import archive_beside, archived
    from sensewire.spark.java import cache_folder, java_home, packaged_java

    try:
        home = java_home(os.environ, packaged=packaged_java())
        if home.parent != cache_folder(os.environ):
            raise SensewireError(f"{home} is there for this run only")
        start = time.perf_counter()
        if archived(home):
            print(f"archived Spark's classes in {time.perf_counter() - start:.1f} s")
        print(f"archive: {archive_beside(home)}")
    except (SensewireError, OSError) as error:
        print(
            f"sensewire: Spark's classes are not archived, and it starts without: {error}",
            file=sys.stderr,
        )


@dataclass(frozen=True, slots=True)
class Warmed:
    """What a run came to."""

    compiled: tuple[tuple[str, float], ...]  # kernel and its types; seconds, those inside it apart
    loaded: int  # kernels, for each combination of types, that the cache had
    folders: tuple[Path, ...]


def warmed() -> Warmed:
    """Call the kernels; what numba did."""
    from numba.core import config, event

    if getattr(config, "DISABLE_JIT", 0):
        raise SensewireError("NUMBA_DISABLE_JIT is set: there is nothing to compile; unset it")
    _check_that_kernels_are_kept()
    with event.install_recorder("numba:compile") as recorder:
        for chapter in warming.STORY:
            chapter()
    kernels = list(_kernels())
    return Warmed(
        tuple(_compilations(recorder.buffer)),
        sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels),
        tuple(sorted({Path(kernel.stats.cache_path).absolute() for kernel in kernels})),
    )


def _check_that_kernels_are_kept() -> None:
    from sensewire.model import lookup

    kernel: Any = lookup.hash_of  # one for all: a kernel without a place is compiled every time
    if kernel.stats.cache_path is None:
        raise SensewireError(
            "there is no place for compiled kernels: neither __pycache__ beside the sources nor the"
            " user's cache folder can be written; set NUMBA_CACHE_DIR to a folder that can"
        )


# Any in what follows: numba's dispatchers and events.


def _kernels() -> Iterator[Any]:
    """Every kernel of the modules that are loaded, once."""
    from numba.core.dispatcher import Dispatcher

    modules = [module for name, module in sys.modules.items() if name.startswith("sensewire.")]
    values = (value for module in modules for value in vars(module).values())
    yield from {id(value): value for value in values if isinstance(value, Dispatcher)}.values()


def _compilations(events: list[tuple[float, Any]]) -> Iterator[tuple[str, float]]:
    """Each kernel of ours that was compiled, with its own time: kernels compile those they call."""
    began: list[float] = []
    inside = [0.0]
    for moment, event in events:
        if event.is_start:
            began.append(moment)
            inside.append(0.0)
            continue
        whole = moment - began.pop()
        own = whole - inside.pop()
        inside[-1] += whole
        kernel = event.data["dispatcher"]
        if kernel.py_func.__module__.startswith("sensewire."):
            types = ", ".join(str(type) for type in event.data["args"])
            yield f"{_name(kernel)}({types})", own


def _name(kernel: Any) -> str:
    return f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
