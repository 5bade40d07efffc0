"""Numbers of concepts: what is below a concept is a few runs of them, and nothing else is."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

import sensewire as sw
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.vocabulary import THING
from sensewire.match.compiled.attributes import Attributes
from sensewire.match.compiled.concepts import Concepts, is_datatype, runs_of
from sensewire.model import datatypes
from sensewire.model.conditions import Name, exact, meaning
from sensewire.model.terms import Term, iri, literal, string, term_of
from sensewire.testing.agreement import agree
from sensewire.testing.knowledge import knowledge

NAMES = ["a", "b", "c", "d", "e"]


def known_by(folder: Path, text: str) -> Knowledge:
    path = folder / "k.yaml"
    path.write_text(text)
    return Knowledge.load(path)


DIAMOND = """\
scheme: s
hierarchy:
  left: top
  right: top
  bottom: [left, right]
  leaf: bottom
  other: right
  far: [other, left]
synonyms: {leaf: [frond]}
instances: {rex: bottom}
"""


@given(known=knowledge(NAMES, ["p"]))
def test_runs_hold_what_is_below_and_nothing_else(known: Knowledge) -> None:
    concepts = Concepts(known)
    roots = {known.values.root(each.term) for each in known.content.entities}
    for root in roots:
        runs = concepts.runs_below(root)
        held = {number for first, last in runs for number in range(first, last)}
        assert held == {concepts.number(each) for each in known.below(root)}
        assert all(one[1] < other[0] for one, other in pairwise(runs))
    assert len({concepts.number(root) for root in roots}) == len(roots)


def test_many_parents(tmp_path: Path) -> None:
    known = known_by(tmp_path, DIAMOND)
    words = ["top", "left", "right", "bottom", "leaf", "frond", "other", "far", "rex", "Thing", "x"]
    asked = [
        sw.parse(f"a {relation} {word}")
        for relation in ("=", "!=", "is a", "is directly a", "is above")
        for word in words
    ]
    asked += [sw.parse(f"a = {word} within {steps}") for word in words for steps in (1, 2)]
    asked += [sw.parse(f"a in (leaf, {word})") for word in words]
    sent = [sw.Event.record({"a": word}) for word in [*words, "LEAF", "s:leaf", "", 5, True]]
    sent += [sw.Event.record({"a": ["left", "other"]}), sw.Event.record({})]
    assert agree("compiled", asked, sent, knowledge=known).taken == len(asked)
    concepts = Concepts(known)
    for word, count in (("top", 1), ("leaf", 1), ("left", 2), ("right", 2)):
        root = known.value_root(string(word), None)
        assert len(concepts.runs_below(root)) <= count, word


def test_words_that_nobody_knows_get_the_next_numbers(tmp_path: Path) -> None:
    concepts = Concepts(known_by(tmp_path, DIAMOND))
    count = concepts.of_hierarchy
    assert concepts.find(string("new")) is None
    assert concepts.number(string("new")) == count
    assert concepts.number(string("newer")) == count + 1
    assert concepts.find(string("new")) == count
    assert concepts.words() == [string("new"), string("newer")]


def test_booleans_are_one_by_their_value() -> None:
    concepts = Concepts(Knowledge())
    one = literal("1", datatypes.BOOLEAN)
    assert concepts.number(one) == concepts.number(term_of(True)) == concepts.find(one)
    assert concepts.number(term_of(False)) != concepts.number(term_of(True))


def test_datatypes_and_thing_are_not_told_by_numbers(tmp_path: Path) -> None:
    known = known_by(tmp_path, "scheme: s\nhierarchy: {xsd:decimal: quantity_like, a: b}\n")
    concepts = Concepts(known)
    assert not concepts.is_of_words_alone(THING)
    assert not concepts.is_of_words_alone(iri(datatypes.DECIMAL))
    assert not concepts.is_of_words_alone(known.value_root(string("quantity_like"), None))
    assert concepts.is_of_words_alone(known.value_root(string("b"), None))
    asked = [sw.parse(f"a = {word}") for word in ("quantity_like", "b", "xsd:decimal", "Thing")]
    sent = [sw.Event.record({"a": value}) for value in (5, 5.5, "a", "quantity_like", True)]
    agree("compiled", asked, sent, knowledge=known)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (iri(datatypes.DECIMAL), True),
        (iri(datatypes.QUANTITY), True),
        (iri(datatypes.LANGUAGE_STRING), True),
        (iri("http://x.org/decimal"), False),
        (string(datatypes.DECIMAL), False),
    ],
)
def test_what_is_a_datatype(term: Term, expected: bool) -> None:
    assert is_datatype(term) == expected


def test_runs() -> None:
    assert runs_of([]) == ()
    assert runs_of([4]) == ((4, 5),)
    assert runs_of([0, 1, 3, 4, 6]) == ((0, 2), (3, 5), (6, 7))


# Attributes

ATTRIBUTES = """\
scheme: s
synonyms: {price: [cost, value]}
properties: {net_price: price, shop_price: net_price}
hierarchy: {encyclopedia: book}
"""


def test_which_attributes_a_property_serves(tmp_path: Path) -> None:
    attributes = Attributes(known_by(tmp_path, ATTRIBUTES))
    price = attributes.number(meaning("price"))
    assert attributes.number(meaning("cost")) == price
    net = attributes.number(meaning("net_price"))
    exactly = attributes.number(exact(Name("price")))
    nearly = attributes.number(meaning("net_price"), nearly=True)
    assert len({price, net, exactly, nearly}) == 4 == len(attributes)
    assert set(attributes.served_by(string("price"))) == {price, exactly, nearly}
    assert set(attributes.served_by(string("value"))) == {price, nearly}
    assert set(attributes.served_by(string("shop_price"))) == {price, net, nearly}
    assert set(attributes.served_by(iri("http://x.org/price"))) == {price, exactly, nearly}
    assert attributes.served_by(string("colour")) == ()
    colour = attributes.number(meaning("colour"))
    assert attributes.served_by(string("colour")) == (colour,)


def test_attributes_by_synonyms_narrower_ones_and_nearly(tmp_path: Path) -> None:
    known = known_by(tmp_path, ATTRIBUTES)
    names = ["price", "cost", "net_price", "shop_price", "book", "encyclopedia", "other"]
    asked = [
        sw.parse(text.format(name))
        for name in names
        for text in (
            "{} = 5",
            "exactly {} = 5",
            "not {} = 5",
            "{} = 5 within 1",
            "{} = 5 within 2",
            "{} < 5 within 0.5",
            "{} exists",
        )
    ]
    sent = [sw.Event.record({name: value}) for name in names for value in (5, 7, "x")]
    agreed = agree("compiled", asked, sent, knowledge=known)
    assert agreed.taken == len(asked)
