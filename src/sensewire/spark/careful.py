"""Matching by a child process, for a task whose worker died: which event was it?

    try 1   the worker matches a portion, and dies: Spark starts the task again
    try 2   from then on each portion is matched by a child; one dies
    try 3   that portion, event by event, by a child: it dies of the event

An event that this happens to is rejected with its place, and the rest goes on, however many such
events there are. Cost: a fork for each portion of a task that is tried again; nothing in any other.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Protocol, Self, TypeVar

from sensewire.events.decoding import Rejected
from sensewire.spark.outcomes import NOTHING, Outcomes
from sensewire.spark.wire import read_frame, write_frame

_RAISED = 3
_LONGEST_REASON = 2_000


class Events(Protocol):
    """Some events that are matched together."""

    def __len__(self) -> int: ...
    def place(self, row: int) -> str: ...
    def raw(self, row: int) -> bytes: ...
    def at(self, rows: Sequence[int]) -> Self:
        """Some of them."""
        ...


Portion = TypeVar("Portion", bound=Events)
Matching = Callable[[Portion], Iterator[Outcomes]]


@dataclass(frozen=True, slots=True)
class Killer:
    """An event that kills whoever matches it: its row in its portion."""

    row: int
    rejected: Rejected


def carefully(portion: Portion, matching: Matching[Portion]) -> Iterator[Outcomes]:
    """What comes of a portion, also if some of its events kill whoever matches them."""
    for each in _tried(portion, matching):
        yield replace(NOTHING, rejected=(each.rejected,)) if isinstance(each, Killer) else each


def killers(portion: Portion, matching: Matching[Portion]) -> list[Killer]:
    """The events of a portion that kill; what comes of the others is found and forgotten."""
    return [each for each in _tried(portion, matching) if isinstance(each, Killer)]


def _tried(portion: Portion, matching: Matching[Portion]) -> Iterator[Outcomes | Killer]:
    whole = _by_child([portion], matching)
    if not whole.death:
        yield from whole.found
        return
    first = 0
    while first < len(portion):
        part = _by_child([portion.at([row]) for row in range(first, len(portion))], matching)
        yield from part.found
        if not part.death:
            return
        row = first + part.done
        yield Killer(row, Rejected(portion.place(row), portion.raw(row), part.death))
        first = row + 1


@dataclass(frozen=True, slots=True)
class _Part:
    """What a child found of so many portions, and why it went no further."""

    found: list[Outcomes]
    done: int
    death: str | None


def _by_child(portions: Sequence[Portion], matching: Matching[Portion]) -> _Part:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(portions, matching, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        written = BytesIO(pipe.read())
    _, status = os.waitpid(child, 0)
    found: list[Outcomes] = []
    done = 0
    while (frame := read_frame(written)) is not None:
        found.extend(frame)
        done += 1
    return _Part(found, done, _death(status, written.read()))


def _death(status: int, rest: bytes) -> str | None:
    if status == 0:
        return None
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        how = f"the process that matched this event died of {name}, each time it was tried"
    else:
        how = f"this event cannot be matched: {rest.decode(errors='replace')}"
    return f"{how}; it is left out, and the rest goes on"


def _work(portions: Sequence[Portion], matching: Matching[Portion], writing: int) -> None:
    """What the child does. It ends here: nothing of its parent's is to be tidied up."""
    code = _RAISED
    with os.fdopen(writing, "wb") as pipe:
        try:
            for portion in portions:
                write_frame(pipe, list(matching(portion)))
            code = 0
        except BaseException as error:  # its parent tells
            pipe.write(f"{type(error).__name__}: {error}"[:_LONGEST_REASON].encode())
        pipe.flush()
        os._exit(code)
