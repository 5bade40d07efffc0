"""Where a reader stands in a SPARQL query: the token ahead, and errors that point at it."""

import re

from sensewire.language.limits import DEEPEST, MOST_PATTERNS
from sensewire.language.sparql_terms import Names, literal
from sensewire.language.sparql_tokens import (
    IRI,
    LANGUAGE,
    NAME,
    NUMBER,
    OTHER,
    SIGN,
    STRING,
    VARIABLE,
    WORD,
    tokens_of,
)
from sensewire.language.words import ESCAPES
from sensewire.model.conditions import Constant, Reading, Variable
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.terms import FALSE, TRUE, Term, string

# A string up to where it is wrong.
_PART = r"\\[tbnrf\\\"']|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_SHORT = {quote: re.compile(rf"{quote}(?:[^{quote}\\\n\r]|{_PART})*") for quote in "\"'"}
_LONG = {quote: re.compile(rf"{quote * 3}(?:(?!{quote * 3})(?:[^\\]|{_PART}))*") for quote in "\"'"}
_BOOLEANS = {"true": TRUE, "false": FALSE}


class Cursor:
    """The tokens of one query, read once from left to right."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text = text
        self.names = Names(text)
        self.reading = reading
        self.kinds, self.texts, self.spots = tokens_of(text)
        self.at = 0
        self.variables: dict[str, Variable] = {}
        self.places: dict[Variable, int] = {}
        self._depth = 0
        self._fresh = 0
        self._taken: frozenset[str] | None = None
        self._patterns = 0

    @property
    def place(self) -> int:
        """Where the token ahead stands."""
        return self.spots[self.at]

    def is_sign(self, sign: str) -> bool:
        """Whether the token ahead is that sign."""
        return self.texts[self.at] == sign and self.kinds[self.at] == SIGN

    def takes(self, sign: str) -> bool:
        """Whether the token ahead was that sign; then it is passed."""
        if self.texts[self.at] == sign and self.kinds[self.at] == SIGN:
            self.at += 1
            return True
        return False

    def must(self, sign: str, or_else: str = "") -> None:
        """Pass a sign that has to stand here."""
        if not self.takes(sign):
            raise self.wrong(f"{or_else}{sign!r}")

    def word(self) -> str:
        """The word ahead, in capitals; nothing where there is none."""
        return self.texts[self.at].upper() if self.kinds[self.at] == WORD else ""

    def takes_word(self, word: str) -> bool:
        """Whether the token ahead was that word; then it is passed."""
        if self.word() == word:
            self.at += 1
            return True
        return False

    def wrong(self, expected: str, place: int | None = None) -> ParseError:
        """The error that something else was expected, here or at a place."""
        if place is None and self.kinds[self.at] == OTHER and self.texts[self.at] in "\"'":
            return self._wrong_string()
        return ParseError(self.text, self.place if place is None else place, expected)

    def _wrong_string(self) -> ParseError:
        """What is wrong with the string that begins here, and is no token."""
        place, quote = self.place, self.texts[self.at]
        is_long = self.text.startswith(quote * 3, place)
        shape = _LONG[quote] if is_long else _SHORT[quote]
        found = shape.match(self.text, place)
        assert found is not None
        if self.text.startswith("\\", found.end()):
            return ParseError(self.text, found.end(), f"one of {ESCAPES}")
        marks = quote * 3 if is_long else quote
        return ParseError(self.text, place, f"a string that ends with {marks}")

    def split_iri(self) -> None:
        """Read what looked like an IRI as a comparison: `?x<5&&?y>3`."""
        at, place = self.at, self.place
        sign = "<=" if self.text.startswith("<=", place) else "<"
        kinds, texts, spots = tokens_of(self.text, place + len(sign))
        self.kinds[at:] = [SIGN, *kinds]
        self.texts[at:] = [sign, *texts]
        self.spots[at:] = [place, *spots]

    def deeper(self, place: int) -> None:
        """Go into a bracket; `shallower` comes out of it."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnsupportedError(f"brackets nested deeper than {DEEPEST}", place)

    def shallower(self) -> None:
        """Come out of a bracket."""
        self._depth -= 1

    def count_pattern(self) -> None:
        """Count one more triple pattern of the query."""
        self._patterns += 1
        if self._patterns > MOST_PATTERNS:
            raise UnsupportedError(f"more than {MOST_PATTERNS:,} triple patterns", self.place)

    def fresh(self) -> Variable:
        """A variable that the query does not name."""
        if self._taken is None:
            self._taken = frozenset(text.lstrip("?$") for text in self.texts)
        while True:
            self._fresh += 1
            name = f"_{self._fresh}"
            if name not in self._taken:
                return Variable(name)

    def variable(self) -> Variable:
        """The variable ahead, which is passed."""
        if self.kinds[self.at] != VARIABLE:
            raise self.wrong("a variable such as ?x")
        name = self.texts[self.at][1:]
        found = self.variables.get(name)
        if found is None:
            found = self.variables[name] = Variable(name)
            self.places[found] = self.place
        self.at += 1
        return found

    def count(self, variable: Variable) -> int:
        """How often the query names a variable."""
        return sum(self.texts.count(sign + variable.name) for sign in "?$")

    def constant(self) -> Constant | None:
        """The IRI or literal ahead, passed; None where there is none."""
        place = self.place
        term = self.term()
        return None if term is None else Constant(term, self.reading, place)

    def term(self) -> Term | None:
        """The IRI or literal ahead, passed; None where there is none."""
        at = self.at
        kind, text, place = self.kinds[at], self.texts[at], self.spots[at]
        if kind == NAME:
            self.at += 1
            return self.names.prefixed(text, place)
        if kind == IRI:
            self.at += 1
            return self.names.iri(text, place)
        if kind == STRING:
            self.at += 1
            return self._literal(self.names.string(text, place))
        if kind == NUMBER:
            self.at += 1
            return self.names.number(text, place)
        if kind == WORD and text in _BOOLEANS:
            self.at += 1
            return _BOOLEANS[text]
        if self.is_signed_number():
            self.at += 2
            return self.names.number(text + self.texts[at + 1], place)
        return None

    def is_signed_number(self) -> bool:
        """Whether a sign and a number stand ahead, with nothing between them."""
        at = self.at
        return (
            self.texts[at] in ("+", "-")
            and self.kinds[at + 1] == NUMBER
            and self.spots[at + 1] == self.spots[at] + 1
        )

    def _literal(self, text: str) -> Term:
        at = self.at
        kind, place = self.kinds[at], self.spots[at]
        if kind == LANGUAGE:
            self.at += 1
            return self.names.language_string(text, self.texts[at], place)
        if not self.takes("^^"):
            return string(text)
        at = self.at
        kind, place = self.kinds[at], self.spots[at]
        if kind not in (IRI, NAME):
            raise self.wrong("a datatype: <iri>, or a name with a declared prefix")
        self.at += 1
        named = self.names.iri if kind == IRI else self.names.prefixed
        return literal(text, named(self.texts[at], place).text)
