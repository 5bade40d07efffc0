"""Events as one columnar batch. Cost: one dictionary look-up for each term of each fact."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from sensewire.model.batch import NO_HOME, NO_ROOT, RAW, Batch
from sensewire.model.event import Event
from sensewire.model.terms import Term


def encode(events: Sequence[Event]) -> Batch:
    """The events as a batch, in their order.

    >>> batch = encode([Event.record({"a": 1, "b": 1}, id="e1"), Event.record({"a": 2}, id="e2")])
    >>> batch.object.tolist(), batch.offsets.tolist(), [term.text for term in batch.terms]
    ([2, 2, 4], [0, 2, 3], ['H', 'a', '1', 'b', '2'])
    """
    codes: dict[Term, int] = {}
    rows = [
        [codes.setdefault(term, len(codes)) for term in fact]
        for event in events
        for fact in event.facts
    ]
    columns = np.array(rows, dtype=np.int32).reshape(-1, 3)
    homes = [
        NO_HOME if event.home is None else codes.setdefault(event.home, len(codes))
        for event in events
    ]
    return Batch(
        terms=tuple(codes),
        subject=columns[:, 0],
        property=columns[:, 1],
        object=columns[:, 2],
        origin=np.full(len(columns), RAW, dtype=np.int32),
        offsets=np.array([0, *accumulate(len(event.facts) for event in events)], dtype=np.int64),
        home=np.array(homes, dtype=np.int32),
        events=tuple(events),
        root=np.full(len(columns), NO_ROOT, dtype=np.int32),
    )
