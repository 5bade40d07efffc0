"""The home vertex of an RDF event. Cost: linear in the event's facts."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from sensewire.model.errors import EventError
from sensewire.model.terms import HOME, Kind, Term, blank, iri

Triple = tuple[Term, Term, Term]


def home_vertex(
    facts: Collection[Triple], graph: Term | None = None, home: Term | str | None = None
) -> Term | None:
    """The home given, else `_:H`, else the graph's IRI if a subject, else the only root or None."""
    if home is not None:
        return _given(facts, home)
    if any(HOME in (subject, value) for subject, _, value in facts):
        return HOME
    named = graph is not None and graph.kind is Kind.IRI
    if named and any(graph == subject for subject, _, _ in facts):
        return graph
    return _only_root(facts)


def _given(facts: Iterable[Triple], home: Term | str) -> Term:
    term = home if isinstance(home, Term) else _named(home)
    if any(term in (subject, value) for subject, _, value in facts):
        return term
    raise EventError(f"the home vertex {term} is not in the graph; name one of its subjects")


def _named(text: str) -> Term:
    return (
        blank(text[2:]) if text.startswith("_:") else iri(text.removeprefix("<").removesuffix(">"))
    )


def _only_root(facts: Iterable[Triple]) -> Term | None:
    """The only vertex from which all others can be reached.

    If another vertex led to it, that one would reach everything too: so it is the only vertex that
    no other one points at.
    """
    following: dict[Term, list[Term]] = defaultdict(list)
    vertices: set[Term] = set()
    pointed_at: set[Term] = set()
    for subject, _, value in facts:
        vertices.update((subject, value))
        if subject != value:
            following[subject].append(value)
            pointed_at.add(value)
    roots = vertices - pointed_at
    if len(roots) != 1:
        return None
    (root,) = roots
    reached = {root}
    pending = [root]
    while pending:
        for vertex in following.get(pending.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                pending.append(vertex)
    return root if reached == vertices else None
