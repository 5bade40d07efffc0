"""What an RDF file states, rule by rule, in every syntax.

Proved by breaking: narrower read as broader, N3's quoted graphs read, pairs of one node with itself
kept, the empty prefix kept, a later prefix winning, a DOCTYPE across two chunks or an unclosed file
let pass, RDF/XML's prefixes taken at the end only, no base, a byte order mark left in, blank nodes
as IRIs, DAML+OIL's words kept, terms not shared, labels through nodes dropped, Thing, Nothing and
datatypes as classes, each place that makes a class, property or concept left out.
"""

import random
from pathlib import Path

import pyoxigraph
import pytest

from sensewire.knowledge.content import Content, Draft, Entity, EntityKind, Place
from sensewire.knowledge.rdf_file import read_rdf
from sensewire.model.errors import KnowledgeError
from sensewire.model.rdf import FORMATS
from sensewire.model.terms import Term, iri, local_name, string

PREFIXES = """
@prefix : <http://x.org/shop#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix daml: <http://www.daml.org/2001/03/daml+oil#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CONCEPT, INDIVIDUAL, PROPERTY = EntityKind.CONCEPT, EntityKind.INDIVIDUAL, EntityKind.PROPERTY

EVERYTHING = """
:Laptop a owl:Class ; rdfs:subClassOf :Computer ; rdfs:label "laptop"@en, "Klapprechner"@de .
:Notebook owl:equivalentClass :Laptop ; owl:disjointWith :Desktop ; owl:deprecated true .
:fast a :Speed . :quick owl:sameAs :fast .
:cost rdfs:subPropertyOf :price ; owl:inverseOf :costOf . :value owl:equivalentProperty :price .
:price rdfs:domain :Product ; rdfs:range xsd:decimal .
:Tablet rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :with ; owl:someValuesFrom :Pen ] .
:pen a skos:Concept ; skos:broader :tool ; skos:prefLabel "Pen" ; skos:inScheme :office .
[] a owl:AllDisjointClasses ; owl:members ( :Pen :Speed :Computer ) .
:ProductShape sh:targetClass :Product ; sh:property [ sh:path :maker ; sh:class :Company ] .
"""


def read(folder: Path, text: str, name: str = "shop.ttl") -> Content:
    """Return what a file of this text states; Turtle has its prefixes already."""
    path = folder / name
    path.write_text(PREFIXES + text if name.endswith((".ttl", ".trig", ".n3")) else text)
    draft = Draft()
    read_rdf(path, path.suffix[1:], draft)
    return draft.content()


def names(pairs: tuple[tuple[Term, Term], ...]) -> set[tuple[str, str]]:
    return {(local_name(one.text), local_name(other.text)) for one, other in pairs}


def kinds(content: Content) -> dict[str, set[EntityKind]]:
    return {local_name(entity.term.text): set(entity.kinds) for entity in content.entities}


def entity(content: Content, name: str) -> Entity:
    return next(e for e in content.entities if local_name(e.term.text) == name)


def converted(turtle: str, format: str) -> str:
    """Return the same triples in another syntax, as pyoxigraph writes them."""
    triples = (quad.triple for quad in pyoxigraph.parse(turtle, format=pyoxigraph.RdfFormat.TURTLE))
    syntax = pyoxigraph.RdfFormat.from_extension(format)
    assert syntax is not None
    prefixes = {"shop": "http://x.org/shop#"}
    written = pyoxigraph.serialize(triples, format=syntax, prefixes=prefixes)
    assert written is not None
    return written.decode()


@pytest.mark.parametrize("format", FORMATS)
def test_every_syntax_states_the_same(format: str, tmp_path: Path) -> None:
    expected = read(tmp_path, EVERYTHING)
    text = converted(PREFIXES + EVERYTHING, format)
    (tmp_path / "other").mkdir()
    path = tmp_path / "other" / f"shop.{format}"
    path.write_text(text)
    draft = Draft()
    read_rdf(path, format, draft)
    found = draft.content()
    for part in Content.__slots__:
        if part != "prefixes":
            assert getattr(found, part) == getattr(expected, part)
    with_prefixes = format in ("ttl", "trig", "n3", "rdf")
    assert (draft.prefixes.get("shop") == "http://x.org/shop#") is with_prefixes
    assert len(expected.entities) == 19
    assert all((expected.broader, expected.same, expected.instances, expected.statements))


def test_the_order_of_the_triples_does_not_matter(tmp_path: Path) -> None:
    lines = converted(PREFIXES + EVERYTHING, "nt").splitlines()
    expected = read(tmp_path, "\n".join(lines), "shop.nt")
    for seed in range(20):
        random.Random(seed).shuffle(lines)
        assert read(tmp_path, "\n".join(lines), "shop.nt") == expected


def test_all_graphs_of_a_dataset_are_read(tmp_path: Path) -> None:
    text = ":g1 { :A rdfs:subClassOf :B } :B rdfs:subClassOf :C . :g2 { :x a :A }"
    content = read(tmp_path, text, "shop.trig")
    assert names(content.broader) == {("A", "B"), ("B", "C")}
    assert names(content.instances) == {("x", "A")}


def test_what_n3_quotes_is_not_stated(tmp_path: Path) -> None:
    text = ":A rdfs:subClassOf :B . :Ann :says { :B rdfs:subClassOf :C } ."
    assert names(read(tmp_path, text, "shop.n3").broader) == {("A", "B")}


def test_classes_are_what_is_typed_or_stands_where_a_class_does(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:A a owl:Class . :B a rdfs:Class . :C a daml:Class . :D rdfs:subClassOf :E .
        :F owl:equivalentClass :G . :H owl:disjointWith :I . :x a :J . :p rdfs:domain :K .
        :p rdfs:range :L . :q rdfs:range xsd:int . :M a rdfs:Datatype . :q rdfs:range :M .
        [] a owl:AllDisjointClasses ; owl:members ( :N :O ) . :Old a owl:DeprecatedClass .
        :shape sh:targetClass :P . [] sh:class :Q .""",
    )
    classes = {name for name, kind in kinds(content).items() if CONCEPT in kind}
    assert classes == {*"ABCDEFGHIJKLNOPQ", "Old"}
    assert entity(content, "Old").deprecated


def test_everything_is_a_thing_and_nobody_needs_to_say_so(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:A rdfs:subClassOf owl:Thing, daml:Thing, rdfs:Resource, :A, :B .
        :B owl:equivalentClass owl:Thing . owl:Nothing rdfs:subClassOf :B .
        :p rdfs:subPropertyOf owl:topObjectProperty . :M a rdfs:Datatype .
        :M rdfs:subClassOf xsd:decimal . :A owl:equivalentClass [ owl:unionOf ( :C ) ] .""",
    )
    assert names(content.broader) == {("A", "B"), ("A", "Thing")}
    assert content.same == content.subproperties == ()
    assert set(kinds(content)) == {"A", "B", "p"}


def test_properties_are_what_is_typed_or_stands_where_a_property_does(tmp_path: Path) -> None:
    typed = ("Object", "Datatype", "Annotation", "Functional", "InverseFunctional", "Symmetric")
    content = read(
        tmp_path,
        "".join(f":of{kind} a owl:{kind}Property . " for kind in typed)
        + """:a a rdf:Property . :b a daml:UniqueProperty . :c rdfs:subPropertyOf :d .
        :e owl:equivalentProperty :f . :g owl:inverseOf :h . :i rdfs:domain :C .
        :j rdfs:range :C . [] sh:path :k . [] sh:path ( :no :no ) . [] sh:path rdf:type .""",
    )
    properties = {name for name, kind in kinds(content).items() if kind == {PROPERTY}}
    assert properties == {*"abcdefghijk"} | {f"of{kind}" for kind in typed}
    assert names(content.subproperties) == {("c", "d")}
    assert names(content.same) == {("e", "f")}


def test_individuals_have_a_class_of_their_own(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:x a :Car, owl:NamedIndividual . :y a owl:NamedIndividual . :z a owl:Thing .
        :onto a owl:Ontology . :s a skos:ConceptScheme . :l a xl:Label . :n a sh:NodeShape .
        [] a :Wheel . :punned a owl:Class, :Car . :one owl:sameAs :x . :Car owl:sameAs :Auto .
        :Auto a owl:Class .""",
    )
    assert names(content.instances) == {("x", "Car"), ("punned", "Car"), ("z", "Thing")}
    assert kinds(content) == {
        **{name: {INDIVIDUAL} for name in ("x", "y", "z", "one")},
        **{name: {CONCEPT} for name in ("Car", "Wheel", "Auto")},
        "punned": {CONCEPT, INDIVIDUAL},
    }
    assert names(content.same) == {("one", "x"), ("Car", "Auto")}


def test_a_thesaurus(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:a skos:broader :b . :b skos:narrower :c . :d skos:broadMatch :b .
        :b skos:narrowMatch :e .
        :a skos:exactMatch :f ; skos:related :no ; skos:closeMatch :no ; skos:relatedMatch :no .
        :a skos:inScheme <http://x.org/schemes/office> . :b skos:topConceptOf :home .
        :garden skos:hasTopConcept :c . :g skos:inScheme :home ; skos:prefLabel "G" .
        :a skos:prefLabel "A" ; skos:altLabel "Ah"@en, "Aa"@de ; skos:hiddenLabel "aah" .
        :a xl:prefLabel [ xl:literalForm "long A" ] ; xl:altLabel :label .
        :label xl:literalForm "other A"@en . :no skos:prefLabel "no entity" .""",
    )
    assert names(content.broader) == {(narrow, "b") for narrow in "acde"}
    assert names(content.same) == {("a", "f")}
    assert kinds(content) == {name: {CONCEPT} for name in "abcdefg"}
    assert [set(entity(content, name).schemes) for name in "abcd"] == [
        {"shop", "office"},
        {"shop", "home"},
        {"shop", "garden"},
        {"shop"},
    ]
    labels = ("A", "Aa", "Ah", "aah", "long A", "other A")
    assert entity(content, "a").labels == labels
    assert entity(content, "g").labels == ("G",)  # known by its scheme alone


def test_labels_and_deprecation_are_of_entities_only(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:A a owl:Class ; rdfs:label "eh"@en, "ah"@de, :no ; owl:deprecated "1"^^xsd:boolean .
        :B a owl:Class ; rdfs:comment "no label" ; owl:deprecated false .
        :nothing rdfs:label "unknown" ; owl:deprecated true .""",
    )
    assert {(local_name(e.term.text), e.labels, e.deprecated) for e in content.entities} == {
        ("A", ("ah", "eh"), True),
        ("B", (), False),
    }


@pytest.mark.parametrize("address", ["2001/03/daml+oil", "2000/12/daml+oil", "2000/10/daml-ont"])
def test_daml_is_read_as_owl(address: str, tmp_path: Path) -> None:
    text = """
    :A a daml:Class ; daml:label "a" ; daml:subClassOf :B, daml:Thing ; daml:sameClassAs :C .
    :B daml:disjointWith :D . :x daml:type :A . :x daml:sameIndividualAs :y .
    :z daml:equivalentTo :x . :p a daml:ObjectProperty ; daml:samePropertyAs :q .
    :q a daml:UnambiguousProperty ; daml:subPropertyOf :r ; daml:inverseOf :s .
    :r daml:domain :A ; daml:range <http://www.w3.org/2000/10/XMLSchema#string> .
    :t a daml:DatatypeProperty ; daml:domain :B ; daml:range daml:Literal .
    """
    path = tmp_path / "shop.ttl"
    path.write_text(PREFIXES.replace("2001/03/daml+oil", address) + text)
    draft = Draft()
    read_rdf(path, "ttl", draft)
    successors = text
    for word, successor in {
        "daml:label": "rdfs:label",
        "daml:subClassOf": "rdfs:subClassOf",
        "daml:sameClassAs": "owl:equivalentClass",
        "daml:type": "rdf:type",
        "daml:sameIndividualAs": "owl:sameAs",
        "daml:equivalentTo": "owl:sameAs",
        "daml:samePropertyAs": "owl:equivalentProperty",
        "daml:subPropertyOf": "rdfs:subPropertyOf",
        "daml:UnambiguousProperty": "owl:InverseFunctionalProperty",
        "daml:domain": "rdfs:domain",
        "daml:range": "rdfs:range",
        "daml:Literal": "rdfs:Literal",
        "http://www.w3.org/2000/10/XMLSchema#": "http://www.w3.org/2001/XMLSchema#",
        "daml:": "owl:",
    }.items():
        successors = successors.replace(word, successor)
    found, expected = draft.content(), read(tmp_path, successors)
    for part in Content.__slots__:
        if part != "prefixes":
            assert getattr(found, part) == getattr(expected, part)
    assert names(found.broader) == {("A", "B"), ("A", "Thing")}
    assert names(found.same) == {("A", "C"), ("p", "q"), ("x", "y"), ("z", "x")}
    assert [[local_name(term.text) for term in each] for each in found.statements] == [
        ["A", "r", "string"],
        ["B", "t", "Literal"],
    ]


def test_old_rdf_xml_without_a_base(tmp_path: Path) -> None:
    text = """<?xml version="1.0"?>
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
        xmlns:daml="http://www.daml.org/2001/03/daml+oil#" xmlns="http://x.org/default#">
      <daml:Class rdf:ID="Laptop"><rdfs:subClassOf rdf:resource="#Computer"/></daml:Class>
    </rdf:RDF>"""
    path = tmp_path / "my shop.rdf"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    draft = Draft()
    read_rdf(path, "rdf", draft)
    pair = (iri("file:///my%20shop#Laptop"), iri("file:///my%20shop#Computer"))
    assert draft.broader == {pair: Place(str(path))}
    assert set(draft.prefixes) == {"rdf", "rdfs", "daml"}
    assert entity(draft.content(), "Laptop").schemes == {"my shop"}


def test_prefixes_of_a_json_context_and_one_that_two_files_use_differently(tmp_path: Path) -> None:
    context = '{"shop": "http://x.org/json#", "sub": "rdfs:subClassOf", "rdfs": "%s"}'
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    path = tmp_path / "a.jsonld"
    path.write_text(
        f'{{"@context": {context % rdfs}, "@id": "shop:A", "rdfs:subClassOf": {{"@id": "shop:B"}}}}'
    )
    other = tmp_path / "b.ttl"
    other.write_text("@prefix shop: <http://x.org/turtle#> . @prefix : <http://x.org/> . :a a :B .")
    draft = Draft(prefixes={"": "kept as it was"})
    read_rdf(path, "jsonld", draft)
    read_rdf(other, "ttl", draft)
    assert dict(draft.content().prefixes) == {"": "kept as it was", "rdfs": rdfs}
    assert names(draft.content().broader) == {("A", "B")}


def test_places_and_one_term_for_each_iri(tmp_path: Path) -> None:
    path = tmp_path / "shop.ttl"
    path.write_text(PREFIXES + EVERYTHING)
    draft = Draft()
    read_rdf(path, "ttl", draft)
    parts = (draft.broader, draft.same, draft.instances, draft.disjoint, draft.subproperties)
    assert {place for part in parts for place in part.values()} == {Place(str(path), None)}
    terms = [term for part in parts for pair in part for term in pair]
    terms += [term for statement in draft.statements for term in statement]
    assert len({id(term) for term in terms}) == len(set(terms))
    read_rdf(path.rename(tmp_path / "again.ttl"), "ttl", draft)
    assert {place for part in parts for place in part.values()} == {Place(str(path), None)}


def test_disjoint_classes(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:A owl:disjointWith :B, [ owl:complementOf :C ] .
        [] a owl:AllDisjointClasses ; owl:members ( :C :D :E ) .
        [] a owl:AllDifferent ; owl:members ( :x :y ) .""",
    )
    pairs = {("A", "B"), ("C", "D"), ("C", "E"), ("D", "E")}
    assert names(content.disjoint) == pairs


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ttl", ":A a\n\n:B", "broken Turtle: Parser error at line 13 "),
        ("a.nt", "<http://x.org/a> <b> 1 .", "broken N-Triples: Parser error at line 1 "),
        ("a.n3", "?x a :A .", "broken N3: variables are not allowed"),
        ("a.rdf", "<a><b></a>", "broken RDF/XML: "),
        (
            "a.rdf",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Bag>',
            "broken RDF/XML: the file ends before its first element is closed",
        ),
        ("a.rdf", '<!DocType a [<!ENTITY b "c">]><a/>', "RDF/XML with a DTD is refused"),
        ("a.rdf", f"<!--{'x' * (2**20 - 12)}--><!doctype a><a/>", "RDF/XML with a DTD is refused"),
        ("a.jsonld", '{"@context": "http://x.org/c"}', "JSON-LD with a remote context is refused"),
        (
            "a.jsonld",
            '{"@context": {"@import": "http://x.org/c"}}',
            "JSON-LD with a remote context is refused",
        ),
        ("a.jsonld", '{"@id": ', "broken JSON-LD: Parser error at line 1 "),
        ("a.csv", "a,b", "there is no RDF format 'csv'; expected one of nt, nq"),
    ],
)
def test_a_broken_file_names_itself(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError) as caught:
        read(tmp_path, text, name)
    assert str(caught.value).startswith(f"{tmp_path / name}: {message}")


def test_a_file_that_breaks_late_leaves_the_draft_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(PREFIXES + ":A rdfs:subClassOf :B .\n" * 10_000 + "oops")
    draft = Draft()
    with pytest.raises(KnowledgeError, match="line 10011 "):
        read_rdf(path, "ttl", draft)
    assert draft == Draft()


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(b'<http://x.org/a>\n<http://x.org/b> "\xff" .')
    with pytest.raises(KnowledgeError, match=r"a\.ttl: broken Turtle: .*line 2 .*UTF-8"):
        read_rdf(path, "ttl", Draft())
    with pytest.raises(KnowledgeError, match=r"none\.ttl: No such file"):
        read_rdf(tmp_path / "none.ttl", "ttl", Draft())
    with pytest.raises(KnowledgeError, match="Is a directory"):
        read_rdf(tmp_path, "ttl", Draft())


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(b"\xef\xbb\xbf<http://x.org/a> a <http://x.org/B> .")
    draft = Draft()
    read_rdf(path, "ttl", draft)
    assert names(draft.content().instances) == {("a", "B")}


def test_an_empty_file_states_nothing(tmp_path: Path) -> None:
    for name in ("a.ttl", "a.nt"):
        (tmp_path / name).write_text("")
        draft = Draft()
        read_rdf(tmp_path / name, name.partition(".")[2], draft)
        assert draft == Draft()


def test_a_triple_about_a_triple_states_none(tmp_path: Path) -> None:
    content = read(tmp_path, ":A rdfs:subClassOf :B {| :by :Ann |} . :C :p <<( :D :q :E )>> .")
    assert names(content.broader) == {("A", "B")}


def test_thing_is_what_the_semantics_call_so(tmp_path: Path) -> None:
    content = read(tmp_path, ":p rdfs:domain owl:Thing . :q rdfs:range rdfs:Resource .")
    assert [(c, v) for c, _, v in content.statements] == [(string("Thing"),) * 2] * 2
