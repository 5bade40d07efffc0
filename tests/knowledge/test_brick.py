"""The Brick ontology: what is read, against plain counts of its triples and networkx.

Proved by breaking: narrower read as broader, edges to Thing kept, pairs of one node with itself
kept, blank nodes as IRIs, labels and deprecation dropped, `maxCount 0` ignored, plain triples read
beside shapes.
"""

from collections.abc import Iterator

import networkx
import pyoxigraph
import pytest

from sensewire.knowledge.content import Content, Draft, EntityKind
from sensewire.knowledge.rdf_file import read_rdf
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import iri, local_name
from tests.knowledge.brick import brick, broken_brick

BRICK = "https://brickschema.org/schema/Brick#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SHACL = "http://www.w3.org/ns/shacl#"


@pytest.fixture(scope="module")
def draft() -> Draft:
    found = Draft()
    read_rdf(brick(), "ttl", found)
    return found


@pytest.fixture(scope="module")
def content(draft: Draft) -> Content:
    return draft.content()


@pytest.fixture(scope="module")
def store() -> pyoxigraph.Store:
    found = pyoxigraph.Store()
    found.bulk_load(path=str(brick()), format=pyoxigraph.RdfFormat.TURTLE)
    return found


def pairs(store: pyoxigraph.Store, property: str) -> Iterator[tuple[str, str]]:
    """Yield a property's pairs of two different IRIs."""
    for quad in store.quads_for_pattern(None, pyoxigraph.NamedNode(property), None):
        match quad.subject, quad.object:
            case pyoxigraph.NamedNode() as one, pyoxigraph.NamedNode() as other if one != other:
                yield one.value, other.value


def literals(store: pyoxigraph.Store, property: str) -> set[tuple[str, str]]:
    """Return a property's pairs of an IRI and a literal's text."""
    return {
        (quad.subject.value, quad.object.value)
        for quad in store.quads_for_pattern(None, pyoxigraph.NamedNode(property), None)
        if isinstance(quad.subject, pyoxigraph.NamedNode)
        and isinstance(quad.object, pyoxigraph.Literal)
    }


def texts(content_pairs: object) -> set[tuple[str, str]]:
    assert isinstance(content_pairs, tuple)
    return {(one.text, other.text) for one, other in content_pairs}


def test_every_class_is_a_concept(content: Content, store: pyoxigraph.Store) -> None:
    types = list(pairs(store, RDF + "type"))
    classes = {node for node, type in types if type in (OWL + "Class", RDFS + "Class")}
    assert len(classes) > 1_500
    concepts = {e.term.text for e in content.entities if EntityKind.CONCEPT in e.kinds}
    assert classes <= concepts
    tags = {node for node, type in types if type == BRICK + "Tag"}
    assert len(tags) == 536
    assert not tags & concepts


def test_the_hierarchy_is_that_of_the_triples(content: Content, store: pyoxigraph.Store) -> None:
    things = dict.fromkeys((OWL + "Thing", RDFS + "Resource"), "Thing")
    stated = {(low, things.get(up, up)) for low, up in pairs(store, RDFS + "subClassOf")}
    assert len(stated) > 2_000
    stated |= set(pairs(store, SKOS + "broader"))
    stated |= {(narrow, broad) for broad, narrow in pairs(store, SKOS + "narrower")}
    assert texts(content.broader) == stated
    assert texts(content.subproperties) == set(pairs(store, RDFS + "subPropertyOf"))


def test_synonyms_instances_and_disjoint_classes(content: Content, store: pyoxigraph.Store) -> None:
    words = ("equivalentClass", "equivalentProperty", "sameAs")
    stated = [set(pairs(store, OWL + word)) for word in words]
    assert all(stated)
    assert texts(content.same) == set.union(*stated)
    assert texts(content.disjoint) == set(pairs(store, OWL + "disjointWith"))
    vocabularies = (RDF, RDFS, OWL, SKOS, SHACL)
    assert texts(content.instances) == {
        pair for pair in pairs(store, RDF + "type") if not pair[1].startswith(vocabularies)
    }


def test_labels_and_deprecation(content: Content, store: pyoxigraph.Store) -> None:
    entities = {entity.term.text: entity for entity in content.entities}
    stated = {(node, label) for node, label in literals(store, RDFS + "label") if node in entities}
    assert len(stated) > 2_500
    assert {(node, label) for node, e in entities.items() for label in e.labels} == stated
    deprecated = {node for node, text in literals(store, OWL + "deprecated") if text == "true"}
    assert len(deprecated) > 200
    assert {node for node, e in entities.items() if e.deprecated} == deprecated & set(entities)


def test_a_zone_air_temperature_sensor_is_a_temperature_sensor(draft: Draft) -> None:
    graph = networkx.DiGraph(list(draft.broader))
    below = networkx.ancestors(graph, iri(BRICK + "Temperature_Sensor"))
    assert iri(BRICK + "Zone_Air_Temperature_Sensor") in below
    assert iri(BRICK + "Sensor") not in below


def test_meta_statements_are_those_of_the_shapes(content: Content) -> None:
    found = {tuple(local_name(term.text) for term in each) for each in content.statements}
    assert ("Equipment", "hasPart", "Equipment") in found
    assert ("Temperature_Sensor", "lastKnownValue", "TemperatureObservation") in found
    assert ("Point", "hasLocation", "Thing") not in found  # the shape forbids it
    # Hundreds of plain triples are about the classes themselves; shapes say these few of instances.
    assert {each for each in found if each[1] in ("isReplacedBy", "aliasOf", "hasQuantity")} == {
        ("Entity", "isReplacedBy", "Entity"),
        ("Entity", "aliasOf", "Entity"),
        ("Point", "hasQuantity", "Quantity"),
        ("Point", "hasQuantity", "QuantityKind"),
    }


def test_prefixes(draft: Draft) -> None:
    assert draft.prefixes["brick"] == BRICK
    assert "" not in draft.prefixes


def test_an_older_brick_that_is_broken_turtle() -> None:
    with pytest.raises(KnowledgeError, match=r"Brick\.ttl: broken Turtle: .* at line \d+ "):
        read_rdf(broken_brick(), "ttl", Draft())
