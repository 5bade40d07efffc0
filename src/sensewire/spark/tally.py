"""What subscriptions have received so far: how many events a day, and a few of them.

    matches of a portion ──┬──> subscription, day: counts
                           └──> the first few of each subscription: the latest day, then by place

All of it is done by arrays, a portion at once: Python looks at each subscription once a task, and
at each event that is shown in the end. Memory: subscriptions × (days + examples), and a portion.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.days import days_of
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.portions import EventPortion, Portion
from sensewire.model.facts import Ids
from sensewire.spark.outcomes import Answer, same_words

MOST_SHOWN = 2_000
"""Characters of an example that are kept."""

MOST_TOLD = 5
"""Events of which it is said why they were rejected."""

_DAYS = 1 << 22  # more than there are days up to the year 9999; 0 stands for none
_PENDING = 1_000_000
_PLACE = re.compile(r"(.*?)(?::(\d+))?(?:\[(\d+)\])?", re.DOTALL)

Int64 = npt.NDArray[np.int64]


class Example(NamedTuple):
    """An event that a subscription would have received."""

    day: str | None
    place: str
    event: str
    raw: str

    def order(self) -> tuple[int, str, int, int]:
        """The latest day first, no day last; of one day the first by place."""
        return (-_ordinal(self.day), *place_order(self.place))


def place_order(place: str) -> tuple[str, int, int]:
    """A place as something that sorts: its file, its line, its part of the line.

    >>> place_order("h.jsonl:12[3]"), place_order("photo.jpg")
    (('h.jsonl', 12, 3), ('photo.jpg', 0, 0))
    """
    found = _PLACE.fullmatch(place)
    assert found is not None  # it matches everything
    return found[1], int(found[2] or 0), int(found[3] or 0)


class Problem(NamedTuple):
    """Something that is no event, and why."""

    place: str
    reason: str


def first_problems(items: Iterable[Problem]) -> list[Problem]:
    """The first few by place."""
    return sorted(items, key=lambda item: place_order(item.place))[:MOST_TOLD]


class _Source(NamedTuple):
    """Some events of which examples are kept, and their ids."""

    portion: Portion
    ids: Ids


class Tally:
    """The counts of a task, and the examples that it keeps: so many of each subscription."""

    def __init__(self, examples: int) -> None:
        self.counts: Counter[str] = Counter()
        self._most = examples
        self._names = _Names()
        self._received = _Counts()
        # Kept examples by columns: subscription, day, file, line, part; source, and row in it.
        self._kept: Int64 = np.zeros((7, 0), np.int64)
        self._files: dict[str, int] = {}
        self._sources: dict[int, _Source] = {}
        self._rejected: list[Problem] = []

    def add(self, answer: Answer, decoding: Decoding) -> None:
        """Take what the engine said of some events."""
        matches = answer.result.matches
        self.counts["events"] += answer.events
        self.reject(answer.rejected)
        self.counts["failed"] += answer.result.failures.num_rows
        self.counts["matches"] += matches.num_rows
        if not matches.num_rows:
            return
        events = matches.column("event").to_numpy().astype(np.int64)
        met, of_met = np.unique(events, return_inverse=True)
        days = _ordinals(days_of(answer.portion, met, decoding))[of_met]
        names = self._names.numbers_of(matches.column("subscription"))
        self._received.add(names * _DAYS + days)
        if self._most:
            places = self._places(answer.portion, met)[:, of_met]
            source = np.full(len(events), max(self._sources, default=0) + 1)
            self._keep(np.vstack((names, days, places, source, events)), answer)

    def reject(self, items: Sequence[Rejected]) -> None:
        """Count what is no event, and keep the first few by place, to be told."""
        self.counts["rejected"] += len(items)
        told = [*self._rejected, *(Problem(item.place, item.reason) for item in items)]
        self._rejected = first_problems(told) if items else self._rejected

    def _places(self, portion: Portion, rows: Int64) -> Int64:
        """Files, lines and parts of lines of some events."""
        if isinstance(portion, EventPortion):
            found = [place_order(portion.place(row)) for row in rows.tolist()]
            files = [self._file(name) for name, _, _ in found]
            return np.array([files, *zip(*((line, part) for _, line, part in found), strict=True)])
        file = np.full(len(rows), self._file(portion.file))
        return np.vstack((file, portion.numbers[rows], np.zeros(len(rows), np.int64)))

    def _file(self, name: str) -> int:
        return self._files.setdefault(name, len(self._files))

    def _keep(self, more: Int64, answer: Answer) -> None:
        """Keep the first of all that is kept and of what is new."""
        new = int(more[5, 0])
        kept = np.hstack((self._kept, more[:, self._first(more)]))
        kept = kept[:, self._first(kept)]
        is_new = kept[5] == new
        if is_new.any():
            rows, kept[6, is_new] = np.unique(kept[6, is_new], return_inverse=True)
            some = _light(answer.portion.at(rows.tolist()))
            self._sources[new] = _Source(some, answer.ids.take(pa.array(rows)))
        self._kept = kept
        used = set(np.unique(kept[5]).tolist())
        self._sources = {number: self._sources[number] for number in used}

    def _first(self, rows: Int64) -> Int64:
        """Which of them are the first of their subscription."""
        names, days, files, lines, parts = rows[:5]
        met, of_met = np.unique(files, return_inverse=True)
        called = list(self._files) if len(met) > 1 else []
        order = sorted(range(len(met)), key=lambda place: called[met[place]]) if called else [0]
        ranks = np.argsort(np.array(order))[of_met]
        order_of_all = np.lexsort((parts, lines, ranks, -days, names))
        sorted_names = names[order_of_all]
        starts = np.flatnonzero(np.concatenate(([True], np.diff(sorted_names) != 0)))
        lengths = np.diff(np.append(starts, len(sorted_names)))
        within = np.arange(len(sorted_names)) - np.repeat(starts, lengths)
        chosen: Int64 = order_of_all[within < self._most]
        return chosen

    def as_json(self) -> str:
        """All of it, for the driver."""
        known = self._names.known()
        days: dict[str, dict[str, int]] = {}
        for key, count in self._received.items():
            days.setdefault(known[key // _DAYS], {})[_iso(key % _DAYS) or ""] = count
        examples: dict[str, list[Example]] = {}
        for name, day, _, _, _, source, row in self._kept.T.tolist():
            portion, ids = self._sources[source]
            example = Example(
                _iso(day), portion.place(row), ids[row].as_py(), _shown(portion.raw(row))
            )
            examples.setdefault(known[name], []).append(example)
        whole = {"counts": self.counts, "days": days, "examples": examples}
        return json.dumps({**whole, "rejected": self._rejected})


class _Names:
    """Numbers of subscriptions, in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._dictionary: Any = None
        self._of_dictionary: Int64 = np.zeros(0, np.int64)

    def known(self) -> Sequence[str]:
        """The names by their numbers."""
        return list(self._numbers)

    def numbers_of(self, column: Any) -> Int64:
        """The number of each name; Python looks at those that are new."""
        array: Any = column.combine_chunks()
        array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        if self._dictionary is None or not same_words(array.dictionary, self._dictionary):
            self._dictionary = array.dictionary
            self._of_dictionary = np.full(len(array.dictionary), -1)
        rows = np.asarray(array.indices).astype(np.int64)
        new = np.unique(rows[self._of_dictionary[rows] < 0])
        names = array.dictionary.take(pa.array(new)).to_pylist()
        self._of_dictionary[new] = [
            self._numbers.setdefault(name, len(self._numbers)) for name in names
        ]
        numbers: Int64 = self._of_dictionary[rows]
        return numbers


class _Counts:
    """How often each number came."""

    def __init__(self) -> None:
        self._parts: list[tuple[Int64, Int64]] = []
        self._held = 0

    def add(self, keys: Int64) -> None:
        met, counts = np.unique(keys, return_counts=True)
        self._parts.append((met, counts))
        self._held += len(met)
        if self._held > _PENDING and len(self._parts) > 1:
            self._merge()
            self._held = 0  # what is merged is no longer pending

    def _merge(self) -> None:
        if len(self._parts) > 1:
            keys, of_keys = np.unique(
                np.concatenate([each for each, _ in self._parts]), return_inverse=True
            )
            sums = np.zeros(len(keys), np.int64)
            np.add.at(sums, of_keys, np.concatenate([counts for _, counts in self._parts]))
            self._parts = [(keys, sums)]

    def items(self) -> Iterator[tuple[int, int]]:
        self._merge()
        for keys, counts in self._parts:
            yield from zip(keys.tolist(), counts.tolist(), strict=True)


def _light(portion: Portion) -> Portion:
    """A portion without what is large and will not be shown."""
    if not isinstance(portion, EventPortion):
        return portion
    return EventPortion(
        tuple(
            Decoded(each.place, _shown(each.raw).encode(), replace(each.event, payload=None))
            for each in portion.decoded
        )
    )


def _shown(raw: bytes) -> str:
    """The beginning of an event, where it is a text.

    >>> _shown(b"hello"), _shown(bytes([137, 80, 78, 71]))
    ('hello', '4 bytes that are no text')
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return f"{len(raw):,} bytes that are no text"
    return text[:MOST_SHOWN]


def _ordinals(days: Any) -> Int64:
    """Days as numbers, 0 for none."""
    encoded = days.dictionary_encode()
    known = [_ordinal(day) for day in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices.fill_null(len(known)))
    ordinals: Int64 = np.array([*known, 0], np.int64)[codes]
    return ordinals


def _ordinal(day: str | None) -> int:
    return date.fromisoformat(day).toordinal() if day else 0


def _iso(ordinal: int) -> str | None:
    return date.fromordinal(ordinal).isoformat() if ordinal else None
