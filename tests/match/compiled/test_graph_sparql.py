"""pyoxigraph judges the compiled matcher: strict patterns as text, on graphs where most match.

Knowledge is given to some engines, of the same words, and must make no difference.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.unparse import unparse
from sensewire.model.conditions import Constant, Variable, exact
from sensewire.model.event import Event
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Not,
    Subscription,
    TriplePattern,
    bound_by,
)
from sensewire.model.terms import RDF_TYPE, Kind, Term, blank, iri
from sensewire.testing.knowledge import knowledge
from tests.language.sparql_answers import lines_of, of_pyoxigraph
from tests.match.test_oracle_against_sparql import LITERALS, NODES, PROPERTIES, constraints

SUBJECTS = [*NODES, blank("n"), blank("m")]
OBJECTS = [*SUBJECTS, *SUBJECTS, *LITERALS]
EDGES = [*PROPERTIES, *PROPERTIES, RDF_TYPE]
Triple = tuple[Term, Term, Term]
triples = st.lists(
    st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(EDGES), st.sampled_from(OBJECTS)),
    min_size=1,
    max_size=12,
    unique=True,
)
any_knowledge = st.just(Knowledge()) | knowledge(["a", "b", "c"], ["p", "q"])
FILLING = [(iri(f"http://x.org/v{n}"), RDF_TYPE, iri(f"http://x.org/v{n + 1}")) for n in range(70)]


def _part(part: Variable | Term) -> Variable | Constant:
    return exact(part) if isinstance(part, Term) else part


@st.composite
def queries(draw: st.DrawFn, graph: list[Triple]) -> str:
    """A query made out of a graph: most have answers there."""
    known: dict[Term, Variable] = {}

    def end(term: Term) -> Variable | Term:
        choice = draw(st.integers(0, 9))
        if term.kind is Kind.BLANK or choice < 6:
            return known.setdefault(term, Variable(f"v{len(known)}"))
        if choice < 8:
            return term
        others: list[Variable | Term] = [*NODES, Variable("x"), Variable("v0")]
        return draw(st.sampled_from(others))

    def pattern() -> TriplePattern:
        subject, property, value = draw(st.sampled_from(graph))
        start, last = end(subject), end(value)
        if isinstance(start, Term) and start.kind is not Kind.IRI:
            start = Variable("x")
        asked: list[Variable | Term] = [property, property, property, Variable("p"), EDGES[0]]
        return TriplePattern(_part(start), _part(draw(st.sampled_from(asked))), _part(last))

    atoms: list[TriplePattern | Bind | Not] = [pattern() for _ in range(draw(st.integers(1, 5)))]
    bound = sorted(set(bound_by(Conjunction(tuple(atoms)))), key=str)
    if bound and draw(st.integers(0, 4)) == 0:
        body = [pattern() for _ in range(draw(st.integers(1, 2)))]
        inside = sorted({*bound, *bound_by(Conjunction(tuple(body)))}, key=str)
        asked = draw(st.lists(constraints(inside), max_size=1))
        atoms.append(Not(Conjunction(tuple(body), tuple(asked))))
    limits = [draw(constraints(bound))] if bound and draw(st.integers(0, 2)) == 0 else []
    select: tuple[Variable, ...] | None = None
    if bound and draw(st.integers(0, 1)) == 1:
        several = st.lists(st.sampled_from(bound), unique=True, min_size=1, max_size=3)
        select = tuple(draw(several))
    made = Subscription((Conjunction(tuple(atoms), tuple(limits)),), select, strict=True)
    return unparse(made, "sparql")


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[str], list[Triple]]:
    graph = draw(triples)
    return draw(st.lists(queries(graph), min_size=1, max_size=4)), graph


def text_of(graph: list[Triple]) -> str:
    return "".join(f"{subject} {property} {value} .\n" for subject, property, value in graph)


def check(asked: list[str], graph: list[Triple], known: Knowledge) -> None:
    """All queries stand together; small events and large ones come by turns.

    In large ones whoever is judged once more may be too costly; then it says so.
    """
    engine = Engine(known)
    for number, query in enumerate(asked):
        engine.add(sw.parse(query, language="sparql"), id=str(number))
    wide = [*graph, *FILLING]
    for each in (graph, wide, graph):
        matches = engine.match(Event.rdf(text_of(each), "nt", id="e"))
        given_up = {failure.subscription for failure in matches.failures}
        assert all(failure.reason.startswith("budget") for failure in matches.failures)
        assert each is wide or not given_up
        rows = {
            match.subscription: [
                {name: str(term) for name, term in row.items()} for row in match.rows
            ]
            for match in matches
        }
        for number, query in enumerate(asked):
            if str(number) in given_up:
                continue
            select = sw.parse(query, language="sparql").select or ()
            found = lines_of([each.name for each in select], rows.get(str(number), ()))
            assert found == of_pyoxigraph(query, text_of(each), "nt"), query


@given(questions(), any_knowledge)
def test_patterns_have_the_answers_of_pyoxigraph(
    question: tuple[list[str], list[Triple]], known: Knowledge
) -> None:
    check(*question, known)


@pytest.mark.long
@settings(max_examples=3_000, deadline=None)
@given(questions(), any_knowledge)
def test_many_more_patterns_have_the_answers_of_pyoxigraph(
    question: tuple[list[str], list[Triple]], known: Knowledge
) -> None:
    check(*question, known)


def test_most_queries_have_answers() -> None:
    asked = answered = 0

    @settings(max_examples=100, derandomize=True, database=None)
    @given(questions())
    def count(question: tuple[list[str], list[Triple]]) -> None:
        nonlocal asked, answered
        queries, graph = question
        asked += len(queries)
        answers = [of_pyoxigraph(query, text_of(graph), "nt") for query in queries]
        answered += sum(each not in (["no"], ["nothing"]) for each in answers)

    count()
    assert answered > asked / 4
