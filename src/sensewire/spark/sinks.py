"""Where notifications go that do not stay in the store: files of Parquet, a Delta table, Kafka.

A sink takes the notifications of a batch, perhaps twice: after a crash the same batch comes again,
with the same content. Each has a way to have it once:

    parquet   a file that is named by its batch, and takes its name when it is whole
    delta     the table's own log says which batches of which query it has (deltalake)
    kafka     a transaction that also writes down which batch it was (spark/kafka.py)
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import select

from sensewire.events.locations import Location, Standing, location
from sensewire.model.errors import SensewireError
from sensewire.spark.schema import FAILED, MATCHES, REJECTED
from sensewire.spark.writing import being_written
from sensewire.store import schema
from sensewire.store.batches import Fresh
from sensewire.store.database import Store
from sensewire.store.found import numbers

_MARK = "_query.json"
_KEYS_AT_ONCE = 500  # that a statement may name


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What a batch has to tell, by the names that people know: tables as a run of `match` writes
    them."""

    matches: pa.Table
    failed: pa.Table
    rejected: pa.Table


class Sink(Protocol):
    """Takes what batches have to tell, each once."""

    def deliver(self, batch: int, told: Told) -> None: ...
    def close(self) -> None: ...


class Names:
    """The ids of subscriptions by their keys, as the store has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, str] = {}

    def of(self, keys: Sequence[int]) -> list[str]:
        """The ids of some keys."""
        missing = sorted({key for key in keys if key not in self._known})
        table = schema.subscriptions
        for first in range(0, len(missing), _KEYS_AT_ONCE):
            some = missing[first : first + _KEYS_AT_ONCE]
            with self._store.reading() as connection:
                query = select(table.c.key, table.c.id).where(table.c.key.in_(some))
                self._known.update((row.key, row.id) for row in connection.execute(query))
        return [self._known[key] for key in keys]


def told_of(new: Fresh, names: Names) -> Told:
    """What is new in a batch, by ids."""
    events = dict(
        zip(numbers(new.events, "event").tolist(), new.events.column("id").to_pylist(), strict=True)
    )

    def named(table: pa.Table) -> list[Any]:
        ids = [events[event] for event in numbers(table, "event").tolist()]
        return [pa.array(ids, pa.string()), names.of(numbers(table, "subscription").tolist())]

    rows = [
        None if text is None else [list(row.items()) for row in orjson.loads(text)]
        for text in new.matches.column("rows").to_pylist()
    ]
    return Told(
        pa.Table.from_arrays(
            [
                *named(new.matches),
                pa.array(rows, MATCHES.field("rows").type),
                new.matches.column("distance"),
            ],
            schema=MATCHES,
        ),
        pa.Table.from_arrays([*named(new.failed), new.failed.column("reason")], schema=FAILED),
        new.found.rejected.select(REJECTED.names).cast(REJECTED),
    )


class ParquetSink:
    """A folder of Parquet files, one a batch that has something to tell; beside it `_failed` and
    `_rejected`."""

    def __init__(self, place: str, query: str) -> None:
        self._folder = location(place)
        _mark(self._folder, query)

    def deliver(self, batch: int, told: Told) -> None:
        for name, table in (
            ("", told.matches),
            ("_failed", told.failed),
            ("_rejected", told.rejected),
        ):
            if not table.num_rows:
                continue
            folder = self._folder.child(name) if name else self._folder
            folder.create()
            file = f"batch-{batch:09}.parquet"
            draft = folder.child(f".{file}")
            with being_written(self._folder):
                with draft.open_output() as out:
                    pq.write_table(table, out, compression="zstd", store_schema=False)
                draft.move(folder.child(file))

    def close(self) -> None:
        pass


class DeltaSink:
    """A Delta table of notifications; the tables `_failed` and `_rejected` below it."""

    def __init__(self, place: str, query: str) -> None:
        try:
            import deltalake  # noqa: F401
        except ImportError as error:
            raise SensewireError(
                f"{error}; right would be: pip install 'sensewire[delta]'"
            ) from error
        self._place = place.rstrip("/")
        self._query = query

    def deliver(self, batch: int, told: Told) -> None:
        for name, table in (
            ("", told.matches),
            ("/_failed", told.failed),
            ("/_rejected", told.rejected),
        ):
            if table.num_rows:
                self._append(f"{self._place}{name}", table, batch)

    def _append(self, place: str, table: pa.Table, batch: int) -> None:
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        from deltalake.exceptions import DeltaError

        try:
            if DeltaTable.is_deltatable(place):
                known = DeltaTable(place).transaction_version(self._query)
                if known is not None and known >= batch:
                    return
            marks = CommitProperties(app_transactions=[Transaction(self._query, batch)])
            write_deltalake(place, table, mode="append", commit_properties=marks)
        except (DeltaError, OSError) as error:
            reason = " ".join(str(error).split())
            raise SensewireError(
                f"the Delta table {place} refuses a batch: {reason}; mend it, then start again: "
                "the batch is delivered then, once"
            ) from error

    def close(self) -> None:
        pass


class MessageSink:
    """A topic of Kafka: a message for each notification, keyed by its subscription."""

    def __init__(self, servers: str, topic: str, query: str) -> None:
        from sensewire.spark.kafka_sink import KafkaSink

        self._sink = KafkaSink(servers, topic, query)

    def deliver(self, batch: int, told: Told) -> None:
        self._sink.deliver(batch, ((row["subscription"], _message(row)) for row in _rows(told)))

    def close(self) -> None:
        self._sink.close()


def _rows(told: Told) -> list[dict[str, Any]]:
    return told.matches.to_pylist()


def _message(row: dict[str, Any]) -> bytes:
    """A notification as JSON, as `match --format jsonl` writes it."""
    rows = None if row["rows"] is None else [dict(each) for each in row["rows"]]
    return orjson.dumps({**row, "rows": rows})


def _mark(folder: Location, query: str) -> None:
    """Let a folder be a query's own; one that is another's, or holds other things, is refused."""
    mark = folder.child(_MARK)
    folder.create()
    if mark.status().standing is Standing.NOTHING:
        if any(True for _ in folder.below()):
            raise SensewireError(
                f"--sink {folder.name} holds other files already; name a folder that is empty, or "
                "not there yet"
            )
        with mark.open_output() as file:
            file.write(json.dumps({"query": query}).encode())
        return
    with mark.open() as read:
        known = json.loads(read.read())["query"]
    if known != query:
        raise SensewireError(
            f"--sink {folder.name} belongs to another stream ({known}); name another folder, or "
            "the checkpoint of that stream"
        )


Making = Callable[[str], Sink]
"""Makes the sink of a query."""
