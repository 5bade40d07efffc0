"""Which properties anybody asks for: without all others, every answer is the same.

Proved by breaking, each caught: variables on properties, predicates beside patterns, strict
clauses, mapping functions, memberships or the bodies of `not` left out of what is asked for;
classes not wanted; a clause that went still counted.
"""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.content import Content
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import mapping_function
from sensewire.model.datatypes import RDF, RDFS
from sensewire.model.errors import EventError, SubscriptionError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.subscription import Subscription
from sensewire.model.terms import HOME, RDF_TYPE, iri, string, term_of
from sensewire.testing.knowledge import knowledge
from sensewire.testing.subscriptions import subscriptions, vocabulary

NAMES = ["red", "leaf", "price", "colour"]
NODES = [HOME, iri("http://x.org/a"), iri("http://x.org/red")]
MEMBER = RDFS + "member"
PROPERTIES = [
    RDF_TYPE,
    *(iri(f"http://x.org/{name}") for name in NAMES),
    *(iri(RDF + name) for name in ("first", "rest", "_1")),
    iri("http://x.org/other"),
]
TERMS = [*map(string, NAMES), term_of(1), *NODES[1:], iri(MEMBER), iri("http://x.org/price")]
WORDS = vocabulary(attributes=["price", "colour", MEMBER], terms=TERMS, operators=["near"])
FUNCTIONS = [
    mapping_function("paint", [("price", string("price"))], [(string("colour"), "string(price)")])
]
facts = st.builds(
    Fact, st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from([*NODES, *TERMS])
)
sent = st.lists(facts, max_size=6).map(
    lambda found: replace(Event.record({}, id="e", time="2024-03-01"), facts=distinct(found))
)


def near(event: Event, *arguments: object) -> bool:
    return len(event.facts) % 2 == 0


def told(engine: Engine, event: Event) -> object:
    try:
        return engine.match(event)
    except EventError as error:
        return str(error)


@given(
    known=knowledge(NAMES, ["price", "colour"], FUNCTIONS),
    asked=st.lists(subscriptions(WORDS), min_size=1, max_size=2),
    event=sent,
)
def test_what_nobody_asks_for_makes_no_difference(
    known: Knowledge, asked: list[Subscription], event: Event
) -> None:
    engine = Engine(known, operators={"near": near})
    for number, each in enumerate(asked):
        try:
            engine.add(each, id=f"s{number}")
        except SubscriptionError:  # a word of two meanings
            continue
    kept = tuple(fact for fact in event.facts if engine.wants_property(fact.property.text))
    assert told(engine, replace(event, facts=kept)) == told(engine, event)


def wants(engine: Engine, name: str) -> bool:
    return engine.wants_property(name if ":" in name else f"http://x.org/{name}")


def test_only_what_is_asked_for_is_wanted() -> None:
    engine = Engine()
    assert not wants(engine, "price")
    engine.add(sw.parse("(?x, price, ?y) and not (?x, colour, red)"), id="s")
    engine.add(sw.parse("size > 3"), id="p")
    engine.add(sw.parse("ASK { ?x <http://x.org/kind> ?y }", "sparql"), id="q")
    assert [
        name for name in ("price", "colour", "size", "kind", "other") if wants(engine, name)
    ] == [
        "price",
        "colour",
        "size",
        "kind",
    ]
    assert wants(engine, RDF_TYPE.text)
    engine.remove("s")
    assert wants(engine, "kind")


def test_the_oracle_forgets_what_nobody_asks_for() -> None:
    engine = Engine(matcher="oracle")
    engine.add(sw.parse("(?x, price, ?y)"), id="s")
    assert wants(engine, "price")
    engine.remove("s")
    assert not wants(engine, "price")


def test_what_stands_beside_a_pattern_is_wanted() -> None:
    engine = Engine()
    engine.add(sw.parse("size > 3 and (?x, price, ?y)"), id="s")
    assert wants(engine, "size")


def test_what_a_function_reads_is_wanted() -> None:
    engine = Engine(Knowledge(replace(Content(), mappings=tuple(FUNCTIONS))))
    engine.add(sw.parse("colour = red"), id="s")
    assert wants(engine, "price")
    assert not wants(engine, "size")


def test_members_are_wanted_with_lists_and_containers() -> None:
    engine = Engine()
    engine.add(sw.parse("(?x, rdfs:member, ?y)"), id="s")
    names = ("first", "rest", "_1", "_12", "nil")
    assert [name for name in names if wants(engine, RDF + name)] == ["first", "rest", "_1", "_12"]


def test_a_variable_on_a_property_or_an_operator_wants_all() -> None:
    for text in ("(?x, ?p, ?y)", "near(1)", "not (?x, ?p, 5)"):
        engine = Engine(operators={"near": near})
        engine.add(sw.parse(text), id="s")
        assert wants(engine, "other")
