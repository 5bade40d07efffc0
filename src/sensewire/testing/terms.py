"""Hypothesis strategies for terms: every kind, and texts of any Unicode."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sensewire.model import datatypes
from sensewire.model.datatypes import XSD
from sensewire.model.terms import (
    FALSE,
    TRUE,
    Term,
    iri,
    language_string,
    literal,
    quantity,
    string,
    untyped,
)

T = TypeVar("T")


def one_of_these(found: Sequence[T]) -> SearchStrategy[T]:
    """One of a few values; `sampled_from` would print all of them in every strategy built on it."""
    return st.integers(0, len(found) - 1).map(lambda place: found[place])


# Texts that a careless reader or writer trips over, beside any text at all.
_TRAPS = (
    "",
    " ",
    "and",
    "not",
    "a",
    "home",
    "true",
    "OR",
    "5",
    "5 km",
    "two words",
    "a-b.c:d",
    "ends-",
    "xsd:date",
    "_:H",
    "?x",
    "it's",
    'say "a\\b"',
    "`",
    "<http://x.org/>",
    "#",
    "\n\t\x00\u2028\ufeff",
    "≤",
    "“”",
    "Zürich",
    "東京",
    "\U0001f600",
    "e\u0301",
)
_NUMBERS = {
    datatypes.INTEGER: ("0", "5", "-7", "+3", "007", "12345678901234567890"),
    datatypes.DECIMAL: ("1.50", "-0.5", ".5", "5.", "5", "+1.0"),
    datatypes.DOUBLE: ("1e3", "-1.5E-3", "2", "INF", "-INF", "NaN", ".5e1", "1.e1"),
    datatypes.FLOAT: ("1.5", "1e3"),
    XSD + "byte": ("5", "300"),
    XSD + "long": ("-5",),
}
_DATES = {
    datatypes.DATE: ("2024-03-01", "2024-03-01Z", "2024-02-30"),
    datatypes.DATE_TIME: (
        "2024-03-01T10:00:00",
        "2024-03-01T10:00:00.250+02:00",
        "2024-03-01T10:00",
    ),
    datatypes.DATE_TIME_STAMP: ("2024-03-01T10:00:00Z",),
}
_OTHERS = {
    datatypes.BOOLEAN: ("1", "0", "yes"),
    XSD + "token": ("a b",),
    "http://x.org/point": ("1,2",),
    datatypes.QUANTITY: ("5km", "5 parrots", "+5 km"),
    datatypes.LANGUAGE_STRING: ("no language",),
}
_QUANTITIES = ("5 km", "-5 km", "20 °C", "30 km/h", "5 %", "1.5e3 m", "3 m^-2", "7 in", "2 W/m2")
_IRIS = (
    "http://x.org/a",
    "http://x.org/colour#red",
    "urn:isbn:1",
    "mailto:a@x.org",
    "http://ü.org/ß",
)
_TAGS = ("fr", "de-at", "en--ltr", "zh-hans-cn")


def texts() -> SearchStrategy[str]:
    """Any text that can be encoded, and many that are easily misread."""
    return st.sampled_from(_TRAPS) | st.text(max_size=8)


def iris() -> SearchStrategy[Term]:
    """Absolute IRIs."""
    return st.sampled_from(_IRIS).map(iri)


def terms() -> SearchStrategy[Term]:
    """Terms of every kind but blank nodes, which no subscription can name."""
    written = [
        literal(text, datatype)
        for table in (_NUMBERS, _DATES, _OTHERS)
        for datatype, forms in table.items()
        for text in forms
    ]
    measured = [term for term in map(quantity, _QUANTITIES) if term is not None]
    return st.one_of(
        texts().map(string),
        texts().map(untyped),
        iris(),
        st.builds(language_string, texts(), st.sampled_from(_TAGS)),
        st.sampled_from([TRUE, FALSE, *written, *measured]),
        st.integers().map(lambda number: literal(str(number), datatypes.INTEGER)),
        st.builds(literal, texts(), st.just("http://x.org/type")),
    )
