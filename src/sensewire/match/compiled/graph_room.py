"""What kernels of narrow events are handed as two arrays of addresses: the index, and their room.

A kernel takes `tables` and `written_room`, and has the arrays again by `tables_at(tables)` and
`room_at(written_room)`.
"""

from typing import Any, NamedTuple

import numpy as np

from sensewire.match.compiled.graph_arguments import arrays_at
from sensewire.match.compiled.jit import Array


class Tables(NamedTuple):
    """The arrays of an index, as `graph_build` makes them."""

    sizes: Array
    table: Array
    postings: Array
    shapes: Array
    roles: Array
    hints: Array
    nodes: Array
    links: Array
    tails: Array
    listed: Array
    ends: Array
    in_trie: Array
    wholes: Array
    whole_at: Array


class Room(NamedTuple):
    """The arrays that kernels write, of a thread and of a thread's index."""

    local: Array
    """Of a code the number of its vertex, or −1."""
    place: Array
    """Of an operand the column of its vertex, or of the row that stands for all of its own."""
    members: Array
    """Of an operand its vertices, as bits."""
    rows_of: Array
    """Of a property and a direction where its rows begin in `adjacent`."""
    adjacent: Array
    ints: Array
    """What the event came to: its vertices first."""
    longs: Array
    """Keys, hints, and the frames of searches."""
    floats: Array
    stamps: Array
    """Of a pattern the event that it was found in."""
    spent: Array
    """Of a pattern, and then of a trie: the event in the upper half, the steps that it took."""
    states: Array
    """Of a node: the event in the upper half, what is left to find below it."""
    counts: Array
    survivors: Array
    frames: Array
    choices: Array
    program: Array
    out_event: Array
    out_place: Array
    row_words: Array
    row_starts: Array
    over: Array


# In the order of the names above
TABLE_KINDS = (
    *(np.int64, np.uint64, np.int32, np.int64, np.uint8, np.uint64),
    *8 * (np.int32,),
)  # fmt: skip
ROOM_KINDS = (
    *(np.int32, np.uint8, np.uint64, np.int32, np.uint64, np.int32, np.uint64, np.float64),
    *(np.int32, np.int64, np.int64, np.int64, np.int32, np.int32, np.uint64, np.int32),
    *(np.int32, np.int32, np.int32, np.int64, np.int32),
)
tables_at: Any = arrays_at(Tables, TABLE_KINDS)
room_at: Any = arrays_at(Room, ROOM_KINDS)
