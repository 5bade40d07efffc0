"""The command `sensewire`: one file a command, errors in one line on stderr, with exit code 2.

A command's modules are imported when it runs, so that the light ones start at once.
"""

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Sequence

from sensewire import __version__, ending
from sensewire.cli import (
    bench,
    check,
    dead,
    demo,
    explain,
    knowledge,
    learn,
    match,
    notifications,
    pipeline,
    publish,
    replay,
    run,
    save,
    subscribe,
    warm,
)
from sensewire.model.errors import SensewireError

_COMMANDS = (
    *(run, subscribe, publish, notifications, dead, pipeline),
    *(match, learn, save, replay, check, explain, knowledge, demo, warm, bench),
)
_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    # Libraries log, stacks and all, what reaches the user as an error of ours.
    logging.basicConfig(level=logging.CRITICAL)
    parsed = _parser().parse_args(arguments)
    if threading.current_thread() is threading.main_thread():
        ending.heed_requests()
    try:
        return int(parsed.run(parsed))
    except SensewireError as error:
        asked = ending.requested()
        if asked is not None:  # Spark, which was asked as well, failed us on the way
            return asked
        print(f"sensewire: {error}", file=sys.stderr)
        return _ERROR
    except BrokenPipeError:  # whoever read our output has enough of it
        sys.stdout = None
        return 128 + signal.SIGPIPE
    except (OSError, UnicodeError) as error:
        print(f"sensewire: {_in_words(error)}", file=sys.stderr)
        return _ERROR
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _in_words(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sensewire", description="Publish/subscribe by meaning.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"sensewire {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
