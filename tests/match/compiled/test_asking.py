"""What conditions ask for, as spans on axes: their ends, what is sure of them, what is turned.

That matching with them is right: `test_values.py`; here, that it is asked for where it should be,
and not too widely.
"""

import math
from typing import Any

import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.asking import PRESENT, Asked, Asking, Axis, as_double
from sensewire.match.compiled.concepts import Concepts
from sensewire.model import datatypes
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    OneOf,
    Order,
    Relation,
    Text,
    TextRelation,
    Variable,
    exact,
    meaning,
)
from sensewire.model.terms import literal, quantity, string, term_of, untyped

INF, NAN = math.inf, math.nan
NEXT = math.nextafter


def asking() -> Asking:
    known = Knowledge()
    return Asking(known, Concepts(known))


def asked(condition: Condition) -> Asked:
    return asking().asked(condition, None)


def number(value: float) -> Any:
    return term_of(value)


@pytest.mark.parametrize(
    ("relation", "bound", "spans"),
    [
        (Relation.LESS, 5, ((None, 5.0),)),
        (Relation.AT_MOST, 5, ((None, NEXT(5, INF)),)),
        (Relation.MORE, 5, ((NEXT(5, INF), None),)),
        (Relation.AT_LEAST, 5, ((5.0, None),)),
        (Relation.AT_LEAST, 0.1, ((0.1, None),)),
        (Relation.LESS, -INF, ((None, -INF),)),
        (Relation.AT_MOST, INF, ((None, None),)),
        (Relation.AT_LEAST, INF, ((INF, None),)),
        (Relation.MORE, -INF, ((NEXT(-INF, INF), None),)),
        (Relation.MORE, INF, ()),
        (Relation.LESS, NAN, ()),
        (Relation.AT_LEAST, NAN, ()),
    ],
)
def test_orders_of_numbers(relation: Relation, bound: float, spans: object) -> None:
    found = asked(Order(relation, number(bound)))
    assert (found.axis, found.spans, found.sure, found.but) == (Axis.NUMBERS, spans, True, False)


@pytest.mark.parametrize(
    ("low", "high", "spans"),
    [
        (1, 2, ((1.0, NEXT(2, INF)),)),
        (2, 2, ((2.0, NEXT(2, INF)),)),
        (2, 1, ()),
        (-0.0, 0.0, ((-0.0, 5e-324),)),
        (-INF, INF, ((-INF, None),)),
        (INF, INF, ((INF, None),)),
        (NAN, 5, ()),
        (5, NAN, ()),
    ],
)
def test_between(low: float, high: float, spans: object) -> None:
    assert asked(Between(number(low), number(high))).spans == spans


def test_ends_of_two_kinds_are_on_no_axis() -> None:
    for low, high in ((number(1), string("a")), (string("a"), untyped("b"))):
        assert asked(Between(low, high)).axis is Axis.FLAG
    metre, second = quantity("1 m"), quantity("1 s")
    assert metre is not None
    assert second is not None
    assert asked(Between(metre, second)).axis is Axis.FLAG
    assert asked(Between(metre, metre)).detail == "[length]"


@pytest.mark.parametrize(
    ("value", "sure"),
    [
        (2**53 - 1, True),
        (2**53, True),
        (-(2**53), True),
        (2**53 + 1, False),
        (2**53 + 2, False),
        (2.0**60, True),
        (10**400, False),
    ],
)
def test_long_integers_are_not_sure(value: float, sure: bool) -> None:
    for condition in (Order(Relation.AT_LEAST, number(value)), Equal(meaning(number(value)))):
        assert asked(condition).sure == sure


def test_what_is_not_sure_is_asked_for_widely() -> None:
    """A bound that lies between two doubles: both of them are judged once more."""
    (span,) = asked(Order(Relation.MORE, number(2**53 + 1))).spans
    assert isinstance(span[0], float)
    assert span[0] < 2.0**53
    (span,) = asked(Order(Relation.LESS, number(2**53 + 1))).spans
    assert isinstance(span[1], float)
    assert span[1] > 2.0**53


@pytest.mark.parametrize(
    ("text", "sure"), [("0.1", True), ("5", True), ("5.0000000000000000001", False)]
)
def test_decimals_are_sure_unless_an_integer_is_near(text: str, sure: bool) -> None:
    bound = literal(text, datatypes.DECIMAL)
    assert asked(Order(Relation.AT_MOST, bound)).sure == sure


@pytest.mark.parametrize(
    ("text", "rounded"), [("", False), (".5", False), (".1", True), (".000000001", True)]
)
def test_fractions_of_seconds_are_rounded(text: str, rounded: bool) -> None:
    bound = literal(f"2024-03-01T00:00:00{text}Z", datatypes.DATE_TIME)
    found = asked(Order(Relation.AT_LEAST, bound))
    assert (found.axis, found.rounded, found.sure) == (Axis.INSTANTS, rounded, True)


def test_quantities_are_asked_for_in_base_units() -> None:
    foot = quantity("5 ft")
    assert foot is not None
    found = asked(Equal(meaning(foot)))
    assert (found.axis, found.detail) == (Axis.QUANTITIES, "[length]")
    ((start, _),) = found.spans
    assert start == pytest.approx(1.524)


@pytest.mark.parametrize("text", ["", "a", "ÿ", "\U0010ffff", "a\U0010ffff"])
def test_texts_end_before_the_next_one(text: str) -> None:
    start = text.encode()
    found = asked(Text(TextRelation.PREFIX, text))
    assert (found.axis, found.spans) == (Axis.TEXTS, ((start, start + b"\xff"),))
    found = asked(Order(Relation.AT_MOST, string(text)))
    assert (found.axis, found.spans) == (Axis.STRINGS, ((None, start + b"\x00"),))
    found = asked(Equal(exact(string(text))))
    assert (found.axis, found.spans, found.sure) == (
        Axis.STRINGS,
        ((start, start + b"\x00"),),
        True,
    )


@pytest.mark.parametrize(
    "condition",
    [
        Text(TextRelation.SUFFIX, "a"),
        Text(TextRelation.CONTAINS, "a"),
        Text(TextRelation.MATCHES, "a"),
        IsDirectlyA(meaning("a")),
        IsAbove(meaning("a")),
        Equal(exact(Name("5"))),
        Equal(meaning(untyped("5"))),
        Equal(meaning(number(NAN))),
        IsA(meaning(number(5))),
        IsA(meaning(term_of(True))),
        OneOf((meaning("a"), exact(string("a")))),
        OneOf((meaning("a"), meaning(number(5)))),
        Order(Relation.LESS, untyped("5")),
        Different(exact(Name("a"))),
    ],
)
def test_what_no_axis_can_say_is_tried(condition: Condition) -> None:
    found = asked(condition)
    assert (found.axis, found.detail) == (Axis.FLAG, condition)


def test_whatever_there_is() -> None:
    for condition in (
        Exists(),
        Binds(Variable("x")),
        Equal(meaning("Thing")),
        IsA(meaning("Thing")),
    ):
        assert asked(condition) == PRESENT
    nothing = asked(Different(meaning("Thing")))
    assert (nothing.axis, nothing.but, nothing.spans) == (Axis.PRESENT, False, ())


def test_turned() -> None:
    found = asked(Different(meaning(number(5))))
    assert (found.axis, found.but, found.sure) == (Axis.NUMBERS, True, True)
    unsure = asked(Different(meaning(number(2**53 + 1))))
    assert (unsure.axis, unsure.but, unsure.sure) == (Axis.PRESENT, True, False)
    exactly = asked(Different(exact(number(5))))
    assert not exactly.sure


def test_one_of_several_is_on_the_axis_of_all() -> None:
    found = asked(OneOf((meaning(number(5)), meaning(number(7)))))
    assert found.spans == ((5.0, NEXT(5, INF)), (7.0, NEXT(7, INF)))
    found = asked(OneOf((meaning("a"), meaning("b"))))
    assert (found.axis, len(found.spans)) == (Axis.WORDS, 2)
    found = asked(OneOf((exact(string("a")), exact(string("b")))))
    assert (found.axis, len(found.spans)) == (Axis.STRINGS, 2)
    assert not asked(OneOf((meaning(number(5)), meaning(number(2**53 + 1))))).sure


@pytest.mark.parametrize("bound", [0.0, 1.0, -5.0, 1e308, INF])
def test_within_widens_orders_of_numbers(bound: float) -> None:
    found = asking().nearly(Order(Relation.AT_MOST, number(bound)), None, 0.5)
    assert found is not None
    ((start, stop),) = found.spans
    assert start is None
    far = bound + 0.5 * max(abs(bound), 1.0)
    assert stop is None or (isinstance(stop, float) and stop >= far)
    assert (stop is None) == math.isinf(far)
    texts = asking().nearly(Order(Relation.AT_MOST, string("a")), None, 0.5)
    assert texts == asked(Order(Relation.AT_MOST, string("a")))
    assert asking().nearly(Equal(exact(Name("a"))), None, 0.5) == asked(Equal(exact(Name("a"))))
    assert asking().nearly(Equal(meaning(untyped("5"))), None, 0.5) is None


def test_fractions_too_large_for_a_double() -> None:
    from fractions import Fraction

    assert as_double(Fraction(10) ** 400) == INF
    assert as_double(-(Fraction(10) ** 400)) == -INF
    assert as_double(Fraction(1, 2)) == 0.5
