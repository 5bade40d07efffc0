"""Words of several meanings in events that are columns: counted without looking at each.

    code of a value ──> none, where nothing has that name; else a row  ┐
    code of a property ──> a column                                    ┴──> several meanings, or not

Codes last as long as their dictionary. Cost: some look-ups in arrays for a batch, and one in the
knowledge for each new value, and each new pair of a property and a value that the knowledge knows.
"""

from collections.abc import Iterator

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.batch import FactColumns, LastingTerms

_NOT_YET, _NONE = -2, -1
_UNKNOWN, _SINGLE, _SEVERAL = 0, 1, 2
_MOST_PAIRS = 1_000_000


class AmbiguousWords:
    """What is known of the pairs of properties and values of one dictionary."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._lasting: object = None
        self._forget()

    def _forget(self) -> None:
        self._row = np.empty(0, np.int32)
        self._column = np.empty(0, np.int32)
        self._rows = self._columns = 0
        self._states = np.zeros((0, 0), np.uint8)

    def counted(self, facts: FactColumns) -> Iterator[tuple[str, int]]:
        """The words of several meanings, and how many facts have each."""
        terms = facts.terms
        if not isinstance(terms, LastingTerms):
            yield from self._one_by_one(facts, np.arange(len(facts.object)))
            return
        if self._lasting is not terms.lasting or self._states.size > _MOST_PAIRS:
            self._lasting = terms.lasting
            self._forget()
        self._make_room(terms.named)
        named = np.flatnonzero(facts.object < terms.named)  # blank nodes are no words
        values = facts.object[named]
        for code in np.unique(values[self._row[values] == _NOT_YET]).tolist():
            is_known = bool(self._knowledge.value_meanings(terms[code]))
            self._row[code] = self._rows if is_known else _NONE
            self._rows += is_known
        words = named[self._row[values] >= 0]
        if not len(words):
            return
        properties = facts.property[words]
        for code in np.unique(properties[self._column[properties] == _NOT_YET]).tolist():
            self._column[code] = self._columns
            self._columns += 1
        if self._states.shape[0] < self._rows or self._states.shape[1] < self._columns:
            states = np.zeros((2 * self._rows, 2 * self._columns), np.uint8)
            states[: self._states.shape[0], : self._states.shape[1]] = self._states
            self._states = states
        rows, columns = self._row[facts.object[words]], self._column[properties]
        state = self._states[rows, columns]
        for place in np.flatnonzero(state == _UNKNOWN).tolist():
            property, value = terms[int(properties[place])], terms[int(facts.object[words[place]])]
            several = self._knowledge.is_ambiguous_in(property, value)
            self._states[rows[place], columns[place]] = _SEVERAL if several else _SINGLE
        state = self._states[rows, columns]
        yield from self._one_by_one(facts, words[state == _SEVERAL])

    def _make_room(self, codes: int) -> None:
        if codes > len(self._row):
            more = np.full(2 * codes - len(self._row), _NOT_YET, np.int32)
            self._row = np.concatenate((self._row, more))
            self._column = np.concatenate((self._column, more))

    def _one_by_one(
        self, facts: FactColumns, places: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> Iterator[tuple[str, int]]:
        pairs = (facts.property[places].astype(np.int64) << 32) | facts.object[places]
        for pair, count in zip(*np.unique(pairs, return_counts=True), strict=True):
            property, value = facts.terms[int(pair >> 32)], facts.terms[int(pair & 0xFFFFFFFF)]
            if self._knowledge.is_ambiguous_in(property, value):
                yield value.text, int(count)
