"""What mapping functions leave behind: facts that nobody can know, and the bounds on all others."""

from collections.abc import Iterable
from typing import NamedTuple

from sensewire.model.errors import EventError
from sensewire.model.terms import Term

MOST_ROUNDS = 100
"""Rounds until nothing is new: the longest chain from what was sent to a derived fact."""
MOST_FACTS = 1_000
"""Facts that functions may derive from one event."""
MOST_CALLS = 10_000
"""Calls of functions for one event."""


class Unknown(NamedTuple):
    """A fact that a function which failed might have made: its value is anything, or nothing."""

    subject: Term
    property: Term
    reason: str


def endless(event: str, functions: Iterable[str]) -> EventError:
    """The error for an event whose derived facts pass the bounds."""
    return EventError(
        f"the event {event!r} is rejected: {', '.join(sorted(functions))} came to no end within "
        f"{MOST_ROUNDS} rounds, {MOST_FACTS:,} facts and {MOST_CALLS:,} calls; a mapping that "
        "reads what it writes must stop somewhere, as with null"
    )
