"""Workloads of graphs as what engines read: subscriptions, events, N-Quads, questions of SPARQL.

vertex     <http://example.org/v0> …, or a blank node where a workload says so
property   <http://example.org/p0> …
class      by the names of the taxonomy
home       _:H
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import combinations

from sensewire.model.conditions import IsA, Variable, exact, meaning
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import Test
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Home,
    Predicate,
    Subscription,
    TriplePattern,
    Vertex,
)
from sensewire.model.terms import HOME, RDF_TYPE, Term, blank, iri
from workloads.graph_workload import (
    NO_CLASS,
    PLACE,
    Drawn,
    GraphWorkload,
    Numbered,
    Patterns,
    Taxonomy,
)

TIME = datetime(2024, 3, 1, tzinfo=UTC)
_VARIABLES = [Variable(f"v{number}") for number in range(64)]


def workload(
    name: str, numbered: Numbered, others: Drawn, *, blanks: bool = False
) -> GraphWorkload:
    """A workload that was drawn as numbers."""
    patterns, taxonomy = numbered.patterns, numbered.taxonomy
    return GraphWorkload(
        name,
        len(patterns),
        lambda rows: subscriptions(patterns, taxonomy, rows),
        events(numbered.events, taxonomy, "e", blanks),
        events(others, taxonomy, "w", blanks),
        taxonomy.knowledge,
        numbered,
    )


def property_of(number: int) -> Term:
    """The term of a property."""
    return iri(f"{PLACE}p{number}")


def vertex_of(number: int) -> Term:
    """The term of a vertex that has a name."""
    return iri(f"{PLACE}v{number}")


def subscriptions(
    patterns: Patterns, taxonomy: Taxonomy, rows: Iterable[int]
) -> Iterator[Subscription]:
    """Some of the patterns as subscriptions, all constants but classes exact."""
    tests = [IsA(meaning(iri(name))) for name in taxonomy.names]
    home = Home() if patterns.rooted else _VARIABLES[0]

    def end(vertex: int) -> Vertex:
        if vertex >= 0:
            return exact(vertex_of(vertex))
        return home if vertex == -1 else _VARIABLES[-vertex - 1]

    for row in rows:
        atoms: list[Atom] = [
            TriplePattern(end(subject), exact(property_of(property)), end(object))
            for subject, property, object in patterns.edges(row)
        ]
        classes = [*enumerate(patterns.classes_of(row))]
        if patterns.rooted and classes and classes[0][1] != NO_CLASS:
            atoms.append(Predicate(exact(RDF_TYPE), tests[classes.pop(0)[1]]))
        constraints = tuple(
            Test(_VARIABLES[variable], tests[number])
            for variable, number in classes
            if number != NO_CLASS
        )
        yield Subscription((Conjunction(tuple(atoms), constraints),), injective=patterns.injective)


def events(drawn: Drawn, taxonomy: Taxonomy, prefix: str, blanks: bool = False) -> list[Event]:
    """Events of the model."""
    types = [iri(name) for name in taxonomy.names]
    named: dict[int, Term] = {0: HOME} if drawn.rooted else {}

    def vertex(number: int) -> Term:
        if number not in named:
            named[number] = blank(f"b{number}") if blanks else vertex_of(number)
        return named[number]

    found = []
    for number in range(len(drawn)):
        columns = (column.tolist() for column in drawn.triples(number))
        facts = [
            Fact(vertex(subject), property_of(property), vertex(object))
            for subject, property, object in zip(*columns, strict=True)
        ]
        facts += [
            Fact(vertex(typed), RDF_TYPE, types[of]) for typed, of in drawn.types(number).items()
        ]
        home = HOME if drawn.rooted else None
        found.append(Event(f"{PLACE}{prefix}{number}", TIME, tuple(facts), home))
    return found


def as_nquads(events: Iterable[Event]) -> bytes:
    """Events as N-Quads, a graph each.

    >>> event = Event("http://x.org/g", TIME, (Fact(HOME, property_of(1), vertex_of(2)),), HOME)
    >>> as_nquads([event])
    b'_:H <http://example.org/p1> <http://example.org/v2> <http://x.org/g> .\\n'
    """
    return "".join(
        f"{fact.subject} {fact.property} {fact.object} <{event.id}> .\n"
        for event in events
        for fact in event.facts
    ).encode()


def as_sparql(subscription: Subscription) -> str:
    """A subscription of plain patterns and classes without bases as a question of SPARQL.

    The home vertex is _:H, which is a term there as it is an event's: <http://example.org/H>.
    """
    (conjunction,) = subscription.conjunctions
    said = []
    used: dict[str, None] = {}
    for atom in conjunction.atoms:
        match atom:
            case TriplePattern():
                subject, property, object = map(
                    _in_sparql, (atom.subject, atom.property, atom.object)
                )
                used.update({subject: None, object: None})
                said.append(f"{subject} {property} {object} .")
            case Predicate(attribute, IsA(of)):
                said.append(f"<{PLACE}H> {attribute.value} {of.value} .")
            case _:
                raise TypeError(f"no question of SPARQL is made of {atom}")
    for constraint in conjunction.constraints:
        match constraint:
            case Test(variable, IsA(of)):
                said.append(f"?{variable.name} {RDF_TYPE} {of.value} .")
            case _:
                raise TypeError(f"no question of SPARQL is made of {constraint}")
    if subscription.injective:
        said += [f"FILTER({one} != {other})" for one, other in combinations(used, 2)]
    return f"ASK {{ {' '.join(said)} }}"


def _in_sparql(part: object) -> str:
    match part:
        case Variable(name):
            return f"?{name}"
        case Home():
            return f"<{PLACE}H>"
    return str(getattr(part, "value", part))
