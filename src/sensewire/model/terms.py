"""Terms: IRIs, blank nodes and literals, with their kinds.

Two terms are the same when they have the same kind and were written alike; which terms are equal in
value is `comparison`'s matter.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from sensewire.model import datatypes, quantities
from sensewire.model.datatypes import Number
from sensewire.model.errors import EventError
from sensewire.model.quantities import Quantity


class Kind(StrEnum):
    """What a term is."""

    IRI = "iri"
    BLANK = "blank"
    BOOLEAN = "boolean"
    NUMBER = "number"
    DATE = "date"
    QUANTITY = "quantity"
    STRING = "string"
    LANGUAGE = "language"
    UNTYPED = "untyped"


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An IRI, a blank node or a literal; prints as N-Triples.

    >>> print(literal("5", datatypes.INTEGER), string("a"), iri("http://x.org/a"), blank("H"))
    "5"^^<http://www.w3.org/2001/XMLSchema#integer> "a" <http://x.org/a> _:H
    """

    kind: Kind
    text: str
    datatype: str | None = None
    language: str | None = None

    # As a dataclass has them, but several times as fast: every fact of every event is looked up.
    def __eq__(self, other: object) -> bool:
        return self is other or (
            other.__class__ is Term
            and self.text == other.text
            and self.kind is other.kind
            and self.datatype == other.datatype
            and self.language == other.language
        )

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def value(self) -> str | bool | Number | datetime | Quantity:
        """The term as a Python value; its text where Python has no better one."""
        match self.kind:
            case Kind.BOOLEAN:
                return self.text in ("true", "1")
            case Kind.NUMBER:
                return number_of(self)
            case Kind.DATE:
                return _datetime(self.text, self.datatype)
            case Kind.QUANTITY:
                found = quantities.read(self.text)
                assert found is not None
                return found
            case _:
                return self.text

    def __str__(self) -> str:
        match self.kind:
            case Kind.IRI:
                return f"<{self.text}>"
            case Kind.BLANK:
                return f"_:{self.text}"
            case Kind.LANGUAGE:
                return f'"{escaped(self.text)}"@{self.language}'
        if self.datatype == datatypes.STRING:
            return f'"{escaped(self.text)}"'
        return f'"{escaped(self.text)}"^^<{self.datatype}>'


HOME = Term(Kind.BLANK, "H")
"""The home vertex of a record, and of an RDF event that names it `_:H`."""
RDF_TYPE = Term(Kind.IRI, datatypes.RDF + "type")
TRUE = Term(Kind.BOOLEAN, "true", datatypes.BOOLEAN)
FALSE = Term(Kind.BOOLEAN, "false", datatypes.BOOLEAN)


def iri(text: str) -> Term:
    """The IRI `text`."""
    return Term(Kind.IRI, text)


def blank(label: str) -> Term:
    """The blank node `_:label`."""
    return Term(Kind.BLANK, label)


def string(text: str) -> Term:
    """A string, as JSON gives it."""
    return Term(Kind.STRING, text, datatypes.STRING)


def untyped(text: str) -> Term:
    """A literal without a type, as plain RDF, feeds, XML and CSV give it."""
    return Term(Kind.UNTYPED, text, datatypes.STRING)


def language_string(text: str, language: str) -> Term:
    """A string in a language; tags are kept in lower case, as RDF allows."""
    return Term(Kind.LANGUAGE, text, datatypes.LANGUAGE_STRING, language.lower())


def quantity(text: str) -> Term | None:
    """The quantity that `text` writes, its unit one space after its number; None if it is none."""
    found = quantities.read(text)
    return None if found is None else Term(Kind.QUANTITY, str(found), datatypes.QUANTITY)


def literal(text: str, datatype: str) -> Term:
    """An RDF literal. A text that does not fit, or an unknown datatype, makes it untyped.

    >>> literal("01", datatypes.INTEGER).kind, literal("x", datatypes.INTEGER).kind
    (<Kind.NUMBER: 'number'>, <Kind.UNTYPED: 'untyped'>)
    """
    return Term(_kind_of_literal(text, datatype), text, datatype)


def _kind_of_literal(text: str, datatype: str) -> Kind:
    if datatype in datatypes.NUMBER_DATATYPES and datatypes.fits(text, datatype):
        return Kind.NUMBER
    if datatype == datatypes.BOOLEAN and datatypes.fits(text, datatype):
        return Kind.BOOLEAN
    if datatype in datatypes.DATE_DATATYPES and datatypes.fits(text, datatype):
        return Kind.DATE
    if datatype == datatypes.QUANTITY and quantities.read(text) is not None:
        return Kind.QUANTITY
    return Kind.UNTYPED


def term_of(value: object) -> Term:
    """The term that a Python value stands for, as JSON and operators give them.

    >>> print(term_of(1), term_of(True))
    "1"^^<http://www.w3.org/2001/XMLSchema#integer> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
    """
    match value:
        case str():
            return string(whole(value))
        case bool():
            return TRUE if value else FALSE
        case int():
            return _number(str(value) if abs(value) < _TOO_LARGE else "", datatypes.INTEGER)
        case float():
            return Term(Kind.NUMBER, _double_text(value), datatypes.DOUBLE)
        case Term():
            return value
        case Decimal() if value.is_finite():
            short = abs(value.adjusted()) < datatypes.LONGEST_NUMBER
            return _number(f"{value:f}" if short else "", datatypes.DECIMAL)
        case datetime():
            offset = value.utcoffset()
            odd = offset is not None and offset.seconds % 60  # XSD's zones have whole minutes
            written = value.astimezone(UTC) if odd else value
            return Term(Kind.DATE, written.isoformat(), datatypes.DATE_TIME)
        case date():
            return Term(Kind.DATE, value.isoformat(), datatypes.DATE)
        case _:
            raise EventError(
                f"a value of type {type(value).__name__} is no term; "
                "expected a string, number, boolean, date or Term"
            )


_TOO_LARGE = 10**datatypes.LONGEST_NUMBER


def _number(text: str, datatype: str) -> Term:
    if not datatypes.fits(text, datatype):
        raise EventError(f"a number of more than {datatypes.LONGEST_NUMBER:,} characters")
    return Term(Kind.NUMBER, text, datatype)


def whole(text: str) -> str:
    """The text, if every character of it is one; half of a surrogate pair is none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise EventError(f"the text holds half of a character, at {error.start}") from None
    return text


def number_of(term: Term) -> Number:
    """The value of a term of kind number."""
    assert term.datatype is not None
    found = datatypes.number(term.text, term.datatype)
    assert found is not None, term
    return found


def local_name(address: str) -> str:
    """The last part of an IRI, by which it is read where no scheme knows it.

    >>> local_name("http://x.org/a#laptop"), local_name("urn:isbn:1"), local_name("http://x.org/")
    ('laptop', '1', 'http://x.org/')
    """
    cut = max(address.rfind("#"), address.rfind("/"))
    if cut < 0:
        cut = address.rfind(":")
    return address[cut + 1 :] or address


_ESCAPES: Mapping[str, str] = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')


def escaped(text: str) -> str:
    """The text with N-Triples' escapes, for use between double quotes."""
    return _ESCAPED.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04X}", text)


def _double_text(value: float) -> str:
    if math.isfinite(value):
        return repr(value or 0.0)  # -0.0 and 0.0 are one value, and so one term
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def _datetime(text: str, datatype: str | None) -> datetime:
    seconds = datatypes.instant(text, datatype)
    assert seconds is not None
    # Departure from the exact instant: Python's datetime holds microseconds and years 1 to 9999.
    try:
        return datetime(1, 1, 1, tzinfo=UTC) + timedelta(
            seconds=int(seconds - 86_400), microseconds=int(seconds % 1 * 1_000_000)
        )
    except OverflowError:
        late = seconds > 86_400
        return (datetime.max if late else datetime.min).replace(tzinfo=UTC)
