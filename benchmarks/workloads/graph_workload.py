"""What contenders for graphs are measured on: patterns, the events to match, and others like them.

Patterns and events are drawn as numbers, and become subscriptions and events of the model where
somebody reads those (`graph_texts.py`):

    vertex 0 …   variable −1, −2 … of one pattern   property 0 …   class 0 …
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription
from workloads.workload import offsets_of

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

PLACE = "http://example.org/"
NO_CLASS = -1


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Triple patterns: pattern i has the edges offsets[i] … offsets[i + 1] − 1.

    Its variable −(k + 1) has the class classes[class_offsets[i] + k], or NO_CLASS. In a rooted
    pattern variable −1 is the home vertex.
    """

    offsets: Int64
    subject: Int32
    property: Int32
    object: Int32
    class_offsets: Int64
    classes: Int32
    injective: bool = False
    rooted: bool = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def is_plain(self) -> bool:
        """Whether there are edges only, and two variables may be one vertex."""
        return not self.injective and not self.rooted and not (self.classes != NO_CLASS).any()

    def edges(self, pattern: int) -> list[tuple[int, int, int]]:
        """The edges of a pattern."""
        rows = slice(self.offsets[pattern], self.offsets[pattern + 1])
        columns = (self.subject[rows], self.property[rows], self.object[rows])
        return [*zip(*(column.tolist() for column in columns), strict=True)]

    def classes_of(self, pattern: int) -> list[int]:
        """The classes of a pattern's variables, in their order."""
        found: list[int] = self.classes[
            self.class_offsets[pattern] : self.class_offsets[pattern + 1]
        ].tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Events as numbers: facts between vertices, and the class of each vertex that has one."""

    offsets: Int64
    subject: Int32
    property: Int32
    object: Int32
    type_offsets: Int64
    typed: Int32
    type: Int32
    rooted: bool = False
    """Whether vertex 0 of each is the home vertex."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def triples(self, event: int) -> tuple[Int32, Int32, Int32]:
        """The facts between vertices of an event."""
        rows = slice(self.offsets[event], self.offsets[event + 1])
        return self.subject[rows], self.property[rows], self.object[rows]

    def types(self, event: int) -> dict[int, int]:
        """The class of each vertex of an event that has one."""
        rows = slice(self.type_offsets[event], self.type_offsets[event + 1])
        return dict(zip(self.typed[rows].tolist(), self.type[rows].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """Classes by their IRIs, and those that each is ⊑, itself included."""

    names: tuple[str, ...] = ()
    above: tuple[frozenset[int], ...] = ()
    knowledge: Knowledge = field(default_factory=Knowledge)


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """A workload as numbers."""

    patterns: Patterns
    events: Drawn
    taxonomy: Taxonomy = field(default_factory=Taxonomy)


@dataclass(frozen=True, slots=True, eq=False)
class GraphWorkload:
    """One workload at one size; `others` are events to become warm with, none of those timed."""

    name: str
    size: int
    asked: Callable[[Iterable[int]], Iterator[Subscription]]
    """The subscriptions of some numbers."""
    events: Sequence[Event]
    others: Sequence[Event]
    knowledge: Knowledge
    numbered: Numbered | None = None


def drawn(
    triples: Sequence[Sequence[tuple[int, int, int]]],
    types: Sequence[dict[int, int]] = (),
    *,
    rooted: bool = False,
) -> Drawn:
    """Events from lists of their facts."""
    types = types or [{}] * len(triples)
    flat = np.array([triple for each in triples for triple in each], np.int32).reshape(-1, 3)
    typed = np.array([pair for each in types for pair in each.items()], np.int32).reshape(-1, 2)
    subject, property, object = flat.T
    return Drawn(
        offsets_of([*map(len, triples)]),
        subject,
        property,
        object,
        offsets_of([*map(len, types)]),
        typed[:, 0],
        typed[:, 1],
        rooted,
    )


def patterns(
    edges: Sequence[Sequence[tuple[int, int, int]]],
    classes: Sequence[Sequence[int]],
    *,
    injective: bool,
    rooted: bool,
) -> Patterns:
    """Patterns from lists of their edges, and of their variables' classes."""
    flat = np.array([edge for each in edges for edge in each], np.int32).reshape(-1, 3)
    subject, property, object = flat.T
    return Patterns(
        offsets_of([*map(len, edges)]),
        subject,
        property,
        object,
        offsets_of([*map(len, classes)]),
        np.array([one for each in classes for one in each], np.int32),
        injective,
        rooted,
    )


def tree_of_classes(parents: Sequence[int]) -> Taxonomy:
    """Classes 0 …, each below its parent, or below none where that is negative.

    >>> taxonomy = tree_of_classes([-1, 0, 1])
    >>> [sorted(above) for above in taxonomy.above]
    [[0], [0, 1], [0, 1, 2]]
    """
    names = tuple(f"{PLACE}c{number}" for number in range(len(parents)))
    above: list[frozenset[int]] = []
    for number, parent in enumerate(parents):
        above.append(frozenset((number,)) | (above[parent] if parent >= 0 else frozenset()))
    stated = [
        f"<{names[number]}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{names[parent]}> .\n"
        for number, parent in enumerate(parents)
        if parent >= 0
    ]
    if not stated:
        return Taxonomy(names, tuple(above))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "classes.ttl"
        path.write_text("".join(stated))
        return Taxonomy(names, tuple(above), Knowledge.load(path))
