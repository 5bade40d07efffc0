"""What a match says: which subscription, which bindings, at which distance, and what failed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from sensewire.model.terms import Term

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Term]
_OVER_BUDGET = "budget exceeded"


def over_budget(steps: int) -> str:
    """Why a subscription stays undecided whose search took too many steps.

    >>> over_budget(100_000)
    'budget exceeded: more than 100,000 steps'
    """
    return f"{_OVER_BUDGET}: more than {steps:,} steps"


def is_over_budget(reason: str) -> bool:
    """Whether a reason is that of `over_budget`, perhaps among others."""
    return _OVER_BUDGET in reason


class Match(NamedTuple):
    """A subscription that an event matches; `rows` in the order of their terms' texts."""

    subscription: str
    rows: tuple[Row, ...]
    distance: float = 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A subscription that stays undecided for an event, wholly or in part, and why."""

    subscription: str
    reason: str


@dataclass(frozen=True, slots=True)
class Matches(Sequence[Match]):
    """The matches of one event, in the order of their subscriptions' ids, and the failures."""

    items: tuple[Match, ...]
    failures: tuple[Failure, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, index: int | slice) -> Match | tuple[Match, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.items)


@dataclass(frozen=True, slots=True, eq=False)
class BatchMatches:
    """The matches of many events, as Arrow tables; `event` is the row number in the batch.

    `matches` has event, subscription, rows (null where nothing is selected; values as N-Triples)
    and distance; `failures` event, subscription and reason; `rejected` event and reason. All are in
    the order of events; the sure matches of one event in the order in which the subscriptions came.
    """

    matches: "pa.Table"
    failures: "pa.Table"
    rejected: "pa.Table"
    ids: Any = None  # an Arrow array of strings, or None
    """The ids of the events, row by row, where they were asked for; null for one without."""
