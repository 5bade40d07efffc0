"""Hypothesis strategies for graphs that patterns really match: of few vertices and properties.

>>> dense_graphs(["p", "q"], [string("red"), iri("http://x.org/a")]).validate()
>>> wide_graphs(["p", "q"], [string("red"), iri("http://x.org/a")]).validate()
"""

import random
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sensewire.model.event import Event, Fact, distinct, moment
from sensewire.model.home import home_vertex
from sensewire.model.terms import (
    HOME,
    RDF_TYPE,
    Kind,
    Term,
    blank,
    iri,
    local_name,
    string,
)

NOWHERE = iri("http://x.org/nowhere")
"""A property that events have, and hardly any pattern asks for."""
_NOW = moment("2024-03-01")
_VERTICES = (iri("http://x.org/a"), iri("http://x.org/b"), blank("n"), blank("m"), HOME)
_SUBJECTS = (Kind.IRI, Kind.BLANK)
_BELOW = [st.integers(0, count) for count in range(64)]


@st.composite
def dense_graphs(
    draw: DrawFn, attributes: Sequence[str], terms: Sequence[Term], most: int = 8
) -> Event:
    """Graphs of one to `most` vertices, with cycles, loops, parallel edges and classes."""
    pool = [*_VERTICES, *terms]
    chosen = [pool[place] for place in draw(places(len(pool), 1, most, unique=True))]
    subjects = [term for term in chosen if term.kind in _SUBJECTS] or [_VERTICES[0]]
    properties = [iri(f"http://x.org/{name}") for name in attributes]
    ends = [*chosen, *subjects]
    drawn = st.tuples(below(len(subjects)), below(len(properties)), below(len(ends)))
    facts = [
        Fact(subjects[subject], properties[property], ends[value])
        for subject, property, value in draw(st.lists(drawn, min_size=1, max_size=2 * most))
    ]
    if HOME in subjects and draw(st.booleans()):  # as a record says it
        facts = [
            fact if fact.subject != HOME else fact._replace(property=string(name_of(fact.property)))
            for fact in facts
        ]
    typed = st.lists(st.tuples(below(len(subjects)), below(len(terms))), max_size=3)
    facts += [Fact(subjects[one], RDF_TYPE, terms[other]) for one, other in draw(typed)]
    home = home_vertex(facts)
    if draw(st.booleans()):
        home = facts[0].subject
    return Event("graph", _NOW, distinct(facts), home)


@st.composite
def wide_graphs(
    draw: DrawFn, attributes: Sequence[str], terms: Sequence[Term], most: int = 200
) -> Event:
    """A dense graph among 65 to `most` other vertices.

    Few of them have edges that patterns ask for, so that the oracle, which tries every fact for
    every atom, comes to an end.
    """
    core = draw(dense_graphs(attributes, terms))
    count, shape, seed = draw(
        st.tuples(st.integers(65, most), st.sampled_from(("path", "star", "any")), st.integers())
    )
    dice = random.Random(seed)
    others = [iri(f"http://x.org/v{number}") for number in range(count)]
    asked = [iri(f"http://x.org/{name}") for name in attributes]
    ends = [*others, *(fact.subject for fact in core.facts), *terms]
    facts = list(core.facts)
    for place, vertex in enumerate(others):
        match shape:
            case "path":
                start, end = vertex, others[(place + 1) % count]
            case "star":
                start, end = core.facts[0].subject, vertex
            case _:
                start, end = vertex, dice.choice(ends)
        chosen = dice.random()
        if chosen < 0.1:
            facts.append(Fact(start, dice.choice(asked), end))
        elif chosen < 0.8:
            facts.append(Fact(start, NOWHERE, end))
        else:
            facts.append(Fact(vertex, RDF_TYPE, dice.choice(terms)))
    dice.shuffle(facts)
    return Event("wide", _NOW, distinct(facts), core.home)


def below(count: int) -> SearchStrategy[int]:
    """A place among so many."""
    return _BELOW[count - 1] if count <= len(_BELOW) else st.integers(0, count - 1)


def places(count: int, least: int, most: int, unique: bool = False) -> SearchStrategy[list[int]]:
    """Some places among so many."""
    return st.lists(below(count), min_size=least, max_size=min(most, count), unique=unique)


def name_of(property: Term) -> str:
    """What our language calls a property."""
    return local_name(property.text) if property.kind is Kind.IRI else property.text
