"""What the constants of a subscription stand for under one knowledge: entities, and functions.

Two knowledges under which a constant stands for the same entities, each tagged with its place, give
the same answer for every value that they read alike. Cost: what is below a constant, and for `is
above` and `within` what is above it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingFunction
from sensewire.knowledge.relations import Relations, nodes
from sensewire.knowledge.words import Scope
from sensewire.match.oracle_values import same, spelled
from sensewire.model.conditions import Condition, Constant, IsA, IsAbove, IsDirectlyA, Name, Reading
from sensewire.model.terms import Kind, Term, local_name, string

Placed = tuple[Term, str]
"""An entity, or a word that nobody knows, and where it stands: below, above by steps, …"""


def named(value: Term | Name) -> str:
    """A constant as people say it: an IRI by its local name."""
    is_iri = isinstance(value, Term) and value.kind is Kind.IRI
    return local_name(value.text) if is_iri else value.text


class Standing:
    """One knowledge, asked what constants stand for."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.relations = Relations(knowledge)
        content, values = knowledge.content, self.relations.values
        self._direct: dict[Term, list[Term]] = defaultdict(list)  # by what they were declared as
        self._declared: dict[str, list[tuple[Term, Term, bool]]] = defaultdict(list)
        for is_class, pairs in ((True, content.instances), (False, content.broader)):
            for one, declared in pairs:
                self._direct[values.root(declared)].append(values.root(one))
                self._declared[named(declared)].append((values.root(one), declared, is_class))
        self._makers: dict[Term, dict[MappingFunction, None]] = defaultdict(dict)  # by output
        self._writers: dict[Term, dict[MappingFunction, None]] = defaultdict(dict)  # and above it
        for function in knowledge.mappings:
            for node in chain(*(nodes(self.relations, output) for output, _ in function.outputs)):
                self._makers[node][function] = None
                for over in self.relations.attributes.above(node):
                    self._writers[over][function] = None

    def value(
        self, condition: Condition, constant: Constant, scope: Scope, near: bool
    ) -> Iterator[Placed]:
        """The entities whose words, as a value or as its class, meet a condition."""
        exact = constant.reading is Reading.EXACT
        if exact and not isinstance(condition, IsAbove):
            yield from self._declared_as(condition, constant)
            return
        root = self.knowledge.value_root(spelled(constant), scope)
        node = self.relations.values.root(root)
        match condition:
            case IsDirectlyA():
                yield from self._with_members((node,), "itself")
                yield from self._with_members(self._direct.get(node, ()), "direct")
            case IsAbove():
                above = {*map(self.relations.values.root, self.knowledge.above(root))} - {node}
                individuals = (self.relations.instances.get(each, ()) for each in above)
                yield from self._with_members(above, "above")
                yield from self._with_members(chain(*individuals), "above by its class")
            case _:
                yield from self._with_members(self.relations.values.below(node), "below")
                for over in self.knowledge.above(root) if near else ():
                    steps = self.knowledge.steps_up(root, over)
                    yield from self._with_members((self.relations.values.root(over),), f"{steps}")

    def _declared_as(self, condition: Condition, constant: Constant) -> Iterator[Placed]:
        """The individuals, and for `is directly a` the concepts, of a class named exactly."""
        if not isinstance(condition, IsA | IsDirectlyA):
            return  # a value as sent, whatever is known of it
        for one, declared, is_class in self._declared.get(named(constant.value), ()):
            if (is_class or isinstance(condition, IsDirectlyA)) and same(declared, constant.value):
                yield from self._with_members((one,), "declared")

    def _with_members(self, roots: Iterable[Term], place: str) -> Iterator[Placed]:
        for root in roots:
            for member in self.relations.values.members(root):
                yield member, place

    def attribute(self, attribute: Constant, near: bool) -> Iterator[Placed]:
        """The attributes whose words an attribute of a subscription takes."""
        if attribute.reading is Reading.EXACT:
            yield string(named(attribute.value)), "itself"
            return
        attributes = self.relations.attributes
        steps: dict[Term, int] = {}
        for root in nodes(self.relations, spelled(attribute)):
            for node in attributes.below(root):
                yield from ((member, "below") for member in attributes.members(node))
            for over in attributes.above(root) if near else ():
                way = attributes.steps_up(root, over)
                assert way is not None
                steps[over] = min(steps.get(over, way), way)
        for node, count in steps.items():
            yield from ((member, f"{count}") for member in attributes.members(node))

    def functions(self, attribute: Constant | None, near: bool) -> dict[MappingFunction, None]:
        """The functions that may make values of an attribute, and those that feed them; with no
        attribute, all."""
        if attribute is None:
            return dict.fromkeys(self.knowledge.mappings)
        if attribute.reading is Reading.EXACT:
            return self.behind(
                function
                for function in self.knowledge.mappings
                if any(same(output, attribute.value) for output, _ in function.outputs)
            )
        roots = nodes(self.relations, spelled(attribute))
        found = [each for root in roots for each in self._writers.get(root, ())]
        for root in roots if near else ():
            for over in self.relations.attributes.above(root):
                found += self._makers.get(over, ())
        return self.behind(found)

    def behind(self, functions: Iterable[MappingFunction]) -> dict[MappingFunction, None]:
        """Functions, and those that make what they read, and so on."""
        found = dict.fromkeys(functions)
        for function in (ahead := list(found)):
            for _, input in function.inputs:
                for node in nodes(self.relations, input):
                    new = [each for each in self._writers.get(node, ()) if each not in found]
                    found.update(dict.fromkeys(new))
                    ahead += new
        return found
