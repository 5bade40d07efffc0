"""A segment: clauses compiled together, never changed; the ranks of their constants, the index.

clauses ──> tests ──> thresholds of each slot ──> tests as intervals of ranks ──> index
                               │
facts ─────────────────────────┴──> entries: ranks on slots ──────────────────────> index.match

codes ──> graphs: the index of the clauses with triple patterns; one more of those to which facts
          are vertices, since events are others to them
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.asking import BY_BYTES, Axis
from sensewire.match.compiled.catalogue import Catalogue
from sensewire.match.compiled.conjunctions import (
    ANY,
    Conjunctions,
    Entries,
    Int32,
    Int64,
    Tests,
    Truths,
)
from sensewire.match.compiled.graph_index import (
    NEVER,
    NO_PROPOSALS,
    GraphIndex,
    GraphPairs,
    Proposals,
    crowds,
)
from sensewire.match.compiled.graph_index import build as build_graphs
from sensewire.match.compiled.graph_layout import (
    ANY_PROPERTY,
    CODE_FLAGS,
    FACT_PROPERTY,
    OF_FACTS,
)
from sensewire.match.compiled.graph_programs import uses_of
from sensewire.match.compiled.graph_terms import GraphEvents
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.compiled.ranking import Columns, Ranking, Thresholds
from sensewire.match.compiled.ranks import FIRST, span_ranks
from sensewire.match.compiled.values import Values
from sensewire.model.derived import Unknown


class Ranked(Protocol):
    """What finds the conjunctions that events meet."""

    @property
    def takes_loose(self) -> bool:
        """Whether it takes ranks that are loose or any; else all is judged for such events."""
        ...

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """The pairs of an event and a conjunction that it meets."""
        ...


CROWD = 64
"""Patterns under one key that are too many to be tried for each event that has it."""
RARE = 1 / 16
"""Of the events: clauses that more of them meet by their tests are better found by patterns."""
Builder = Callable[[Conjunctions, Entries], Ranked]


@dataclass(frozen=True, slots=True, eq=False)
class Clauses:
    """Clauses as tests of the catalogue: number + 1, negative where negated; or as codes."""

    numbers: Int32
    offsets: Int64
    tests: Int32
    judged: Truths
    """Which are only found by their tests or codes, and judged once more."""
    code_offsets: Int64
    codes: Int32

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_graph(self) -> Truths:
        """Which have triple patterns, and so a code."""
        return self.code_offsets[1:] > self.code_offsets[:-1]

    def tests_of(self, place: int) -> list[int]:
        """The tests of one of them."""
        found: list[int] = self.tests[self.offsets[place] : self.offsets[place + 1]].tolist()
        return found

    def at(self, places: Int64) -> "Clauses":
        """Some of them, in another order."""
        if np.array_equal(places, np.arange(len(self))):
            return self
        return Clauses(
            self.numbers[places],
            *_chosen(self.offsets, self.tests, places),
            self.judged[places],
            *_chosen(self.code_offsets, self.codes, places),
        )

    def only(self, kept: Truths) -> "Clauses":
        """Those that are kept."""
        return self if kept.all() else self.at(np.flatnonzero(kept))


def _chosen(offsets: Int64, flat: Int32, places: Int64) -> tuple[Int64, Int32]:
    """Some of the lists that lie one after another."""
    counts = np.diff(offsets)[places]
    ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    rows = np.repeat(offsets[places] - ends[:-1], counts) + np.arange(ends[-1])
    return ends, flat[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """Clauses with patterns that are found in the same form of events."""

    index: GraphIndex
    places: Int32
    """The place of each pattern's clause in the segment."""
    pattern_of: Int32 | None
    """The pattern of each of the segment's clauses that records propose, or −1; None without."""
    of_facts: bool
    """Whether facts are vertices to them."""

    def events(self, graphs: GraphEvents) -> GraphEvents:
        """Events in the form that they are found in."""
        if not self.of_facts:
            return graphs
        assert graphs.with_facts is not None, "a vocabulary that codes facts asks for them"
        return graphs.with_facts

    def match(self, events: GraphEvents, proposals: Proposals, budget: int) -> GraphPairs:
        """Events and the places of the clauses that they fit; `proposals` are places too."""
        if self.pattern_of is None:
            proposals = NO_PROPOSALS
        elif len(proposals.events):
            patterns = self.pattern_of[proposals.patterns]
            own = patterns >= 0
            proposals = Proposals(proposals.events[own], patterns[own])
        found = self.index.match(events, budget=budget, proposals=proposals)
        rows = [each._replace(patterns=self.places[each.patterns]) for each in found.rows]
        return found._replace(patterns=self.places[found.patterns], rows=tuple(rows))

    def touched(self, clauses: Clauses, properties: Collection[int]) -> Int32:
        """The places of the clauses for which some properties, or what nobody has said, can make a
        difference: those that ask for them, and those that their codes do not say all of."""
        begins = clauses.code_offsets[self.places]
        asked = {ANY_PROPERTY, FACT_PROPERTY, *properties}
        uses = uses_of(clauses.codes, begins, np.array(sorted(asked), np.int32))
        return self.places[uses | clauses.judged[self.places]]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Clauses compiled together."""

    clauses: Clauses
    ranking: Ranking
    index: Ranked
    catalogue: Catalogue
    planned_with: int
    """How many events the planner had seen."""
    has_judged: bool
    """Whether some clause is only found here, and judged once more."""
    places: Int32 | None
    """The places of the clauses in the index; None where they are all there."""
    graphs: tuple[Graphs, ...]

    def __len__(self) -> int:
        return len(self.clauses)

    @property
    def records(self) -> int:
        """How many clauses the index of records has; patterns need no plan."""
        return len(self) if self.places is None else len(self.places)

    @property
    def without_pivot(self) -> int:
        """How many clauses are tried for many events, since nothing that they ask for is rare."""
        of_graphs = sum(each.index.without_pivot for each in self.graphs)
        return getattr(self.index, "without_pivot", 0) + of_graphs

    def proposes(self, places: Int32) -> Truths:
        """Which clauses the index of records only proposes, and a pattern verifies."""
        found = np.zeros(len(places), np.bool_)
        for each in self.graphs:
            if each.pattern_of is not None:
                found |= each.pattern_of[places] >= 0
        return found

    def match(
        self, facts: Columns, values: Values, unknown: Mapping[int, Sequence[Unknown]]
    ) -> tuple[Int32, Int32, Truths]:
        """Events and the places of the clauses that they meet; and which events are to be judged
        once more."""
        if not self.records:
            nothing = np.empty(0, np.int32)
            return nothing, nothing, np.zeros(facts.events, np.bool_)
        entries, loose = self.ranking.entries(facts, values)
        if unknown:
            entries = self._with_unknown(entries, unknown)
            loose[list(unknown)] = True
        if self.index.takes_loose or not loose.any():
            events, places = self.index.match(entries)
            return events, self._placed(places), loose
        events, places = self.index.match(_without(entries, loose))
        sure = ~loose[events]
        doubtful = np.flatnonzero(loose).astype(np.int32)
        everything = np.arange(len(self), dtype=np.int32) if self.places is None else self.places
        return (
            np.concatenate((events[sure], np.repeat(doubtful, len(everything)))),
            np.concatenate((self._placed(places[sure]), np.tile(everything, len(doubtful)))),
            loose,
        )

    def are_rare(self, sample: Columns, values: Values) -> Truths:
        """Which clauses few of the events of a sample meet by their tests; all without a sample."""
        if not sample.events:
            return np.ones(len(self), np.bool_)
        _, places, _ = self.match(sample, values, {})
        few: Truths = np.bincount(places, minlength=len(self)) <= sample.events * RARE
        return few

    def _placed(self, found: Int32) -> Int32:
        return found if self.places is None else self.places[found]

    def _with_unknown(self, entries: Entries, unknown: Mapping[int, Sequence[Unknown]]) -> Entries:
        """With slots of which nothing is known."""
        counts = np.diff(entries.offsets)
        event = np.repeat(np.arange(len(counts)), counts)
        more: set[tuple[int, int]] = set()
        with self.catalogue.lock:
            for row, each in unknown.items():
                for one in each:
                    for attribute in self.catalogue.attributes.served_by(one.property):
                        more.update((row, place) for place in self.ranking.slots_of(attribute))
        rows = np.array([row for row, _ in more], np.int64)
        slots = np.array([place for _, place in more], np.int32)
        together = np.concatenate((event, rows))
        order = np.argsort(together, kind="stable")
        counts = np.bincount(together, minlength=len(counts))
        return Entries(
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            np.concatenate((entries.slot, slots))[order],
            np.concatenate((entries.rank, np.full(len(more), ANY, np.int32)))[order],
        )


def compiled(
    catalogue: Catalogue,
    clauses: Clauses,
    build: Builder,
    sample: Columns,
    values: Values,
    vocabulary: Vocabulary,
) -> Segment:
    """A segment of clauses, arranged for events like those of the sample."""
    is_graph = clauses.is_graph
    if not is_graph.any():
        return _of_records(catalogue, clauses, build, sample, values)
    graph_places = np.flatnonzero(is_graph).astype(np.int32)
    offsets, codes = _chosen(clauses.code_offsets, clauses.codes, graph_places.astype(np.int64))
    crowd = crowds(codes, offsets, vocabulary)
    proposed = crowd == NEVER
    has_tests = (clauses.offsets[1:] > clauses.offsets[:-1])[graph_places]
    mixed = np.flatnonzero((crowd > CROWD) & has_tests & ~proposed)
    if len(mixed):
        places = graph_places[mixed].astype(np.int64)
        trial = _of_records(catalogue, clauses.at(places), build, sample, values)
        proposed[mixed] = trial.are_rare(sample, values)
    is_record = ~is_graph
    is_record[graph_places[proposed]] = True
    of_records = _of_records(catalogue, clauses.only(is_record), build, sample, values)
    of_facts = (codes[offsets[:-1] + CODE_FLAGS] & OF_FACTS) != 0
    graphs = []
    for kind in (False, True):
        some = np.flatnonzero(of_facts == kind)
        if not len(some):
            continue
        own_offsets, own_codes = _chosen(offsets, codes, some)
        pattern_of = None
        if proposed[some].any():
            pattern_of = np.full(len(clauses), -1, np.int32)
            pattern_of[graph_places[some[proposed[some]]]] = np.flatnonzero(proposed[some])
        index = build_graphs(own_codes, own_offsets, vocabulary, proposed[some])
        graphs.append(Graphs(index, graph_places[some], pattern_of, of_facts=kind))
    return replace(
        of_records,
        clauses=clauses,
        places=np.flatnonzero(is_record).astype(np.int32),
        graphs=tuple(graphs),
        has_judged=bool(clauses.judged.any()),
    )


def _of_records(
    catalogue: Catalogue, clauses: Clauses, build: Builder, sample: Columns, values: Values
) -> Segment:
    codes, places = np.unique(clauses.tests, return_inverse=True)
    asked = _Asked.of(catalogue, np.abs(codes) - 1)
    ranking = Ranking(catalogue, asked.thresholds, values)
    conjunctions = Conjunctions(
        ranks=asked.ranks,
        tests=Tests(asked.slot, codes < 0, asked.interval_offsets, asked.low, asked.high),
        offsets=clauses.offsets,
        test=places.reshape(-1).astype(np.int32),
    )
    index = build(conjunctions, ranking.entries(sample, values)[0])
    has_judged = bool(clauses.judged.any())
    return Segment(clauses, ranking, index, catalogue, sample.events, has_judged, None, ())


def _without(entries: Entries, events: Truths) -> Entries:
    """The entries, but those of some events, which have none then."""
    counts = np.diff(entries.offsets)
    kept = np.repeat(~events, counts)
    ends = np.concatenate(([0], np.cumsum(np.where(events, 0, counts)))).astype(np.int64)
    return Entries(ends, entries.slot[kept], entries.rank[kept])


class _Asked(NamedTuple):
    """The tests of a segment, ranked."""

    thresholds: Thresholds
    slot: Int32  # of each test, its place
    interval_offsets: Int64
    low: Int32
    high: Int32
    ranks: Int32

    @classmethod
    def of(cls, catalogue: Catalogue, tests: Int32) -> "_Asked":
        columns = catalogue.columns
        settled = _settled(catalogue, columns.slot.view[tests])
        slots, places_of_slots = np.unique(settled, return_inverse=True)
        slot: Int32 = places_of_slots.reshape(-1).astype(np.int32)
        first = columns.offsets.view[tests]
        counts = columns.offsets.view[tests + 1] - first
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        rows = np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])
        of_span: Int32 = np.repeat(slot, counts)
        axes = [catalogue.slots[number].axis for number in slots.tolist()]
        by_bytes = np.array([axis in BY_BYTES for axis in axes], np.bool_)
        ends = np.concatenate((columns.starts.view[rows], columns.stops.view[rows]))
        of_end = np.concatenate((of_span, of_span))
        in_order = _texts_in_order(catalogue, ends, by_bytes[of_end])
        keys, threshold_offsets, places = _numbered(of_end, ends, len(slots))
        flagged = np.array([axis is Axis.FLAG for axis in axes], np.bool_)
        ranks = (np.diff(threshold_offsets) + FIRST).astype(np.int32)
        ranks[flagged] = 1
        ranks[[axis is Axis.PRESENT for axis in axes]] = 1
        interval_offsets, low, high = span_ranks(
            slot,
            columns.but.view[tests],
            offsets,
            places[: len(rows)],
            places[len(rows) :],
            ranks,
            flagged,
        )
        return cls(
            Thresholds(slots.astype(np.int32), keys, threshold_offsets, in_order),
            slot,
            interval_offsets,
            low,
            high,
            ranks,
        )


def _settled(catalogue: Catalogue, slots: Int32) -> Int32:
    """The slots of tests; `exists` is asked of another slot of its attribute, if there is one."""
    found, places = np.unique(slots, return_inverse=True)
    siblings: dict[int, int] = {}
    for number in found.tolist():
        slot = catalogue.slots[number]
        if slot.axis not in (Axis.PRESENT, Axis.FLAG):
            siblings.setdefault(slot.attribute, number)
    moved = [
        siblings.get(catalogue.slots[number].attribute, number)
        if catalogue.slots[number].axis is Axis.PRESENT
        else number
        for number in found.tolist()
    ]
    return np.array(moved, np.int32)[places.reshape(-1)]


def _texts_in_order(
    catalogue: Catalogue, ends: npt.NDArray[np.float64], by_bytes: Truths
) -> list[bytes]:
    """The texts among the ends, sorted; the ends become their places."""
    chosen = by_bytes & ~np.isnan(ends)
    if not chosen.any():
        return []
    numbers, places = np.unique(ends[chosen].astype(np.int64), return_inverse=True)
    texts = [catalogue.texts[number] for number in numbers.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    labels = np.empty(len(texts), np.float64)
    labels[order] = np.arange(len(texts))
    ends[chosen] = labels[places.reshape(-1)]
    return [texts[number] for number in order]


def _numbered(
    slot: Int32, key: npt.NDArray[np.float64], slots: int
) -> tuple[npt.NDArray[np.float64], Int64, Int64]:
    """The distinct keys of each slot in order, where each slot's begin, and each end's place there;
    -1 for an open end."""
    closed = np.flatnonzero(~np.isnan(key))
    order = closed[np.lexsort((key[closed], slot[closed]))]
    sorted_slot, sorted_key = slot[order], key[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (sorted_slot[1:] != sorted_slot[:-1]) | (sorted_key[1:] != sorted_key[:-1])
    offsets = np.concatenate(
        ([0], np.cumsum(np.bincount(sorted_slot[new], minlength=slots)))
    ).astype(np.int64)
    places = np.full(len(key), -1, np.int64)
    places[order] = np.cumsum(new) - 1 - offsets[sorted_slot]
    return sorted_key[new], offsets, places
