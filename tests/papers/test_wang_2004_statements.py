"""OPS in its own language: the auction of Wang 2004, its concept model and its subscription.

Figure 1 as the text of section 3.1 tells it: Jinling Wang sells an IBM desktop PC for $450, with a
hard disk of 40G that IBM made too. Proved by breaking, each caught: matching that is not injective;
sub-properties taken as other properties; one of several classes enough; the filter forgotten.
"""

import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event

AUCTION = """
@prefix : <http://x.org/> .
@prefix daml: <http://www.daml.org/2001/03/daml+oil#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Computer a daml:Class ; rdfs:subClassOf :Product .
:DesktopPC a daml:Class ; rdfs:subClassOf :Computer .
:NotebookPC a daml:Class ; rdfs:subClassOf :Computer ; daml:disjointWith :DesktopPC .
:HardDisk a daml:Class ; rdfs:subClassOf :Product .
:cellPhoneNumber a daml:DatatypeProperty ; rdfs:subPropertyOf :telephoneNumber .
:Selling :seller :Customer ; :target :Product ; :price :MoneyValue .
:Product :manufacture :Company ; :contains :Product ; :size xsd:string .
:Customer :name xsd:string ; :telephoneNumber xsd:string .
:MoneyValue :currency daml:Thing .
"""
SELLING = """
@prefix : <http://x.org/> .
@prefix units: <http://x.org/units#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
_:H a :Selling ; :target _:pc ; :seller _:wang ; :price _:money .
_:pc a :DesktopPC ; :manufacture :IBM ; :contains _:disk .
_:disk a :HardDisk ; :manufacture :IBM ; :size "40G" .
:IBM a :Company .
_:wang a :Customer ; :name "Jinling Wang" ; :cellPhoneNumber "123456789" .
_:money a :MoneyValue ; :currency units:dollar ; rdf:value 450.00 .
"""
PRINTED = """
PREFIX units: <http://x.org/units#>
(_:H, ?1, (Selling, target, Computer))
(_:H, ?2, (Selling, price, MoneyValue))
(?2, units:dollar, (MoneyValue, currency, daml:Thing))
(?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)
"""


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    file = tmp_path_factory.mktemp("knowledge") / "auction.ttl"
    file.write_text(AUCTION)
    return Knowledge.load(file)


def matches(text: str, knowledge: Knowledge, event: str = SELLING) -> bool:
    engine = Engine(knowledge)
    engine.add(parse(text, "statements"), id="s")
    sent = Event.rdf(event, "ttl", id="e")
    found = bool(engine.match(sent))
    assert engine.explain("s", sent).matches == found
    return found


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (("", ""), False),
        (("450.00", "350.00"), True),
        (("450.00", "400.00"), False),
        (("450.00", '"350"'), True),
        (("450.00", "350.00 ; :was 450.00"), True),
    ],
)
def test_the_printed_subscription(auction: Knowledge, change: tuple[str, str], holds: bool) -> None:
    """Computers below $400, whatever kind of computer."""
    event = SELLING.replace(*change)
    for kind in ("DesktopPC", "NotebookPC", "Computer"):
        assert matches(PRINTED, auction, event.replace("DesktopPC", kind)) == holds


@pytest.mark.parametrize(
    "change",
    [
        (":DesktopPC", ":Company"),
        ("units:dollar", "units:euro"),
        ("a :Selling", "a :Product"),
        (":price", ":cost"),
        ("a :MoneyValue", "a :Product"),
    ],
)
def test_every_part_of_it_counts(auction: Knowledge, change: tuple[str, str]) -> None:
    cheap = SELLING.replace("450.00", "350.00")
    assert matches(PRINTED, auction, cheap)
    assert not matches(PRINTED, auction, cheap.replace(*change))


def test_several_classes_on_a_vertex(auction: Knowledge) -> None:
    both = "(_:H, ?1, (Selling, target, Computer)) (?1, ?2, (HardDisk, manufacture, Company))"
    assert not matches(both, auction)
    assert matches(both, auction, SELLING.replace("a :DesktopPC", "a :DesktopPC, :HardDisk"))


def test_classes_that_exclude_each_other(auction: Knowledge) -> None:
    both = "(_:H, ?1, (Selling, target, DesktopPC)) (?1, ?2, (NotebookPC, manufacture, Company))"
    with pytest.raises(SubscriptionError, match="does not exclude DesktopPC"):
        matches(both, auction)


@pytest.mark.parametrize(
    ("property", "sent", "holds"),
    [
        ("telephoneNumber", "telephoneNumber", True),
        ("telephoneNumber", "cellPhoneNumber", True),
        ("cellPhoneNumber", "cellPhoneNumber", True),
        ("cellPhoneNumber", "telephoneNumber", False),
    ],
)
def test_sub_properties(auction: Knowledge, property: str, sent: str, holds: bool) -> None:
    """Section 3.2: who asks for a telephone number takes a cell phone's."""
    text = f"""
    (_:H, ?1, (Selling, seller, Customer))
    (?1, ?2, (Customer, {property}, xsd:string), ?2 = "123456789")
    """
    assert matches(text, auction, SELLING.replace("cellPhoneNumber", sent)) == holds


def test_different_vertices_stand_for_different_vertices(auction: Knowledge) -> None:
    """Section 5.1, the second condition: one maker of both parts is one vertex, not two."""
    parts = "(_:H, ?pc, (Selling, target, Computer)) (?pc, ?disk, (Computer, contains, HardDisk)) "
    of = "(?pc, {}, (Computer, manufacture, Company)) (?disk, {}, (HardDisk, manufacture, Company))"
    assert matches(parts + of.format("?maker", "?maker"), auction)
    assert not matches(parts + of.format("?one", "?other"), auction)
    disk = ":HardDisk ; :manufacture :{}"
    other = SELLING.replace(disk.format("IBM"), disk.format("Seagate")) + ":Seagate a :Company ."
    assert matches(parts + of.format("?one", "?other"), auction, other)
    assert not matches(parts + of.format("?maker", "?maker"), auction, other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(_:H, ?1, (Buying, target, Computer))", "a class of the concept model, and 'Buying'"),
        ("(_:H, ?1, (Selling, manufacture, Company))", "which has price, seller, target, not"),
        ("(_:H, ?1, (Selling, target, Customer))", "'target' of 'Selling' leads to: Product"),
    ],
)
def test_the_concept_model(auction: Knowledge, text: str, words: str) -> None:
    with pytest.raises(SubscriptionError, match=words):
        matches(text, auction)
