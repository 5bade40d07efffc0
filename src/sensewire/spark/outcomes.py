"""What comes of a portion of events: the one place where the pipeline asks the engine.

    RecordPortion ──> engine.match_batch ──┬──> matches, failures, rejections, with ids and places
    EventPortion  ──> engine.match_events ─┤
    its columns   ──> engine.match_graphs ─┘

One call of the engine a portion, or a piece of one: as many events as have matches that a worker
can hold, judged by the pieces before. Rows that it rejects are read again by the plain decoder,
which says why, or finds that a line holds several events; those are matched then.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sensewire.batches import Reading
from sensewire.engine import Engine
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.portions import EventPortion, Portion
from sensewire.events.record_portion import RecordPortion
from sensewire.model.facts import Ids
from sensewire.model.match import BatchMatches
from sensewire.model.statistics import Statistics
from sensewire.spark import failpoints
from sensewire.spark.schema import FAILED, MATCHES

COUNTED = ("ambiguous", "unknown")
"""What an engine's statistics count of the events that it sees."""

MATCHES_AT_ONCE = 1_000_000
"""Matches that a call of the engine should find, at most."""
_FIRST = 256  # events of a first piece

compute: Any = pc  # the stubs do not know all of its functions
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What came of some events.

    `matches` has event, subscription, rows, distance; event and, mostly, subscription are Arrow
    dictionaries: numbers, and the ids that they stand for. `failed` has event, subscription,
    reason.
    """

    events: int
    matches: pa.Table
    failed: pa.Table
    rejected: tuple[Rejected, ...] = ()
    seen: dict[str, dict[str, int]] = field(default_factory=dict)
    """Words of several meanings and functions that failed, and how often."""


NOTHING = Outcomes(0, MATCHES.empty_table(), FAILED.empty_table())


class Pace:
    """How many events a call of the engine gets, judged by those that it got before."""

    def __init__(self, engine: Engine) -> None:
        self._subscriptions = engine.statistics().subscriptions
        self._events = self._matches = 0

    def note(self, events: int, matches: int) -> None:
        """So many events had so many matches."""
        self._events += events
        self._matches += matches

    def piece(self, left: int) -> int:
        """How many of the events that are left come next: even pieces, if they are like others."""
        if left * self._subscriptions <= MATCHES_AT_ONCE:
            return left
        if not self._events:
            return min(left, _FIRST)
        pieces = -(-left * self._matches // (self._events * MATCHES_AT_ONCE))
        return -(-left // max(1, pieces))


def outcomes_of(
    portion: Portion, engine: Engine, decoding: Decoding, pace: Pace
) -> Iterator[Outcomes]:
    """What the engine says of a portion, piece by piece where its matches may be many."""
    first = 0
    while first < len(portion):
        count = pace.piece(len(portion) - first)
        for answer in answers_of(portion.some(first, count), engine, decoding):
            pace.note(len(answer.rows), answer.result.matches.num_rows)
            yield Outcomes(
                answer.events,
                _named(answer.result.matches, answer.ids),
                _named(answer.result.failures, answer.ids),
                answer.rejected,
                answer.seen,
            )
        first += count


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the engine said in one call: of all rows of a portion, or of events in some of them."""

    result: BatchMatches
    portion: Portion  # the events of the result
    rows: Rows  # for each of them the row that it stands in, of the portion that was asked about
    ids: Ids
    events: int
    rejected: tuple[Rejected, ...]
    seen: dict[str, dict[str, int]]


def answers_of(portion: Portion, engine: Engine, decoding: Decoding) -> Iterator[Answer]:
    """What the engine says of a portion, call by call: mostly there is one."""
    failpoints.reached("match", portion)
    if isinstance(portion, EventPortion):
        yield _of_events(portion, np.arange(len(portion)), engine)
        return
    before = engine.statistics()
    reading = Reading(decoding, portion.place, with_ids=True, encoded=True)
    result = engine.match_batch(portion.batch, reading)
    again = list(_read_again(portion, result, decoding))
    yield Answer(
        result,
        portion,
        np.arange(len(portion)),
        _ids(result, portion),
        len(portion) - result.rejected.num_rows,
        tuple(outcome for _, outcome in again if isinstance(outcome, Rejected)),
        _difference(before, engine.statistics()),
    )
    good = [(row, outcome) for row, outcome in again if isinstance(outcome, Decoded)]
    if good:
        events = EventPortion(tuple(outcome for _, outcome in good))
        yield _of_events(events, np.array([row for row, _ in good]), engine)


def _of_events(portion: EventPortion, rows: Rows, engine: Engine) -> Answer:
    before = engine.statistics()
    if portion.graphs is not None:
        result = engine.match_graphs(portion.graphs, encoded=True)
    else:
        result = engine.match_events([each.event for each in portion.decoded], encoded=True)
    rejected = tuple(
        Rejected(portion.place(row), portion.raw(row), reason)
        for row, reason in _rejected_rows(result)
    )
    seen = _difference(before, engine.statistics())
    return Answer(result, portion, rows, result.ids, len(portion) - len(rejected), rejected, seen)


def _rejected_rows(result: BatchMatches) -> Iterator[tuple[int, str]]:
    for row in result.rejected.to_pylist():
        yield row["event"], row["reason"]


def _read_again(
    portion: RecordPortion, result: BatchMatches, decoding: Decoding
) -> Iterator[tuple[int, Outcome]]:
    """What the plain decoder makes of the rows that were rejected, by row."""
    for row, reason in _rejected_rows(result):
        read = list(portion.outcomes(row, decoding))
        if len(read) == 1 and isinstance(read[0], Decoded):
            # It is an event: the engine refused it, or could not read a column of it.
            read = [Rejected(portion.place(row), portion.raw(row), reason)]
        for outcome in read:
            yield row, outcome


def _ids(result: BatchMatches, portion: RecordPortion) -> Ids:
    """The ids of all rows; the place of a row that has none of its own."""
    numbers = pa.array(portion.numbers)
    if result.ids is None:
        return compute.binary_join_element_wise(portion.file, numbers.cast(pa.string()), ":")
    if not result.ids.null_count:
        return result.ids
    places = compute.binary_join_element_wise(portion.file, numbers.cast(pa.string()), ":")
    return compute.coalesce(result.ids, places)


def _named(table: pa.Table, ids: Ids) -> pa.Table:
    """A table whose events are ids, in the place of row numbers."""
    rows = table.column("event").combine_chunks().to_numpy().astype(np.int32)
    events = pa.DictionaryArray.from_arrays(rows, ids)
    return table.set_column(0, "event", events)


def same_words(one: Any, other: Any) -> bool:
    """Whether two dictionaries of ids are the same. Any: arrays of Arrow's."""
    if (one.type, len(one), one.offset) != (other.type, len(other), other.offset):
        return False
    # None is null, but one of them may say so.
    pairs = zip(one.buffers()[1:], other.buffers()[1:], strict=True)
    return all(left == right for left, right in pairs)


def _difference(before: Statistics, after: Statistics) -> dict[str, dict[str, int]]:
    return {
        kind: dict(Counter(getattr(after, kind)) - Counter(getattr(before, kind)))
        for kind in COUNTED
    }
