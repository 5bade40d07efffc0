"""What every matcher is: it takes clauses, and answers all of them for a batch of events."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sensewire.model.batch import Batch, FactColumns
from sensewire.model.canonical import Clause
from sensewire.model.event import Event, Fact
from sensewire.model.facts import Facts
from sensewire.model.features import Feature
from sensewire.model.terms import Term

Operator = Callable[..., bool | Iterable[Mapping[str, Any]]]
"""`f(event, *arguments)`: arguments are terms, and variables, which a mapping binds by name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a clause says of one event.

    `rows` are the solutions, terms in the order of the clause's `select`: none where it does not
    hold. `reasons` says why it is undecided, wholly or (beside rows) in part.
    """

    clause: int
    rows: frozenset[tuple[Term, ...]] = frozenset()
    distance: float = 0.0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a matcher found for a batch.

    `events` and `clauses` pair events that hold surely, with one empty row and no distance;
    `answers` says more of others, each with the row of its event. A pair stands once.
    """

    events: npt.NDArray[np.int32]
    clauses: npt.NDArray[np.int32]
    answers: Sequence[tuple[int, Answer]] = ()


def found(answers: Sequence[tuple[int, Answer]] = ()) -> Found:
    """Only answers, each with the row of its event."""
    return Found(np.empty(0, np.int32), np.empty(0, np.int32), answers)


def joined(parts: Sequence[Found]) -> Found:
    """What several found."""
    if len(parts) < 2:
        return parts[0] if parts else found()
    return Found(
        np.concatenate([each.events for each in parts]),
        np.concatenate([each.clauses for each in parts]),
        [answer for each in parts for answer in each.answers],
    )


class Matcher(Protocol):
    """An index of clauses. Answers that neither hold nor are undecided are left out."""

    @property
    def accepts(self) -> frozenset[Feature]:
        """The features of the clauses that it takes."""
        ...

    @property
    def wants_canonical(self) -> bool:
        """Whether it tells clauses apart by their form, so that it needs the canonical one."""
        ...

    @property
    def without_pivot(self) -> int:
        """How many clauses are tried for many events, since nothing that they ask for is rare."""
        ...

    def key(self, clause: Clause) -> Hashable:
        """Something that is equal for clauses which it cannot tell apart."""
        ...

    def add(self, number: int, clause: Clause) -> None:
        """Index a clause under a number that is new."""
        ...

    def remove(self, number: int) -> None:
        """Forget a clause."""
        ...

    def match(self, batch: Batch) -> Found:
        """The answers for the events of the batch."""
        ...


@runtime_checkable
class FactMatcher(Matcher, Protocol):
    """A matcher that takes the facts of records too, without their becoming events."""

    def key_as_written(self, clause: Clause) -> Hashable | None:
        """The key of a clause whose variables may have any names; None where they must not."""
        ...

    def asks_for(self, property: Term) -> bool:
        """Whether some clause asks for a property."""
        ...

    def names(self) -> Iterable[str]:
        """The names that clauses call attributes by, without their synonyms."""
        ...

    @property
    def reads_all(self) -> bool:
        """Whether attributes can make a difference that nobody names."""
        ...

    @property
    def asked(self) -> Hashable:
        """Changes whenever something is asked for that was not."""
        ...

    def only_words(self, property: Term) -> Iterable[str] | None:
        """The words that alone can make a difference among a property's strings; None: any may."""
        ...

    def learn(self, events: Sequence[tuple[Term | None, Sequence[Fact]]]) -> None:
        """Expect events like these, given as home vertices and facts; answers stay the same."""
        ...

    @property
    def is_planned(self) -> bool:
        """Whether all was compiled by somebody who knew what events look like."""
        ...

    def match_facts(self, facts: Facts, but: npt.NDArray[np.bool_]) -> Found:
        """The answers for the records, but for some rows."""
        ...

    def match_columns(
        self, facts: FactColumns, homes: npt.NDArray[np.int32], event_at: Callable[[int], Event]
    ) -> Found:
        """The answers for events as columns, with the codes of their home vertices or −1."""
        ...
