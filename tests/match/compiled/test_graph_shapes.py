"""Patterns of every shape on small graphs, alone and in a crowd, by bits and by ranges of edges."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.content import Draft, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import mapping_function
from sensewire.model.batch import Batch
from sensewire.model.event import Event, Fact, moment
from sensewire.model.terms import HOME, RDF_TYPE, Kind, iri, string, untyped
from sensewire.testing.knowledge import function_of_one
from tests.match.compiled.graph_cases import X, graph, wide
from tests.match.test_layered import of

SHAPES = [
    # text, the event's facts, whether it matches
    ("(?x, p, ?y)", ["a p b"], True),
    ("(?x, q, ?y)", ["a p b"], False),
    ("(?x, ?any, ?y)", ["a p b"], True),
    ("(?x, ?p, ?y) and (?y, ?q, ?x)", ["a p b", "b q a"], True),
    ("(?x, ?p, ?y) and (?y, ?p, ?x)", ["a p b", "b q a"], False),
    ("(?x, ?p, ?y) and (?y, ?p, ?x)", ["a p b", "b p a"], True),
    ("(?x, ?x, ?y)", ["p p b"], True),
    ("(?x, ?x, ?y)", ["a p b"], False),
    ("(?x, p, ?x)", ["a p b"], False),
    ("(?x, p, ?x)", ["a p b", "b p b"], True),
    ("(?x, p, ?x) injective", ["a p b", "b p b"], True),
    ("(?x, p, ?y) injective", ["b p b"], False),
    ("(?x, p, ?y) and (?z, q, ?z)", ["a p b", "b q c"], False),
    ("(?x, p, ?y) and (?z, q, ?z)", ["a p b", "c q c"], True),
    ("(?x, p, ?y) and (?z, q, ?w)", ["a p b", "c q d"], True),
    ("(?x, p, ?y) and (?z, q, ?w) injective", ["a p b", "a q d"], False),
    ("(?x, p, ?y) and (?z, q, ?w) injective", ["a p b", "a q d", "c q d"], True),
    ("(a, p, ?y) and (a, q, ?z)", ["a p b", "a q d"], True),
    ("(a, p, ?y) and (a, q, ?z)", ["a p b", "b q d"], False),
    ("(a, p, ?y) and (?z, q, a)", ["a p b", "b q a"], True),
    ("(a, p, b) and (c, q, d)", ["a p b", "c q d"], True),
    ("(a, p, b) and (c, q, d)", ["a p b", "d q c"], False),
    ("(a, p, b) injective", ["a p b"], True),
    ("(a, p, a) injective", ["a p a"], True),
    ("(a, p, ?y) and (?y, q, a) injective", ["a p b", "b q a"], True),
    ("(a, p, ?y) and (?y, q, ?z) injective", ["a p b", "b q a"], False),
    ("(a, p, ?y) and (?z, p, ?y) injective", ["a p b"], False),
    ("(?x, p, ?y) and (?x, q, ?z) injective", ["a p 1", "a q 1"], True),  # literals are exempt
    ("(?x, p, ?y) and (?x, q, ?z) injective", ["a p b", "a q b"], False),
    ("(?x, p, 1) and (?y, q, 1) injective", ["a p 1", "b q 1"], True),
    ("(?x, p, ?y) and (?y, p, ?z) and (?z, p, ?x)", ["a p b", "b p c", "c p a"], True),
    ("(?x, p, ?y) and (?y, p, ?z) and (?z, p, ?x)", ["a p b", "b p c", "a p c"], False),
    ("(?x, p, ?y) and (?y, p, ?z) and (?z, p, ?x)", ["a p a"], True),
    ("(?x, p, ?y) and (?y, p, ?z) and (?z, p, ?x) injective", ["a p a", "a p b"], False),
    ("(?x, p, ?y) and (?x, q, ?y)", ["a p b", "a q b"], True),
    ("(?x, p, ?y) and (?x, q, ?y)", ["a p b", "b q a"], False),
    ("(?y, p, ?x) and (?z, p, ?x) and (?x, q, c)", ["a p b", "b q c"], True),
    ("(?y, p, ?x) and (?z, p, ?x) and (?x, q, c) injective", ["a p b", "b q c"], False),
    ("(?y, p, ?x) and (?z, p, ?x) and (?x, q, c) injective", ["a p b", "d p b", "b q c"], True),
    ("(?x, p, ?y) and ?x is a A", ["a p b", "a a A"], True),
    ("(?x, p, ?y) and ?x is a A", ["a p b", "b a A"], False),
    ("(?x, p, ?y) and ?x is a A and ?x is a B", ["a p b", "a a A", "a a B"], True),
    ("(?x, p, ?y) and ?x is a A and ?x is a B", ["a p b", "a a A", "b a B"], False),
    ("(?x, p, A) and (?x, q, A)", ["a p b", "b a A", "a q c", "c a A"], True),
    ("(A, p, ?x) and (A, q, ?y)", ["b p x", "c q y", "b a A", "c a A"], True),
    ("(A, p, ?x) and (A, q, ?y) injective", ["b p x", "c q y", "b a A", "c a A"], False),
    ("(A, p, ?x) and (A, q, ?y) injective", ["b p x", "b q y", "b a A", "c a A"], True),
    ("(?x, p, ?y) and (?y, q, A) and (A, r, ?z)",
     ["a p b", "b q c", "d r e", "c a A", "d a A"], True),
    ("(?x, p, ?y) and (A, q, ?y) and (?y, r, ?z)",
     ["a p b", "c q b", "d q b", "c a A", "d a A", "b r e"], True),
    ("(?x, p, ?y) and (A, q, ?y) and (?y, r, ?z)",
     ["a p b", "c q e", "d q b", "c a A", "d a A", "b r e", "f p g"], True),
    ("(?x, p, ?y) and (A, q, ?y) and (?y, r, ?z)",
     ["a p b", "c q e", "d q e", "c a A", "d a A", "b r e"], False),
    ("(a, p, ?y) and (b, q, ?y)", ["a p c", "b q c"], True),
    ("(a, p, ?y) and (b, q, ?y) and (d, r, ?y)", ["a p c", "b q c", "d r c"], True),
    ("(?x, p, ?y) and ?y > 1", ["a p 2"], True),
    ("(?x, p, ?y) and ?y > 1", ["a p 1", "a q 2"], False),
    ("(?x, p, ?y) and ?y > 9007199254740992", ["a p 9007199254740993"], True),
    ("(?x, p, ?y) and ?y > 9007199254740993", ["a p 9007199254740993"], False),
    ("(?x, p, ?y) and ?y between 1 and 3 and (?x, q, ?y)", ["a p 2", "a q 2"], True),
    ("(?x, p, ?y) and ?y between 9007199254740993 and 9007199254740993",
     ["a p 9007199254740993"], True),
    ("(?x, p, ?y) and ?y between 9007199254740993 and 9007199254740994",
     ["a p 9007199254740992"], False),
    ("(?x, exactly <http://x.org/p>, ?y) and ?y > 1 strict", ["a p 2"], True),
    ("(?x, exactly <http://x.org/p>, ?y) and ?y > 1 strict", ["a p 1.0"], False),
    ("(?x, exactly <http://x.org/p>, ?y) and ?y > 1 strict", ["a p \"2\""], False),
    ("(?x, exactly <http://x.org/p>, ?y) and ?y >= 0.1 strict",
     ["a p \"0.1\"^^<http://www.w3.org/2001/XMLSchema#float>"], None),
    ("(?x, exactly <http://x.org/p>, ?y) and ?y <= 0.1 strict",
     ["a p \"0.1\"^^<http://www.w3.org/2001/XMLSchema#float>"], None),
    ("(?x, p, ?y) and ?y > 2024-01-01", ["a p \"2024-03-01\""], True),
    ("(?x, p, ?y) and ?y prefix 'ab'", ["a p \"abc\""], True),
    ("(?x, p, ?y) and ?y matches '^b'", ["a p \"abc\""], False),
    ("(?x, p, ?y) and ?y != 1", ["a p 1"], False),
    ("(?x, p, ?y) and ?y != 1", ["a p 1", "a p 2"], True),
    ("(?x, p, ?y) and (?x, q, ?z) and ?y < ?z", ["a p 1", "a q 2"], True),
    ("(?x, p, ?y) and (?x, q, ?z) and ?y + ?z > 3", ["a p 1", "a q 2"], False),
    ("(?x, p, ?y) and not (?y, q, ?z)", ["a p b", "b q c"], False),
    ("(?x, p, ?y) and not (?y, q, ?z)", ["a p b", "a q c"], True),
    ("(?x, p, ?y) and not ((?y, q, ?z) and ?z > 1)", ["a p b", "b q 1"], True),
    ("(?x, p, ?y) and not ((?y, q, ?z) and (?z, q, ?x))", ["a p b", "b q c", "c q a"], False),
    ("(?x, p, ?y) and bind ?y = 1", ["a p 1"], True),
    ("(?x, p, ?y) and bind ?y = 1", ["a p 1.0"], False),
    ("(home, p, ?y)", ["a p b", "b q c"], True),
    ("(home, q, ?y)", ["a p b", "b q c"], False),
    ("q = c and (?x, q, ?y)", ["a p b", "b q c"], False),
    ("p = b and (?x, q, c)", ["a p b", "b q c"], True),
    ("p = ?y and (?y, q, c)", ["a p b", "b q c"], True),
    ("p exists and (?x, q, ?y) injective", ["a p b", "b q c"], True),
    ("p exists and (b, q, ?y) injective", ["a p b", "b q c"], True),
    ("p exists and (b, q, c) injective", ["a p c", "b q c"], True),
    ("(?x, p, red) and (red, q, ?y) injective", ['a p "red"', "red q b"], None),
    ("(?x, p, red) and (red, q, ?y) injective", ["a p red", "red q b"], True),
    ("(?x, p, red) and (?y, q, red) injective", ['a p "red"', "b q red"], None),
    ("p exists and (?x, p, ?y) injective", ["a p b", "b q c"], False),
    ("(?x, r, ?y) and (?y, s, ?z) and not (home, q, ?w) injective",
     ["a p b", "b r c", "c s a"], None),
    ("(?x, r, ?y) and (?y, s, ?z) and not (home, q, ?w) injective",
     ["a p b", "a r c", "c s b"], None),
    ("(?x, r, ?y) and (?y, s, ?z) and not (home, q, ?w) injective",
     ["a p b", "b r c", "c s d"], None),
    ("(?x, p, ?y) and not q = c injective", ["a p b", "b r c"], None),
    ("(?x, r, ?y) and not q = c injective", ["a p b", "b r c"], None),
    ("(?x, p, ?y) and (?y, r, ?z) and not (home, q, ?y) injective", ["a p b", "b r c"], None),
    ("(?x, r, ?y) and (?y, s, ?z) and not (home, q, ?y) injective",
     ["a p b", "b r c", "c s d"], None),
    ("(home, p, ?x) and (?y, q, ?z) injective", ["a p b", "a q c"], False),
    ("(?x, exactly <http://x.org/p>, exactly 1) strict", ["a p 1"], True),
    ("(?x, exactly <http://x.org/p>, exactly 1) strict", ["a p 1.0"], False),
    ("(?x, p, exactly 1)", ["a p 1.0"], True),
    ("select ?y where (?x, p, ?y) and (?y, q, ?z)", ["a p b", "b q c"], True),
    ("(_any, p, ?y)", ["a p b"], False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "lines", "expected"), SHAPES)
@pytest.mark.parametrize("size", ["narrow", "wide", "in a crowd"])
def test_shapes(text: str, lines: list[str], expected: bool | None, size: str) -> None:
    event = graph(*lines, home="a" if any(line.startswith("a ") for line in lines) else None)
    event = wide(event) if size == "wide" else event
    engine = Engine()
    engine.add(sw.parse(text), id="it")
    for number in range(50 if size == "in a crowd" else 0):
        engine.add(sw.parse(f"(?a, p, ?b) and (?b, p, ?c) and (?c, p, ?d) and ?d > {number}"))
    oracle = Engine(matcher="oracle")
    oracle.add(sw.parse(text), id="it")
    found = len(oracle.match(event))
    assert expected is None or found == expected
    for other in others_like(event):
        for each in (event, other):
            among = [match.subscription for match in engine.match(each)]
            assert among == [match.subscription for match in oracle.match(each)]


def test_all_shapes_together_saved_and_opened(tmp_path: Path) -> None:
    """Opened, what was asked for has the same numbers; then others come, and some go."""
    texts = sorted({text for text, _, _ in SHAPES})
    events = [graph(*lines) for _, lines, _ in SHAPES]
    events += [wide(event) for event in events[::7]]
    living, oracle = Engine(), Engine(matcher="oracle")
    for text in texts:
        living.add(sw.parse(text), id=text)
        oracle.add(sw.parse(text), id=text)
    for round in range(3):
        living.save(tmp_path / str(round))
        opened = Engine.open(tmp_path / str(round))
        for event in events:
            expected = [match.subscription for match in oracle.match(event)]
            assert [match.subscription for match in living.match(event)] == expected
            assert [match.subscription for match in opened.match(event)] == expected
        for engine in (opened, oracle):
            for id in engine.ids()[:: 3 - round]:
                engine.remove(id)
            engine.add(sw.parse(f"(?new, r, ?x) and ?x is a New{round}"), id=f"new {round}")
            engine.add(sw.parse(f"(?x, ?any, ?y) and not (?y, r{round}, ?z)"), id=f"any {round}")
        living = opened


def test_the_matcher_itself_leaves_out_patterns_that_went() -> None:
    """Not only because nobody subscribes to them any more."""
    engine = Engine()
    for text in ("(?x, p, ?y)", "(?x, p, b)", "select ?x where (?x, p, ?y)"):
        engine.add(sw.parse(text), id=text)
    batch = Batch((graph("a p b"),))
    before = of(engine).match(batch)
    assert sorted(before.clauses.tolist()) == [0, 1]
    assert [answer.clause for _, answer in before.answers] == [2]
    engine.remove("(?x, p, ?y)")
    engine.remove("select ?x where (?x, p, ?y)")
    after = of(engine).match(batch)
    assert (after.clauses.tolist(), after.answers) == ([1], [])


def test_strict_patterns_read_what_was_sent_alone() -> None:
    """And not what functions derived from it."""
    draft = Draft()
    draft.mapping(function_of_one("twice", "p", "q", "p * 2"), Place("here"))
    engine = Engine(Knowledge(draft.content()))
    engine.add(sw.parse('(?x, "q", ?y) and ?y > 3'), id="plain")
    engine.add(sw.parse('(?x, "q", ?y) and ?y > 3 strict'), id="strict")
    for sent, expected in (({"p": 2}, ["plain"]), ({"q": 4}, ["plain", "strict"])):
        event = Event.record(sent)
        for each in (event, wide(event)):
            assert [match.subscription for match in engine.match(each)] == expected


def test_a_class_that_a_function_derived_counts() -> None:
    draft = Draft()
    kind = mapping_function("kind", [("p", string("p"))], [(RDF_TYPE, "p == 'go' ? 'K' : 'L'")])
    draft.mapping(kind, Place("here"))
    known = Knowledge(draft.content())
    engine, oracle = Engine(known), Engine(known, matcher="oracle")
    for text in (
        "(?x, r, ?y) and ?x is a K",
        "(?x, r, ?y) and not ?x is a K",
        "(?x, rdf:type, K)",
    ):
        engine.add(sw.parse(text), id=text)
        oracle.add(sw.parse(text), id=text)
    found = set()
    for lines in (['a p "go"', "a r b"], ['a p "stop"', "a r b"], ['a p "go"', "a r b", "b a K"]):
        event = graph(*lines)
        for each in (event, wide(event)):
            expected = [match.subscription for match in oracle.match(each)]
            assert [match.subscription for match in engine.match(each)] == expected
            found.update(expected)
    assert len(found) == 3


def others_like(event: Event) -> Iterator[Event]:
    """The same event, and with another name for each of its first vertices: what was known of the
    one is not to be taken for what is known of the other."""
    yield event
    vertices = dict.fromkeys(term for fact in event.facts[:8] for term in fact[::2])
    for place, vertex in enumerate(vertices):
        if vertex.kind is Kind.IRI and vertex != event.home:
            names = {vertex: iri(f"{X}other{place}")}
            facts = [Fact(*(names.get(term, term) for term in fact)) for fact in event.facts]
            yield replace(event, facts=tuple(facts))


MEMBERS = """
@prefix : <http://x.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:a :items (:b 1 :c) ; :bag [ rdf:_1 :b ; rdf:_2 :d ] . :b :p :c .
"""


@pytest.mark.parametrize("size", ["narrow", "wide"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(?x, items, ?l) and (?l, rdfs:member, ?i) and (?i, p, ?c) and (?l, rdfs:member, ?c)", 1),
        ("(?x, bag, ?l) and (?l, rdfs:member, ?i) and (?i, p, ?c)", 1),
        ("(?x, bag, ?l) and (?l, rdfs:member, ?i) and (?l, rdfs:member, c)", 0),
        ("(?x, items, ?l) and (?l, exactly rdfs:member, ?i)", 0),
        ("(?x, items, ?l) and (?l, rdfs:member, ?i) and ?i > 0", 1),
        ("(?l, ?any, ?i) and (?i, p, ?c) and not (?l, rdf:first, ?i) and not (?l, rdf:_1, ?i)", 0),
        ("select ?q where (?l, ?q, ?i) and (?i, p, ?c) and not (?l, rdf:first, ?i)", 1),
    ],
)
def test_members_of_lists(text: str, expected: int, size: str) -> None:
    event = Event.rdf(MEMBERS, "ttl", id="e")
    engine = Engine()
    engine.add(sw.parse(text))
    engine.add(sw.parse("(?l, rdfs:member, nobody)"))  # so that lists are read in any case
    sent = [graph("a p b"), wide(event) if size == "wide" else event, graph("a p b")]
    assert [len(engine.match(each)) for each in sent] == [0, expected, 0]
    assert engine.match_events(sent).matches.column("event").to_pylist() == [1] * expected


def test_strings_and_plain_literals_are_one_to_strict_subscriptions() -> None:
    """Though they are two vertices."""
    engine = Engine()
    engine.add(sw.parse('(?x, "p", ?y) and (?x, "q", ?y) strict'), id="strict")
    engine.add(sw.parse('(?x, "p", ?y) and (?x, "q", ?y)'), id="plain")
    for one, other, expected in (
        (string("a"), untyped("a"), ["strict"]),
        (string("a"), untyped("b"), []),
        (string("a"), string("a"), ["plain", "strict"]),
    ):
        facts = Fact(HOME, string("p"), one), Fact(HOME, string("q"), other)
        event = Event("e", moment("2024-03-01"), facts, HOME)
        for each in (event, wide(event)):
            assert [match.subscription for match in engine.match(each)] == expected
