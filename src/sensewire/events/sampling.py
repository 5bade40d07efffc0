"""A uniform sample of the events of files, the same however the files are cut.

Every event has a place, and every place a hash of 63 bits; the sample is what has the lowest hashes
(bottom-k). So the samples of parts make the sample of the whole, in any order: a part gives its own
lowest, and the lowest of all of them are the lowest of all.

The hashes of records, lines of JSON or rows of columns, are computed for a portion at once, from
their numbers; what is not in the sample is counted and never decoded. A line that begins with `[`,
which may hold many events, is decoded, and so is every other format.

A sample has a limit in bytes too. It holds all that is below its *bound*, the hash of the first
event that would pass a limit; whatever passes it in a part passes it in the whole, so that the
bound of the whole is no higher than those of its parts.

Cost: linear in the bytes; memory: two samples and a portion.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events import records
from sensewire.events.column_terms import compute
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import Slice
from sensewire.events.kinds import Kind
from sensewire.events.portions import EventPortion, portions
from sensewire.events.record_portion import RecordPortion
from sensewire.model.event import Event
from sensewire.model.learned import UNTIMED, Learned, learned_from, learned_to

MOST_BYTES = 268_435_456
"""Bytes of a sample."""

_LIST = r"^\s*\["

Int64 = npt.NDArray[np.int64]


class Form(StrEnum):
    """What the data of something sampled is."""

    LINE = "line"
    """A line of JSON, not decoded yet."""
    EVENT = "event"
    """An event, as statistics hold one."""
    REJECTED = "rejected"
    """The reason why it is no event."""


class Sampled(NamedTuple):
    """Something of the sample, in the order of the sample."""

    hash: int
    place: str
    form: Form
    data: bytes


@dataclass(slots=True)
class Lowest:
    """The sample of some slices: what has the lowest hashes, and how many events there were."""

    most: int
    most_bytes: int = MOST_BYTES
    events: int = 0
    unread: list[Rejected] = field(default_factory=list)
    """Whole files that could not be read; they are no events."""
    bound: int = 2**63 - 1
    """Everything below is in the sample, and nothing else."""
    _held: list[Sampled] = field(default_factory=list)

    def add(self, part: Slice, decoding: Decoding) -> None:
        """Take in the events of a slice."""
        for portion in portions([part], decoding):
            match portion:
                case RecordPortion():
                    self._add_records(portion, decoding)
                case EventPortion():
                    for outcome in portion.decoded:
                        self._add(outcome)
                case Rejected():
                    is_file = portion.place == part.file.name and part.file.kind is not Kind.TRIG
                    if is_file:
                        self.unread.append(portion)
                    else:
                        self._add(portion)

    def sample(self) -> list[Sampled]:
        """The sample, the lowest hash first."""
        self._trim()
        return self._held

    def offer(self, item: Sampled) -> None:
        """Take something into the sample, if it is low enough."""
        if item.hash < self.bound:
            self._held.append(item)
            if len(self._held) > 2 * self.most:
                self._trim()

    def _trim(self) -> None:
        self._held.sort()
        size = 0
        for number, item in enumerate(self._held):
            size += len(item.data)
            if number == self.most or size > self.most_bytes:
                self.bound = min(self.bound, item.hash)
                break
        del self._held[bisect_left(self._held, self.bound, key=lambda item: item.hash) :]

    def _add(self, outcome: Outcome) -> None:
        self.events += 1
        match outcome:
            case Decoded(place, _, event):
                number = hash_of(f"{place}\0{event.id}")
                if number < self.bound:
                    self.offer(Sampled(number, place, Form.EVENT, event_to(event)))
            case Rejected(place, _, reason):
                number = hash_of(f"{place}\0{reason}")
                self.offer(Sampled(number, place, Form.REJECTED, reason.encode()))

    def _add_records(self, portion: RecordPortion, decoding: Decoding) -> None:
        several = _may_be_several(portion)
        for row in np.flatnonzero(several).tolist():
            for outcome in portion.outcomes(row, decoding):
                self._add(outcome)
        rows = np.flatnonzero(~several)
        self.events += len(rows)
        hashes = number_hashes(hash_of(portion.file), portion.numbers[rows])
        low = np.flatnonzero(hashes < self.bound)
        if len(low) > self.most + 1:  # with the first that is too many: it is the bound
            low = low[np.argpartition(hashes[low], self.most)[: self.most + 1]]
        for number, row in zip(hashes[low].tolist(), rows[low].tolist(), strict=True):
            self.offer(_record(number, portion, row, decoding))


def _may_be_several(portion: RecordPortion) -> npt.NDArray[np.bool_]:
    """Which records may hold many events: texts that begin with `[`."""
    if not portion.is_json:
        return np.zeros(len(portion), np.bool_)
    found = compute.match_substring_regex(portion.batch.column(0), _LIST)
    return np.asarray(compute.fill_null(found, False))  # a cell may have no text


def _record(number: int, portion: RecordPortion, row: int, decoding: Decoding) -> Sampled:
    place = portion.place(row)
    if portion.is_json:
        return Sampled(number, place, Form.LINE, portion.raw(row))
    (outcome,) = portion.outcomes(row, decoding)
    if isinstance(outcome, Rejected):
        return Sampled(number, place, Form.REJECTED, outcome.reason.encode())
    return Sampled(number, place, Form.EVENT, event_to(outcome.event))


def hash_of(text: str) -> int:
    """A hash of 63 bits."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def number_hashes(seed: int, numbers: Int64) -> Int64:
    """Hashes of 63 bits for numbers of lines: SplitMix64 (Steele and others 2014, figure 17).

    >>> [2 * hash for hash in number_hashes(1234567, np.array([1, 2])).tolist()]
    [6457827717110365316, 3203168211198807972]
    """
    mixed = np.full(len(numbers), seed, np.uint64)
    mixed += numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(1)).astype(np.int64)


def outcomes_of(sample: Sequence[Sampled], decoding: Decoding) -> Iterator[Event | Rejected]:
    """What a sample holds, decoded."""
    for item in sample:
        match item.form:
            case Form.LINE:
                for outcome in records.line(item.data, item.place, decoding):
                    yield outcome.event if isinstance(outcome, Decoded) else outcome
            case Form.EVENT:
                yield event_from(item.data)
            case Form.REJECTED:
                yield Rejected(item.place, b"", item.data.decode())


def event_to(event: Event) -> bytes:
    """An event as bytes, without its payload."""
    return learned_to(Learned(1, 0, (), (event,)))


def event_from(data: bytes) -> Event:
    """The event of `event_to`."""
    return learned_from(data, "a sampled event", untimed=UNTIMED).sample[0]
