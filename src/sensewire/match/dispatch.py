"""Sends each clause to the first matcher that accepts it; equal clauses are indexed once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.counting import Counting
from sensewire.match.matcher import Answer, Matcher, Operator
from sensewire.match.oracle import Oracle
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.errors import SensewireError, SubscriptionError
from sensewire.model.features import features_of

Maker = Callable[[Knowledge, Mapping[str, Operator]], Matcher]

MATCHERS: Mapping[str, Maker] = {
    "counting": lambda knowledge, operators: Counting(knowledge),
    "oracle": lambda knowledge, operators: Oracle(knowledge, operators),
}
"""The matchers by the names of their files, in the order in which dispatch asks them."""


@dataclass(slots=True)
class Indexed:
    """A clause in its matcher, and how many subscriptions share it."""

    number: int
    matcher: Matcher
    users: int = 0


@dataclass(slots=True)
class Dispatch:
    """Clauses over matchers; a clause's number is the same wherever it is indexed."""

    matchers: Sequence[Matcher]
    _clauses: dict[Clause, Indexed] = field(default_factory=dict)
    _next: int = 0

    def add(self, clause: Clause) -> int:
        """Index a clause, once, and return its number."""
        indexed = self._clauses.get(clause)
        if indexed is None:
            indexed = Indexed(self._next, self._accepting(clause))
            indexed.matcher.add(indexed.number, clause)
            self._clauses[clause] = indexed
            self._next += 1
        indexed.users += 1
        return indexed.number

    def number_of(self, clause: Clause) -> int:
        """The number of a clause that is indexed."""
        return self._clauses[clause].number

    def remove(self, clause: Clause) -> None:
        """Forget one use of a clause."""
        indexed = self._clauses[clause]
        indexed.users -= 1
        if not indexed.users:
            indexed.matcher.remove(indexed.number)
            del self._clauses[clause]

    def match(self, batch: Batch) -> list[list[Answer]]:
        """The answers of all matchers for each event of the batch."""
        by_matcher = [matcher.match(batch) for matcher in self.matchers]
        return [
            [answer for answers in for_event for answer in answers]
            for for_event in zip(*by_matcher, strict=True)
        ]

    def _accepting(self, clause: Clause) -> Matcher:
        asked = features_of(clause)
        for matcher in self.matchers:
            if asked <= matcher.accepts:
                return matcher
        refused = sorted(feature.value for feature in asked - self.matchers[-1].accepts)
        raise SubscriptionError(f"the matcher does not take {', '.join(refused)}")


def dispatch_to(name: str, knowledge: Knowledge, operators: Mapping[str, Operator]) -> Dispatch:
    """All matchers in their order for "auto", else the one of that name alone."""
    if name != "auto" and name not in MATCHERS:
        known = ", ".join(("auto", *MATCHERS))
        raise SensewireError(f"there is no matcher {name!r}; expected one of {known}")
    names = MATCHERS if name == "auto" else (name,)
    return Dispatch([MATCHERS[each](knowledge, operators) for each in names])
