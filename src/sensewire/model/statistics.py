"""What an engine holds and has seen, for whoever wants to know how it is used."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sensewire.model.batch import Batch
from sensewire.model.match import is_over_budget
from sensewire.model.terms import Term

MOST_COUNTED = 10_000
"""Different words and reasons that are kept."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What an engine holds and what it has seen."""

    subscriptions: int
    clauses: int  # equal ones count once
    without_pivot: int  # clauses that nothing rare leads to: they are tried for many events
    events: int
    ambiguous: Mapping[str, int]  # words of several meanings in events, and how often
    unknown: Mapping[str, int]  # functions that failed, with the reason, and for how many events
    costly: Mapping[str, int]  # subscriptions whose search passed its budget, and how often


@dataclass(slots=True)
class Seen:
    """What has passed through an engine."""

    events: int = 0
    ambiguous: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    costly: Counter[str] = field(default_factory=Counter)

    def note_failure(self, subscription: str, reasons: Iterable[str]) -> None:
        """Count an event that a subscription's search took too many steps for; the first
        subscriptions only."""
        is_known = subscription in self.costly or len(self.costly) < MOST_COUNTED
        if is_known and any(map(is_over_budget, reasons)):
            self.costly[subscription] += 1

    def note_ambiguous(self, word: str, count: int = 1) -> None:
        """Count a word of several meanings; the first ones only."""
        if word in self.ambiguous or len(self.ambiguous) < MOST_COUNTED:
            self.ambiguous[word] += count

    def note(self, batch: Batch, ambiguous: Callable[[Term, Term], bool] | None) -> None:
        """Count the events of a batch, words of several meanings (by attribute and value), and what
        functions left unknown; the first reasons only."""
        self.events += len(batch)
        if ambiguous is not None:
            for row in range(len(batch)):
                for _, name, value in batch.facts(row):
                    if ambiguous(name, value):
                        self.note_ambiguous(value.text)
        for unknown in batch.unknown.values():
            for reason in {each.reason for each in unknown}:
                if reason in self.unknown or len(self.unknown) < MOST_COUNTED:
                    self.unknown[reason] += 1
