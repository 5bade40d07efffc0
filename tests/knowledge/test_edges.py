"""Corners of loading and looking up, each found by breaking a line that no other test guarded."""

from pathlib import Path

import pytest

import sensewire as sw
from sensewire.knowledge.knowledge import Knowledge, called
from sensewire.knowledge.stored import from_json, to_json
from sensewire.model.terms import iri, string
from tests.knowledge.test_knowledge import loaded, meaning

RDFS = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
PREFIX = "@prefix : <http://x.org/o#> . " + RDFS + OWL


def test_what_two_files_say_of_one_entity_is_put_together(tmp_path: Path) -> None:
    files = {
        "a": PREFIX + ':C a owl:Class ; rdfs:label "zed" ; owl:deprecated true .',
        "b": PREFIX + ':C a owl:ObjectProperty ; rdfs:label "alpha" .',
        "y": "scope: {in_a: a, in_b: b, in_y: y}\nhierarchy: {p: q}",
    }
    known = loaded(tmp_path, **files)
    entity = known.entity(iri("http://x.org/o#C"))
    assert entity is not None
    assert entity.schemes == {"a", "b"}
    assert entity.labels == ("alpha", "zed")
    assert entity.deprecated
    assert {kind.value for kind in entity.kinds} == {"concept", "property"}
    for attribute, found in (("in_a", True), ("in_b", True), ("in_y", False)):
        scope = known.scope_of(string(attribute))
        assert (known.value_root(string("C"), scope) == entity.term) == found
    (tmp_path / "other").mkdir()
    assert loaded(tmp_path / "other", **dict(reversed(files.items()))).version == known.version


def test_a_prefix_of_two_addresses_stands_for_nothing(tmp_path: Path) -> None:
    one = f"@prefix ex: <http://one.org/> . {OWL} ex:A a owl:Class ."
    two = f"@prefix ex: <http://two.org/> . {OWL} ex:B a owl:Class ."
    assert meaning(loaded(tmp_path, one=one), "ex:A") == "http://one.org/A"
    known = loaded(tmp_path, one=one, two=two)
    for word in ("ex:A", "ex:B"):
        assert known.value_root(string(word)) == string(word)
    assert "ex" not in dict(known.content.prefixes)


def test_a_prefix_that_is_also_a_scheme_has_two_meanings(tmp_path: Path) -> None:
    known = loaded(
        tmp_path,
        rdf=f"@prefix o: <http://x.org/> . {OWL} o:lamp a owl:Class .",
        o="hierarchy: {lamp: tool}",
    )
    assert known.is_ambiguous(string("o:lamp"))


def test_the_order_of_schemes_in_a_scope_is_nothing(tmp_path: Path) -> None:
    a = "hierarchy: {x: y}\nscope: {t: [b, a, b]}"
    known = loaded(tmp_path, a=a, b="hierarchy: {x: z}\nscope: {t: [a, b]}")
    assert known.scope_of(string("t")) == frozenset({"a", "b"})
    assert [schemes for _, schemes in known.content.scopes] == [("a", "b")]


def test_stored_knowledge_that_cannot_be_read() -> None:
    stored = to_json(sw.Knowledge().content)
    with pytest.raises(sw.KnowledgeError, match="format 2; this version reads 1"):
        from_json(stored.replace(b'"format":1', b'"format":2'))
    with pytest.raises(sw.KnowledgeError, match="this is no stored knowledge"):
        from_json(stored.replace(b'"broader":[]', b'"broader":[[7,7]]'))


def test_everything_stated_travels(tmp_path: Path) -> None:
    text = PREFIX + (
        ':A a owl:Class ; owl:disjointWith :B ; owl:deprecated true ; rdfs:label "an A" .'
        " :B a owl:Class . :p a owl:ObjectProperty . :A :p :B ."
    )
    content = loaded(tmp_path, o=text).content
    assert content.disjoint
    assert content.statements
    assert content.prefixes
    assert any(entity.deprecated for entity in content.entities)
    assert from_json(to_json(content)) == content


def test_case_is_folded_and_not_only_lowered(tmp_path: Path) -> None:
    known = loaded(tmp_path, a="hierarchy: {Straße: Weg}")
    assert called(known.value_root(string("STRASSE"))) == "Straße"


def test_a_text_that_is_an_iri_is_looked_up_as_one(tmp_path: Path) -> None:
    known = loaded(
        tmp_path, o=f"@prefix : <http://x.org/o#> . {OWL} :A a owl:Class .", y="hierarchy: {A: B}"
    )
    assert known.value_root(string("http://x.org/o#A")) == iri("http://x.org/o#A")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bom.owl", b"\xef\xbb\xbf<?xml version='1.0'?><rdf:RDF {ns}>{body}</rdf:RDF>"),
        ("bare.owl", b"<rdf:RDF {ns}>{body}</rdf:RDF>"),
        (
            "list.owl",
            b'[{"@id": "http://x.org/A", "http://www.w3.org/2000/01/rdf-schema#subClassOf":'
            b' [{"@id": "http://x.org/B"}]}]',
        ),
    ],
)
def test_how_a_shared_ending_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    ns = (
        b'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        b'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
    )
    body = (
        b'<rdf:Description rdf:about="http://x.org/A">'
        b'<rdfs:subClassOf rdf:resource="http://x.org/B"/></rdf:Description>'
    )
    (tmp_path / name).write_bytes(data.replace(b"{ns}", ns).replace(b"{body}", body))
    known = Knowledge.load(tmp_path / name)
    assert known.value_root(string("B")) in known.above(known.value_root(string("A")))


def test_a_dtd_is_refused_under_a_shared_ending_too(tmp_path: Path) -> None:
    (tmp_path / "k.owl").write_text("<!DOCTYPE rdf:RDF><rdf:RDF/>")
    with pytest.raises(sw.KnowledgeError, match="with a DTD is refused"):
        Knowledge.load(tmp_path / "k.owl")


def test_an_ending_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "SHOP.YAML").write_text("hierarchy: {x: y}")
    assert len(Knowledge.load(tmp_path).content.entities) == 2


def test_names_that_merge_close_no_cycle_alone_and_are_refused_with_others(tmp_path: Path) -> None:
    """Two properties of one name below each other say nothing; a way round through others does."""
    subproperty = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    known = loaded(
        tmp_path,
        o=f"@prefix : <http://x.org/o#> . :size {subproperty} <http://y.org/size> .",
        y="properties: {width: size}",
    )
    assert known.attribute_roots(string("size")) & known.attributes_above(string("width"))
    with pytest.raises(sw.KnowledgeError, match="a cycle: "):
        loaded(
            tmp_path,
            o=f"@prefix : <http://x.org/o#> . :size {subproperty} :width .",
            y="properties: {width: size}",
        )


def test_the_shortest_way_is_found_whatever_the_order() -> None:
    from sensewire.knowledge.hierarchy import Hierarchy

    a, b, c, d, top = map(string, "abcde")
    short, long = [(a, b), (b, top)], [(a, c), (c, d), (d, top)]
    for edges in (short + long, long + short):
        assert Hierarchy(edges, ()).path_up(a, top) == [a, b, top]


def test_a_synonym_below_its_own_root_has_nothing_above_it() -> None:
    from sensewire.knowledge.hierarchy import Hierarchy

    a, b, c = map(string, "abc")
    hierarchy = Hierarchy([(a, b)], [(a, b)])
    assert hierarchy.way_out(a, but=c) == [a]
    assert list(hierarchy.parents(a)) == []


def test_names_of_every_kind_of_entity_merge(tmp_path: Path) -> None:
    """Only a property, by any of its names, is one attribute with a plain name."""
    known = loaded(
        tmp_path,
        o=f"@prefix : <http://x.org/o#> . {OWL} :lamp a owl:Class ."
        " :price a owl:DatatypeProperty .",
        y="properties: {fee: price, bulb: lamp}",
    )
    assert known.attribute_roots(iri("http://x.org/o#price")) & known.attributes_above(
        string("fee")
    )
    lamp = known.attribute_roots(iri("http://x.org/o#lamp"))
    assert not lamp & known.attributes_above(string("bulb"))


def test_two_properties_of_one_name_below_each_other_are_refused(tmp_path: Path) -> None:
    sub = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    o = "@prefix : <http://x.org/o#> . @prefix y: <http://y.org/> ."
    o += f" :size {sub} y:size . y:size {sub} :size ."
    with pytest.raises(sw.KnowledgeError, match="a cycle: "):
        loaded(tmp_path, o=o, z="properties: {width: size}")
