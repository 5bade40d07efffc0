"""pyoxigraph: a store for each event, and each subscription asked of it, a question after another.

Only plain patterns and classes without bases: what SPARQL says of them is what we say. The store
is filled before the clock runs; questions are texts, which its API reads anew each time.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyoxigraph

from contenders.graph_contender import Asked, GraphContender, GraphMatching
from sensewire.model.event import Event
from sensewire.model.terms import HOME, Kind, Term
from workloads.graph_texts import as_sparql
from workloads.graph_workload import PLACE, GraphWorkload, Int32

NAME = "pyoxigraph ASK"
_STANDS = 10_000


class _Events:
    def __init__(self, questions: Sequence[str], events: Sequence[Event]) -> None:
        self._questions = questions
        self._stores = [_store(event) for event in events]

    def __len__(self) -> int:
        return len(self._stores)

    def match(self, event: int) -> Int32:
        store = self._stores[event]
        found = [row for row, question in enumerate(self._questions) if store.query(question)]
        return np.array(found, np.int32)

    def match_all(self) -> None:
        for event in range(len(self)):
            self.match(event)


class Questions:
    """The texts."""

    nbytes = None

    def __init__(self, workload: GraphWorkload) -> None:
        self._workload = workload
        self._texts = [as_sparql(each) for each in workload.asked(range(workload.size))]

    def events(self) -> Asked:
        return _Events(self._texts, self._workload.events)

    def others(self) -> Asked:
        return _Events(self._texts[:100], self._workload.others[:1])


def _store(event: Event) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.extend(
        pyoxigraph.Quad(_node(fact.subject), _named(fact.property), _node(fact.object))
        for fact in event.facts
    )
    return store


def _node(term: Term) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode:
    if term == HOME:
        return pyoxigraph.NamedNode(f"{PLACE}H")
    return pyoxigraph.BlankNode(term.text) if term.kind is Kind.BLANK else _named(term)


def _named(term: Term) -> pyoxigraph.NamedNode:
    assert term.kind is Kind.IRI
    return pyoxigraph.NamedNode(term.text)


def _ready(workload: GraphWorkload) -> Callable[[], GraphMatching]:
    return lambda: Questions(workload)


def _refuses(workload: GraphWorkload) -> str | None:
    if workload.numbered is None:
        return "its numbers in words are no numbers, ours are"
    if any(len(above) > 1 for above in workload.numbered.taxonomy.above):
        return "it knows no hierarchy"
    if workload.size > _STANDS:
        return "its time grows with the subscriptions: seconds for an event"
    return None


OXIGRAPH = GraphContender(NAME, _ready, _refuses, is_slow=True)
