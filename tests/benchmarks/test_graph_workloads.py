"""The workloads of graphs: one seed is one draw, their shapes are those of the papers, and the
truth is what the oracle says.

Proved by breaking: paths left out of graphs, variables numbered from 0, stars in fewer patterns,
Brick's classes taken without those above; in the truth classes, distinct vertices, the home vertex
and joins left out, and too many patterns passed over: each was caught.
"""

from collections.abc import Callable
from itertools import pairwise

import networkx
import numpy as np
import pyoxigraph
import pytest

from frame import WrongAnswerError
from sensewire.model.terms import HOME
from workloads import graph_brick, graph_gtopss, graph_mixed, graph_ops
from workloads.graph_texts import as_nquads, as_sparql
from workloads.graph_truth import GraphTruth, by_oracle, matching, refuse_difference
from workloads.graph_workload import NO_CLASS, GraphWorkload, Numbered

TAXONOMY = graph_brick.taxonomy_of_brick()
DRAWN: dict[str, Callable[[int, int], GraphWorkload]] = {
    graph_gtopss.NAME: graph_gtopss.gtopss,
    graph_gtopss.ALL_VARIABLE: graph_gtopss.all_variable,
    graph_ops.NAME: graph_ops.ops,
    graph_ops.DISTINCT: graph_ops.distinct,
    graph_ops.HIERARCHY: graph_ops.with_hierarchy,
    graph_brick.NAME: lambda size, seed: graph_brick.with_and_without(TAXONOMY, size, seed)[0],
    graph_brick.WITHOUT: lambda size, seed: graph_brick.with_and_without(TAXONOMY, size, seed)[1],
    graph_mixed.NAME: graph_mixed.mixed,
    graph_mixed.RANGES: graph_mixed.mixed_ranges,
}
NUMBERED = [name for name in DRAWN if name not in (graph_mixed.NAME, graph_mixed.RANGES)]
TYPED = [graph_ops.NAME, graph_ops.DISTINCT, graph_ops.HIERARCHY]


def numbers_of(workload: GraphWorkload) -> Numbered:
    assert workload.numbered is not None
    return workload.numbered


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_is_one_draw(name: str) -> None:
    one, again, other = (DRAWN[name](50, seed) for seed in (1, 1, 2))
    asked = [[*each.asked(range(50))] for each in (one, again, other)]
    assert asked[0] == asked[1] != asked[2]
    assert one.events == again.events != other.events
    assert not {event.facts for event in one.events} & {event.facts for event in one.others}


@pytest.mark.parametrize("name", NUMBERED)
def test_patterns_are_connected(name: str) -> None:
    patterns = numbers_of(DRAWN[name](300, 3)).patterns
    vertices, most = (10, 11) if name in TYPED else (5, 6)
    for pattern in range(300):
        edges = patterns.edges(pattern)
        graph = networkx.Graph((subject, object) for subject, _, object in edges)
        assert networkx.is_connected(graph)
        assert len(graph) == vertices
        assert vertices - 1 <= len(edges) <= most
        assert len(set(edges)) == len(edges)
        variables = {vertex for vertex in graph if vertex < 0}
        assert variables == {-number for number in range(1, len(variables) + 1)}


@pytest.mark.parametrize(("name", "shape"), [(name, (35, 90)) for name in NUMBERED[:2]])
def test_publications_are_those_of_table_1(name: str, shape: tuple[int, int]) -> None:
    events = numbers_of(DRAWN[name](10, 3)).events
    assert len(events) == graph_gtopss.PUBLICATIONS
    for event in range(len(events)):
        subject, property, object = events.triples(event)
        assert (len({*subject.tolist(), *object.tolist()}), len(subject)) == shape
        assert property.max() < graph_gtopss.PROPERTIES
        facts = [*zip(subject.tolist(), property.tolist(), object.tolist(), strict=True)]
        assert len(set(facts)) == len(facts)
        path = networkx.DiGraph((one, other) for one, _, other in facts[:34])
        assert networkx.is_directed_acyclic_graph(path)
        assert all(before[2] == after[0] for before, after in pairwise(facts[:34]))


def test_nine_of_ten_subscriptions_have_two_stars_and_one_in_two_overlaps() -> None:
    size = 2_000
    drawn, _, stars = graph_gtopss.numbers(size, 4, stars=2, share=0.9)
    patterns = drawn.patterns
    owner = np.repeat(np.arange(size), np.diff(patterns.offsets))
    least = np.minimum(patterns.subject, patterns.object)
    starred = np.bincount(owner[least < 0], minlength=size) > 0
    assert starred.sum() == 0.9 * size
    assert ((stars >= 0).sum(axis=1) == 2 * starred).all()
    highest = np.maximum(patterns.subject, patterns.object)
    own = np.bincount(owner[highest >= graph_gtopss.VERTICES], minlength=size) > 0
    assert own.sum() == size - 0.5 * size - 0.04 * size


def test_a_thousandth_of_the_subscriptions_matches_by_construction() -> None:
    drawn = numbers_of(graph_gtopss.gtopss(10_000, 5))
    found = [len(matching(drawn, event)) for event in range(10)]
    assert all(10 <= each <= 14 for each in found)


@pytest.mark.parametrize("name", TYPED)
def test_events_of_ops_have_a_class_for_each_of_fifty_vertices(name: str) -> None:
    workload = DRAWN[name](20, 3)
    drawn = numbers_of(workload)
    assert drawn.patterns.injective
    assert (drawn.patterns.classes != NO_CLASS).all()
    for number, event in enumerate(workload.events):
        assert event.home == HOME
        assert len(drawn.events.types(number)) == 50
        arcs = 50 if name == graph_ops.DISTINCT else 55
        assert arcs <= len(drawn.events.triples(number)[0]) <= 55


def test_about_three_in_a_hundred_match_in_ops_and_fewer_lower_down() -> None:
    rates = {}
    for name in (graph_ops.NAME, graph_ops.HIERARCHY):
        drawn = numbers_of(DRAWN[name](1_000, 6))
        found = [len(matching(drawn, event)) for event in range(graph_ops.EVENTS)]
        rates[name] = sum(found) / len(found) / 1_000
    assert 0.01 < rates[graph_ops.NAME] < 0.08
    assert 0 < rates[graph_ops.HIERARCHY] < rates[graph_ops.NAME]


def test_classes_of_brick_hold_where_they_were_drawn() -> None:
    held, free = graph_brick.with_and_without(TAXONOMY, 2_000, 7)
    inner = 0
    for event in range(5):
        with_classes = {*matching(numbers_of(held), event).tolist()}
        without = {*matching(numbers_of(free), event).tolist()}
        assert len(with_classes) >= 2
        assert with_classes <= without
        types = numbers_of(held).events.types(event).values()
        for pattern in with_classes:
            asked = [each for each in numbers_of(held).patterns.classes_of(pattern) if each >= 0]
            inner += sum(each not in types for each in asked)
    assert inner > 0


@pytest.mark.parametrize("name", NUMBERED)
def test_the_truth_is_the_oracle_s(name: str) -> None:
    workload = DRAWN[name](200, 8)
    matched = 0
    for event in range(5):
        due = matching(numbers_of(workload), event).tolist()
        rows = [*range(event, 200, 20), *due]
        held = by_oracle(workload, event, rows)
        assert [row for row, holds in zip(rows, held, strict=True) if holds] == [
            row for row in rows if row in due
        ]
        matched += len(due)
    assert matched > 0


def test_mixed_subscriptions_match_by_construction_and_not_all_do() -> None:
    workload = graph_mixed.mixed(1_000, 9)
    held = by_oracle(workload, 0, range(1_000))
    assert 1 <= sum(held) < 20


def test_n_quads_say_what_events_are() -> None:
    event = DRAWN[graph_ops.NAME](1, 1).events[0]
    quads = {*pyoxigraph.parse(as_nquads([event]), format=pyoxigraph.RdfFormat.N_QUADS)}
    assert len(quads) == len(event.facts)
    assert {quad.graph_name.value for quad in quads} == {event.id}


def test_a_question_has_what_a_subscription_asks() -> None:
    (asked,) = DRAWN[graph_ops.NAME](1, 1).asked([0])
    said = as_sparql(asked)
    assert said.startswith("ASK {")
    assert said.count("rdf-syntax-ns#type") == 10
    assert said.count("FILTER") == 10 * 9 / 2


def test_who_differs_is_found_out() -> None:
    workload = graph_gtopss.gtopss(100, 1)
    due = np.array([3, 5, 9], np.int32)
    refuse_difference(workload, "x", 0, due[::-1], due)
    for given, said in (
        ([3, 5], r"missing: \[9\]"),
        ([3, 5, 9, 9], r"twice: \[9\]"),
        ([3, 5, 8, 9], r"twice: \[8\]"),
    ):
        with pytest.raises(WrongAnswerError, match=said):
            refuse_difference(workload, "x", 0, np.array(given, np.int32), due)
    with pytest.raises(WrongAnswerError, match="x answers event 0"):
        GraphTruth(workload).check("x", 0, np.arange(100, dtype=np.int32))
    mixed = graph_mixed.mixed(100, 1)
    with pytest.raises(WrongAnswerError, match="x answers event 0"):
        GraphTruth(mixed).check("x", 0, np.arange(100, dtype=np.int32))
