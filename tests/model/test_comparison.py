"""Equality and order of values, with every bridge; the table of `docs/semantics.md`."""

from fractions import Fraction

import pytest

from sensewire.model import datatypes, quantities
from sensewire.model.comparison import equal, order
from sensewire.model.datatypes import DATE, DATE_TIME, DECIMAL, DOUBLE, FLOAT, INTEGER, XSD
from sensewire.model.terms import (
    Kind,
    Term,
    blank,
    iri,
    language_string,
    literal,
    quantity,
    string,
    term_of,
    untyped,
)

ONE = term_of(1)
MARCH = literal("2024-03-01", DATE)


def q(text: str) -> Term:
    found = quantity(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("value", "constant"),
    [
        (ONE, term_of(1.0)),
        (ONE, literal("1.00", DECIMAL)),
        (literal("01", INTEGER), ONE),
        (literal("0.1", DECIMAL), term_of(0.1)),
        (term_of(2**53 + 1), term_of(float(2**53))),  # an integer meets a double as a double
        (term_of(10**400), term_of(float("inf"))),
        (literal("0.1", FLOAT), term_of(datatypes.single(0.1))),
        (string("Zürich"), string("Zürich")),
        (untyped("a"), string("a")),
        (string("a"), untyped("a")),
        (untyped("1"), ONE),
        (untyped("1.0"), ONE),
        (ONE, untyped("1e0")),
        (untyped("1"), untyped("1.0")),
        (untyped("2024-03-01"), MARCH),
        (MARCH, untyped("2024-03-01T00:00Z")),
        (string("2024-03-01T02:00+02:00"), MARCH),
        (MARCH, literal("2024-03-01T00:00:00Z", DATE_TIME)),
        (literal("2024-02-29T24:00:00", DATE_TIME), MARCH),
        (q("5000m"), q("5 km")),
        (q("0.1 km"), q("100 m")),
        (string("5 km"), q("5000 m")),
        (untyped("5km"), q("5000 m")),
        (q("20 °C"), q("293.15 K")),
        (term_of(True), literal("1", XSD + "boolean")),
        (language_string("chat", "fr"), language_string("chat", "FR")),
        (iri("http://x.org/a"), iri("http://x.org/a")),
        (blank("a"), blank("a")),
    ],
)
def test_equal(value: Term, constant: Term) -> None:
    assert equal(value, constant)


@pytest.mark.parametrize(
    ("value", "constant"),
    [
        (ONE, string("1")),
        (ONE, term_of(True)),
        (string("true"), term_of(True)),
        (untyped("true"), term_of(True)),
        (term_of(float("nan")), term_of(float("nan"))),
        (term_of(2**53 + 1), term_of(2**53)),
        (untyped(" 1"), ONE),
        (untyped("NaN"), term_of(float("nan"))),
        (untyped("INF"), term_of(float("inf"))),
        (untyped("1e400"), term_of(float("inf"))),
        (string("2024-03-01Z"), MARCH),  # a zone stands after a time
        (string("2024-03-01T00:00:00." + "1" * 5_000), MARCH),
        (string("1e99999999 m"), q("1 m")),
        (string("1"), untyped("1.0")),
        (MARCH, string("2024-03-01")),  # the bridge from a string needs a date in the condition
        (q("5 km"), string("5 km")),
        (q("5 km"), q("5 kg")),
        (q("5 m"), term_of(5)),
        (untyped("5"), q("5 m")),
        (language_string("chat", "fr"), string("chat")),
        (language_string("chat", "fr"), language_string("chat", "en")),
        (iri("http://x.org/a"), string("http://x.org/a")),
        (string("é"), string("e\u0301")),  # by code points: nothing is normalised
        (untyped("2024-02-30"), literal("2024-03-01", DATE)),
    ],
)
def test_not_equal(value: Term, constant: Term) -> None:
    assert not equal(value, constant)


@pytest.mark.parametrize(
    ("value", "constant", "expected"),
    [
        (ONE, term_of(1.5), -1),
        (term_of(float("nan")), ONE, None),
        (string("a"), string("b"), -1),
        (string("ä"), string("z"), 1),
        (untyped("10"), untyped("9"), 1),
        (untyped("10"), string("9"), -1),
        (untyped("x"), untyped("9"), 1),
        (untyped("2005"), term_of(2003), 1),
        (string("2024-03-02"), MARCH, 1),
        (MARCH, string("2024-03-02"), None),
        (q("1 mile"), q("1 km"), 1),
        (q("1 mile"), q("1 s"), None),
        (term_of(True), term_of(False), None),
        (language_string("a", "en"), language_string("b", "en"), None),
        (iri("http://a"), iri("http://b"), None),
        (ONE, string("2"), None),
        (
            literal("2024-03-01T00:00:00.0000000001Z", DATE_TIME),
            literal("2024-03-01T00:00:00Z", DATE_TIME),
            1,
        ),
    ],
)
def test_order(value: Term, constant: Term, expected: int | None) -> None:
    assert order(value, constant) == expected


@pytest.mark.parametrize(
    ("text", "datatype", "kind"),
    [
        ("5", INTEGER, Kind.NUMBER),
        ("+5", INTEGER, Kind.NUMBER),
        ("5.0", INTEGER, Kind.UNTYPED),
        ("٥", INTEGER, Kind.UNTYPED),
        ("128", XSD + "byte", Kind.UNTYPED),
        ("-0", XSD + "nonNegativeInteger", Kind.NUMBER),
        ("INF", DOUBLE, Kind.NUMBER),
        ("inf", DOUBLE, Kind.UNTYPED),
        ("9" * 5_000, INTEGER, Kind.UNTYPED),
        ("true", XSD + "boolean", Kind.BOOLEAN),
        ("yes", XSD + "boolean", Kind.UNTYPED),
        ("2024-03-01", DATE, Kind.DATE),
        ("2024-03-01+14:00", DATE, Kind.DATE),
        ("2024-03-01+14:01", DATE, Kind.UNTYPED),
        ("2024-13-01", DATE, Kind.UNTYPED),
        ("2024-03-01T10:00", DATE_TIME, Kind.UNTYPED),
        ("2024-03-01T10:00:60", DATE_TIME, Kind.UNTYPED),
        ("2024-03-01T10:00:00", XSD + "dateTimeStamp", Kind.UNTYPED),
        ("5 km", datatypes.QUANTITY, Kind.QUANTITY),
        ("5 parsnips", datatypes.QUANTITY, Kind.UNTYPED),
        ("x", "http://x.org/my-datatype", Kind.UNTYPED),
        ("x", XSD + "string", Kind.UNTYPED),
    ],
)
def test_kind_of_a_literal(text: str, datatype: str, kind: Kind) -> None:
    made = literal(text, datatype)
    assert made.kind is kind
    assert (made.text, made.datatype) == (text, datatype)


def test_a_date_with_a_zone_and_no_time_is_one_by_its_datatype() -> None:
    assert equal(literal("2024-03-01+02:00", DATE), literal("2024-02-29T22:00:00Z", DATE_TIME))


def test_the_four_ones_are_four_terms() -> None:
    assert len({term_of(1), term_of(1.0), term_of(True), string("1")}) == 4


@pytest.mark.parametrize(
    "text", ["dB 5", "5 dBm", "5 m^m", "5 __import__", "5 m**9999", "1e400 m/"]
)
def test_what_is_no_quantity(text: str) -> None:
    assert quantities.read(text) is None


def test_units_convert_exactly() -> None:
    found = quantities.read("36 km/h")
    assert found is not None
    assert found.base == Fraction(10)
    assert quantities.read("5 W/m2") == quantities.read("5 W/m2")
    assert quantities.read("1 m²") is not None


def test_every_integer_type_knows_its_bases() -> None:
    for name in datatypes.INTEGER_DATATYPES:
        *below, decimal, _, _, literal_class = datatypes.bases(name)
        assert (decimal, literal_class) == (DECIMAL, datatypes.LITERAL)
        assert below[-1] == INTEGER
