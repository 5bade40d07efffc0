"""Burcea 2003: the examples of sections 1 and 4.1, with the outcomes that the paper states."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.match.dispatch import MATCHERS
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event

LIBRARY = """
hierarchy:
  encyclopedia: book
  dictionary: book
  crocodiles: reptiles
"""
SYNONYMS = """
synonyms:
  vehicle: [car, automobile]
  price: [value]
"""
HIERARCHY = """
synonyms: {price: [value]}
hierarchy: {car: vehicle, automobile: vehicle}
"""
UNIVERSITY = """
synonyms: {university: [school]}
mappings:
  - name: f1
    inputs: [{graduated: "graduation date"}]
    outputs: {professional experience: "event.time.getFullYear() - graduated"}
"""
SHOP = """
hierarchy: {book: printed material}
"""


def known(folder: Path, text: str) -> Knowledge:
    file = folder / "knowledge.yaml"
    file.write_text(text)
    return Knowledge.load(file)


def holds(
    knowledge: Knowledge, subscription: str, data: dict[str, Any], time: str = "2003"
) -> bool:
    """Whether an event matches; every matcher that takes the subscription says the same."""
    event = Event.record(data, id="e", time=f"{time}-09-07")
    answers = set()
    for matcher in ("auto", *MATCHERS):
        engine = Engine(knowledge, matcher=matcher)
        with suppress(SubscriptionError):  # not every matcher takes `within`
            engine.add(parse(subscription), id="s")
            answers.add(bool(engine.match(event)))
            assert engine.explain("s", event).matches in answers
    (answer,) = answers
    return answer


STONE_AGE = "{} = StoneAge and subject = {}"


@pytest.mark.parametrize(
    ("asked", "sent", "matches"),
    [
        (("book", "reptiles"), ("encyclopedia", "crocodiles"), True),
        (("encyclopedia", "reptiles"), ("book", "crocodiles"), False),
        (("book", "crocodiles"), ("encyclopedia", "reptiles"), False),
        (("book", "reptiles"), ("book", "reptiles"), True),
        (("dictionary", "reptiles"), ("encyclopedia", "crocodiles"), False),
    ],
)
def test_specialised_events_match_and_general_ones_do_not(
    tmp_path: Path, asked: tuple[str, str], sent: tuple[str, str], matches: bool
) -> None:
    """Section 4.1, both rules; a concept may be an attribute (encyclopedia) or a value."""
    knowledge = known(tmp_path, LIBRARY)
    data = {sent[0]: "StoneAge", "subject": sent[1]}
    assert holds(knowledge, STONE_AGE.format(*asked), data) == matches


@pytest.mark.parametrize("product", ["car", "automobile", "vehicle"])
@pytest.mark.parametrize("asked", ["car", "automobile", "vehicle"])
def test_synonyms_translate_to_one_root(tmp_path: Path, asked: str, product: str) -> None:
    """Section 1: "car", "automobile" and "vehicle", "price" and "value" mean the same."""
    knowledge = known(tmp_path, SYNONYMS)
    subscription = f"product = {asked} and value <= 10000"
    assert holds(knowledge, subscription, {"product": product, "price": 8999})
    assert not holds(knowledge, subscription, {"product": product, "price": 10001})


@pytest.mark.parametrize(
    ("asked", "product", "matches"),
    [
        ("vehicle", "car", True),
        ("vehicle", "automobile", True),
        ("car", "automobile", False),
        ("car", "vehicle", False),
    ],
)
def test_the_same_words_as_a_hierarchy(
    tmp_path: Path, asked: str, product: str, matches: bool
) -> None:
    """Our own variant: there, a car is a vehicle, and no automobile."""
    knowledge = known(tmp_path, HIERARCHY)
    subscription = f"product = {asked} and value <= 10000"
    assert holds(knowledge, subscription, {"product": product, "price": 8999}) == matches


@pytest.mark.parametrize(("year", "matches"), [("1994", False), ("1995", True), ("2003", True)])
def test_professor_x(tmp_path: Path, year: str, matches: bool) -> None:
    """Section 4.1: 5 or more years since graduation, by the time of the event."""
    knowledge = known(tmp_path, UNIVERSITY)
    subscription = 'university = Y and degree = PhD and "professional experience" > 4'
    student = {"school": "Y", "degree": "PhD", "graduation date": 1990}
    assert holds(knowledge, subscription, student, year) == matches
    assert not holds(knowledge, subscription, {**student, "degree": "MSc"}, year)
    assert not holds(Knowledge(), subscription, student, year)


def test_professor_x_is_told_why(tmp_path: Path) -> None:
    engine = Engine(known(tmp_path, UNIVERSITY))
    engine.add(parse('university = Y and "professional experience" > 4'), id="X")
    event = Event.record({"school": "Y", "graduation date": 1990}, id="E", time="2003-09-07")
    by_synonym, by_function = engine.explain("X", event).alternatives[0].parts
    assert [step.term.text for step in by_synonym.evidence[0].attribute] == ["school", "university"]
    source = by_function.evidence[0].source
    assert source.function == "f1"
    assert source.fact.object.value == 13
    assert [each.fact.object.value for each in source.inputs] == [1990]


def test_a_general_event_is_near_within_a_distance(tmp_path: Path) -> None:
    """Section 4.1, last but one paragraph: a more general event matches within a range."""
    knowledge = known(tmp_path, LIBRARY)
    asked = "encyclopedia = StoneAge and subject = crocodiles"
    general = {"book": "StoneAge", "subject": "reptiles"}
    assert not holds(knowledge, asked, general)
    assert not holds(knowledge, f"{asked} within 1", general)
    assert holds(knowledge, f"{asked} within 2", general)
    engine = Engine(knowledge)
    engine.add(parse(f"{asked} within 2"), id="s")
    (match,) = engine.match(Event.record(general))
    assert match.distance == 2


def test_printed_material(tmp_path: Path) -> None:
    """Section 4.2: all that matches the book also matches the printed material."""
    knowledge = known(tmp_path, SHOP)
    event = {"product": "book", "topic": "semantic web"}
    assert holds(knowledge, 'product = "printed material" and topic = "semantic web"', event)
    assert not holds(
        knowledge,
        'product = book and topic = "semantic web"',
        {**event, "product": "printed material"},
    )
