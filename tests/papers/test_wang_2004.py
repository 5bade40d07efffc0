"""OPS (Wang 2004), section 3.2: the class and property hierarchies of the auction."""

from pathlib import Path

import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.event import Event

AUCTION = """
@prefix : <http://x.org/> .
@prefix daml: <http://www.daml.org/2001/03/daml+oil#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:DesktopPC a daml:Class ; rdfs:subClassOf :Computer .
:NotebookPC a daml:Class ; rdfs:subClassOf :Computer .
:Computer a daml:Class ; rdfs:subClassOf :Product .
:cellPhoneNumber a daml:DatatypeProperty ; rdfs:subPropertyOf :telephoneNumber .
:Selling :seller :Customer ; :target :Product .
:Product :manufacture :Company .
:Customer :name xsd:string .
"""
SELLING = """
@prefix : <http://x.org/> .
_:H a :Selling ; :target _:pc ; :seller _:w ; :price 450 .
_:pc a :DesktopPC ; :manufacture :IBM .
_:w a :Customer ; :name "Jinling Wang" ; :cellPhoneNumber "123456789" .
"""


@pytest.fixture
def auction(tmp_path: Path) -> Knowledge:
    file = tmp_path / "auction.ttl"
    file.write_text(AUCTION)
    return Knowledge.load(file)


@pytest.mark.parametrize(
    ("subscription", "matches"),
    [
        ("price < 500 and (home, target, ?x) and ?x is a Computer", True),
        ("price < 400 and (home, target, ?x) and ?x is a Computer", False),
        ("(home, target, ?x) and ?x is a NotebookPC", False),
        ("(home, target, ?x) and ?x is a Product", True),
        ("(?w, telephoneNumber, 123456789)", True),
        ("(?w, exactly telephoneNumber, 123456789)", False),
        ("(?w, exactly cellPhoneNumber, 123456789)", True),
    ],
)
def test_the_auction(auction: Knowledge, subscription: str, matches: bool) -> None:
    engine = Engine(auction)
    engine.add(parse(subscription), id="s")
    event = Event.rdf(SELLING, "ttl", id="e")
    assert bool(engine.match(event)) == matches
    assert engine.explain("s", event).matches == matches


def test_a_telephone_is_no_cell_phone(auction: Knowledge) -> None:
    """Section 3.2: "telephoneNumber = 123456789" takes a cellPhoneNumber, not the reverse."""
    engine = Engine(auction)
    engine.add(parse("telephoneNumber = 123456789"), id="any")
    engine.add(parse("cellPhoneNumber = 123456789"), id="cell")
    cell = Event.record({"cellPhoneNumber": 123456789})
    assert [match.subscription for match in engine.match(cell)] == ["any", "cell"]
    fixed = Event.record({"telephoneNumber": 123456789})
    assert [match.subscription for match in engine.match(fixed)] == ["any"]


def test_meta_statements_are_kept(auction: Knowledge) -> None:
    stated = {tuple(term.text.rpartition("/")[2] for term in s) for s in auction.content.statements}
    assert ("Selling", "target", "Product") in stated
    assert ("Customer", "name", "XMLSchema#string") in stated
