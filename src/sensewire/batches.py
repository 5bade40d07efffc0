"""Many records at once: Arrow in, Arrow out.

    RecordBatch ──> facts of the attributes that are asked for ──> clauses ──> rows of subscribers
                    (columns, or JSON by the scanner)              kernels     arithmetic
    events ────────────────────────────────────────────────────────┘

Nothing here is done event by event, apart from what is rare: rows that cannot be read, that mapping
functions have something to add to, or whose clauses only the oracle takes.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.column_terms import leaves
from sensewire.events.columns import facts_of
from sensewire.events.decoding import Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.graphs import Graphs
from sensewire.events.json_scanner import scan
from sensewire.events.nquads_home import NO_HOME
from sensewire.events.record_portion import JSON
from sensewire.knowledge.ambiguous import AmbiguousWords
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.dispatch import Dispatch
from sensewire.match.matcher import Answer, Found, joined
from sensewire.model.batch import Batch
from sensewire.model.errors import EventError
from sensewire.model.event import Event
from sensewire.model.facts import WORD, Facts, Ids
from sensewire.model.match import BatchMatches
from sensewire.model.statistics import Seen
from sensewire.model.terms import RDF_TYPE, Term, string
from sensewire.normalise.passes import normalised
from sensewire.subscribers import Arrow, Names, Subscribers

Int64 = npt.NDArray[np.int64]

_EVENT: "pa.Field[Any]" = pa.field("event", pa.int64(), nullable=False)
_SUBSCRIPTION: "pa.Field[Any]" = pa.field("subscription", pa.string(), nullable=False)
_REASON: "pa.Field[Any]" = pa.field("reason", pa.string(), nullable=False)
_ROWS: "pa.Field[Any]" = pa.field("rows", pa.list_(pa.map_(pa.string(), pa.string())))
_DISTANCE: "pa.Field[Any]" = pa.field("distance", pa.float64(), nullable=False)
MATCHES = pa.schema([_EVENT, _SUBSCRIPTION, _ROWS, _DISTANCE])
FAILURES = pa.schema([_EVENT, _SUBSCRIPTION, _REASON])
REJECTED = pa.schema([_EVENT, _REASON])


def _row(number: int) -> str:
    return f"row {number}"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a batch is read, how its rows are called, and what is wanted of it."""

    decoding: Decoding
    place: Callable[[int], str] = _row
    with_ids: bool = False
    encoded: bool = False
    """Whether the ids of subscriptions are an Arrow dictionary: numbers, and the ids of all."""


class Batches:
    """Matches batches of records, all by one dictionary of attributes and words."""

    def __init__(
        self,
        knowledge: Knowledge,
        dispatch: Dispatch,
        subscribers: Subscribers,
        seen: Seen,
        subscribing: AbstractContextManager[object],
    ) -> None:
        self._knowledge = knowledge
        self._dispatch = dispatch
        self._subscribers = subscribers
        self._seen = seen
        self._subscribing = subscribing  # held while somebody comes or goes
        self._lock = threading.Lock()
        self._dictionary = Dictionary()
        self._closed: set[str] = set()
        self._fields: set[str] = set()  # closed too: they hold ids or times, and nobody asks
        self._asked: object = None
        self._ambiguous = AmbiguousWords(knowledge)
        self._mapped = frozenset(
            root
            for function in knowledge.mappings
            for _, attribute in function.inputs
            for root in knowledge.attribute_roots(attribute)
        )

    def matched(self, batch: pa.RecordBatch, reading: "Reading | None" = None) -> BatchMatches:
        """What each row of a batch matches."""
        if isinstance(batch, pa.Table):
            batch = _one_batch(batch)
        if not isinstance(batch, pa.RecordBatch):
            raise EventError(
                f"a {type(batch).__name__} is no batch; expected a pyarrow.RecordBatch"
            )
        with self._lock:
            facts = self._facts(batch, reading or Reading(Decoding(now=datetime.now(UTC))))
        as_events = self._as_events(facts)
        rejected = dict(facts.rejected)
        gone = np.zeros(facts.count, np.bool_)
        gone[[*rejected, *as_events]] = True
        found = [self._dispatch.match_facts(facts, gone)]
        self._note(facts, gone)
        if self._dispatch.others:
            rows = [row for row in range(len(facts)) if row not in rejected]
            fast = [row for row in rows if row not in as_events]
            found.append(self._by_others(facts, fast))
        if as_events:
            found.append(self._by_events(facts, sorted(as_events), rejected))
        encoded = reading is not None and reading.encoded
        with self._subscribing:
            return _tables(
                joined(found), self._subscribers, self._seen, rejected, facts.ids, encoded
            )

    def matched_events(self, events: Sequence[Event], encoded: bool) -> BatchMatches:
        """What each of some events matches."""
        rejected: dict[int, str] = {}
        found = self._by_passes(events, range(len(events)), rejected)
        ids = pa.array([event.id for event in events], pa.string())
        with self._subscribing:
            return _tables(found, self._subscribers, self._seen, rejected, ids, encoded)

    def _facts(self, batch: pa.RecordBatch, reading: "Reading") -> Facts:
        decoding, place = reading.decoding, reading.place
        matcher = self._dispatch.of_facts
        asked = None if matcher is None else matcher.asked
        if self._dictionary.full or asked != self._asked:
            self._asked = asked
            self._prepare()
        with_ids = reading.with_ids and decoding.id_field is not None
        if batch.schema.names == [JSON]:
            self._know_field(decoding.time_field)
            self._know_field(decoding.id_field if with_ids else None)
            texts = _texts_of(batch.column(0))
            matcher = self._dispatch.of_facts
            reads_all = matcher is not None and matcher.reads_all
            is_wanted = self._is_wanted if self._knowledge.content.entities or reads_all else None
            return scan(
                *texts,
                self._dictionary,
                decoding=decoding,
                place=place,
                is_wanted=is_wanted,
                with_ids=with_ids,
            )
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for path in filter(self._is_wanted, leaves(name, column.type)):
                self._dictionary.attribute(path)
        return facts_of(batch, self._dictionary, decoding=decoding, place=place, with_ids=with_ids)

    def _know_field(self, name: str | None) -> None:
        """Know an attribute that holds an event's id or time, whether or not it is asked for."""
        if name is None or name in self._dictionary:
            return
        attribute = self._dictionary.attribute(name)
        if not self._is_wanted(name):
            self._dictionary.close(attribute)
            self._fields.add(name)

    def _prepare(self) -> None:
        """Know the attributes that are asked for, and of some the only words that matter."""
        matcher = self._dispatch.of_facts
        if matcher is None:
            return
        words = {name: matcher.only_words(string(name)) for name in matcher.names()}
        reopened = any(name in self._closed and only is None for name, only in words.items())
        if self._dictionary.full or reopened or any(map(self._is_wanted, self._fields)):
            self._dictionary = Dictionary()
            self._closed = set()
            self._fields = set()
        self._dictionary.ask_again()
        for root in self._mapped:
            self._dictionary.attribute(root.text)
        for name, only in words.items():
            attribute = self._dictionary.attribute(name)
            if only is not None:
                self._dictionary.close(attribute, only)
                self._closed.add(name)

    def matched_graphs(self, graphs: Graphs, encoded: bool) -> BatchMatches:
        """What each of some events of RDF matches, without their becoming events if they need
        not."""

        def event_at(row: int) -> Event:
            (decoded,) = graphs.at([row]).decoded()
            return decoded.event

        found = None
        if not self._mapped:
            homes = np.where(graphs.home == NO_HOME, -1, graphs.home).astype(np.int32)
            found = self._dispatch.match_columns(graphs.facts, homes, event_at)
        if found is None:
            return self.matched_events([each.event for each in graphs.decoded()], encoded)
        self._note_graphs(graphs)
        with self._subscribing:
            return _tables(found, self._subscribers, self._seen, {}, graphs.ids(), encoded)

    def _note_graphs(self, graphs: Graphs) -> None:
        """Count events, and their words of several meanings."""
        self._seen.events += len(graphs)
        if not self._knowledge.content.entities:
            return
        with self._lock:
            for word, count in self._ambiguous.counted(graphs.facts):
                self._seen.note_ambiguous(word, count)

    def wants(self, name: str) -> bool:
        """Whether an attribute of records can make a difference."""
        return self._dispatch.others or self._is_wanted(name)

    def wants_property(self, property: Term) -> bool:
        """Whether a property of graphs can make a difference; classes always can."""
        if property == RDF_TYPE:
            return True
        return self._dispatch.asks_for(property) or self._is_mapped(property)

    def _is_wanted(self, name: str) -> bool:
        matcher = self._dispatch.of_facts
        asked = matcher is not None and matcher.asks_for(string(name))
        return asked or self._is_mapped(string(name))

    def _is_mapped(self, property: Term) -> bool:
        """Whether a mapping function reads an attribute."""
        return bool(self._mapped) and not self._mapped.isdisjoint(
            self._knowledge.attributes_above(property)
        )

    def _as_events(self, facts: Facts) -> frozenset[int]:
        """The rows that mapping functions have something to add to."""
        read = np.array([self._is_mapped(string(name)) for name in facts.attributes], np.bool_)
        return frozenset(facts.event[read[facts.attribute]].tolist()) if read.any() else frozenset()

    def _by_others(self, facts: Facts, rows: Sequence[int]) -> Found:
        """What the matchers say that read events only."""
        found = self._dispatch.match_others(Batch([facts.event_at(row) for row in rows]))
        return _renumbered(found, rows)

    def _by_events(self, facts: Facts, rows: Sequence[int], rejected: dict[int, str]) -> Found:
        """What all matchers say of rows that functions add something to."""
        return self._by_passes([facts.event_at(row) for row in rows], rows, rejected)

    def _by_passes(
        self, events: Sequence[Event], rows: Sequence[int], rejected: dict[int, str]
    ) -> Found:
        """What all matchers say of events, by the numbers of their rows, after every pass."""
        batch = normalised(Batch(events), self._knowledge)
        rejected.update((rows[place], reason) for place, reason in batch.rejected.items())
        if batch.rejected:
            good = [place for place in range(len(events)) if place not in batch.rejected]
            batch = normalised(Batch([events[place] for place in good]), self._knowledge)
            rows = [rows[place] for place in good]
        known = self._knowledge
        self._seen.note(batch, known.is_ambiguous_in if known.content.entities else None)
        return _renumbered(self._dispatch.match(batch), rows)

    def _note(self, facts: Facts, gone: npt.NDArray[np.bool_]) -> None:
        """Count the events that are matched as facts, and their words of several meanings."""
        self._seen.events += int(np.count_nonzero(~gone))
        if not self._knowledge.content.entities:
            return
        is_word = (facts.kind == WORD) & (facts.word >= 0) & ~gone[facts.event]
        facts_once = np.unique((facts.event[is_word].astype(np.int64) << 32) | facts.word[is_word])
        numbers, counts = np.unique(facts_once & 0xFFFFFFFF, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            attribute, term = facts.words[number]
            if self._knowledge.is_ambiguous_in(string(facts.attributes[attribute]), term):
                self._seen.note_ambiguous(term.text, count)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    if len(batches) == 1:
        return batches[0]
    return pa.RecordBatch.from_pylist([], schema=table.schema)


def _texts_of(column: Arrow) -> tuple[npt.NDArray[np.uint8], Int64, Int64]:
    """A column of texts or bytes: all bytes, and where each text starts and ends."""
    if not (
        pa.types.is_binary(column.type)
        or pa.types.is_large_binary(column.type)
        or pa.types.is_string(column.type)
        or pa.types.is_large_string(column.type)
    ):
        raise EventError(f"the column {JSON!r} is of type {column.type}; expected binary or string")
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    starts, ends = places[:-1], places[1:]
    if column.null_count:  # whatever bytes lie below a null are not its text
        ends = np.where(column.is_valid().to_numpy(zero_copy_only=False), ends, starts)
    return np.frombuffer(data or b"", np.uint8), starts, ends


def _renumbered(found: Found, rows: Sequence[int]) -> Found:
    """What was found for some rows of a batch, by their own numbers."""
    numbers = np.array(rows, np.int32)
    return Found(
        numbers[found.events],
        found.clauses,
        [(rows[row], answer) for row, answer in found.answers],
    )


def _tables(
    found: Found,
    subscribers: Subscribers,
    seen: Seen,
    rejected: dict[int, str],
    event_ids: Ids | None,
    encoded: bool,
) -> BatchMatches:
    places, rows = subscribers.rows_of(found.clauses)
    # Sorted as one number each: the fastest sort that there is, and equal pairs meet.
    pairs = np.sort((found.events[places].astype(np.int64) << 32) | rows)
    if subscribers.some_have_many_clauses and len(pairs):
        pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]
    events, rows = pairs >> 32, pairs & 0xFFFFFFFF
    answered, failures = _answered(found.answers, subscribers, events, rows)
    ids: Arrow
    if encoded and not answered:
        ids = pa.DictionaryArray.from_arrays(rows.astype(np.int32), subscribers.all_ids())
    else:
        ids = subscribers.ids(rows).cast(pa.string())
    sure = pa.Table.from_arrays(
        [
            pa.array(events),
            ids,
            pa.nulls(len(events), MATCHES.field("rows").type),
            pa.array(np.zeros(len(events))),
        ],
        schema=MATCHES.set(1, pa.field("subscription", ids.type, nullable=False)),
    )
    matches = sure
    if answered:
        more = pa.Table.from_pylist(answered, schema=MATCHES)
        together = pa.concat_tables([sure, more]).combine_chunks()
        order = np.argsort(together.column("event").to_numpy(), kind="stable")
        matches = together.take(order)
    for failure in failures:
        seen.note_failure(str(failure["subscription"]), [str(failure["reason"])])
    reasons = [{"event": row, "reason": rejected[row]} for row in sorted(rejected)]
    return BatchMatches(
        matches,
        pa.Table.from_pylist(failures, schema=FAILURES),
        pa.Table.from_pylist(reasons, schema=REJECTED),
        event_ids,
    )


def _answered(
    answers: Sequence[tuple[int, Answer]], subscribers: Subscribers, events: Int64, rows: Int64
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The rows of tables for answers that say more than that a clause holds."""
    if not answers:
        return [], []
    held: dict[tuple[int, str], tuple[set[tuple[tuple[str, str], ...]], float]] = {}
    reasons: dict[tuple[int, str], set[str]] = defaultdict(set)
    sure = set(zip(events.tolist(), subscribers.ids(rows).to_pylist(), strict=True))
    for event, answer in answers:
        for standing, names in subscribers.of(answer.clause):
            key = (event, standing.id)
            reasons[key].update(answer.reasons)
            if answer.rows and key not in sure:
                known, distance = held.get(key, (set(), answer.distance))
                known.update(_written(names, answer))
                held[key] = (known, min(distance, answer.distance))
    matches: list[dict[str, object]] = [
        {
            "event": event,
            "subscription": id,
            "rows": None if known == {()} else [list(row) for row in sorted(known)],
            "distance": distance,
        }
        for (event, id), (known, distance) in sorted(held.items(), key=lambda item: item[0])
    ]
    failures: list[dict[str, object]] = [
        {"event": event, "subscription": id, "reason": "; ".join(sorted(why))}
        for (event, id), why in sorted(reasons.items())
        if why
    ]
    return matches, failures


def _written(names: Names, answer: Answer) -> Iterable[tuple[tuple[str, str], ...]]:
    for row in answer.rows:
        yield tuple((name, str(row[place])) for name, place in names)
