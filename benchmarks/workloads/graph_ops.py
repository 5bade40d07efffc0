"""Section 6 of the OPS paper (Wang 2004), by our readings of what it leaves open.

10 classes with 2 of 10 properties each; events of 50 blank nodes and 55 arcs, their home vertex
among them; subscriptions of 10 vertices and 11 arcs from the home vertex on, all of them variables
with a class, each a vertex of its own.

    OPS            a template of event size for each class of home vertices; a subscription is a
                   part of one, an event a whole one, in which one vertex in seven has another class
    OPS distinct   a property of a class leads to one class; events and subscriptions are drawn by
                   going through all properties of each vertex, and each subscription is a part of
                   a graph of its own: hardly two have one shape
    OPS hierarchy  the first, with two classes below each and two below each of these: events name
                   the lowest, subscriptions the highest, or, one vertex in four, one below it
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from workloads.graph_texts import workload
from workloads.graph_workload import (
    Drawn,
    GraphWorkload,
    Numbered,
    Taxonomy,
    drawn,
    patterns,
    tree_of_classes,
)

CLASSES, PROPERTIES = 10, 10
EVENT, SUBSCRIPTION = (50, 55), (10, 11)
ANOTHER_CLASS = 0.14
LOWER, OFTEN = 2, 4
EVENTS, OTHERS = 40, 8
NAME, DISTINCT, HIERARCHY = "OPS", "OPS distinct", "OPS hierarchy"

Arc = tuple[int, int, int]
Properties = list[list[int]]


class Typed(NamedTuple):
    """A graph in which every vertex has a class; vertex 0 is the home vertex."""

    classes: list[int]
    arcs: list[Arc]


class Template(NamedTuple):
    """A tree from the home vertex on, by the arc that leads to each vertex, and further arcs."""

    classes: list[int]
    leading: list[Arc]
    further: list[Arc]


def ops(subscriptions: int, seed: int) -> GraphWorkload:
    """Parts of templates, and templates in which some classes are others."""
    random = Random(f"{seed} OPS")
    asked, events, others = _of_templates(random, subscriptions)
    return _workload(NAME, asked, events, others, tree_of_classes([-1] * CLASSES))


def distinct(subscriptions: int, seed: int) -> GraphWorkload:
    """Subscriptions each from a graph of its own."""
    random = Random(f"{seed} OPS distinct")
    leads: list[list[tuple[int, int]]] = [
        [(property, random.randrange(CLASSES)) for property in random.sample(range(PROPERTIES), 2)]
        for _ in range(CLASSES)
    ]

    def graph() -> Typed:
        return _by_all_properties(random, leads)

    return _workload(
        DISTINCT,
        [_rooted_part(random, graph()) for _ in range(subscriptions)],
        [graph() for _ in range(EVENTS)],
        [graph() for _ in range(OTHERS)],
        tree_of_classes([-1] * CLASSES),
    )


def with_hierarchy(subscriptions: int, seed: int) -> GraphWorkload:
    """The templates, with narrower classes in events."""
    random = Random(f"{seed} OPS hierarchy")
    asked, events, others = _of_templates(random, subscriptions)
    below: dict[int, list[int]] = defaultdict(list)
    parents = [-1] * CLASSES
    for first, end in ((0, CLASSES), (CLASSES, CLASSES * (1 + LOWER))):
        for parent in range(first, end):
            below[parent] = [len(parents) + number for number in range(LOWER)]
            parents += [parent] * LOWER

    def narrowed(graph: Typed, narrower: Callable[[int], int]) -> Typed:
        return Typed([narrower(number) for number in graph.classes], graph.arcs)

    def lowest(number: int) -> int:
        return random.choice(below[random.choice(below[number])])

    def sometimes_lower(number: int) -> int:
        return random.choice(below[number]) if random.randrange(OFTEN) == 0 else number

    return _workload(
        HIERARCHY,
        [narrowed(graph, sometimes_lower) for graph in asked],
        [narrowed(graph, lowest) for graph in events],
        [narrowed(graph, lowest) for graph in others],
        tree_of_classes(parents),
    )


def _workload(
    name: str,
    asked: Sequence[Typed],
    events: Sequence[Typed],
    others: Sequence[Typed],
    taxonomy: Taxonomy,
) -> GraphWorkload:
    made = patterns(
        [[(-one - 1, by, -other - 1) for one, by, other in graph.arcs] for graph in asked],
        [graph.classes for graph in asked],
        injective=True,
        rooted=True,
    )
    return workload(name, Numbered(made, _drawn(events), taxonomy), _drawn(others), blanks=True)


def _drawn(graphs: Sequence[Typed]) -> Drawn:
    return drawn(
        [graph.arcs for graph in graphs],
        [dict(enumerate(graph.classes)) for graph in graphs],
        rooted=True,
    )


# Templates


def _of_templates(
    random: Random, subscriptions: int
) -> tuple[list[Typed], list[Typed], list[Typed]]:
    having = [random.sample(range(PROPERTIES), 2) for _ in range(CLASSES)]
    templates = [_template(random, having, home) for home in range(CLASSES)]
    events = [
        _with_other_classes(random, having, random.choice(templates))
        for _ in range(EVENTS + OTHERS)
    ]
    asked = [_part(random, random.choice(templates)) for _ in range(subscriptions)]
    return asked, events[:EVENTS], events[EVENTS:]


def _template(random: Random, having: Properties, home: int) -> Template:
    """Two arcs from each vertex in the order in which these came, and some between the first."""
    vertices, arcs = EVENT
    classes = [home, *(random.randrange(CLASSES) for _ in range(vertices - 1))]

    def arc(one: int, other: int) -> Arc:
        return one, random.choice(having[classes[one]]), other

    leading = [arc((vertex - 1) // 2, vertex) for vertex in range(1, vertices)]
    taken = {(one, other) for one, _, other in leading}
    further: list[Arc] = []
    while len(further) < arcs - len(leading):
        one, other = random.randrange(16), random.randrange(1, 16)
        if one != other and (one, other) not in taken:
            taken.add((one, other))
            further.append(arc(one, other))
    return Template(classes, leading, further)


def _with_other_classes(random: Random, having: Properties, template: Template) -> Typed:
    classes = [
        random.randrange(CLASSES) if vertex and random.random() < ANOTHER_CLASS else of
        for vertex, of in enumerate(template.classes)
    ]
    arcs: dict[Arc, None] = {}
    for one, by, other in (*template.leading, *template.further):
        may = having[classes[one]]
        arcs[one, by if by in may else random.choice(may), other] = None
    return Typed(classes, [*arcs])


def _part(random: Random, template: Template) -> Typed:
    """Some vertices of a template from the home vertex on, and as many more arcs as there must."""
    vertices, arcs = SUBSCRIPTION
    while True:
        further = random.sample(template.further, arcs - vertices + 1)
        chosen = {0}
        for one, _, other in further:
            for vertex in (one, other):
                while vertex not in chosen:
                    chosen.add(vertex)
                    vertex = (vertex - 1) // 2
        if len(chosen) <= vertices:
            break
    while len(chosen) < vertices:
        edge = [
            vertex
            for vertex in range(1, len(template.classes))
            if vertex not in chosen and (vertex - 1) // 2 in chosen
        ]
        chosen.add(random.choice(edge))
    leading = [template.leading[vertex - 1] for vertex in sorted(chosen) if vertex]
    return _renumbered(template.classes, sorted(chosen), [*leading, *further])


def _renumbered(classes: Sequence[int], chosen: Sequence[int], arcs: Sequence[Arc]) -> Typed:
    place = {vertex: number for number, vertex in enumerate(chosen)}
    return Typed(
        [classes[vertex] for vertex in chosen],
        [(place[one], by, place[other]) for one, by, other in arcs],
    )


# Graphs of their own


def _by_all_properties(random: Random, leads: Sequence[Sequence[tuple[int, int]]]) -> Typed:
    """Every vertex in turn has both its properties, until there are enough; then more arcs."""
    vertices, arcs = EVENT
    while True:
        classes = [random.randrange(CLASSES)]
        made: dict[Arc, None] = {}
        for vertex in range(vertices):
            for by, leads_to in leads[classes[vertex]]:
                if len(classes) < vertices:
                    made[vertex, by, len(classes)] = None
                    classes.append(leads_to)
        having: dict[int, list[int]] = defaultdict(list)
        for vertex, of in enumerate(classes):
            having[of].append(vertex)
        for _ in range(50 * arcs):
            vertex = random.randrange(vertices)
            by, leads_to = random.choice(leads[classes[vertex]])
            if len(made) < arcs and having[leads_to]:
                made[vertex, by, random.choice(having[leads_to])] = None
            if len(made) == arcs:
                return Typed(classes, [*made])


def _rooted_part(random: Random, graph: Typed) -> Typed:
    """Some vertices of a graph, each led to from one before it, and a few of the arcs between."""
    vertices, arcs = SUBSCRIPTION
    leaving: dict[int, list[Arc]] = defaultdict(list)
    for arc in graph.arcs:
        leaving[arc[0]].append(arc)
    while True:
        chosen, leading = [0], []
        for _ in range(20 * vertices):
            vertex = random.choice(chosen)
            if leaving[vertex] and len(chosen) < vertices:
                arc = random.choice(leaving[vertex])
                if arc[2] not in chosen:
                    chosen.append(arc[2])
                    leading.append(arc)
        further = [
            arc
            for arc in graph.arcs
            if arc[0] in chosen and arc[2] in chosen and arc not in leading
        ]
        if len(chosen) == vertices:
            random.shuffle(further)
            kept = [*leading, *further[: arcs - len(leading)]]
            return _renumbered(graph.classes, chosen, kept)
