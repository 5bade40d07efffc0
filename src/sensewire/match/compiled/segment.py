"""A segment: clauses compiled together, never changed; the ranks of their constants, the index.

    clauses ──> tests ──> thresholds of each slot ──> tests as intervals of ranks ──> index
                                   │
    facts ─────────────────────────┴──> entries: ranks on slots ──────────────────────> index.match

What a word comes to here is worked out when it is first seen, in Python, and copied ever after; what
a number comes to is searched among the thresholds by the kernel.
"""

import math
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.asking import Axis, Key
from sensewire.match.compiled.catalogue import Catalogue
from sensewire.match.compiled.conjunctions import (
    ANY,
    LOOSE,
    Conjunctions,
    Entries,
    Int32,
    Int64,
    Tests,
    Truths,
)
from sensewire.match.compiled.growing import Growing
from sensewire.match.compiled.ranks import FIRST, NOWHERE, SEARCHED, entries_of, span_ranks
from sensewire.match.compiled.values import Seen, Values, Word
from sensewire.model.derived import Unknown
from sensewire.model.terms import term_of

_BY_BYTES = (Axis.STRINGS, Axis.TEXTS)
_UNSEEN_YET = -1


class Ranked(Protocol):
    """What finds the conjunctions that events meet."""

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """The pairs of an event and a conjunction that it meets."""
        ...


Builder = Callable[[Conjunctions, Entries], Ranked]


@dataclass(frozen=True, slots=True, eq=False)
class Clauses:
    """Clauses as tests of the catalogue: number + 1, negative where negated."""

    numbers: Int32
    offsets: Int64
    tests: Int32

    def __len__(self) -> int:
        return len(self.numbers)

    def tests_of(self, place: int) -> list[int]:
        """The tests of one of them."""
        found: list[int] = self.tests[self.offsets[place] : self.offsets[place + 1]].tolist()
        return found

    def only(self, kept: Truths) -> "Clauses":
        """Those that are kept."""
        if kept.all():
            return self
        counts = np.diff(self.offsets)
        return Clauses(
            self.numbers[kept],
            np.concatenate(([0], np.cumsum(counts[kept]))).astype(np.int64),
            self.tests[np.repeat(kept, counts)],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Facts as the kernels take them: numbers of properties and words, as `Values` gives them."""

    events: int
    event: Int32
    property: Int32
    kind: npt.NDArray[np.uint8]
    word: Int32
    number: npt.NDArray[np.float64]


NO_FACTS = Columns(
    0,
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty(0, np.uint8),
    np.empty(0, np.int32),
    np.empty(0, np.float64),
)


class Segment:
    """Clauses compiled together."""

    def __init__(
        self,
        catalogue: Catalogue,
        clauses: Clauses,
        is_judged: Truths,
        build: Builder,
        sample: Columns,
        values: Values,
    ) -> None:
        self.clauses = clauses
        self.is_judged = is_judged
        """Which clauses are only found here, and judged once more."""
        self._catalogue = catalogue
        self._lock = threading.Lock()
        codes, places = np.unique(clauses.tests, return_inverse=True)
        asked = _Asked.of(catalogue, np.abs(codes) - 1)
        self._slots = asked.slots
        self._thresholds = asked.thresholds
        self._offsets = asked.offsets
        self._texts = asked.texts
        self._axes = _axes_of(catalogue, asked.slots)
        self._flags = {slot: place for place, slot in enumerate(asked.slots.tolist())}
        self._known = _Known(values)
        conjunctions = Conjunctions(
            ranks=asked.ranks,
            tests=Tests(asked.slot, codes < 0, asked.interval_offsets, asked.low, asked.high),
            offsets=clauses.offsets,
            test=places.reshape(-1).astype(np.int32),
        )
        self.index = build(conjunctions, self.entries(sample, values)[0])

    def __len__(self) -> int:
        return len(self.clauses)

    def match(
        self, facts: Columns, values: Values, unknown: Mapping[int, Sequence[Unknown]]
    ) -> tuple[Int32, Int32, Truths]:
        """Events and the places of the clauses that they meet; and which events are to be judged
        once more."""
        entries, loose = self.entries(facts, values)
        if unknown:
            entries = self._with_unknown(entries, unknown)
            loose[list(unknown)] = True
        events, places = self.index.match(entries)
        return events, places, loose

    def _with_unknown(
        self, entries: Entries, unknown: Mapping[int, Sequence[Unknown]]
    ) -> Entries:
        """With slots of which nothing is known."""
        counts = np.diff(entries.offsets)
        event = np.repeat(np.arange(len(counts)), counts)
        more: set[tuple[int, int]] = set()
        for row, each in unknown.items():
            for one in each:
                for attribute in self._catalogue.attributes.served_by(one.property):
                    more.update((row, place) for place in self.slots_of(attribute))
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

    def entries(self, facts: Columns, values: Values) -> tuple[Entries, Truths]:
        """Facts as ranks on slots, and which events are loose."""
        with self._lock:
            known = self._prepared(facts, values)
            tables = known.tables()
        offsets, slot, rank, loose = entries_of(
            facts.events,
            facts.event,
            facts.property,
            facts.kind,
            facts.word,
            facts.number,
            *tables,
            self._thresholds,
            self._offsets,
        )
        return Entries(offsets, slot, rank), loose

    def slots_of(self, attribute: int) -> list[int]:
        """The places here of all slots of an attribute, flags included."""
        return [place for place, _, _ in self._axes.get(attribute, ())] + [
            place
            for slot, place in self._flags.items()
            if self._catalogue.slots[slot].attribute == attribute
            and self._catalogue.slots[slot].axis is Axis.FLAG
        ]

    def _prepared(self, facts: Columns, values: Values) -> "_Known":
        """With every word and property of the facts worked out."""
        if self._known.values is not values:
            self._known = _Known(values)
        known = self._known
        for property in range(len(known.number_offsets) - 1, len(values.properties)):
            known.add_property(self._of_numbers(property, values))
        known.reserve(len(values.words))
        words = facts.word[facts.word >= 0]
        new = words[known.first[words] == _UNSEEN_YET]
        for number in dict.fromkeys(new.tolist()):
            known.add_word(number, self._of_word(values.words[number], values))
        return known

    def _of_word(self, word: Word, values: Values) -> dict[tuple[int, int], None]:
        """The entries of a word: places of slots, and ranks."""
        found: dict[tuple[int, int], None] = {}
        catalogue = self._catalogue
        view = None
        for attribute in catalogue.attributes.served_by(values.properties[word.property]):
            scope = catalogue.attributes.scopes[attribute]
            for place, axis, detail in self._axes.get(attribute, ()):
                seen = values.seen(word, axis, detail, scope)
                for rank in self._ranks(place, seen):
                    found[place, rank] = None
            flags = catalogue.flags.get(attribute)
            if flags is not None:
                view = view or values.view(word)
                for slot in flags.held_by(view):
                    held = self._flags.get(slot)
                    if held is not None:
                        found[held, 1] = None
        return found

    def _ranks(self, place: int, seen: tuple[Seen, ...]) -> Iterator[int]:
        """The ranks of a value on a slot; loose ones where it may be one of several."""
        if len(seen) > 1:
            ranks = {self._rank(place, each.key) for each in seen}
            yield from (rank + LOOSE for rank in ranks)
            return
        (only,) = seen
        rank = self._rank(place, only.key)
        is_exact = only.exact and self._slots[place] not in self._catalogue.rounded
        if only.key is None or is_exact or isinstance(only.key, bytes):
            yield rank
            return
        before = self._rank(place, math.nextafter(only.key, -math.inf))
        after = self._rank(place, math.nextafter(only.key, math.inf))
        if before == after:
            yield rank
        else:
            yield from (each + LOOSE for each in {before, rank, after})

    def _rank(self, place: int, key: Key | None) -> int:
        if key is None:
            return NOWHERE
        return FIRST + bisect_right(self._texts[place], key)  # type: ignore[type-var]  # of one axis

    def _of_numbers(self, property: int, values: Values) -> list[tuple[int, int, int, int]]:
        """How plain numbers of a property stand on slots: an integer, a double, an unseen string."""
        made: list[tuple[int, int, int, int]] = []
        catalogue = self._catalogue
        for attribute in catalogue.attributes.served_by(values.properties[property]):
            for place, axis, _ in self._axes.get(attribute, ()):
                rank = SEARCHED if axis is Axis.NUMBERS else NOWHERE
                made.append((place, rank, rank, NOWHERE))
            flags = catalogue.flags.get(attribute)
            if flags is None:
                continue
            held = [
                set(flags.held_by(values.view(Word(property, term_of(example)))))
                for example in (7, 7.5)
            ]
            for slot in held[0] | held[1]:
                if slot in self._flags:
                    made.append((self._flags[slot], int(slot in held[0]), int(slot in held[1]), 0))
        return made


class _Known:
    """What is known of properties and words in one segment."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.first = np.empty(0, np.int32)
        self.count = np.empty(0, np.int32)
        self.slot = Growing(np.int32)
        self.rank = Growing(np.int32)
        self.number_offsets = Growing(np.int64, (0,))
        self._number_slot = Growing(np.int32)
        self._number_ranks = Growing(np.int32)

    def reserve(self, words: int) -> None:
        if words > len(self.first):
            first = np.full(max(words, 2 * len(self.first)), _UNSEEN_YET, np.int32)
            first[: len(self.first)] = self.first
            count = np.zeros(len(first), np.int32)
            count[: len(self.count)] = self.count
            self.first, self.count = first, count

    def add_word(self, number: int, entries: dict[tuple[int, int], None]) -> None:
        self.first[number] = len(self.slot)
        self.count[number] = len(entries)
        for place, rank in entries:
            self.slot.append(place)
            self.rank.append(rank)

    def add_property(self, entries: list[tuple[int, int, int, int]]) -> None:
        for place, *ranks in entries:
            self._number_slot.append(place)
            self._number_ranks.extend(ranks)
        self.number_offsets.append(len(self._number_slot))

    def tables(self) -> tuple[Any, ...]:
        return (
            self.first,
            self.count,
            self.slot.view,
            self.rank.view,
            self.number_offsets.view,
            self._number_slot.view,
            self._number_ranks.view.reshape(-1, 3),
        )


class _Asked(NamedTuple):
    """The tests of a segment, ranked."""

    slots: Int32  # the catalogue's numbers of the slots
    slot: Int32  # of each test
    interval_offsets: Int64
    low: Int32
    high: Int32
    ranks: Int32
    thresholds: npt.NDArray[np.float64]
    offsets: Int64
    texts: list[list[Any]]  # the thresholds of each slot as Python has them

    @classmethod
    def of(cls, catalogue: Catalogue, tests: Int32) -> "_Asked":
        columns = catalogue.columns
        slots, slot = np.unique(_settled(catalogue, columns.slot.view[tests]), return_inverse=True)
        slot = slot.reshape(-1).astype(np.int32)
        first = columns.offsets.view[tests]
        counts = columns.offsets.view[tests + 1] - first
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        rows = np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])
        of_span = np.repeat(slot, counts)
        axes = [catalogue.slots[number].axis for number in slots.tolist()]
        by_bytes = np.array([axis in _BY_BYTES for axis in axes], np.bool_)
        ends = np.concatenate((columns.starts.view[rows], columns.stops.view[rows]))
        of_end = np.concatenate((of_span, of_span))
        in_order = _texts_in_order(catalogue, ends, by_bytes[of_end])
        thresholds, threshold_offsets, places = _numbered(of_end, ends, len(slots))
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
            thresholds,
            threshold_offsets,
            ranks,
            flagged,
        )
        lists: list[list[Any]] = [
            thresholds[threshold_offsets[place] : threshold_offsets[place + 1]].tolist()
            for place in range(len(slots))
        ]
        for place in np.flatnonzero(by_bytes).tolist():
            lists[place] = [in_order[int(label)] for label in lists[place]]
        return cls(
            slots.astype(np.int32),
            slot,
            interval_offsets,
            low,
            high,
            ranks,
            thresholds,
            threshold_offsets,
            lists,
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


def _axes_of(
    catalogue: Catalogue, slots: Int32
) -> dict[int, list[tuple[int, Axis, str | None]]]:
    """The axes of each attribute: the place of the slot, the axis, its detail."""
    axes: dict[int, list[tuple[int, Axis, str | None]]] = defaultdict(list)
    for place, number in enumerate(slots.tolist()):
        slot = catalogue.slots[number]
        if slot.axis is not Axis.FLAG:
            assert slot.detail is None or isinstance(slot.detail, str)
            axes[slot.attribute].append((place, slot.axis, slot.detail))
    return axes
