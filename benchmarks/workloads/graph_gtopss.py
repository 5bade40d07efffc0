"""Table 1 of the G-ToPSS paper (Liu 2005), by our reading of what it leaves open.

    publication     a path of 35 vertices and random edges between them, 90 edges in all; the
                    vertices are some of those of the big graph
    big graph       2,000 vertices and 8,000 edges, drawn likewise; 50 properties
    subscriptions   connected, of 5 vertices, with up to 6 of the edges between them:
                      0.1 % for each of 40 publications, from its graph, so that they match it
                      50 %                  from the big graph: they overlap
                      the others            a path and random edges, their vertices nobody else's
    stars           2 of the vertices of 90 % of the subscriptions become variables

Drawn with numpy, all subscriptions at once.
"""

from typing import NamedTuple

import numpy as np

from workloads.graph_texts import workload
from workloads.graph_workload import Drawn, GraphWorkload, Int64, Numbered, Patterns
from workloads.workload import offsets_of

PROPERTIES = 50
VERTICES, EDGES = 2_000, 8_000
PUBLISHED = (35, 90)
PUBLICATIONS, OTHERS = 40, 8
SIZE, MOST_EDGES = 5, 6
RATIO, OVERLAP = 0.001, 0.5
NAME, ALL_VARIABLE = "G-ToPSS", "all variable"


class Graph(NamedTuple):
    """A graph of numbered vertices: its edges, and those at each vertex."""

    subject: Int64
    property: Int64
    object: Int64
    starts: Int64
    incident: Int64


def gtopss(subscriptions: int, seed: int) -> GraphWorkload:
    """The workload of Table 1."""
    numbered, others, _ = numbers(subscriptions, seed, stars=2, share=0.9)
    return workload(NAME, numbered, others)


def all_variable(subscriptions: int, seed: int) -> GraphWorkload:
    """The same with all five vertices variables, in every subscription."""
    numbered, others, _ = numbers(subscriptions, seed, stars=SIZE, share=1.0)
    return workload(ALL_VARIABLE, numbered, others)


def numbers(
    subscriptions: int, seed: int, *, stars: int, share: float
) -> tuple[Numbered, Drawn, Int64]:
    """Patterns and events, more events, and the vertex that each star of a pattern stands for."""
    random = np.random.default_rng((seed, 5))
    paths = random.permutation(VERTICES)[None, :]
    big = _graph(*_flat(paths, _edges(random, 1, VERTICES, EDGES)), VERTICES)
    published = _vertices_of(random, PUBLICATIONS)
    each = _edges(random, PUBLICATIONS, *PUBLISHED)
    more = _vertices_of(random, OTHERS)

    matching = round(PUBLICATIONS * RATIO * subscriptions)
    overlapping = int(OVERLAP * subscriptions)
    apart = subscriptions - matching - overlapping

    # Publications as parts of one graph that are not connected: vertex = 35 · publication + place
    places = np.arange(PUBLICATIONS * PUBLISHED[0]).reshape(PUBLICATIONS, -1)
    inside = _graph(*_flat(places, each), places.size)
    starts = np.arange(matching) % PUBLICATIONS * PUBLISHED[0]
    starts += random.integers(0, PUBLISHED[0], matching)
    names = published.reshape(-1)
    vertices, owner, edge = _subgraphs(random, inside, starts)
    parts = [(names[vertices], owner, _named(inside, edge, names))]
    vertices, owner, edge = _subgraphs(random, big, random.integers(0, VERTICES, overlapping))
    parts.append((vertices, owner + matching, _named(big, edge, np.arange(VERTICES))))
    vertices = VERTICES + np.arange(apart * SIZE).reshape(-1, SIZE)
    owner = np.repeat(np.arange(apart), MOST_EDGES) + matching + overlapping
    parts.append((vertices, owner, _flat(vertices, _edges(random, apart, SIZE, MOST_EDGES))))

    every = np.concatenate([vertices for vertices, _, _ in parts])
    owner = np.concatenate([owner for _, owner, _ in parts])
    subject, property, object = (
        np.concatenate([columns[number] for _, _, columns in parts]) for number in range(3)
    )
    # Nobody's place says how it was drawn.
    place = random.permutation(subscriptions)
    starred = np.zeros(subscriptions, np.bool_)
    starred[random.permutation(subscriptions)[: int(subscriptions * share)]] = True
    chosen = np.argsort(random.random((subscriptions, SIZE)), axis=1)[:, :stars]
    star = np.where(starred[:, None], np.take_along_axis(every, chosen, axis=1), -1)
    ends = [subject.copy(), object.copy()]
    for end, column in zip(ends, (subject, object), strict=True):
        for number in range(stars):
            end[star[owner, number] == column] = -number - 1
    order = np.argsort(place[owner], kind="stable")
    drawn = Patterns(
        offsets_of(np.bincount(place[owner], minlength=subscriptions)),
        ends[0][order].astype(np.int32),
        property[order].astype(np.int32),
        ends[1][order].astype(np.int32),
        np.zeros(subscriptions + 1, np.int64),
        np.empty(0, np.int32),
    )
    events = _events(published, each)
    others = _events(more, _edges(random, OTHERS, *PUBLISHED))
    return Numbered(drawn, events), others, star[np.argsort(place)]


def publications(count: int, seed: int) -> Drawn:
    """More publications, for which there are no subscriptions."""
    random = np.random.default_rng((seed, 6))
    return _events(_vertices_of(random, count), _edges(random, count, *PUBLISHED))


def _vertices_of(random: np.random.Generator, count: int) -> Int64:
    """The vertices of some publications, each once in it."""
    return np.argsort(random.random((count, VERTICES)), axis=1)[:, : PUBLISHED[0]]


def _events(vertices: Int64, edges: tuple[Int64, Int64, Int64]) -> Drawn:
    count, size = edges[0].shape
    columns = [column.astype(np.int32) for column in _flat(vertices, edges)]
    none = np.empty(0, np.int32)
    return Drawn(
        offsets_of([size] * count),
        columns[0],
        columns[1],
        columns[2],
        np.zeros(count + 1, np.int64),
        none,
        none,
    )


def _edges(
    random: np.random.Generator, count: int, vertices: int, edges: int
) -> tuple[Int64, Int64, Int64]:
    """For each of some graphs a path through all places, then random edges; no edge twice."""
    subject = random.integers(0, vertices, (count, edges))
    object = (subject + random.integers(1, vertices, (count, edges))) % vertices
    property = random.integers(0, PROPERTIES, (count, edges))
    subject[:, : vertices - 1] = np.arange(vertices - 1)
    object[:, : vertices - 1] = np.arange(1, vertices)
    while True:
        key = (subject * vertices + object) * PROPERTIES + property
        order = np.argsort(key, axis=1, kind="stable")
        ordered = np.take_along_axis(key, order, axis=1)
        row, column = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        again = order[row, column + 1]
        if not len(row):
            return subject, property, object
        subject[row, again] = random.integers(0, vertices, len(row))
        distance = random.integers(1, vertices, len(row))
        object[row, again] = (subject[row, again] + distance) % vertices
        property[row, again] = random.integers(0, PROPERTIES, len(row))


def _flat(names: Int64, edges: tuple[Int64, Int64, Int64]) -> tuple[Int64, Int64, Int64]:
    """The edges of all graphs, one after another, between the vertices that names say."""
    subject, property, object = edges
    return (
        np.take_along_axis(names, subject, axis=1).reshape(-1),
        property.reshape(-1),
        np.take_along_axis(names, object, axis=1).reshape(-1),
    )


def _named(graph: Graph, edge: Int64, names: Int64) -> tuple[Int64, Int64, Int64]:
    return names[graph.subject[edge]], graph.property[edge], names[graph.object[edge]]


def _graph(subject: Int64, property: Int64, object: Int64, vertices: int) -> Graph:
    ends = np.concatenate((subject, object))
    incident = np.argsort(ends, kind="stable") % len(subject)
    return Graph(
        subject, property, object, offsets_of(np.bincount(ends, minlength=vertices)), incident
    )


def _subgraphs(
    random: np.random.Generator, graph: Graph, starts: Int64
) -> tuple[Int64, Int64, Int64]:
    """Connected subgraphs around some vertices: the vertices of each; owners and edges.

    From a vertex that is in it, chosen anew each time, along any of its edges, until there are
    five; then some of the other edges between these.
    """
    count = len(starts)
    vertices = np.full((count, SIZE), -1, np.int64)
    vertices[:, 0] = starts
    tree = np.zeros((count, SIZE - 1), np.int64)
    sizes = np.ones(count, np.int64)
    degree = np.diff(graph.starts)
    while (rows := np.flatnonzero(sizes < SIZE)).size:
        vertex = vertices[rows, random.integers(0, sizes[rows])]
        edge = graph.incident[graph.starts[vertex] + random.integers(0, degree[vertex])]
        other = graph.subject[edge] + graph.object[edge] - vertex
        new = ~(vertices[rows] == other[:, None]).any(axis=1)
        rows, edge, other = rows[new], edge[new], other[new]
        vertices[rows, sizes[rows]] = other
        tree[rows, sizes[rows] - 1] = edge
        sizes[rows] += 1
    owner = np.repeat(np.arange(count), SIZE - 1)
    in_tree = np.sort(owner * len(graph.subject) + tree.reshape(-1))
    more_owner, more = _between(graph, vertices)
    more_key = more_owner * len(graph.subject) + more
    found = np.searchsorted(in_tree, more_key)
    left = in_tree[np.minimum(found, len(in_tree) - 1)] != more_key if count else found > 0
    more_owner, more = more_owner[left], more[left]
    order = np.lexsort((random.random(len(more)), more_owner))
    more_owner, more = more_owner[order], more[order]
    rank = np.arange(len(more)) - np.searchsorted(more_owner, more_owner)
    few = rank < MOST_EDGES - (SIZE - 1)
    return (
        vertices,
        np.concatenate((owner, more_owner[few])),
        np.concatenate((tree.reshape(-1), more[few])),
    )


def _between(graph: Graph, vertices: Int64) -> tuple[Int64, Int64]:
    """All edges between vertices of each row: rows and edges."""
    total = len(graph.starts) - 1
    pair = graph.subject * total + graph.object
    order = np.argsort(pair, kind="stable")
    pair = pair[order]
    rows: list[Int64] = []
    edges: list[Int64] = []
    for one in range(SIZE):
        for other in range(SIZE):
            if one == other:
                continue
            asked = vertices[:, one] * total + vertices[:, other]
            first = np.searchsorted(pair, asked)
            lengths = np.searchsorted(pair, asked, side="right") - first
            row = np.repeat(np.arange(len(vertices)), lengths)
            before = np.repeat(np.cumsum(lengths) - lengths, lengths)
            rows.append(row)
            edges.append(order[first[row] + np.arange(len(row)) - before])
    return np.concatenate(rows), np.concatenate(edges)
