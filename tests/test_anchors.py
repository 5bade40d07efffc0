"""What an event must meet, if a clause is to have an answer; that it must, `test_routing.py` tests.

Each case is a clause and the anchor of its first atom, in our language; `-` where there is none.
"""

import pytest

from sensewire.anchors import EVERYTHING, Form, anchor_of
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse

CASES = [
    ("brand = Ford", "brand = Ford"),
    ("exactly brand = exactly Ford", "exactly brand = exactly Ford"),
    ("brand in (Ford, Audi)", "brand in (Audi, Ford)"),
    ("brand = Ford and year > 5 within 2", "brand = Ford within 2"),
    ("brand in (Ford, Audi) within 0.5", "brand in (Audi, Ford) within 0.5"),
    ("brand is a car", "brand is a car"),
    ("brand is a car within 2", "brand is a car"),
    ("brand is directly a car", "brand exists"),
    ("brand != Ford", "brand exists"),
    ("year > 5", "year exists"),
    ("year > 5 within 2", "year exists"),
    ("exactly year > 5", "exactly year exists"),
    ("year = ?x and ?x > 5", "year exists"),
    ("name contains 'x' injective", "name exists"),
    ("select ?x where (home, brand, Ford) and (?x, p, ?y)", "brand = Ford"),
    ("(home, brand, Ford) within 2", "brand = Ford"),
    ("(home, brand, ?x)", "brand exists"),
    ("(home, exactly <http://x.org/a>, home)", "exactly <http://x.org/a> exists"),
    ("(home, <http://x.org/a>, 1) strict", "exactly <http://x.org/a> exists"),
    ("(home, 1, ?x)", "(home, 1, ?0)"),
    ("(?b, ?a, ?b) and ?a = p injective", "(?0, ?1, ?0)"),
    ("(?s, type, car) within 2", "(?0, type, car)"),
    ("(?s, <http://x.org/a>, 1) strict", "(?0, <http://x.org/a>, 1) strict"),
    ("not brand = Ford", "-"),
    ("near(?x)", "-"),
    ("bind ?x = 5", "-"),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_the_anchor_of_an_atom(text: str, expected: str) -> None:
    subscription = parse(text.replace("near(?x)", "near(?x) and ?x > 1"))
    atom = subscription.conjunctions[0].atoms[0]
    made = anchor_of(atom, subscription.tolerance, subscription.strict)
    assert (unparse(made.subscription()) if made else "-") == expected


def test_forms() -> None:
    def form(text: str) -> Form:
        made = anchor_of(parse(text).conjunctions[0].atoms[0], None, False)
        assert made is not None
        return made.form

    assert form("a = 1") is form("a is a b") is Form.VALUE
    assert form("(?x, a, v)") is form("(<http://x.org/a>, ?p, ?y)") is Form.VALUE
    assert form("a > 1") is form("(?x, a, ?y)") is form("(home, ?p, ?y)") is Form.ATTRIBUTE
    assert form("(?x, ?p, ?y)") is Form.EVERYTHING
    assert EVERYTHING.form is Form.EVERYTHING
    assert unparse(EVERYTHING.subscription()) == "everything"


def test_texts_tell_anchors_apart() -> None:
    texts = ["a = 1", "a = 1.0", "a = '1'", "a = exactly 1", "exactly a = 1", "a = 1 within 1"]
    subscriptions = [parse(text) for text in texts]
    made = [
        anchor_of(each.conjunctions[0].atoms[0], each.tolerance, False) for each in subscriptions
    ]
    assert len({each.text for each in made if each}) == len(texts)
