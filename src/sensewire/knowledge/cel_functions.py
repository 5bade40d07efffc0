"""What mapping expressions calculate with: CEL's arithmetic, and the functions that we add.

The evaluator is strict about types: `1 + 2.5` fails there. People who write mappings expect 3.5, so
the operators of an expression become calls of the functions below (`cel.py` rewrites it). Two
integers stay integers of 64 bits; an integer beside a double is a double; texts, lists, bytes,
timestamps and durations add and subtract as in CEL.

Whatever fails raises `EvaluationError` with a short reason. `add` is the only operation that makes
more than went in, and so the only one that looks at sizes.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from sensewire.model import datatypes, patterns, quantities
from sensewire.model.terms import Kind, Term

LONGEST_TEXT = 262_144
"""Characters of a text that goes into an expression or that one makes."""
MOST_VALUES = 10_000
"""Values that a list may have, those of lists inside it included."""

LARGEST_PATTERN = 1_000
"""Steps of a regular expression's program; the time of a search is that many times the text's."""

_LEAST, _GREATEST = -(2**63), 2**63 - 1
_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    datetime: "timestamp",
    timedelta: "duration",
    type(None): "null",
}
# Types are asked by identity: to Python a bool is an int, to CEL it is none.
_INTEGERS = (int, int)
_NUMBERS = frozenset({_INTEGERS, (int, float), (float, int), (float, float)})
_JOINED = {(str, str): "characters", (bytes, bytes): "bytes", (list, list): "items"}
_LATER = frozenset({(datetime, timedelta), (timedelta, datetime), (timedelta, timedelta)})
_EARLIER = frozenset({(datetime, datetime), (datetime, timedelta), (timedelta, timedelta)})
_OUT_OF_RANGE = "a time outside the years 1 to 9999"


class EvaluationError(Exception):
    """An expression that has no value for the values it was given; the text is a short reason."""


def type_name(value: object) -> str:
    """What CEL calls the type of a value.

    >>> type_name(True), type_name(1.0), type_name(None)
    ('bool', 'double', 'null')
    """
    return _NAMES.get(type(value), type(value).__name__)


def in_64_bits(value: int) -> int:
    """The integer, if CEL can hold it; the evaluator would silently make a longer one a double."""
    if _LEAST <= value <= _GREATEST:
        return value
    raise EvaluationError("integer overflow: more than 64 bits")


def _no_overload(a: object, sign: str, b: object) -> EvaluationError:
    return EvaluationError(f"no such overload: {type_name(a)} {sign} {type_name(b)}")


# The evaluator hands over values of any type, and the pair of types says what may be done with
# them; mypy cannot follow that, hence `Any`.
def add(longest: int, a: Any, b: Any) -> object:
    """`a + b`; a text of more than `longest` characters, or too long a list, is refused."""
    types = (type(a), type(b))
    if types == _INTEGERS:
        return in_64_bits(a + b)
    if types in _NUMBERS:
        return float(a) + float(b)
    if types in _JOINED:
        most = MOST_VALUES if types == (list, list) else longest
        if len(a) + len(b) > most:
            raise EvaluationError(f"more than {most:,} {_JOINED[types]}")
        return a + b
    if types in _LATER:
        return _in_range(lambda: a + b)
    raise _no_overload(a, "+", b)


def subtract(a: Any, b: Any) -> object:
    """`a - b`."""
    types = (type(a), type(b))
    if types == _INTEGERS:
        return in_64_bits(a - b)
    if types in _NUMBERS:
        return float(a) - float(b)
    if types in _EARLIER:
        return _in_range(lambda: a - b)
    raise _no_overload(a, "-", b)


def multiply(a: Any, b: Any) -> object:
    """`a * b`."""
    types = (type(a), type(b))
    if types == _INTEGERS:
        return in_64_bits(a * b)
    if types in _NUMBERS:
        return float(a) * float(b)
    raise _no_overload(a, "*", b)


def divide(a: Any, b: Any) -> object:
    """`a / b`; two integers give the integer towards zero.

    Departure from CEL, where a double divided by zero is infinite: here every division by zero
    fails, since an infinite number of years is nothing that an event could tell.

    >>> divide(-7, 2), divide(7, 2.0)
    (-3, 3.5)
    """
    types = (type(a), type(b))
    if types not in _NUMBERS:
        raise _no_overload(a, "/", b)
    if b == 0:
        raise EvaluationError("division by zero")
    if types == _INTEGERS:
        return in_64_bits(_towards_zero(a, b))
    return float(a) / float(b)


def remainder(a: Any, b: Any) -> object:
    """`a % b`, with the sign of `a`. Departure from CEL: doubles have one too.

    >>> remainder(-7, 2), remainder(7.5, 2)
    (-1, 1.5)
    """
    types = (type(a), type(b))
    if types not in _NUMBERS:
        raise _no_overload(a, "%", b)
    if b == 0:
        raise EvaluationError("modulo by zero")
    if types == _INTEGERS:
        in_64_bits(_towards_zero(a, b))  # CEL: where the quotient overflows, so does the remainder
        return a - b * _towards_zero(a, b)
    if math.isinf(a):
        raise EvaluationError("modulo of an infinite number")
    return math.fmod(a, b)


def negate(a: Any) -> object:
    """`-a`."""
    if type(a) is int:
        return in_64_bits(-a)
    if type(a) is float:
        return -a
    raise EvaluationError(f"no such overload: -{type_name(a)}")


def _towards_zero(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


def _in_range(moved: Callable[[], object]) -> object:
    try:
        return moved()
    except OverflowError:
        raise EvaluationError(_OUT_OF_RANGE) from None


def utc(moment: datetime) -> datetime:
    """The moment in UTC, where one without a zone is taken to be.

    CEL's `getHours` and its like are UTC's; the evaluator's are those of the zone that a timestamp
    was written in. So no timestamp of another zone ever reaches it.
    """
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise EvaluationError(_OUT_OF_RANGE) from None


def size(value: Any) -> int:
    """`size(value)`, of a text in characters; the evaluator would count the bytes of its UTF-8."""
    if type(value) in (str, bytes, list, dict):
        return len(value)
    raise EvaluationError(f"no such overload: size({type_name(value)})")


def matches(text: object, pattern: str) -> bool:
    """`text.matches(pattern)`, by RE2 as CEL has it; the evaluator compiles it at every call."""
    if type(text) is not str:
        raise EvaluationError(f"no such overload: {type_name(text)}.matches(string)")
    return patterns.compiled(pattern).search(text) is not None


def convert(value: object, unit: object) -> int | float:
    """The number of a quantity's text in another unit; whole ones are integers.

    >>> convert("5 km", "m"), convert("1500m", "km"), convert("25 °C", "K")
    (5000, 1.5, 298.15)
    """
    if type(value) in (int, float):
        raise EvaluationError(f"{value} has no unit; expected a text such as '{value} {unit}'")
    if type(value) is not str or type(unit) is not str:
        raise EvaluationError(f"no such overload: convert({type_name(value)}, {type_name(unit)})")
    found, scale = quantities.read(value), scale_of(unit)
    if found is None:
        raise EvaluationError(f"{value[:50]!r} is no quantity")
    if scale is None:
        raise EvaluationError(f"no such unit: {unit[:50]!r}")
    dimension, factor, offset = scale
    if found.dimension != dimension:
        raise EvaluationError(f"{value!r} cannot be converted to {unit}")
    number = (found.base - offset) / factor
    if number.denominator == 1:
        return in_64_bits(number.numerator)
    return float(number)


def scale_of(unit: str) -> tuple[str, Fraction, Fraction] | None:
    """A unit's dimension, factor and offset; None where the text is no unit."""
    one = quantities.read(f"1 {unit}")  # checks the text's shape before pint sees it
    return None if one is None or one.unit != unit else quantities.unit(unit)


def date(value: object) -> datetime:
    """The first instant of a date's text; a timestamp is one already.

    >>> date("2024-05-06").isoformat(), date("2024-05-06T07:08+01:00").isoformat()
    ('2024-05-06T00:00:00+00:00', '2024-05-06T06:08:00+00:00')
    """
    if type(value) is datetime:
        return value
    if type(value) is not str:
        raise EvaluationError(f"no such overload: date({type_name(value)})")
    if datatypes.instant(value) is None:
        raise EvaluationError(f"{value[:50]!r} is no date; expected YYYY-MM-DD[Thh:mm[:ss]][zone]")
    found = Term(Kind.DATE, value).value
    assert isinstance(found, datetime)
    return found


def span(value: timedelta) -> timedelta:
    """A duration; the evaluator cuts longer ones to this silently, so the longest is none.

    >>> span(timedelta(hours=1)).total_seconds()
    3600.0
    """
    if abs(value) >= _LONGEST_SPAN:
        raise EvaluationError("a duration of more than 292 years")
    return value


_LONGEST_SPAN = timedelta(microseconds=2**63 // 1_000)
