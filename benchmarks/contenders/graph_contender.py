"""What a contender for graphs is: an index of a workload's subscriptions, asked event by event."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from workloads.graph_workload import GraphWorkload, Int32


class Asked(Protocol):
    """Events that were brought into the form that an index reads."""

    def __len__(self) -> int: ...

    def match(self, event: int) -> Int32:
        """The subscriptions that one of them matches, each once, in any order."""
        ...

    def match_all(self) -> None:
        """The same of all of them, in one call where there is one."""
        ...


class GraphMatching(Protocol):
    """An index of a workload."""

    @property
    def nbytes(self) -> int | None:
        """The memory that it takes; None where it does not say."""
        ...

    def events(self) -> Asked:
        """The workload's events, none matched yet."""
        ...

    def others(self) -> Asked:
        """The events to become warm with."""
        ...


@dataclass(frozen=True, slots=True)
class GraphContender:
    """A way to match, and what it takes."""

    name: str
    ready: Callable[[GraphWorkload], Callable[[], GraphMatching]]
    """Subscriptions in the form that the index is built from; and what builds it."""
    refuses: Callable[[GraphWorkload], str | None] = lambda _: None
    """Why it is left out of a workload."""
    is_slow: bool = False
    """Whether it is asked once, and about a few events."""
    compiles: bool = False
    """Whether it is built twice, the first time for the compiler."""
