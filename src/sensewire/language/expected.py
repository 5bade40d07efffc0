"""What was expected, in people's words: the parser's terminals sorted into a few phrases.

Cost: a few regular expressions, on the way to an error only.
"""

import re
from collections.abc import Collection

from sensewire.language.words import END

_TRUTH = "a condition, a tag, a pattern or a constraint"
_DATATYPE = "a datatype: <iri>, or a name with a declared prefix"
# Terminals in the order in which people are told of them.
_PHRASES = {
    "EXISTS": "a condition such as = 5, exists or is a C",
    "_DIRECTLY": "'a', 'directly a' or 'above'",
    "_A": "'a'",
    "PREFIX_NAME": "a prefix to declare, such as brick:",
    "IRI": "an IRI between < and >",
    "NUMBER": "a number above 0",
    "VARIABLE": "a variable such as ?x",
    "EQUALS": "'='",
    "_WHERE": "'where'",
    "_OPEN": "'('",
    "_COMMA": "','",
    "_AND": "'and'",
    "_OR": "'or'",
    "_CLOSE": "')'",
    "$END": "the end",
}
# The phrase of the first makes that of the second superfluous.
_TOLD_BY = {"EXISTS": "EQUALS", "_DIRECTLY": "_A", "_AND": "_OPEN"}
_BEFORE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\S)(?:AND|OR|NOT)\s*\Z"), "keywords are written in lower case"),
)
# Found at the place of an error, these tell what was meant.
_AT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:AND|OR|NOT)(?!\w)"), "keywords are written in lower case"),
    (re.compile(r"[“”„‘’«»]"), "a text stands between straight quotes, \"…\" or '…'"),
    (
        re.compile(r"([\"'`])(?:(?!\1)[^\\\n\r]|\\.)*(?:[\n\r]|\\?\Z)"),
        "a quoted text ends on its line, with the quote that it began with",
    ),
    (re.compile(r"(?<==)="), "equality is written ="),
    (re.compile(r"(?<=<)>"), "what differs is written !="),
    (re.compile(r"&"), "write 'and'"),
    (re.compile(r"\|"), "write 'or'"),
    (re.compile(r"!(?!=)"), "write 'not'"),
    (re.compile(r"<\S+>"), 'an IRI has none of the characters " { } | ^ ` \\'),
    (re.compile(rf"(?<={END})[^\s(),=<>!]"), "a text that is no plain word stands in quotes"),
)


def expected_at(text: str, position: int, accepted: Collection[str]) -> str:
    """What the grammar expected at a place, with a hint where the mistake is a known one.

    >>> expected_at("a = 1 OR b", 6, {"_AND", "_OR", "$END"})
    "'and', 'or' or the end; keywords are written in lower case"
    """
    phrases = _phrases(accepted)
    words = f"{', '.join(phrases[:-1])} or {phrases[-1]}" if len(phrases) > 1 else phrases[0]
    hint = _hint(text, position)
    return f"{words}; {hint}" if hint else words


def _phrases(accepted: Collection[str]) -> list[str]:
    if "WORD" in accepted:
        value = _TRUTH if "NOT" in accepted else "a value" if "STRING" in accepted else _DATATYPE
        return [value, "')'"] if "_CLOSE" in accepted else [value]
    told = set(accepted)
    for stronger, weaker in _TOLD_BY.items():
        if stronger in accepted:
            told.discard(weaker)
    return [phrase for terminal, phrase in _PHRASES.items() if terminal in told]


def _hint(text: str, position: int) -> str | None:
    for shape, hint in _AT:
        if shape.match(text, position):
            return hint
    for shape, hint in _BEFORE:
        if shape.search(text[max(0, position - 100) : position]):
            return hint
    return None
