"""A text of GQL or of statement patterns, read from left to right.

A `Cursor` stands at a place and takes what is there, with the white space after it. Both languages
begin with the same declarations, `PREFIX p: <iri>`; keywords are read in any case, since the papers
print them in capitals. Cost: each character is looked at a few times, whatever the text.
"""

import re
from collections.abc import Mapping
from functools import cache

from sensewire.language.limits import LONGEST_QUERY
from sensewire.language.words import END, PREDECLARED, WORD, is_absolute, surrogate_in
from sensewire.model.conditions import Variable
from sensewire.model.errors import ParseError, UnsupportedError

Signs = re.Pattern[str]

IRI = re.compile(r"<([^<>\s]*)>")
_SPACE = re.compile(r"\s*")
_VARIABLE = re.compile(rf"\?({END}+)\s*")
_PREFIX_NAME = re.compile(rf"((?:{WORD})?):\s*")


@cache
def keyword(*words: str) -> Signs:
    """What takes some words, one after another, in any case.

    >>> keyword("such", "that").match("SuchThat (") is not None, keyword("and").match("andy")
    (True, None)
    """
    together = r"\s*".join(words)
    return re.compile(rf"(?i:{together})(?!{END})\s*")


class Cursor:
    """A place in a text."""

    __slots__ = ("place", "text")

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_QUERY:
            raise UnsupportedError(
                f"a text of {len(text):,} characters; at most {LONGEST_QUERY:,}", LONGEST_QUERY
            )
        half = surrogate_in(text)
        if half is not None:
            raise ParseError(text, half, "a character, not half of a surrogate pair")
        self.text = text
        self.place = 0
        self.move(0)

    def wrong(self, expected: str, place: int | None = None) -> ParseError:
        """The error that something else was expected, here or at another place."""
        return ParseError(self.text, self.place if place is None else place, expected)

    def move(self, place: int) -> None:
        """Go to the first character from a place on that is no white space."""
        found = _SPACE.match(self.text, place)
        assert found is not None
        self.place = found.end()

    def at(self, sign: str) -> bool:
        """Whether a sign stands here."""
        return self.text.startswith(sign, self.place)

    @property
    def is_at_end(self) -> bool:
        """Whether the text has ended."""
        return self.place == len(self.text)

    def take(self, signs: Signs) -> re.Match[str] | None:
        """Take what stands here, if it is one of the signs."""
        found = signs.match(self.text, self.place)
        if found is not None:
            self.move(found.end())
        return found

    def took(self, sign: str) -> bool:
        """Whether a sign stood here, which is taken then."""
        if not self.at(sign):
            return False
        self.move(self.place + len(sign))
        return True

    def need(self, sign: str, expected: str = "") -> None:
        """Take a sign that must stand here."""
        if not self.took(sign):
            raise self.wrong(expected or f"{sign!r}")

    def variable(self) -> Variable | None:
        """Take a variable, if one stands here."""
        if not self.at("?"):
            return None
        found = self.take(_VARIABLE)
        if found is None:
            raise self.wrong("a variable such as ?x")
        return Variable(found[1])


def declared(cursor: Cursor, more: Mapping[str, str] = PREDECLARED) -> Mapping[str, str]:
    """The prefixes that a text may use: those it declares, and those that need no declaration."""
    found: dict[str, str] = {}
    while cursor.take(keyword("prefix")):
        place = cursor.place
        name = cursor.take(_PREFIX_NAME)
        if name is None:
            raise cursor.wrong("a prefix to declare, such as brick:")
        if name[1] in found:
            raise cursor.wrong("a prefix that was not declared before", place)
        address = IRI.match(cursor.text, cursor.place)
        if address is None or not is_absolute(address[1]):
            raise cursor.wrong("an absolute IRI such as <http://example.org/>")
        found[name[1]] = address[1]
        cursor.move(address.end())
    return {**more, **found} if found else more


def selected(cursor: Cursor) -> list[tuple[Variable, int]] | None:
    """The variables after SELECT, up to WHERE, each with its place; None for `*`."""
    if cursor.took("*"):
        return None
    found: list[tuple[Variable, int]] = []
    while True:
        place = cursor.place
        variable = cursor.variable()
        if variable is None:
            expected = "a variable such as ?x" if found else "a variable such as ?x, or * for all"
            raise cursor.wrong(expected)
        found.append((variable, place))
        if not cursor.took(",") and not cursor.at("?"):
            return found
