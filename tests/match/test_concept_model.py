"""The concept model refuses statement patterns that nothing can match, and says what is right.

Proved by breaking, each caught: unknown classes let through; datatypes and Thing taken for unknown;
⊑ asked in one direction alone, for classes and for properties; only the class of the statement
asked, and not the others of its vertex; Thing beside another class let everything through; excluded
classes not inherited; a property of RDF's own refused; knowledge without meta-statements asked for
properties.
"""

from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.match.concept_model import ConceptModel
from sensewire.model.canonical import canonical
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event

AUCTION = """
@prefix : <http://x.org/> .
@prefix daml: <http://www.daml.org/2001/03/daml+oil#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Selling a daml:Class .
:Gift a daml:Class .
:Product a daml:Class ; daml:disjointWith :Customer .
:Computer a daml:Class ; rdfs:subClassOf :Product .
:NotebookPC a daml:Class ; rdfs:subClassOf :Computer .
:Buyer a daml:Class ; rdfs:subClassOf :Customer .
:cellPhoneNumber a daml:DatatypeProperty ; rdfs:subPropertyOf :telephoneNumber .
:homePhoneNumber a daml:DatatypeProperty ; rdfs:subPropertyOf :telephoneNumber .
:Selling :seller :Customer ; :target :Product .
:Product :manufacture :Company .
:Customer :name xsd:string ; :telephoneNumber xsd:decimal ; :home :Place .
:Place a daml:Class ; rdfs:label "Meeting Place" ; :cellPhoneNumber xsd:decimal .
"""
CUSTOMER = "(_:H, ?1, (Selling, seller, Customer)) "


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    file = tmp_path_factory.mktemp("knowledge") / "auction.ttl"
    file.write_text(AUCTION)
    return Knowledge.load(file)


@pytest.mark.parametrize(
    "text",
    [
        "(_:H, ?1, (Selling, target, Product))",
        "(_:H, ?1, (Selling, target, NotebookPC))",
        "(_:H, ?1, (Selling, target, Thing))",
        "(_:H, ?1, (Thing, target, Product))",
        "(_:H, ?1, (daml:Thing, manufacture, rdfs:Resource))",
        "(_:H, ?1, (<http://x.org/Selling>, <http://x.org/target>, computer))",
        CUSTOMER + "(?1, ?2, (Customer, telephoneNumber, xsd:decimal))",
        CUSTOMER + "(?1, ?2, (Customer, cellPhoneNumber, xsd:integer))",
        CUSTOMER + "(?1, ?2, (Buyer, telephoneNumber, rdf:Literal))",
        CUSTOMER + "(?1, ?2, (Thing, name, Thing))",
        "(_:H, ?1, (Place, telephoneNumber, xsd:decimal))",
        CUSTOMER + "(?1, ?2, (Customer, home, Meeting Place))",
        # what another class of the vertex may have
        "(_:H, ?1, (Selling, target, Gift)) (?1, ?2, (Product, manufacture, Company))",
        "(_:H, ?1, (Selling, target, Gift)) (?1, ?2, (Computer, manufacture, Company))",
        # RDF's own properties belong to everything
        "(_:H, ?1, (Selling, rdf:type, Thing)) (_:H, ?2, (Selling, rdf:value, xsd:date))",
    ],
)
def test_what_is_possible(auction: Knowledge, text: str) -> None:
    ConceptModel(auction).refuse_impossible(parse(text, "statements"))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("(_:H, ?1, (Seling, target, Product))", "Seling", "'Seling' is none; near it: Selling"),
        ("(_:H, ?1, (Selling, target, Car))", "Car", "a class of the concept model, and 'Car'"),
        ("(_:H, ?1, (Selling, target, target))", "target))", "'target' is none"),
        ("(_:H, ?1, (Selling, traget, Product))", "traget", "not 'traget'; near it: target"),
        ("(_:H, ?1, (Selling, name, Product))", "name", "'Selling', which has seller, target, not"),
        ("(_:H, ?1, (Gift, name, Thing))", "name", "'Gift' has no properties"),
        (
            "(_:H, ?1, (Selling, target, Company))",
            "Company",
            "'target' of 'Selling' leads to: Prod",
        ),
        ("(_:H, ?1, (Selling, target, Gift))", "Gift", "'target' of 'Selling' leads to: Product"),
        (
            "(_:H, ?1, (Selling, rdf:type, Gift)) (_:H, ?1, (Selling, seller, Gift ))",
            "Gift ))",
            "'seller' of 'Selling' leads to: Customer",
        ),
        (
            "(_:H, ?1, (Selling, target, Product)) (_:H, ?2, (Thing, name, Thing))",
            "name",
            "'Selling', which has seller, target, not 'name'",
        ),
        ("(_:H, ?1, (Selling, target, xsd:date))", "xsd:date", "leads to: Product"),
        (
            "(_:H, ?1, (Selling, target, Thing)) (?1, ?2, (Gift, name, Thing))",
            "Gift",
            "'target' of 'Selling' leads to: Product",
        ),
        (
            CUSTOMER + "(?1, ?2, (Buyer, cellPhoneNumber, xsd:date))",
            "xsd:date",
            "leads to: decimal",
        ),
        (
            "(_:H, ?1, (Selling, seller, Buyer)) (?1, ?2, (NotebookPC, manufacture, Thing))",
            "NotebookPC",
            "a class that does not exclude Buyer, which ?1 is too: nothing is both",
        ),
        (
            "(_:H, IBM, (Selling, seller, Product)) (_:H, IBM, (Selling, target, Customer))",
            "Customer",
            "a class that does not exclude Product, which IBM is too",
        ),
        (
            "(_:H, ?1, (Product, target, Thing)) (?1, _:H, (Thing, seller, Customer))",
            "Customer",
            "exclude Product, which _:H is too",
        ),
    ],
)
def test_what_is_not_possible(auction: Knowledge, text: str, place: str, words: str) -> None:
    with pytest.raises(SubscriptionError) as error:
        Engine(auction).add(parse(text, "statements"))
    first, line, caret = str(error.value).splitlines()
    assert first == "the concept model does not allow this statement:"
    assert line[caret.index("^") :].startswith(place)
    assert words in caret


def test_a_long_name_makes_no_long_message(auction: Knowledge) -> None:
    with pytest.raises(SubscriptionError) as error:
        Engine(auction).add(parse(f"(_:H, ?1, ({'x' * 200_000}, p, Thing))", "statements"))
    assert len(str(error.value)) < 500


def test_a_refused_subscription_leaves_nothing_behind(auction: Knowledge) -> None:
    engine = Engine(auction)
    with pytest.raises(SubscriptionError):
        engine.add(parse("(_:H, ?1, (Selling, name, Thing))", "statements"), id="s")
    engine.add(parse("(_:H, ?1, (Selling, target, Thing))", "statements"), id="s")
    assert engine.ids() == ["s"]


def test_what_is_not_stated_is_not_asked(tmp_path: Path) -> None:
    wild = parse("(_:H, ?1, (A, p, B)) (?1, ?2, (C, q, D))", "statements")
    Engine().add(wild)
    file = tmp_path / "k.yaml"
    file.write_text("hierarchy: {A: Top, B: Top, C: Top, D: Top}")
    Engine(Knowledge.load(file)).add(wild)
    file.write_text("hierarchy: {A: Top, B: Top, C: Top}")
    with pytest.raises(SubscriptionError, match="'D' is none"):
        Engine(Knowledge.load(file)).add(wild)
    file.write_text("statements: [[A, p, B], [C, q, D]]")
    Engine(Knowledge.load(file)).add(wild)
    file.write_text("statements: [[A, p, B], [C, p, D]]")
    with pytest.raises(SubscriptionError, match="'C', which has p, not 'q'"):
        Engine(Knowledge.load(file)).add(wild)


def test_other_languages_claim_nothing(auction: Knowledge) -> None:
    engine = Engine(auction)
    engine.add(parse("(home, manufacture, ?x) and ?x is a Nobody"))
    engine.add(parse("where (?x, manufacture, ?y) suchthat (?y descendantOf Nobody)", "gql"))


def test_copies_of_a_subscription(auction: Knowledge, tmp_path: Path) -> None:
    """Canonical, or saved and opened: nothing is asked a second time, and the answers stay."""
    text = "(_:H, ?1, (Selling, target, Computer))"
    subscription = parse(text, "statements")
    engine = Engine(auction)
    engine.add(subscription, id="s")
    engine.add(canonical(subscription), id="t")
    engine.save(tmp_path / "index")
    opened = Engine.open(tmp_path / "index")
    event = Event.rdf(
        "@prefix : <http://x.org/> . _:H a :Selling ; :target _:pc . _:pc a :NotebookPC .", "ttl"
    )
    for each in (engine, opened):
        assert [match.subscription for match in each.match(event)] == ["s", "t"]
        assert dict(each.subscriptions())["s"] == subscription


def test_check_asks_the_concept_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "auction.ttl").write_text(AUCTION)
    command = ["check", "--language", "statements", "--knowledge", str(tmp_path / "auction.ttl")]
    assert main([*command, "--", "(_:H, ?1, (Selling, target, Computer))"]) == 0
    assert capsys.readouterr().out.endswith("(home, target, ?0) and ?0 is a Computer injective\n")
    assert main([*command, "--", "(_:H, ?1, (Selling, maker, Computer))"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[2].startswith(" " * 20 + "^ expected a property of 'Selling'")
