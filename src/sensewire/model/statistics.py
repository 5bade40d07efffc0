"""What an engine holds and has seen, for whoever wants to know how it is used."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sensewire.model.batch import Batch

MOST_COUNTED = 10_000
"""Different words and reasons that are kept."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What an engine holds and what it has seen."""

    subscriptions: int
    clauses: int  # equal ones count once
    events: int
    ambiguous: Mapping[str, int]  # words of several meanings in events, and how often
    unknown: Mapping[str, int]  # functions that failed, with the reason, and for how many events


@dataclass(slots=True)
class Seen:
    """What has passed through an engine."""

    events: int = 0
    ambiguous: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    def note(self, batch: Batch) -> None:
        """Count what is worth knowing of a batch; of words and reasons, the first ones only."""
        self.events += len(batch)
        for word, count in batch.ambiguous.items():
            if word in self.ambiguous or len(self.ambiguous) < MOST_COUNTED:
                self.ambiguous[word] += count
        for unknown in batch.unknown.values():
            for reason in {each.reason for each in unknown}:
                if reason in self.unknown or len(self.unknown) < MOST_COUNTED:
                    self.unknown[reason] += 1
