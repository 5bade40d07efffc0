"""The tables that pass between the stages of the pipeline, and those that a run writes.

    SLICES     what to read: a row for each slice of a file (`events.files.Slice`); `data` is filled
               where a slice has its rows with it, packed
    OUTCOMES   what came of it: rows of several kinds in one table, since a stage has one output

    kind       filled columns beside it
    match      event, subscription, rows (null where nothing is selected), distance
    failed     event, subscription, reason
    rejected   place, reason, raw
    count      number: how many events were matched
    ambiguous  reason: a word of several meanings; number: how often events had it
    unknown    reason: a function that failed, and why; number: for how many events

Terms are written as N-Triples.
"""

import pyarrow as pa

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
}

_OUTCOMES: dict[str, pa.DataType] = {
    "kind": pa.string(),
    "event": pa.string(),
    "subscription": pa.string(),
    "rows": pa.list_(pa.map_(pa.string(), pa.string())),
    "distance": pa.float64(),
    "place": pa.string(),
    "reason": pa.string(),
    "raw": pa.binary(),
    "number": pa.int64(),
}

SLICES = pa.schema(_SLICES)
OUTCOMES = pa.schema(_OUTCOMES)
LINE_COUNTS = pa.schema({"row": pa.int64(), "lines": pa.int64()})

MATCHES = ("event", "subscription", "rows", "distance")
REJECTED = ("place", "reason", "raw")
FAILED = ("event", "subscription", "reason")
