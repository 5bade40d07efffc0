"""The engine, asked by `match_graphs` about facts in columns: records and patterns in one."""

from collections.abc import Callable

import pyarrow as pa

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from contenders.graph_engine import read
from sensewire.engine import Engine
from sensewire.events.graphs import Graphs
from workloads.graph_texts import as_nquads
from workloads.graph_workload import GraphWorkload, Int32

NAME = "engine, match_graphs"


class _Events:
    def __init__(self, engine: Engine, graphs: Graphs) -> None:
        self._engine, self._graphs = engine, graphs
        self._each = [graphs.at([event]) for event in range(len(graphs))]

    def __len__(self) -> int:
        return len(self._each)

    def match(self, event: int) -> Int32:
        matches = self._engine.match_graphs(self._each[event]).matches
        found: Int32 = matches.column("subscription").cast(pa.int32()).to_numpy()
        return found

    def match_all(self) -> None:
        self._engine.match_graphs(self._graphs)


class Whole:
    """An engine with all subscriptions, their ids their numbers."""

    nbytes = None

    def __init__(self, workload: GraphWorkload) -> None:
        self._workload = workload
        self._engine = Engine(workload.knowledge)
        for row, subscription in enumerate(workload.asked(range(workload.size))):
            self._engine.add(subscription, id=str(row))
        self._engine.match(workload.others[0])

    def events(self) -> Asked:
        (graphs,) = read(as_nquads(self._workload.events))
        return _Events(self._engine, graphs)

    def others(self) -> Asked:
        (graphs,) = read(as_nquads(self._workload.others))
        return _Events(self._engine, graphs)


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    return lambda: Whole(workload)


def _refuses(workload: GraphWorkload) -> str | None:
    if workload.numbered is not None:
        return "it is asked where records and patterns are one"
    return None


ENGINE = GraphContender(NAME, _ready, _refuses)
