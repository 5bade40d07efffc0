"""Tries of patterns that have one trigger: a node for each step that is not shared.

Nodes come level by level, so that siblings stand side by side.
"""

import numpy as np

from sensewire.match.compiled.jit import Array, int64, kernel


class Tries:
    """The tries of all long postings; their roots come first among the nodes."""

    def __init__(
        self, patterns: Array, roots: Array, count: int, steps: Array, starts: Array
    ) -> None:
        lengths = (starts[1:] - starts[:-1])[patterns]
        active, parents, depth = np.arange(len(patterns)), roots.astype(np.int64), 0
        base = count
        node_steps = [np.zeros((count, 3), np.int32)]
        node_parents = [np.full(count, -1, np.int64)]
        terminal = np.full(len(patterns), -1, np.int64)
        tailed: list[Array] = []
        while len(active):
            is_over = lengths[active] == depth
            terminal[active[is_over]] = parents[is_over]
            active, parents = active[~is_over], parents[~is_over]
            if not len(active):
                break
            words = steps[starts[patterns[active]] + depth]
            in_order = np.lexsort((words[:, 1], words[:, 2], words[:, 0], parents))
            active, parents, words = active[in_order], parents[in_order], words[in_order]
            is_new = np.ones(len(active), np.bool_)
            is_new[1:] = (parents[1:] != parents[:-1]) | (words[1:] != words[:-1]).any(axis=1)
            numbers = base + np.cumsum(is_new) - 1
            node_steps.append(words[is_new])
            node_parents.append(parents[is_new])
            is_alone = np.bincount(numbers - base)[numbers - base] == 1
            terminal[active[is_alone]] = numbers[is_alone]
            tailed.append(active[is_alone])
            base += int(is_new.sum())
            active, parents = active[~is_alone], numbers[~is_alone]
            depth += 1
        self._pack(patterns, steps, starts, node_steps, node_parents, terminal, tailed, count)

    def _pack(
        self,
        patterns: Array,
        steps: Array,
        starts: Array,
        node_steps: list[Array],
        node_parents: list[Array],
        terminal: Array,
        tailed: list[Array],
        roots: int,
    ) -> None:
        parents = np.concatenate(node_parents)
        count = len(parents)
        self.nodes = np.zeros((count, 4), np.int32)
        self.nodes[:, :3] = np.concatenate(node_steps)
        children = np.bincount(parents[parents >= 0], minlength=count)
        ending = np.bincount(terminal, minlength=count) if len(terminal) else np.zeros(count, int)
        self.nodes[:, 3] = children + (ending > 0)  # what is left to find below
        depths = _depths(parents)
        with_tail = np.concatenate(tailed) if tailed else np.empty(0, np.int64)
        lengths = (starts[1:] - starts[:-1])[patterns]
        tail_lengths = np.zeros(count, np.int64)
        more = lengths[with_tail] - depths[terminal[with_tail]]
        tail_lengths[terminal[with_tail]] = np.where(more > 0, more + 1, 0)
        self.links = np.zeros((count + 1, 4), np.int32)
        self.links[1:, 0] = np.cumsum(children)
        self.links[:, 0] += roots
        self.links[1:, 1] = np.cumsum(tail_lengths)
        self.links[1:, 2] = np.cumsum(ending)
        self.links[:count, 3] = parents
        self.tails = np.zeros((int(tail_lengths.sum()) + 1, 3), np.int32)
        _fill_tails(
            self.tails, self.links, terminal[with_tail], patterns[with_tail], depths, steps, starts
        )
        self.listed = np.argsort(terminal, kind="stable").astype(np.int32)
        self.ends = terminal.astype(np.int32)


@kernel
def _depths(parents: Array) -> Array:
    """How many steps lead to each node, its own included."""
    found = np.zeros(len(parents), np.int64)
    for node in range(len(parents)):
        if parents[node] >= 0:
            found[node] = found[parents[node]] + 1
    return found


@kernel
def _fill_tails(
    tails: Array,
    links: Array,
    nodes: Array,
    patterns: Array,
    depths: Array,
    steps: Array,
    starts: Array,
) -> None:
    for number in range(len(nodes)):
        to = int64(links[nodes[number], 1])
        if to == links[nodes[number] + 1, 1]:
            continue
        first = starts[patterns[number]] + depths[nodes[number]] - 1  # the node's own step too
        for step in range(first, starts[patterns[number] + 1]):
            for word in range(3):
                tails[to, word] = steps[step, word]
            to += 1
