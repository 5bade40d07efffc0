"""Values at the edges of their axes, each against every bound there: as the oracle judges them.

Proved by breaking: see `test_asking.py`, whose spans these values fall into.
"""

import math
from collections.abc import Sequence

import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.asking import Axis
from sensewire.match.compiled.concepts import Concepts
from sensewire.match.compiled.values import NOWHERE, Seen, Values, Word, is_plain_number
from sensewire.model import datatypes
from sensewire.model.conditions import (
    Between,
    Condition,
    Different,
    Equal,
    Exists,
    IsA,
    Name,
    OneOf,
    Order,
    Relation,
    Text,
    TextRelation,
    exact,
    meaning,
)
from sensewire.model.event import Event, Fact, moment
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import (
    HOME,
    RDF_TYPE,
    Term,
    iri,
    language_string,
    literal,
    quantity,
    string,
    term_of,
    untyped,
)
from sensewire.testing.agreement import agree

DECIMAL, INTEGER = datatypes.DECIMAL, datatypes.INTEGER
NUMBERS = [
    *map(term_of, (0, 5, 0.1, -0.0, 0.0, 5.0, 5e-324, 1e308, 2.0**53, 2.0**53 + 2, 1e400)),
    *map(term_of, (math.nan, math.inf, -math.inf, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1)),
    term_of(10**400),
    *(literal(text, DECIMAL) for text in ("0.1", "5", "5.0000000000000000001", "-0.0")),
    literal("0.1000000000000000055511151231257827", DECIMAL),
    literal("9007199254740993.0", DECIMAL),
    literal("+5", INTEGER),
    literal("005", INTEGER),
    *(untyped(text) for text in ("5", "0.1", "1e1", "NaN", "INF", " 5", "9007199254740993")),
    string("5"),
    literal("1.5", datatypes.FLOAT),
    term_of(True),
]
DATES = [
    *(
        literal(f"2024-03-01T00:00:00{fraction}Z", datatypes.DATE_TIME)
        for fraction in ("", ".1", ".3", ".30", ".000000001", ".0000000000000000001")
    ),
    literal("2024-03-01", datatypes.DATE),
    literal("2024-03-01T01:00:00+01:00", datatypes.DATE_TIME),
    literal("0001-01-01", datatypes.DATE),
    literal("9999-12-31T23:59:59.999999999Z", datatypes.DATE_TIME),
    literal("2024-02-30", datatypes.DATE),
    *map(untyped, ("2024-03-01", "2024-03-01T00:00:00.1Z", "2024-03-01T00:00")),
    *map(string, ("2024-03-01", "2024-03-01T00:00:00.3Z", "2024-03-01T00:00:00.3", "2024")),
]
TENTH = "0.1000000000000000055511151231257827021181583404541015625"
"""What the double 0.1 is, to the last digit."""
QUANTITIES = [
    term
    for text in (
        "5 ft",
        "0.1 m",
        f"{TENTH} m",
        "1.524 m",
        "60 in",
        "1524 mm",
        "5 km",
        "1 s",
        "20 °C",
        "68 °F",
        "1e400 m",
    )
    if (term := quantity(text)) is not None
] + [string("5 ft"), untyped("1.524 m"), string("1.524m"), term_of(5), string("5 parrots")]
TEXTS = [
    *map(string, ("", "a", "a\x00", "ab", "b", "\x7f", "\x80", "ÿ", "\uffff", "\U0010ffff")),
    string("a\U0010ffff"),
    string("a\U0010ffff\U0010ffff"),
    *map(untyped, ("", "a", "ab")),
    language_string("a", "en"),
    iri("http://x.org/a"),
    literal("a", "http://x.org/datatype"),
    term_of(True),
]


def event_of(*values: Term) -> Event:
    return Event("e", moment("2024-03-01"), tuple(Fact(HOME, string("a"), v) for v in values), HOME)


def conditions_on(bounds: Sequence[Term]) -> list[Condition]:
    """All that compares with a bound."""
    ordered = [each for each in bounds if each.kind.value not in ("boolean", "language", "iri")]
    return [
        *(Order(relation, bound) for relation in Relation for bound in ordered),
        *(Between(low, high) for low in ordered for high in ordered[::7]),
        *(
            made(read(b))
            for made in (Equal, Different, IsA)
            for read in (meaning, exact)
            for b in bounds
        ),
        *(OneOf((read(b), read(bounds[0]))) for read in (meaning, exact) for b in bounds),
        *(OneOf((meaning(bound), exact(bounds[1]))) for bound in bounds),
        Exists(),
    ]


@pytest.mark.parametrize("values", [NUMBERS, DATES, QUANTITIES, TEXTS], ids=len)
@pytest.mark.parametrize("form", ["plain", "not", "within"])
def test_every_bound_against_every_value(values: list[Term], form: str) -> None:
    asked = []
    for condition in conditions_on(values):
        predicate = Predicate(meaning("a"), condition)
        atom = Not(Conjunction((predicate,))) if form == "not" else predicate
        tolerance = 0.5 if form == "within" else None
        asked.append(Subscription((Conjunction((atom,)),), tolerance=tolerance))
    if form == "within":
        asked = asked[::3]
    sent = [event_of(value) for value in values] + [event_of(*values[:2]), event_of()]
    agreed = agree("compiled", asked, sent)
    assert agreed.taken == len(asked)
    assert agreed.matches > 0


def test_prefixes_end_where_their_texts_end() -> None:
    starts = ["", "a", "ÿ", "\x7f", "\uffff", "\U0010ffff", "a\U0010ffff", "ab"]
    asked = [
        Subscription((Conjunction((Predicate(meaning("a"), Text(relation, text)),)),))
        for relation in (TextRelation.PREFIX, TextRelation.SUFFIX, TextRelation.CONTAINS)
        for text in starts
    ]
    assert agree("compiled", asked, [event_of(value) for value in TEXTS]).taken == len(asked)


def test_exact_names_that_look_like_numbers() -> None:
    names = ("5", "0.1", "a", "2024-03-01", "true", "http://x.org/a", "")
    asked = [
        Subscription((Conjunction((Predicate(meaning("a"), made(exact(Name(name)))),)),))
        for made in (Equal, Different)
        for name in names
    ]
    sent = [event_of(value) for value in (*NUMBERS, *DATES, *TEXTS)]
    assert agree("compiled", asked, sent).taken == len(asked)


@pytest.mark.parametrize("value", [*NUMBERS[:8], *DATES[:2], *QUANTITIES[:2], *TEXTS[:4]], ids=str)
def test_values_that_are_classes(value: Term) -> None:
    """Whatever a class is equal to, its instances are too."""
    vertex = iri("http://x.org/vertex")
    facts = (
        Fact(HOME, string("a"), vertex),
        Fact(vertex, RDF_TYPE, value),
        Fact(vertex, RDF_TYPE, string("b")),
    )
    asked = [
        Subscription((Conjunction((Predicate(meaning("a"), condition),)),))
        for condition in conditions_on([value, string("b")])
    ]
    agree("compiled", asked, [Event("e", moment("2024-03-01"), facts, HOME)])


def test_properties_of_one_text_are_told_apart() -> None:
    kinds = [made("http://x.org/a") for made in (string, untyped, iri)]
    asked = [
        Subscription((Conjunction((Predicate(attribute, condition),)),))
        for attribute in (*map(meaning, kinds), *map(exact, kinds), exact(Name("a")))
        for condition in (Equal(meaning(term_of(5))), Equal(meaning(string("x"))))
    ]
    for order in (kinds, kinds[::-1]):
        sent = [
            Event("e", moment("2024-03-01"), (Fact(HOME, property, value),), HOME)
            for property in order
            for value in (term_of(5), string("x"))
        ]
        agreed = agree("compiled", asked, sent)
        assert agreed.taken == len(asked)
        assert agreed.matches > 0


def seen_on(term: Term, axis: Axis, detail: str | None = None) -> tuple[Seen, ...]:
    known = Knowledge()
    values = Values(known, Concepts(known))
    return values.seen(Word(values.property(string("a")), term), axis, detail, None)


@pytest.mark.parametrize(
    ("term", "axis", "expected"),
    [
        (term_of(5), Axis.NUMBERS, Seen(5.0)),
        (term_of(math.nan), Axis.NUMBERS, NOWHERE),
        (term_of(math.inf), Axis.NUMBERS, Seen(math.inf)),
        (term_of(2**53), Axis.NUMBERS, Seen(2.0**53)),
        (term_of(2**53 + 1), Axis.NUMBERS, Seen(2.0**53, exact=False)),
        (literal("0.1", DECIMAL), Axis.NUMBERS, Seen(0.1, exact=False)),
        (literal("0.5", DECIMAL), Axis.NUMBERS, Seen(0.5, exact=False)),
        (untyped("5"), Axis.NUMBERS, Seen(5.0)),
        (string("5"), Axis.NUMBERS, NOWHERE),
        (DATES[1], Axis.INSTANTS, Seen(63844934400.1, exact=False)),
        (DATES[0], Axis.INSTANTS, Seen(63844934400.0)),
        (string("a"), Axis.STRINGS, Seen(b"a")),
        (untyped("a"), Axis.STRINGS, Seen(b"a")),
        (iri("http://x.org/a"), Axis.STRINGS, NOWHERE),
        (iri("http://x.org/a"), Axis.TEXTS, Seen(b"http://x.org/a")),
        (term_of(5), Axis.TEXTS, NOWHERE),
        (term_of(5), Axis.PRESENT, NOWHERE),
    ],
)
def test_where_a_value_stands(term: Term, axis: Axis, expected: Seen) -> None:
    assert seen_on(term, axis) == (expected,)


def test_quantities_stand_on_the_axis_of_their_dimension() -> None:
    (length,) = seen_on(QUANTITIES[0], Axis.QUANTITIES, "[length]")
    (other,) = seen_on(QUANTITIES[0], Axis.QUANTITIES, "[time]")
    assert length.key == pytest.approx(1.524)
    assert other == NOWHERE


@pytest.mark.parametrize(
    ("term", "plain"),
    [
        (term_of(5), True),
        (term_of(-5), True),
        (term_of(5.5), True),
        (term_of(math.nan), True),
        (term_of(10**14), True),
        (term_of(10**15), False),
        (literal("+5", INTEGER), False),
        (literal("5", DECIMAL), False),
        (literal("5", datatypes.XSD + "byte"), False),
        (untyped("5"), False),
        (string("5"), False),
    ],
)
def test_plain_numbers_are_those_of_json(term: Term, plain: bool) -> None:
    assert is_plain_number(term) == plain


def test_words_and_properties_are_numbered_once() -> None:
    known = Knowledge()
    values = Values(known, Concepts(known))
    a, b = values.property(string("a")), values.property(string("b"))
    words = [Word(a, string("x")), Word(b, string("x")), Word(a, string("x"), (string("c"),))]
    numbers = [values.word(word) for word in words]
    assert (a, b, numbers) == (0, 1, [0, 1, 2])
    assert [values.word(word) for word in words] == numbers
    assert values.property(string("a")) == a
    assert not values.is_full
