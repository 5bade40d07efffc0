"""Compiled G-ToPSS equals the definition of a graph pattern, and, as a matcher, the oracle.

Proved by breaking, each caught by the test of that correction: tables kept from one event to the
next, an edge counted for every triple, counters renewed only where they were complete, edges looked
up backwards, a ★ that loops on any edge (both where edges are looked up and where tables are
joined), the first constraint alone, two stars kept from one vertex. And by a law or a test of its
own: joins that do not compare, what is unknown left out, one label of several, labels kept though
there are new ones, words and constants looked up everywhere, members, classes and home forgotten.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.match.gtopss_compiled import GToPSS
from sensewire.match.merged_graph import MergedGraph, Triples
from sensewire.model import datatypes
from sensewire.model.conditions import Variable
from sensewire.model.errors import SensewireError, SubscriptionError
from sensewire.model.event import Event, Fact, distinct, moment
from sensewire.model.home import home_vertex
from sensewire.model.subscription import Conjunction, Home, Subscription, TriplePattern
from sensewire.model.terms import HOME, RDF_TYPE, iri, string, term_of, untyped
from sensewire.testing.agreement import agree
from sensewire.testing.constraints import constraints
from sensewire.testing.knowledge import function_of_one, knowledge, sample_functions
from sensewire.testing.subscriptions import Vocabulary, conditions, vocabulary
from tests.papers.test_liu_2005 import FIGURE_5A, PUBLICATION, TAXONOMY
from tests.papers.test_liu_2005_gql import FIGURE_5A as FIGURE_5A_IN_GQL
from tests.papers.test_liu_2005_gql import FIGURE_5B as FIGURE_5B_IN_GQL
from tests.papers.test_liu_2005_gql import PAGE

MATCHER = "gtopss_compiled"
Edge = tuple[int, int, int]
Edges = list[Edge]
A, B, C, D, E, F = range(6)
P, Q = 0, 1
X, Y, Z = -1, -2, -3


def columns(edges: Edges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    made = np.array(edges, np.int32).reshape(-1, 3).T.copy()
    return made[0], made[1], made[2]


def graph_of(asked: list[Edges]) -> MergedGraph:
    offsets = np.cumsum([0, *map(len, asked)], dtype=np.int64)
    return MergedGraph.build(offsets, *columns([edge for edges in asked for edge in edges]))


def matched(graph: MergedGraph, *events: Edges) -> list[list[int]]:
    """The subscriptions that each event matches, asked one by one, and all at once."""
    one_by_one = [graph.match(*columns(event)) for event in events]
    offsets = np.cumsum([0, *map(len, events)], dtype=np.int64)
    rows, numbers = graph.match_many(
        offsets, *columns([edge for event in events for edge in event])
    )
    assert [column.dtype for column in (rows, numbers, *one_by_one)] == [np.int32] * (
        2 + len(one_by_one)
    )
    together = [numbers[rows == row].tolist() for row in range(len(events))]
    assert together == [found.tolist() for found in one_by_one]
    return [sorted(found) for found in together]


def bindings(edges: Edges, event: Edges) -> set[tuple[int, ...]]:
    """The definition: every way to let stars stand for vertices so that each edge is a triple."""
    stars = sorted({end for a, _, b in edges for end in (a, b) if end < 0}, reverse=True)
    vertices = sorted({end for a, _, b in event for end in (a, b)})
    triples = set(event)
    found = set()
    for chosen in product(vertices, repeat=len(stars)):
        known = dict(zip(stars, chosen, strict=True))
        if all((known.get(a, a), p, known.get(b, b)) in triples for a, p, b in edges):
            found.add(chosen)
    return found


vertices = st.integers(0, 4)
properties = st.integers(0, 2)
ends = st.sampled_from([X, Y, Z]) | st.sampled_from([X, Y]) | vertices
patterns = st.lists(st.tuples(ends, properties, ends), min_size=1, max_size=5)
# Vertices and properties that no pattern has too.
events = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 6)), max_size=14)


@settings(max_examples=300)
@given(asked=st.lists(patterns, min_size=1, max_size=8), sent=st.lists(events, max_size=4))
def test_it_equals_the_definition(asked: list[Edges], sent: list[Edges]) -> None:
    due = [[number for number, each in enumerate(asked) if bindings(each, event)] for event in sent]
    assert matched(graph_of(asked), *sent) == due


@settings(max_examples=100)
@given(asked=st.lists(patterns, min_size=1, max_size=4), sent=st.lists(events, max_size=3))
def test_rows_are_the_joint_bindings(asked: list[Edges], sent: list[Edges]) -> None:
    graph = graph_of(asked)
    offsets = np.cumsum([0, *map(len, sent)], dtype=np.int64)
    labels = columns([edge for event in sent for edge in event])
    triples = Triples(offsets, *labels, labels[0], labels[2])
    rows = graph.rows(triples, np.ones(len(asked), np.bool_), 1_000_000).tolist()
    for number, edges in enumerate(asked):
        stars = sorted({-end for a, _, b in edges for end in (a, b) if end < 0})
        for row, event in enumerate(sent):
            of_both = [values for at, who, *values in rows if (at, who) == (row, number)]
            found = {tuple(values[star - 1] for star in stars) for values in of_both}
            assert found == bindings(edges, event)


# The paper's figures


def test_figure_7() -> None:
    """Two edges between A and B; s1 and s2 both have the edge a."""
    a, b = 0, 1
    graph = graph_of([[(A, a, B), (A, b, B)], [(A, a, B), (B, a, C)]])
    assert len(graph.ends) == 3
    assert np.diff(graph.list_offsets).tolist() == [2, 1, 1]
    assert matched(
        graph, [(A, a, B)], [(A, a, B), (A, b, B)], [(A, a, B), (B, a, C)], [(B, a, C)]
    ) == [[], [0], [1], []]


def test_figure_8() -> None:
    """A★1 has 3 entries, ★1B has 5; of ★1 are left C and E."""
    graph = graph_of([[(A, P, X), (X, P, B)]])
    labels = columns([(A, P, B), (A, P, C), (A, P, E), (C, P, B), (D, P, B), (E, P, B), (F, P, B)])
    triples = Triples(np.array([0, 7]), *labels, labels[0], labels[2])
    rows = graph.rows(triples, np.ones(1, np.bool_), 100)
    assert sorted(rows[:, 2].tolist()) == [C, E]


@pytest.mark.parametrize(
    ("text", "language", "rows"),
    [
        (FIGURE_5A, "sensewire", [{"x": "2005"}]),
        (FIGURE_5A_IN_GQL, "gql", [{"x": "2005"}]),
        (FIGURE_5B_IN_GQL, "gql", [{"x": "2005", "z": f"http://x.org/{PAGE}"}]),
    ],
)
def test_figure_5(tmp_path: Path, text: str, language: str, rows: list[dict[str, str]]) -> None:
    (tmp_path / "academia.yaml").write_text(TAXONOMY)
    engine = Engine(Knowledge.load(tmp_path), matcher=MATCHER)
    engine.add(parse(text, language))
    (match,) = engine.match(Event.rdf(PUBLICATION, "ttl"))
    assert [{name: term.text for name, term in row.items()} for row in match.rows] == rows
    assert not engine.match(Event.rdf(PUBLICATION.replace('"2005"', '"2003"'), "ttl"))


# A test for each correction of the printed algorithm


def test_binding_tables_are_those_of_one_event() -> None:
    graph = graph_of([[(A, P, X), (X, P, B)]])
    assert matched(graph, [(A, P, C)], [(C, P, B), (A, P, D)], [(A, P, C), (C, P, B)]) == [
        [],
        [],
        [0],
    ]


def test_an_edge_is_counted_once() -> None:
    """However many triples it may be, of two edges one has been seen."""
    graph = graph_of([[(X, P, B), (A, Q, B)], [(A, P, B), (C, Q, D)]])
    assert matched(graph, [(C, P, B), (D, P, B)], [(A, P, B), (A, P, B)]) == [[], []]


def test_whoever_was_touched_is_counted_anew() -> None:
    few = [[(A, P, B), (C, Q, D)]]
    many = [[(number, P, B), (number, Q, D)] for number in range(1_000)]
    for asked in (few, few + many):  # renewed all at once, and one by one
        graph = graph_of(asked)
        assert matched(graph, [(A, P, B)], [(C, Q, D)], [(A, P, B), (C, Q, D)]) == [
            [],
            [],
            [0],
        ]


def test_an_edge_has_one_direction() -> None:
    graph = graph_of([[(A, P, B)], [(A, P, X)], [(X, P, B)], [(X, P, Y)]])
    assert matched(graph, [(B, P, A)], [(A, P, B)]) == [[3], [0, 1, 2, 3]]


def test_a_star_loops_on_one_vertex_only() -> None:
    """An edge that does not is no hit; were it one, the join would refuse it."""
    graph = graph_of([[(X, P, X)], [(X, P, Y)], [(X, P, X), (X, Q, Y)]])
    sent: list[Edges] = [[(A, P, B)], [(A, P, A)], [(A, P, A), (A, Q, B)], [(A, P, A), (B, Q, B)]]
    assert matched(graph, *sent) == [[1], [0, 1], [0, 1, 2], [0, 1]]


def test_all_constraints_of_all_variables_hold() -> None:
    engine = Engine(matcher=MATCHER)
    for low, high, other in product((1, 5), (5, 9), (1, 5)):
        text = f"(?p, from, ?x) and (?p, to, ?y) and ?x > {low} and ?x < {high} and ?y > {other}"
        engine.add(parse(text), id=f"{low} {high} {other}")
    event = Event.rdf("@prefix : <http://x.org/> . :a :from 3 ; :to 4 .", "ttl")
    assert [match.subscription for match in engine.match(event)] == ["1 5 1", "1 9 1"]


def test_two_stars_may_stand_for_one_vertex() -> None:
    graph = graph_of([[(A, P, X), (A, P, Y), (X, Q, Z), (Y, Q, Z)], [(X, P, Y), (Y, P, X)]])
    assert matched(graph, [(A, P, B), (B, Q, C)], [(A, P, A)]) == [[0], [1]]


# Sizes


def test_what_has_no_limit() -> None:
    """Vertices, edges, triples, hits and answers: more than there is room for at first."""
    chain = [(-1 - link, P, -2 - link) for link in range(40)]
    long = [(number, P, number + 1) for number in range(700)]
    asked = [
        chain,
        long,
        [(X, P, 300), (300, P, Y)],
        *([(X, Q, number)] for number in range(2_000)),
    ]
    graph = graph_of(asked)
    fan = [(0, Q, number) for number in range(2_000)]
    ring = [(number, P, (number + 1) % 300) for number in range(300)]
    assert matched(graph, long, ring, long[1:], fan, []) == [
        [0, 1, 2],
        [0],
        [0, 2],
        [*range(3, 2_003)],
        [],
    ]


@pytest.mark.parametrize("size", [255, 256, 70_000])
def test_as_many_edges_as_a_counter_holds_and_more(size: int) -> None:
    whole = [(number, P, number) for number in range(size)]
    graph = graph_of([whole, whole[:1]])
    assert matched(graph, whole, whole[1:], whole) == [[0, 1], [], [0, 1]]


def test_a_subscription_has_an_edge_once() -> None:
    graph = graph_of([[(A, P, B), (A, P, B), (A, P, X), (A, P, X)], [(A, P, B)]])
    assert matched(graph, [(A, P, B)], [(A, P, C)]) == [[0, 1], []]


def test_threads_do_not_meet() -> None:
    graph = graph_of([[(A, P, X), (X, P, Y), (Y, Q, B)]] * 500)
    whole = columns([(A, P, C), (C, P, D), (D, Q, B)])
    half = columns([(A, P, C), (C, P, D)])
    with ThreadPoolExecutor(4) as pool:
        sizes = pool.map(lambda turn: len(graph.match(*(half if turn % 2 else whole))), range(400))
        assert list(sizes) == [500, 0] * 200


def test_its_size_grows_with_what_it_holds() -> None:
    sizes = [graph_of([[(number, P, X)] for number in range(count)]).nbytes for count in (40, 41)]
    assert sizes[1] - sizes[0] == 8 + 8 + 4 + 8 + 4 + 1  # an edge, its list, its own, a counter
    assert len(graph_of([[(A, P, B)]] * 3)) == 3


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(SensewireError, match="subscription 1 has no edge"):
        graph_of([[(A, P, B)], []])
    with pytest.raises(SensewireError, match="only vertices can be stars"):
        graph_of([[(A, -1, B)]])
    with pytest.raises(SensewireError, match="event 0 has a vertex below 0"):
        graph_of([[(A, P, X)]]).match(*columns([(A, P, X)]))


# As a matcher

NAMES = ["red", "green", "Thing", "crimson"]
WORDS = vocabulary(
    attributes=["price", "colour"],
    terms=[
        *(iri(f"http://x.org/{name}") for name in ("a", "b", "red")),
        *map(term_of, ("red", "green", 1, 1.0, 2)),
        untyped("red"),
        untyped("1"),
    ],
)
VERTICES = [iri(f"http://x.org/{name}") for name in ("a", "b", "c", "red")]
VALUES = [*VERTICES, *map(term_of, ("red", "green", 1, 1.0, 2)), untyped("red"), untyped("1")]
LISTS = [iri(datatypes.RDF + name) for name in ("first", "rest", "_1")]
PROPERTIES = [iri(f"http://x.org/{name}") for name in ("price", "colour")]
VARIABLES = [Variable(name) for name in "xyz"]


@st.composite
def of_patterns(draw: st.DrawFn, words: Vocabulary = WORDS) -> Subscription:
    """Patterns over few variables: loops, cycles, parallel edges; constraints; what is selected."""
    variable = st.sampled_from(VARIABLES)
    end = variable | variable | words.constants | st.just(Home())
    named = words.attributes | words.attributes | words.constants
    atoms = draw(st.lists(st.builds(TriplePattern, end, named, end), min_size=1, max_size=4))
    bound = [
        each for each in VARIABLES if any(each in (atom.subject, atom.object) for atom in atoms)
    ]
    asked = []
    selected = None
    if bound:
        made = constraints(bound, words.constants, conditions(words))
        asked = draw(st.lists(made, max_size=2))
        selected = draw(st.none() | st.lists(st.sampled_from(bound), max_size=2).map(tuple))
    return Subscription((Conjunction(tuple(atoms), tuple(asked)),), selected)


@st.composite
def graphs(draw: st.DrawFn) -> Event:
    """Graphs with loops, parallel edges and cycles, with classes, lists, and sometimes crowds."""
    subject, value = st.sampled_from(VERTICES), st.sampled_from(VALUES)
    edge = st.builds(Fact, subject, st.sampled_from(PROPERTIES), subject | value)
    rare = st.builds(Fact, subject, st.sampled_from([*LISTS, RDF_TYPE]), subject | value)
    facts = draw(st.lists(st.one_of(edge, edge, edge, rare), min_size=1, max_size=10))
    if draw(st.integers(0, 9)) == 0:
        crowd = [iri(f"http://x.org/crowd{number}") for number in range(80)]
        facts += [Fact(VERTICES[0], PROPERTIES[0], each) for each in crowd]
    facts_once = distinct(facts)
    return Event("graph", moment("2024-03-01"), facts_once, home_vertex(facts_once))


FUNCTIONS = [*sample_functions(), function_of_one("broken", "colour", "tags", "string(1 / 0)")]


@settings(max_examples=150)
@given(
    known=st.just(Knowledge()) | knowledge(NAMES, ["price", "colour"], FUNCTIONS),
    asked=st.lists(of_patterns(), min_size=1, max_size=5),
    sent=st.lists(graphs(), min_size=1, max_size=3),
)
def test_it_equals_the_oracle(
    known: Knowledge, asked: list[Subscription], sent: list[Event]
) -> None:
    agree(MATCHER, asked, sent, knowledge=known)


@given(asked=st.lists(of_patterns(), min_size=1, max_size=5), sent=st.lists(graphs(), max_size=2))
def test_it_takes_patterns_with_constraints_and_what_is_selected(
    asked: list[Subscription], sent: list[Event]
) -> None:
    assert agree(MATCHER, asked, sent).taken == len(asked)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(?x, ?p, ?y)", "variables for the properties"),
        ("(?x, p, ?y) injective", "injective"),
        ("(?x, <http://x.org/p>, ?y) strict", "strict"),
        ("(?x, p, ?y) and price = 5", "= conditions"),
        ("(?x, p, ?y) and not (?y, p, ?x)", "not before"),
        ("(?x, p, ?y) within 2", "within"),
        ("everything", "without atoms"),
    ],
)
def test_what_the_paper_does_not_have_is_refused(text: str, why: str) -> None:
    with pytest.raises(SubscriptionError, match=why):
        Engine(matcher=MATCHER).add(parse(text))


def test_lists_under_meaning() -> None:
    engine = Engine(matcher=MATCHER)
    engine.add(parse("select ?i where (?x, items, ?l) and (?l, rdfs:member, ?i)"))
    (match,) = engine.match(Event.rdf("<urn:a> <http://x.org/items> (1 2) .", "ttl"))
    assert [row["i"].text for row in match.rows] == ["1", "2"]


def test_a_join_without_end_is_given_up_and_said_to_be() -> None:
    """Beside it, others are answered; and afterwards nothing is left of it."""
    engine = Engine(matcher=MATCHER)
    apart = " and ".join(f"(?a{number}, p, ?b{number})" for number in range(6))
    engine.add(parse(f"select ?a0, ?b5 where {apart}"), id="endless")
    engine.add(parse("(?x, p, ?y)"), id="plain")
    edges = [f"<urn:{number}> <http://x.org/p> <urn:x{number}> ." for number in range(30)]
    found = engine.match(Event.rdf("\n".join(edges), "nt"))
    assert [match.subscription for match in found] == ["plain"]
    assert [(each.subscription, each.reason) for each in found.failures] == [
        ("endless", "budget exceeded: more than 1,000,000 steps")
    ]
    assert [match.subscription for match in engine.match(Event.rdf(edges[0], "nt"))] == [
        "endless",
        "plain",
    ]


def test_every_clause_went() -> None:
    matcher = GToPSS(Knowledge())
    engine = Engine(matcher=MATCHER)
    assert not engine.match(Event.record({"a": 1}))
    engine.remove(engine.add(parse("(home, a, ?x)")))
    assert not engine.match(Event.record({"a": 1}))
    assert matcher.without_pivot == 0


def test_words_are_looked_up_in_the_scope_of_properties(tmp_path: Path) -> None:
    """Those of the event in its property's scope, those of a pattern in that of the pattern's."""
    (tmp_path / "zoo.yaml").write_text("hierarchy: {leo: jaguar, jaguar: cat}\nscope: {pet: zoo}")
    (tmp_path / "shop.yaml").write_text("hierarchy: {jaguar: car}")
    names, words = ("pet", "drives"), ("leo", "jaguar", "cat", "car")
    sent = [
        Event("e", moment("2024-03-01"), (Fact(HOME, string(name), string(word)),), HOME)
        for name, word in product(names, words)
    ]
    asked = [parse(f"(?x, {name}, {word})") for name, word in product(names, words)]
    agreed = agree(MATCHER, asked, sent, knowledge=Knowledge.load(tmp_path))
    assert agreed.taken == len(asked) - 1  # what drives a jaguar has two meanings
    assert agreed.matches > 0


def test_a_class_stands_for_its_instances() -> None:
    asked = [
        parse(f"(?x, {name}, {word})") for name, word in product(("pet", "type"), ("cat", "p"))
    ]
    asked += [parse("(cat, pet, ?x)"), parse("(?x, pet, ?y) and ?y is a cat")]
    event = Event.rdf("@prefix : <http://x.org/> . :e :pet :p . :p a :cat ; :pet :e .", "ttl")
    assert agree(MATCHER, asked, [event]).matches > len(asked)


def test_a_label_that_is_new_is_found_at_vertices_that_are_known() -> None:
    engine = Engine(matcher=MATCHER)
    event = Event.rdf("<urn:a> <http://x.org/p> <http://x.org/b> .", "nt")
    for name, text in enumerate(("(?x, p, ?y)", "(?x, p, b)", "(?x, <http://x.org/p>, ?y)")):
        engine.add(parse(text), id=str(name))
        assert len(engine.match(event)) == name + 1
