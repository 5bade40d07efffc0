"""What a condition asks for: keys on one axis of its attribute's values.

Values of an attribute are seen along axes, each with keys in an order:

    WORDS        numbers of concepts and words (`concepts.py`)      =  !=  in  is a
    NUMBERS      doubles                                            =  !=  in  <  <=  >  >=  between
    INSTANTS     seconds, as doubles                                the same, for dates
    QUANTITIES   base units of one dimension, as doubles            the same
    STRINGS      UTF-8 bytes of strings                             <  <=  >  >=  between, = exactly
    TEXTS        UTF-8 bytes of all that has a text                 prefix
    PRESENT      no keys: every value is on it                      exists
    FLAG         no keys: the condition itself, tried on each value suffix contains matches …

A span (start, stop) holds the keys k with start <= k < stop; None is no limit. On doubles the end
of `<= 5` is the next double after 5; on bytes the next text after "a" is "a\\0", and no UTF-8 text
reaches "a\\xff" that does not begin with "a". `but` turns it around: every value whose key is in
no span, those without a key included. What is not `sure` is asked for too widely: whoever matches
is judged once more.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.vocabulary import THING
from sensewire.knowledge.words import Scope
from sensewire.match.compiled.concepts import Concepts
from sensewire.match.views import spelled
from sensewire.model import comparison
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    OneOf,
    Order,
    Reading,
    Relation,
    Text,
    TextRelation,
)
from sensewire.model.datatypes import Number
from sensewire.model.terms import Kind, Term, number_of

SLACK = 1e-6
"""By which bounds are widened beyond the tolerance of `within`, relative to them: much more than
what rounding can take away, since whoever matches is judged once more."""


class Axis(StrEnum):
    """Along what an attribute's values are seen."""

    WORDS = "words"
    NUMBERS = "numbers"
    INSTANTS = "instants"
    QUANTITIES = "quantities"
    STRINGS = "strings"
    TEXTS = "texts"
    PRESENT = "present"
    FLAG = "flag"


BY_BYTES = (Axis.STRINGS, Axis.TEXTS)
Key = float | bytes
Span = tuple[Key | None, Key | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A condition as spans on an axis; `detail` tells axes of one kind apart."""

    axis: Axis
    spans: tuple[Span, ...] = ()
    but: bool = False
    sure: bool = True
    detail: str | Condition | None = None
    rounded: bool = False  # some key is only nearly the constant


PRESENT = Asked(Axis.PRESENT, but=True)
_CHANGED = {Kind.NUMBER: Axis.NUMBERS, Kind.DATE: Axis.INSTANTS, Kind.QUANTITY: Axis.QUANTITIES}


@dataclass(frozen=True, slots=True)
class Asking:
    """Reads conditions, whose constants are looked up in a scope."""

    knowledge: Knowledge
    concepts: Concepts

    def asked(self, condition: Condition, scope: Scope) -> Asked:
        """What a condition asks for; a flag where no axis can say it."""
        found: Asked | None = None
        match condition:
            case Exists() | Binds():
                return PRESENT
            case Equal(constant) | IsA(constant) if constant.reading is Reading.MEANING:
                found = self._meant((constant,), scope, isinstance(condition, IsA))
            case Equal(constant):
                found = _exactly(constant)
            case OneOf(constants):
                found = self._one_of(constants, scope)
            case Different(constant):
                found = _turned(self.asked(Equal(constant), scope))
            case Order(relation, bound):
                found = _between(*_ends(relation, bound))
            case Between(low, high):
                found = _between(low, high)
            case Text(TextRelation.PREFIX, text):
                start = text.encode()
                found = Asked(Axis.TEXTS, ((start, start + b"\xff"),))
        return found or Asked(Axis.FLAG, detail=condition)

    def nearly(self, condition: Condition, scope: Scope, tolerance: float) -> Asked | None:
        """What a condition of a clause with `within` asks for at least; None: nothing."""
        found: Asked | None = None
        match condition:
            case Equal(constant) if constant.reading is Reading.MEANING:
                found = self._near(self.asked(condition, scope), (constant,), scope, tolerance)
            case OneOf(constants):
                found = self._near(self.asked(condition, scope), constants, scope, tolerance)
            case Order() | Between():
                found = _widened(self.asked(condition, scope), tolerance)
            case _:
                return self.asked(condition, scope)
        return found

    def _meant(
        self, constants: Iterable[Constant], scope: Scope, by_class: bool = False
    ) -> Asked | None:
        terms = [spelled(constant) for constant in constants]
        kinds = {term.kind for term in terms}
        if by_class and Kind.BOOLEAN in kinds:
            return None  # a boolean is no class of the other texts of its value
        if Kind.NUMBER in kinds and any(map(_is_nan, terms)):
            return None  # nothing equals NaN, but something may have it for a class
        if not by_class and len(kinds) == 1 and terms[0].kind in _CHANGED:
            return _united([_between(term, term) for term in terms])
        if not kinds.isdisjoint((*_CHANGED, Kind.UNTYPED)):
            return None
        spans: list[Span] = []
        for term in terms:
            root = self.knowledge.value_root(term, scope)
            if root == THING:
                return PRESENT
            if not self.concepts.is_of_words_alone(root):
                return None
            spans += self.concepts.runs_below(root)
        return Asked(Axis.WORDS, tuple(spans))

    def _one_of(self, constants: tuple[Constant, ...], scope: Scope) -> Asked | None:
        if all(constant.reading is Reading.MEANING for constant in constants):
            return self._meant(constants, scope)
        if any(constant.reading is Reading.MEANING for constant in constants):
            return None
        return _united([_exactly(constant) for constant in constants])

    def _near(
        self, asked: Asked, constants: Iterable[Constant], scope: Scope, tolerance: float
    ) -> Asked | None:
        """With the concepts that are so few steps above a constant."""
        if asked.axis is Axis.FLAG:
            return None
        if asked.axis is not Axis.WORDS:
            return asked
        spans = list(asked.spans)
        for constant in constants:
            root = self.knowledge.value_root(spelled(constant), scope)
            for above in self.knowledge.above(root):
                steps = self.knowledge.steps_up(root, above)
                if steps is not None and steps <= tolerance + SLACK:
                    number = self.concepts.number(above)
                    spans.append((number, number + 1))
        return Asked(Axis.WORDS, tuple(spans))


def _is_nan(term: Term) -> bool:
    return term.kind is Kind.NUMBER and number_of(term) != number_of(term)


def _exactly(constant: Constant) -> Asked | None:
    match constant.value:
        case Term(kind=Kind.STRING | Kind.UNTYPED, text=text):
            return Asked(Axis.STRINGS, ((text.encode(), _after(text.encode())),))
        case Term(kind=Kind.NUMBER):
            found = _between(constant.value, constant.value)
            # An untyped number is on the axis too, and is not the same term.
            return found and replace(found, sure=False)
    return None


def _turned(asked: Asked) -> Asked | None:
    """Everything else. Where it is not sure what was asked for, all of it is asked for."""
    if asked.axis is Axis.FLAG:
        return None
    if not asked.sure:
        return Asked(Axis.PRESENT, but=True, sure=False)
    return replace(asked, but=not asked.but)


def _united(parts: Sequence[Asked | None]) -> Asked | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({(part.axis, part.detail) for part in known}) != 1:
        return None
    spans = tuple(span for part in known for span in part.spans)
    return replace(
        known[0],
        spans=spans,
        sure=all(part.sure for part in known),
        rounded=any(part.rounded for part in known),
    )


def _ends(relation: Relation, bound: Term) -> tuple[Term | None, Term | None, bool, bool]:
    """The ends of an order, and whether each belongs to it."""
    match relation:
        case Relation.LESS:
            return None, bound, True, False
        case Relation.AT_MOST:
            return None, bound, True, True
        case Relation.MORE:
            return bound, None, False, True
        case Relation.AT_LEAST:
            return bound, None, True, True


def _between(
    low: Term | None, high: Term | None, from_low: bool = True, to_high: bool = True
) -> Asked | None:
    """The values between two ends on the axis that both are on, if there is one."""
    ends = [_on_axis(end) for end in (low, high) if end is not None]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends) or len({(end.axis, end.detail) for end in known}) != 1:
        return None
    axis, detail = known[0].axis, known[0].detail
    if any(isinstance(end.key, float) and math.isnan(end.key) for end in known):
        return Asked(axis, detail=detail)  # NaN is before, after and equal to nothing
    sure = all(end.sure for end in known)
    start = None if low is None else known[0].key
    stop = None if high is None else known[-1].key
    if start is not None and not from_low and sure:
        start = _after(start)
        if start is None:
            return Asked(axis, detail=detail)  # nothing is more than the greatest key
    if stop is not None and (to_high or not sure):
        stop = _after(stop)
    if start is not None and not sure:
        start = _before(start)
    spans = () if start is not None and stop is not None and start >= stop else ((start, stop),)  # type: ignore[operator]  # of one axis
    rounded = any(end.rounded for end in known)
    return Asked(axis, spans, sure=sure, detail=detail, rounded=rounded)


class _End(NamedTuple):
    """A constant on an axis. `sure`: it compares as its key does, save that, `rounded`, the key is
    not quite the constant."""

    axis: Axis
    detail: str | None
    key: Key
    sure: bool = True
    rounded: bool = False


def _on_axis(term: Term) -> "_End | None":
    """Where a constant stands, if it is on an axis."""
    match term.kind:
        case Kind.STRING:
            return _End(Axis.STRINGS, None, term.text.encode())
        case Kind.NUMBER:
            number = comparison.numeric(term)
            assert number is not None
            return _End(Axis.NUMBERS, None, comparison.as_double(number), _is_faithful(number))
        case Kind.DATE:
            instant = comparison.date_of(term)
            assert instant is not None
            double = float(instant)
            return _End(Axis.INSTANTS, None, double, rounded=Fraction(double) != instant)
        case Kind.QUANTITY:
            quantity = comparison.quantity_of(term)
            assert quantity is not None
            base = as_double(quantity.base)
            finite = math.isfinite(base)
            rounded = finite and Fraction(base) != quantity.base
            return _End(Axis.QUANTITIES, quantity.dimension, base, finite, rounded)
    return None


def _is_faithful(number: Number) -> bool:
    """Whether integers and doubles compare with a number as they do with its double.

    Doubles always do. An integer meets a decimal exactly, but no integer is between a decimal and
    its double, unless the double is an integer itself.
    """
    if isinstance(number, float):
        return True
    if isinstance(number, int):
        return abs(number) <= 2**53
    double = comparison.as_double(number)
    if math.isinf(double):
        return False
    return not double.is_integer() or (Fraction(double) == number and abs(double) <= 2.0**53)


def as_double(value: Fraction) -> float:
    """A fraction as a double; infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _after(key: Key) -> Key | None:
    """The next key."""
    if isinstance(key, bytes):
        return key + b"\x00"
    return math.nextafter(key, math.inf) if key < math.inf else None


def _before(key: Key) -> Key | None:
    if isinstance(key, bytes):
        return key
    return math.nextafter(key, -math.inf) if key > -math.inf else None


def _widened(asked: Asked, tolerance: float) -> Asked | None:
    """With the numbers that are past a bound by no more than the tolerance times the bound."""
    if asked.axis is Axis.FLAG:
        return None
    if asked.axis is not Axis.NUMBERS:
        return asked
    return Asked(
        asked.axis,
        tuple((_moved(start, -tolerance), _moved(stop, tolerance)) for start, stop in asked.spans)
        or ((None, None),),
    )


def _moved(end: Key | None, by: float) -> Key | None:
    if end is None:
        return None
    assert isinstance(end, float)
    room = max(abs(end), 1.0)
    moved = end + (by + math.copysign(SLACK, by)) * room
    return moved if math.isfinite(moved) else None
