"""The rows of a table of texts, CSV or TSV, each with the line that it begins in.

    id;what;said            the header names the attributes; its separator is that of all rows
    1;bread;"it ""is"" so   a cell in quotes may hold separators, line ends, and quotes doubled
    fresh; warm, even"
    2;milk                  rejected: 2 cells, where the header has 3

Blank lines are passed over. A quote that is never closed costs the rows behind it: they are not
guessed at. Cost: linear in the bytes. Memory: one row of at most `longest` bytes.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sensewire.events.decoding import KEPT_OF_LONG, Rejected, too_long
from sensewire.events.lines import BrokenOff, Line
from sensewire.model.errors import EventError

_SEPARATORS = (",", ";", "\t")
_BLANK = b" \r"  # tabs are cells
_QUOTED = re.compile(r'(?:[^"]++|"")*+')
_QUOTED_CELLS = re.compile(r'"(?:[^"]++|"")*+"')


@dataclass(frozen=True, slots=True)
class Header:
    """What the first row says: the names of the attributes, the separator, and its bytes."""

    names: tuple[str, ...]
    separator: str
    raw: bytes


class Row(NamedTuple):
    """A row: the line that it begins in, its cells, as many as the header's, and its bytes."""

    line: int
    cells: list[str]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its header, and its rows as they come, with what is none."""

    header: Header
    rows: Iterator[Row | Rejected]


def table_of(
    lines: Iterable[Line], file: str, longest: int, separator: str | None = None
) -> Table | Rejected | None:
    """The table that lines hold; a rejection where its header is bad, None where there are none.

    Without a separator, it is that of the header: a comma, else a semicolon, else a tab.

    >>> lines = [Line(1, b"a,b"), Line(2, b'1,"x'), Line(3, b'""y"'), Line(4, b"2")]
    >>> table = table_of(lines, "t.csv", 100)
    >>> row, bad = table.rows
    >>> table.header.names, row.line, row.cells, bad.place
    (('a', 'b'), 2, ['1', 'x\\n"y'], 't.csv:4')
    """
    gathering = _Gathering(iter(lines))
    number, raw = 1, b""
    try:
        first = gathering.next()
        if first is None:
            return None
        number, raw = first.number, first.data[:KEPT_OF_LONG]
        header = _header(first, gathering, longest, separator)
    except BrokenOff as broken:
        return _broken_off(broken, file)
    except EventError as error:
        return Rejected(f"{file}:{number}", raw, str(error))
    return Table(header, _rows(gathering, header, file, longest))


def _rows(
    gathering: "_Gathering", header: Header, file: str, longest: int
) -> Iterator[Row | Rejected]:
    expected, separator = len(header.names), header.separator
    try:
        while (line := gathering.next()) is not None:
            cells = _plain_cells(line, separator)
            if len(cells) == expected:
                yield Row(line.number, cells, line.data)
                continue
            row = gathering.row(line, separator, longest)
            reason = row.problem or _miscounted(len(row.cells), expected)
            if reason is None:
                yield Row(line.number, row.cells, row.raw)
            else:
                kept = row.raw if row.is_cut else b"%s\n%s" % (header.raw, row.raw)
                yield Rejected(f"{file}:{line.number}", kept, reason)
    except BrokenOff as broken:
        yield _broken_off(broken, file)


def _plain_cells(line: Line, separator: str) -> list[str]:
    """The cells of a row without quotes, as most are; none of any other."""
    if b'"' in line.data or line.too_long:
        return []
    try:
        return line.data.decode().split(separator)
    except UnicodeDecodeError:
        return []


def _broken_off(broken: BrokenOff, file: str) -> Rejected:
    return Rejected(f"{file}:{broken.number}", broken.data, broken.reason)


def _miscounted(found: int, expected: int) -> str | None:
    if found == expected:
        return None
    return f"a row of {found} cells; expected {expected}, as in the header"


def _header(first: Line, gathering: "_Gathering", longest: int, separator: str | None) -> Header:
    text = _QUOTED_CELLS.sub("", first.data.decode(errors="replace"))
    between = separator or next((each for each in _SEPARATORS if each in text), ",")
    row = gathering.row(first, between, longest)
    if row.problem is not None:
        raise EventError(f"the header cannot be read: {row.problem}")
    names = tuple(cell.strip() for cell in row.cells)
    if "" in names:
        raise EventError(
            f"the header has no name for column {names.index('') + 1} of {len(names)}; "
            "expected a name for every column"
        )
    return Header(names, between, row.raw)


@dataclass(slots=True)
class _Gathered:
    """A row that is being read: cells and bytes so far, and what is wrong with it."""

    line: int
    longest: int
    cells: list[str] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    size: int = -1
    problem: str | None = None
    is_cut: bool = False

    @property
    def raw(self) -> bytes:
        return b"\n".join(self.pieces)

    def add(self, line: Line) -> str:
        """Take one more line of the row; its text."""
        self.size += len(line.data) + 1
        if self.is_cut:
            return line.data.decode(errors="replace")
        self.pieces.append(line.data)
        if self.size > self.longest or line.too_long:
            self.is_cut = True
            kept = self.raw[: min(self.longest, KEPT_OF_LONG)]
            self.pieces, self.problem = [kept], too_long(self.longest, len(kept))
        try:
            return line.data.decode()
        except UnicodeDecodeError as error:
            bad = f"byte 0x{line.data[error.start]:02x} at position {error.start}"
            self.problem = self.problem or f"not UTF-8: {bad} of line {line.number} cannot be read"
            return line.data.decode(errors="replace")

    def put(self, cell: str) -> None:
        """Take a cell, unless nobody will see it."""
        if self.problem is None:
            self.cells.append(cell)


@dataclass(slots=True)
class _Gathering:
    """Puts rows together that have cells in quotes, from as many lines as they have."""

    lines: Iterator[Line]

    def next(self) -> Line | None:
        """The line that the next row begins with."""
        return next((line for line in self.lines if line.data.strip(_BLANK)), None)

    def row(self, first: Line, separator: str, longest: int) -> _Gathered:
        """The row that begins with a line."""
        row = _Gathered(first.number, longest)
        text = row.add(first)
        if first.too_long:
            return row
        at = 0
        while True:
            if text.startswith('"', at):
                text, at = self._quoted(row, text, at + 1)
                if at > len(text):
                    return row
            else:
                end = text.find(separator, at)
                end = len(text) if end < 0 else end
                row.put(text[at:end])
                at = end
            if at == len(text):
                return row
            if not text.startswith(separator, at):
                row.problem = row.problem or (
                    f"cell {len(row.cells)} goes on behind its closing quote; "
                    'a quote inside a cell is written twice, as ""'
                )
                return row
            at += 1

    def _quoted(self, row: _Gathered, text: str, at: int) -> tuple[str, int]:
        """Read a cell in quotes; the line that it ends in, and where. Beyond it: never."""
        parts: list[str] = []
        while True:
            found = _QUOTED.match(text, at)
            assert found is not None
            if row.problem is None:
                parts.append(found[0])
            if found.end() < len(text):
                row.put("".join(parts).replace('""', '"'))
                return text, found.end() + 1
            line = next(self.lines, None)
            if line is None or line.too_long:  # of which nobody knows whether it closes the quote
                self.lines = iter(())
                row.problem = (
                    f"a quote that opens in line {row.line} or behind it is never closed; "
                    "close it: what follows is not read"
                )
                return text, len(text) + 1
            text, at = row.add(line), 0
            parts.append("\n")
