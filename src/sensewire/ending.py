"""A request to end a command, by SIGTERM or Ctrl-C: it goes by way of every `finally`, which tidies
up, and is remembered, since what fails on that way is no error that anybody wants to read of."""

import signal
import sys
from types import FrameType

_requests: list[int] = []


def heed_requests() -> None:
    """End this process when it is asked to, from now on. For the main thread."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def end(number: int, _: FrameType | None = None) -> None:
    """End this process, as a signal asks for."""
    _requests.append(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def requested() -> int | None:
    """The exit code of a process that was asked to end; None of one that was not."""
    return 128 + _requests[0] if _requests else None
