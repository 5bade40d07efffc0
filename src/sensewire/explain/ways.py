"""Ways through the knowledge: from what an event says up to what a subscription asked for.

Every step is one that the event or the knowledge states; the shortest way is shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sensewire.explain.explanation import Link, Step
from sensewire.knowledge.content import own_name
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.vocabulary import THING
from sensewire.match.oracle_values import Reader, Scopes, spelled
from sensewire.model.conditions import Constant, Reading
from sensewire.model.terms import RDF_TYPE, Kind, Term


def attribute_way(property: Term, attribute: Constant, knowledge: Knowledge) -> tuple[Step, ...]:
    """From an event's attribute up to the one that was asked for; empty if it is the same word."""
    asked = spelled(attribute)
    if attribute.reading is Reading.EXACT or own_name(property) == own_name(asked):
        return ()
    path = knowledge.attribute_path_up(property, asked)
    if path is None:
        return ()
    return _shown((Step(Link.SENT, property), *_up(path)), asked)


def value_way(value: Term, constant: Constant, scopes: Scopes, reader: Reader) -> tuple[Step, ...]:
    """From an event's value up to the concept that was asked for; empty if there is no way, or none
    is needed."""
    asked = spelled(constant)
    if constant.reading is Reading.EXACT or not _differs(value, asked):
        return ()
    knowledge = reader.knowledge
    goal = knowledge.value_root(asked, scopes.constant)
    found: list[tuple[Step, ...]] = [
        (*start, *_up(path, knowledge))
        for start, root in _starts(value, scopes, reader)
        if (path := knowledge.path_up(root, goal)) is not None
    ]
    shortest = min(found, key=len) if found else ()
    return _shown(shortest, asked)


def _starts(value: Term, scopes: Scopes, reader: Reader) -> Iterator[tuple[tuple[Step, ...], Term]]:
    """What a value is by itself: its own root, the classes that its event declares, datatypes."""
    sent = Step(Link.SENT, value)
    knowledge = reader.knowledge
    if value.kind is not Kind.NUMBER:
        yield (sent,), knowledge.value_root(value, scopes.value)
    for declared in reader.types(value):
        root = knowledge.value_root(declared, knowledge.scope_of(RDF_TYPE))
        yield (sent, Step(Link.CLASS, declared)), root
    for datatype in reader.datatypes(value):
        yield (sent, Step(Link.CLASS, datatype)), datatype


def _up(path: Sequence[Term], knowledge: Knowledge | None = None) -> Iterator[Step]:
    """The root itself, and each step above it."""
    yield Step(Link.MEANS, path[0])
    for below, above in pairwise(path):
        listed = knowledge is not None and above in map(knowledge.root, knowledge.classes(below))
        yield Step(Link.CLASS if listed else Link.NARROWER, above)


def _shown(steps: Iterable[Step], asked: Term) -> tuple[Step, ...]:
    """The way without steps from a word to itself, and with the asked word at its end."""
    shown: list[Step] = []
    for step in steps:
        if not shown or _differs(shown[-1].term, step.term):
            shown.append(step)
    if shown and shown[-1].term != THING and _differs(shown[-1].term, asked):
        shown.append(Step(Link.MEANS, asked))
    return tuple(shown) if len(shown) > 1 else ()


def _differs(one: Term, other: Term) -> bool:
    """Whether two terms read differently."""
    return own_name_of(one) != own_name_of(other)


def own_name_of(term: Term) -> str:
    """A term as people read it: an IRI's local name, anything else as written."""
    return own_name(term) if term.kind is Kind.IRI else term.text
