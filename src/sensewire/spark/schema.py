"""The tables that pass between the stages of the pipeline, and those that a run writes.

    SLICES     what to read: a row for each slice of a file (`events.files.Slice`)
                 path, name     where the file is, and what people call it
                 id             of the event, where the file is one
                 kind           how it holds events (`events.kinds.Kind`)
                 size           of the file, in bytes
                 start, end     which part: bytes, or numbers of row groups
                 first_line     the number of the part's first line, row or cell
                 data           packed rows, where they travel with the slice
                 weight         about how many bytes there are to read
    ROUTED     the same for each shard that some of the slice's events go to, and which those are
    DONE       what a task did: counts, and the names of the files that it wrote
    MATCHES    event, subscription, rows (null where nothing is selected), distance
    FAILED     event, subscription, reason
    REJECTED   place, reason, raw

Terms are written as N-Triples. Few rows travel between Spark and Python, and no event does.
"""

from collections.abc import Sequence

import pyarrow as pa

from sensewire.events.decoding import Rejected

_SLICES: dict[str, pa.DataType] = {
    "path": pa.string(),
    "name": pa.string(),
    "id": pa.string(),
    "kind": pa.string(),
    "size": pa.int64(),
    "start": pa.int64(),
    "end": pa.int64(),
    "first_line": pa.int64(),
    "data": pa.binary(),
    "weight": pa.int64(),
}

SLICES = pa.schema(_SLICES)
LINE_COUNTS = pa.schema({"row": pa.int64(), "lines": pa.int64()})

_DONE: dict[str, pa.DataType] = {
    "events": pa.int64(),
    "matches": pa.int64(),
    "rejected": pa.int64(),
    "failed": pa.int64(),
    "files": pa.list_(pa.string()),
    "seen": pa.string(),  # words of several meanings and functions that failed, as JSON
}
DONE = pa.schema(_DONE)

_ROUTED: dict[str, pa.DataType] = {
    "partition": pa.int32(),  # where it goes: every one has events of one shard only
    "shard": pa.int32(),
    "count": pa.int64(),  # of the slice's events
    "chosen": pa.binary(),  # a bit for each of them
    "done": pa.string(),  # what the task did that routed, as JSON, on a row of its own
}
ROUTED = pa.schema({**_SLICES, **_ROUTED})

_TALLY: dict[str, pa.DataType] = {"tally": pa.string()}
REPLAYED = pa.schema(_TALLY)  # what a task counted, as JSON

MATCHES = pa.schema(
    [
        pa.field("event", pa.string(), nullable=False),
        pa.field("subscription", pa.string(), nullable=False),
        pa.field("rows", pa.list_(pa.map_(pa.string(), pa.string()))),
        pa.field("distance", pa.float64(), nullable=False),
    ]
)
FAILED = pa.schema(
    [pa.field(name, pa.string(), nullable=False) for name in ("event", "subscription", "reason")]
)
_TEXTS = [pa.field(name, pa.string(), nullable=False) for name in ("place", "reason")]
REJECTED = pa.schema(_TEXTS).append(pa.field("raw", pa.binary(), nullable=False))


def rejected_table(items: Sequence[Rejected]) -> pa.Table:
    """What was rejected, as a table."""
    return pa.Table.from_arrays(
        [
            pa.array([item.place for item in items], pa.string()),
            pa.array([item.reason for item in items], pa.string()),
            pa.array([item.raw for item in items], pa.binary()),
        ],
        schema=REJECTED,
    )
