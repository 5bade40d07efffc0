"""A few of the events that a run will match, for the planner, where nobody gave it statistics.

Without any, the planner would be blind; and workers take an index as it is, so that they share it.
The driver looks into a few files, at a few places of each.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.files import EventFile, Slice, slices
from sensewire.events.kinds import Kind
from sensewire.events.portions import EventPortion, Portion, portions
from sensewire.model.event import Event
from sensewire.model.learned import Learned

_Item = TypeVar("_Item")

_MOST = 4_096
_PLACES = 16
_WHOLE = (Kind.TRIG, Kind.JSON)
_LARGEST_WHOLE = 4_194_304  # bytes of a file that is read as a whole, if at all


def looked_at(files: Sequence[EventFile], decoding: Decoding) -> Learned:
    """Some events of files, as statistics that have nothing but a sample."""
    found: list[Event] = []
    places = list(_places(files))
    for part in places:
        found.extend(_some(part, decoding, _MOST // len(places)))
    return Learned(len(found), 0, (), tuple(found))


def _places(files: Sequence[EventFile]) -> Iterator[Slice]:
    """Slices of some files, some of each."""
    readable = [file for file in files if file.kind not in _WHOLE or file.size <= _LARGEST_WHOLE]
    chosen = _spread(readable, _PLACES)
    for file in chosen:
        each = max(1, _PLACES // len(chosen))
        yield from _spread(slices(file, -(-file.size // each) or 1), each)


def _spread(items: Sequence[_Item], most: int) -> list[_Item]:
    step = -(-len(items) // most) or 1
    return list(items[::step])


def _some(part: Slice, decoding: Decoding, most: int) -> Iterator[Event]:
    """Some events of the first portion of a slice."""
    for portion in islice(portions([part], decoding), 1):
        if isinstance(portion, Rejected):
            continue
        for row in np.linspace(0, len(portion) - 1, min(most, len(portion)), dtype=int).tolist():
            yield from _events(portion, row, decoding)


def _events(portion: Portion, row: int, decoding: Decoding) -> Iterator[Event]:
    if isinstance(portion, EventPortion):
        yield portion.decoded[row].event
        return
    for outcome in portion.outcomes(row, decoding):
        if isinstance(outcome, Decoded):
            yield outcome.event
