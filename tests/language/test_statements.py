"""Statement patterns: what they ask of an event, and which vertex each class tests.

Proved by breaking, each caught: not injective; the class of the home vertex dropped, and asked by a
pattern that makes the class a vertex; a constant with a class left a constant without a test, and a
fresh variable for each of its places; a fresh variable that the text uses;
one of several classes enough; vertices read by meaning, properties exactly; a filter forgotten;
unreachable vertices let through.
"""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.errors import ParseError
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription, TriplePattern

SALE = """
@prefix : <http://x.org/> .
_:H a :Selling ; :target _:pc ; :seller :IBM ; :about :Selling ; :note "ask IBM" ; :knows _:H .
_:pc a :Computer, :Gift ; :maker :IBM ; :price 350.00 ; :size "40" .
:IBM a :Company ; :name "IBM" ; :likes :IBM .
"""


def matches(text: str, knowledge: Knowledge | None = None, reading: str | None = None) -> bool:
    engine = Engine(knowledge or Knowledge())
    engine.add(parse(text, "statements", reading), id="s")
    event = Event.rdf(SALE, "ttl", id="e")
    found = bool(engine.match(event))
    assert engine.explain("s", event).matches == found
    return found


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("(_:H, ?1, (Selling, target, Computer))", True),
        ("(_:H, ?1, (Buying, target, Computer))", False),
        ("(_:H, ?1, (Selling, target, Car))", False),
        ("(_:H, ?1, (Selling, maker, Computer))", False),
        # several classes on a vertex: both must hold
        ("(_:H, ?1, (Selling, target, Gift)) (?1, ?2, (Computer, maker, Company))", True),
        ("(_:H, ?1, (Selling, target, Gift)) (?1, ?2, (Car, maker, Company))", False),
        # vertices by name, by IRI, by text
        ("(_:H, IBM, (Selling, seller, Thing))", True),
        ("(_:H, IBM, (Selling, seller, Company))", True),
        ("(_:H, IBM, (Selling, seller, Person))", False),
        ("(_:H, <http://x.org/IBM>, (Selling, seller, Company))", True),
        ("(_:H, <http://y.org/IBM>, (Selling, seller, Company))", False),
        ('(_:H, "ask IBM", (Selling, note, xsd:string))', True),
        ('(_:H, "ask IBM", (Selling, note, xsd:decimal))', False),
        # one vertex, wherever it stands
        (
            "(_:H, ?1, (Thing, target, Thing)) (_:H, IBM, (Thing, seller, Company))"
            " (?1, IBM, (Thing, maker, Company))",
            True,
        ),
        (
            "(_:H, ?1, (Thing, target, Thing)) (_:H, ?2, (Thing, seller, Thing))"
            " (?1, ?2, (Thing, maker, Thing))",
            True,
        ),
        # different vertices stand for different vertices; literals are exempt
        (
            "(_:H, ?1, (Thing, target, Thing)) (_:H, ?2, (Thing, seller, Thing))"
            " (?1, ?3, (Thing, maker, Thing))",
            False,
        ),
        ("(_:H, ?1, (Thing, seller, Thing)) (?1, ?2, (Thing, likes, Thing))", False),
        ("(_:H, ?1, (Thing, seller, Thing)) (?1, ?1, (Thing, likes, Thing))", True),
        ("(_:H, ?1, (Thing, knows, Thing))", False),
        ("(_:H, _:H, (Thing, knows, Thing))", True),
        # the class of the home vertex is no vertex of the pattern
        ("(_:H, ?1, (Selling, about, Thing))", True),
        # filters
        ("(_:H, ?1, (Thing, target, Thing)) (?1, ?2, (Thing, price, xsd:decimal), ?2 < 400)", True),
        ("(_:H, ?1, (Thing, target, Thing)) (?1, ?2, (Thing, price, xsd:decimal), ?2 = 350)", True),
        (
            "(_:H, ?1, (Thing, target, Thing)) (?1, ?2, (Thing, price, xsd:decimal), ?2 > 400)",
            False,
        ),
        ("(_:H, ?1, (Thing, target, Thing)) (?1, ?2, (Thing, size, xsd:decimal), ?2 > 5)", True),
        ("(_:H, ?1, (Thing, target, Thing)) (?1, ?2, (Thing, size, xsd:date), ?2 > 5)", False),
        ('(_:H, ?1, (Thing, note, rdf:Literal), ?1 matches "IBM$")', True),
        ('(_:H, ?1, (Thing, note, rdf:Literal), not (?1 matches "IBM$"))', False),
    ],
)
def test_what_statements_match(text: str, holds: bool) -> None:
    assert matches(text) == holds


def test_classes_and_properties_by_meaning_vertices_exactly(tmp_path: Path) -> None:
    file = tmp_path / "k.yaml"
    file.write_text(
        "synonyms: {IBM: [Big Blue]}\nproperties: {maker: source}\n"
        "hierarchy: {Computer: Product, Selling: Event, Company: Agent}\n"
    )
    knowledge = Knowledge.load(file)
    text = "(_:H, ?1, (Selling, target, Product)) (?1, {}, (Product, source, Company))"
    assert matches(text.format("?2"), knowledge)
    assert matches(text.format("IBM"), knowledge)
    assert not matches(text.format("Big Blue"), knowledge)
    assert matches(text.format("Big Blue"), knowledge, "meaning")
    assert not matches(text.format("IBM"), knowledge, "exact")


def test_one_variable_stands_for_a_constant_and_is_free() -> None:
    text = "(_:H, IBM, (A, p, B)) (IBM, ?v1, (A, p, C)) (?v1, IBM, (A, p, D)) (?v1, X, (A, p, B))"
    (conjunction,) = parse(text, "statements").conjunctions
    patterns = [atom for atom in conjunction.atoms if isinstance(atom, TriplePattern)]
    ends = {str(end) for pattern in patterns for end in (pattern.subject, pattern.object)}
    assert ends == {"Home()", "?v1", "?v2", "?v3"}


def test_what_the_concept_model_must_allow_makes_no_difference_to_the_subscription() -> None:
    found = parse("(_:H, ?1, (A, p, B))", "statements")
    assert found == Subscription(found.conjunctions, injective=True)
    assert "typed" not in repr(found)
    assert [each.property.position for each in found.typed] == [14]


# A path from the home vertex to every other, asked of a second way to find one.


@given(st.lists(st.tuples(*[st.sampled_from(["_:H", "?a", "?b", "c", "<x:d>"])] * 2), min_size=1))
def test_every_vertex_is_reached_from_the_home_vertex(edges: list[tuple[str, str]]) -> None:
    text = " ".join(f"({subject}, {object_}, (A, p, B))" for subject, object_ in edges)
    reached = {"_:H"} if any(subject == "_:H" for subject, _ in edges) else set()
    for _ in edges:
        reached |= {object_ for subject, object_ in edges if subject in reached}
    lost = [subject for subject, _ in edges if subject not in reached]
    if not lost:
        assert parse(text, "statements").injective
    else:
        with pytest.raises(ParseError) as error:
            parse(text, "statements")
        assert text[error.value.position :].startswith(lost[0])


def test_the_order_of_statements_does_not_matter() -> None:
    statements = (
        "(_:H, ?1, (Selling, target, Gift))",
        "(?1, IBM, (Computer, maker, Company))",
        "(IBM, ?2, (Thing, name, xsd:string), ?2 = IBM)",
    )
    assert all(matches(" ".join(each)) for each in permutations(statements))
