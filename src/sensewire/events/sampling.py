"""A uniform sample of the events of files, the same however the files are cut.

Every event has a place, and every place a hash of 63 bits; the sample is what has the lowest hashes
(bottom-k). So the samples of parts make the sample of the whole, in any order: a part gives its own
lowest, and the lowest of all of them are the lowest of all.

Lines of JSON are found by numpy, and their hashes computed for a block at once; what is not in the
sample is counted and never decoded. A line that begins with `[`, which may hold many events, is
decoded, and so is every other format.

A sample has a limit in bytes too. It holds all that is below its *bound*, the hash of the first
event that would pass a limit; whatever passes it in a part passes it in the whole, so that the
bound of the whole is no higher than those of its parts.

Cost: linear in the bytes; memory: two samples and a block, or a line where that is longer.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events import records
from sensewire.events.decode import decode
from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.files import EventFile, Kind, Slice
from sensewire.model.event import Event
from sensewire.model.learned import UNTIMED, Learned, learned_from, learned_to

MOST_BYTES = 268_435_456
"""Bytes of a sample."""

_BLOCK = 4_194_304
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END, _RETURN, _LIST = b"\n\r["
_PLAIN = (".jsonl", ".ndjson", ".json")
_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t\n\r\x0b\x0c")] = True

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
        if _is_plain(part.file):
            try:
                with open(part.file.path, "rb") as file:  # noqa: PTH123 (paths travel as texts)
                    self._add_lines(part, file, decoding)
            except OSError as error:
                reason = f"cannot be read ({error.strerror}), but was there when the run began"
                self.unread.append(Rejected(part.file.name, b"", reason))
            return
        for outcome in decode(part, decoding):
            whole_file = outcome.place == part.file.name and part.file.kind is not Kind.TRIG
            if isinstance(outcome, Rejected) and whole_file:
                self.unread.append(outcome)
            else:
                self._add(outcome)

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

    def _add_lines(self, part: Slice, file: BinaryIO, decoding: Decoding) -> None:
        seed = hash_of(part.file.name)
        first_line = part.first_line
        for block in _blocks(file, part.start, part.end, decoding.longest):
            first = block.first_bytes()
            size = block.ends - block.starts
            fits = size <= decoding.longest
            lists = np.flatnonzero((first == _LIST) & fits)
            plain = np.flatnonzero(~((_SPACE[first] | (first == _LIST)) & fits))
            self.events += len(plain)
            for row in lists.tolist():
                place = f"{part.file.name}:{first_line + row}"
                for outcome in records.line(block.line(row), place, decoding):
                    self._add(outcome)
            hashes = line_hashes(seed, first_line + plain)
            low = np.flatnonzero(hashes < self.bound)
            if len(low) > self.most + 1:  # with the first that is too many: it is the bound
                low = low[np.argpartition(hashes[low], self.most)[: self.most + 1]]
            for number, row in zip(hashes[low].tolist(), plain[low].tolist(), strict=True):
                place = f"{part.file.name}:{first_line + row}"
                if fits[row]:
                    self.offer(Sampled(number, place, Form.LINE, block.line(row)))
                else:
                    kept = min(decoding.longest, KEPT_OF_LONG)
                    reason = too_long(decoding.longest, kept)
                    self.offer(Sampled(number, place, Form.REJECTED, reason.encode()))
            first_line += len(first)


def hash_of(text: str) -> int:
    """A hash of 63 bits."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def line_hashes(seed: int, numbers: Int64) -> Int64:
    """Hashes of 63 bits for the lines of a file: SplitMix64 (Steele and others 2014, figure 17).

    >>> [2 * hash for hash in line_hashes(1234567, np.array([1, 2])).tolist()]
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


def _is_plain(file: EventFile) -> bool:
    """Whether a file's lines can be found in its bytes, here."""
    is_local = file.path.startswith("/")
    return is_local and file.kind is Kind.LINES and file.path.lower().endswith(_PLAIN)


class _Block(NamedTuple):
    """Whole lines, without their ends."""

    data: bytes
    starts: Int64
    ends: Int64

    def line(self, row: int) -> bytes:
        return self.data[self.starts[row] : self.ends[row]]

    def first_bytes(self) -> npt.NDArray[np.uint8]:
        """The first byte of each line that is no white space; white space where all of it is."""
        filled = self.ends > self.starts
        first = np.full(len(self.starts), ord(" "), np.uint8)
        first[filled] = np.frombuffer(self.data, np.uint8)[self.starts[filled]]
        for row in np.flatnonzero(filled & _SPACE[first]).tolist():  # few, if any
            first[row] = ([*self.line(row).lstrip()[:1]] or [ord(" ")])[0]
        return first


def _blocks(file: BinaryIO, start: int, end: int, longest: int) -> Iterator[_Block]:
    """The lines that start in [start, end). Of one that is too long, more than `longest` bytes."""
    position = _first_start(file, start)
    held = b""
    while position < end:
        read = file.read(_BLOCK)
        data = held + read
        found = _block_of(data, position, end, whole=not read)
        if len(found.starts):
            yield found
        if not read:
            return
        rest = data.rfind(b"\n") + 1
        position += rest
        held = data[rest:]
        if position < end and len(held) > longest + len(_BYTE_ORDER_MARK) + 1:
            yield _Block(held, np.zeros(1, np.int64), np.full(1, len(held)))
            position += len(held) + _skipped(file)
            held = b""


def _block_of(data: bytes, position: int, end: int, *, whole: bool) -> _Block:
    """The lines of some bytes that begin before the end: those that have ended, or all."""
    bytes_ = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(bytes_ == _LINE_END)
    ends = breaks - (bytes_[breaks - 1] == _RETURN) if len(breaks) else breaks
    starts = np.concatenate(([0], breaks + 1))
    if whole and starts[-1] < len(data):
        ends = np.append(ends, len(data))
    starts = starts[: len(ends)]
    ends = np.maximum(ends, starts)  # an empty line after one that ends in a return
    count = int(np.searchsorted(starts + position, end))
    if position == 0 and count and data.startswith(_BYTE_ORDER_MARK):
        starts[0] = min(len(_BYTE_ORDER_MARK), ends[0])
    return _Block(data, starts[:count], ends[:count])


def _first_start(file: BinaryIO, start: int) -> int:
    """Where the first line that starts at `start` or later starts; the file is left there."""
    position = max(start - 1, 0)
    file.seek(position)
    return position if start == 0 else position + _skipped(file)


def _skipped(file: BinaryIO) -> int:
    """Read on to the end of the line; how many bytes that were."""
    skipped = 0
    while piece := file.readline(_BLOCK):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped
