"""The words of CEL: its functions as far as the evaluator has them, its types, what is reserved.

The specification has more: conversions of booleans and to `bool`, times in a zone, optional values.
A test runs every function named here, so that none is offered that is not there.
"""

from collections.abc import Iterable
from difflib import get_close_matches

CALLS = {
    **dict.fromkeys(("bytes", "double", "duration", "dyn", "has", "int", "size", "string"), 1),
    **dict.fromkeys(("date", "timestamp", "type", "uint"), 1),
    "convert": 2,
}
"""What is called as `name(value)`, with the number of values."""
METHODS = {
    **dict.fromkeys(("contains", "endsWith", "matches", "startsWith"), 1),
    **dict.fromkeys(("getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"), 0),
    **dict.fromkeys(("getFullYear", "getHours", "getMilliseconds", "getMinutes"), 0),
    **dict.fromkeys(("getMonth", "getSeconds", "size"), 0),
}
"""What is called as `value.name()`, with the number of further values."""
MACROS = {
    **dict.fromkeys(("all", "exists", "exists_one", "existsOne", "filter"), (2,)),
    "map": (2, 3),
}
"""What is called as `list.name(variable, expression)`."""
FUNCTIONS = frozenset((*CALLS, *METHODS, *MACROS))
OURS = frozenset({"convert", "date", "matches", "size"})
"""Those that `cel_functions` has: the first two are added, the others mended."""
TYPES = frozenset(
    {"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"}
)
NO_FIELDS = frozenset({"false", "in", "null", "true"})
RESERVED = NO_FIELDS | {
    *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
    *("loop", "package", "namespace", "return", "var", "void", "while"),
}
"""Words that CEL lets nobody use as a name."""


def problem_with_name(name: str) -> str | None:
    """Why an input cannot have a name, or None.

    >>> problem_with_name("graduation"), problem_with_name("if")
    (None, 'is a reserved word')
    """
    if not (name.isascii() and name.isidentifier()):
        return "is no identifier: letters, digits and _, no digit first"
    if name.startswith("_"):
        return "begins with _, as only our own names do"
    if name in RESERVED:
        return "is a reserved word"
    return "is the event itself" if name == "event" else None


def nearest(name: str, known: Iterable[str]) -> str:
    """A proposal for a name that is not known.

    >>> nearest("sise", ["size", "type"]), nearest("x", ["size", "type"])
    ('did you mean size?', 'known are size, type')
    """
    names = sorted(known)
    near = get_close_matches(name, names, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"
