"""Ambiguous words are counted in columns as they are one by one.

Proved by breaking: a state that is kept for another property, blank nodes counted as words.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import overload

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.ambiguous import AmbiguousWords
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.batch import RAW, FactColumns
from sensewire.model.terms import Term, blank, iri, string, untyped
from sensewire.testing.knowledge import knowledge

NAMES = ["red", "green", "one word", "other"]
TERMS = [
    *(string(name) for name in NAMES),
    untyped("red"),
    iri("http://one.org/red"),
    iri("http://x.org/green"),
    string("p"),
    string("colour"),
]


class Lasting(Sequence[Term]):
    """Terms with codes that last, and a blank node behind them."""

    def __init__(self) -> None:
        self._terms = [*TERMS, blank("b")]

    @property
    def lasting(self) -> Hashable:
        return "the same"

    @property
    def named(self) -> int:
        return len(self._terms) - 1

    def __len__(self) -> int:
        return len(self._terms)

    @overload
    def __getitem__(self, place: int) -> Term: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Term]: ...
    def __getitem__(self, place: int | slice) -> Term | Sequence[Term]:
        return self._terms[place]


facts = st.lists(st.tuples(st.integers(0, len(TERMS) - 1), st.integers(0, len(TERMS))), max_size=9)


def columns(pairs: list[tuple[int, int]]) -> FactColumns:
    values = np.array([value for _, value in pairs], np.int32)
    return FactColumns(
        terms=Lasting(),
        subject=np.zeros(len(pairs), np.int32),
        property=np.array([property for property, _ in pairs], np.int32),
        object=values,
        origin=np.full(len(pairs), RAW, np.int32),
        offsets=np.array([0, len(pairs)], np.int64),
    )


@given(known=knowledge(NAMES, ["p", "colour"], []), batches=st.lists(facts, max_size=3))
def test_what_is_counted_is_what_is_ambiguous(
    known: Knowledge, batches: list[list[tuple[int, int]]]
) -> None:
    words = AmbiguousWords(known)
    for pairs in batches:
        each = columns(pairs)
        expected: Counter[str] = Counter()
        for property, value in pairs:
            term = each.terms[value]
            if known.is_ambiguous_in(each.terms[property], term):
                expected[term.text] += 1
        found: Counter[str] = Counter()
        for word, count in words.counted(each):
            found[word] += count
        assert found == expected
