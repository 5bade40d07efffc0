"""The dotted paths that a scanner looks for, as a tree over their bytes.

A *node* is the path of a known attribute, or what stands before some dot of one: where an object
must be entered. Paths begin with a dot, so that a path is its object's path, a dot and the key,
at the top too, and whatever dots the keys have themselves. Nodes are sorted by their bytes, and so
the nodes below one stand together:

    known  "a.b", "a.b.c", "x"

    node   path      attribute   below
    0                            1 … 4     the top
    1      .a                    2 … 3
    2      .a.b      0           3         {"a.b": …}, {"a": {"b": …}}: from node 0 or from node 1
    3      .a.b.c    1
    4      .x        2

The node of a key below a node is found by binary search, once; `met` then remembers it, and which
keys have none, up to a bound. Cost: one hash of the key for those; else log n comparisons.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sensewire.events import scanning_table
from sensewire.events.scanning import (
    PADDING,
    Bytes,
    Int32,
    Int64,
    Register,
    compiled,
    inlined,
    lent,
)
from sensewire.events.scanning_table import Table, add, entry_of, has_room, lent_table

TOP = 0
NOWHERE = -1
"""The node of a path that leads to no known attribute."""
_MET = 4_096
_BYTES_MET = 65_536


class Paths(NamedTuple):
    """The nodes as arrays, and what was met of keys."""

    text: Bytes
    start: Int64
    length: Int64
    attribute: Int32  # −1: none
    low: Int32  # the nodes below: low … high − 1
    high: Int32
    met: Table
    node_met: Int32


def paths_of(names: Sequence[str], seed: int) -> Paths:
    """The tree of the names, which are numbered by their order."""
    known = {f".{name}".encode(): number for number, name in enumerate(names)}
    places: dict[bytes, int] = {b"": 0}
    begin = 0
    for path in known:
        cut = len(path)
        while cut > 0 and path[:cut] not in places:
            places[path[:cut]] = begin
            cut = path.rfind(b".", 0, cut)
        begin += len(path)
    paths = sorted(places)
    return Paths(
        text=np.frombuffer(b"".join(known) + bytes(PADDING), np.uint8),
        start=np.array([places[path] for path in paths], np.int64),
        length=np.array([len(path) for path in paths], np.int64),
        attribute=np.array([known.get(path, -1) for path in paths], np.int32),
        low=np.array([bisect_left(paths, path + b".") for path in paths], np.int32),
        high=np.array([bisect_left(paths, path + b"/") for path in paths], np.int32),
        met=scanning_table.empty(_MET, _BYTES_MET, seed),
        node_met=np.zeros(_MET, np.int32),
    )


@inlined
def lent_paths(paths: Paths) -> Paths:
    """The paths, for kernels."""
    return Paths(
        lent(paths.text),
        lent(paths.start),
        lent(paths.length),
        lent(paths.attribute),
        lent(paths.low),
        lent(paths.high),
        lent_table(paths.met),
        lent(paths.node_met),
    )


@compiled
def below(paths: Paths, node: int, hash: Register, data: Bytes, start: int, end: int) -> Register:
    """The node of the key data[start:end] in an object at `node`; NOWHERE if it has none.

    `hash` is the key's, by `paths.met`, for the node.
    """
    met = entry_of(paths.met, node, hash, data, start, end)
    if met >= 0:
        return paths.node_met[met]
    found = _searched(paths, node, data, start, end)
    if has_room(paths.met, end - start):
        paths.node_met[add(paths.met, node, hash, data, start, end)] = found
    return found


@compiled
def _searched(paths: Paths, node: int, data: Bytes, start: int, end: int) -> Register:
    skipped = paths.length[node] + 1  # all nodes below have the node's path and a dot
    length = end - start
    low, high = np.int64(paths.low[node]), np.int64(paths.high[node])
    while low < high:
        middle = (low + high) // 2
        begin = paths.start[middle] + skipped
        size = paths.length[middle] - skipped
        order = _order(paths.text, begin, size, data, start, length)
        if order == 0:
            return middle
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return NOWHERE


@compiled
def _order(left: Bytes, begin: int, size: int, right: Bytes, start: int, length: int) -> Register:
    """Negative, 0 or positive as one text comes before another, is it, or comes after it."""
    for index in range(min(size, length)):
        difference = np.int64(left[begin + index]) - np.int64(right[start + index])
        if difference:
            return difference
    return np.int64(size - length)
