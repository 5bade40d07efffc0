"""The compiled index equals the definition, whatever the interface allows."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.match.compiled.conjunctions import Conjunctions, Entries
from sensewire.match.compiled.index import KERNELS, Index, build
from tests.match.compiled.index_cases import (
    Pairs,
    Shape,
    entries_of,
    oracle,
    random_case,
)

NO_EVENTS = entries_of([])


def matched(index: Index, entries: Entries, kernel: str) -> Pairs:
    event, conjunction = index.match(entries, kernel)
    assert event.dtype == conjunction.dtype == np.int32
    return sorted(zip(event.tolist(), conjunction.tolist(), strict=True))


def agree(conjunctions: Conjunctions, entries: Entries, sample: Entries = NO_EVENTS) -> Pairs:
    index = build(conjunctions, sample)
    expected = sorted(oracle(conjunctions, entries))
    for kernel in KERNELS:
        assert matched(index, entries, kernel) == expected, kernel
    return expected


SHAPES = {
    "few ranks": Shape(),
    "many values": Shape(several=0.5, entries=12),
    "uncertain": Shape(several=0.3, uncertain=0.3),
    "wide": Shape(ranks=3_000, single=0.2, intervals=2, conjunctions=150, tests=200),
    "ranges": Shape(slots=4, ranks=500, single=0.0, intervals=1, negated=0.0, empty=0.0, tests=150,
                    conjunctions=400, size=4, events=20),
    "beyond 16 bits": Shape(ranks=300_000, single=0.4, several=0.1, uncertain=0.05),
    "cold slots": Shape(slots=300, tests=500, conjunctions=150, entries=200, events=20, size=6),
    "many tests": Shape(size=30, tests=60, negated=0.6, ranks=40, entries=6),
    "scattered": Shape(ranks=400, intervals=60, single=0.0, negated=0.1, several=0.2),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@given(seed=st.integers(0, 2**32))
def test_index_equals_the_definition(shape: Shape, seed: int) -> None:
    conjunctions, entries = random_case(seed, shape)
    agree(conjunctions, entries, entries if seed % 2 else NO_EVENTS)
