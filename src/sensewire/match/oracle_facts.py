"""E*: the facts that the oracle reads: those that were sent, and those that functions derive.

The mapping functions (Burcea 2003, section 4.1) run to the least fixpoint, naively: every function
on every subject, for every combination of facts that serve its inputs, until nothing is new. What a
function that failed would have said is *unknown*, and so is what others would have made of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from math import prod

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingError, MappingFunction
from sensewire.model.derived import MOST_CALLS, MOST_FACTS, MOST_ROUNDS, Unknown, endless
from sensewire.model.event import Event, Fact
from sensewire.model.terms import Term


@dataclass(frozen=True, slots=True)
class Derivation:
    """Where a derived fact comes from."""

    function: MappingFunction
    inputs: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Star:
    """E*: the facts, where the derived ones come from, and what is unknown."""

    facts: tuple[Fact, ...]
    origins: Mapping[Fact, Derivation] = field(default_factory=dict)
    unknown: tuple[Unknown, ...] = ()


def star_of(event: Event, knowledge: Knowledge) -> Star:
    """The facts that were sent and all that follow; raises EventError where there is no end."""
    if not knowledge.mappings:
        return Star(event.facts)
    derivation = _Fixpoint(event, knowledge)
    derivation.run()
    return Star(
        tuple(derivation.facts), derivation.origins, tuple(sorted(derivation.unknown, key=str))
    )


class _Fixpoint:
    def __init__(self, event: Event, knowledge: Knowledge) -> None:
        self.facts: dict[Fact, None] = dict.fromkeys(event.facts)
        self.origins: dict[Fact, Derivation] = {}
        self.unknown: set[Unknown] = set()
        self._event = event
        self._knowledge = knowledge
        self._called: set[tuple[str, tuple[Fact, ...]]] = set()

    def run(self) -> None:
        """Round after round, each on what the rounds before have made."""
        for number in count(1):
            made = {
                fact: derivation
                for function in self._knowledge.mappings
                for subject in dict.fromkeys(fact.subject for fact in self.facts)
                for fact, derivation in self._made_by(function, subject)
                if fact not in self.facts
            }
            if not made:
                break
            self.facts.update(dict.fromkeys(made))
            self.origins.update(made)
            if number > MOST_ROUNDS or len(self.origins) > MOST_FACTS:
                names = {derivation.function.name for derivation in made.values()}
                raise endless(self._event.id, names)
        self._spread()

    def _made_by(
        self, function: MappingFunction, subject: Term
    ) -> Iterator[tuple[Fact, Derivation]]:
        serving = list(self._serving(function, subject))
        if prod(map(len, serving)) > MOST_CALLS:
            raise endless(self._event.id, [function.name])
        for inputs in product(*serving):
            if (function.name, inputs) in self._called:
                continue
            self._called.add((function.name, inputs))
            if len(self._called) > MOST_CALLS:
                raise endless(self._event.id, {name for name, _ in self._called})
            try:
                values = [fact.object for fact in inputs]
                made = function.apply(values, self._event.time, self._event.id)
            except MappingError as error:
                self._leave_unknown(function, subject, str(error))
                continue
            for attribute, value in made:
                yield Fact(subject, attribute, value), Derivation(function, inputs)

    def _serving(self, function: MappingFunction, subject: Term) -> Iterator[Sequence[Fact]]:
        """For each input, the facts of a subject that serve it."""
        for _, attribute in function.inputs:
            yield [
                fact
                for fact in self.facts
                if fact.subject == subject and self._serves(fact.property, attribute)
            ]

    def _serves(self, property: Term, attribute: Term) -> bool:
        asked = self._knowledge.attribute_roots(attribute)
        return not asked.isdisjoint(self._knowledge.attributes_above(property))

    def _spread(self) -> None:
        """What a function would make of something unknown is unknown for the same reason."""
        before = -1
        while before != len(self.unknown):
            before = len(self.unknown)
            for function in self._knowledge.mappings:
                for subject in {each.subject for each in self.unknown}:
                    for reason in self._reasons(function, subject):
                        self._leave_unknown(function, subject, reason)

    def _reasons(self, function: MappingFunction, subject: Term) -> set[str]:
        """Why some input of a function is unknown, if all others are there."""
        reasons: set[str] = set()
        for known, (_, attribute) in zip(
            self._serving(function, subject), function.inputs, strict=True
        ):
            missing = {
                each.reason
                for each in self.unknown
                if each.subject == subject and self._serves(each.property, attribute)
            }
            if not known and not missing:
                return set()
            reasons |= missing
        return reasons

    def _leave_unknown(self, function: MappingFunction, subject: Term, reason: str) -> None:
        for attribute, _ in function.outputs:
            self.unknown.add(Unknown(subject, attribute, reason))
