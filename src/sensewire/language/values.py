"""Words, literals and IRIs of a text as terms and constants of the model.

A `Value` is what was written; what it stands for depends on where it stands (an attribute, a bound,
a text) and on the reading that holds for the whole text, and `Values` knows both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from sensewire.language.words import is_absolute, unquoted
from sensewire.model import datatypes, terms
from sensewire.model.conditions import Constant, Name, Reading
from sensewire.model.errors import ParseError
from sensewire.model.terms import Kind, Term


class Form(StrEnum):
    """How a value was written."""

    WORD = "word"
    TICKED = "word in backquotes"
    STRING = "string"
    IRI = "IRI"
    HOME = "_:H"
    NUMBER = "number without a sign"
    OTHER = "other literal"


NAMES = frozenset({Form.WORD, Form.TICKED, Form.STRING, Form.IRI})
"""The forms that can name an attribute or be a tag."""
WORDS = frozenset({Form.WORD, Form.TICKED})
UNBOUND_KINDS = frozenset({Kind.IRI, Kind.BLANK, Kind.BOOLEAN, Kind.LANGUAGE})
"""The kinds that have no order, and so cannot be a bound."""

_UNIT = re.compile(r" *([^\s0-9.].*)")
_MINUTES = re.compile(r"T[0-9]{2}:[0-9]{2}(?!:)")


@dataclass(frozen=True, slots=True)
class Value:
    """A word, literal or IRI as it was written."""

    term: Term
    form: Form
    position: int
    exactly: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """Reads the values of one text."""

    text: str
    prefixes: Mapping[str, str]
    reading: Reading
    strict: bool

    def wrong(self, position: int, expected: str) -> ParseError:
        """The error that something else was expected at a place."""
        return ParseError(self.text, position, expected)

    def word(self, word: str, position: int) -> Value:
        """A bare word: a boolean, a prefixed name, or just the word."""
        if word in ("true", "false"):
            return Value(terms.literal(word, datatypes.BOOLEAN), Form.OTHER, position)
        if word == Form.HOME:
            return Value(terms.HOME, Form.HOME, position)
        address = self._expanded(word, position)
        if address is not None:
            return Value(terms.iri(address), Form.IRI, position)
        return Value(terms.string(word), Form.WORD, position)

    def ticked(self, quoted: str, position: int) -> Value:
        """A word in backquotes: any text, never a keyword or a prefixed name."""
        text = unquoted(self.text, position, position + len(quoted))
        return Value(terms.string(text), Form.TICKED, position)

    def string(self, quoted: str, position: int) -> Value:
        """A string in quotes."""
        text = unquoted(self.text, position, position + len(quoted))
        return Value(terms.string(text), Form.STRING, position)

    def language(self, quoted: str, position: int, tag: str) -> Value:
        """A string in quotes with its language, `@fr`."""
        text = unquoted(self.text, position, position + len(quoted))
        return Value(terms.language_string(text, tag[1:]), Form.OTHER, position)

    def typed(self, quoted: str, position: int, datatype: str, place: int) -> Value:
        """A string in quotes with its datatype, an IRI or a prefixed name."""
        if datatype.startswith("<"):
            address = self.address(datatype, place)
        else:
            found = self._expanded(datatype, place)
            if found is None:
                raise self.wrong(place, "a datatype: <iri>, or a name with a declared prefix")
            address = found
        text = unquoted(self.text, position, position + len(quoted))
        return Value(terms.literal(text, address), Form.OTHER, position)

    def address(self, bracketed: str, position: int) -> str:
        """The IRI between < and >."""
        if not is_absolute(bracketed[1:-1]):
            raise self.wrong(position, "an absolute IRI such as <http://example.org/name>")
        return bracketed[1:-1]

    def iri(self, bracketed: str, position: int) -> Value:
        """An IRI in full."""
        return Value(terms.iri(self.address(bracketed, position)), Form.IRI, position)

    def number(self, digits: str, position: int) -> Value:
        """A number without a sign."""
        term = number_term(digits)
        if term is None:
            limit = datatypes.LONGEST_NUMBER
            raise self.wrong(position, f"a number of at most {limit:,} characters")
        return Value(term, Form.NUMBER, position)

    def quantity(self, text: str, position: int) -> Value:
        """A number with a unit."""
        term = terms.quantity(text)
        if term is None:
            raise self._no_unit(text, position)
        return Value(term, Form.NUMBER, position)

    def date(self, text: str, position: int) -> Value:
        """A date, with or without a time."""
        term = date_term(text)
        if term is None:
            raise self.wrong(position, "a date such as 2024-03-01 or 2024-03-01T10:00Z")
        return Value(term, Form.OTHER, position)

    def negative(self, value: Value, position: int) -> Value:
        """A number or quantity with the sign that stands before it."""
        text = f"-{value.term.text}"
        if value.term.kind is Kind.QUANTITY:
            term = terms.quantity(text)
        else:
            term = number_term(text)
        if term is None:
            raise self.wrong(position, "a number that is not as long")
        return Value(term, Form.OTHER, position)

    def constant(self, value: Value) -> Constant:
        """The constant that a value stands for."""
        if self.strict and value.form in WORDS:
            raise self.wrong(
                value.position,
                "<iri>, prefix:name or a quoted literal, since a strict subscription has no words",
            )
        if value.form is Form.HOME:
            raise self.wrong(value.position, "a value; the home vertex stands in patterns only")
        if self.reading is Reading.MEANING and not value.exactly:
            return Constant(value.term, Reading.MEANING, value.position)
        named = Name(value.term.text) if value.form in WORDS else value.term
        return Constant(named, Reading.EXACT, value.position)

    def term(self, value: Value, expected: str = "a term without a reading") -> Term:
        """The term that a value is, where no reading matters."""
        if value.exactly:
            raise self.wrong(value.position, f"{expected}, without `exactly`")
        self.constant(value)
        return value.term

    def bound(self, value: Value) -> Term:
        """The bound of an order."""
        expected = "a number, date, quantity or string, which have an order"
        if value.term.kind in UNBOUND_KINDS:
            raise self.wrong(value.position, expected)
        return self.term(value, expected)

    def _expanded(self, name: str, position: int) -> str | None:
        """The IRI of a prefixed name; None where the word is none, or its prefix is unknown."""
        prefix, colon, local = name.partition(":")
        if not colon:
            return None
        if prefix == "_":
            raise self.wrong(position, "a variable such as ?x: a blank node has no name to ask for")
        if prefix not in self.prefixes and not prefix:
            raise self.wrong(position, "a declared prefix: write `prefix : <iri>` first")
        return self.prefixes[prefix] + local if prefix in self.prefixes else None

    def _no_unit(self, text: str, position: int) -> ParseError:
        found = _UNIT.search(text.lstrip("0123456789."))
        unit = found[1] if found else text
        return self.wrong(
            position + len(text) - len(unit),
            f"a unit, and {unit!r} is none that is known; what is no quantity stands in quotes",
        )


def exactly(value: Value) -> Value:
    """The value with `exactly` before it."""
    return replace(value, exactly=True)


@lru_cache(maxsize=65_536)
def number_term(text: str) -> Term | None:
    """The number that an unquoted text is, by its form; None where it is too long for one.

    >>> [number_term(text).datatype.split("#")[1] for text in ("05", "-1.50", "1e3")]
    ['integer', 'decimal', 'double']
    """
    if "e" in text or "E" in text:
        datatype = datatypes.DOUBLE
    else:
        datatype = datatypes.DECIMAL if "." in text else datatypes.INTEGER
    term = terms.literal(text, datatype)
    return term if term.kind is Kind.NUMBER else None


@lru_cache(maxsize=65_536)
def date_term(text: str) -> Term | None:
    """The date that an unquoted text is, its seconds completed; None where there is no such day.

    >>> print(date_term("2024-03-01T10:00Z"))
    "2024-03-01T10:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>
    """
    if "T" not in text:
        made = terms.literal(text, datatypes.DATE)
    else:
        whole = _MINUTES.sub(lambda found: f"{found[0]}:00", text)
        made = terms.literal(whole, datatypes.DATE_TIME)
    return made if made.kind is Kind.DATE else None
