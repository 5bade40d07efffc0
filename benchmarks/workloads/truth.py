"""What must match, from the definition of tests alone: numpy over all of them, an event at a time.

No contender has a part in it. Cost: a few passes over all intervals for every entry of an event.
"""

from dataclasses import dataclass, field

import numpy as np

from frame import WrongAnswerError
from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Int32, Int64
from workloads.workload import Workload


def matching(conjunctions: Conjunctions, events: Entries, event: int) -> Int64:
    """The conjunctions that hold for one event, ascending."""
    tests = conjunctions.tests
    lengths = np.diff(tests.offsets)
    slot_of = np.repeat(tests.slot, lengths)
    test_of = np.repeat(np.arange(len(lengths)), lengths)
    met = np.zeros(len(lengths), np.bool_)
    rows = slice(events.offsets[event], events.offsets[event + 1])
    for slot, rank in zip(events.slot[rows].tolist(), events.rank[rows].tolist(), strict=True):
        inside = (slot_of == slot) & (tests.low <= rank) & (rank <= tests.high)
        met[test_of[inside]] = True
    fails = (met == tests.negated)[conjunctions.test]
    owner = np.repeat(np.arange(len(conjunctions)), np.diff(conjunctions.offsets))
    return np.flatnonzero(np.bincount(owner[fails], minlength=len(conjunctions)) == 0)


@dataclass(slots=True)
class Truth:
    """What must match in a workload, found when asked for, and once."""

    workload: Workload
    _known: dict[int, Int64] = field(default_factory=dict)

    def of(self, event: int) -> Int64:
        """The conjunctions that hold for an event, ascending."""
        if event not in self._known:
            workload = self.workload
            self._known[event] = matching(workload.conjunctions, workload.events, event)
        return self._known[event]

    def check(self, who: str, answer: tuple[Int32, Int32], events: int, checked: int) -> None:
        """Compare an answer for the first events, on some of them all over the range."""
        rows, conjunctions = answer
        if len(rows) and not 0 <= rows.min() <= rows.max() < events:
            raise WrongAnswerError(f"{who} answers for events that it was not asked about")
        for event in np.unique(np.linspace(0, events - 1, checked).astype(int)).tolist():
            given, due = np.sort(conjunctions[rows == event]), self.of(event)
            if not np.array_equal(given, due):
                raise WrongAnswerError(
                    f"{self.workload.name}, {len(self.workload.conjunctions):,} subscriptions: "
                    f"{who} answers event {event} with {len(given):,} where {len(due):,} match; "
                    f"wrong or given twice: {np.setdiff1d(given, due)[:5].tolist()}, "
                    f"missing: {np.setdiff1d(due, given)[:5].tolist()}"
                )
