"""What kernels say wholly: properties' variables, `not` in `not` and in injective patterns.

Everything that they only found would be judged once more and come out right; so it is tested too
that nothing was judged.

Proved by breaking, each caught: a step for the inner `not` that says nothing of the outer one, an
inner `not` that is left where the outer one is, doubts that are forgotten there, vertices inside
that need not be new, home that must be, all facts as vertices in the order of their properties, a
property's term that is no vertex, and clauses of facts asked about plain events. So was a `not`
that was coded beside injective patterns of which not all is said.
"""

from collections.abc import Iterator

import pytest

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.content import Draft, EntityKind, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.judging import Judge
from sensewire.match.matcher import Answer
from sensewire.model.canonical import Clause
from sensewire.model.terms import iri, string
from tests.answers import told
from tests.match.compiled.graph_cases import graph, wide
from tests.match.test_layered import of

B = "exactly <http://x.org/b>"
OF_PROPERTIES = [
    "select ?p where (?x, ?p, ?y)",
    "select ?p where (a, ?p, ?y)",
    "select ?p, ?y where (?x, ?p, ?y) and (?y, ?p, ?z)",
    "(?x, ?p, ?y) and (?y, ?p, ?x)",
    "(?x, ?p, ?p)",
    "(?x, ?p, ?y) and (?p, label, ?l)",
    "select ?l where (?x, ?p, ?y) and (?p, label, ?l) and ?y is a A",
    "select ?x where (?x, ?p, ?y) and ?p != p",
    "select ?p where (?x, ?p, ?y) and ?p is a Kind",
    "select ?p where (?x, ?p, ?y) and (?x, ?any, ?z) and ?z > 1",
    "select ?p where (?x, ?p, ?y) and not (?y, ?p, ?z)",
    "select ?x where (?x, ?p, ?y) and not ((?y, ?q, ?z) and not (?z, ?q, ?x))",
    "select ?p where (home, ?p, ?y) and (?y, q, ?z)",
    "select ?p where p exists and (?x, ?p, ?y)",
    "select ?p where (?x, ?p, ?y) and (?y, ?p, ?z) injective",
    "select ?p where (?x, ?p, ?y) and (?x, ?q, ?y) and (?y, ?p, ?z) injective",
    "select ?p, ?q where (?x, ?p, ?y) and (?y, ?q, ?z) and not sameTerm(?p, ?q)",
]
OF_NOTS = [
    "(?x, q, ?y) and not ((?y, p, ?z) and not (?z, p, ?w))",
    "(?x, p, ?y) and not ((?y, p, ?z) and not (?z, q, ?x))",
    "(?x, q, ?y) and not ((?y, p, ?z) and not ((?z, p, ?w) and not (?w, q, ?x)))",
    "(?x, p, ?y) and not ((?y, p, ?z) and not (?z, q, ?x) and not (?z, p, b))",
    "(?x, p, ?y) and not ((?y, p, ?z) and not (?z, q, ?w))"
    " and not ((?y, q, ?z) and not (?z, p, ?w))",
    "(?x, p, ?y) and not ((?y, q, ?z) and ?z > 1 and not ((?z, p, ?w) and ?w > 1))",
    "(?x, p, ?y) and not ((?y, q, ?z) and not ((?x, q, ?w) and ?w > ?z))",
    "(?x, p, ?y) and (?y, p, ?v) and not ((?v, p, ?z) and not (?z, p, ?y) and not (?z, q, ?w))",
    "(?x, p, ?y) and not (?y, p, ?z) injective",
    "(?x, p, ?y) and not (?x, p, ?z) injective",
    "(?x, p, ?y) and not (?x, p, b) injective",
    f"(?x, p, {B}) and not ({B}, p, ?z) injective",
    "(?x, p, ?y) and not (home, p, ?z) injective",
    "(?x, p, ?y) and not (home, p, ?y) injective",
    "(home, p, ?y) and not (home, q, ?z) injective",
    "(?x, p, ?y) and not p exists injective",
    "(?x, p, ?y) and not ((?y, p, ?z) and not (?z, p, ?w)) injective",
    "(?x, p, ?y) and (?y, p, ?z) and not ((?x, p, ?w) and (?w, p, ?v)) injective",
    "select ?x, ?y where (?x, p, ?y) and not ((?y, p, ?z) and not (?z, q, ?x))",
]
EVENTS = [
    graph(*lines.split(", "), home="a")
    for lines in (
        "a p b",
        "a p a",
        "a p b, b p c",
        "a p b, b p c, c p d",
        "a p b, b p c, c p d, d p e, d q a",
        "a p b, b p c, c q a",
        "a p b, b p a, a q c",
        "a p b, b p c, b p d, c q a, d p b",
        "a p b, b p c, a q c, c p e",
        "a p b, b q 1, a q 2",
        "a q b, b p c",
        "a q b, b p c, c p d",
        "a q b, b p c, c p d, d q a",
        "a p b, b q 2, a q 1, b r c",
        "a p b, b q 2, a q 3",
        "a p b, p label z, b a A, p a Kind",
        "a p p, p p q",
        "a p b, c q b, b r c, b p e, a q 7",
        "b p c, a p b, c p a",
    )
]
TEXTS = [*OF_PROPERTIES, *OF_NOTS]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by whatever is judged once more."""
    asked: list[str] = []
    judge = Judge.answer

    def noted(self: Judge, row: int, number: int, clause: Clause) -> Answer:
        asked.append(str(clause))
        return judge(self, row, number, clause)

    monkeypatch.setattr(Judge, "answer", noted)
    return asked


def both(texts: list[str]) -> tuple[Engine, Engine]:
    engine, oracle = Engine(), Engine(matcher="oracle")
    for text in texts:
        engine.add(sw.parse(text), id=text)
        oracle.add(sw.parse(text), id=text)
    return engine, oracle


def sizes() -> Iterator[sw.Event]:
    for event in EVENTS:
        yield event
        yield wide(event)


@pytest.mark.parametrize("text", TEXTS)
def test_kernels_say_all_of_it(text: str, judged: list[str]) -> None:
    engine, oracle = both([text])
    known = [(event, told(oracle, event)) for event in sizes()]
    judged.clear()
    assert [told(engine, event) for event, _ in known] == [answer for _, answer in known]
    assert not judged
    assert len({tuple(answer) for _, answer in known}) > 1, "not always the same is said"


def test_all_together_beside_others(judged: list[str]) -> None:
    """Those to which facts are vertices, those to which a property is any, and those of records."""
    others = ["(?x, ?any, ?y) and (?y, q, ?z)", "p exists", "(a, p, ?x) and q exists"]
    engine, oracle = both([*TEXTS, *others])
    events = list(sizes())
    expected = [told(oracle, event) for event in events]
    judged.clear()
    assert [told(engine, event) for event in events] == expected
    found = engine.match_events(events).matches
    assert found.num_rows == sum(map(len, expected))
    assert not judged
    (segment,) = of(engine)._segments
    assert [each.of_facts for each in segment.graphs] == [False, True]


INJECTIVE_LOOSELY = [
    ("(a, q, ?z) and (a, q, ?w) and not (?x, p, ?y) injective", "a q b, a q c, a p d"),
    ("(a, q, ?z) and not (?x, p, ?y) and not (?v, r, a) injective", "a q b, a p c"),
    ("(?x, ?p, ?y) and (?p, label, ?l) and not (?z, r, ?w) injective", "a p b, p label z, p r c"),
]


@pytest.mark.parametrize(("text", "lines"), INJECTIVE_LOOSELY)
def test_a_not_is_left_to_the_oracle_where_not_all_is_said_around_it(text: str, lines: str) -> None:
    """Around it two may be one vertex; so what is found inside may be none of what must not be."""
    engine, oracle = both([text])
    event = graph(*lines.split(", "))
    expected = told(oracle, event)
    assert len(expected) == 1
    for each in (event, wide(event)):
        assert told(engine, each) == expected


def test_a_constant_that_stands_twice_may_be_one_vertex_where_its_meaning_has_a_scope() -> None:
    draft, place = Draft(), Place("scopes")
    b, c = iri("http://x.org/b"), iri("http://x.org/c")
    for concept in (b, c):
        draft.entity(concept, "one", EntityKind.CONCEPT)
    draft.broader[c, b] = place
    draft.scopes[string("p")] = (("one",), place)
    known = Knowledge(draft.content())
    text = "(?x, p, b) and (?y, p, b) injective"
    engine, oracle = Engine(known), Engine(known, matcher="oracle")
    for each in (engine, oracle):
        each.add(sw.parse(text), id=text)
    event = graph("a p b", "d p b")
    expected = told(oracle, event)
    assert len(expected) == 1
    assert told(engine, event) == told(engine, wide(event)) == expected


def test_a_doubt_inside_of_a_not_is_judged(judged: list[str]) -> None:
    """Doubles cannot tell the two numbers apart: neither `not` may be said to hold, or to fail."""
    text = "(?x, p, ?y) and not ((?y, q, ?z) and not ((?x, q, ?w) and ?w > 9007199254740992))"
    engine, oracle = both([text])
    for number in ("9007199254740993", "9007199254740992"):
        event = graph("a p b", "b q c", f"a q {number}")
        for each in (event, wide(event)):
            expected = told(oracle, each)
            judged.clear()
            assert told(engine, each) == expected
            assert judged == ([] if number.endswith("2") else judged)
