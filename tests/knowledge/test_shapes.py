"""Meta-statements: from shapes, domains and ranges, restrictions and plain triples.

Proved by breaking: no implicit target, property shapes with a target of their own left out,
`maxCount 0`, `deactivated` and cardinality 0 ignored, Nothing kept, shapes behind `sh:node` and
qualified shapes not followed, unions not followed, other classes' parts taken as one's own, nodes
visited twice, no count of steps or statements, plain triples beside shapes or restrictions, of
annotation properties, of blank nodes, individuals, properties, concepts and ontologies.
"""

from pathlib import Path

import pytest

from sensewire.knowledge import shapes
from sensewire.knowledge.content import Content, EntityKind
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import local_name
from tests.knowledge.test_rdf_file import kinds, read


def statements(content: Content) -> set[str]:
    """Return each meta-statement as three local names."""
    return {" ".join(local_name(t.text) for t in statement) for statement in content.statements}


def test_a_shape_is_about_the_classes_that_it_names_or_is(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:Shape sh:targetClass :A, :B ; sh:property [ sh:path :p ; sh:class :X ] .
        :C a owl:Class, sh:NodeShape ; sh:property :named .
        :named sh:path :q ; sh:datatype xsd:int .
        :D rdfs:subClassOf :C ; sh:property [ sh:path :r ] .
        :alone a sh:PropertyShape ; sh:targetClass :E ; sh:path :s ; sh:class :X .
        :nobody a sh:NodeShape ; sh:property [ sh:path :t ; sh:class :Y ] .""",
    )
    assert statements(content) == {"A p X", "B p X", "C q int", "D r Thing", "E s X"}
    assert kinds(content)["X"] == {EntityKind.CONCEPT}
    assert kinds(content)["t"] == {EntityKind.PROPERTY}
    assert "int" not in kinds(content)


def test_what_a_shape_allows(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:S sh:targetClass :A ; sh:property
            [ sh:path :either ;
              sh:or ( [ sh:class :B ] [ sh:datatype xsd:string ] [ sh:node :T ] ) ],
            [ sh:path :nested ;
              sh:or ( [ sh:xone ( [ sh:class :C ] [ sh:and ( [ sh:class :D ] ) ] ) ] ) ],
            [ sh:path :toShape ; sh:node :T ], [ sh:path :toClass ; sh:node :F ],
            [ sh:path :through ; sh:node [ sh:node [ sh:class :G ] ] ],
            [ sh:path :some ; sh:qualifiedValueShape [ sh:class :H ] ; sh:qualifiedMinCount 1 ],
            [ sh:path :shared ; sh:or :Number ], [ sh:path :open ; sh:nodeKind sh:IRI ],
            [ sh:path :notOne ; sh:not [ sh:class :I ] ], [ sh:path :in ; sh:in ( :x :y ) ] .
        :T sh:targetClass :E . :F a rdfs:Class .
        :Number rdf:first [ sh:datatype xsd:int ] ; rdf:rest ( [ sh:datatype xsd:double ] ) .""",
    )
    assert statements(content) == {
        *("A either B", "A either string", "A either E", "A nested C", "A nested D"),
        *("A toShape E", "A toClass F", "A through G", "A some H", "A shared int"),
        *("A shared double", "A open Thing", "A notOne Thing", "A in Thing"),
    }


def test_what_a_shape_forbids_or_does_not_say_of_one_property(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:S sh:targetClass :A ; sh:property
            [ sh:path :never ; sh:maxCount 0 ; sh:class :B ],
            [ sh:path :off ; sh:deactivated true ],
            [ sh:path ( :p :q ) ; sh:class :B ], [ sh:path [ sh:inversePath :p ] ; sh:class :B ],
            [ sh:path rdf:type ; sh:class :B ], [ sh:path :once ; sh:maxCount 1 ; sh:class :B ] .
        :Off sh:targetClass :A ; sh:deactivated true ; sh:property [ sh:path :off ] .""",
    )
    assert statements(content) == {"A once B"}


def test_domains_and_ranges(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:p rdfs:domain :A ; rdfs:range :B . :q rdfs:domain :A . :r rdfs:range xsd:date .
        :s rdfs:domain :A, :B ; rdfs:range :C, :D . :t a owl:ObjectProperty .
        :u rdfs:domain [ a owl:Class ; owl:unionOf ( :A :B ) ] ; rdfs:range [ owl:oneOf ( :x ) ] .
        :v rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:int ] .
        :w rdfs:domain rdfs:Resource ; rdfs:range :Own . :Own a rdfs:Datatype .""",
    )
    assert statements(content) == {
        *("A p B", "A q Thing", "Thing r date", "A s C", "A s D", "B s C", "B s D"),
        *("A u Thing", "B u Thing", "Thing v int", "Thing w Own"),
    }
    assert "Own" not in kinds(content)


def test_restrictions(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:A rdfs:subClassOf [ owl:onProperty :all ; owl:allValuesFrom :X ],
            [ owl:onProperty :some ; owl:someValuesFrom [ owl:unionOf ( :X :Y ) ] ],
            [ owl:onProperty :many ; owl:onClass :X ; owl:minQualifiedCardinality 2 ],
            [ owl:onProperty :number ; owl:allValuesFrom xsd:int ],
            [ owl:onProperty :one ; owl:cardinality 1 ], [ owl:onProperty :is ; owl:hasValue :x ],
            [ owl:onProperty :none ; owl:maxCardinality 0 ],
            [ owl:onProperty :nothing ; owl:allValuesFrom owl:Nothing ],
            [ owl:onProperty [ owl:inverseOf :all ] ; owl:allValuesFrom :X ],
            [ owl:complementOf [ owl:onProperty :no ; owl:someValuesFrom :X ] ] .
        :B daml:subClassOf [ daml:onProperty :to ; daml:toClass :X ],
            [ daml:onProperty :has ; daml:hasClass :X ],
            [ daml:onProperty :hasQ ; daml:hasClassQ :X ; daml:minCardinalityQ 1 ] .
        :C owl:equivalentClass [ owl:intersectionOf (
            :A [ owl:onProperty :with ; owl:someValuesFrom :X ] ) ] .
        :D owl:equivalentClass [ owl:intersectionOf ( :E ) ] .
        :E owl:intersectionOf ( [ owl:onProperty :ofOther ; owl:someValuesFrom :X ] ) .
        [] rdfs:subClassOf [ owl:onProperty :unnamed ; owl:someValuesFrom :X ] .""",
    )
    assert statements(content) == {
        *("A all X", "A some X", "A some Y", "A many X", "A number int", "A one Thing"),
        *("A is Thing", "B to X", "B has X", "B hasQ X", "C with X"),
    }
    assert content.broader == content.same == ()


def test_plain_triples_between_classes(tmp_path: Path) -> None:
    content = read(
        tmp_path,
        """:Book :author :Person ; :pages xsd:int ; :title "a text" ; :kin owl:Thing ; :made [] .
        :Novel rdfs:subClassOf :Book . :author a owl:ObjectProperty .
        :Book :wroteIn :here . :here a :Place . :pen skos:broader :tool . :pen :writes :Book .
        :note a owl:AnnotationProperty . :Book :note :Person . :author :like :title .
        :onto a owl:Ontology ; :by :Person . :Book :see :onto . xsd:int :within :Number .""",
    )
    assert statements(content) == {"Book author Person", "Book pages int", "Book kin Thing"}
    assert kinds(content)["Person"] == {EntityKind.CONCEPT}
    assert kinds(content)["pages"] == {EntityKind.PROPERTY}
    assert "title" not in kinds(content)


def test_who_made_a_class_is_no_class_unless_the_file_says_so(tmp_path: Path) -> None:
    text = """@prefix dcterms: <http://purl.org/dc/terms/> .
    :Book a owl:Class ; dcterms:creator :Person, <https://orcid.org/0000-0000> .
    :Person a owl:Class ."""
    assert statements(read(tmp_path, text)) == {"Book creator Person"}


@pytest.mark.parametrize(
    "other_way",
    [
        ":Book sh:property [ sh:path :author ; sh:class :Person ] .",
        ":Book rdfs:subClassOf [ owl:onProperty :author ; owl:someValuesFrom :Person ] .",
    ],
)
def test_beside_shapes_a_triple_is_about_the_classes(other_way: str, tmp_path: Path) -> None:
    text = f":Book a owl:Class ; :isReplacedBy :Volume . {other_way}"
    content = read(tmp_path, text)
    assert statements(content) == {"Book author Person"}
    assert "Volume" not in kinds(content)


def test_lists_may_be_long_and_deep_and_bite_their_tails(tmp_path: Path) -> None:
    long = " ".join(f"[ sh:class :C{n} ]" for n in range(5_000))
    deep = "".join(f":o{n} sh:or ( :o{n + 1} ) . " for n in range(5_000))
    content = read(
        tmp_path,
        f""":S sh:targetClass :A ; sh:property [ sh:path :long ; sh:or ( {long} ) ],
            [ sh:path :deep ; sh:node :o0 ], [ sh:path :cyclic ; sh:or :l ],
            [ sh:path :itself ; sh:node :n ] .
        {deep} :o5000 sh:class :Deep .
        :l rdf:first [ sh:class :Once ] ; rdf:rest :m . :m rdf:first [ sh:or :l ] ; rdf:rest :l .
        :n sh:node :n ; sh:or ( :n ) .
        :u rdfs:range _:u . _:u owl:unionOf ( _:u :InCycle ) .
        :B rdfs:subClassOf _:i . _:i owl:intersectionOf ( _:i [ owl:onProperty :part ] ) .""",
    )
    assert statements(content) == {
        *(f"A long C{n}" for n in range(5_000)),
        *("A deep Deep", "A cyclic Once", "A itself Thing", "Thing u InCycle", "B part Thing"),
    }


def test_a_small_file_cannot_ask_for_any_number_of_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "MOST_STATEMENTS", 10_000)
    many = ", ".join(f":C{n}" for n in range(101))
    members = " ".join(f":C{n}" for n in range(150))
    with pytest.raises(KnowledgeError, match=r"shop\.ttl: it makes more than 10,000 statements"):
        read(tmp_path, f":p rdfs:domain {many} ; rdfs:range {many} .")
    with pytest.raises(KnowledgeError, match=r"shop\.ttl: it makes more than 10,000 statements"):
        read(tmp_path, f"[] a owl:AllDisjointClasses ; owl:members ( {members} ) .")


def test_a_small_file_cannot_ask_for_any_number_of_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "MOST_STEPS", 10_000)
    shared = " ".join("[]" for _ in range(100))
    alternatives = ", ".join(f"[ sh:path :p{n} ; sh:or :shared ]" for n in range(100))
    text = f":S sh:targetClass :A ; sh:property {alternatives} . :shared rdf:rest ( {shared} ) ."
    with pytest.raises(KnowledgeError, match=r"shop\.ttl: .* more than 10,000 steps"):
        read(tmp_path, text)


def test_a_datatype_of_anybody_is_no_class(tmp_path: Path) -> None:
    """Brick's shapes name GeoJSON's types so; as classes they made `Polygon` ambiguous."""
    content = read(
        tmp_path,
        """:Polygon a owl:Class ; sh:property
            [ sh:path :shape ; sh:datatype <http://geo.org/Polygon> ] .""",
    )
    assert [entity.term.text for entity in content.entities if "Polygon" in entity.names] == [
        "http://x.org/shop#Polygon"
    ]
