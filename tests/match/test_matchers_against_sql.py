"""SQLite judges attribute predicates: records as rows, each predicate as an EXISTS.

Proved by breaking: an order that includes its bound, a between that leaves one out, and a `not`
that blocks nothing, or the wrong events, are caught, the first two by the exhaustive test.
"""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.model.conditions import (
    Between,
    Condition,
    Different,
    Equal,
    Exists,
    OneOf,
    Order,
    Relation,
    Text,
    TextRelation,
    meaning,
)
from sensewire.model.event import Event
from sensewire.model.features import PREDICATES, Feature
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import Term, term_of
from sensewire.testing.agreement import takers

OF_RECORDS = takers({*PREDICATES, Feature.NEGATED_PREDICATE, Feature.EVERYTHING})
ATTRIBUTES = ["a", "b", "c"]
NUMBERS = [-1, 0, 1, 2, 1.5, 2.0]
WORDS = ["x", "y", "xy", "Zürich"]
values = st.sampled_from([*NUMBERS, *WORDS])
records = st.dictionaries(st.sampled_from(ATTRIBUTES), st.lists(values, max_size=3), max_size=3)
numbers = st.sampled_from(NUMBERS).map(term_of)
words = st.sampled_from(WORDS).map(term_of)
constants = st.one_of(numbers, words)
# A bound and its own kind: SQL would order numbers before texts, which we do not compare.
bounds = st.one_of(st.tuples(numbers, numbers), st.tuples(words, words))
conditions: st.SearchStrategy[Condition] = st.one_of(
    constants.map(meaning).map(Equal),
    constants.map(meaning).map(Different),
    st.lists(constants.map(meaning), min_size=1, max_size=3).map(lambda c: OneOf(tuple(c))),
    st.builds(lambda r, pair: Order(r, pair[0]), st.sampled_from(list(Relation)), bounds),
    bounds.map(lambda pair: Between(*pair)),
    st.just(Exists()),
    st.builds(
        Text,
        st.sampled_from([TextRelation.PREFIX, TextRelation.SUFFIX, TextRelation.CONTAINS]),
        st.sampled_from(["x", "y", "Z"]),
    ),
)
predicates = st.builds(Predicate, st.sampled_from(ATTRIBUTES).map(meaning), conditions)
atoms = st.one_of(predicates, predicates.map(lambda p: Not(Conjunction((p,)))))
subscriptions = st.lists(
    st.lists(atoms, max_size=4).map(lambda found: Conjunction(tuple(found))), min_size=1, max_size=2
).map(lambda found: Subscription(tuple(found)))


def sql_value(term: Term) -> str:
    return f"'{term.text}'" if term.kind == "string" else term.text


def same_kind(term: Term) -> str:
    return "typeof(value) = 'text'" if term.kind == "string" else "typeof(value) <> 'text'"


def sql_condition(condition: Condition) -> str:
    match condition:
        case Equal(constant):
            assert isinstance(constant.value, Term)
            return f"({same_kind(constant.value)} AND value = {sql_value(constant.value)})"
        case Different(constant):
            return f"NOT {sql_condition(Equal(constant))}"
        case OneOf(found):
            return "(" + " OR ".join(sql_condition(Equal(constant)) for constant in found) + ")"
        case Order(relation, bound):
            return f"({same_kind(bound)} AND value {relation} {sql_value(bound)})"
        case Between(low, high):
            ends = f"value >= {sql_value(low)} AND value <= {sql_value(high)}"
            return f"({same_kind(low)} AND {ends})"
        case Text(relation, text):
            pattern = {"prefix": f"{text}*", "suffix": f"*{text}", "contains": f"*{text}*"}
            return f"(typeof(value) = 'text' AND value GLOB '{pattern[relation]}')"
        case _:
            return "1"


def sql_of(subscription: Subscription) -> str:
    return " OR ".join(
        "(" + " AND ".join(["1", *(sql_atom(atom) for atom in conjunction.atoms)]) + ")"
        for conjunction in subscription.conjunctions
    )


def sql_atom(atom: object) -> str:
    if isinstance(atom, Not):
        return f"NOT {sql_atom(atom.body.atoms[0])}"
    assert isinstance(atom, Predicate)
    assert isinstance(atom.attribute.value, Term)
    name, test = atom.attribute.value.text, sql_condition(atom.condition)
    return f"EXISTS (SELECT 1 FROM fact WHERE attribute = '{name}' AND {test})"


def sql_says(subscription: Subscription, record: dict[str, list[float | str]]) -> bool:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE TABLE fact (attribute TEXT, value)")
        rows = [(name, value) for name, found in record.items() for value in found]
        database.executemany("INSERT INTO fact VALUES (?, ?)", rows)
        ((held,),) = database.execute(f"SELECT {sql_of(subscription)}")
    finally:
        database.close()
    return bool(held)


def holds(matcher: str, subscription: Subscription, record: dict[str, list[float | str]]) -> bool:
    engine = Engine(matcher=matcher)
    engine.add(subscription, id="s")
    return bool(engine.match(Event.record(record)))


@pytest.mark.parametrize("matcher", OF_RECORDS)
@settings(max_examples=200, deadline=None)
@given(subscription=subscriptions, record=records)
def test_predicates_mean_what_sql_says(
    matcher: str, subscription: Subscription, record: dict[str, list[float | str]]
) -> None:
    assert holds(matcher, subscription, record) == sql_says(subscription, record)


@pytest.mark.parametrize("matcher", OF_RECORDS)
@pytest.mark.parametrize("value", [*NUMBERS, *WORDS])
def test_every_condition_on_every_value(matcher: str, value: float | str) -> None:
    terms = [term_of(each) for each in (*NUMBERS, *WORDS)]
    same = [(low, high) for low in terms for high in terms if low.kind is high.kind]
    conditions: list[Condition] = [
        *(made(meaning(term)) for term in terms for made in (Equal, Different)),
        *(OneOf((meaning(low), meaning(high))) for low, high in same),
        *(Order(relation, term) for relation in Relation for term in terms),
        *(Between(low, high) for low, high in same),
    ]
    for condition in conditions:
        asked = Subscription((Conjunction((Predicate(meaning("a"), condition),)),))
        assert holds(matcher, asked, {"a": [value]}) == sql_says(asked, {"a": [value]}), condition
