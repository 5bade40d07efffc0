"""Roots and ⊑ over one set of entities: synonyms put together, many parents, no cycle.

What is above an entity is found by walking up once, and kept: cost O(ancestors) the first time, a
look-up afterwards. `closure.py` has the same as arrays, for whole batches.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sensewire.knowledge.content import Pair
from sensewire.model.terms import Term


class Hierarchy:
    """Entities by their roots: what is above and below, and on which way.

    >>> from sensewire.model.terms import string
    >>> a, b, c, d = map(string, "abcd")
    >>> known = Hierarchy([(a, b), (b, c)], [(c, d)])
    >>> known.root(d) == c, known.steps_up(a, c), [each.text for each in known.path_up(a, c)]
    (True, 2, ['a', 'b', 'c'])
    """

    def __init__(
        self,
        edges: Iterable[Pair],
        same: Iterable[Pair],
        preferred: Callable[[Term], object] = lambda term: term.text,
    ) -> None:
        self._root_of, self._members = _groups(same, preferred)
        self._parents: dict[Term, tuple[Term, ...]] = {}
        self._children: dict[Term, tuple[Term, ...]] = {}
        up: dict[Term, dict[Term, None]] = defaultdict(dict)
        down: dict[Term, dict[Term, None]] = defaultdict(dict)
        for narrower, broader in edges:
            child, parent = self.root(narrower), self.root(broader)
            if child != parent:
                up[child][parent] = None
                down[parent][child] = None
        self._parents = {child: tuple(parents) for child, parents in up.items()}
        self._children = {parent: tuple(children) for parent, children in down.items()}
        self._above: dict[Term, frozenset[Term]] = {}

    def root(self, entity: Term) -> Term:
        """The representative of an entity's synonyms; the entity itself where it has none."""
        return self._root_of.get(entity, entity)

    def members(self, root: Term) -> Sequence[Term]:
        """The entities that a root stands for, itself included."""
        return self._members.get(root, (root,))

    def parents(self, root: Term) -> Sequence[Term]:
        """The roots one step above."""
        return self._parents.get(root, ())

    def children(self, root: Term) -> Sequence[Term]:
        """The roots one step below."""
        return self._children.get(root, ())

    def above(self, root: Term) -> frozenset[Term]:
        """The roots that a root is ⊑, itself included."""
        known = self._above.get(root)
        if known is None:
            known = self._above[root] = frozenset(_reached(root, self._parents))
        return known

    def below(self, root: Term) -> frozenset[Term]:
        """The roots that are ⊑ a root, itself included."""
        return frozenset(_reached(root, self._children))

    def steps_up(self, root: Term, ancestor: Term) -> int | None:
        """The length of the shortest way up, or None."""
        path = self.path_up(root, ancestor)
        return None if path is None else len(path) - 1

    def path_up(self, root: Term, ancestor: Term) -> list[Term] | None:
        """The shortest way up, both ends included, or None."""
        if ancestor not in self.above(root):
            return None
        return _path(ancestor, _reached(root, self._parents))

    def way_out(self, root: Term, but: Term) -> list[Term] | None:
        """The shortest way from a root up to one, but one, that has nothing above it, if any."""
        came_from = _reached(root, self._parents)  # nearest first
        tops = (each for each in came_from if each not in self._parents and each != but)
        top = next(tops, None)
        return None if top is None else _path(top, came_from)


def _path(end: Term, came_from: Mapping[Term, Term]) -> list[Term]:
    """The way to a node; the first one came from itself."""
    path = [end]
    while came_from[path[-1]] != path[-1]:
        path.append(came_from[path[-1]])
    return path[::-1]


def _reached(start: Term, edges: Mapping[Term, Sequence[Term]]) -> dict[Term, Term]:
    """What can be reached, nearest first, each with the node that it was reached from."""
    reached = {start: start}
    waiting = deque((start,))
    while waiting:
        node = waiting.popleft()
        for other in edges.get(node, ()):
            if other not in reached:
                reached[other] = node
                waiting.append(other)
    return reached


def _groups(
    same: Iterable[Pair], preferred: Callable[[Term], object]
) -> tuple[dict[Term, Term], dict[Term, tuple[Term, ...]]]:
    """Who stands for whom, and for whom each representative stands."""
    neighbours: dict[Term, list[Term]] = defaultdict(list)
    for one, other in same:
        neighbours[one].append(other)
        neighbours[other].append(one)
    root_of: dict[Term, Term] = {}
    members: dict[Term, tuple[Term, ...]] = {}
    for entity in neighbours:
        if entity not in root_of:
            group = sorted(_reached(entity, neighbours), key=preferred)  # type: ignore[arg-type]  # keys of one kind
            members[group[0]] = tuple(group)
            root_of.update(dict.fromkeys(group, group[0]))
    return root_of, members


def cycle_among(edges: Iterable[Pair], root: Callable[[Term], Term]) -> list[Pair]:
    """The edges of one cycle, on roots, in their order; empty where there is none."""
    outgoing: dict[Term, list[Pair]] = defaultdict(list)
    for edge in edges:
        outgoing[root(edge[0])].append(edge)
    done: set[Term] = set()
    for start in list(outgoing):
        way: list[Pair] = []
        on_way = {start: 0}
        branches: list[Iterator[Pair]] = [iter(outgoing[start] if start not in done else ())]
        while branches:
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                node = root(way.pop()[1]) if way else start
                on_way.pop(node)
                done.add(node)
                continue
            target = root(step[1])
            if target in on_way:
                return [*way[on_way[target] :], step]
            if target not in done:
                way.append(step)
                on_way[target] = len(way)
                branches.append(iter(outgoing.get(target, ())))
    return []
