"""The datatypes that Sensewire knows: their texts, their values and their bases.

A text "fits" a datatype when it is one of its lexical forms, without surrounding space. Values are
Python's: `int`, `Decimal` and `float` for numbers; an exact count of seconds for dates, so that
fractions of a second of any length compare exactly. Everything is cached by text: cost is one
regular expression for each new text.
"""

import re
import struct
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from sensewire.model import quantities

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
STRING = XSD + "string"
BOOLEAN = XSD + "boolean"
INTEGER = XSD + "integer"
DECIMAL = XSD + "decimal"
DOUBLE = XSD + "double"
FLOAT = XSD + "float"
DATE = XSD + "date"
DATE_TIME = XSD + "dateTime"
DATE_TIME_STAMP = XSD + "dateTimeStamp"
LANGUAGE_STRING = RDF + "langString"
LITERAL = RDFS + "Literal"
# Quantities travel in RDF as the custom datatype that the LINDT project defined for UCUM texts.
QUANTITY = "https://w3id.org/cdt/ucum"

Number = int | Decimal | float
Instant = int | Fraction

LONGEST_NUMBER = 1_000
"""Characters of a number's text; a longer one is a text and no number."""
_LONGEST_DATE = 100

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL_DOUBLES = {"INF": float("inf"), "+INF": float("inf"), "-INF": float("-inf")}
_SPECIAL_DOUBLES["NaN"] = float("nan")
_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:(T)([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)

# The integer types, each with its base and its least and greatest value.
_INTEGER_TYPES: dict[str, tuple[str, int | None, int | None]] = {
    "integer": ("decimal", None, None),
    "nonPositiveInteger": ("integer", None, 0),
    "negativeInteger": ("nonPositiveInteger", None, -1),
    "long": ("integer", -(2**63), 2**63 - 1),
    "int": ("long", -(2**31), 2**31 - 1),
    "short": ("int", -(2**15), 2**15 - 1),
    "byte": ("short", -(2**7), 2**7 - 1),
    "nonNegativeInteger": ("integer", 0, None),
    "positiveInteger": ("nonNegativeInteger", 1, None),
    "unsignedLong": ("nonNegativeInteger", 0, 2**64 - 1),
    "unsignedInt": ("unsignedLong", 0, 2**32 - 1),
    "unsignedShort": ("unsignedInt", 0, 2**16 - 1),
    "unsignedByte": ("unsignedShort", 0, 2**8 - 1),
}
INTEGER_DATATYPES = frozenset(XSD + name for name in _INTEGER_TYPES)
NUMBER_DATATYPES = INTEGER_DATATYPES | {DECIMAL, DOUBLE, FLOAT}
DATE_DATATYPES = frozenset({DATE, DATE_TIME, DATE_TIME_STAMP})

_BASES: dict[str, str] = {
    **{XSD + name: XSD + base for name, (base, _, _) in _INTEGER_TYPES.items()},
    DATE_TIME_STAMP: DATE_TIME,
    XSD + "normalizedString": STRING,
    XSD + "token": XSD + "normalizedString",
    XSD + "dayTimeDuration": XSD + "duration",
    XSD + "yearMonthDuration": XSD + "duration",
}
_ABOVE_ALL = (XSD + "anyAtomicType", XSD + "anySimpleType")
FITTED_DATATYPES = (
    NUMBER_DATATYPES
    | DATE_DATATYPES
    | {BOOLEAN, STRING, XSD + "normalizedString", XSD + "token", QUANTITY}
)
"""The datatypes whose fit can be told from a text."""


def bases(datatype: str) -> tuple[str, ...]:
    """The datatype and those that it is derived from, narrowest first, `rdfs:Literal` last.

    >>> [name.split("#")[1] for name in bases(XSD + "int")]
    ['int', 'long', 'integer', 'decimal', 'anyAtomicType', 'anySimpleType', 'Literal']
    """
    chain = [datatype]
    while chain[-1] in _BASES:
        chain.append(_BASES[chain[-1]])
    return (*chain, *(_ABOVE_ALL if datatype.startswith(XSD) else ()), LITERAL)


def fits(text: str, datatype: str) -> bool:
    """Whether `text` is a lexical form of one of the `FITTED_DATATYPES`."""
    if datatype in NUMBER_DATATYPES:
        return number(text, datatype) is not None
    if datatype in DATE_DATATYPES:
        return instant(text, datatype) is not None
    if datatype == BOOLEAN:
        return text in ("true", "false", "1", "0")
    if datatype == STRING:
        return True
    if datatype == XSD + "normalizedString":
        return not re.search(r"[\t\n\r]", text)
    if datatype == QUANTITY:
        return quantities.read(text) is not None
    if datatype == XSD + "token":
        return not re.search(r"[\t\n\r]|^ | $|  ", text)
    return False


@lru_cache(maxsize=65_536)
def number(text: str, datatype: str) -> Number | None:
    """The number that `text` writes in a number datatype, None where it does not fit.

    >>> number("01", INTEGER), number("1.50", DECIMAL), number("300", XSD + "byte")
    (1, Decimal('1.50'), None)
    """
    if len(text) > LONGEST_NUMBER:
        return None
    if datatype in (DOUBLE, FLOAT):
        if text in _SPECIAL_DOUBLES:
            return _SPECIAL_DOUBLES[text]
        if not _DOUBLE.fullmatch(text):
            return None
        return float(text) if datatype == DOUBLE else single(float(text))
    if datatype == DECIMAL:
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    if not _INTEGER.fullmatch(text):
        return None
    _, least, greatest = _INTEGER_TYPES[datatype.removeprefix(XSD)]
    value = int(text)
    if (least is not None and value < least) or (greatest is not None and value > greatest):
        return None
    return value


@lru_cache(maxsize=65_536)
def number_in(text: str) -> Number | None:
    """The number that an untyped text is, if its whole text is one; never NaN or infinite.

    >>> number_in("5"), number_in("5.0"), number_in("5e0"), number_in(" 5"), number_in("INF")
    (5, Decimal('5.0'), 5.0, None, None)
    """
    if len(text) > LONGEST_NUMBER or not _DOUBLE.fullmatch(text):
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return Decimal(text)
    value = float(text)
    return value if abs(value) < float("inf") else None


@lru_cache(maxsize=65_536)
def instant(text: str, datatype: str | None = None) -> Instant | None:
    """The first instant of a date, in seconds; without a zone UTC; None where `text` is no date.

    With a datatype, the text must be a form of that one: `xsd:dateTime` needs seconds.

    >>> instant("1970-01-01") == instant("1970-01-01T01:00+01:00")
    True
    >>> instant("2024-02-30") is instant("2024-03-01T10:00", DATE_TIME) is None
    True
    """
    found = _DATE.fullmatch(text) if len(text) <= _LONGEST_DATE else None
    if found is None:
        return None
    year, month, day, has_time, hour, minute, second, fraction, zone = found.groups()
    if datatype == DATE and has_time:
        return None
    if zone is not None and not has_time and datatype != DATE:
        return None  # XSD allows a zone without a time; the form of dates in texts does not
    if datatype in (DATE_TIME, DATE_TIME_STAMP) and second is None:
        return None
    if datatype == DATE_TIME_STAMP and zone is None:
        return None
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    part = Fraction(int(fraction), 10 ** len(fraction)) if fraction else 0
    end_of_day = hours == 24 and not (minutes or seconds or part)
    if minutes > 59 or seconds > 59 or (hours > 23 and not end_of_day):
        return None
    offset = _zone_seconds(zone)
    if offset is None:
        return None
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds - offset + part


def has_zone(text: str) -> bool:
    """Whether a date's text names its time zone."""
    found = _DATE.fullmatch(text)
    return found is not None and found.group(9) is not None


def _zone_seconds(zone: str | None) -> int | None:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 14 or minutes > 59 or (hours == 14 and minutes):
        return None
    return (hours * 3_600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def single(value: float) -> float:
    """The 32-bit float nearest to `value`."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
