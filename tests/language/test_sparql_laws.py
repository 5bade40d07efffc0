"""Laws of the SPARQL reader and writer, judged by pyoxigraph on texts that are drawn.

A query that is made to be taken is taken, and has pyoxigraph's rows; with a form in it that is not
taken, it is refused with the form's name and place; garbled, it is read only where pyoxigraph reads
it, and else refused with a place. What is written of a strict subscription asks the same.

Proved by breaking, each caught: a MINUS that shares no variable and takes away all the same; an
unbound variable that is false instead of an error; inverse steps and negated sets read forward;
rows with UNDEF dropped; EXISTS read as NOT EXISTS, and NOT EXISTS of a union as of its first
branch; a lost minus sign; VALUES that joins by value; a filter that sees the group around its own;
places that are one off.
"""

import re

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.subscription import Subscription
from sensewire.model.terms import Term
from tests.language.sparql_answers import is_read_by_pyoxigraph, of_pyoxigraph, of_sensewire
from tests.language.sparql_queries import BUSY, graph, query
from tests.language.sparql_words import Pen, drawn
from tests.match.test_oracle_against_sparql import facts, strict_subscriptions

LAW = settings(max_examples=100, suppress_health_check=list(HealthCheck))
WIDE_LAW = settings(max_examples=300, suppress_health_check=list(HealthCheck))
NARROW_LAW = settings(max_examples=30, suppress_health_check=list(HealthCheck))
LONG_LAW = settings(max_examples=5_000, suppress_health_check=list(HealthCheck))

asked = given(drawn(query), drawn(graph))


def check_answer(text: str, turtle: str) -> None:
    subscription = parse(text, "sparql")
    for each in (BUSY, turtle):
        assert of_sensewire(subscription, each) == of_pyoxigraph(text, each)


@WIDE_LAW
@asked
def test_a_query_has_the_rows_of_pyoxigraph(text: str, turtle: str) -> None:
    check_answer(text, turtle)


@pytest.mark.long
@LONG_LAW
@asked
def test_many_more_queries(text: str, turtle: str) -> None:
    check_answer(text, turtle)


AT_THE_END = ("ORDER BY ?x", "LIMIT 3", "OFFSET 1")
IN_THE_GROUP = (
    ("OPTIONAL", "OPTIONAL { ?x :p ?y }"),
    ("GRAPH", "GRAPH :g { ?x :p ?y }"),
    ("SELECT", "{ SELECT ?x { ?x :p ?y } }"),
    ("STRLEN", "FILTER(1 < STRLEN(:a))"),
    ("isNumeric", "FILTER isNumeric(1)"),
    ("xsd:integer", "FILTER(true || xsd:integer(1) = 1)"),
    ("EXISTS", "FILTER(true || EXISTS { ?x :p ?y })"),
    ("?nobody", "FILTER(?nobody = 1)"),
    ("*", ":a :p* :b ."),
    ("+", ":a (:p/:q)+ :b ."),
    ("?", ":a ^:p? :b ."),
    ("BIND", "BIND(1 + 2 AS ?nobody)"),
    ("<<", "<< :a :p :b >> :q :c ."),
)


def refused(pen: Pen) -> tuple[str, str, int]:
    """A query with a form that is not taken, what it is called, and where it stands."""
    taken = query(pen)
    if pen.once_in(4):
        text = pen.one(AT_THE_END)
        return f"{taken} {text}", text.partition(" ")[0], len(taken) + 1
    name, text = pen.one(IN_THE_GROUP)
    before = taken[: taken.rindex("}")]
    return f"{before} {text} }}", name, len(before) + 1 + text.index(name)


@LAW
@given(drawn(refused))
def test_a_form_that_is_not_taken_is_named_with_its_place(case: tuple[str, str, int]) -> None:
    text, name, place = case
    assert is_read_by_pyoxigraph(text)
    with pytest.raises(UnsupportedError) as caught:
        parse(text, "sparql")
    assert name.lower() in caught.value.what.lower()
    assert caught.value.position == place


TOKEN = re.compile(
    r"""\s+|"{3}.*?"{3}|'{3}.*?'{3}|"[^"]*"|'[^']*'|<[^\s<>]*>|[?$]\w+|\w*:\w*|\w+|\^\^|&&|\|\||."""
)
HOSTILE = (
    *("{", "}", "(", ")", "[", "]", ".", ";", ",", "|", "/", "^", "!", "=", "<", ">", "+", "-"),
    *("?", "$", "*", "a", ":", "_:", "_:b", '"', "'", "\\", "#", "@en", "^^", "<<", "&", "||", "%"),
    *(
        "UNION",
        "MINUS",
        "FILTER",
        "EXISTS",
        "NOT",
        "VALUES",
        "BIND",
        "AS",
        "IN",
        "UNDEF",
        "OPTIONAL",
    ),
    *(
        "SELECT",
        "WHERE",
        "PREFIX",
        "BASE",
        "ORDER",
        "LIMIT",
        "true",
        "nil",
        "0",
        "1.",
        ".5",
        "1e",
        "é",
    ),
)


def garbled(pen: Pen) -> str:
    """A query in which a few tokens or characters are lost, doubled, swapped, replaced or added."""
    text = query(pen)
    for _ in range(pen.one((1, 1, 2))):
        parts = TOKEN.findall(text) if pen.once_in(2) else list(text)
        place = pen.one(range(len(parts)))
        match pen.one(range(5)):
            case 0:
                del parts[place]
            case 1:
                parts.insert(place, parts[place])
            case 2:
                other = pen.one(range(len(parts)))
                parts[place], parts[other] = parts[other], parts[place]
            case 3:
                parts[place] = pen.one(HOSTILE)
            case _:
                parts.insert(place, pen.one(HOSTILE))
        text = "".join(parts)
    return text


RUN_TOGETHER = re.compile(
    r"\b(?:prefix|base|ask|select|distinct|reduced|where|filter|not|exists|union|minus|values|undef"
    r"|true|false)(?=[\w:])",
    re.IGNORECASE,
)
"""Departure from the recommendation, by pyoxigraph: it needs no space behind a keyword."""
REMARK_IN_BRACKETS = re.compile(r"[\[(]\s*#")
"""Departure from the recommendation: a remark may stand inside `[]` and `()`."""
IRI_OR_LANGUAGE = re.compile(r"<([^<>\s]*)>|@([A-Za-z0-9-]+)")


def is_misnamed(text: str) -> bool:
    """Whether an IRI or a language is none by RFC 3987 or BCP 47; the grammar does not ask."""
    for address, language in IRI_OR_LANGUAGE.findall(text):
        try:
            if address:
                pyoxigraph.NamedNode(address)
            else:
                pyoxigraph.Literal("", language=language)
        except ValueError:
            return True
    return False


def refusal(text: str) -> ParseError | UnsupportedError | None:
    try:
        parse(text, "sparql")
    except (ParseError, UnsupportedError) as error:
        return error
    return None


def check_garbled(text: str) -> None:
    is_read = is_read_by_pyoxigraph(text)
    error = refusal(text)
    if error is None:
        assert is_read or is_misnamed(text) or REMARK_IN_BRACKETS.search(text)
        return
    assert 0 <= error.position <= len(text)
    if isinstance(error, ParseError):
        assert "^ expected " in str(error)
        assert not is_read or RUN_TOGETHER.search(text)


@LAW
@given(drawn(garbled))
def test_garbled_queries_are_read_by_both_or_by_none(text: str) -> None:
    check_garbled(text)


@pytest.mark.long
@LONG_LAW
@given(drawn(garbled))
def test_many_more_garbled_queries(text: str) -> None:
    check_garbled(text)


written = given(strict_subscriptions(), st.lists(facts, max_size=8, unique=True))


def check_written(subscription: Subscription, triples: list[tuple[Term, Term, Term]]) -> None:
    turtle = "".join([f"{s} {p} {o} .\n" for s, p, o in triples])
    answer = of_sensewire(subscription, turtle, "nt")
    text = unparse(subscription, "sparql")
    assert of_pyoxigraph(text, turtle, "nt") == answer
    assert of_sensewire(parse(text, "sparql"), turtle, "nt") == answer


@NARROW_LAW
@written
def test_what_is_written_asks_the_same(
    subscription: Subscription, triples: list[tuple[Term, Term, Term]]
) -> None:
    check_written(subscription, triples)


@pytest.mark.long
@LONG_LAW
@written
def test_many_more_written_queries(
    subscription: Subscription, triples: list[tuple[Term, Term, Term]]
) -> None:
    check_written(subscription, triples)
