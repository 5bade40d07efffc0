"""`sensewire bench`: measure this checkout; what is measured stands in its folder `benchmarks`."""

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sensewire.model.errors import SensewireError

_SEED = 2003
_PACKAGES = ("brickschema", "clips", "duckdb", "matplotlib", "networkx", "polars")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        help="measure this checkout against other ways to match",
        description=(
            "Measure this checkout against other ways to match, on one machine and in one run. "
            "Answers are checked, and a wrong one ends the run with an error. Without NAME, the "
            "benchmarks are listed. It needs a checkout, installed with its extras `all` and `dev`."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="the benchmark; none: list them")
    add("--quick", action="store_true", help="small sizes, a few minutes; writes no file unasked")
    add(
        "--json",
        type=Path,
        metavar="FILE",
        help="where to write the rows, with a chart (.png) beside; "
        "benchmarks/results/NAME.json unless --quick",
    )
    add(
        "--seed",
        type=int,
        default=_SEED,
        metavar="N",
        help=f"of what is drawn; {_SEED} unless given",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the benchmarks, or run one, print its tables and write its results."""
    folder = benchmarks()
    frame = _frame(folder)
    known: dict[str, str] = frame.KNOWN
    if arguments.name is None:
        for name, what in known.items():
            print(f"{name}: {what}")
        return 0
    if arguments.name not in known:
        raise SensewireError(
            f"there is no benchmark {arguments.name!r}; there are: {', '.join(known)}"
        )
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise SensewireError(
            f"bench needs {', '.join(missing)}; in the checkout: pip install -e '.[all,dev]'"
        )
    out: Path | None = arguments.json
    if out is None and not arguments.quick:
        out = folder / "results" / f"{arguments.name}.json"
    elif out is not None and out.suffix != ".json":
        raise SensewireError(f"--json {out}: expected a name that ends in .json")
    _measure(frame, arguments.name, arguments.quick, arguments.seed, out)
    return 0


def benchmarks(package: Path = Path(__file__).parent.parent) -> Path:
    """The folder of benchmarks of the checkout that this package runs from."""
    folder = package.parent.parent / "benchmarks"
    if not (folder / "frame.py").is_file():
        raise SensewireError(
            "bench runs from a checkout of Sensewire only, and this one is installed without its "
            f"benchmarks ({package}); clone the repository and run `make bench` there"
        )
    return folder


def _frame(folder: Path) -> Any:
    """The module `frame` of the checkout: no package that could be imported from here by name."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return import_module("frame")


def _measure(frame: Any, name: str, quick: bool, seed: int, out: Path | None) -> None:
    from rich.console import Console

    progress, console = Console(stderr=True), Console()
    with progress.status(name) as status:

        def report(doing: str) -> None:
            status.update(doing)
            if not progress.is_terminal:
                print(doing, file=sys.stderr, flush=True)

        result = frame.run(name, frame.Settings(quick, seed, report))
    about = result.about
    console.print(
        f"{name}: seed {seed}, commit {about['commit']}, {about['machine']['cpu']}, "
        f"{about['machine']['cores']} cores, "
        f"{'with' if about['machine']['avx512'] else 'without'} AVX-512",
        highlight=False,
    )
    for table in result.tables():
        console.print(table)
    for each in result.left_out:
        where = f"{each.workload}, {each.size:,}, {each.contender}"
        console.print(f"left out: {where}: {each.reason}", highlight=False)
    if out is not None:
        chart = result.write(out)
        console.print(f"written: {out} and {chart}", highlight=False)
