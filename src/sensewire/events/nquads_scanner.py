"""N-Triples and N-Quads to statements as codes, without an object of Python for each of them.

The kernel scans the lines; those that it finds odd are marked, and whoever called has pyoxigraph
read them: what it says of them decides. What the kernel takes, it reads as pyoxigraph does.

    bytes ──→ scan_statements ──→ subject, property, object, graph: codes of a dictionary's terms
                     └── odd ──→ Scanner.resolve ←── what pyoxigraph says

Cost: linear in the bytes. The dictionary stays from one block to the next, until it is full.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sensewire.events.nquads_statements import (
    DONE,
    METS,
    NO_ROOM_FOR_TERMS,
    NUMBER,
    ODD,
    OUTCOME,
    ROWS,
    SIZE,
    Statements,
    doubled,
    scan_statements,
    statements_for,
)
from sensewire.events.nquads_table import DROPPED, MET
from sensewire.events.nquads_terms import TermDictionary
from sensewire.events.scanning import PADDING
from sensewire.model.event import Fact

_BYTES_A_LINE = 100
"""For which there is room at first."""
_MOST_BYTES = 2**31 - 1

Kept = Callable[[str], bool]
"""Whether facts with a property are wanted, by its IRI."""


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """The statements of some lines: the first `rows` of the columns; and how many lines."""

    statements: Statements
    rows: int
    lines: int
    data: bytearray
    dictionary: TermDictionary

    def odd_rows(self) -> list[int]:
        """The rows of lines that are to be read in another way."""
        return np.flatnonzero(self.statements.graph[: self.rows] == ODD).tolist()

    def line(self, row: int) -> bytes:
        """A line, without its end."""
        start, end = int(self.statements.start[row]), int(self.statements.end[row])
        return bytes(self.data[start:end])

    def fact(self, row: int) -> Fact:
        """A statement as a fact."""
        found, term = self.statements, self.dictionary.term
        return Fact(
            term(int(found.subject[row])),
            term(int(found.property[row])),
            term(int(found.object[row])),
        )


class Scanner:
    """Scans blocks of lines. `kept` is asked about each property once, while a dictionary lives.

    >>> data = b'<http://x/a> <http://x/p> "5"@EN .' + b"\\n"
    >>> scanned = Scanner(has_graphs=False).scan(bytearray(data + bytes(PADDING)), len(data))
    >>> print(*scanned.fact(0))
    <http://x/a> <http://x/p> "5"@en
    """

    def __init__(self, kept: Kept | None = None, *, has_graphs: bool = True) -> None:
        self._kept = kept
        self._has_graphs = has_graphs
        self._dictionary = TermDictionary()

    def scan(self, data: bytearray, stop: int, longest: int = _MOST_BYTES) -> Scanned:
        """The statements of the lines data[:stop], the last one ended; `PADDING` bytes follow.

        A line of more than `longest` bytes is odd.
        """
        if stop > len(data) - PADDING or (stop and data[stop - 1] != ord("\n")):
            raise ValueError(f"{stop} of {len(data)} bytes are no lines with {PADDING} behind them")
        if stop > _MOST_BYTES:
            raise ValueError(f"{stop} bytes at once; expected {_MOST_BYTES} at most")
        if self._dictionary.is_full:
            self._dictionary = TermDictionary()
        dictionary = self._dictionary
        found = statements_for(stop // _BYTES_A_LINE + 64)
        view = np.frombuffer(data, np.uint8)
        token = np.empty(stop + PADDING, np.uint8)
        while True:
            scan_statements(view, stop, longest, self._has_graphs, dictionary.table, found, token)
            for code in found.met[: int(found.counts[METS])].tolist():
                self._ask(dictionary, code)
            is_full = int(found.counts[METS]) == len(found.met)
            found.counts[METS] = 0
            outcome = int(found.counts[OUTCOME])
            if outcome == DONE:
                rows, lines = int(found.counts[ROWS]), int(found.counts[NUMBER])
                return Scanned(found, rows, lines, data, dictionary)
            if outcome == NO_ROOM_FOR_TERMS:
                dictionary.make_room(int(found.counts[SIZE]))
            elif not is_full:
                found = doubled(found)

    def resolve(self, scanned: Scanned, row: int, fact: Fact) -> None:
        """Say what an odd line states."""
        codes = [scanned.dictionary.code(term) for term in fact]
        found = scanned.statements
        found.subject[row], found.property[row], found.object[row] = codes
        if not scanned.dictionary.table.marks[codes[1]] & MET:
            scanned.dictionary.table.marks[codes[1]] |= MET
            self._ask(scanned.dictionary, codes[1])

    def is_kept(
        self, scanned: Scanned, properties: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.bool_] | None:
        """Which facts are wanted, by their properties; None where all are."""
        if self._kept is None:
            return None
        kept = (scanned.dictionary.table.marks[properties] & DROPPED) == 0
        return None if kept.all() else kept

    def _ask(self, dictionary: TermDictionary, code: int) -> None:
        if self._kept is not None and not self._kept(dictionary.term(code).text):
            dictionary.table.marks[code] |= DROPPED
