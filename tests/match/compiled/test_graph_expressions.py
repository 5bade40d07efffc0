"""Constraints on several variables, on values of every kind that kernels calculate with or leave.

Proved by breaking: a difference the other way round.
"""

from itertools import product

import pytest

import sensewire as sw
from sensewire.model import datatypes
from sensewire.model.event import Event, Fact, moment
from sensewire.model.terms import HOME, iri, literal, string, term_of, untyped
from sensewire.testing.agreement import agree

VALUES = [
    *map(term_of, (0, 1, 2, 3, -4, 2.0, 0.5, 2**53 + 1, float("nan"))),
    *(literal(text, datatypes.DECIMAL) for text in ("0.1", "0.2", "0.3", "9007199254740992.5")),
    literal("0.5", datatypes.FLOAT),
    untyped("2"),
    string("2"),
    literal("2024-03-01", datatypes.DATE),
    literal("2024-03-02", datatypes.DATE),
    iri("http://x.org/a"),
]
CONSTRAINTS = [
    "?a - ?b > 1",
    "?a - ?b < 0.3",
    "?a + ?b = 0.3",
    "?a + ?b >= 5.5",
    "?a * ?b = 6",
    "?a / ?b <= 0.5",
    "2 * ?a - ?b / 4 > 1.5",
    "?a < ?b",
    "?a <= ?b",
    "?a > ?b",
    "?a >= ?b",
    "?a = ?b",
    "?a != ?b",
    "?a < ?b or ?b = 2 + ?a - ?a",
    "(?a < ?b or ?a > 2) and (?a != ?b or ?b + ?a > 3)",
    "sameTerm(?a, ?b)",
]


@pytest.mark.parametrize("suffix", ["", " strict"])
def test_every_pair_of_values(suffix: str) -> None:
    p, q = (iri(f"http://x.org/{name}") for name in "pq")
    pattern = "(?x, <http://x.org/p>, ?a) and (?x, <http://x.org/q>, ?b)"
    asked = [sw.parse(f"{pattern} and ({each}){suffix}") for each in CONSTRAINTS]
    sent = [
        Event("e", moment("2024-03-01"), (Fact(HOME, p, one), Fact(HOME, q, other)), HOME)
        for one, other in product(VALUES, VALUES)
    ]
    agreed = agree("auto", asked, sent)
    assert agreed.taken == len(asked)
    assert agreed.matches > 100
