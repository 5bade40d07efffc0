"""The ranks of a segment: its slots, the thresholds of each, and what values come to there.

What a word comes to is worked out when it is first seen, in Python, and copied ever after; what a
number comes to is searched among the thresholds by the kernel.
"""

import math
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.asking import BY_BYTES, Axis, Key
from sensewire.match.compiled.catalogue import Catalogue
from sensewire.match.compiled.conjunctions import LOOSE, Entries, Int32, Int64, Truths
from sensewire.match.compiled.growing import Growing
from sensewire.match.compiled.ranks import FIRST, NOWHERE, SEARCHED, buckets_of, entries_of
from sensewire.match.compiled.values import Seen, Values, Word
from sensewire.model.terms import term_of

_UNSEEN_YET = -1
_AT_A_TIME = 32
_FEW = 64


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


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """The slots of a segment, by the catalogue's numbers, and the keys at which ranks change.

    The thresholds of the slot at place i are keys[offsets[i] : offsets[i + 1]]; on an axis of
    texts, the numbers of their texts among `texts`, which ascend.
    """

    slots: Int32
    keys: npt.NDArray[np.float64]
    offsets: Int64
    texts: Sequence[bytes]


class Ranking:
    """What values come to in one segment."""

    def __init__(self, catalogue: Catalogue, thresholds: Thresholds, values: Values) -> None:
        self.thresholds = thresholds
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._axes = _axes_of(catalogue, thresholds.slots)
        self._flags = {slot: place for place, slot in enumerate(thresholds.slots.tolist())}
        searched = [
            catalogue.slots[slot].axis is Axis.NUMBERS for slot in thresholds.slots.tolist()
        ]
        self._buckets = buckets_of(
            thresholds.keys, thresholds.offsets, np.array(searched, np.bool_)
        )
        self._lists: dict[int, list[Any]] = {}
        self._known = _Known(values)

    def entries(self, facts: Columns, values: Values) -> tuple[Entries, Truths]:
        """Facts as ranks on slots, and which events are loose."""
        with self._lock:
            known = self._prepared(facts, values)
            tables = known.tables()
        first, count, entry_slot, entry_rank, offsets, number_slot, number_ranks = tables
        offsets, slot, rank, loose = entries_of(
            facts.events,
            facts.event,
            facts.property,
            facts.kind,
            facts.word,
            facts.number,
            first,
            count,
            entry_slot,
            entry_rank,
            offsets,
            number_slot,
            number_ranks,
            self.thresholds.keys,
            self.thresholds.offsets,
            *self._buckets,
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
        """With every word and property of the facts worked out, a few at a time: meanwhile others
        may ask the catalogue."""
        if self._known.values is not values:
            self._known = _Known(values)
        known = self._known
        if known.properties < len(values.properties):
            with self._catalogue.lock:
                for property in range(known.properties, len(values.properties)):
                    known.add_property(self._of_numbers(property, values))
        missing = known.missing(facts.word)
        for first in range(0, len(missing), _AT_A_TIME):
            with self._catalogue.lock:
                for number in missing[first : first + _AT_A_TIME]:
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
        is_exact = only.exact and self.thresholds.slots[place] not in self._catalogue.rounded
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
        return FIRST + bisect_right(self._keys(place), key)

    def _keys(self, place: int) -> list[Any]:  # Any: all doubles, or all bytes
        """The thresholds of a slot, as Python compares them."""
        known = self._lists.get(place)
        if known is None:
            first, last = self.thresholds.offsets[place : place + 2].tolist()
            known = self.thresholds.keys[first:last].tolist()
            if self._catalogue.slots[self.thresholds.slots[place]].axis in BY_BYTES:
                known = [self.thresholds.texts[int(number)] for number in known]
            self._lists[place] = known
        return known

    def _of_numbers(self, property: int, values: Values) -> list[tuple[int, int, int, int]]:
        """How numbers of a property stand on slots: an integer, a double; and an unseen string."""
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
        self.properties = 0
        self.first = np.empty(0, np.int32)
        self.count = np.empty(0, np.int32)
        self._first = self.first.data  # element by element, it is the quicker one
        self._tables: tuple[Any, ...] | None = None
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
            self._first = first.data
            self._tables = None

    def missing(self, words: Int32) -> list[int]:
        """The words among these that are not worked out yet."""
        if len(words) <= _FEW:
            few = words.tolist()
            self.reserve(max(few, default=-1) + 1)
            first = self._first
            new = [word for word in few if word >= 0 and first[word] == _UNSEEN_YET]
            return list(dict.fromkeys(new)) if new else new
        used = words[words >= 0]
        self.reserve(int(used.max()) + 1 if len(used) else 0)
        unseen = used[self.first[used] == _UNSEEN_YET]
        return list(dict.fromkeys(unseen.tolist()))

    def add_word(self, number: int, entries: dict[tuple[int, int], None]) -> None:
        self._tables = None
        self.first[number] = len(self.slot)
        self.count[number] = len(entries)
        for place, rank in entries:
            self.slot.append(place)
            self.rank.append(rank)

    def add_property(self, entries: list[tuple[int, int, int, int]]) -> None:
        self._tables = None
        self.properties += 1
        for place, *ranks in entries:
            self._number_slot.append(place)
            self._number_ranks.extend(ranks)
        self.number_offsets.append(len(self._number_slot))

    def tables(self) -> tuple[Any, ...]:
        if self._tables is None:
            self._tables = (
                self.first,
                self.count,
                self.slot.view,
                self.rank.view,
                self.number_offsets.view,
                self._number_slot.view,
                self._number_ranks.view.reshape(-1, 3),
            )
        return self._tables


def _axes_of(catalogue: Catalogue, slots: Int32) -> dict[int, list[tuple[int, Axis, str | None]]]:
    """The axes of each attribute: the place of the slot, the axis, its detail."""
    axes: dict[int, list[tuple[int, Axis, str | None]]] = defaultdict(list)
    for place, number in enumerate(slots.tolist()):
        slot = catalogue.slots[number]
        if slot.axis is not Axis.FLAG:
            assert slot.detail is None or isinstance(slot.detail, str)
            axes[slot.attribute].append((place, slot.axis, slot.detail))
    return axes
