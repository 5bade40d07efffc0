"""The index of many graph patterns: built once, immutable, made of plain arrays.

Events of up to 64 vertices are matched by `graph_narrow`, the others by `graph_wide`; both run the
same programs.
"""

import threading
from collections.abc import Mapping, Sequence
from operator import is_not
from typing import Any, NamedTuple

import numpy as np

from sensewire.match.compiled.graph_arguments import addresses
from sensewire.match.compiled.graph_build import (
    NAMES,
    SIZE_NODES,
    SIZE_PATTERNS,
    SIZE_STEPS,
    SIZE_WITHOUT_PIVOT,
    build_tables,
)
from sensewire.match.compiled.graph_layout import (
    ABSENT,
    ALL,
    ANY,
    BLOCK_EDGES,
    DEEPEST,
    EVERY,
    FILTER_WORDS,
    FIRST_BLOCK,
    ITSELF,
    NOT_TEST,
    PATTERN_MASK,
    ROWS_OF_NOTHING,
    SLOTS,
    VERTICES,
)
from sensewire.match.compiled.graph_narrow import COUNTS, INTS, match_narrow
from sensewire.match.compiled.graph_room import ROOM_KINDS, TABLE_KINDS, Room
from sensewire.match.compiled.graph_run import FRAMES
from sensewire.match.compiled.graph_terms import GraphEvents
from sensewire.match.compiled.graph_triggers import triggers
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.compiled.graph_wide import forget, match_wide, prepared
from sensewire.match.compiled.jit import Array

BUDGET = 1_000_000
"""Steps that the search for one pattern may take in one event."""
_ROOM = 1 << 14
ROLES = NAMES.index("roles")
_ADJACENCY = 1 << 18
_LAST_STAMP = 1 << 30
_ROW_ROOM = 1 << 12
_KEPT = 1 << 14
"""Facts of events that are kept between calls, lest all is looked up again."""
_NOTHING = np.empty(0, np.int32), np.empty(0, np.int64)


class GraphRows(NamedTuple):
    """Solutions of as many selected variables, each once: events, patterns, and codes in rows."""

    events: Array
    patterns: Array
    codes: Array


class GraphPairs(NamedTuple):
    """Events and the patterns that they fit, each pair once."""

    events: Array
    patterns: Array
    said: Array | None
    """What pairs say of themselves; None where none says anything."""
    rows: tuple[GraphRows, ...]
    """Of patterns that select, those of doubtful pairs and such as were given up too."""

    def saying(self, what: int) -> Array:
        """Which pairs are DOUBTFUL, OVER_BUDGET, or of a pattern that SELECTS."""
        if self.said is None:
            return np.zeros(len(self.events), np.bool_)
        found: Array = (self.said & what) != 0
        return found


class Proposals(NamedTuple):
    """Pairs of an event and a pattern that no trigger leads to, in the order of the events."""

    events: Array
    patterns: Array


NO_PROPOSALS = Proposals(np.empty(0, np.int32), np.empty(0, np.int32))


class _Shared:
    """What a thread needs for any index, kept from call to call."""

    def __init__(self) -> None:
        self.local = np.empty(0, np.int32)
        self.place = np.empty(0, np.uint8)
        self.members = np.empty(0, np.uint64)
        self.rows_of = np.empty(0, np.int32)
        self.adjacent = np.zeros(_ADJACENCY, np.uint64)
        self.adjacent[ROWS_OF_NOTHING : ROWS_OF_NOTHING + VERTICES] = np.uint64(1) << np.arange(
            VERTICES, dtype=np.uint64
        )
        self.ints = np.zeros(INTS, np.int32)
        self.counts = np.zeros(COUNTS, np.int64)
        self.over = np.zeros(0, np.int32)
        self.floats = np.zeros(3 * DEEPEST + 3, np.float64)
        self.row_words = np.zeros(_ROW_ROOM, np.int32)
        self.row_starts = np.zeros(_ROW_ROOM // 2, np.int64)

    def make_room(self, events: GraphEvents) -> None:
        codes, tests, properties = len(events.row_of), events.tests, events.properties
        if codes > len(self.local):
            self.local = np.full(2 * codes, -1, np.int32)
        if SLOTS + tests > len(self.place):
            room = SLOTS + tests + tests // 4
            self.place = np.full(room, ABSENT, np.uint8)
            self.members = np.zeros(room, np.uint64)
            self.place[ALL] = EVERY
            self.members[ANY] = ~np.uint64(0)
        if 2 * properties > len(self.rows_of):
            self.rows_of = np.zeros(4 * properties, np.int32)
            self.rows_of[2 * ITSELF] = ROWS_OF_NOTHING
        if len(events) > len(self.over):
            self.over = np.zeros(2 * len(events), np.int32)


class _Scratch:
    """What a thread needs for one index."""

    def __init__(self, shared: _Shared, patterns: int, nodes: int, steps: int) -> None:
        self.shared = shared
        self.events: GraphEvents | None = None
        self.room: tuple[Array, ...] = ()
        self.written_room: Array = np.empty(0, np.int64)
        self.arguments: tuple[Any, ...] = ()
        """What the kernel takes while it is asked about the same events."""
        self.stamp = 1
        self.stamps = np.zeros(patterns, np.int32)
        self.spent = np.zeros(patterns + nodes, np.int64)  # of patterns, then of tries
        self.states = np.zeros(nodes, np.int64)
        self.longs = np.zeros(FRAMES + 2 * (steps + 8), np.uint64)
        self.survivors = np.zeros(nodes + 8, np.int32)
        self.frames = np.zeros(3 * (steps + 8), np.int32)
        self.choices = np.zeros(nodes + 8 + 2 * (steps + 8), np.uint64)
        self.program = np.zeros(3 * (steps + 8), np.int32)
        self.make_room(patterns + _ROOM)

    def make_room(self, pairs: int) -> None:
        """New room for so many pairs; what is not used of it takes no memory."""
        self.events = None
        self.out_event = np.empty(pairs, np.int32)
        self.out_place = np.empty(pairs, np.int32)


_of_thread = threading.local()


class GraphIndex:
    """Patterns that many events are matched with. Several threads may match at a time."""

    __slots__ = ("_scratch", "_tables", "_written")

    def __init__(self, tables: tuple[Array, ...]) -> None:
        self._tables = tables
        self._written = addresses(tables, TABLE_KINDS)
        self._scratch = threading.local()

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> "GraphIndex":
        """The index whose `arrays()` these are, or were; they may be read-only memory maps."""
        return GraphIndex(tuple(_frozen(arrays[name]) for name in NAMES))

    def arrays(self) -> dict[str, Array]:
        """All that the index is made of."""
        return dict(zip(NAMES, self._tables, strict=True))

    def __len__(self) -> int:
        return int(self._tables[0][SIZE_PATTERNS])

    @property
    def nbytes(self) -> int:
        """The memory that the index takes."""
        return sum(table.nbytes for table in self._tables)

    @property
    def without_pivot(self) -> int:
        """How many patterns are tried for every fact with some property."""
        return int(self._tables[0][SIZE_WITHOUT_PIVOT])

    def match(
        self,
        events: GraphEvents,
        first: int = 0,
        last: int | None = None,
        budget: int = BUDGET,
        proposals: Proposals = NO_PROPOSALS,
    ) -> GraphPairs:
        """Events and the patterns that they fit: each pair once, in any order."""
        last = len(events) if last is None else last
        scratch = self._own()
        if scratch.events is not events:
            self._take(scratch, events)
        if scratch.stamp + 2 * (last - first) > _LAST_STAMP:
            scratch.stamp = 1
            scratch.stamps[:] = scratch.states[:] = scratch.spent[:] = 0
        proposed, until = _NOTHING
        if proposals is not NO_PROPOSALS:
            proposed, until = _by_events(proposals, len(events))
        narrow: Any = match_narrow
        filled, stopped, left, listed, said = narrow(
            *scratch.arguments, proposed, until, first, last, budget, scratch.stamp
        )
        if stopped == last and not left and not said and filled <= _ROOM:  # as nearly always
            scratch.stamp += last - first
            return GraphPairs(
                scratch.out_event[:filled].copy(), scratch.out_place[:filled].copy(), None, ()
            )
        pairs: list[tuple[Array, Array]] = []
        rows: list[tuple[Array, Array]] = []
        wide: list[int] = []
        shared = scratch.shared
        while True:
            scratch.stamp += stopped - first + 1  # the event that it stopped before is tried again
            row_words, row_starts, over = scratch.room[-3:]
            wide += over[:left].tolist()
            if listed:
                starts = row_starts[: listed + 1].copy()
                rows.append((row_words[: starts[-1]].copy(), starts))
            pairs.append((scratch.out_event[:filled], scratch.out_place[:filled]))
            scratch.make_room(len(self) + max(_ROOM, filled + filled // 4))
            if stopped == last:
                break
            if stopped == first or listed > len(row_starts) // 2:
                shared.row_words = np.zeros(4 * len(row_words), np.int32)
                shared.row_starts = np.zeros(4 * len(row_starts), np.int64)
            first = stopped
            self._take(scratch, events)
            filled, stopped, left, listed, said = narrow(
                *scratch.arguments, proposed, until, first, last, budget, scratch.stamp
            )
        for event in wide:
            of_event = proposed[until[event] : until[event + 1]] if len(until) else proposed
            found, of_wide = self._wide(event, events, budget, of_event)
            pairs.append(found)
            rows.append(of_wide)
        words = np.concatenate([each for _, each in pairs])
        return GraphPairs(
            np.concatenate([each for each, _ in pairs]),
            words & PATTERN_MASK,
            words,
            _rows_in(rows) if rows else (),
        )

    def _take(self, scratch: _Scratch, events: GraphEvents) -> None:
        """Be ready to match some events."""
        shared = scratch.shared
        shared.make_room(events)
        room = Room(
            shared.local, shared.place, shared.members, shared.rows_of, shared.adjacent,
            shared.ints, scratch.longs, shared.floats, scratch.stamps, scratch.spent,
            scratch.states, shared.counts, scratch.survivors, scratch.frames, scratch.choices,
            scratch.program, scratch.out_event, scratch.out_place, shared.row_words,
            shared.row_starts, shared.over,
        )  # fmt: skip
        if len(scratch.room) != len(room) or any(map(is_not, room, scratch.room)):
            scratch.room = room
            scratch.written_room = addresses(room, ROOM_KINDS)
        scratch.arguments = (
            self._written, scratch.written_room,
            events.subject, events.property, events.object, events.offsets, events.homes,
            events.row_of, events.rows, events.lists, events.numbers, events.filters,
            events.bounds,
        )  # fmt: skip
        scratch.events = events if len(events.subject) <= _KEPT else None

    def _wide(
        self, event: int, events: GraphEvents, budget: int, proposed: Array
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The pairs and the rows of one event of any size."""
        scratch = self._own()
        shared = scratch.shared
        first, last = int(events.offsets[event]), int(events.offsets[event + 1])
        subject, property = events.subject[first:last], events.property[first:last]
        home = int(events.homes[event])
        nodes, ends, edges, starts, by_vertex, of_vertex, by_test, asked = prepared(
            subject, property, events.object[first:last], home, events.row_of, events.rows,
            events.lists, self._tables[ROLES], events.tests, shared.local,
            shared.rows_of,
        )  # fmt: skip
        try:
            if len(scratch.out_place) < len(self):
                scratch.make_room(len(self) + _ROOM)
            match: Any = match_wide
            filled, row_words, row_starts = match(
                *self._tables, property, home, events.row_of, events.rows, events.lists,
                events.numbers, events.filters, events.bounds, events.tests,
                shared.local, shared.rows_of, nodes, ends, edges, starts, by_vertex, of_vertex,
                by_test, proposed, scratch.stamps, scratch.spent, scratch.states, scratch.stamp,
                budget + 4 * (last - first), event, scratch.out_place,
            )  # fmt: skip
        finally:
            scratch.stamp += 1
            forget(nodes, asked, shared.local, shared.rows_of)
        said = scratch.out_place[:filled].copy()
        return (np.full(filled, event, np.int32), said), (row_words, row_starts)

    def _own(self) -> _Scratch:
        scratch: _Scratch | None = getattr(self._scratch, "scratch", None)
        if scratch is None:
            shared = getattr(_of_thread, "shared", None)
            if shared is None:
                shared = _of_thread.shared = _Shared()
            sizes = self._tables[0]
            scratch = self._scratch.scratch = _Scratch(
                shared, int(sizes[SIZE_PATTERNS]), int(sizes[SIZE_NODES]), int(sizes[SIZE_STEPS])
            )
        return scratch


def _rows_in(parts: Sequence[tuple[Array, Array]]) -> tuple[GraphRows, ...]:
    """Rows that lie one after another, by how many variables they have, each once."""
    words = np.concatenate([each for each, _ in parts])
    counts = np.concatenate([np.diff(starts) for _, starts in parts])
    begins = np.cumsum(counts) - counts
    found = []
    for width in np.unique(counts).tolist():
        places = begins[counts == width, None] + np.arange(width)
        rows = np.unique(words[places], axis=0)
        found.append(GraphRows(rows[:, 0], rows[:, 1], rows[:, 2:]))
    return tuple(found)


def _by_events(proposals: Proposals, events: int) -> tuple[Array, Array]:
    """The proposed patterns, and until where each event's go; nothing without."""
    if not len(proposals.events):
        return proposals.patterns, np.empty(0, np.int64)
    until = np.searchsorted(proposals.events, np.arange(events + 1)).astype(np.int64)
    return proposals.patterns.astype(np.int32), until


def build(
    codes: Array, offsets: Array, vocabulary: Vocabulary, proposed: Array | None = None
) -> GraphIndex:
    """The index of coded patterns; those that are proposed have no trigger."""
    if proposed is None:
        proposed = np.zeros(len(offsets) - 1, np.bool_)
    proposed = proposed | (codes[offsets[:-1] + FIRST_BLOCK + BLOCK_EDGES] == 0)
    filters = vocabulary.filters.view.reshape(-1, FILTER_WORDS)
    negated = filters[filters[:, 0] == NOT_TEST, 1].copy()
    made = build_tables(
        codes, offsets, vocabulary.weights.view, vocabulary.properties, proposed, negated
    )
    return GraphIndex.from_arrays(made)


NEVER = np.iinfo(np.int32).max
"""The crowd of a pattern that no key leads to."""


def crowds(codes: Array, offsets: Array, vocabulary: Vocabulary) -> Array:
    """For each pattern how many are tried wherever an event has its trigger's key."""
    begins = offsets[:-1]
    found = np.full(len(begins), NEVER, np.int64)
    has_edges = codes[begins + FIRST_BLOCK + BLOCK_EDGES] > 0
    _, _, found[has_edges] = triggers(codes, begins[has_edges], vocabulary.weights.view, 1)
    return found


def _frozen(array: Array) -> Array:
    """A read-only view, so that a kernel is compiled once, whether the index is mapped or not."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    if view is array:
        view = array.view()
    view.flags.writeable = False
    return view
