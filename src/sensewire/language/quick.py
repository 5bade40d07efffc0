"""A reader for the common texts: conjunctions of plain predicates and tags, `not` before any one.

    product = computer and brand in (IBM, Dell) and price <= 1600 and not refurbished = true

One regular expression takes one predicate with the `and` after it. Whatever it does not know for
certain (brackets, `or`, variables, escapes, declared names, comments, keywords out of place) gives
None, and the grammar decides: a law holds every answer, positions included, to the grammar's. The
grammar takes five times as long. Cost: linear in the text.
"""

import re
from functools import lru_cache

from sensewire.language.comparisons import SPELLINGS, TAGS
from sensewire.language.limits import LONGEST
from sensewire.language.values import date_term, number_term
from sensewire.language.words import (
    BEGIN,
    DATE,
    END,
    INSIDE,
    NUMBER,
    PREDECLARED,
    RESERVED,
    UNIT,
    surrogate_in,
)
from sensewire.model.conditions import (
    Between,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    Name,
    OneOf,
    Order,
    Reading,
    Relation,
    Text,
    TextRelation,
)
from sensewire.model.patterns import problem_with
from sensewire.model.subscription import Atom, Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import FALSE, TRUE, Term, quantity, string

# Nothing that these take can be given back: (?>…).
_WORD = rf"(?>{BEGIN}(?:{INSIDE}*{END})?)"
_STRING = r'(?>"[^"\\\n\r]*"|' r"'[^'\\\n\r]*')"
_VALUE = rf"(?>{DATE}|-?(?>{NUMBER})(?:[ ]*{UNIT})?|{_STRING}|{_WORD})"
_ATOM = re.compile(
    rf"""
    \s*(?P<not>not\s+)?(?P<subject>{_STRING}|{_WORD})
    (?P<condition>
        \s*(?P<sign><=|>=|!=|[=<>≤≥≠])\s*(?P<value>{_VALUE})
      | \s+in\s*\((?P<items>[^()]*)\)
      | \s+between\s+(?P<low>{_VALUE})\s+and\s+(?P<high>{_VALUE})
      | \s+(?P<relation>prefix|suffix|contains|matches)\s+(?P<text>{_STRING})
      | \s+is\s+a\s+(?P<kind>{_STRING}|{_WORD})
      | \s+exists
    )?
    (?:\s+and(?=\s)|\s*(?P<end>\Z))
    """,
    re.VERBOSE,
)
_ITEM = re.compile(rf"\s*({_VALUE})\s*(?:(,)|\Z)")
_DATE = re.compile(DATE)
_NUMBER = re.compile(f"-?{NUMBER}")
_RELATIONS = {relation.value: relation for relation in Relation}
_BOOLEANS = {"true": TRUE, "false": FALSE}


def read(text: str, reading: Reading) -> Subscription | None:
    """The subscription that a common text says; None where the grammar must be asked.

    >>> read("price <= 5 and sports", Reading.MEANING) is None, read("a or b", Reading.MEANING)
    (False, None)
    """
    if len(text) > LONGEST or surrogate_in(text) is not None:
        return None
    atoms: list[Atom] = []
    found = _ATOM.match(text)
    while found is not None:
        refused, written, condition, *_, end = found.groups()
        named = _named(written, reading)
        if named is None:
            return None
        subject = Constant(named, reading, found.start(2))
        if condition is None:
            predicate = _tag(subject, reading)
        else:
            asked = _condition(found, reading)
            if asked is None:
                return None
            predicate = Predicate(subject, asked)
        atoms.append(predicate if refused is None else Not(Conjunction((predicate,))))
        if end is not None:
            return Subscription((Conjunction(tuple(atoms)),))
        found = _ATOM.match(text, found.end())
    return None


def _tag(constant: Constant, reading: Reading) -> Predicate:
    tags = string(TAGS) if reading is Reading.MEANING else Name(TAGS)
    return Predicate(Constant(tags, reading, constant.position), Equal(constant))


def _condition(found: re.Match[str], reading: Reading) -> Condition | None:
    sign, value, items, low, high, relation, text, kind = found.groups()[3:-1]
    if sign is not None:
        return _compared(SPELLINGS.get(sign, sign), value, found.start("value"), reading)
    if items is not None:
        return _one_of(found.string, *found.span("items"), reading)
    if low is not None:
        bounds = _bound(low), _bound(high)
        return None if bounds[0] is None or bounds[1] is None else Between(bounds[0], bounds[1])
    if text is not None:
        return _text(relation, text[1:-1])
    if kind is not None:
        constant = _constant(kind, found.start("kind"), reading)
        return None if constant is None else IsA(constant)
    return Exists()


def _compared(sign: str, written: str, place: int, reading: Reading) -> Condition | None:
    if sign == "=":
        constant = _constant(written, place, reading)
        return None if constant is None else Equal(constant)
    if sign == "!=":
        constant = _constant(written, place, reading)
        return None if constant is None else Different(constant)
    bound = _bound(written)
    return None if bound is None else Order(_RELATIONS[sign], bound)


def _one_of(text: str, start: int, end: int, reading: Reading) -> OneOf | None:
    constants = []
    while True:
        found = _ITEM.match(text, start, end)
        if found is None:
            return None
        constant = _constant(found[1], found.start(1), reading)
        if constant is None:
            return None
        constants.append(constant)
        if found[2] is None:
            return OneOf(tuple(constants))
        start = found.end()


def _text(relation: str, text: str) -> Text | None:
    if relation == "matches" and problem_with(text) is not None:
        return None
    return Text(TextRelation(relation), text)


def _bound(written: str) -> Term | None:
    return None if written in _BOOLEANS else _term(written)


def _constant(written: str, place: int, reading: Reading) -> Constant | None:
    value = _value(written, reading)
    return None if value is None else Constant(value, reading, place)


@lru_cache(maxsize=4_096)
def _named(written: str, reading: Reading) -> Term | Name | None:
    """What an attribute or a tag stands for: kept, since attributes are few."""
    return None if written in _BOOLEANS else _value(written, reading)


def _value(written: str, reading: Reading) -> Term | Name | None:
    term = _term(written)
    if reading is Reading.EXACT and term == string(written):
        return Name(written)
    return term


def _term(written: str) -> Term | None:
    """The term of a value; None where it is not certain."""
    first = written[0]
    if first in "\"'":
        return string(written[1:-1])
    if first in "-.0123456789":
        if _DATE.fullmatch(written):
            return date_term(written)
        return number_term(written) if _NUMBER.fullmatch(written) else quantity(written)
    if written in RESERVED:
        return _BOOLEANS.get(written)
    prefix, colon, _ = written.partition(":")
    return None if colon and (prefix in PREDECLARED or prefix == "_") else string(written)
