"""The merged subscription graph G_M of G-ToPSS (Liu 2005, section 4.1), compiled.

All subscriptions are put into one graph. A vertex that has a label stands in it once, whoever asks
for it; the variables of a subscription are its stars ★1, ★2, …, and ★k of one subscription and of
another is the same vertex. An edge knows the subscriptions that have it.

    s1: (A, a, B), (B, b, ★1)      A ──a──► B ──b──► ★1      a: s1, s2
    s2: (A, a, B), (★1, b, A)               A ◄──b── ★1      b: s1; s2

An event is matched in two stages (section 4.2, in `compiled/gtopss.py`): edges are found and
counted, then the binding tables of each subscription that has all of its edges are joined.

Cost: of building it, a step for each edge of each subscription; of matching, see the kernels.
Matching is exact, so that a join may take a time exponential in the edges of a subscription.

Departure: a printed completed graph has the edges w → v, ★ → v and w → ★ of a triple v → w too;
only those in its direction are valid, and a loop ★k → ★k only where v = w.

Departure: binding tables and edge counts are those of one event; as printed they go on growing. An
edge is counted once for however many triples, or three triples on one edge would complete a
subscription of three. (An edge that a subscription has twice counts twice, and is needed twice.)
"""

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.conjunctions import Int32, Int64, Truths
from sensewire.match.compiled.gtopss import (
    EVENT,
    FIRST_STAR,
    SUBSCRIPTION,
    VALUE,
    list_subscriptions,
    match_events,
    number_edges,
)
from sensewire.model.errors import SensewireError

Counters = npt.NDArray[np.unsignedinteger[Any]]
_FEWEST = 1_024
_NOBODY = np.zeros(0, np.bool_)
_NO_BUDGET = 1 << 62


class Triples(NamedTuple):
    """The triples of events: what they are looked up by, and the vertices that stars bind."""

    offsets: Int64  # event → its first triple
    subject: Int32
    property: Int32
    object: Int32
    source: Int32
    target: Int32


class _Scratch(threading.local):
    """What a thread writes while it matches; between two events as it was at first."""

    def __init__(self, needed: Counters, edges: int, probes: int, stars: int) -> None:
        self.remaining = needed.copy()
        self.table_of = np.full(edges, -1, np.int32)
        self.probed = np.empty(probes, np.int32)
        self.complete = np.empty(len(needed) + 1, np.int32)  # written before it is known to count
        self.steps = np.empty((int(needed.max(initial=0)), 5), np.int32)
        self.values = np.empty(stars + 1, np.int32)
        self.found = np.empty((0, FIRST_STAR), np.int32)
        self.make_room(_FEWEST + probes, _FEWEST)

    def make_room(self, hits: int, answers: int) -> None:
        """Have room for so many of each; what was found is kept."""
        self.hits = np.empty((hits, 2), np.int32)
        self.tables = np.empty((hits, 3), np.int32)
        known = self.found
        self.found = np.empty((answers, known.shape[1]), np.int32)
        self.found[: len(known)] = known

    def have_columns(self, columns: int) -> None:
        """Have as many columns for what is found."""
        if self.found.shape[1] != columns:
            self.found = np.empty((len(self.found), columns), np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class MergedGraph:
    """The hashes, the edges with their subscriptions, and the subscriptions with their edges."""

    pairs: Int64
    edges: Int64
    ends: Int32  # edge → its vertices
    star_pairs: Int32  # the pairs of two different stars
    loop_pairs: Int32  # the pairs of a star with itself
    list_offsets: Int64  # edge → where its list starts
    lists: Int32
    own_offsets: Int64  # subscription → where its edges start
    own: Int32  # its edges that have a star
    needed: Counters  # subscription → how many edges it has
    stars: int
    _scratch: _Scratch

    @classmethod
    def build(cls, offsets: Int64, subject: Int32, property: Int32, object: Int32) -> "MergedGraph":
        """The graph of subscriptions whose edges are the rows offsets[i] … offsets[i + 1] − 1.

        A vertex below 0 is a star: −1 is ★1.

        >>> subject, object = np.array([5, 6, -1], np.int32), np.array([6, -1, 6], np.int32)
        >>> property = np.array([1, 2, 2], np.int32)
        >>> graph = MergedGraph.build(np.array([0, 2, 3]), subject, property, object)
        >>> graph.match(subject[:2], property[:2], np.array([6, 7], np.int32)).tolist()
        [0]
        """
        sizes = np.diff(offsets)
        if (sizes == 0).any():
            raise SensewireError(f"subscription {int(np.argmin(sizes))} has no edge")
        if (property < 0).any():
            raise SensewireError(f"the property {int(property.min())}: only vertices can be stars")
        numbers, pairs, edges, pair_ends, ends = _numbered(subject, property, object)
        joins = (subject < 0) | (object < 0)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        needed = _counters(sizes)
        list_offsets = _starts(np.bincount(numbers, minlength=len(ends)))
        lists = np.empty(list_offsets[-1], np.int32)
        list_subscriptions(offsets, numbers, list_offsets[:-1].copy(), lists)
        stars = max(0, -int(ends.min(initial=0)))
        of_stars, is_loop = (pair_ends < 0).all(axis=1), pair_ends[:, 0] == pair_ends[:, 1]
        star_pairs = np.flatnonzero(of_stars & ~is_loop).astype(np.int32)
        loop_pairs = np.flatnonzero(of_stars & is_loop).astype(np.int32)
        return cls(
            pairs=pairs,
            edges=edges,
            ends=ends,
            star_pairs=star_pairs,
            loop_pairs=loop_pairs,
            list_offsets=list_offsets,
            lists=lists,
            own_offsets=_starts(np.bincount(owner[joins], minlength=len(sizes))),
            own=numbers[joins],
            needed=needed,
            stars=stars,
            _scratch=_Scratch(
                needed, len(ends), 1 + 2 * stars + len(star_pairs) + len(loop_pairs), stars
            ),
        )

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self.needed)

    @property
    def nbytes(self) -> int:
        """What the graph holds in memory, apart from what threads write."""
        arrays = (getattr(self, name) for name in self.__slots__)
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def match(self, subject: Int32, property: Int32, object: Int32) -> Int32:
        """The subscriptions that one event matches, given as the labels of its triples, all ≥ 0."""
        offsets = np.array([0, len(subject)], np.int64)
        event = Triples(offsets, subject, property, object, subject, object)
        return self._found(event, _NOBODY, _NO_BUDGET, FIRST_STAR)[:, SUBSCRIPTION].copy()

    def match_many(
        self, offsets: Int64, subject: Int32, property: Int32, object: Int32
    ) -> tuple[Int32, Int32]:
        """The pairs of an event and a subscription that it matches, in the order of events."""
        events = Triples(offsets, subject, property, object, subject, object)
        found = self._found(events, _NOBODY, _NO_BUDGET, FIRST_STAR)
        return found[:, EVENT].copy(), found[:, SUBSCRIPTION].copy()

    def rows(self, events: Triples, wanting: Truths, budget: int) -> Int32:
        """Rows of an event, a subscription that it matches, and the vertices of ★1, ★2, …

        Subscriptions that are `wanting` have a row for each joint binding, the others one. One
        that tries more rows than the budget has one row, as subscription −1 − its number.
        """
        return self._found(events, wanting, budget, FIRST_STAR + self.stars).copy()

    def _found(self, events: Triples, wanting: Truths, budget: int, columns: int) -> Int32:
        scratch = self._scratch
        scratch.have_columns(columns)
        first = count = 0
        while True:
            first, count = match_events(
                first,
                count,
                *events,
                self.pairs,
                self.edges,
                self.ends,
                self.star_pairs,
                self.loop_pairs,
                self.list_offsets,
                self.lists,
                self.own_offsets,
                self.own,
                self.needed,
                scratch.remaining,
                scratch.table_of,
                scratch.tables,
                scratch.hits,
                scratch.probed,
                scratch.complete,
                scratch.steps,
                scratch.values,
                wanting,
                budget,
                scratch.found,
            )
            if first == len(events.offsets) - 1:
                return scratch.found[:count]
            triples = slice(events.offsets[first], events.offsets[first + 1])
            if (events.subject[triples] < 0).any() or (events.object[triples] < 0).any():
                raise SensewireError(
                    f"event {first} has a vertex below 0: only patterns have stars"
                )
            scratch.make_room(2 * len(scratch.hits), 2 * len(scratch.found))


class _Numbered(NamedTuple):
    """The edges of the graph: which of them each row is, and how they are found."""

    numbers: Int32
    pairs: Int64
    edges: Int64
    pair_ends: Int32
    ends: Int32


def _numbered(subject: Int32, property: Int32, object: Int32) -> _Numbered:
    """First with room for as many as there may be, then for as many as there are."""
    numbers = np.empty(len(subject), np.int32)
    pair_count = edge_count = len(subject)
    while True:
        pairs, edges = _hash(pair_count), _hash(edge_count)
        pair_ends, ends = np.empty((pair_count, 2), np.int32), np.empty((edge_count, 2), np.int32)
        known = number_edges(subject, property, object, pairs, edges, pair_ends, ends, numbers)
        if known == (pair_count, edge_count):
            return _Numbered(numbers, pairs, edges, pair_ends, ends)
        pair_count, edge_count = known


def _hash(count: int) -> Int64:
    """An empty hash, at most half of which will be full."""
    made = np.zeros((1 << max(4, (2 * count - 1).bit_length()), 2), np.int64)
    made[:, VALUE] = -1
    return made


def _starts(sizes: npt.NDArray[np.integer[Any]]) -> Int64:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _counters(counts: npt.NDArray[np.integer[Any]]) -> Counters:
    """Counts in the smallest type that holds them."""
    most = int(counts.max(initial=0))
    return counts.astype(np.uint8 if most < 256 else np.uint16 if most < 65_536 else np.uint32)
