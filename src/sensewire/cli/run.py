"""`sensewire run`: store, event log and stream in one, on this machine."""

import argparse
from pathlib import Path

from sensewire.cli.pipeline import add_stream, run_stream
from sensewire.cli.storing import store_name
from sensewire.model.errors import SensewireError


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        help="everything in one: store, event log and stream, on this machine",
        description=(
            "Make the store unless it is there, and match what is published to its log against "
            "what stands, until it is told to end (Ctrl-C, SIGTERM). From another terminal: "
            "sensewire subscribe, publish, notifications, dead."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="the folder of this stream; beside a store that is a file, unless given",
    )
    add_stream(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run it until it is told to end."""
    return run_stream(arguments, "log", "table", _checkpoint(arguments))


def _checkpoint(arguments: argparse.Namespace) -> Path:
    if arguments.checkpoint is not None:
        return Path(arguments.checkpoint)
    store = store_name(arguments)
    path = store.removeprefix("sqlite:///")
    if "://" in path:
        raise SensewireError(
            "the store is a server: name a folder for this stream with --checkpoint DIR"
        )
    return Path(f"{path}.stream")
