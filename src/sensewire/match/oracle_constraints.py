"""How the oracle evaluates a value constraint: SPARQL 1.1's operators, plus the bridges.

An expression has a term for a value, or None for SPARQL's type error; `and`, `or` and `not` are
SPARQL's three-valued ones. What differs between strict subscriptions and all others is a `Rules`.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal, DivisionByZero, InvalidOperation
from typing import Protocol, assert_never

import re2

from sensewire.match.oracle_values import Reader
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import (
    Between,
    Condition,
    Constant,
    Name,
    Order,
    Relation,
    Text,
    Variable,
)
from sensewire.model.datatypes import Number
from sensewire.model.errors import EventError
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Equality,
    Expression,
    Minus,
    Negation,
    Or,
    Sign,
    Test,
)
from sensewire.model.patterns import compiled
from sensewire.model.terms import FALSE, TRUE, Kind, Term, iri, string, term_of

_DECIMALS = Context(prec=34)
# What keeps its spaces under the flag x: an escaped character, a class in brackets.
_SPACES = re.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|[ \t\n\r]+")


class Rules(Protocol):
    """What the comparison of terms means; None is a type error."""

    def equal(self, a: Term, b: Term) -> bool | None: ...
    def related(self, relation: Relation, a: Term, b: Term) -> bool | None: ...
    def number(self, a: Term) -> Number | None: ...
    def calculated(self, sign: Sign, a: Term, b: Term) -> Term | None: ...
    def test(self, value: Term, condition: Condition, reader: Reader) -> bool | None: ...
    def constant(self, term: Term) -> Term: ...


class Bridged:
    """The rules of all subscriptions that are not strict."""

    def equal(self, a: Term, b: Term) -> bool | None:
        return comparison.equal(a, b) or comparison.equal(b, a)

    def related(self, relation: Relation, a: Term, b: Term) -> bool | None:
        if a.kind is b.kind is Kind.BOOLEAN:  # SPARQL's order: false comes before true
            return relation.holds(int(a.value is True) - int(b.value is True))
        forth, back = comparison.comparable(a, b), comparison.comparable(b, a)
        if forth is None and back is None:
            return None
        order = comparison.order(a, b) if forth is not None else _turned(comparison.order(b, a))
        return order is not None and relation.holds(order)  # None: NaN has no order

    def number(self, a: Term) -> Number | None:
        return comparison.numeric(a)

    def calculated(self, sign: Sign, a: Term, b: Term) -> Term | None:
        return None  # only numbers have a sum

    def test(self, value: Term, condition: Condition, reader: Reader) -> bool | None:
        return reader.meets(value, condition) if _can_be_tested(value, condition) else None

    def constant(self, term: Term) -> Term:
        return term


BRIDGED = Bridged()


def _turned(order: int | None) -> int | None:
    return None if order is None else -order


def _can_be_tested(value: Term, condition: Condition) -> bool:
    """Whether a condition can be asked of a value at all; if not, a constraint is an error."""
    match condition:
        case Order():
            return comparison.comparable(value, condition.bound) is not None
        case Between():
            bounds = (condition.low, condition.high)
            return all(comparison.comparable(value, bound) is not None for bound in bounds)
        case Text():
            return value.kind in (Kind.STRING, Kind.UNTYPED, Kind.LANGUAGE, Kind.IRI)
        case _:
            return True


def truth(
    expression: Expression, bindings: Mapping[Variable, Term], rules: Rules, reader: Reader
) -> bool | None:
    """Whether a constraint holds; None is an error."""
    return Evaluation(bindings, rules, reader).truth(expression)


class Evaluation:
    """Expressions over the bindings of one solution."""

    def __init__(self, bindings: Mapping[Variable, Term], rules: Rules, reader: Reader) -> None:
        self._bindings = bindings
        self._rules = rules
        self._reader = reader

    def truth(self, expression: Expression) -> bool | None:
        """SPARQL's effective boolean value."""
        match expression:
            case And():
                return _all(self.truth(part) for part in expression.parts)
            case Or():
                refused = _all(_not(self.truth(part)) for part in expression.parts)
                return _not(refused)
            case Negation():
                return _not(self.truth(expression.part))
            case Test():
                value = self._bindings[expression.variable]
                return self._rules.test(value, expression.condition, self._reader)
            case Comparison():
                return self._compared(expression)
            case Variable() | Constant() | Arithmetic() | Minus() | Call():
                return self._effective(self.value(expression))
            case _:
                assert_never(expression)

    def value(self, expression: Expression) -> Term | None:
        """The term that an expression comes to."""
        match expression:
            case Variable():
                return self._bindings[expression]
            case Constant(value=Name(text)):
                return self._rules.constant(string(text))
            case Constant(value=Term() as term):
                return self._rules.constant(term)
            case Arithmetic():
                left, right = self.value(expression.left), self.value(expression.right)
                return self._calculated(expression.sign, left, right)
            case Minus():
                zero = term_of(0)
                return self._calculated(Sign.MINUS, zero, self.value(expression.operand))
            case Call():
                return self._called(expression)
            case _:
                held = self.truth(expression)
                return None if held is None else TRUE if held else FALSE

    def _compared(self, expression: Comparison) -> bool | None:
        left, right = self.value(expression.left), self.value(expression.right)
        if left is None or right is None:
            return None
        match expression.relation:
            case Equality.EQUAL:
                return self._rules.equal(left, right)
            case Equality.DIFFERENT:
                return _not(self._rules.equal(left, right))
            case Relation() as relation:
                return self._rules.related(relation, left, right)

    def _calculated(self, sign: Sign, left: Term | None, right: Term | None) -> Term | None:
        if left is None or right is None:
            return None
        a, b = self._rules.number(left), self._rules.number(right)
        if a is None or b is None:
            return self._rules.calculated(sign, left, right)
        if isinstance(a, float) or isinstance(b, float):
            made = _doubles(sign, comparison.as_double(a), comparison.as_double(b))
            singles = {left.datatype, right.datatype}
            if datatypes.DOUBLE not in singles and datatypes.FLOAT in singles:
                return Term(Kind.NUMBER, _single_text(datatypes.single(made)), datatypes.FLOAT)
            return Term(Kind.NUMBER, _double_text(made, repr(made)), datatypes.DOUBLE)
        return _exact(sign, a, b)

    def _effective(self, value: Term | None) -> bool | None:
        match value:
            case None:
                return None
            case Term(kind=Kind.BOOLEAN):
                return value.value is True
            case Term(kind=Kind.STRING | Kind.UNTYPED, datatype=datatypes.STRING):
                return value.text != ""
            case Term(kind=Kind.NUMBER):
                number = self._rules.number(value)
                return number is not None and number == number and number != 0
            case _:
                return None

    def _called(self, call: Call) -> Term | None:
        if call.function == "bound":
            bound = call.arguments[0] in self._bindings
            return TRUE if bound else FALSE
        arguments = [self.value(argument) for argument in call.arguments]
        if any(argument is None for argument in arguments):
            return None
        made = FUNCTIONS[call.function](*arguments)
        return None if made is None else self._rules.constant(made)


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = list(parts)
    return False if False in found else None if None in found else True


def _not(part: bool | None) -> bool | None:
    return None if part is None else not part


def _doubles(sign: Sign, a: float, b: float) -> float:
    match sign:
        case Sign.PLUS:
            return a + b
        case Sign.MINUS:
            return a - b
        case Sign.TIMES:
            return a * b
        case Sign.OVER:
            if b:
                return a / b
            return math.nan if not a or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def _exact(sign: Sign, a: int | Decimal, b: int | Decimal) -> Term | None:
    """Integers stay integers but for division, which makes a decimal; by zero it is an error."""
    if isinstance(a, int) and isinstance(b, int) and sign is not Sign.OVER:
        made = a + b if sign is Sign.PLUS else a - b if sign is Sign.MINUS else a * b
        return _number(made)
    operations = {
        Sign.PLUS: _DECIMALS.add,
        Sign.MINUS: _DECIMALS.subtract,
        Sign.TIMES: _DECIMALS.multiply,
        Sign.OVER: _DECIMALS.divide,
    }
    try:
        return _number(operations[sign](Decimal(a), Decimal(b)))
    except (DivisionByZero, InvalidOperation):
        return None


def _number(made: int | Decimal) -> Term | None:
    """A result as a term, in its shortest form; None where it is too long to be written."""
    try:
        return term_of(made if isinstance(made, int) else (made.normalize() or Decimal(0)))
    except EventError:
        return None


def _double_text(made: float, shortest: str) -> str:
    """A number that was calculated, as XPath writes it: without an exponent, `2` and not `2.0`."""
    if not math.isfinite(made):
        return term_of(made).text
    return f"{Decimal(shortest):f}".removesuffix(".0")


def _single_text(made: float) -> str:
    """The same of a 32-bit float, by the fewest digits that tell it from its neighbours."""
    texts = (f"{made:.{digits}g}" for digits in range(6, 10))
    shortest = next((t for t in texts if datatypes.single(float(t)) == made), f"{made:.9g}")
    return _double_text(made, shortest)


def _is_text(term: Term) -> bool:
    """SPARQL's string literals, with or without a language."""
    return term.datatype in (datatypes.STRING, datatypes.LANGUAGE_STRING)


def _is_plain(*terms: Term) -> bool:
    """String literals without a language."""
    return all(term.datatype == datatypes.STRING for term in terms)


def _truth_term(held: bool | None) -> Term | None:
    return None if held is None else TRUE if held else FALSE


def _regex(text: Term, pattern: Term, flags: Term | None = None) -> Term | None:
    """SPARQL's flags: i, m, s are RE2's own; q takes the pattern as it stands, x drops spaces."""
    letters = set() if flags is None else set(flags.text)
    plain = _is_plain(pattern) and (flags is None or _is_plain(flags))
    if not _is_text(text) or not plain or not letters <= set("imsqx"):
        return None
    expression = pattern.text
    if "q" in letters:
        expression = re2.escape(expression)
    elif "x" in letters:
        expression = _SPACES.sub(lambda found: found[1] or "", expression)
    own = "".join(sorted(letters & set("ims")))
    try:
        found = compiled((f"(?{own})" if own else "") + expression).search(text.text)
    except re2.error:
        return None
    return _truth_term(found is not None)


def _str(term: Term) -> Term | None:
    return None if term.kind is Kind.BLANK else string(term.text)


def _lang(term: Term) -> Term | None:
    return None if term.datatype is None else string(term.language or "")


def _lang_matches(tag: Term, range: Term) -> Term | None:
    if not _is_plain(tag, range):
        return None
    have, want = tag.text.lower(), range.text.lower()
    if want == "*":
        return _truth_term(have != "")
    return _truth_term(have == want or have.startswith(want + "-"))


def _datatype(term: Term) -> Term | None:
    return None if term.datatype is None else iri(term.datatype)


def _texts(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Term | None]:
    def tested(text: Term, part: Term) -> Term | None:
        if not _is_text(text) or not _is_text(part):
            return None
        if part.language is not None and part.language != text.language:
            return None
        return _truth_term(test(text.text, part.text))

    return tested


def _cased(change: Callable[[str], str]) -> Callable[[Term], Term | None]:
    def changed(term: Term) -> Term | None:
        if not _is_text(term):
            return None
        return Term(term.kind, change(term.text), term.datatype, term.language)

    return changed


FUNCTIONS: Mapping[str, Callable[..., Term | None]] = {
    "regex": _regex,
    "str": _str,
    "lang": _lang,
    "langMatches": _lang_matches,
    "datatype": _datatype,
    "isIRI": lambda term: _truth_term(term.kind is Kind.IRI),
    "isLiteral": lambda term: _truth_term(term.datatype is not None),
    "isBlank": lambda term: _truth_term(term.kind is Kind.BLANK),
    "strStarts": _texts(str.startswith),
    "strEnds": _texts(str.endswith),
    "contains": _texts(lambda text, part: part in text),
    "lcase": _cased(str.lower),
    "ucase": _cased(str.upper),
    "sameTerm": lambda a, b: _truth_term(a == b),
}
