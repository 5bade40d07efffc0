"""The terms of events as rows that kernels read: the tests that each meets, what it serves.

    row       own tests, tests of whoever has it as a class, properties served     into `lists`
    numbers   its number and its instant
    row 0     every blank node

A term's row is made when it first comes, and again after subscriptions asked for something new.

Where facts are vertices to some clause, events are encoded a second time, with three facts more for
each that was sent:

    (s, p, o)   f ──FACT_SUBJECT──► s    f ──FACT_PROPERTY──► p    f ──FACT_OBJECT──► o
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.graph_layout import (
    AS_CLASS,
    AS_CLASS_END,
    FACT_OBJECT,
    FACT_PROPERTY,
    FACT_SUBJECT,
    IS_LITERAL,
    IS_TYPE,
    OWN,
    OWN_END,
    ROW,
    ROW_FLAGS,
    SERVES,
    SERVES_END,
    VALUE_FLAGS,
)
from sensewire.match.compiled.graph_vocabulary import Vocabulary, value_of
from sensewire.match.compiled.growing import Growing
from sensewire.match.oracle_members import memberships
from sensewire.model import datatypes
from sensewire.model.batch import RAW, FactColumns, LastingTerms
from sensewire.model.event import Fact
from sensewire.model.terms import RDF_TYPE, Kind, Term, iri

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

MOST_ROWS = 500_000
"""Terms that are remembered; then all are forgotten."""
MOST_MEMBERS = 100_000
"""Items of lists that are read of one event; one with more is judged as the oracle does."""
_VERTEX, _PROPERTY, _CLASS = range(3)
_FIRST = iri(datatypes.RDF + "first")
_SUBJECTS = (Kind.IRI, Kind.BLANK)


@dataclass(frozen=True, slots=True, eq=False)
class GraphEvents:
    """Events as kernels read them: facts as codes, `row_of` a code, and the rows."""

    subject: Int32
    property: Int32
    object: Int32
    offsets: Int64
    homes: Int32
    row_of: Int32
    rows: Int32
    lists: Int32
    numbers: npt.NDArray[np.float64]
    filters: Int32
    bounds: npt.NDArray[np.float64]
    tests: int
    properties: int
    """How many tests and properties there were."""
    terms: Sequence[Term]
    """What the codes of vertices stand for."""
    odd: frozenset[int]
    """Events with two terms that are one to a strict subscription, or with lists too long."""
    with_facts: "GraphEvents | None" = None
    """The same with facts as vertices, where somebody asks for them."""

    def __len__(self) -> int:
        return len(self.homes)


class _Known(NamedTuple):
    """What is known of the codes of a dictionary: their rows, and in which roles they came."""

    lasting: Hashable
    row_of: Int32
    roles: npt.NDArray[np.uint8]


def _unknown(codes: Int32, roles: npt.NDArray[np.uint8], role: int, count: int) -> list[int]:
    """The codes below `count` that come in a role for the first time; now they are known in it."""
    named = codes if not len(codes) or int(codes.max()) < count else codes[codes < count]
    new = np.unique(named[(roles[named] >> role) & 1 == 0])
    roles[new] |= 1 << role
    found: list[int] = new.tolist()
    return found


def _some(terms: Sequence[Term], codes: Sequence[int]) -> Sequence[Term]:
    return terms.some(codes) if isinstance(terms, LastingTerms) else [terms[code] for code in codes]


class TermRows:
    """Rows of terms, by one vocabulary. One thread at a time may use it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._forget()

    def _forget(self) -> None:
        self._version = self._vocabulary.version
        self._rows = Growing(np.int32)
        self._lists = Growing(np.int32)
        self._numbers = Growing(np.float64)
        self._row_of: dict[Term, int] = {}
        self._derived: dict[Term, int] = {}
        self._roles: list[int] = []
        self._members: int | None = None
        self._known: _Known | None = None
        blank = self._new_row()
        self._list(blank, OWN, OWN_END, self._vocabulary.met_by_all())
        self._roles[blank] = 1 << _VERTEX
        self._of_facts: list[int] = []
        if self._vocabulary.asks_of_facts:
            for property in (FACT_SUBJECT, FACT_PROPERTY, FACT_OBJECT):
                self._of_facts.append(self._new_row())
                self._list(self._of_facts[-1], SERVES, SERVES_END, (property,))

    def encoded(self, columns: FactColumns, homes: Int32) -> GraphEvents:
        """Events as kernels read them."""
        if self._version != self._vocabulary.version or len(self._roles) > MOST_ROWS:
            self._forget()
        odd = self._odd(columns)
        sent = columns
        columns, property, more, too_long = self._with_members(columns)
        row_of = self._rows_for(columns, property, more)
        made = GraphEvents(
            np.ascontiguousarray(columns.subject),
            np.ascontiguousarray(property),
            np.ascontiguousarray(columns.object),
            columns.offsets,
            homes,
            row_of,
            self._rows.view,
            self._lists.view,
            self._numbers.view,
            self._vocabulary.filters.view,
            self._vocabulary.bounds.view,
            len(self._vocabulary.weights),
            self._vocabulary.properties,
            columns.terms,
            odd | too_long,
        )
        if not self._of_facts:
            return made
        return replace(made, with_facts=_with_facts(made, sent, self._of_facts))

    def _rows_for(self, columns: FactColumns, property: Int32, more: Sequence[int]) -> Int32:
        """The row of each code that occurs; behind them those that `more` lists."""
        terms = columns.terms
        if isinstance(terms, LastingTerms):
            known = self._known_of(terms)
            count = terms.named
        else:
            count = len(terms)
            known = _Known(None, np.zeros(count, np.int32), np.zeros(count, np.uint8))
        of_facts = property if not more else property[property < len(terms)]
        codes = _unknown(of_facts, known.roles, _PROPERTY, count)
        known.row_of[codes] = self._rows_in(_some(terms, codes), _PROPERTY)
        of_vertices = [columns.subject, columns.object]
        if self._of_facts:
            of_vertices.append(columns.property)
        codes = _unknown(np.concatenate(of_vertices), known.roles, _VERTEX, count)
        known.row_of[codes] = self._rows_in(_some(terms, codes), _VERTEX)
        row_of = np.zeros(len(terms) + len(more), np.int32)
        row_of[:count] = known.row_of[:count]
        row_of[len(terms) :] = more
        is_type = (self._rows.view[ROW * row_of + ROW_FLAGS] & IS_TYPE) != 0
        if is_type.any():
            for code in _unknown(columns.object[is_type[property]], known.roles, _CLASS, count):
                self._row(terms[code], _CLASS)
        return row_of

    def _known_of(self, terms: LastingTerms) -> "_Known":
        """What is known of the codes of a dictionary, with room for all of them."""
        known = self._known
        if known is None or known.lasting is not terms.lasting:
            known = _Known(terms.lasting, np.zeros(0, np.int32), np.zeros(0, np.uint8))
        if len(known.row_of) < terms.named:
            row_of = np.zeros(2 * terms.named, np.int32)
            roles = np.zeros(2 * terms.named, np.uint8)
            row_of[: len(known.row_of)] = known.row_of
            roles[: len(known.roles)] = known.roles
            known = _Known(terms.lasting, row_of, roles)
        self._known = known
        return known

    def _rows_in(self, terms: Sequence[Term], role: int) -> list[int]:
        """The rows of terms, with what is asked for in a role: nearly all are known."""
        roles = self._roles
        return [
            self._row(term, role) if row is None or not roles[row] >> role & 1 else row
            for term, row in zip(terms, map(self._row_of.get, terms), strict=True)
        ]

    def _row(self, term: Term, role: int) -> int:
        """The row of a term, with what is asked for in a role."""
        if term.kind is Kind.BLANK and role == _VERTEX:
            return 0
        row = self._row_of.get(term)
        if row is None:
            row = self._row_of[term] = self._new_row()
            at = ROW * row
            rows = self._rows.view
            if term.kind not in _SUBJECTS:
                rows[at + ROW_FLAGS] = IS_LITERAL
            elif term == RDF_TYPE:
                rows[at + ROW_FLAGS] = IS_TYPE
        if not self._roles[row] >> role & 1:
            self._roles[row] |= 1 << role
            if role == _PROPERTY:
                self._list(row, SERVES, SERVES_END, self._vocabulary.served_by(term))
            elif role == _CLASS:
                self._list(row, AS_CLASS, AS_CLASS_END, self._vocabulary.met_as_class(term))
            else:
                self._list(row, OWN, OWN_END, self._vocabulary.met_by(term))
                if term.kind not in _SUBJECTS:
                    number, instant, flags = value_of(term)
                    self._numbers.view[2 * row : 2 * row + 2] = number, instant
                    self._rows.view[ROW * row + VALUE_FLAGS] = flags
        return row

    def _new_row(self) -> int:
        row = len(self._roles)
        self._roles.append(0)
        self._rows.extend([0] * ROW)
        self._numbers.extend([float("nan"), float("nan")])
        return row

    def _list(self, row: int, begin: int, end: int, numbers: Iterable[int]) -> None:
        found = list(dict.fromkeys(numbers))
        self._rows.view[ROW * row + begin] = len(self._lists)
        self._lists.extend(found)
        self._rows.view[ROW * row + end] = len(self._lists)

    # What is rare

    def _with_members(
        self, columns: FactColumns
    ) -> tuple[FactColumns, Int32, list[int], frozenset[int]]:
        """With the items of lists, where somebody reads them, and derived facts' properties apart;
        the properties, the rows of those that have no term, and the events with too many items."""
        property = columns.property
        more: list[int] = []
        terms = columns.terms
        if (columns.origin != RAW).any():
            derived = np.unique(property[columns.origin != RAW]).tolist()
            codes = np.zeros(len(terms), np.int32)
            for code in derived:
                codes[code] = len(terms) + len(more)
                more.append(self._derived_row(terms[code]))
            property = np.where(columns.origin != RAW, codes[property], property).astype(np.int32)
        if not self._vocabulary.reads_members:
            return columns, property, more, frozenset()
        known = [code for code in np.unique(columns.property).tolist() if terms[code] == _FIRST]
        if not known:
            return columns, property, more, frozenset()
        if self._members is None:
            self._members = self._new_row()
            self._list(self._members, SERVES, SERVES_END, self._vocabulary.reading_lists())
        columns, property, too_long = _with_items(
            columns, property, known[0], len(terms) + len(more)
        )
        more.append(self._members)
        return columns, property, more, too_long

    def _derived_row(self, term: Term) -> int:
        row = self._derived.get(term)
        if row is None:
            row = self._derived[term] = self._new_row()
            self._list(row, SERVES, SERVES_END, self._vocabulary.served_by(term, derived=True))
            self._rows.view[ROW * row + ROW_FLAGS] = IS_TYPE if term == RDF_TYPE else 0
        return row

    def _odd(self, columns: FactColumns) -> frozenset[int]:
        if not self._vocabulary.reads_strictly:
            return frozenset()
        terms = columns.terms
        if isinstance(terms, LastingTerms):
            return frozenset()  # of RDF, which has no strings but plain ones
        used = np.unique(np.concatenate((columns.subject, columns.object))).tolist()
        plain_texts = {terms[code].text for code in used if terms[code].kind is Kind.UNTYPED}
        twins = [
            code
            for code in used
            if terms[code].kind is Kind.STRING and terms[code].text in plain_texts
        ]
        if not twins:
            return frozenset()
        is_twin = np.isin(columns.object, twins)
        event = np.repeat(np.arange(len(columns.offsets) - 1), np.diff(columns.offsets))
        return frozenset(event[is_twin].tolist())


def _with_facts(events: GraphEvents, sent: FactColumns, rows: Sequence[int]) -> GraphEvents:
    """Events in which each fact that was sent, or derived, is a vertex too: behind the others.

    A fact's code is its place in its event, behind all other codes; then come the three properties.
    """
    counts = np.diff(sent.offsets)
    event = np.repeat(np.arange(len(counts)), counts)
    first = len(events.row_of)
    fact = (first + np.arange(len(event)) - sent.offsets[event]).astype(np.int32)
    most = int(counts.max(initial=0))
    offsets = events.offsets + 3 * sent.offsets
    before = np.arange(len(events.subject)) + 3 * np.repeat(
        sent.offsets[:-1], np.diff(events.offsets)
    )
    added = 3 * np.arange(len(event)) + events.offsets[event + 1]

    def column(others: Int32, made: Sequence[Int32]) -> Int32:
        found = np.empty(len(others) + 3 * len(event), np.int32)
        found[before] = others
        for place, each in enumerate(made):
            found[added + place] = each
        return found

    properties = [np.full(len(event), first + most + place, np.int32) for place in range(3)]
    return replace(
        events,
        subject=column(events.subject, (fact, fact, fact)),
        property=column(events.property, properties),
        object=column(events.object, (sent.subject, sent.property, sent.object)),
        offsets=offsets,
        row_of=np.concatenate((events.row_of, np.zeros(most, np.int32), np.array(rows, np.int32))),
    )


def _with_items(
    columns: FactColumns, property: Int32, first: int, code: int
) -> tuple[FactColumns, Int32, frozenset[int]]:
    """With a fact for each item of a list, in the events that have lists; those with too many."""
    offsets = columns.offsets.tolist()
    event = np.repeat(np.arange(len(offsets) - 1), np.diff(columns.offsets))
    more: list[tuple[int, int, int]] = []
    too_long: set[int] = set()
    for row in np.unique(event[columns.property == first]).tolist():
        places = range(offsets[row], offsets[row + 1])
        codes: dict[Term, int] = {}
        facts = []
        for at in places:
            made = []
            for column in (columns.subject, columns.property, columns.object):
                term = columns.terms[int(column[at])]
                codes.setdefault(term, int(column[at]))
                made.append(term)
            facts.append(Fact(*made))
        for count, (subject, _, value) in enumerate(memberships(facts)):
            if count == MOST_MEMBERS:
                too_long.add(row)
                break
            more.append((row, codes[subject], codes[value]))
    rows = np.concatenate((event, np.array([row for row, _, _ in more], np.int64)))
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(offsets) - 1)

    def with_more(column: Int32, values: list[int]) -> Int32:
        return np.concatenate((column, np.array(values, np.int32)))[order].astype(np.int32)

    made_columns = columns._replace(
        subject=with_more(columns.subject, [subject for _, subject, _ in more]),
        property=with_more(columns.property, [first] * len(more)),
        object=with_more(columns.object, [value for _, _, value in more]),
        origin=with_more(columns.origin, [RAW] * len(more)),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    )
    return made_columns, with_more(property, [code] * len(more)), frozenset(too_long)
