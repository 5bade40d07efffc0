"""Sends each clause to the first matcher that accepts it; equal clauses are indexed once.

Clauses are numbered by the order in which they came. A clause's number stays its own: one that
comes again after it went has a new one.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.counting import Counting
from sensewire.match.matcher import FactMatcher, Found, Matcher, Operator, found, joined
from sensewire.match.oracle import Oracle
from sensewire.model.batch import Batch, FactColumns
from sensewire.model.canonical import Clause, canonical_clause
from sensewire.model.errors import SensewireError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.facts import Facts
from sensewire.model.features import Feature, features_of
from sensewire.model.terms import Term

Maker = Callable[[Knowledge, Mapping[str, Operator]], Matcher]

_OF_VARIABLES = frozenset(
    {Feature.BINDING, Feature.SELECT, Feature.CONSTRAINT, Feature.PATTERN, Feature.OPERATOR}
)
_FEWEST_FORGOTTEN = 1_024


def _compiled(knowledge: Knowledge, operators: Mapping[str, Operator]) -> Matcher:
    from sensewire.match.compiled.index import build  # numba is imported with it
    from sensewire.match.layered import Layered

    return Layered(knowledge, operators, build)


def _compiled_counting(knowledge: Knowledge, operators: Mapping[str, Operator]) -> Matcher:
    from sensewire.match.compiled_counting import CompiledCounting
    from sensewire.match.layered import OF_RECORDS, Layered

    return Layered(
        knowledge, operators, lambda asked, sample: CompiledCounting.build(asked), OF_RECORDS
    )


def _gtopss_compiled(knowledge: Knowledge, operators: Mapping[str, Operator]) -> Matcher:
    from sensewire.match.gtopss_compiled import GToPSS

    return GToPSS(knowledge)


MATCHERS: Mapping[str, Maker] = {
    "compiled": _compiled,
    "compiled_counting": _compiled_counting,
    "counting": lambda knowledge, operators: Counting(knowledge),
    "gtopss_compiled": _gtopss_compiled,
    "oracle": lambda knowledge, operators: Oracle(knowledge, operators),
}
"""The matchers by the names of their files."""

AUTO = ("compiled", "oracle")
"""The matchers that users run, in the order in which dispatch asks them."""


Names = tuple[tuple[str, int], ...]


class Indexed(NamedTuple):
    """A clause's number, and what its subscriber called the variables that it selects, each with
    its place in the rows of answers."""

    number: int
    names: Names = ()


class Dispatch:
    """Clauses over matchers; a clause's number is the same wherever it is indexed."""

    def __init__(self, matchers: Sequence[Matcher]) -> None:
        self.matchers = matchers
        self._first = 0
        self._forgotten = 0
        self._next = 0
        self._numbers: dict[Hashable, int] = {}
        self._users: dict[int, int] = {}
        self._elsewhere: dict[int, Matcher] = {}  # clauses that the first matcher does not take
        first_one = matchers[0]
        self._of_facts = first_one if isinstance(first_one, FactMatcher) else None
        self._asking = [each for each in matchers if isinstance(each, FactMatcher | Oracle)]

    def __len__(self) -> int:
        """How many clauses are indexed."""
        return self._first - self._forgotten + len(self._users)

    def add(self, clause: Clause) -> Indexed:
        """Index a clause, once."""
        asked = features_of(clause)
        matcher = self._accepting(asked)
        names: Names = ()
        key: Hashable | None = None
        has_variables = asked & _OF_VARIABLES
        if matcher is self._of_facts and has_variables and clause.select is None:
            key = self._of_facts.key_as_written(clause)
        if key is None:
            if matcher is not self.matchers[0] or matcher.wants_canonical or has_variables:
                clause, names = _named(clause)
            key = matcher.key(clause)
        number = self._numbers.get(key)
        if number is None or number not in self._users:
            number = self._next
            self._next += 1
            matcher.add(number, clause)
            if matcher is not self.matchers[0]:
                self._elsewhere[number] = matcher
            self._numbers[key] = number
            self._users[number] = 0
        self._users[number] += 1
        return Indexed(number, names)

    def restore(self, clauses: int) -> None:
        """Begin after the clauses of an index folder, which the first matcher has."""
        self._first = self._next = clauses

    def forget(self, number: int) -> None:
        """Forget a clause of an index folder, which nobody has any more."""
        assert number < self._first
        self.matchers[0].remove(number)
        self._forgotten += 1

    def is_restored(self, number: int) -> bool:
        """Whether a clause is one of an index folder."""
        return number < self._first

    def remove(self, number: int) -> None:
        """Forget one use of a clause."""
        self._users[number] -= 1
        if self._users[number]:
            return
        del self._users[number]
        self._elsewhere.pop(number, self.matchers[0]).remove(number)
        if len(self._numbers) > 2 * len(self._users) + _FEWEST_FORGOTTEN:
            known = self._numbers.items()
            self._numbers = {key: number for key, number in known if number in self._users}

    @property
    def without_pivot(self) -> int:
        """How many clauses are tried for many events, since nothing that they ask for is rare."""
        return sum(matcher.without_pivot for matcher in self.matchers)

    def match(self, batch: Batch) -> Found:
        """The answers of all matchers for the events of the batch."""
        if not self._elsewhere:
            return self.matchers[0].match(batch)
        return joined([matcher.match(batch) for matcher in self.matchers])

    def asks_for(self, property: Term) -> bool:
        """Whether facts with a property can make a difference to some clause."""
        if len(self._asking) < len(self.matchers):
            return True
        return any(matcher.asks_for(property) for matcher in self._asking)

    @property
    def of_facts(self) -> FactMatcher | None:
        """The matcher that takes facts."""
        return self._of_facts

    @property
    def others(self) -> bool:
        """Whether there are clauses that only matchers of events take."""
        return bool(self._elsewhere) or self._of_facts is None

    def match_facts(self, facts: Facts, but: npt.NDArray[np.bool_]) -> Found:
        """The answers of the matcher that takes facts, but for some rows."""
        return found() if self._of_facts is None else self._of_facts.match_facts(facts, but)

    def match_columns(
        self, facts: FactColumns, homes: npt.NDArray[np.int32], event_at: Callable[[int], Event]
    ) -> Found | None:
        """The answers for events as columns; None where some matcher reads events only."""
        if self.others or self._of_facts is None:
            return None
        return self._of_facts.match_columns(facts, homes, event_at)

    def match_others(self, batch: Batch) -> Found:
        """The answers of the other matchers."""
        others = [each for each in self.matchers if each is not self._of_facts]
        return joined([matcher.match(batch) for matcher in others])

    def _accepting(self, asked: frozenset[Feature]) -> Matcher:
        for matcher in self.matchers:
            if asked <= matcher.accepts:
                return matcher
        refused = sorted(feature.value for feature in asked - self.matchers[-1].accepts)
        raise SubscriptionError(f"the matcher does not take {', '.join(refused)}")


def _named(clause: Clause) -> tuple[Clause, Names]:
    """A clause in canonical form, and the names of what it selects."""
    made = canonical_clause(clause)
    select = made.clause.select or ()
    names = sorted((name, select.index(variable)) for name, variable in made.names)
    return made.clause, tuple(names)


def names_of(clause: Clause) -> Names:
    """What a subscriber called the variables that a clause selects, with their places in rows."""
    return () if clause.select is None else _named(clause)[1]


def dispatch_to(name: str, knowledge: Knowledge, operators: Mapping[str, Operator]) -> Dispatch:
    """All matchers in their order for "auto", else the one of that name alone."""
    if name != "auto" and name not in MATCHERS:
        known = ", ".join(("auto", *MATCHERS))
        raise SensewireError(f"there is no matcher {name!r}; expected one of {known}")
    names = AUTO if name == "auto" else (name,)
    return Dispatch([MATCHERS[each](knowledge, operators) for each in names])
