"""What came of the events of a micro-batch, as one task found it: columns, and nothing an event.

Events are numbered within the task, from 0, in the order in which they came; `matches` and `failed`
name them by that. Only events that somebody hears of have their ids with them.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.model.siphash import Hashes


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(columns)


MATCHES = _schema(
    event=pa.int32(), subscription=pa.int64(), rows=pa.string(), distance=pa.float64()
)
FAILED = _schema(event=pa.int32(), subscription=pa.int64(), reason=pa.string())
EVENTS = _schema(event=pa.int32(), id=pa.string(), position=pa.int64(), place=pa.string())
REJECTED = _schema(
    place=pa.string(),
    reason=pa.string(),
    raw=pa.binary(),
    kind=pa.string(),
    name=pa.string(),
    facts=pa.binary(),
)
REFUSED = _schema(subscription=pa.int64(), reason=pa.string())
SAMPLE = _schema(raw=pa.binary())


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What one task found.

    `events` are those that are named: id, and place in the log or elsewhere. `rejected` is what is
    no event; `refused` are subscriptions that no engine takes; `sample` are records as they came.
    """

    hashes: Hashes
    events: pa.Table = field(default_factory=EVENTS.empty_table)
    matches: pa.Table = field(default_factory=MATCHES.empty_table)
    failed: pa.Table = field(default_factory=FAILED.empty_table)
    rejected: pa.Table = field(default_factory=REJECTED.empty_table)
    refused: pa.Table = field(default_factory=REFUSED.empty_table)
    sample: pa.Table = field(default_factory=SAMPLE.empty_table)

    def to_bytes(self) -> bytes:
        """All of it, to travel."""
        sink = pa.BufferOutputStream()
        hashes = pa.table({"hash": pa.array(self.hashes.reshape(-1))})
        for table in (hashes, *self._tables()):
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
        return sink.getvalue().to_pybytes()

    def _tables(self) -> tuple[pa.Table, ...]:
        return self.events, self.matches, self.failed, self.rejected, self.refused, self.sample

    @classmethod
    def from_bytes(cls, data: bytes) -> "Found":
        """What `to_bytes` wrote."""
        source = pa.BufferReader(data)
        hashes, *tables = (pa.ipc.open_stream(source).read_all() for _ in range(7))
        return cls(np.asarray(hashes.column(0)).reshape(-1, 2), *tables)


def together(parts: list[Found]) -> Found:
    """What several tasks found, in their order, as one."""
    if len(parts) == 1:
        return parts[0]
    counts = [len(part.hashes) for part in parts]
    first = np.concatenate(([0], np.cumsum(counts)))[: len(parts)].tolist()
    return Found(
        np.concatenate([part.hashes for part in parts]) if parts else np.empty((0, 2), np.uint64),
        _joined([part.events for part in parts], first, EVENTS),
        _joined([part.matches for part in parts], first, MATCHES),
        _joined([part.failed for part in parts], first, FAILED),
        pa.concat_tables([REJECTED.empty_table(), *(part.rejected for part in parts)]),
        pa.concat_tables([REFUSED.empty_table(), *(part.refused for part in parts)]),
        pa.concat_tables([SAMPLE.empty_table(), *(part.sample for part in parts)]),
    )


def _joined(tables: list[pa.Table], first: list[int], schema: pa.Schema) -> pa.Table:
    shifted = [
        table.set_column(0, schema.field(0), pa.array(numbers(table, "event") + np.int32(begin)))
        for table, begin in zip(tables, first, strict=True)
    ]
    return pa.concat_tables([schema.empty_table(), *shifted])


def numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """A column of whole numbers."""
    column: npt.NDArray[np.int64] = table.column(name).combine_chunks().to_numpy()
    return column
