"""The match stage: slices of files in, matches and whatever went wrong out.

The subscriptions reach the workers as a file, named by its content, that Spark copies to every
machine once; a worker process builds its engine from it once, and keeps it for all of its tasks.
The stage decodes and asks the engine, and has no rule of its own.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import Slice
from sensewire.model.errors import SensewireError
from sensewire.model.match import Matches, Row
from sensewire.spark.ingest import slices_of
from sensewire.spark.schema import OUTCOMES
from sensewire.spark.subscriptions import stated_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_A_BATCH = 4_096
_BYTES_A_BATCH = 16_777_216
_Outgoing = dict[str, Any]  # a row of OUTCOMES; columns that are left out are null


def shipped(spark: "SparkSession", lines: Sequence[bytes]) -> str:
    """Send subscriptions, as JSON lines, to the workers; the name under which they find them."""
    from pyspark import SparkFiles

    content = b"\n".join(lines)
    name = f"subscriptions-{hashlib.sha256(content).hexdigest()[:32]}"
    # Beside what Spark copies it to, where it lives as long as the session: a worker that starts
    # late asks for it too.
    source = Path(SparkFiles.getRootDirectory()) / "shipped" / name
    if not source.exists():
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(content)
        spark.sparkContext.addFile(str(source))
    return name


def matched(slices: "DataFrame", subscriptions: str, decoding: Decoding) -> "DataFrame":
    """The outcomes of a table of slices; `subscriptions` is the name that `shipped` gave."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = _engine(subscriptions)
        parts = (part for batch in batches for part in slices_of(batch))
        return _batches(row for part in parts for row in outcomes(part, engine, decoding))

    return slices.mapInArrow(stage, from_arrow_schema(OUTCOMES))


def outcomes(part: Slice, engine: Engine, decoding: Decoding) -> Iterator[_Outgoing]:
    """The rows that a slice gives: what its events match, what failed, what was rejected."""
    count = 0
    for outcome in decode(part, decoding):
        rows, matched = _rows_of(outcome, engine)
        count += matched
        yield from rows
    yield {"kind": "count", "number": count}


def rejection(item: Rejected) -> _Outgoing:
    """The row of something that was rejected."""
    return {"kind": "rejected", "place": item.place, "reason": item.reason, "raw": item.raw}


@lru_cache(maxsize=2)  # one engine a process; two while a session goes from one job to the next
def _engine(subscriptions: str) -> Engine:
    from pyspark import SparkFiles

    engine = Engine()
    for line in filter(None, Path(SparkFiles.get(subscriptions)).read_bytes().split(b"\n")):
        stated = stated_on(line)
        engine.add(stated.subscription, id=stated.id)
    return engine


def _rows_of(outcome: Outcome, engine: Engine) -> tuple[Iterable[_Outgoing], int]:
    match outcome:
        case Rejected():
            return [rejection(outcome)], 0
        case Decoded(place, raw, event):
            try:
                matches = engine.match(event)
            except SensewireError as error:
                return [rejection(Rejected(place, raw, str(error)))], 0
            return _match_rows(event.id, matches), 1


def _match_rows(event: str, matches: Matches) -> Iterator[_Outgoing]:
    for match in matches:
        yield {
            "kind": "match",
            "event": event,
            "subscription": match.subscription,
            "rows": _written(match.rows),
            "distance": match.distance,
        }
    for failure in matches.failures:
        yield {
            "kind": "failed",
            "event": event,
            "subscription": failure.subscription,
            "reason": failure.reason,
        }


def _written(rows: Sequence[Row]) -> list[list[tuple[str, str]]] | None:
    """Rows as Arrow's maps; None for the one empty row of a subscription that selects nothing."""
    written = [[(name, str(term)) for name, term in row.items()] for row in rows]
    return None if written == [[]] else written


def _batches(rows: Iterable[_Outgoing]) -> Iterator[pa.RecordBatch]:
    held: list[_Outgoing] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.get("raw", b""))
        if len(held) >= _ROWS_A_BATCH or size >= _BYTES_A_BATCH:
            yield pa.RecordBatch.from_pylist(held, schema=OUTCOMES)
            held, size = [], 0
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=OUTCOMES)
