"""What knowledge holds, as values: a word's meanings, statistics, and what may be a mistake.

Proved by breaking: steps not counted, individuals left unmarked, statements inherited from below, a
depth of the shortest way, labels left out of ambiguity, synonyms not counted as a relation,
everything below a clash listed too, functions behind a loop taken for a part of it.
"""

import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from sensewire.knowledge.content import Content, Entity, EntityKind, in_scheme, own_name
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.relations import Relations, Role, looping
from sensewire.knowledge.report import (
    MOST_LISTED,
    findings,
    meanings,
    near_words,
    statistics,
)
from sensewire.model.terms import iri, string
from sensewire.testing.knowledge import knowledge

SHOP = """\
synonyms: {price: [cost], laptop: [notebook]}
hierarchy: {laptop: computer, computer: [machine, product], tablet: product, desk: desk lamp}
properties: {net price: price}
instances: {thinkpad: [laptop], shop17: seller}
scope: {topic: shop}
statements:
  - [Selling, target, machine]
  - [computer, price, xsd:decimal]
mappings:
  - {name: twice, inputs: [{n: net price}], outputs: {double: n * 2}}
  - {name: half, inputs: [double], outputs: {net price: double / 2}}
  - {name: seen, inputs: [double], outputs: {known: double}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Relations:
    (tmp_path / "shop.yaml").write_text(SHOP)
    return Relations(Knowledge.load(tmp_path / "shop.yaml"))


def names(terms: object) -> list[str]:
    assert isinstance(terms, tuple)
    return [own_name(term) for term in terms]


def test_a_word_as_a_value(shop: Relations) -> None:
    (laptop,) = meanings("NOTEBOOK", Role.VALUE, shop)
    assert laptop.root == in_scheme("laptop", "shop")
    assert laptop.names == ("laptop", "notebook")
    assert (laptop.kinds, laptop.schemes) == (("concept",), ("shop",))
    assert [(own_name(term), steps) for term, steps in laptop.above] == [
        ("computer", 1),
        ("machine", 2),
        ("product", 2),
    ]
    assert names(laptop.below.first) == names(laptop.instances.first) == ["thinkpad"]
    assert set(map(own_name, laptop.individuals)) == {"thinkpad"}
    assert laptop.statements == ()
    assert [names(each) for each in laptop.inherited] == [
        ["computer", "price", "decimal"],
        ["Selling", "target", "machine"],
    ]


def test_a_concept_is_above_all_that_is_narrower(shop: Relations) -> None:
    (product,) = meanings("product", Role.VALUE, shop)
    assert names(product.below.first) == ["computer", "tablet", "laptop", "thinkpad"]
    assert set(map(own_name, product.individuals)) == {"thinkpad"}
    assert product.above == ()


def test_an_individual_is_one_step_from_its_class(shop: Relations) -> None:
    (thinkpad,) = meanings("thinkpad", Role.VALUE, shop)
    assert names(thinkpad.classes) == ["laptop"]
    assert [(own_name(term), steps) for term, steps in thinkpad.above][:2] == [
        ("laptop", 1),
        ("computer", 2),
    ]


def test_a_word_as_an_attribute(shop: Relations) -> None:
    (price,) = meanings("cost", Role.ATTRIBUTE, shop)
    assert own_name(price.root) == "price"
    assert names(price.below.first) == ["net price"]
    assert price.read_by == ()
    assert price.written_by == ("half",)  # something narrower
    assert [names(each) for each in price.statements] == [["computer", "price", "decimal"]]
    (net,) = meanings("net price", Role.ATTRIBUTE, shop)
    assert (net.read_by, net.written_by) == (("twice",), ("half",))
    assert [own_name(term) for term, _ in net.above] == ["price"]


def test_what_only_functions_and_scopes_name(shop: Relations) -> None:
    (double,) = meanings("double", Role.ATTRIBUTE, shop)
    assert (double.names, double.read_by, double.written_by) == ((), ("half", "seen"), ("twice",))
    (topic,) = meanings("topic", Role.ATTRIBUTE, shop)
    assert topic.scope == ("shop",)
    assert meanings("elephant", Role.ATTRIBUTE, shop) == ()
    assert meanings("elephant", Role.VALUE, shop) == ()


def test_an_iri_is_written_in_brackets(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("hierarchy: {<http://x.org/a#b>: c}")
    relations = Relations(Knowledge.load(tmp_path / "a.yaml"))
    (found,) = meanings("<http://x.org/a#b>", Role.VALUE, relations)
    assert found.root == iri("http://x.org/a#b")


def test_near_words(shop: Relations) -> None:
    assert near_words("Labtop", shop.knowledge) == ("laptop",)
    assert near_words("machines", shop.knowledge) == ("machine",)
    assert near_words("zzzzzz", shop.knowledge) == ()
    assert near_words("x", Knowledge()) == ()


def test_statistics(shop: Relations) -> None:
    found = statistics(shop)
    assert found.kinds == {"concept": 12, "individual": 2, "property": 3}
    assert found.schemes == {"shop": found.entities}
    assert (found.hierarchy, found.subproperties, found.synonyms) == (5, 1, 2)
    assert (found.instances, found.statements, found.functions) == (2, 2, 3)
    assert found.depth == 2
    assert found.scopes == {string("topic"): ("shop",)}
    assert statistics(Relations(Knowledge())).entities == 0


def test_the_depth_is_that_of_the_longest_way(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("hierarchy: {a: [b, c], b: c, c: d}")
    assert statistics(Relations(Knowledge.load(tmp_path / "a.yaml"))).depth == 3


def test_ambiguous_words_by_name_and_by_label(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("hierarchy: {bank: building, tank: vehicle}")
    (tmp_path / "b.yaml").write_text("hierarchy: {bank: shore}\nsynonyms: {a:tank: [container]}")
    (tmp_path / "c.ttl").write_text(
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x/1> a s:Concept ; s:prefLabel "Spring" . <http://x/2> a s:Concept ; '
        's:prefLabel "Spring" .'
    )
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml", "c.ttl")]
    found = findings(Relations(Knowledge.load(*paths)))
    assert set(found.ambiguous) == {"bank", "Spring"}
    assert found.ambiguous["bank"] == (in_scheme("bank", "a"), in_scheme("bank", "b"))


def test_concepts_that_nothing_else_mentions(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix x: <http://x/> .\n"
        "x:alone a owl:Class . x:same owl:equivalentClass x:as .\n"
        "x:child rdfs:subClassOf x:parent . x:thing a x:kind .\n"
        "x:p rdfs:domain x:domain ; rdfs:range x:range . x:q a owl:ObjectProperty ."
    )
    found = findings(Relations(Knowledge.load(tmp_path / "a.ttl")))
    assert found.alone == (iri("http://x/alone"),)
    assert len(found) == 1


def test_what_is_below_two_disjoint_classes(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix x: <http://x/> .\n"
        "x:animal owl:disjointWith x:plant . x:dog rdfs:subClassOf x:animal .\n"
        "x:euglena rdfs:subClassOf x:animal , x:plant . x:green rdfs:subClassOf x:euglena .\n"
        "x:triffid a x:plant , x:dog . x:rex a x:dog . x:one a x:green ."
    )
    found = findings(Relations(Knowledge.load(tmp_path / "a.ttl")))
    pair = iri("http://x/animal"), iri("http://x/plant")
    assert found.contradictory == (
        (iri("http://x/euglena"), *pair),
        (iri("http://x/triffid"), *pair),
    )


def test_functions_that_read_what_they_write(shop: Relations, tmp_path: Path) -> None:
    assert looping(shop) == ("half", "twice")
    (tmp_path / "a.yaml").write_text(
        "properties: {cost: price}\nmappings:\n"
        "  - {name: taxed, inputs: [price], outputs: {cost: price * 2}}\n"
        "  - {name: fine, inputs: [cost], outputs: {price: cost * 2}}\n"
        "  - {name: before, inputs: [a], outputs: {price: a}}\n"
        "  - {name: after, inputs: [price], outputs: {b: price}}\n"
    )
    relations = Relations(Knowledge.load(tmp_path / "a.yaml"))
    assert looping(relations) == ("fine", "taxed")  # cost serves as price, and fine feeds taxed
    (tmp_path / "b.yaml").write_text(
        "properties: {cost: price}\nmappings:\n"
        "  - {name: up, inputs: [cost], outputs: {price: cost * 2}}\n"
    )
    assert looping(Relations(Knowledge.load(tmp_path / "b.yaml"))) == ()


@given(known=knowledge(["red", "green", "other"], ["price", "colour"]))
def test_what_is_told_is_what_matching_reads(known: Knowledge) -> None:
    """The ways up and down are those of the knowledge itself."""
    relations = Relations(known)
    for word in ("red", "green", "other"):
        found = meanings(word, Role.VALUE, relations)
        assert tuple(each.root for each in found) == known.value_meanings(string(word))
        for each in found:
            above = dict(each.above)
            assert above.keys() == known.above(each.root) - {each.root, string("Thing")}
            assert all(known.steps_up(each.root, term) == n for term, n in above.items())
            assert set(each.below.first) == known.below(each.root) - {each.root}


@pytest.mark.long
def test_large_knowledge_takes_linear_time() -> None:
    """A chain, a fan and a clash of 30,000 concepts each: seconds would be minutes if squared."""
    count = 30_000
    terms = [in_scheme(f"c{number}", "s") for number in range(count)]
    top = in_scheme("top", "s")
    known = [*terms, top]
    content = Content(
        entities=tuple(
            Entity(t, frozenset({EntityKind.CONCEPT}), frozenset({"s"}), (t.text,), ("same",))
            for t in known
        ),
        broader=tuple((term, top) for term in terms),
        disjoint=tuple(pairwise(terms)),
    )
    start = time.monotonic()
    relations = Relations(Knowledge(content))
    assert statistics(relations).depth == 1
    found = findings(relations)
    assert set(found.ambiguous) == {"same"}
    (described,) = meanings("top", Role.VALUE, relations)
    assert (len(described.below.first), described.below.total) == (MOST_LISTED, count)
    assert near_words("c1", relations.knowledge)
    assert time.monotonic() - start < 20


def test_a_long_chain() -> None:
    terms = [iri(f"http://x/{number}") for number in range(5_000)]
    pairs = tuple(pairwise(terms))
    assert statistics(Relations(Knowledge(Content(broader=pairs)))).depth == 4_999
