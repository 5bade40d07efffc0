"""The workload of G-ToPSS with Brick's classes: every vertex has one, and events say so.

A variable of a pattern is held to the class of the vertex that it stands for where the pattern was
drawn, or to one above that. The hierarchy comes from the raw file, as `brick_classes.py` reads it.
The same patterns without their classes make the second workload, on the same events.
"""

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from workloads import graph_gtopss
from workloads.brick_classes import Classes
from workloads.graph_texts import workload
from workloads.graph_workload import (
    Drawn,
    GraphWorkload,
    Int32,
    Numbered,
    Patterns,
    Taxonomy,
)
from workloads.lexicon import brick_file
from workloads.workload import offsets_of

NAME, WITHOUT = "Brick classes", "Brick unconstrained"
_BRICK = "https://brickschema.org/schema/Brick#"


def taxonomy_of_brick() -> Taxonomy:
    """Brick's classes, and those above each."""
    classes = Classes()
    above = []
    for number in range(len(classes)):
        inside = (classes.low <= number + 1) & (number + 1 <= classes.high)
        above.append(frozenset(np.flatnonzero(inside.any(axis=1)).tolist()))
    names = tuple(_BRICK + name for name in classes.names)
    return Taxonomy(names, tuple(above), Knowledge.load(brick_file()))


def with_and_without(
    taxonomy: Taxonomy, subscriptions: int, seed: int
) -> tuple[GraphWorkload, GraphWorkload]:
    """Patterns held to classes, and the same patterns free."""
    plain, others, stars = graph_gtopss.numbers(subscriptions, seed, stars=2, share=0.9)
    random = np.random.default_rng((seed, 7))
    most = max(
        int(column.max(initial=0))
        for drawn in (plain.patterns, plain.events, others)
        for column in (drawn.subject, drawn.object)
    )
    most = max(most, int(stars.max(initial=0)))
    class_of = random.integers(0, len(taxonomy.names), most + 1).astype(np.int32)
    above = [np.array(sorted(each), np.int32) for each in taxonomy.above]
    vertices = stars[stars >= 0]
    asked = np.array(
        [random.choice(above[number]) for number in class_of[vertices].tolist()], np.int32
    )
    free = plain.patterns
    held = Patterns(
        free.offsets,
        free.subject,
        free.property,
        free.object,
        offsets_of((stars >= 0).sum(axis=1)),
        asked,
    )
    events, others = _typed(plain.events, class_of), _typed(others, class_of)
    return (
        workload(NAME, Numbered(held, events, taxonomy), others),
        workload(WITHOUT, Numbered(free, events, taxonomy), others),
    )


def _typed(drawn: Drawn, class_of: Int32) -> Drawn:
    """The same events with the class of each vertex."""
    found = [np.unique(np.concatenate(drawn.triples(event)[::2])) for event in range(len(drawn))]
    typed = np.concatenate(found).astype(np.int32)
    return Drawn(
        drawn.offsets,
        drawn.subject,
        drawn.property,
        drawn.object,
        offsets_of([*map(len, found)]),
        typed,
        class_of[typed],
    )
