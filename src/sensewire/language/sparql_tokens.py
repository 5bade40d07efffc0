"""SPARQL text cut into tokens: one regular expression, one pass, places kept.

A sign before a number is a token of its own, since `?x -5` is a subtraction and `:p -5` is not.
What is no token is one of kind `OTHER`, for the reader to point at. Cost: linear in the text.
"""

import re
from typing import NamedTuple

from sensewire.language.limits import LONGEST_QUERY
from sensewire.language.words import surrogate_in
from sensewire.model.errors import ParseError, UnsupportedError

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FIRST = f"{_BASE}_0-9"
_MORE = f"{_FIRST}\u00b7\u0300-\u036f\u203f\u2040"
_CODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ODD = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_ESCAPE = rf"\\[tbnrf\\\"']|{_CODE}"
_EXPONENT = r"[eE][+-]?[0-9]+"


# What a token is: the number of its group in the regular expression. Plain numbers are looked
# up and compared several times as fast as the members of an enumeration.
VARIABLE = 1
NAME = 2
"""A name with a prefix."""
SIGN = 3
IRI = 4
WORD = 5
STRING = 6
NUMBER = 7
BLANK = 8
LANGUAGE = 9
OTHER = 10
END = 11

_TOKEN = re.compile(
    rf"""
    (?:[ \t\r\n]+|\#[^\r\n]*)*+
    (?: ([?$][{_FIRST}][{_FIRST}\u00b7\u0300-\u036f\u203f\u2040]*)
      | ((?:[{_BASE}](?:[{_MORE}.-]*[{_MORE}-])?)?
          :(?:(?:[{_FIRST}:]|{_ODD})(?:(?:[{_MORE}.:-]|{_ODD})*(?:[{_MORE}:-]|{_ODD}))?)?)
      | (\^\^|<<|>>|<=|>=|!=|&&|\|\||[{{}}()\[\];,*/=>+!^|?-]|\.(?![0-9])
        |<(?![^<>"{{}}|^`\x00-\x20]*>))
      | (<(?:[^<>"{{}}|^`\\\x00-\x20]|{_CODE})*>)
      | ([A-Za-z][A-Za-z0-9_]*)
      | (\"\"\"(?:\"{{0,2}}(?:[^"\\]|{_ESCAPE}))*\"\"\"
        | '''(?:'{{0,2}}(?:[^'\\]|{_ESCAPE}))*'''
        | ""(?!") | "(?:[^"\\\n\r]|{_ESCAPE})+"
        | ''(?!') | '(?:[^'\\\n\r]|{_ESCAPE})+')
      | ((?:[0-9]+\.[0-9]*|\.?[0-9]+){_EXPONENT}|[0-9]*\.[0-9]+|[0-9]+)
      | (_:[{_FIRST}](?:[{_MORE}.-]*[{_MORE}-])?)
      | (@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl))?)
      | (.)
      | (\Z)
    )
    """,
    re.VERBOSE | re.DOTALL,
)


class Tokens(NamedTuple):
    """The tokens of a text, in three columns; the last one is `END`."""

    kinds: list[int]
    texts: list[str]
    places: list[int]


def tokens_of(text: str, start: int = 0) -> Tokens:
    """The tokens of a text from a place on.

    >>> tokens_of("?x ex:p -5").texts
    ['?x', 'ex:p', '-', '5', '']
    """
    if len(text) > LONGEST_QUERY:
        raise UnsupportedError(
            f"a query of {len(text):,} characters; at most {LONGEST_QUERY:,}", LONGEST_QUERY
        )
    half = surrogate_in(text)
    if half is not None:
        raise ParseError(text, half, "a character, not half of a surrogate pair")
    matches = list(_TOKEN.finditer(text, start))
    if len(matches) > 1 and matches[-2].lastindex == END:
        matches.pop()  # the end is found twice where something empty stands before it
    kinds = [found.lastindex or OTHER for found in matches]
    texts = [found[kind] for found, kind in zip(matches, kinds, strict=True)]
    places = [found.start(kind) for found, kind in zip(matches, kinds, strict=True)]
    return Tokens(kinds, texts, places)
