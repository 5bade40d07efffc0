"""The terms of N-Quads, numbered in the order in which they came.

    code     0      1               2        3            4
    token    _:H    <http://x/p>    "a\\u0041"  "aA"         "x"@en
    term     _:H    <http://x/p>    "aA"     "aA"         "x"@en

Kernels number the tokens; what a token writes becomes a term when somebody asks for it, once. The
number of a token that is not canonical is in no fact. Codes stay as long as the dictionary: one
that is full still works, and its owner makes a new one when it can. One thread at a time may use
it.
"""

import re
import secrets
from collections.abc import Hashable, Sequence
from typing import overload

import numpy as np
import pyarrow as pa

from sensewire.events import nquads_table
from sensewire.events.column_terms import compute
from sensewire.events.nquads_table import ENTRIES, FULL, TermTable, code_of_canonical
from sensewire.events.scanning import PADDING, Int32
from sensewire.model import datatypes
from sensewire.model.batch import LastingTerms
from sensewire.model.facts import Ids
from sensewire.model.terms import HOME, Kind, Term, blank, iri, language_string, literal

MOST_TERMS = 32_768
MOST_BYTES = 4_194_304
"""So much stays in a processor's cache: with four times as many, a triple took a fifth longer."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r"}


class TermDictionary:
    """Terms and their codes.

    >>> dictionary = TermDictionary()
    >>> code = dictionary.code(literal('say "A"', datatypes.STRING))
    >>> dictionary.code(literal('say "A"', datatypes.STRING)) == code, str(dictionary.term(code))
    (True, '"say \\\\"A\\\\""')
    """

    def __init__(self, *, most_terms: int = MOST_TERMS, most_bytes: int = MOST_BYTES) -> None:
        self.table: TermTable = nquads_table.empty(4_096, 262_144, secrets.randbits(63))
        self._most_terms, self._most_bytes = most_terms, most_bytes
        self._terms: list[Term | None] = []
        self.code(HOME)  # the first, as kernels know

    def __len__(self) -> int:
        return int(self.table.counts[ENTRIES])

    @property
    def is_full(self) -> bool:
        """Whether there is more in it than there should be."""
        return len(self) > self._most_terms or int(self.table.starts[len(self)]) > self._most_bytes

    def make_room(self, size: int) -> None:
        """Let a token of so many bytes find room."""
        self.table = nquads_table.with_room(self.table, size)

    def code(self, term: Term) -> int:
        """The code of a term."""
        raw = _canonical(term).encode()
        token = np.zeros(len(raw) + PADDING, np.uint8)
        token[: len(raw)] = np.frombuffer(raw, np.uint8)
        out = np.empty_like(token)
        while (code := code_of_canonical(self.table, token, len(raw), out)) == FULL:
            self.make_room(len(raw))
        return int(code)

    def term(self, code: int) -> Term:
        """The term of a code."""
        self._terms.extend([None] * (len(self) - len(self._terms)))
        canonical = int(self.table.term[code])
        code = code if canonical < 0 else canonical
        known = self._terms[code]
        if known is None:
            start, end = self.table.starts[code : code + 2].tolist()
            known = self._terms[code] = _term(self.table.arena[start:end].tobytes().decode())
        return known

    def terms(self, codes: Int32) -> list[Term | None]:
        """The terms by their codes, those of some codes at least."""
        self._terms.extend([None] * (len(self) - len(self._terms)))
        terms = self._terms
        is_asked = np.zeros(len(self), np.bool_)
        is_asked[codes] = True
        new = [code for code in np.flatnonzero(is_asked).tolist() if terms[code] is None]
        if new:
            starts = self.table.starts[new[0] : new[-1] + 2]  # new ones mostly follow each other
            arena = self.table.arena[int(starts[0]) : int(starts[-1])].tobytes()
            places = (starts - starts[0]).tolist()
            for code in new:
                place = code - new[0]
                terms[code] = _term(arena[places[place] : places[place + 1]].decode())
        return terms

    def addresses(self, codes: Int32) -> Ids:
        """The addresses of IRIs, by their codes."""
        count = len(self)
        starts = self.table.starts[: count + 1]
        buffers = [None, pa.py_buffer(starts.data), pa.py_buffer(self.table.arena.data)]
        tokens: Ids = pa.Array.from_buffers(pa.large_binary(), count, buffers, null_count=0)
        addresses = compute.binary_slice(tokens.take(pa.array(codes)), 1, -1)  # without < and >
        return addresses.cast(pa.large_string()).cast(pa.string())


class ScopedTerms(LastingTerms):
    """The terms of a dictionary as it was, and behind them the blank nodes of some events."""

    def __init__(self, dictionary: TermDictionary, count: int, labels: Int32) -> None:
        self._dictionary = dictionary
        self._count = count
        self._labels = labels

    @property
    def lasting(self) -> Hashable:
        """The dictionary: its codes stay what they are."""
        return self._dictionary

    @property
    def named(self) -> int:
        """Codes from here on are blank nodes."""
        return self._count

    def __len__(self) -> int:
        return self._count + len(self._labels)

    @overload
    def __getitem__(self, code: int) -> Term: ...
    @overload
    def __getitem__(self, code: slice) -> Sequence[Term]: ...
    def __getitem__(self, code: int | slice) -> Term | Sequence[Term]:
        if isinstance(code, slice):
            return [self[each] for each in range(*code.indices(len(self)))]
        place = code + len(self) if code < 0 else code
        if not 0 <= place < len(self):
            raise IndexError(f"there is no term {code}; there are {len(self)}")
        is_label = place >= self._count
        return self._dictionary.term(int(self._labels[place - self._count]) if is_label else place)

    def addresses(self, codes: Int32) -> Ids:
        """The addresses of IRIs, by their codes."""
        return self._dictionary.addresses(codes)

    def some(self, codes: Sequence[int]) -> Sequence[Term]:
        """The terms of some codes below `named`."""
        terms = self._dictionary.terms(np.array(codes, np.int32))
        return [term for code in codes if (term := terms[code]) is not None]

    def lists(self, *columns: Int32) -> list[list[Term]]:
        """Columns of codes as lists of terms, each term made once."""
        asked = np.concatenate((*columns, self._labels))
        terms = self._dictionary.terms(asked[asked < self._count])
        known = np.empty(len(self), np.object_)
        known[: self._count] = terms[: self._count]
        known[self._count :] = known[self._labels]
        return [known[column].tolist() for column in columns]


def _canonical(term: Term) -> str:
    """The token that writes a term, with as few escapes as there can be."""
    match term.kind:
        case Kind.IRI:
            return f"<{term.text}>"
        case Kind.BLANK:
            return f"_:{term.text}"
    text = term.text.replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    if term.kind is Kind.LANGUAGE:
        return f'"{text}"@{term.language}'
    return f'"{text}"' if term.datatype == datatypes.STRING else f'"{text}"^^<{term.datatype}>'


def _term(token: str) -> Term:
    """The term that a canonical token writes."""
    if token.startswith("<"):
        return iri(token[1:-1])
    if token.startswith("_"):
        return blank(token[2:])
    if token.endswith('"'):
        return literal(_text(token[1:-1]), datatypes.STRING)
    text, _, last = token.rpartition('"')
    if last.startswith("@"):
        return language_string(_text(text[1:]), last[1:])
    return literal(_text(text[1:]), last[3:-1])


def _text(escaped: str) -> str:
    if "\\" not in escaped:
        return escaped
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), escaped)
