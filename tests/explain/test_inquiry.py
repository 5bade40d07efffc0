"""Explanations against the oracle: the verdict is the oracle's, and what is named is true.

The laws run over generated knowledge, subscriptions and events; the examples show what is said.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.explain.explanation import (
    Explanation,
    Link,
    Outcome,
    Part,
    Source,
    Step,
    facts_in,
)
from sensewire.explain.inquiry import explained
from sensewire.knowledge.content import Draft, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import mapping_function
from sensewire.knowledge.vocabulary import THING
from sensewire.language.parse import parse
from sensewire.match.matcher import Operator
from sensewire.match.oracle_facts import star_of
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import HOME, RDF_TYPE, Term, iri, string, term_of, untyped
from sensewire.testing.events import events
from sensewire.testing.knowledge import knowledge, sample_functions
from sensewire.testing.subscriptions import conditions, subscriptions, vocabulary

NAMES = ["red", "green", "crimson", "one word"]
ATTRIBUTES = ["price", "colour"]
TERMS = [
    *map(string, NAMES),
    *map(term_of, (1, 2, 1.5, True)),
    untyped("red"),
    iri("http://one.org/red"),
    iri("http://x.org/green"),
    string("2024-03-01"),
]
WORDS = vocabulary(attributes=[*ATTRIBUTES, "tags"], terms=TERMS)


FUNCTIONS = sample_functions()


def broken(event: Event, *arguments: object) -> bool:
    raise RuntimeError("too little to see")


OPERATORS: dict[str, Operator] = {"near": lambda event, *arguments: False, "seen": broken}
known_knowledge = knowledge(NAMES, ATTRIBUTES, FUNCTIONS)
predicates = st.builds(Predicate, WORDS.attributes, conditions(WORDS))
of_predicates = (
    st.lists(predicates | predicates.map(lambda p: Not(Conjunction((p,)))), max_size=3)
    .map(lambda atoms: Conjunction(tuple(atoms)))
    .map(lambda conjunction: Subscription((conjunction,)))
)
cases = given(
    known=known_knowledge,
    asked=subscriptions(WORDS) | of_predicates | of_predicates,
    sent=events(ATTRIBUTES, TERMS),
)


def judged(known: Knowledge, asked: Subscription, sent: Event) -> tuple[Engine, Explanation]:
    engine = Engine(known, matcher="oracle", operators=OPERATORS)
    try:
        engine.add(asked, id="s")
    except SubscriptionError:  # a word of two meanings
        assume(False)
    return engine, engine.explain("s", sent)


@cases
def test_it_says_yes_exactly_when_the_oracle_does(
    known: Knowledge, asked: Subscription, sent: Event
) -> None:
    engine, explanation = judged(known, asked, sent)
    matches = engine.match(sent)
    expected = Outcome.YES if matches else Outcome.UNDECIDED if matches.failures else Outcome.NO
    assert explanation.outcome is expected
    assert explanation.matches == bool(matches)
    if matches:
        assert explanation.distance == matches[0].distance
        assert {frozenset(dict(row).items()) for row in explanation.rows} == {
            frozenset(row.items()) for row in matches[0].rows
        }
    for alternative in explanation.alternatives:
        if alternative.outcome is Outcome.YES:
            assert all(part.outcome is Outcome.YES for part in alternative.parts)
        elif alternative.parts:
            failing = any(part.outcome is not Outcome.YES for part in alternative.parts)
            assert failing or alternative.note


@given(known=known_knowledge, asked=of_predicates, sent=events(ATTRIBUTES, TERMS))
def test_each_part_is_what_the_oracle_says_of_it_alone(
    known: Knowledge, asked: Subscription, sent: Event
) -> None:
    _, explanation = judged(known, asked, sent)
    (alternative,) = explanation.alternatives
    for atom, part in zip(asked.conjunctions[0].atoms, alternative.parts, strict=True):
        engine, _ = judged(known, Subscription((Conjunction((atom,)),)), sent)
        matches = engine.match(sent)
        alone = Outcome.YES if matches else Outcome.UNDECIDED if matches.failures else Outcome.NO
        assert part.outcome is alone


@cases
def test_what_it_names_is_true(known: Knowledge, asked: Subscription, sent: Event) -> None:
    _, explanation = judged(known, asked, sent)
    star = star_of(sent, known)
    for source in facts_in(explanation):
        if asked.strict:
            continue  # strings are shown as SPARQL's
        _check_source(source, star.facts, sent)
    for alternative in explanation.alternatives:
        for part in alternative.parts:
            for evidence in part.evidence:
                fact = evidence.source.fact
                _check_way(evidence.value, fact.object, known, star.facts, values=True)
                _check_way(evidence.attribute, fact.property, known, star.facts, values=False)


def _check_source(source: Source, facts: Sequence[Fact], sent: Event) -> None:
    assert source.fact in facts
    if source.function is None:
        assert source.fact in sent.facts
    else:
        assert source.fact not in sent.facts
        assert source.function in {function.name for function in FUNCTIONS}


def _check_way(
    way: Sequence[Step], start: Term, known: Knowledge, facts: Sequence[Fact], *, values: bool
) -> None:
    if not way:
        return
    assert way[0] == Step(Link.SENT, start)
    for before, step in pairwise(way):
        one, other = before.term, step.term
        match step.link:
            case Link.MEANS:
                assert _roots(one, known, values) & _roots(other, known, values)
            case Link.CLASS:
                listed = {
                    known.root(each)
                    for root in _roots(one, known, values)
                    for each in known.classes(root)
                }
                declared = Fact(one, RDF_TYPE, other) in facts
                datatype = other.text.startswith("http://www.w3.org/")
                assert declared or datatype or not listed.isdisjoint(_roots(other, known, True))
            case Link.NARROWER if values:
                tops = (
                    {THING}
                    if not any(known.parents(r) for r in _roots(one, known, True))
                    else set()
                )
                parents = {
                    known.root(each)
                    for root in _roots(one, known, True)
                    for each in known.parents(root)
                }
                assert not (parents | tops).isdisjoint(_roots(other, known, True))
            case Link.NARROWER:
                assert _roots(other, known, False) & known.attributes_above(
                    one
                ) or known.attribute_path_up(one, other)
            case Link.SENT:
                raise AssertionError("only the first step is as sent")


def _roots(term: Term, known: Knowledge, values: bool) -> frozenset[Term]:
    """What a step's term may stand for: a root itself, or a word in any scope."""
    if not values:
        return known.attribute_roots(term) | {term}
    scopes = [None, frozenset({"one"}), frozenset({"two"})]
    return frozenset({term, known.root(term), *(known.value_root(term, s) for s in scopes)})


@given(
    known=known_knowledge,
    asked=st.lists(predicates, min_size=1, max_size=3).map(
        lambda atoms: Subscription((Conjunction(tuple(atoms)),))
    ),
    sent=events(ATTRIBUTES, TERMS),
)
def test_what_would_have_made_it_match_does(
    known: Knowledge, asked: Subscription, sent: Event
) -> None:
    assume(sent.home is not None)
    _, explanation = judged(known, asked, sent)
    (alternative,) = explanation.alternatives
    missed = [
        (part, part.miss.instead)
        for part in alternative.parts
        if part.outcome is not Outcome.YES and part.miss is not None and part.miss.instead
    ]
    assume(missed)
    added = [
        Fact(sent.home or HOME, _attribute(part, asked, alternative.parts), instead)
        for part, instead in missed
    ]
    mended = Event("mended", sent.time, distinct((*sent.facts, *added)), sent.home)
    again = explained("s", asked, mended, known, OPERATORS).alternatives[0].parts
    for part, _ in missed:
        after = again[alternative.parts.index(part)]
        assert after.outcome is Outcome.YES, (part, after)


def _attribute(part: Part, asked: Subscription, parts: Sequence[Part]) -> Term:
    atom = asked.conjunctions[0].atoms[parts.index(part)]
    assert isinstance(atom, Predicate)
    value = atom.attribute.value
    return value if isinstance(value, Term) else string(value.text)


def test_an_engine_explains_what_stands() -> None:
    engine = Engine()
    with pytest.raises(SubscriptionError, match="there is no subscription 'nobody'"):
        engine.explain("nobody", Event.record({}))
    engine.add(parse("price <= 5"), id="s")
    assert engine.explain("s", Event.record({"price": 4})).matches


def test_a_long_derivation_is_shown_a_few_functions_deep() -> None:
    draft = Draft()
    doubled = mapping_function(
        "doubled",
        [("a", string("n")), ("b", string("n"))],
        [(string("n"), "a == b && a < 60 ? a + 1 : null")],
    )
    draft.mapping(doubled, Place("here"))
    engine = Engine(Knowledge(draft.content()))
    engine.add(parse("n = 60"), id="s")
    explanation = engine.explain("s", Event.record({"n": 0}))
    assert explanation.matches
    assert len(list(facts_in(explanation))) < 100
    assert "doubled" in str(explanation)


SHOP = """
synonyms: {computer: [machine]}
hierarchy: {laptop: computer, netbook: laptop, printer: device, computer: device}
instances: {tower7: computer}
mappings:
  - {name: ratio, inputs: [part, whole], outputs: {share: part / whole}}
"""


@pytest.mark.parametrize(
    ("subscription", "data", "said"),
    [
        ("a is directly a computer", {"a": "netbook"}, "kind of computer, but not directly"),
        ("a = exactly computer", {"a": "laptop"}, "laptop is a kind of computer, but not exactly"),
        ("a = computer", {"a": "printer"}, "printer is no computer, though both are device"),
        ("a = computer", {"a": "device"}, "device is more general than computer, by 1 step"),
        ("a = computer", {"a": "compuder"}, "it is spelled much like 'computer'"),
        ("a is a exactly computer", {"a": "tower7"}, "tower7 is a computer"),
        ("price <= 100", {"price": [150, 110]}, "110 is 10 too much"),
        ("price <= 0.5", {"price": 10**400}, "is far too much"),
        ("price > 5 km", {"price": "1 m"}, "is too little"),
        ("price > 5", {"price": "cheap"}, "a text does not compare with a number"),
        ("prise > 5", {"price": 9}, "the event has no prise, but price"),
        ("share <= 5 within 1", {"part": 1, "whole": 0, "share": 5.2}, "✓ share <= 5"),
        ("select ?x where share = ?x", {"part": 1, "whole": [0, 2]}, "there may be more rows"),
        ("a = ?x and ?x > 55 and not b = 1", {"a": list(range(60)), "b": 1}, "✓ ?x > 55"),
        ("a = ?x and ?x > 55 and c = 1", {"a": [1, 60]}, "✓ ?x > 55"),
        ("not a = computer", {"a": "laptop"}, "it must not be so, but it is"),
        ("a = x or b = y", {"b": "y"}, "✓ b = y"),
        ("everything", {}, "nothing is asked"),
    ],
)
def test_what_is_said(
    subscription: str, data: dict[str, object], said: str, tmp_path: Path
) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    engine = Engine(Knowledge.load(tmp_path / "shop.yaml"))
    engine.add(parse(subscription), id="s")
    event = Event.record(data, id="e")
    explanation = engine.explain("s", event)
    assert said in " ".join(str(explanation).split())
    assert explanation.matches == bool(engine.match(event))


def test_a_pattern_says_which_part_does_not_fit() -> None:
    engine = Engine()
    engine.add(parse("(?p, knows, Bob)"), id="s")
    event = Event.rdf("<http://x.org/e> <http://x.org/knows> <http://x.org/Carl> .", id="e")
    assert "its object does not fit" in str(engine.explain("s", event))


def test_a_search_without_end_can_be_explained() -> None:
    engine = Engine()
    engine.add(parse("select ?x, ?y where a = ?x and b = ?y"), id="s")
    values = [f"v{number}" for number in range(280)]
    explanation = engine.explain("s", Event.record({"a": values, "b": values}))
    assert explanation.outcome is Outcome.YES or "steps" in str(explanation)
