"""The laws of the definition that speak of knowledge, over generated cases.

(Every matcher equals the oracle: `match/test_agreement.py`; `parse(unparse(s)) = s`:
`language/test_unparse.py`; strict = pyoxigraph: `match/test_oracle_against_sparql.py`.)
"""

import json
from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.knowledge.content import Draft, EntityKind, Place, in_scheme
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import mapping_function
from sensewire.knowledge.stored import from_json, to_json
from sensewire.model.conditions import Constant, Equal, Exists, IsA, OneOf, meaning
from sensewire.model.errors import EventError, SubscriptionError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.subscription import Conjunction, Predicate, Subscription
from sensewire.model.terms import HOME, Term, iri, string, term_of
from sensewire.testing.events import events
from sensewire.testing.knowledge import knowledge
from sensewire.testing.subscriptions import subscriptions, vocabulary
from tests import answers

NAMES = ["red", "green", "crimson", "one word", "leaf"]
ATTRIBUTES = ["price", "colour"]
TERMS = [
    *map(string, NAMES),
    *map(term_of, (1, 2.5)),
    iri("http://one.org/red"),
    iri("http://x.org/green"),
]
WORDS = vocabulary(attributes=[*ATTRIBUTES, "tags"], terms=TERMS, operators=["near"])
FUNCTIONS = [
    mapping_function(
        "paint", [("price", string("price"))], [(string("colour"), "price > 1 ? 'red' : 'leaf'")]
    ),
    mapping_function(
        "ratio", [("price", string("price"))], [(string("colour"), "1 / (price - price)")]
    ),
    mapping_function(
        "when", [("colour", string("colour"))], [(string("tags"), "event.id + colour")]
    ),
]
any_knowledge = knowledge(NAMES, ATTRIBUTES, FUNCTIONS)
any_event = events(ATTRIBUTES, TERMS)


def engine_of(known: Knowledge, *asked: Subscription) -> Engine:
    """An engine with the subscriptions that can be added; those with ambiguous words are not."""
    engine = Engine(known, operators={"near": lambda event, *arguments: True})
    for number, each in enumerate(asked):
        try:
            engine.add(each, id=f"s{number}")
        except SubscriptionError:  # a word of two meanings
            continue
    return engine


def told(engine: Engine, sent: Event) -> object:
    """What an engine says of an event, also where it rejects it."""
    try:
        return engine.match(sent)
    except EventError as error:  # functions that feed each other without end
        return str(error)


def with_more_synonyms(known: Knowledge) -> Knowledge:
    """The same knowledge, and a synonym of a word that nobody uses."""
    draft = Draft()
    unused, other = in_scheme("unused", "one"), in_scheme("never said", "one")
    for term in (unused, other):
        draft.entity(term, "one", EntityKind.CONCEPT)
    draft.same[unused, other] = Place("here")
    more = draft.content()
    content = known.content
    return Knowledge(
        replace(
            content,
            entities=content.entities + more.entities,
            same=content.same + more.same,
        )
    )


@given(known=any_knowledge, asked=st.lists(subscriptions(WORDS), max_size=3), sent=any_event)
def test_synonyms_of_unused_words_change_nothing(
    known: Knowledge, asked: list[Subscription], sent: Event
) -> None:
    before = told(engine_of(known, *asked), sent)
    assert told(engine_of(with_more_synonyms(known), *asked), sent) == before


monotone = st.one_of(
    WORDS.constants.map(lambda constant: Equal(_meant(constant))),
    st.lists(WORDS.constants, min_size=1, max_size=2).map(
        lambda constants: OneOf(tuple(_meant(each) for each in constants))
    ),
    WORDS.constants.map(lambda constant: IsA(_meant(constant))),
    st.just(Exists()),
)


def _meant(constant: Constant) -> Constant:
    value = constant.value
    return meaning(value if isinstance(value, Term) else value.text)


only_growing = st.lists(
    st.builds(Predicate, st.sampled_from([*ATTRIBUTES, "tags"]).map(meaning), monotone),
    min_size=1,
    max_size=3,
).map(lambda atoms: Subscription((Conjunction(tuple(atoms)),)))


@given(
    known=knowledge(NAMES, ATTRIBUTES),
    asked=st.lists(only_growing, min_size=1, max_size=4),
    sent=any_event,
    data=st.data(),
)
def test_a_narrower_value_loses_no_match(
    known: Knowledge, asked: list[Subscription], sent: Event, data: st.DataObject
) -> None:
    """Without scopes: where two attributes read one word differently, equal texts meet by value."""
    known = Knowledge(replace(known.content, scopes=()))
    root = known.value_root
    pairs = [
        (word, narrower)
        for word in map(string, NAMES)
        for narrower in map(string, NAMES)
        if root(narrower) != root(word) and root(narrower) in known.below(root(word))
    ]
    word, narrower = data.draw(st.sampled_from(pairs or [(string("red"), string("red"))]))
    attribute = string(data.draw(st.sampled_from(ATTRIBUTES)))
    home = sent.home or HOME
    general, special = (
        Event("e", sent.time, distinct((*sent.facts, Fact(home, attribute, value))), home)
        for value in (word, narrower)
    )
    engine = engine_of(known, *asked)
    kept = {match.subscription for match in engine.match(special)}
    assert {match.subscription for match in engine.match(general)} <= kept


values = st.sampled_from([*NAMES, 1, 2.5, "http://one.org/red", None, ["red", 1]])
rows_of_one_type = st.lists(
    st.fixed_dictionaries(
        {
            "price": st.sampled_from([None, 1.0, 2.5]),
            "colour": st.sampled_from([None, *NAMES]),
            "tags": st.none() | st.lists(st.sampled_from(NAMES), max_size=2),
        }
    ),
    max_size=4,
)


@given(
    known=any_knowledge,
    asked=st.lists(subscriptions(WORDS), max_size=4),
    sent=st.lists(st.dictionaries(st.sampled_from([*ATTRIBUTES, "tags"]), values), max_size=4),
    alike=rows_of_one_type,
)
def test_a_batch_is_its_events_one_by_one(
    known: Knowledge,
    asked: list[Subscription],
    sent: list[dict[str, object]],
    alike: list[dict[str, object]],
) -> None:
    """By JSON and by columns; with hostile rows: `test_batches.py`."""
    engine = engine_of(known, *asked)
    texts = pa.array([json.dumps(record) for record in sent], pa.string())
    kinds = {"price": pa.float64(), "colour": pa.string(), "tags": pa.list_(pa.string())}
    columns = [pa.array([row[name] for row in alike], kind) for name, kind in kinds.items()]
    for records, batch in (
        (sent, pa.RecordBatch.from_arrays([texts], ["json"])),
        (alike, pa.RecordBatch.from_arrays(columns, list(kinds))),
    ):
        alone = [
            answers.told(engine, Event.record(record, id=f"row {row}"))
            for row, record in enumerate(records)
        ]
        assert answers.told_in_batch(engine, batch) == alone


@given(
    known=any_knowledge,
    asked=st.lists(subscriptions(WORDS), min_size=2, max_size=2),
    sent=any_event,
)
def test_strict_subscriptions_know_nothing(
    known: Knowledge, asked: list[Subscription], sent: Event
) -> None:
    strict = [each for each in asked if each.strict]
    found = told(engine_of(known, *strict), sent)
    assert isinstance(found, str) or found == engine_of(Knowledge(), *strict).match(sent)


@given(known=any_knowledge, asked=st.lists(subscriptions(WORDS), max_size=3), sent=any_event)
def test_knowledge_that_travelled_gives_the_same_matches(
    known: Knowledge, asked: list[Subscription], sent: Event
) -> None:
    travelled = Knowledge(from_json(to_json(known.content)))
    assert travelled == known
    assert travelled.version == known.version
    assert told(engine_of(travelled, *asked), sent) == told(engine_of(known, *asked), sent)
