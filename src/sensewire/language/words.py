"""The words of our language: what may stand bare, what is reserved, and how texts are quoted.

    word     begin (inside* end)?      G-ToPSS   brick:Temperature_Sensor   Zürich
    begin    an ASCII letter, _ or any other character but space, ≤ ≥ ≠ and typographic quotes
    inside   begin, a digit, - . or :
    end      begin or a digit

Escapes are SPARQL's. The grammar has the same shapes; the law that holds the quick reader to the
grammar holds these to it as well. Cost: one pass over the text.
"""

import re
from collections.abc import Mapping

from sensewire.model import datatypes
from sensewire.model.errors import ParseError, UnsupportedError

_NEVER = r"\s≤≥≠“”„‘’«»"
BEGIN = rf"[^\x00-@\[-\^`{{-\x7f{_NEVER}]"
INSIDE = rf"[^\x00-,/;-@\[-\^`{{-\x7f{_NEVER}]"
END = rf"[^\x00-/:-@\[-\^`{{-\x7f{_NEVER}]"
WORD = rf"{BEGIN}(?:{INSIDE}*{END})?"
NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# A number and a unit; a keyword that follows a number is no unit.
UNIT = (
    rf"(?!(?i:and|or|within|injective|strict)(?!{END}))"
    rf"(?:{BEGIN}|%)(?:{END}|[%]|[*/](?=[A-Za-z%°µμΩ])|\^(?=-?[0-9])|-(?=[0-9]))*"
)
QUANTITY = rf"(?>{NUMBER}) *{UNIT}"  # the exponent of 1e3 is no unit
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]*)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"

_RESERVED = """
    and or not all in between exists prefix suffix contains matches is a directly above exactly
    select where within injective strict everything bind true false home
"""
RESERVED = frozenset(_RESERVED.split())
"""The words that mean something to the grammar at some place; `unparse` quotes them everywhere."""

PREDECLARED: Mapping[str, str] = {
    "rdf": datatypes.RDF,
    "rdfs": datatypes.RDFS,
    "xsd": datatypes.XSD,
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}
"""The prefixes that every text may use without declaring them."""

ESCAPES = "\\t \\b \\n \\r \\f \\\\ \\\" \\' \\uXXXX or \\UXXXXXXXX"

_WORD = re.compile(WORD)
_NUMBER = re.compile(NUMBER)
_QUANTITY = re.compile(QUANTITY)
_LANGUAGE = re.compile(r"[a-z]+(?:-[a-z0-9]+)*(?:--(?:ltr|rtl))?")
_VARIABLE = re.compile(rf"{END}+")
_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MEANT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_MEANT.update({sign: sign for sign in "\\\"'`"})
_WRITTEN = {value: f"\\{sign}" for sign, value in _MEANT.items() if value not in "\"'`"}
_SPECIAL = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def is_bare(text: str) -> bool:
    """Whether a text can stand without quotes and still be that word.

    >>> is_bare("G-ToPSS"), is_bare("two words"), is_bare("and"), is_bare("xsd:date")
    (True, False, False, False)
    """
    if text in RESERVED or not _WORD.fullmatch(text) or surrogate_in(text) is not None:
        return False
    prefix, colon, _ = text.partition(":")
    return not colon or (prefix not in PREDECLARED and prefix != "_")


def is_number(text: str) -> bool:
    """Whether a text is an unquoted number without its sign."""
    return _NUMBER.fullmatch(text) is not None


def is_quantity(text: str) -> bool:
    """Whether a text has the form of an unquoted quantity without its sign."""
    return _QUANTITY.fullmatch(text) is not None


def is_language(tag: str) -> bool:
    """Whether a text is a language tag in lower case."""
    return _LANGUAGE.fullmatch(tag) is not None


def is_variable(name: str) -> bool:
    """Whether a text can be the name of a variable."""
    return _VARIABLE.fullmatch(name) is not None and surrogate_in(name) is None


def is_absolute(address: str) -> bool:
    """Whether a text can stand between < and >."""
    return _IRI.fullmatch(address) is not None and surrogate_in(address) is None


def surrogate_in(text: str) -> int | None:
    """Where a text has half of a surrogate pair, which no character is; None if it has none."""
    found = None if text.isascii() else _SURROGATE.search(text)
    return None if found is None else found.start()


def quoted(text: str, sign: str = '"') -> str:
    """The text between quotes, with escapes where it needs them.

    >>> print(quoted('say "a\\\\b"'))
    "say \\"a\\\\b\\""
    """
    if surrogate_in(text) is not None:
        raise UnsupportedError(f"half of a surrogate pair, in {text!r}, cannot be written", 0)
    body = _SPECIAL.sub(lambda m: _WRITTEN.get(m[0]) or f"\\u{ord(m[0]):04X}", text)
    return sign + body.replace(sign, f"\\{sign}") + sign


def unquoted(text: str, start: int, end: int) -> str:
    """What the quoted string at `text[start:end]` stands for."""
    body = text[start + 1 : end - 1]
    if "\\" not in body:
        return body

    def meant(found: re.Match[str]) -> str:
        short, long, sign = found.groups()
        if sign in _MEANT:
            return _MEANT[sign]
        code = int(short or long, 16) if sign is None else -1
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            place = start + 1 + found.start()
            raise ParseError(text, place, f"one of {ESCAPES}; a backslash itself is written \\\\")
        return chr(code)

    return _ESCAPE.sub(meant, body)
