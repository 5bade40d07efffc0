"""What a micro-batch brings: portions of events, each event with its place in the order of arrival.

    log      numbers from, to ──> entries of the store ──┐
    kafka    messages as rows ───────────────────────────┼──> Arrived: portion, order, arrival
    folder   slices of files ────────────────────────────┘

Workers read the log and the files themselves; only Kafka's messages travel through the JVM.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.decoding import KEPT_OF_LONG, Decoding, Rejected, Wanted, too_long
from sensewire.events.files import Slice, held_slice
from sensewire.events.kinds import Kind
from sensewire.events.portions import Portion, portions
from sensewire.events.record_portion import JSON, RecordPortion
from sensewire.model.errors import EventError
from sensewire.spark.ingest import slices_in
from sensewire.store.database import moment_of, opened_store
from sensewire.store.log import Logged, read

Int64 = npt.NDArray[np.int64]

_RECORDS = (Kind.LINES, Kind.JSON, Kind.PARQUET, Kind.ARROW, Kind.PACKED)


@dataclass(frozen=True, slots=True)
class Sort:
    """How bytes are to be read should they come again: their kind, name and facts."""

    kind: Kind
    name: str | None = None
    facts: bytes | None = None

    def of(self, raw: bytes) -> Kind:
        """The kind of a part of them: a row of a table is kept as the JSON of a record."""
        if self.kind in _RECORDS and raw.startswith(b"{"):
            return Kind.JSON if b"\n" in raw else Kind.LINES
        return self.kind


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """A portion, or what could not be read; for each row its place in the log, if it has one, and
    when it arrived."""

    portion: Portion | Rejected
    sort: Sort
    positions: Int64 | None
    arrivals: Int64


class Reader(Protocol):
    """Makes events of the rows that a task gets."""

    def __call__(
        self, rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]: ...


@dataclass(frozen=True, slots=True)
class LogReader:
    """Reads the entries of the log that rows name by the numbers between which they stand: those
    that are for everybody or for a query, or `only` the latter."""

    url: str
    query: str
    only: bool

    def __call__(
        self, rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]:
        for row in (row for batch in rows for row in batch.to_pylist()):
            yield from self.between(row["after"], row["upto"], decoding, wanted)

    def between(
        self, after: int, upto: int, decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]:
        """What stands between two numbers."""
        store = opened_store(self.url)

        def entries() -> list[Logged]:
            with store.reading() as connection:
                return list(read(connection, after, upto, self.query, only=self.only))

        found = store.patiently(entries)
        for is_lines, some in groupby(found, key=lambda each: each.entry.kind is Kind.LINES):
            if is_lines:
                yield from _lines(list(some), decoding, wanted)
            else:
                for each in some:
                    yield from _document(each, decoding, wanted)


def _lines(some: Sequence[Logged], decoding: Decoding, wanted: Wanted) -> Iterator[Arrived]:
    """Entries of lines, read as if they were one file of them: a line has the number of its event.

    A number that stands in another entry, or is another query's, makes a gap: a new file begins.
    """
    first = 0
    for place in range(1, len(some) + 1):
        if place < len(some) and some[place].first == some[place - 1].last + 1:
            continue
        run = some[first:place]
        first = place
        firsts = np.array([each.first for each in run], np.int64)
        times = np.array([each.arrival for each in run], np.int64)
        data = b"\n".join(each.entry.body for each in run)
        part = held_slice(data, Kind.LINES, "log", first_line=run[0].first)
        told = replace(decoding, now=moment_of(run[0].arrival))
        for portion in portions([part], told, wanted=wanted):
            if isinstance(portion, Rejected):
                yield Arrived(portion, Sort(Kind.LINES), None, times[:0])
                continue
            assert isinstance(portion, RecordPortion)
            entry = np.searchsorted(firsts, portion.numbers, side="right") - 1
            yield Arrived(portion, Sort(Kind.LINES), portion.numbers, times[entry])


def _document(logged: Logged, decoding: Decoding, wanted: Wanted) -> Iterator[Arrived]:
    entry = logged.entry
    # The same name may be published again, as another event: its number is part of its own.
    name = f"log/{logged.first}/{entry.name or f'event.{entry.kind.value}'}"
    sort = Sort(entry.kind, entry.name, entry.facts)
    told = replace(decoding, now=moment_of(logged.arrival))
    yield from _held(entry.body, name, sort, logged.first, logged.arrival, told, wanted)


def _held(
    data: bytes,
    name: str,
    sort: Sort,
    position: int | None,
    arrival: int,
    decoding: Decoding,
    wanted: Wanted,
) -> Iterator[Arrived]:
    """A document that is one number of the log, or one message."""
    try:
        part = held_slice(data, sort.kind, name, facts=sort.facts)
    except EventError as error:
        nothing = np.empty(0, np.int64)
        yield Arrived(Rejected(name, data, str(error)), sort, None, nothing)
        return
    for portion in portions([part], decoding, wanted=wanted):
        if isinstance(portion, Rejected) and not portion.raw:  # a table that ends too early
            portion = replace(portion, raw=data)
        count = 0 if isinstance(portion, Rejected) else len(portion)
        places = None if position is None else np.full(count, position, np.int64)
        yield Arrived(portion, sort, places, np.full(count, arrival, np.int64))


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads slices of files; they arrived when the batch was pinned."""

    arrival: int
    again: LogReader

    def __call__(
        self, rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]:
        told = replace(decoding, now=moment_of(self.arrival))
        for row in (row for batch in rows for row in batch.to_pylist()):
            if row["upto"] is not None:
                yield from self.again.between(row["after"], row["upto"], decoding, wanted)
                continue
            for part in slices_in([row]):
                yield from self._slice(part, told, wanted)

    def _slice(self, part: Slice, decoding: Decoding, wanted: Wanted) -> Iterator[Arrived]:
        name = None if part.file.kind in _RECORDS else part.file.id.rpartition("/")[2]
        for portion in portions([part], decoding, wanted=wanted):
            count = 0 if isinstance(portion, Rejected) else len(portion)
            arrivals = np.full(count, self.arrival, np.int64)
            yield Arrived(portion, Sort(part.file.kind, name), None, arrivals)


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads messages of Kafka, each a record or a document of one kind."""

    kind: Kind
    suffix: str
    again: LogReader

    def __call__(
        self, rows: Iterable[pa.RecordBatch], decoding: Decoding, wanted: Wanted
    ) -> Iterator[Arrived]:
        for batch in rows:
            for row in batch.select(["after", "upto"]).to_pylist():
                if row["upto"] is not None:
                    yield from self.again.between(row["after"], row["upto"], decoding, wanted)
            table: Any = pa.Table.from_batches([batch])
            table = table.filter(pa.compute.is_valid(table["value"]))
            table = table.sort_by(
                [(name, "ascending") for name in ("topic", "partition", "offset")]
            )
            for run in _runs(table):
                yield from self._run(run, decoding, wanted)

    def _run(self, run: Any, decoding: Decoding, wanted: Wanted) -> Iterator[Arrived]:
        """Messages of one partition; Any: a table of Arrow's."""
        name = f"{run['topic'][0].as_py()}[{run['partition'][0].as_py()}]"
        offsets: Int64 = run["offset"].combine_chunks().to_numpy()
        times: Int64 = run["timestamp"].cast(pa.int64()).combine_chunks().to_numpy()
        values = run["value"].combine_chunks().cast(pa.large_binary())
        if self.kind is not Kind.LINES:
            for offset, time, value in zip(offsets, times, values, strict=True):
                place, sort = (
                    f"{name}/{offset}{self.suffix}",
                    Sort(self.kind, f"event{self.suffix}"),
                )
                told = replace(decoding, now=moment_of(int(time)))
                yield from _held(value.as_py(), place, sort, None, int(time), told, wanted)
            return
        long = np.asarray(pa.compute.binary_length(values)) > decoding.longest
        for row in np.flatnonzero(long).tolist():
            kept = values[row].as_py()[: min(decoding.longest, KEPT_OF_LONG)]
            reason = too_long(decoding.longest, len(kept))
            rejected = Rejected(f"{name}:{offsets[row]}", kept, reason)
            yield Arrived(rejected, Sort(Kind.LINES), None, times[:0])
        batch = pa.RecordBatch.from_arrays([values.filter(pa.array(~long))], names=[JSON])
        portion = RecordPortion(batch, name, offsets[~long])
        yield Arrived(portion, Sort(Kind.LINES), None, times[~long])


def _runs(table: Any) -> Iterator[Any]:
    """Rows of one topic and partition that follow each other."""
    if not table.num_rows:
        return
    names = zip(table["topic"].to_pylist(), table["partition"].to_pylist(), strict=True)
    first = 0
    for _, some in groupby(names):
        count = sum(1 for _ in some)
        yield table.slice(first, count)
        first += count
