"""Knowledge walked in every direction: what is below, what stands beside, what functions carry.

`Knowledge` answers what matching asks, from a word upwards; this is for whoever shows, checks and
compares. Built in one pass over the content.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from sensewire.knowledge.content import Entity, as_attribute
from sensewire.knowledge.hierarchy import Hierarchy
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.terms import Term

Statement = tuple[Term, Term, Term]


class Role(StrEnum):
    """What a word stands for in an event or a subscription."""

    VALUE = "value"
    ATTRIBUTE = "attribute"


class Relations:
    """The two hierarchies of some knowledge, walked downwards too, and what stands beside them."""

    def __init__(self, knowledge: Knowledge) -> None:
        content = knowledge.content
        self.knowledge = knowledge
        self.values = knowledge.values
        self.attributes = knowledge.attributes
        self.instances: dict[Term, dict[Term, None]] = defaultdict(dict)  # by their classes' roots
        for individual, of in content.instances:
            self.instances[self.values.root(of)][self.values.root(individual)] = None
        # By their terms, and merged as attributes are.
        self.entities: dict[Term, list[Entity]] = defaultdict(list)
        for entity in content.entities:
            for node in {entity.term, as_attribute(entity.term)}:
                self.entities[node].append(entity)

    def of(self, role: Role) -> Hierarchy:
        """The hierarchy that words of a role are read in."""
        return self.values if role is Role.VALUE else self.attributes

    @cached_property
    def stated(self) -> Mapping[Term, Sequence[Statement]]:
        """The meta-statements by the roots of their ends, and of their properties as attributes."""
        found: dict[Term, dict[Statement, None]] = defaultdict(dict)
        for statement in self.knowledge.content.statements:
            owner, verb, value = statement
            found[self.values.root(owner)][statement] = None
            found[self.values.root(value)][statement] = None
            found[self.attributes.root(as_attribute(verb))][statement] = None
        return {root: tuple(each) for root, each in found.items()}


def nodes(relations: Relations, attribute: Term) -> frozenset[Term]:
    """The roots of an attribute's name in the hierarchy of attributes."""
    found = relations.knowledge.attribute_roots(attribute)
    return frozenset(map(relations.attributes.root, found))


def looping(relations: Relations) -> tuple[str, ...]:
    """The functions that read what they, or each other, write: the event's values must end it.

    Functions and attributes make one graph; who has nothing behind or nothing ahead is on no loop
    and is taken away, until nobody is. Those between two loops stay.
    """
    ahead: dict[object, set[object]] = defaultdict(set)
    behind: dict[object, set[object]] = defaultdict(set)
    functions = relations.knowledge.mappings
    for function in functions:
        written = (n for output, _ in function.outputs for n in nodes(relations, output))
        for over in {each for node in written for each in relations.attributes.above(node)}:
            ahead[function].add(over)
            behind[over].add(function)
        for node in {n for _, input in function.inputs for n in nodes(relations, input)}:
            ahead[node].add(function)
            behind[function].add(node)
    for one, other in ((ahead, behind), (behind, ahead)):
        gone = [each for each in list(other) if not one.get(each)]
        while gone:
            end = gone.pop()
            for beside in other.pop(end, ()):
                one[beside].discard(end)
                if not one[beside]:
                    gone.append(beside)
            one.pop(end, None)
    return tuple(function.name for function in functions if ahead.get(function))
