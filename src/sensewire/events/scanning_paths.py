"""The dotted paths that a scanner looks for, as a tree over their bytes.

A *node* is the path of a known attribute, or what stands before some dot of one: where an object
must be entered. Paths begin with a dot, so that a path is its object's path, a dot and the key,
at the top too, and whatever dots the keys have themselves. Nodes are sorted by their bytes, the dot
before all others, and so the nodes below one follow it:

    known  "a.b", "a.b.c", "x"

    node   path      attribute   end
    0                            5       the top
    1      .a                    4
    2      .a.b      0           4       {"a.b": …} and {"a": {"b": …}}: from node 0, from node 1
    3      .a.b.c    1           4
    4      .x        2           5

The node of a key below a node is found by binary search, once; `met` then remembers it, and which
keys have none, up to a bound. Cost: one hash of the key for
those; else log n comparisons. A name has as many nodes as it has dots, and one more.
"""

from collections.abc import Iterator, Sequence
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
_RANKS = bytes(0 if byte == ord(".") else min(byte + 1, 255) for byte in range(256))
"""Byte → its place in the order; 255 stands in no text."""


class Paths(NamedTuple):
    """The nodes as arrays, and what was met of keys."""

    text: Bytes
    start: Int64
    length: Int64
    attribute: Int32  # −1: none
    end: Int32  # after the last node below
    met: Table
    node_met: Int32


def paths_of(names: Sequence[str], seed: int) -> Paths:
    """The tree of the names, which are numbered by their order."""
    known = {f".{name}".encode(): number for number, name in enumerate(names)}
    start, length, attribute, end = [0], [0], [-1], [0]
    open_nodes = [0]
    before = b""
    offset = 0
    text = sorted(known, key=lambda path: path.translate(_RANKS))
    for path in text:
        shared = _shared(before, path)
        while not (
            length[open_nodes[-1]] <= shared and path.startswith(b".", length[open_nodes[-1]])
        ):
            end[open_nodes.pop()] = len(start)
        cuts = [cut for cut in _dots(path) if cut > shared]
        for cut in (*cuts, len(path)):
            open_nodes.append(len(start))
            start.append(offset)
            length.append(cut)
            attribute.append(known[path] if cut == len(path) else -1)
            end.append(0)
        before = path
        offset += len(path)
    for node in open_nodes:
        end[node] = len(start)
    return Paths(
        text=np.frombuffer(b"".join((*text, bytes(PADDING))), np.uint8),
        start=np.array(start, np.int64),
        length=np.array(length, np.int64),
        attribute=np.array(attribute, np.int32),
        end=np.array(end, np.int32),
        met=scanning_table.empty(_MET, _BYTES_MET, seed),
        node_met=np.zeros(_MET, np.int32),
    )


def _shared(left: bytes, right: bytes) -> int:
    """How many bytes two paths begin with alike."""
    most = min(len(left), len(right))
    return next((at for at in range(most) if left[at] != right[at]), most)


def _dots(path: bytes) -> Iterator[int]:
    """Where the dots of a path stand, but the first."""
    at = path.find(b".", 1)
    while at >= 0:
        yield at
        at = path.find(b".", at + 1)


@inlined
def lent_paths(paths: Paths) -> Paths:
    """The paths, for kernels."""
    return Paths(
        lent(paths.text),
        lent(paths.start),
        lent(paths.length),
        lent(paths.attribute),
        lent(paths.end),
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
    low, high = np.int64(node) + 1, np.int64(paths.end[node])
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
        if left[begin + index] != right[start + index]:
            return _rank(left[begin + index]) - _rank(right[start + index])
    return np.int64(size - length)


@inlined
def _rank(byte: Register) -> Register:
    return np.int64(0) if byte == ord(".") else np.int64(byte) + 1
