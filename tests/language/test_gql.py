"""GQL: what its texts say to an engine, and every way to write a query read as the same query.

Proved by breaking, each caught: a name cut at its first space; a line break kept inside a name; a
bare number read as a number alone; `=` with a number read exactly; `<=` before a name compared as a
text; the class of `descendantOf` read exactly; `childOf` read as `descendantOf`; a comma between
two patterns taken for the end; `*` without the variables on properties; `or` and `and` exchanged;
`not` before brackets forgotten; `and` looked for behind the name that it may end.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.conditions import (
    Condition,
    Equal,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    Order,
    Relation,
    Variable,
    exact,
    meaning,
)
from sensewire.model.event import Event
from sensewire.model.expressions import And, Comparison, Equality, Expression, Negation, Or, Test
from sensewire.model.subscription import Conjunction, Home, Subscription, TriplePattern
from sensewire.model.terms import iri, string, term_of

PAGE = """
@prefix : <http://x.org/> .
_:H :about :G-ToPSS ; :seen 7 .
:G-ToPSS :year "2005" ; :rank 5 ; :share 5.0 ; :supervisor "Arno Jacobsen" ; :page :2005 .
"""


def rows(query: str, knowledge: Knowledge | None = None) -> list[dict[str, str]]:
    engine = Engine(knowledge or Knowledge())
    engine.add(parse(query, "gql"), id="s")
    event = Event.rdf(PAGE, "ttl", id="e")
    found = [{n: t.text for n, t in row.items()} for m in engine.match(event) for row in m.rows]
    assert engine.explain("s", event).matches == bool(found)
    return found


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("(G-ToPSS, supervisor, Arno Jacobsen)", True),
        ("(G-ToPSS, supervisor, Arno)", False),
        ("(G-ToPSS, Supervisor, Arno Jacobsen)", False),
        ("(<http://x.org/G-ToPSS>, http://x.org/supervisor, 'Arno Jacobsen')", True),
        ("(<http://y.org/G-ToPSS>, supervisor, Arno Jacobsen)", False),
        # a bare number is a term as it was sent: a literal of any kind, or a local name
        ("(G-ToPSS, year, 2005)", True),
        ("(G-ToPSS, rank, 5)", True),
        ("(G-ToPSS, page, 2005)", True),
        ("(G-ToPSS, share, 5)", False),
        ("(_:H, about, G-ToPSS)", True),
        ("(H, about, G-ToPSS)", False),
        # a constraint compares in value, with what has no type too
        ("(G-ToPSS, year, ?x) SUCHTHAT (?x = 2005)", True),
        ("(G-ToPSS, year, ?x) SUCHTHAT (?x = 2005.0)", True),
        ("(G-ToPSS, year, ?x) SUCHTHAT (?x != 2005)", False),
        ("(G-ToPSS, share, ?x) SUCHTHAT (?x = 5)", True),
        ("(G-ToPSS, year, ?x) SUCHTHAT (?x > 300)", True),
        ('(G-ToPSS, year, ?x) SUCHTHAT (?x > "300")', False),
        ("(G-ToPSS, rank, ?x), (G-ToPSS, share, ?y) SUCHTHAT (?x = ?y)", True),
        ("(G-ToPSS, rank, ?x), (_:H, seen, ?y) SUCHTHAT (?x >= ?y)", False),
        ("(G-ToPSS, supervisor, ?x) SUCHTHAT (?x = Arno Jacobsen)", True),
        ("(G-ToPSS, supervisor, ?x) SUCHTHAT (?x < Bert)", True),
        ("(G-ToPSS, supervisor, ?x) SUCHTHAT (?x > Bert)", False),
        # two variables may stand for one vertex
        ("(?a, rank, ?x), (?b, rank, ?y) SUCHTHAT (?x = 5), (?y = 5)", True),
    ],
)
def test_what_a_query_matches(query: str, holds: bool) -> None:
    assert bool(rows(f"WHERE {query}")) == holds


def test_what_is_selected() -> None:
    assert rows("WHERE (?s, rank, ?x)") == [{}]
    assert rows("SELECT ?x WHERE (?s, rank, ?x)") == [{"x": "5"}]
    assert rows("SELECT * WHERE (?s, ?p, Arno Jacobsen)") == [
        {"s": "http://x.org/G-ToPSS", "p": "http://x.org/supervisor"}
    ]


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ("?x descendantOf Project", True),
        ("?x <= Project", True),
        ("?x <= System", True),
        ("?x descendantOf Paper", False),
        ("?x childOf System", True),
        ("?x childOf Project", False),
        ("?x = System", False),
        ("?x ancestorOf Broker", True),
        ("?x ≥ Broker", True),
        ("?x >= System", False),
    ],
)
def test_the_taxonomy(tmp_path: Path, constraint: str, holds: bool) -> None:
    """An instance of System, which is a Project and has Broker below it, and the word Scheme for
    System: classes are read by meaning."""
    (tmp_path / "k.yaml").write_text(
        "synonyms: {System: [Scheme]}\n"
        "hierarchy: {System: Project, Broker: System, Paper: Text}\n"
        "instances: {G-ToPSS: System}\n"
    )
    knowledge = Knowledge.load(tmp_path / "k.yaml")
    for text in (constraint, constraint.replace("System", "Scheme")):
        assert bool(rows(f"WHERE (_:H, about, ?x) SUCHTHAT ({text})", knowledge)) == holds


def test_by_meaning_constants_have_synonyms_and_narrower_ones(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text("synonyms: {topic: [about]}\ninstances: {G-ToPSS: System}\n")
    knowledge = Knowledge.load(tmp_path / "k.yaml")
    query = "WHERE (_:H, topic, System)"
    event = Event.rdf(PAGE, "ttl")
    for reading, holds in (("meaning", True), ("exact", False), (None, False)):
        engine = Engine(knowledge)
        engine.add(parse(query, "gql", reading))
        assert bool(engine.match(event)) == holds


# Every way to write a query: its text in the making, beside what it says.

X = ("x:a", exact(iri("http://x.org/a")))
SPACE = st.sampled_from(["", " ", "\n", " \t "])
NAMES = st.sampled_from(["p", "Arno Jacobsen", "Home Page #325", "2005", "a and b", "é-1", "x?"])
VARIABLES = st.sampled_from("xyz").map(lambda name: (f"?{name}", Variable(name)))
BARE = NAMES.map(lambda name: (name.replace(" ", "\n "), exact(Name(name))))
IRIS = st.sampled_from([X, ("<http://x.org/a>", X[1]), ("http://x.org/a", X[1])])
QUOTED = NAMES.map(lambda name: (f'"{name}"', exact(string(name))))
QUOTED_NAMES = NAMES.map(lambda name: (f"'{name}'", exact(Name(name))))
HOME = st.just(("_:H", Home()))
RELATIONS: list[tuple[str, Relation | Equality]] = [
    ("≠", Equality.DIFFERENT),
    ("<=", Relation.AT_MOST),
]
CONDITIONS: st.SearchStrategy[tuple[str, Condition]] = st.sampled_from(
    [
        ("= 5", Equal(meaning(term_of(5)))),
        ("= Arno Jacobsen", Equal(exact(Name("Arno Jacobsen")))),
        ("> 5", Order(Relation.MORE, term_of(5))),
        ("<= 5", Order(Relation.AT_MOST, term_of(5))),
        ("≤ A B", IsA(meaning("A B"))),
        (">= x:a", IsAbove(meaning(iri("http://x.org/a")))),
        ("descendantOf A and B", IsA(meaning("A and B"))),
        ("CHILDOF A", IsDirectlyA(meaning("A"))),
    ]
)


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, TriplePattern]:
    subject, is_subject = draw(st.one_of(VARIABLES, BARE, IRIS, QUOTED_NAMES, HOME))
    property, is_property = draw(st.one_of(VARIABLES, BARE, IRIS, QUOTED_NAMES))
    object_, is_object = draw(st.one_of(VARIABLES, BARE, IRIS, QUOTED, HOME))
    before, after = draw(SPACE), draw(SPACE)
    comma = f"{after},{before}"
    text = f"({before}{subject}{comma}{property}{comma}{object_}{after})"
    return text, TriplePattern(is_subject, is_property, is_object)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, Expression]:
    (variable, is_variable), space = draw(VARIABLES), draw(SPACE)
    if draw(st.integers(0, 3)) == 0:
        other, is_other = draw(VARIABLES)
        sign, relation = draw(st.sampled_from(RELATIONS))
        return f"{variable}{space}{sign}{other}", Comparison(relation, is_variable, is_other)
    written, condition = draw(CONDITIONS)
    return f"{variable} {written}{space}", Test(is_variable, condition)


@st.composite
def constraints(draw: st.DrawFn) -> tuple[str, Expression]:
    """One bracket; in it, more of them."""
    text, says = draw(comparisons())
    for _ in range(draw(st.integers(0, 2))):
        other, other_says = draw(comparisons())
        match draw(st.sampled_from(["not", "or", "and"])):
            case "not":
                text, says = f"not ({text})", Negation(says)
            case "or":
                text, says = f"({text}) or ({other})", Or((says, other_says))
            case _:
                text, says = f"({text}) AND({other})", And((says, other_says))
        text = f"({text})"
    return f"({text})", says


@given(
    st.lists(patterns(), min_size=1, max_size=4),
    st.lists(constraints(), max_size=2),
    st.sampled_from([", ", " and ", "\n"]),
    st.integers(0, 2),
)
def test_every_way_to_write_a_query(
    asked: Sequence[tuple[str, TriplePattern]],
    such_that: Sequence[tuple[str, Expression]],
    separator: str,
    chosen: int,
) -> None:
    binding = ("(?x, ?y, ?z)", TriplePattern(Variable("x"), Variable("y"), Variable("z")))
    texts, says = zip(*asked, binding, strict=True)
    variables = tuple(map(Variable, "xyz"))[:chosen]
    selection = f"select {', '.join(map(str, variables))} " if variables else ""
    query = f"prefix x: <http://x.org/> {selection}where {separator.join(texts)}"
    if such_that:
        query += f" SuchThat {separator.join(text for text, _ in such_that)}"
    expressions = tuple(expression for _, expression in such_that)
    expected = Subscription((Conjunction(says, expressions),), variables or None)
    assert parse(query, "gql") == expected
