"""`sensewire warm`: compile every kernel once, so that no later start has to.

numba keeps what it compiled on disk, for each kernel and each combination of types that it was
called with. So the way to fill its cache is to do, on a small scale, what an engine does: `_STORY`.
What was compiled, and what came from the cache, is asked of numba afterwards; no list of kernels is
kept anywhere.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sensewire.model.errors import SensewireError

_WHERE = """\
numba keeps compiled kernels in the folder that NUMBA_CACHE_DIR names, where it is set; else in
__pycache__ beside the sources; else, where that cannot be written, in the user's cache folder
(~/.cache/numba). Whoever starts later must see the same NUMBA_CACHE_DIR. If none of them can be
written, this command says so and ends with 2: set NUMBA_CACHE_DIR to a folder that can. A cache
serves one version of Sensewire and of numba, and one kind of CPU: warm again after a change."""


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
    print(
        f"{len(found.compiled)} compiled, {found.loaded} from the cache, in {seconds:.1f} s"
        if found.compiled
        else f"nothing to compile: all {found.loaded} came from the cache, in {seconds:.1f} s"
    )
    return 0


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
        for chapter in _STORY:
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


# The story: what an engine does, each kind of thing once.


def _match_events() -> None:
    from sensewire.engine import Engine
    from sensewire.language.parse import parse
    from sensewire.model.event import Event

    engine = Engine()
    for text in (
        "product = laptop and price <= 1600",
        "brand in (IBM, Dell) and not refurbished = true",
        "price between 3 and 7 or price > 9.5",
        'name prefix "Z" and seen > 2024-03-01 and colour exists',
        "sports and not politics",
        "price <= 900 within 1.5",
        "(?page, project, ?what) and (?what, year, ?year) and ?year > 2003",
        "everything",
    ):
        engine.add(parse(text))
    values = {"product": "laptop", "price": 5, "size": 1.5, "tags": ["sports"], "seen": None}
    for _ in range(2):  # what was just added, and what was removed meanwhile
        engine.match(Event.record(values))
        engine.match(Event.rdf("<urn:a> <urn:project> <urn:b> .", format="nt"))
        engine.remove(engine.add(parse("price = 5")))


def _match_batches() -> None:
    import pyarrow as pa

    from sensewire.engine import Engine
    from sensewire.language.parse import parse

    engine = Engine()
    texts = (
        "product = laptop and price <= 1600",
        'name prefix "Z"',
        "colour exists",
        "not size > 5",
    )
    for number in range(60):
        engine.add(parse(f"{texts[number % 4]} and price > {number}"))
        engine.add(parse(f"product = laptop{number} and price between {number} and 90"))
    rows = [
        {"product": "laptop3", "price": 50, "name": "Zürich", "size": [1.5, 7], "new": True},
        {"product": "phone", "price": 7.25, "colour": "red"},
    ]
    columns = pa.RecordBatch.from_pylist(rows * 40)
    lines = pa.RecordBatch.from_pydict(
        {
            "json": [
                b'{"product": "laptop3", "price": 50, "o": {"a": [1, null]}}',
                b'{"price": 2.5e1}',
            ]
            * 40
        }
    )
    with tempfile.TemporaryDirectory(prefix="sensewire-warm-") as place:
        engine.save(place)
        for each in (engine, Engine.open(place)):
            each.match_batch(lines)
            each.match_batch(columns)
            each.match_batch(lines.slice(1, 1))
            each.add(parse("product = phone and price < 9"))
            each.match_batch(columns)


def _look_up_strings() -> None:
    from sensewire.model.folder import open_folder
    from sensewire.model.folder_writing import write_folder
    from sensewire.model.lookup import Lookup
    from sensewire.model.strings import Strings

    built = Lookup.of(Strings.of(["fox", "hen"]))
    with tempfile.TemporaryDirectory(prefix="sensewire-warm-") as place:
        column: dict[str, Any] = {"offsets": built.strings.offsets, "utf8": built.strings.utf8}
        write_folder(place, {**column, "slots": built.slots}, {}, format_version=1, kind="warm")
        mapped = open_folder(place, kind="warm", newest_version=1).arrays
        strings = Strings(mapped["offsets"], mapped["utf8"])
        for lookup in (built, Lookup(strings, mapped["slots"])):
            lookup.find("fox")


def _match_ranks() -> None:
    import numpy as np

    from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Tests
    from sensewire.match.compiled.index import Index, build
    from sensewire.match.compiled_counting import CompiledCounting

    ones, both = np.ones(2, np.int32), np.arange(2, dtype=np.int32)
    tests = Tests(both, both == 1, np.arange(3), ones * 2, ones * 5)
    conjunctions = Conjunctions(ones * 7, tests, np.arange(3), both)
    many = np.arange(1_000, dtype=np.int32)
    plain = Entries(np.arange(1_001), many % 2, many % 7 + 1)
    one = Entries(np.arange(2), both[:1], ones[:1])
    odd = Entries(np.array([0, 2]), both * 0, both + 1)  # two ranks on one slot
    built = build(conjunctions, plain)
    for index in (built, Index.from_arrays(built.arrays()), CompiledCounting.build(conjunctions)):
        for entries in (one, plain, odd):
            index.match(entries)


_STORY = (_match_events, _match_batches, _look_up_strings, _match_ranks)
