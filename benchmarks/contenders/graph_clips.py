"""CLIPS, the rule engine (Rete), through clipspy: a rule for each subscription.

A fact of an event is `(triple subject property object)`; the rules on the agenda when all facts are
there are the answer, and none is fired. Then the facts are taken back, so that the next event comes
alone.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from sensewire.model.event import Event, Fact
from sensewire.model.terms import local_name
from workloads.graph_workload import GraphWorkload, Int32, Patterns

NAME = "CLIPS"
_STANDS = 10_000


class _Events:
    def __init__(self, environment: Any, events: Sequence[Event]) -> None:
        self._environment = environment
        self._texts = ["\n".join(map(_fact, event.facts)) for event in events]

    def __len__(self) -> int:
        return len(self._texts)

    def match(self, event: int) -> Int32:
        self._environment.load_facts(self._texts[event])
        names = {activation.name for activation in self._environment.activations()}
        self._environment.reset()
        return np.array([int(name[1:]) for name in names], np.int32)

    def match_all(self) -> None:
        for event in range(len(self)):
            self.match(event)


class Rules:
    """The rules, in an environment of CLIPS."""

    def __init__(self, workload: GraphWorkload, rules: Sequence[str]) -> None:
        import clips

        self._workload = workload
        self._environment: Any = clips.Environment()
        before = self._environment.eval("(mem-used)")
        for rule in rules:
            self._environment.build(rule)
        self.nbytes = int(self._environment.eval("(mem-used)") - before)

    def events(self) -> Asked:
        return _Events(self._environment, self._workload.events)

    def others(self) -> Asked:
        return _Events(self._environment, self._workload.others)


def _fact(fact: Fact) -> str:
    return f"(triple {' '.join(local_name(term.text) for term in fact)})"


def _rules(patterns: Patterns) -> Iterator[str]:
    for row in range(len(patterns)):
        said = [
            f"(triple {_end(subject)} p{property} {_end(object)})"
            for subject, property, object in patterns.edges(row)
        ]
        yield f"(defrule r{row} {' '.join(said)} => )"


def _end(vertex: int) -> str:
    return f"v{vertex}" if vertex >= 0 else f"?x{-vertex}"


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    assert workload.numbered is not None
    rules = [*_rules(workload.numbered.patterns)]
    return lambda: Rules(workload, rules)


def _refuses(workload: GraphWorkload) -> str | None:
    if workload.numbered is None or not workload.numbered.patterns.is_plain():
        return "it is asked about plain patterns"
    if len(workload.numbered.events.typed):
        return "it is asked about the same patterns where events have no types"
    if workload.size > _STANDS:
        return "its rules take long to build: 30,000 took 40 s"
    return None


CLIPS = GraphContender(NAME, _ready, _refuses)
