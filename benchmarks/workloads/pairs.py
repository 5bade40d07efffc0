"""Which subscriptions the events of files must match, and the check of what was written.

The answers for the drawn events come from the engine asked in this process, by columns, and are
compared with the truth on some events. Files repeat the drawn events (`event_files`); so every pair
of an output is checked, by two sums:

    of each event   how many subscriptions it matches
    of all pairs    a hash of drawn event and subscription, added up: in whatever order they stand
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from frame import WrongAnswerError
from sensewire.engine import Engine
from workloads import ranked, texts
from workloads.graph_files import NAMED
from workloads.graph_truth import GraphTruth
from workloads.graph_workload import GraphWorkload
from workloads.records import Records
from workloads.truth import Truth

compute: Any = pc  # the stubs do not know all of its functions
Numbers = npt.NDArray[np.int64]
_COLUMNS = ["event", "subscription"]
_WHOLE = 2**64


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What the drawn events match, sorted by event and subscription."""

    drawn: int
    event: Numbers
    subscription: Numbers
    named: str = ""
    """What stands before the number of an event in its id."""

    @classmethod
    def of(cls, engine: Engine, records: Records, checked: int) -> "Pairs":
        """Ask an engine whose ids of subscriptions are their numbers."""
        found = engine.match_batch(texts.as_columns(records, records.events)).matches
        event = found.column("event").to_numpy().astype(np.int64)
        subscription = _numbers(found.column("subscription"))
        order = np.lexsort((subscription, event))
        pairs = cls(len(records.events), event[order], subscription[order])
        answer = (pairs.event.astype(np.int32), pairs.subscription.astype(np.int32))
        truth = Truth(ranked.workload(records))
        truth.check("the engine, in this process,", answer, pairs.drawn, checked)
        return pairs

    @classmethod
    def of_graphs(cls, engine: Engine, workload: GraphWorkload, checked: int) -> "Pairs":
        """Ask an engine whose ids of subscriptions are their numbers about events of graphs."""
        found = engine.match_events(workload.events).matches
        event = found.column("event").to_numpy().astype(np.int64)
        subscription = _numbers(found.column("subscription"))
        order = np.lexsort((subscription, event))
        pairs = cls(len(workload.events), event[order], subscription[order], NAMED)
        truth = GraphTruth(workload)
        for row in range(min(checked, pairs.drawn)):
            given = pairs.subscription[pairs.event == row].astype(np.int32)
            truth.check("the engine, in this process,", row, given)
        return pairs

    @property
    def an_event(self) -> float:
        """How many subscriptions match an event, on average."""
        return len(self.event) / self.drawn

    def counts(self, events: int) -> Numbers:
        """How many subscriptions each event matches, the drawn ones over and over."""
        counts = np.bincount(self.event, minlength=self.drawn)
        return counts[np.arange(events) % self.drawn]

    def matches(self, events: int) -> int:
        """How many there are of so many events, the drawn ones over and over."""
        return int(self.counts(events).sum())

    def check_output(self, who: str, folder: Path, events: int) -> None:
        """Check all matches that a run wrote to a folder, of files that repeat the drawn events."""
        counts = np.zeros(events, np.int64)
        total = 0
        for event, subscription in _written(folder, self.named):
            if len(event) and not 0 <= event.min() <= event.max() < events:
                raise WrongAnswerError(f"{who} answers for events that it was not asked about")
            counts += np.bincount(event, minlength=events)
            total += digest(event % self.drawn, subscription)
        due = self.counts(events)
        wrong = np.flatnonzero(counts != due)
        if len(wrong):
            first = wrong[0]
            raise WrongAnswerError(
                f"{who} answers event {first} with {counts[first]} subscriptions where "
                f"{due[first]} match; {len(wrong):,} of {events:,} events have a wrong count"
            )
        if (
            total % _WHOLE
            != digest(self.event, self.subscription) * (events // self.drawn) % _WHOLE
        ):
            raise WrongAnswerError(f"{who} answers with other subscriptions than those that match")

    def check_first(self, who: str, event: Numbers, subscription: Numbers, events: int) -> None:
        """Check an answer for the first of the drawn events, pair by pair."""
        order = np.lexsort((subscription, event))
        asked = self.event < events
        given = np.stack([event[order], subscription[order]])
        due = np.stack([self.event[asked], self.subscription[asked]])
        if not np.array_equal(given, due):
            raise WrongAnswerError(
                f"{who} answers {events:,} events with {given.shape[1]:,} matches that are not the "
                f"{due.shape[1]:,} right ones"
            )


def digest(event: Numbers, subscription: Numbers) -> int:
    """The sum of a hash of each pair, modulo 2⁶⁴: the same in any order.

    >>> some = np.array([1, 2]), np.array([3, 4])
    >>> digest(*some) == digest(some[0][::-1], some[1][::-1]) != digest(some[0], some[1][::-1])
    True
    """
    mixed = event.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += subscription.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum(dtype=np.uint64))


def _written(folder: Path, named: str) -> Iterator[tuple[Numbers, Numbers]]:
    """The matches in the files of a run, some at a time."""
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path, read_dictionary=_COLUMNS) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=_COLUMNS)
                event = _numbers(table.column("event"), named)
                yield event, _numbers(table.column("subscription"))


def _numbers(column: Any, named: str = "") -> Numbers:
    """Ids that are numbers behind some letters; each word of a dictionary is read once. Any: a
    chunked array of strings, or of a dictionary."""
    found = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            words = _numbers(pa.chunked_array([chunk.dictionary.cast(pa.string())]), named)
            found.append(words[chunk.indices.to_numpy()])
        else:
            numbers = compute.replace_substring(chunk, named, "") if named else chunk
            found.append(numbers.cast(pa.int64()).to_numpy())
    return np.concatenate(found) if found else np.empty(0, np.int64)
