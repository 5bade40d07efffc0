"""The terms of a SPARQL query: IRIs with prefixes and a base, strings, numbers, booleans.

A plain literal and one of xsd:string are the same string. Cost: a look-up a term, mostly.
"""

import re
from functools import lru_cache

from sensewire.language.values import number_term
from sensewire.language.words import PREDECLARED, is_absolute, is_language, unquoted
from sensewire.model import datatypes, terms
from sensewire.model.errors import ParseError
from sensewire.model.terms import Kind, Term

_CODE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_USUAL = re.compile(
    r"(?:https?://[A-Za-z0-9.-]+/|urn:)[A-Za-z0-9._~!$&'()*+,;=:@/-]*(?:#[A-Za-z0-9_.-]*)?"
)
_ESCAPED = re.compile(r"\\(.)")


class Names:
    """The prefixes and the base of one query."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._prefixes = dict(PREDECLARED)
        self._base: str | None = None

    def declare(self, name: str, address: str, place: int) -> None:
        """PREFIX name: <address>."""
        self._prefixes[name[:-1]] = self.address(address, place)

    def set_base(self, address: str, place: int) -> None:
        """BASE <address>."""
        self._base = self.address(address, place)

    def address(self, bracketed: str, place: int) -> str:
        """The IRI between < and >, made absolute."""
        address = bracketed[1:-1]
        if "\\" in address:
            address = _CODE.sub(lambda found: self._character(found, place), address)
        if is_absolute(address):
            self._must_be_sound(address, place)
            return address
        resolved = None if self._base is None else _resolved(self._base, address)
        if resolved is None:
            example = "an absolute IRI such as <http://example.org/name>"
            raise ParseError(self._text, place, f"{example}, or BASE <iri> before")
        return resolved

    def iri(self, bracketed: str, place: int) -> Term:
        """An IRI in full."""
        return _iri(self.address(bracketed, place))

    def prefixed(self, name: str, place: int) -> Term:
        """An IRI by its prefix."""
        prefix, _, local = name.partition(":")
        namespace = self._prefixes.get(prefix)
        if namespace is None:
            raise ParseError(
                self._text, place, f"a declared prefix: write PREFIX {prefix}: <iri> first"
            )
        term = _expanded(namespace, local)
        self._must_be_sound(term.text, place)
        return term

    def _must_be_sound(self, address: str, place: int) -> None:
        if not _is_sound(address):
            raise ParseError(self._text, place, f"an IRI, and <{address}> is none")

    def string(self, quoted: str, place: int) -> str:
        """What a quoted text stands for."""
        return _unquoted(self._text, quoted, place)

    def language_string(self, text: str, tag: str, place: int) -> Term:
        """A text with its language, `@en`."""
        if not is_language(tag[1:].lower()):
            raise ParseError(self._text, place, "a language tag such as @en")
        return terms.language_string(text, tag[1:])

    def number(self, text: str, place: int) -> Term:
        """A number with or without its sign."""
        term = number_term(text)
        if term is None:
            limit = datatypes.LONGEST_NUMBER
            raise ParseError(self._text, place, f"a number of at most {limit:,} characters")
        return term

    def _character(self, found: re.Match[str], place: int) -> str:
        code = int(found[1] or found[2], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ParseError(self._text, place + 1 + found.start(), "the code of a character")
        return chr(code)


def literal(text: str, datatype: str) -> Term:
    """A literal with its datatype; one of xsd:string is a string.

    >>> print(literal("5", datatypes.STRING), literal("5", datatypes.INTEGER).kind)
    "5" number
    """
    return terms.string(text) if datatype == datatypes.STRING else terms.literal(text, datatype)


def is_plain(term: Term) -> bool:
    """Whether a term is a string without a language."""
    return term.kind is Kind.STRING


def _unquoted(text: str, quoted: str, place: int) -> str:
    long = quoted[:3] in ('"""', "'''")
    marks = 3 if long else 1
    if "\\" not in quoted:
        return quoted[marks:-marks]
    return unquoted(text, place + marks - 1, place + len(quoted) - marks + 1)


@lru_cache(maxsize=65_536)
def _is_sound(address: str) -> bool:
    """Whether an address is an IRI by the letter; pyoxigraph is asked about unusual ones."""
    if _USUAL.fullmatch(address):
        return True
    import pyoxigraph

    try:
        pyoxigraph.NamedNode(address)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=65_536)
def _iri(address: str) -> Term:
    return terms.iri(address)


@lru_cache(maxsize=65_536)
def _expanded(namespace: str, local: str) -> Term:
    return terms.iri(namespace + _ESCAPED.sub(r"\1", local) if "\\" in local else namespace + local)


@lru_cache(maxsize=1_024)
def _resolved(base: str, address: str) -> str | None:
    """A relative IRI made absolute, by the Turtle parser, which knows how; None if it is none."""
    import pyoxigraph

    text = f"@base <{base}> . <{address}> <urn:p> <urn:o> ."
    try:
        (statement,) = pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    except (SyntaxError, ValueError):
        return None
    subject = statement.subject
    return subject.value if isinstance(subject, pyoxigraph.NamedNode) else None
