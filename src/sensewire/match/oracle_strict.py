"""The rules of strict subscriptions: SPARQL 1.1 as pyoxigraph answers it, without bridges.

Plain and `xsd:string` literals are one kind of term. Terms of different known types are simply not
equal; a literal of an unknown datatype, or one whose text does not fit, is comparable with no other
literal; booleans have no order. A date with a zone and one without are ordered only where 14 hours
make no difference.
"""

from fractions import Fraction

from sensewire.match.oracle_foreign import calculated, compared, is_foreign
from sensewire.match.oracle_values import Reader, text_meets
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    OneOf,
    Order,
    Relation,
    Text,
)
from sensewire.model.datatypes import Number
from sensewire.model.expressions import Sign
from sensewire.model.terms import Kind, Term, number_of

_HALF_DAY = 14 * 3_600


def plain(term: Term) -> Term:
    """A string as RDF has it: JSON's strings and plain literals are one kind in SPARQL."""
    return Term(Kind.UNTYPED, term.text, term.datatype) if term.kind is Kind.STRING else term


class Strict:
    """SPARQL's rules; see `oracle_constraints.Rules`."""

    def equal(self, a: Term, b: Term) -> bool | None:
        if is_foreign(a) or is_foreign(b):
            return compared("=", a, b)
        if a == b:
            return not (a.kind is Kind.NUMBER and number_of(a) != number_of(a))
        if _is_opaque(a) or _is_opaque(b):
            both = a.kind is not Kind.LANGUAGE and b.kind is not Kind.LANGUAGE
            literals = a.datatype is not None and b.datatype is not None
            return None if both and literals else False
        if a.kind is not b.kind:
            return False
        if a.kind is Kind.NUMBER:
            return _order_of_numbers(a, b) == 0
        if a.kind is Kind.BOOLEAN:
            return comparison.equal(a, b)
        if a.kind is Kind.DATE:
            same_sort = _is_date(a) == _is_date(b)
            zones = datatypes.has_zone(a.text) == datatypes.has_zone(b.text)
            return same_sort and zones and comparison.equal(a, b)
        return False

    def related(self, relation: Relation, a: Term, b: Term) -> bool | None:
        if is_foreign(a) or is_foreign(b):
            return compared(relation, a, b)
        order = _order(a, b)
        return None if order is None else relation.holds(order)

    def number(self, a: Term) -> Number | None:
        return number_of(a) if a.kind is Kind.NUMBER else None

    def calculated(self, sign: Sign, a: Term, b: Term) -> Term | None:
        in_time = a.kind is Kind.DATE or b.kind is Kind.DATE
        return calculated(sign, a, b) if in_time or is_foreign(a) or is_foreign(b) else None

    def test(self, value: Term, condition: Condition, reader: Reader) -> bool | None:
        match condition:
            case Equal():
                return self.equal(value, _plain_value(condition.constant))
            case Different():
                held = self.equal(value, _plain_value(condition.constant))
                return None if held is None else not held
            case OneOf():
                held_by = [self.equal(value, _plain_value(c)) for c in condition.constants]
                return True if True in held_by else None if None in held_by else False
            case Order():
                return self.related(condition.relation, value, plain(condition.bound))
            case Between():
                above = self.related(Relation.AT_LEAST, value, plain(condition.low))
                below = self.related(Relation.AT_MOST, value, plain(condition.high))
                return (
                    False if False in (above, below) else None if None in (above, below) else True
                )
            case Text():
                return text_meets(value.text, condition) if _has_text(value) else None
            case IsA() | IsDirectlyA() | IsAbove() | Exists() | Binds():
                return reader.meets(value, condition)

    def constant(self, term: Term) -> Term:
        return plain(term)


STRICT = Strict()


def _plain_value(constant: Constant) -> Term:
    assert isinstance(constant.value, Term), "a strict subscription has no bare names"
    return plain(constant.value)


def _is_opaque(term: Term) -> bool:
    """A literal whose value SPARQL does not know: of another datatype, or of an unfit text."""
    if term.kind is Kind.QUANTITY:
        return True
    return term.kind is Kind.UNTYPED and term.datatype != datatypes.STRING


def _has_text(term: Term) -> bool:
    """Whether a term is a string with or without a language, which SPARQL's functions take."""
    return term.datatype in (datatypes.STRING, datatypes.LANGUAGE_STRING)


def _is_date(term: Term) -> bool:
    return term.datatype == datatypes.DATE


def _order(a: Term, b: Term) -> int | None:
    """Texts of one language, numbers and dates of one sort are ordered; NaN is not.

    Departure from the recommendation, with pyoxigraph: every term is at most itself, NaN too.
    """
    if a == b:
        return 0
    if a.kind is not b.kind or _is_opaque(a) or _is_opaque(b):
        return None
    match a.kind:
        case Kind.NUMBER:
            return _order_of_numbers(a, b)
        case Kind.DATE:
            return _order_of_dates(a, b) if _is_date(a) == _is_date(b) else None
        case Kind.UNTYPED | Kind.LANGUAGE if a.language == b.language:
            return (a.text > b.text) - (a.text < b.text)
        case _:
            return None


def _order_of_numbers(a: Term, b: Term) -> int | None:
    """A float meets an integer or decimal as a float, which has fewer digits than a double."""
    types = {a.datatype, b.datatype}
    if datatypes.FLOAT not in types or datatypes.DOUBLE in types:
        return comparison.order(a, b)
    left, right = (datatypes.single(comparison.as_double(number_of(term))) for term in (a, b))
    return None if left != left or right != right else (left > right) - (left < right)


def _order_of_dates(a: Term, b: Term) -> int | None:
    first, second = comparison.date_of(a), comparison.date_of(b)
    assert first is not None
    assert second is not None
    gap = Fraction(first) - Fraction(second)
    if abs(gap) <= _HALF_DAY and datatypes.has_zone(a.text) != datatypes.has_zone(b.text):
        return None
    return (gap > 0) - (gap < 0)
