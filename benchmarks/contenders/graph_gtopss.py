"""G-ToPSS (Liu 2005), compiled: the algorithm to beat, not the interpreter."""

from collections.abc import Callable

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from sensewire.match.merged_graph import MergedGraph
from workloads.graph_gtopss import OTHERS, publications
from workloads.graph_workload import Drawn, GraphWorkload, Int32

NAME = "compiled G-ToPSS"


class _Events:
    def __init__(self, graph: MergedGraph, events: Drawn) -> None:
        self._graph, self._events = graph, events
        self._triples = [events.triples(event) for event in range(len(events))]

    def __len__(self) -> int:
        return len(self._triples)

    def match(self, event: int) -> Int32:
        return self._graph.match(*self._triples[event])

    def match_all(self) -> None:
        events = self._events
        self._graph.match_many(events.offsets, events.subject, events.property, events.object)


class Merged:
    """The merged graph, of numbers as they were drawn."""

    def __init__(self, graph: MergedGraph, events: Drawn) -> None:
        self._graph, self._events = graph, events

    @property
    def nbytes(self) -> int:
        return self._graph.nbytes

    def events(self) -> Asked:
        return _Events(self._graph, self._events)

    def others(self) -> Asked:
        return _Events(self._graph, publications(OTHERS, seed=0))


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    assert workload.numbered is not None
    patterns, events = workload.numbered.patterns, workload.numbered.events
    columns = (patterns.offsets, patterns.subject, patterns.property, patterns.object)
    return lambda: Merged(MergedGraph.build(*columns), events)


def _refuses(workload: GraphWorkload) -> str | None:
    if workload.numbered is None or not workload.numbered.patterns.is_plain():
        return "it is asked about plain patterns"
    if len(workload.numbered.events.typed):
        return "it is asked about the same patterns where events have no types"
    return None


GTOPSS = GraphContender(NAME, _ready, _refuses, compiles=True)
