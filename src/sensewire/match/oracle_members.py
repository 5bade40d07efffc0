"""The members of containers and lists: what `rdfs:member` reads beside itself, under meaning.

A container has its members under `rdf:_1`, `rdf:_2`, …; a list has them under `rdf:first` of itself
and of what follows it by `rdf:rest`. Cost: linear in the members of all lists.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sensewire.model import datatypes
from sensewire.model.event import Fact
from sensewire.model.terms import Kind, Term, iri

MEMBER = iri(datatypes.RDFS + "member")
_FIRST, _REST = iri(datatypes.RDF + "first"), iri(datatypes.RDF + "rest")
_NUMBERED = re.compile(re.escape(datatypes.RDF) + r"_[1-9][0-9]*")


def is_membership(property: Term) -> bool:
    """Whether a property is one of `rdf:_1`, `rdf:_2`, …

    >>> is_membership(iri(datatypes.RDF + "_12")), is_membership(iri(datatypes.RDF + "_0"))
    (True, False)
    """
    return property.kind is Kind.IRI and _NUMBERED.fullmatch(property.text) is not None


def is_part_of_a_list(property: Term) -> bool:
    """Whether a property holds lists together."""
    return property in (_FIRST, _REST)


def memberships(facts: Iterable[Fact]) -> Iterator[Fact]:
    """That each list has its items as members; of lists that nothing names, where they begin."""
    items: dict[Term, list[Term]] = defaultdict(list)
    following: dict[Term, list[Term]] = defaultdict(list)
    named: set[Term] = set()
    inside: set[Term] = set()
    for subject, property, value in facts:
        if property == _FIRST:
            items[subject].append(value)
        if property == _REST:
            following[subject].append(value)
            inside.add(value)
        else:
            named.add(value)
    for head in items:
        if head in named or head not in inside:
            for node in _reached(head, following):
                for item in items.get(node, ()):
                    yield Fact(head, MEMBER, item)


def _reached(head: Term, following: dict[Term, list[Term]]) -> Iterator[Term]:
    """A list and what follows it; one that comes back to itself ends there."""
    seen = {head}
    waiting = [head]
    while waiting:
        node = waiting.pop()
        yield node
        for rest in following.get(node, ()):
            if rest not in seen:
                seen.add(rest)
                waiting.append(rest)
