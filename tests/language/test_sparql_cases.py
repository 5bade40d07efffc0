"""The cases of `tests/cases/sparql`: queries with their answers, or with what is wrong and where.

A case is a query, then `on` and the name of a graph, then a line `=>` for each row: `?x` and its
term for every variable in the order of their names, blank nodes as `_:`, xsd's datatypes short.
`=> nothing` is no row; `=> yes` or `=> no` stand where no variable is selected. A query that is
not taken has a line `=> unsupported at 12: NAME` or `=> error at 12: expected …` instead, the
place counted in characters from 0; what is written there of the message is looked for in it. Cases
are apart by an empty line; lines with // are remarks; the graphs are in `graphs.txt`.

pyoxigraph gives the answer that is written, and reads what is unsupported, updates apart, and not
what is malformed, RE2's patterns apart; so no case says what only Sensewire believes.

Proved by breaking, each caught: a MINUS that shares no variable and takes away all the same, or
whose own variables are joined with others of their name; an unbound variable that is false instead
of an error; inverse steps and negated sets read forward; rows with UNDEF dropped; EXISTS read as
NOT EXISTS, and NOT EXISTS of a union as of its first branch; a lost minus sign; an order not turned
round with its sides; VALUES that joins by value; a filter that sees the group around its own; `A`
read as `a`; places that are one off.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensewire.language.limits import (
    DEEPEST,
    LONGEST_QUERY,
    MOST_CONJUNCTIONS,
    MOST_PATTERNS,
    MOST_UNJOINED,
)
from sensewire.language.parse import parse
from sensewire.model.errors import ParseError, UnsupportedError
from tests.language.sparql_answers import is_read_by_pyoxigraph, of_pyoxigraph, of_sensewire

FOLDER = Path(__file__).parent.parent / "cases" / "sparql"
UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "WITH")


def blocks(path: Path) -> Iterator[list[str]]:
    lines = [line for line in path.read_text().split("\n") if not line.startswith("//")]
    for block in "\n".join(lines).split("\n\n"):
        if block.strip():
            yield block.strip("\n").split("\n")


GRAPHS = {
    head.removeprefix("graph "): "\n".join(body) for head, *body in blocks(FOLDER / "graphs.txt")
}


def cases(*, answered: bool) -> Iterator[object]:
    for path in sorted(FOLDER.glob("*.txt")):
        for lines in blocks(path) if path.stem != "graphs" else ():
            said = [line.removeprefix("=> ") for line in lines if line.startswith("=> ")]
            rest = lines[: -len(said)] if said else []
            assert rest, f"{path.name}: a case has a query and, after =>, its answer: {lines}"
            name = f"{path.stem}: {' '.join(rest)[:70]}"
            if answered and rest[-1].startswith("on "):
                graph = GRAPHS[rest[-1].removeprefix("on ")]
                yield pytest.param("\n".join(rest[:-1]), graph, said, id=name)
            elif not answered and not rest[-1].startswith("on "):
                yield pytest.param("\n".join(rest), said[0], id=name)


@pytest.mark.parametrize(("query", "graph", "rows"), list(cases(answered=True)))
def test_answer(query: str, graph: str, rows: list[str]) -> None:
    assert of_pyoxigraph(query, graph) == rows
    subscription = parse(query, "sparql")
    assert subscription.strict
    assert of_sensewire(subscription, graph, matcher="oracle") == rows
    assert of_sensewire(subscription, graph, matcher="auto") == rows


def said_of(query: str) -> str:
    try:
        parse(query, "sparql")
    except ParseError as error:
        return f"error at {error.position}: expected {error.expected}"
    except UnsupportedError as error:
        return f"unsupported at {error.position}: {error.what}"
    return "accepted"


@pytest.mark.parametrize(("query", "expected"), list(cases(answered=False)))
def test_refusal(query: str, expected: str) -> None:
    found = said_of(query)
    where, _, what = expected.partition(": ")
    assert found.startswith(where + ": ")
    assert what.lower() in found.lower()
    if expected.startswith("unsupported"):
        assert is_read_by_pyoxigraph(query) or what in UPDATES
    else:
        assert not is_read_by_pyoxigraph(query) or "REGEX" in query


TOO_MUCH = {
    "characters": (f"ASK {{ ?s ?p '{'a' * 1_000_000}' }}", LONGEST_QUERY),
    "remarks": (f"#{'a' * LONGEST_QUERY}\nASK {{}}", LONGEST_QUERY),
    "patterns": (f"ASK {{ {'?s ?p ?o . ' * 10_000} }}", MOST_PATTERNS),
    "objects": (f"ASK {{ ?s ?p {', '.join(['?o'] * 10_000)} }}", MOST_PATTERNS),
    "a collection": (f"ASK {{ ?s ?p ({'1 ' * 5_000}) }}", MOST_PATTERNS),
    "a path": (f"ASK {{ ?s {'/'.join(['a'] * 10_000)} ?o }}", MOST_PATTERNS),
    "groups in groups": (f"ASK {'{' * 10_000}{'}' * 10_000}", DEEPEST),
    "EXISTS in EXISTS": (f"ASK {'{ FILTER EXISTS ' * 500}{{}}{'}' * 500}", DEEPEST),
    "brackets in a filter": (f"ASK {{ FILTER({'(' * 9_000}1{')' * 9_000}) }}", DEEPEST),
    "not not": (f"ASK {{ FILTER({'!' * 9_000}true) }}", DEEPEST),
    "nodes in nodes": (f"ASK {{ ?s ?p {'[ a ' * 900}?o{']' * 900} }}", DEEPEST),
    "lists in lists": (f"ASK {{ ?s ?p {'(' * 900}?o{')' * 900} }}", DEEPEST),
    "brackets in a path": (f"ASK {{ ?s {'(' * 9_000}a{')' * 9_000} ?o }}", DEEPEST),
    "calls in calls": (f"ASK {{ ?s ?p ?o FILTER({'str(' * 900}?o{')' * 900} = 1) }}", DEEPEST),
    "unions": (f"ASK {{ {'{ ?s ?p 1 } UNION { ?s ?p 2 } ' * 11} }}", MOST_CONJUNCTIONS),
    "alternatives of paths": (f"ASK {{ {'?s a|!a ?o . ' * 40} }}", MOST_CONJUNCTIONS),
    "values": (f"ASK {{ VALUES ?x {{ {'1 ' * 3_000} }} }}", MOST_CONJUNCTIONS),
    "unjoined": (f"ASK {{ {' '.join(f'?s{n} ?p{n} ?o{n} .' for n in range(17))} }}", MOST_UNJOINED),
}
ENOUGH = {
    "patterns": f"ASK {{ {'?s ?p ?o . ' * MOST_PATTERNS} }}",
    "unions": f"ASK {{ {'{ ?s ?p 1 } UNION { ?s ?p 2 } ' * 10} }}",
    "unjoined": f"ASK {{ {' '.join(f'?s{n} ?p{n} ?o{n} .' for n in range(MOST_UNJOINED))} }}",
    "brackets": f"ASK {{ ?s ?p ?o FILTER({'(' * 150}?o{')' * 150}) }}",
}


@pytest.mark.parametrize(("query", "bound"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_is_too_much_is_refused_with_the_bound(query: str, bound: int) -> None:
    with pytest.raises(UnsupportedError, match=f"{bound:,}") as caught:
        parse(query, "sparql")
    assert 0 <= caught.value.position <= len(query)


@pytest.mark.parametrize("query", ENOUGH.values(), ids=ENOUGH)
def test_what_is_just_enough_is_taken(query: str) -> None:
    assert parse(query, "sparql").strict


@pytest.mark.parametrize(
    "query", ["", " ", "\n", "\0", "\ud800", 'ASK { ?s ?p "\ud800" }', "\ufeff"]
)
def test_what_is_hardly_a_text_has_a_caret(query: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(query, "sparql")
    assert 0 <= caught.value.position <= len(query)
    assert "^ expected " in str(caught.value)
