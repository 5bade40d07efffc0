"""What every matcher is: it takes clauses, and answers all of them for a batch of events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
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


class Matcher(Protocol):
    """An index of clauses. Answers that neither hold nor are undecided are left out."""

    @property
    def accepts(self) -> frozenset[Feature]:
        """The features of the clauses that it takes."""
        ...

    def add(self, number: int, clause: Clause) -> None:
        """Index a clause under a number that is new."""
        ...

    def remove(self, number: int) -> None:
        """Forget a clause."""
        ...

    def match(self, batch: Batch) -> Sequence[Sequence[Answer]]:
        """The answers for each event of the batch, in its order."""
        ...
