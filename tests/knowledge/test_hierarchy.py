"""Roots, what is above, ways and cycles, against networkx.

Proved by breaking: edges that keep their direction's names but not their roots, `above` without the
entity itself, a way that is not the shortest, the closure's table written by columns.
"""

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.closure import UNKNOWN, closure_of
from sensewire.knowledge.hierarchy import Hierarchy, cycle_among
from sensewire.model.terms import Term, string

NODES = [string(letter) for letter in "abcdefghij"]
nodes = st.sampled_from(NODES)
pairs = st.lists(st.tuples(nodes, nodes), max_size=14)
few_pairs = st.lists(st.tuples(nodes, nodes), max_size=3)


def quotient(edges: list[tuple[Term, Term]], same: list[tuple[Term, Term]]) -> nx.DiGraph:
    """The graph over groups of synonyms, by networkx alone; a node is a frozenset of terms."""
    alike = nx.Graph(same)
    alike.add_nodes_from(NODES)
    groups = {node: frozenset(group) for group in nx.connected_components(alike) for node in group}
    graph = nx.DiGraph()
    graph.add_nodes_from(groups.values())
    graph.add_edges_from((groups[a], groups[b]) for a, b in edges)
    return graph


def group_of(graph: nx.DiGraph, term: Term) -> frozenset[Term]:
    return next(group for group in graph if term in group)


@given(edges=pairs, same=few_pairs)
def test_a_cycle_is_found_where_there_is_one(
    edges: list[tuple[Term, Term]], same: list[tuple[Term, Term]]
) -> None:
    root = Hierarchy((), same).root
    cycle = cycle_among(edges, root)
    graph = quotient(edges, same)
    assert bool(cycle) != nx.is_directed_acyclic_graph(graph)
    for (_, end), (start, _) in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True):
        assert root(end) == root(start)
    assert set(cycle) <= set(edges)


@given(edges=pairs, same=few_pairs)
def test_above_below_steps_and_ways(
    edges: list[tuple[Term, Term]], same: list[tuple[Term, Term]]
) -> None:
    acyclic = [(a, b) for a, b in edges if a.text > b.text]
    graph = quotient(acyclic, same)
    hierarchy = Hierarchy(acyclic, same)
    for group in graph:
        roots = {hierarchy.root(term) for term in group}
        assert len(roots) == 1
        (root,) = roots
        assert root in group
        if len(group) > 1:
            assert set(hierarchy.members(root)) == group
        ups = {group, *nx.descendants(graph, group)}
        assert hierarchy.above(root) == {hierarchy.root(next(iter(each))) for each in ups}
        downs = {group, *nx.ancestors(graph, group)}
        assert hierarchy.below(root) == {hierarchy.root(next(iter(each))) for each in downs}
        lengths = nx.single_source_shortest_path_length(graph, group)
        for other in graph:
            end = hierarchy.root(next(iter(other)))
            assert hierarchy.steps_up(root, end) == lengths.get(other)
            path = hierarchy.path_up(root, end)
            if path is not None:
                assert path[0] == root
                assert path[-1] == end
                for low, high in pairwise(path):
                    assert graph.has_edge(group_of(graph, low), group_of(graph, high))


@given(edges=pairs, dense=st.booleans())
def test_the_closure_is_the_hierarchy(edges: list[tuple[Term, Term]], dense: bool) -> None:
    acyclic = [(a, b) for a, b in edges if a.text > b.text]
    hierarchy = Hierarchy(acyclic, ())
    closure = closure_of(hierarchy, NODES, dense=len(NODES) if dense else 0)
    asked = [(low, high) for low in (*NODES, string("?")) for high in (*NODES, string("?"))]
    found = closure.is_below(
        closure.numbered(low for low, _ in asked), closure.numbered(high for _, high in asked)
    )
    known = set(NODES)
    assert found.tolist() == [low in known and high in hierarchy.above(low) for low, high in asked]


def test_nothing_is_asked_of_nothing() -> None:
    closure = closure_of(Hierarchy((), ()), [])
    unknown = np.array([UNKNOWN], dtype=np.int64)
    assert closure.is_below(unknown, unknown).tolist() == [False]
    assert closure.is_below(unknown[:0], unknown[:0]).tolist() == []


def test_a_way_out_is_the_shortest() -> None:
    a, b, c, d = NODES[:4]
    hierarchy = Hierarchy([(a, b), (b, c), (a, d)], ())
    assert hierarchy.way_out(a, but=b) == [a, d]
    assert hierarchy.way_out(a, but=d) == [a, b, c]
    assert hierarchy.way_out(c, but=d) == [c]
    assert hierarchy.way_out(c, but=c) is None


def test_a_long_chain_is_no_trouble() -> None:
    chain = [string(str(number)) for number in range(5_000)]
    hierarchy = Hierarchy(list(pairwise(chain)), ())
    assert hierarchy.steps_up(chain[0], chain[-1]) == 4_999
    assert not cycle_among(list(pairwise(chain)), hierarchy.root)
