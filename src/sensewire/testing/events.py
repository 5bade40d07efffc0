"""Hypothesis strategies for events: records and graphs from a few names and values."""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sensewire.model.event import Event, Fact, distinct, moment
from sensewire.model.home import home_vertex
from sensewire.model.terms import HOME, RDF_TYPE, Kind, Term, iri, string
from sensewire.testing.terms import one_of_these

_NOW = moment("2024-03-01")


@st.composite
def records(draw: DrawFn, attributes: Sequence[str], terms: Sequence[Term]) -> Event:
    """Records with up to three values an attribute, tags among them."""
    names = one_of_these([*attributes, "tags"])
    pairs = draw(st.lists(st.tuples(names, one_of_these(terms)), max_size=6))
    facts = distinct(Fact(HOME, string(name), value) for name, value in pairs)
    return Event("record", _NOW, facts, HOME)


@st.composite
def graphs(draw: DrawFn, attributes: Sequence[str], terms: Sequence[Term]) -> Event:
    """Graphs over a few vertices, some with classes, with cycles, parallel edges and loops."""
    vertices = [*(iri(f"http://x.org/{name}") for name in "abc"), HOME]
    vertices += [term for term in terms if term.kind is Kind.IRI]
    properties = [iri(f"http://x.org/{name}") for name in (*attributes, "tags")]
    values = [*vertices, *terms]
    edges = st.builds(Fact, one_of_these(vertices), one_of_these(properties), one_of_these(values))
    classes = st.builds(Fact, one_of_these(vertices), st.just(RDF_TYPE), one_of_these(values))
    facts = distinct(draw(st.lists(edges | edges | classes, max_size=8)))
    return Event("graph", _NOW, facts, home_vertex(facts))


def events(attributes: Sequence[str], terms: Sequence[Term]) -> SearchStrategy[Event]:
    """Records and graphs.

    >>> from sensewire.model.terms import term_of
    >>> events(["price"], [term_of(1)]).validate()
    """
    return records(attributes, terms) | graphs(attributes, terms)
