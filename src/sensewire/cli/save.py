"""`sensewire save`: subscriptions as an index folder, which workers map into memory."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.cli import options
from sensewire.cli.progress import spinner
from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from sensewire.events.decoding import Rejected

_MOST_REASONS = 5


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "save",
        help="compile subscriptions to an index folder",
        description=(
            "Compile a file of subscriptions to an index folder, which is mapped into memory when "
            "it is opened. The last line of stdout counts what came of it."
        ),
        allow_abbrev=False,
    )
    options.add_subscriptions(parser, required=True)
    add = parser.add_argument
    add("--out", required=True, type=Path, metavar="INDEX", help="the folder to write")
    add(
        "--statistics",
        type=Path,
        metavar="STATS",
        help="what sensewire learn wrote: the index is planned for events like those",
    )
    add("--overwrite", action="store_true", help="replace the folder if it is an index")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build the index and write it; the last line of stdout counts what came of it."""
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.model.learned import load_learned
    from sensewire.spark.subscriptions import subscriptions_in

    out: Path = arguments.out
    source = Path(arguments.subscriptions)
    _check_free(out, overwrite=arguments.overwrite)
    now = options.now_of(arguments)
    statistics = None if arguments.statistics is None else load_learned(arguments.statistics)
    knowledge = Knowledge.load(*map(Path, arguments.knowledge))
    with spinner("reading subscriptions") as say:
        found = subscriptions_in(
            source, now, knowledge, statistics, report=lambda count: say(f"{count:,} subscriptions")
        )
        live = found.engine.statistics().subscriptions
        if not live:
            raise SensewireError(_nothing_live(source, found.rejected))
        say(f"writing the index of {live:,} subscriptions")
        found.engine.save(out)
    if found.rejected:
        _tell(found.rejected)
    print(f"{live} subscriptions, {len(found.rejected)} rejected, {_size(out)} bytes")
    return 0


def _check_free(out: Path, *, overwrite: bool) -> None:
    from sensewire.model.folder import current_version

    if not out.exists() and not out.is_symlink():
        return
    if not overwrite:
        raise SensewireError(f"{out} exists; name another folder, or say --overwrite")
    if not out.is_dir() or any(out.iterdir()):
        current_version(out)  # refuses what is no index


def _nothing_live(path: Path, rejected: "tuple[Rejected, ...]") -> str:
    if not rejected:
        return f"{path}: no subscription that is live; expected JSON lines with at least one"
    first = rejected[0]
    return f"{path}: none of its lines is a subscription; the first: {first.place}: {first.reason}"


def _tell(rejected: "tuple[Rejected, ...]") -> None:
    for item in rejected[:_MOST_REASONS]:
        print(f"sensewire: {item.place}: {' '.join(item.reason.split())}", file=sys.stderr)
    if len(rejected) > _MOST_REASONS:
        left = len(rejected) - _MOST_REASONS
        print(f"sensewire: {left} more subscriptions are rejected", file=sys.stderr)


def _size(out: Path) -> int:
    """Bytes of the index that was written."""
    from sensewire.model.folder import current_version

    return sum(file.stat().st_size for file in (out / current_version(out)).iterdir())
