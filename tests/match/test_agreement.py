"""Every matcher equals the oracle on every generated case, and refuses what it does not accept.

Proved by breaking: a predicate counted twice for two values, a `not` that blocks nothing, a removal
that drops a shared predicate, a hash key that misses a name, a date or a quantity, classes that `is
above` forgets, a between that leaves out its end: all caught, the last four by the exhaustive test.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.dispatch import MATCHERS
from sensewire.match.matcher import Operator
from sensewire.model import datatypes
from sensewire.model.conditions import (
    Between,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    OneOf,
    Order,
    Relation,
    Text,
    TextRelation,
    Variable,
    exact,
    meaning,
)
from sensewire.model.event import Event, Fact, moment
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import (
    HOME,
    RDF_TYPE,
    Kind,
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
from sensewire.testing.events import events
from sensewire.testing.knowledge import function_of_one, knowledge, sample_functions
from sensewire.testing.subscriptions import conditions, subscriptions, vocabulary

ATTRIBUTES = ["price", "colour"]
KILOMETRE = quantity("1 km")
assert KILOMETRE is not None
TERMS = [
    *map(term_of, ("red", "green", "1", 1, 2, 1.0, 1.5, True, float("nan"), 2**53 + 1)),
    *(untyped(text) for text in ("red", "1", "1.0", "2024-03-01", "1000 m")),
    string("2024-03-01"),
    string("1000m"),
    literal("2024-03-01", datatypes.DATE),
    literal("2024-03-01T00:00:00Z", datatypes.DATE_TIME),
    literal("1", datatypes.DECIMAL),
    literal("1", datatypes.XSD + "boolean"),
    literal("red", "http://x.org/datatype"),
    literal(str(2**53), datatypes.INTEGER),
    term_of(float(2**53)),
    KILOMETRE,
    language_string("red", "en"),
    iri("http://x.org/red"),
    iri("http://other.org/red"),
    iri(datatypes.DECIMAL),
    string("Thing"),
]
WORDS = vocabulary(attributes=[*ATTRIBUTES, "tags", "type"], terms=TERMS)


def near(event: Event, *arguments: Term | Variable) -> list[dict[str, Term]]:
    """Two rows that bind every variable, and none for a constant that is green."""
    if string("green") in arguments:
        return []
    names = [part.name for part in arguments if isinstance(part, Variable)]
    return [dict.fromkeys(names, term) for term in (TERMS[0], TERMS[3])]


def seen(event: Event, *arguments: Term | Variable) -> bool:
    """Yes for events of more than two facts; fails for others, and wherever it should bind."""
    if len(event.facts) <= 2:
        raise RuntimeError("too little to see")
    return True


OF_CONSTANTS: tuple[Callable[[Constant], Condition], ...] = (
    Equal,
    Different,
    IsA,
    IsDirectlyA,
    IsAbove,
)
UNORDERED = (Kind.IRI, Kind.BLANK, Kind.BOOLEAN, Kind.LANGUAGE)
OPERATORS: dict[str, Operator] = {"near": near, "seen": seen}


def every_condition() -> list[Condition]:
    """Every condition with every constant in every reading, and bounds of every kind."""
    constants = [read(term) for term in TERMS for read in (meaning, exact)]
    constants += [exact(Name(word)) for word in ("red", "1", "Thing", "decimal", "2024-03-01")]
    bounds = [term for term in TERMS if term.kind not in UNORDERED]
    return [
        *(made(constant) for made in OF_CONSTANTS for constant in constants),
        *(OneOf((constant, exact(Name("green")))) for constant in constants),
        *(Order(relation, bound) for relation in Relation for bound in bounds),
        *(Between(low, high) for low in bounds for high in bounds[::3]),
        *(Text(relation, text) for relation in TextRelation for text in ("re", "1", "^http")),
        Exists(),
    ]


@pytest.mark.parametrize("matcher", ["compiled", "compiled_counting", "counting"])
@pytest.mark.parametrize("value", TERMS, ids=str)
def test_every_condition_on_every_value(matcher: str, value: Term) -> None:
    """Exhaustive where generation is sparse: each value, alone and as a class, in each reading."""
    asked = [
        Subscription((Conjunction((Predicate(meaning("colour"), condition),)),))
        for condition in every_condition()
    ]
    home, colour, vertex = HOME, string("colour"), iri("http://x.org/vertex")
    classes = [Fact(vertex, RDF_TYPE, value), Fact(vertex, RDF_TYPE, string("green"))]
    sent = [
        Event("alone", moment("2024-03-01"), (Fact(home, colour, value),), home),
        Event("typed", moment("2024-03-01"), (Fact(home, colour, vertex), *classes), home),
    ]
    agreed = agree(matcher, asked, sent)
    assert agreed.taken == len(asked)
    assert agreed.matches > 0


predicates = st.builds(Predicate, WORDS.attributes, conditions(WORDS))
# Subscriptions that the matchers of records take; `subscriptions` makes few of these.
of_predicates = st.lists(
    st.lists(
        st.one_of(predicates, predicates, predicates.map(lambda p: Not(Conjunction((p,))))),
        max_size=3,
    ).map(lambda atoms: Conjunction(tuple(atoms))),
    min_size=1,
    max_size=2,
).map(lambda conjunctions: Subscription(tuple(conjunctions)))


cases = given(
    asked=st.lists(subscriptions(WORDS) | of_predicates, min_size=1, max_size=4),
    sent=st.lists(events(ATTRIBUTES, TERMS), min_size=1, max_size=3),
)


@pytest.mark.long
@pytest.mark.parametrize("matcher", ["auto", *MATCHERS])
@settings(max_examples=5_000, deadline=None)
@cases
def test_many_more_cases(matcher: str, asked: list[Subscription], sent: list[Event]) -> None:
    agree(matcher, asked, sent, operators=OPERATORS)


@pytest.mark.parametrize("matcher", ["auto", *MATCHERS])
@cases
def test_every_matcher_equals_the_oracle(
    matcher: str, asked: list[Subscription], sent: list[Event]
) -> None:
    agree(matcher, asked, sent, operators=OPERATORS)


@pytest.mark.parametrize("matcher", ["compiled", "compiled_counting", "counting"])
@given(
    asked=st.lists(of_predicates, min_size=1, max_size=6),
    sent=st.lists(events(ATTRIBUTES, TERMS), min_size=1, max_size=3),
)
def test_matchers_of_records_equal_the_oracle(
    matcher: str, asked: list[Subscription], sent: list[Event]
) -> None:
    assert agree(matcher, asked, sent).taken == len(asked)


NAMES = ["red", "green", "Thing", "one word", "other", "crimson"]
KNOWN_TERMS = [
    *(string(name) for name in NAMES),
    *map(term_of, (1, 2, 1.5)),
    untyped("red"),
    iri("http://one.org/red"),
    iri("http://x.org/green"),
    string("one:red"),
    string("RED"),
]
KNOWN_WORDS = vocabulary(attributes=[*ATTRIBUTES, "tags"], terms=KNOWN_TERMS)


FUNCTIONS = [
    *sample_functions(),
    function_of_one("broken", "colour", "tags", "string(1 / 0) + colour"),
]
known_predicates = st.builds(Predicate, KNOWN_WORDS.attributes, conditions(KNOWN_WORDS))
known_atoms = st.one_of(
    known_predicates, known_predicates, known_predicates.map(lambda p: Not(Conjunction((p,))))
)
of_known_predicates = st.lists(
    st.lists(known_atoms, max_size=3).map(lambda atoms: Conjunction(tuple(atoms))),
    min_size=1,
    max_size=2,
).map(lambda conjunctions: Subscription(tuple(conjunctions)))
cases_with_knowledge = given(
    known=knowledge(NAMES, ATTRIBUTES, FUNCTIONS),
    asked=st.lists(of_known_predicates, min_size=1, max_size=6),
    sent=st.lists(events(ATTRIBUTES, KNOWN_TERMS), min_size=1, max_size=3),
)


@pytest.mark.parametrize("matcher", ["compiled", "compiled_counting", "counting"])
@cases_with_knowledge
def test_matchers_of_records_equal_the_oracle_with_knowledge(
    matcher: str, known: Knowledge, asked: list[Subscription], sent: list[Event]
) -> None:
    agree(matcher, asked, sent, knowledge=known)


@given(
    known=knowledge(NAMES, ATTRIBUTES, FUNCTIONS),
    asked=st.lists(subscriptions(KNOWN_WORDS), min_size=1, max_size=4),
    sent=st.lists(events(ATTRIBUTES, KNOWN_TERMS), min_size=1, max_size=3),
)
def test_dispatch_equals_the_oracle_with_knowledge(
    known: Knowledge, asked: list[Subscription], sent: list[Event]
) -> None:
    agree("auto", asked, sent, knowledge=known, operators=OPERATORS)
