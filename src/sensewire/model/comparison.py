"""Which terms are equal in value and how they are ordered, bridges between kinds included.

Across kinds a comparison has no answer, except over the bridges: an untyped literal is also a
string, and a number, date or quantity where its whole text is one; a string is a date or quantity
where the constant that it is compared with is one, since JSON has neither. The first term is the
event's value, the second the constant. Strict subscriptions compare by SPARQL's rules instead.
"""

from fractions import Fraction

from sensewire.model import datatypes, quantities
from sensewire.model.datatypes import Instant, Number
from sensewire.model.terms import Kind, Term, number_of

_TEXTS = (Kind.STRING, Kind.UNTYPED)
Key = Number | Instant | Fraction | str


def equal(value: Term, constant: Term) -> bool:
    """Whether two terms are the same or equal in value.

    >>> from sensewire.model.terms import string, term_of, untyped
    >>> one = term_of(1)
    >>> equal(one, term_of(1.0)), equal(one, string("1")), equal(one, untyped("1"))
    (True, False, True)
    """
    keys = comparable(value, constant)
    if keys is not None:
        return keys[0] == keys[1]
    if value.kind is constant.kind is Kind.BOOLEAN:
        return value.value == constant.value
    return value == constant


def order(value: Term, constant: Term) -> int | None:
    """-1, 0 or 1 as the value is less, equal or more; None where the two are not comparable.

    >>> from sensewire.model.terms import string, term_of
    >>> one, two = term_of(1), term_of(2.5)
    >>> order(one, two), order(string("b"), string("a")), order(one, string("2"))
    (-1, 1, None)
    """
    keys = comparable(value, constant)
    if keys is None:
        return None
    left, right = keys
    if left == right:
        return 0
    if left < right:  # type: ignore[operator]  # both are of one family: `comparable` saw to it
        return -1
    return 1 if left > right else None  # type: ignore[operator]  # None: NaN


def comparable(value: Term, constant: Term) -> tuple[Key, Key] | None:
    """The two terms as values of one ordered family, or None."""
    kinds = (value.kind, constant.kind)
    if Kind.NUMBER in kinds:
        return _numbers(numeric(value), numeric(constant))
    if Kind.DATE in kinds:
        return _dates(date_of(value), date_of(constant)) if _bridged(value, constant) else None
    if Kind.QUANTITY in kinds:
        bridged = _bridged(value, constant)
        return _quantities(quantity_of(value), quantity_of(constant)) if bridged else None
    if value.kind is constant.kind is Kind.UNTYPED:
        numbers = _numbers(numeric(value), numeric(constant))
        return numbers if numbers is not None else (value.text, constant.text)
    if value.kind in _TEXTS and constant.kind in _TEXTS:
        return value.text, constant.text
    return None


def _bridged(value: Term, constant: Term) -> bool:
    """Whether a date or quantity may meet the other term: a string only as the event's value."""
    return value.kind is constant.kind or value.kind in _TEXTS or constant.kind is Kind.UNTYPED


def numeric(term: Term) -> Number | None:
    """The number that a term is, as such or by the bridge."""
    if term.kind is Kind.NUMBER:
        return number_of(term)
    return datatypes.number_in(term.text) if term.kind is Kind.UNTYPED else None


def date_of(term: Term) -> Instant | None:
    """The first instant of the date that a term is, as such or by the bridge."""
    if term.kind is Kind.DATE:
        return datatypes.instant(term.text, term.datatype)
    return datatypes.instant(term.text) if term.kind in _TEXTS else None


def quantity_of(term: Term) -> quantities.Quantity | None:
    """The quantity that a term is, as such or by the bridge."""
    if term.kind is Kind.QUANTITY or term.kind in _TEXTS:
        return quantities.read(term.text)
    return None


def as_double(value: Number) -> float:
    """A number as a double; infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _numbers(a: Number | None, b: Number | None) -> tuple[Number, Number] | None:
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float):  # integer and decimal meet double as double
        return as_double(a), as_double(b)
    return a, b


def _dates(a: Instant | None, b: Instant | None) -> tuple[Instant, Instant] | None:
    return None if a is None or b is None else (a, b)


def _quantities(
    a: quantities.Quantity | None, b: quantities.Quantity | None
) -> tuple[Fraction, Fraction] | None:
    if a is None or b is None or a.dimension != b.dimension:
        return None
    return a.base, b.base
