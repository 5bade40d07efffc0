"""The facts of events as the columns that segments rank: of home vertices, and asked for at all."""

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.catalogue import Catalogue
from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.match.compiled.growing import Growing
from sensewire.match.compiled.ranking import Columns
from sensewire.match.compiled.values import Values, Word, is_plain_number
from sensewire.model import datatypes
from sensewire.model.batch import FactColumns
from sensewire.model.event import Fact
from sensewire.model.facts import DOUBLE, INTEGER, NO_WORD, WORD, Doubles, Facts
from sensewire.model.terms import RDF_TYPE, Kind, Term, string, term_of

Kinds = npt.NDArray[np.uint8]
_MOST_PROPERTIES = 100_000
_NOT_YET = -3
_SUBJECTS = (Kind.IRI, Kind.BLANK)
_STRING = Kind.STRING
_Key = Term | str
"""A term to look up; a string, as most are, by its text, which Python hashes and compares itself
and remembers the hash of."""


class Reader:
    """Turns facts into columns; words and properties are numbered by `values`."""

    def __init__(self, catalogue: Catalogue, values: Values) -> None:
        self.catalogue = catalogue
        self.values = values
        self._plans: dict[_Key, _Plan | None] = {}
        self._as_of = (-1, -1)

    def columns(self, events: Sequence[tuple[Term | None, Sequence[Fact]]]) -> Columns:
        """The columns of events, each with its home vertex."""
        event: list[int] = []
        property: list[int] = []
        kind: list[int] = []
        word: list[int] = []
        number: list[float] = []
        plans = self._current_plans()
        for row, (home, facts) in enumerate(events):
            types: Mapping[Term, Sequence[Term]] | None = None
            for subject, name, value in facts:
                if subject is not home and subject != home:
                    continue
                plan = plans.get(name.text if name.kind is _STRING else name, _NEW)
                if plan is _NEW:
                    plan = self._planned(name)
                if plan is None:
                    continue
                event.append(row)
                property.append(plan.property)
                if value.kind is _STRING:
                    known = plan.words.get(value.text)
                    if known is None:
                        known = plan.words[value.text] = self.values.word(
                            Word(plan.property, value)
                        )
                    kind.append(WORD)
                    word.append(known)
                    number.append(0.0)
                    continue
                declared: tuple[Term, ...] = ()
                if value.kind in _SUBJECTS:
                    types = _types(facts) if types is None else types
                    declared = tuple(types.get(value, ()))
                form, known, of_number = self._read(plan, value, declared)
                kind.append(form)
                word.append(known)
                number.append(of_number)
        # By way of `array`, which takes a list in half of the time that numpy needs.
        return Columns(
            len(events),
            np.frombuffer(array("i", event), np.int32),
            np.frombuffer(array("i", property), np.int32),
            np.frombuffer(bytearray(kind), np.uint8),
            np.frombuffer(array("i", word), np.int32),
            np.frombuffer(array("d", number), np.float64),
        )

    def _read(
        self, plan: "_Plan", value: Term, declared: tuple[Term, ...] = ()
    ) -> tuple[int, int, float]:
        """The kind, word and number of a value."""
        if plan.ranks_numbers and is_plain_number(value):
            form = DOUBLE if value.datatype == datatypes.DOUBLE else INTEGER
            return form, NO_WORD, float(value.text)
        if declared:
            return WORD, self.values.word(Word(plan.property, value, declared)), 0.0
        key = value.text if value.kind is _STRING else value
        known = plan.words.get(key)
        if known is None:
            known = plan.words[key] = self.values.word(Word(plan.property, value))
        return WORD, known, 0.0

    def columns_at_home(self, facts: FactColumns, homes: Int32) -> Columns:
        """The columns of events of which all facts are columns: those of home vertices.

        Cost: linear in the facts, and a look-up for each distinct property and value.
        """
        terms = facts.terms
        event = np.repeat(np.arange(len(homes)), np.diff(facts.offsets))
        properties = np.unique(facts.property).tolist()
        plans: dict[int, _Plan] = {}
        for code in properties:
            plan = self._plan_of(terms[code])
            if plan is not None:
                plans[code] = plan
        is_read = (facts.subject == homes[event]) & np.isin(facts.property, list(plans))
        rows = np.flatnonzero(is_read)
        kind = np.zeros(len(rows), np.uint8)
        word = np.empty(len(rows), np.int32)
        number = np.zeros(len(rows), np.float64)
        pairs = (facts.property[rows].astype(np.int64) << 32) | facts.object[rows]
        distinct, places = np.unique(pairs, return_inverse=True)
        read = [
            self._read(plans[pair >> 32], terms[pair & 0xFFFFFFFF]) for pair in distinct.tolist()
        ]
        if read:
            kinds, words, numbers = zip(*read, strict=True)
            places = places.reshape(-1)
            kind, word = np.array(kinds, np.uint8)[places], np.array(words, np.int32)[places]
            number = np.array(numbers, np.float64)[places]
        of_types = [code for code in properties if terms[code] == RDF_TYPE]
        is_type = np.flatnonzero(np.isin(facts.property, of_types))
        typed = (event[is_type] << 32) | facts.subject[is_type]
        values = (event[rows] << 32) | facts.object[rows]
        for at in np.flatnonzero(np.isin(values, typed)).tolist():
            codes = facts.object[is_type[typed == values[at]]].tolist()
            declared = tuple(terms[code] for code in codes)
            value = terms[int(facts.object[rows[at]])]
            if value.kind in _SUBJECTS:
                plan = plans[int(facts.property[rows[at]])]
                kind[at], word[at], number[at] = self._read(plan, value, declared)
        properties_of = np.array([plans[code].property for code in plans], np.int32)
        place_of = np.searchsorted(np.array(list(plans), np.int32), facts.property[rows])
        return Columns(
            len(homes),
            event[rows].astype(np.int32),
            properties_of[place_of] if plans else np.empty(0, np.int32),
            kind,
            word,
            number,
        )

    def _plan_of(self, name: Term) -> "_Plan | None":
        plans = self._current_plans()
        plan = plans.get(name.text if name.kind is _STRING else name, _NEW)
        return self._planned(name) if plan is _NEW else plan

    def numbers_are_words(self, property: Term) -> bool | None:
        """Whether the numbers of a property are looked at one by one; None: nothing asks for it."""
        plan = self._plan_of(property)
        return None if plan is None else not plan.ranks_numbers

    def _current_plans(self) -> dict["_Key", "_Plan | None"]:
        """What is known of properties, as long as no attribute came."""
        now = (len(self.catalogue.attributes), len(self.catalogue.sensitive))
        if now != self._as_of:
            self._plans.clear()
            self._as_of = now
        return self._plans

    def _planned(self, property: Term) -> "_Plan | None":
        served = self.catalogue.attributes.served_by(property)
        plan = None
        if served:
            ranks = not any(each in self.catalogue.sensitive for each in served)
            plan = _Plan(self.values.property(property), ranks, {})
        if len(self._plans) >= _MOST_PROPERTIES:
            self._plans.clear()
        self._plans[property.text if property.kind is _STRING else property] = plan
        return plan


class _Plan(NamedTuple):
    """What is done with a property's values: whether numbers are ranked as they are, and the
    numbers of its words."""

    property: int
    ranks_numbers: bool
    words: dict["_Key", int]


_NEW = _Plan(-1, False, {})


class Translation:
    """A decoder's numbers of attributes and words as those of `values`, looked up once each."""

    def __init__(self, reader: Reader, facts: Facts) -> None:
        self._reader = reader
        self._attributes = facts.attributes
        self._words = facts.words
        self._property = Growing(np.int32)
        self._word = Growing(np.int32)

    def is_of(self, reader: Reader, facts: Facts) -> bool:
        """Whether it is still the one for a reader and a decoder's dictionary."""
        return (
            self._reader is reader
            and self._attributes is facts.attributes
            and self._words is facts.words
        )

    def columns(self, facts: Facts) -> Columns:
        """The columns of facts, without those that no clause asks for."""
        values = self._reader.values
        for name in facts.attributes[len(self._property) :]:
            self._property.append(values.property(string(name)))
        asked = [self._reader.numbers_are_words(string(name)) for name in facts.attributes]
        wanted = np.array([each is not None for each in asked], np.bool_)
        one_by_one = np.array([each is True for each in asked], np.bool_)
        kept = wanted[facts.attribute]
        rows = slice(None) if kept.all() else np.flatnonzero(kept)
        of_attribute, kind, word = facts.attribute[rows], facts.kind[rows], facts.word[rows]
        number = facts.number[rows]
        known = self._translated(facts, word)
        if one_by_one.any():
            kind, known = self._as_words(of_attribute, kind, known, number, one_by_one)
        return Columns(
            facts.count,
            facts.event[rows],
            self._property.view[of_attribute],
            kind,
            known,
            number,
        )

    def _translated(self, facts: Facts, word: Int32) -> Int32:
        """The numbers of words, each looked up when it first comes."""
        missing = len(facts.words) - len(self._word)
        if missing > 0:
            self._word.extend(np.full(missing, _NOT_YET, np.int32))
        is_word = word >= 0
        used = word[is_word]
        new = used[self._word.view[used] == _NOT_YET]
        for number in np.unique(new).tolist() if len(new) else ():
            attribute, term = facts.words[number]
            property = int(self._property.view[attribute])
            self._word.view[number] = self._reader.values.word(Word(property, term))
        known = word.copy()
        known[is_word] = self._word.view[used]
        return known

    def _as_words(
        self, attribute: Int32, kind: Kinds, word: Int32, number: Doubles, one_by_one: Truths
    ) -> tuple[Kinds, Int32]:
        """With the numbers of some attributes as words, each distinct one looked up."""
        chosen = np.flatnonzero((kind != WORD) & one_by_one[attribute])
        kind, word = kind.copy(), word.copy()
        asked = np.column_stack((attribute[chosen], kind[chosen], number[chosen]))
        distinct, places = np.unique(asked, axis=0, return_inverse=True)
        numbers = [
            self._reader.values.word(
                Word(
                    int(self._property.view[int(of)]),
                    term_of(int(value) if form == INTEGER else value),
                )
            )
            for of, form, value in distinct.tolist()
        ]
        kind[chosen] = WORD
        word[chosen] = np.array(numbers, np.int32)[places.reshape(-1)]
        return kind, word


def _types(facts: Sequence[Fact]) -> Mapping[Term, Sequence[Term]]:
    """The classes that an event declares for its vertices."""
    types: dict[Term, list[Term]] = {}
    for subject, name, value in facts:
        if name.kind is Kind.IRI and name == RDF_TYPE:
            types.setdefault(subject, []).append(value)
    return types
