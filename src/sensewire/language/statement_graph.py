"""The graph that statement patterns make, as a conjunction of the model.

    home ─ target ─> ?1 : Computer          (home, target, ?1) and ?1 is a Computer
      └─── price ──> ?2 : MoneyValue        (home, price, ?2) and ?2 is a MoneyValue

A class tests its vertex. A constant with a class becomes a fresh variable that equals it, one for
each constant, so that it stays one vertex; the classes of the home vertex are asked of the values
of its `rdf:type`, by a predicate, which makes no vertex. Cost: linear in the statements.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sensewire.model.conditions import Constant, Equal, IsA, Variable, exact
from sensewire.model.errors import ParseError
from sensewire.model.expressions import Expression, Test
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Home,
    Predicate,
    TriplePattern,
    TypedStatement,
    Vertex,
)
from sensewire.model.terms import RDF_TYPE

THING = "Thing"
"""The class that everything is of, under the one name that a statement pattern keeps."""

_HOME = Home()
_TYPE = exact(RDF_TYPE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement pattern, with the places of its vertices in the text."""

    typed: TypedStatement
    filter: Expression | None
    subject_place: int
    object_place: int


def refuse_unreachable(statements: Sequence[Statement]) -> None:
    """Raise ParseError for the first vertex that no path from the home vertex leads to."""
    text = statements[0].typed.text
    ahead: dict[Vertex, list[Vertex]] = {}
    for each in statements:
        ahead.setdefault(each.typed.subject, []).append(each.typed.object)
    if _HOME not in ahead:
        expected = "_:H as the subject of a statement: a pattern starts at the home vertex"
        raise ParseError(text, statements[0].subject_place, expected)
    reached: set[Vertex] = {_HOME}
    waiting: list[Vertex] = [_HOME]
    while waiting:
        for vertex in ahead.get(waiting.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                waiting.append(vertex)
    for each in statements:
        if each.typed.subject not in reached:
            expected = "a vertex that statements lead to from _:H; make it the object of one"
            raise ParseError(text, each.subject_place, expected)


def conjunction_of(statements: Sequence[Statement]) -> Conjunction:
    """What the statements ask of an event."""
    classes = _classes(statements)
    stand_ins = _stand_ins(classes, _used(statements))
    atoms: list[Atom] = [Predicate(_TYPE, IsA(of)) for of in classes.pop(_HOME, ())]
    filters: list[Expression] = []
    for each in statements:
        ends = [stand_ins.get(end, end) for end in (each.typed.subject, each.typed.object)]
        atoms.append(TriplePattern(ends[0], each.typed.property, ends[1]))
        if each.filter is not None:
            filters.append(each.filter)
    return Conjunction(tuple(atoms), (*_tests(classes, stand_ins), *filters))


def is_thing(constant: Constant) -> bool:
    """Whether a class is the one that everything is of.

    >>> from sensewire.model.conditions import meaning
    >>> is_thing(meaning("Thing")), is_thing(meaning("Nothing"))
    (True, False)
    """
    return constant.value.text == THING


def _classes(statements: Sequence[Statement]) -> dict[Vertex, dict[Constant, None]]:
    """The classes that each vertex is given, Thing apart."""
    found: dict[Vertex, dict[Constant, None]] = {}
    for each in statements:
        typed = each.typed
        for vertex, of in (
            (typed.subject, typed.subject_class),
            (typed.object, typed.object_class),
        ):
            if not is_thing(of):
                found.setdefault(vertex, {})[of] = None
    return found


def _used(statements: Sequence[Statement]) -> frozenset[Vertex]:
    ends = ((each.typed.subject, each.typed.object) for each in statements)
    return frozenset(end for both in ends for end in both)


def _stand_ins(classes: Mapping[Vertex, object], used: frozenset[Vertex]) -> dict[Vertex, Variable]:
    """A variable of its own for each constant that has a class."""
    names = (f"v{number}" for number in range(1, 1 + len(used) + len(classes)))
    free = (variable for variable in map(Variable, names) if variable not in used)
    return {vertex: next(free) for vertex in classes if isinstance(vertex, Constant)}


def _tests(
    classes: Mapping[Vertex, Mapping[Constant, None]], stand_ins: Mapping[Vertex, Variable]
) -> Iterator[Expression]:
    for vertex, given in classes.items():
        variable = stand_ins.get(vertex, vertex)
        assert isinstance(variable, Variable)
        if isinstance(vertex, Constant):
            yield Test(variable, Equal(vertex))
        for of in given:
            yield Test(variable, IsA(of))
