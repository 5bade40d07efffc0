"""The match stage: slices of files in, matches and whatever went wrong out.

The subscriptions and the knowledge reach the workers as files, named by their content, that Spark
copies to every machine once; a worker process builds its engine from them once, and keeps it for
all of its tasks. The stage decodes and asks the engine, and has no rule of its own.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import Slice
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.stored import from_json, to_json
from sensewire.model.errors import SensewireError
from sensewire.model.match import Matches, Row
from sensewire.spark.ingest import slices_of
from sensewire.spark.schema import OUTCOMES
from sensewire.spark.subscriptions import stated_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_A_BATCH = 4_096
_BYTES_A_BATCH = 16_777_216
COUNTED = ("ambiguous", "unknown")
"""What an engine's statistics count of the events that it sees."""
_Outgoing = dict[str, Any]  # a row of OUTCOMES; columns that are left out are null


class Shipped(NamedTuple):
    """The names under which workers find what an engine is built from."""

    subscriptions: str
    knowledge: str


def shipped(spark: "SparkSession", lines: Sequence[bytes], knowledge: Knowledge) -> Shipped:
    """Send subscriptions, as JSON lines, and knowledge to the workers."""
    return Shipped(
        _sent(spark, "subscriptions", b"\n".join(lines)),
        _sent(spark, "knowledge", to_json(knowledge.content)),
    )


def _sent(spark: "SparkSession", what: str, content: bytes) -> str:
    """Send a file to the workers, once."""
    from pyspark import SparkFiles

    name = f"{what}-{hashlib.sha256(content).hexdigest()[:32]}"
    # Beside what Spark copies it to, where it lives as long as the session: a worker that starts
    # late asks for it too.
    source = Path(SparkFiles.getRootDirectory()) / "shipped" / name
    if not source.exists():
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(content)
        spark.sparkContext.addFile(str(source))
    return name


def matched(slices: "DataFrame", sent: Shipped, decoding: Decoding) -> "DataFrame":
    """The outcomes of a table of slices, by the engine of what was sent."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = _engine(sent)
        parts = (part for batch in batches for part in slices_of(batch))
        return _batches(row for part in parts for row in outcomes(part, engine, decoding))

    return slices.mapInArrow(stage, from_arrow_schema(OUTCOMES))


def outcomes(part: Slice, engine: Engine, decoding: Decoding) -> Iterator[_Outgoing]:
    """The rows that a slice gives: what its events match, what failed, what was rejected."""
    count = 0
    before = engine.statistics()
    for outcome in decode(part, decoding):
        rows, matched = _rows_of(outcome, engine)
        count += matched
        yield from rows
    yield {"kind": "count", "number": count}
    seen = engine.statistics()
    for kind in COUNTED:
        for what, number in (Counter(getattr(seen, kind)) - Counter(getattr(before, kind))).items():
            yield {"kind": kind, "reason": what, "number": number}


def rejection(item: Rejected) -> _Outgoing:
    """The row of something that was rejected."""
    return {"kind": "rejected", "place": item.place, "reason": item.reason, "raw": item.raw}


@lru_cache(maxsize=2)  # one engine a process; two while a session goes from one job to the next
def _engine(sent: Shipped) -> Engine:
    from pyspark import SparkFiles

    lines = Path(SparkFiles.get(sent.subscriptions)).read_bytes()
    stored = Path(SparkFiles.get(sent.knowledge)).read_bytes()
    engine = Engine(Knowledge(from_json(stored)))
    for line in filter(None, lines.split(b"\n")):
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
