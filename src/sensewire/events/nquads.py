"""N-Quads to events in columns, with the outcomes of `rdf.nquads`.

    block ──→ Scanner ──→ statements ──→ runs ──┬── clean ──→ encode ──→ Graphs
                 └─ odd ─→ rdf.said_by ─┘       ├── others ─→ Run ─────→ Rejected
                                                └── the last ──→ given back, read on with the next

Runs in which anything is wrong are gone through line by line; so is one that is longer than any
event, or that stands around a line that is, while it is read: it is *held*. Memory: a block, and an
event.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sensewire.events.decoding import KEPT_OF_LONG, Decoding, Rejected
from sensewire.events.files import Slice
from sensewire.events.graphs import Graphs
from sensewire.events.line_blocks import LINE_END, Block, LineBlocks, LongLine
from sensewire.events.lines import Line, first_start
from sensewire.events.nquads_runs import Found, Lines, rejection
from sensewire.events.nquads_scanner import Kept, Scanner
from sensewire.events.rdf import Running, running_before, said_by
from sensewire.events.runs import Run
from sensewire.events.scanning import PADDING
from sensewire.events.unpacking import Content, opened

_BLOCK = 4_194_304
LONGEST = 268_435_456
"""Bytes of an event, whatever longer ones are allowed: places in a block are numbers of 32 bits."""
_LATER = 65_536
"""Bytes that are read at first behind the end of a part, to end its last event."""


def nquads_in(
    content: Content, part: Slice, decoding: Decoding, scanner: Scanner, *, block: int = _BLOCK
) -> Iterator[Found]:
    """The events of a slice of N-Quads: those that start in it."""
    decoding = replace(decoding, longest=min(decoding.longest, LONGEST))
    if content.unpacked is not None:
        end = size = sys.maxsize
        running, position, number = None, 0, 1
    else:
        end, size, number = part.end, max(part.end, part.file.size), part.first_line
        running = None
        if part.start > 0:
            running = running_before(content.stream, part.start, end, decoding)
        position = first_start(content.stream, part.start, end)
    blocks = LineBlocks(content.stream, position, decoding.longest)
    reader = _Reader(part.file.name, decoding, scanner, number, running)
    for limit, at_once in ((end, block), (size, min(block, _LATER))):
        if limit == size and end < size:
            reader.is_later = True
        while not reader.is_done and (read := blocks.read(reader.given_back, limit, at_once)):
            if content.problem is not None and not read.is_ended:
                yield from reader.broken_off(read, content.problem)
                return
            # Of a compressed file, whether it breaks is known when nothing more comes.
            is_last = content.unpacked is None and blocks.is_at(size)
            yield from reader.taken(read, is_last=is_last)
            if reader.is_later:
                at_once = min(2 * at_once, block)
        if limit == size or not reader.is_open:
            break
    if content.problem is not None:
        yield from reader.broken_off(None, content.problem)
    elif not reader.is_done:
        yield from reader.ended()


def graph_portions(
    part: Slice, decoding: Decoding, kept: Kept | None = None
) -> Iterator[Graphs | Rejected]:
    """The events of a slice of N-Quads in columns, and what in it is none.

    With `kept`, the facts are left out whose properties it refuses, by their IRIs; ids, times and
    home vertices are those of whole events.
    """
    scanner = Scanner(kept)
    with opened(part.source, part.packing) as content:
        for found in nquads_in(content, part, decoding, scanner):
            if found.graphs is not None and len(found.graphs):
                yield found.graphs
            yield from (rejected for _, rejected in found.others)


@dataclass(slots=True)
class _Reader:
    """What is known between two blocks: the run that is open, and the number of the next line."""

    file: str
    decoding: Decoding
    scanner: Scanner
    number: int
    running: Running | None
    given_back: bytes = b""
    """The lines of the run that is open, from its first on; the next line's number is theirs."""
    held: Run | None = None
    """The run that is open, where it is gone through line by line."""
    is_later: bool = False
    """Whether only the open run is read on."""
    is_done: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a run is open."""
        return self.held is not None or bool(self.given_back)

    def taken(self, read: Block | LongLine, *, is_last: bool) -> Iterator[Found]:
        """What a block has, but for its last run, which may go on in the next if there is one."""
        if isinstance(read, Block):
            yield from self._block(read, is_last=is_last)
            return
        self._hold()
        line = read.line(self.number)
        self.number += 1
        yield from self._line(line)

    def ended(self) -> Iterator[Found]:
        """What is left at the end."""
        if self.held is not None:
            yield self._closed(self.held)
        elif self.given_back:
            yield from self._block(self._again(), is_last=True)

    def broken_off(self, read: Block | LongLine | None, reason: str) -> Iterator[Found]:
        """What is left where a file breaks off, perhaps in a line."""
        data = b""
        match read:
            case Block():
                data = bytes(read.data[len(self.given_back) : read.stop - len(LINE_END)])
            case LongLine():
                data = read.data
        if len(data) > self.decoding.longest:
            data = data[: min(self.decoding.longest, KEPT_OF_LONG)]
        self._hold()
        place = f"{self.file}:{self.number}"
        if self.held is not None:
            self.held.spoil(place, "its file breaks off here, so it may lack facts", data)
            yield self._closed(self.held)
        yield rejection(Rejected(place, data, reason))

    def _closed(self, run: Run) -> Found:
        """What a run that was held came to: the lines of an event are scanned once more."""
        outcome = run.outcome()
        if isinstance(outcome, Rejected):
            return rejection(outcome)
        file, _, number = outcome.place.rpartition(":")
        raw = outcome.raw.replace(b"\n", LINE_END)
        again = _Reader(file, self.decoding, self.scanner, int(number), None, raw)
        (found,) = again.ended()
        return found

    def _again(self) -> Block:
        return Block(bytearray(self.given_back + bytes(PADDING)), len(self.given_back))

    def _hold(self) -> None:
        """Go through the lines that were given back, if there are any."""
        if not self.given_back:
            return
        lines = self._lines(self._again())
        self.held = lines.run(0, lines.scanned.rows - 1)
        self._go_on(lines)

    def _lines(self, block: Block) -> Lines:
        scanned = self.scanner.scan(block.data, block.stop, self.decoding.longest)
        return Lines.of(scanned, self.scanner, self.file, self.number, self.decoding)

    def _line(self, line: Line) -> Iterator[Found]:
        """Take a line by itself."""
        said = said_by(line, self.decoding)
        if said is None or (self.running is not None and said.continues(self.running.graph)):
            return
        self.running = None
        place = f"{self.file}:{line.number}"
        if self.held is None and not said.decides:
            yield rejection(Rejected(place, line.data, str(said.problem)))
            return
        if self.held is None or not said.continues(self.held.graph):
            if self.held is not None:
                yield self._closed(self.held)
            self.held = Run(said.graph, place, self.decoding)
            self.is_done = self.is_later
        said.enter(self.held, place, line.data)

    def _block(self, block: Block, *, is_last: bool) -> Iterator[Found]:
        lines = self._lines(block)
        row = self._passed(lines)
        if row < lines.scanned.rows and self.held is not None:
            yield self._closed(self.held)
            self.held, self.is_done = None, self.is_later
        if row == lines.scanned.rows or self.is_done:
            self._go_on(lines)
            return
        row, rejected = lines.undecided(row)
        yield from map(rejection, rejected)
        runs, count = lines.runs(row)
        self.is_done = self.is_later and count > 1
        closed = 1 if self.is_done else count if is_last else max(count - 1, 0)
        yield lines.found(runs, closed, self.scanner)
        if closed < count and not self.is_done:
            self._give_back(block, lines, int(runs.first[closed]))
        else:
            self._go_on(lines)

    def _go_on(self, lines: Lines) -> None:
        """Be done with some lines."""
        self.number += lines.scanned.lines
        self.given_back = b""

    def _passed(self, lines: Lines) -> int:
        """The first row that neither the run that is running nor the one that is held has."""
        rows = lines.scanned.rows
        if self.running is not None:
            row = lines.end_of_run(0, self.running.graph)
            self.running = self.running if row == rows else None
            return row
        if self.held is None:
            return 0
        row = lines.end_of_run(0, self.held.graph)
        lines.enter(self.held, 0, row - 1)
        return row

    def _give_back(self, block: Block, lines: Lines, row: int) -> None:
        """Keep the run that starts in a row, to read it on with what follows."""
        found = lines.scanned.statements
        start = int(found.start[row])
        if block.stop - start > self.decoding.longest:
            self.held = lines.run(row, lines.scanned.rows - 1)
            self._go_on(lines)
        else:
            self.given_back = bytes(block.data[start : block.stop])
            self.number += int(found.number[row])
