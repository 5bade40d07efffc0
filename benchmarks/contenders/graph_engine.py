"""N-Quads to encoded facts; and the engine as its users see it, on graphs, on one core.

N-Quads to facts     bytes to columns of codes, by the scanner that the pipeline uses
facts to rows        what is asked for about each term, looked up: of new terms, and of known ones
parse, add, remove   texts to subscriptions, and these one by one
compile              the first match after so many were added
match, one by one    events that were made before, on first sight and again
match_graphs         columns to matches
N-Quads to matches   bytes to matches, as a task of the pipeline has it
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyoxigraph

from contenders.graph_ours import NAME as COMPILED
from contenders.graph_ours import encoded
from frame import Row, Settings, timed
from sensewire.engine import Engine
from sensewire.events.decoding import Decoding
from sensewire.events.files import held_slice
from sensewire.events.graphs import Graphs
from sensewire.events.kinds import Kind
from sensewire.events.nquads import graph_portions
from sensewire.events.nquads_home import NO_HOME
from sensewire.events.nquads_scanner import Kept
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.match.compiled.graph_terms import TermRows
from sensewire.model.event import Event
from workloads.graph_gtopss import gtopss, publications
from workloads.graph_texts import TIME, as_nquads, events
from workloads.graph_truth import GraphTruth, refuse_difference
from workloads.graph_workload import GraphWorkload, Int32, Taxonomy

CONTENDER, SCANNER, PYOXIGRAPH = "engine", "scanner", "pyoxigraph"
_NAME = "G-ToPSS, engine"
_BYTES = "G-ToPSS, N-Quads"
_REMOVED = 10  # one in so many
_Made = Callable[[str, float, str], Row]


@dataclass(frozen=True, slots=True)
class GraphBudget:
    """How much is done: subscriptions, events, timings."""

    size: int
    events: int
    times: int


def measured_bytes(seed: int, budget: GraphBudget) -> Iterator[Row]:
    """From bytes to what kernels read."""
    some = _more(seed, budget.events)
    data, triples = as_nquads(some), sum(len(event.facts) for event in some)

    def row(contender: str, metric: str, seconds: float) -> Row:
        return Row(_BYTES, budget.size, contender, metric, 1e6 * seconds / triples, "µs/triple")

    read(data)  # the JIT is warm before anything is timed
    seconds, graphs = timed(budget.times, lambda: read(data))
    assert sum(len(each.facts.subject) for each in graphs) == triples
    yield row(SCANNER, "N-Quads to facts", seconds)
    seconds, _ = timed(budget.times, lambda: _parsed(data))
    yield row(PYOXIGRAPH, "N-Quads to facts", seconds)
    vocabulary = encoded(gtopss(budget.size, seed)).vocabulary
    columns = [(each.facts, _homes(each)) for each in graphs]
    rows = TermRows(vocabulary)

    def look_up() -> None:
        for facts, homes in columns:
            rows.encoded(facts, homes)

    seconds, _ = timed(1, look_up)
    yield row(COMPILED, "facts to rows, new terms", seconds)
    seconds, _ = timed(budget.times, look_up)
    yield row(COMPILED, "facts to rows, known terms", seconds)


def measured_graph_engine(settings: Settings, budget: GraphBudget) -> Iterator[Row]:
    """Everything that the engine is asked for, in the order in which users ask."""
    settings.report(f"engine, {budget.size:,}: drawing")
    workload = gtopss(budget.size, settings.seed)
    texts = [unparse(each) for each in workload.asked(range(workload.size))]

    def row(metric: str, value: float, unit: str) -> Row:
        return Row(_NAME, budget.size, CONTENDER, metric, value, unit)

    settings.report(f"engine, {budget.size:,}: parse and add")
    Engine().add(parse(texts[0]))  # the JIT is warm before anything is timed
    seconds, subscriptions = timed(1, lambda: [parse(text) for text in texts])
    yield row("parse", 1e6 * seconds / budget.size, "µs/subscription")
    engine = Engine()

    def add_all() -> None:
        for number, subscription in enumerate(subscriptions):
            engine.add(subscription, id=str(number))

    seconds, _ = timed(1, add_all)
    yield row("add", 1e6 * seconds / budget.size, "µs/subscription")
    seconds, _ = timed(1, lambda: engine.match(workload.others[0]), perf_counter)
    yield row("compile", seconds, "s")
    yield from _matched(settings, workload, engine, budget, row)

    settings.report(f"engine, {budget.size:,}: remove")
    gone = [str(number) for number in range(0, budget.size, _REMOVED)]

    def remove_some() -> None:
        for id in gone:
            engine.remove(id)

    seconds, _ = timed(1, remove_some)
    yield row("remove", 1e6 * seconds / len(gone), "µs/subscription")


def _matched(
    settings: Settings, workload: GraphWorkload, engine: Engine, budget: GraphBudget, row: _Made
) -> Iterator[Row]:
    size = f"engine, {workload.size:,}"
    settings.report(f"{size}: match, one by one")
    for other in workload.others:
        engine.match(other)
    answers: list[Int32] = []
    for metric in ("match, one by one, first sight", "match, one by one"):
        taken = []
        answers.clear()
        for event in workload.events:
            started = perf_counter()
            found = engine.match(event)
            taken.append(perf_counter() - started)
            answers.append(np.array([int(match.subscription) for match in found], np.int32))
        yield row(metric, 1e6 * median(taken), "µs/event")
    truth = GraphTruth(workload)
    for number in range(2):
        truth.check(CONTENDER, number, answers[number])

    settings.report(f"{size}: match_graphs")
    more = max(0, budget.events - len(workload.events))
    every = [*workload.events, *_more(settings.seed, more)]
    data, triples = as_nquads(every), sum(len(event.facts) for event in every)

    def all_of_it() -> list[tuple[Int32, Int32]]:
        return [_pairs(engine, each) for each in read(data, engine.wants_property)]

    graphs = read(data, engine.wants_property)
    for each in graphs:
        engine.match_graphs(each)
    seconds, _ = timed(budget.times, lambda: [engine.match_graphs(each) for each in graphs])
    yield row("match_graphs", 1e6 * seconds / len(every), "µs/event")
    seconds, found_pairs = timed(budget.times, all_of_it)
    yield row("N-Quads to matches", 1e6 * seconds / len(every), "µs/event")
    yield row("N-Quads to matches, by triples", 1e6 * seconds / triples, "µs/triple")
    rows, subscriptions = found_pairs[0]
    for number, answer in enumerate(answers):
        given = subscriptions[rows == number]
        refuse_difference(workload, f"{CONTENDER} (match_graphs)", number, given, answer)


def read(data: bytes, kept: Kept | None = None) -> list[Graphs]:
    """N-Quads as columns."""
    part = held_slice(data, Kind.NQUADS, "events.nq")
    found = []
    for each in graph_portions(part, Decoding(now=TIME), kept):
        assert isinstance(each, Graphs), "what a benchmark writes can be read"
        found.append(each)
    return found


def _more(seed: int, count: int) -> list[Event]:
    return events(publications(count, seed), Taxonomy(), "m")


def _homes(graphs: Graphs) -> Int32:
    return np.where(graphs.home == NO_HOME, -1, graphs.home).astype(np.int32)


def _parsed(data: bytes) -> int:
    return sum(1 for _ in pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS))


def _pairs(engine: Engine, graphs: Graphs) -> tuple[Int32, Int32]:
    matches = engine.match_graphs(graphs).matches
    subscriptions = matches.column("subscription").cast(pa.int32()).to_numpy()
    return matches.column("event").to_numpy().astype(np.int32), subscriptions
