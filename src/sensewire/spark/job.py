"""The batch job: subscriptions and event files in, a folder of matches out.

    files ──> slices ──> match ──┬──> O/*.parquet             event, subscription, rows, distance
              ingest             ├──> O/_failed/*.parquet     event, subscription, reason
                                 └──> O/_rejected/*.parquet   place, reason, raw
    subscriptions, knowledge ────┘

The same answers come out however the files are cut. The match stage runs once: its outcomes are
kept on disk, and the folders are written from there.
"""

import platform
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sensewire import __version__
from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import Listing, listing
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.spark.failures import spark_errors
from sensewire.spark.ingest import sliced
from sensewire.spark.match import COUNTED, matched, rejection, shipped
from sensewire.spark.output import FORMATS, check_free, draft_of, write_run, write_table
from sensewire.spark.progress import Report, reported
from sensewire.spark.schema import FAILED, MATCHES, OUTCOMES, REJECTED
from sensewire.spark.subscriptions import Subscriptions, subscriptions_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_A_FILE = 1_000_000
_MOST_LISTED = 1_000
_PACKAGES = ("pyspark", "pyarrow", "orjson", "pyoxigraph")


@dataclass(frozen=True, slots=True)
class MatchJob:
    """What to match against what, and where to; `now` is the moment that the run begins."""

    subscriptions: Path
    events: tuple[Path, ...]
    out: Path
    now: datetime
    knowledge: tuple[Path, ...] = ()
    id_field: str | None = "id"
    time_field: str | None = None
    format: str = "parquet"
    overwrite: bool = False
    max_event_bytes: int = LONGEST_EVENT
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """What a job did; `events` are those that were matched, `rejected` all that was rejected."""

    events: int
    matches: int
    rejected: int
    failed: int

    def __str__(self) -> str:
        return (
            f"{self.events} events, {self.matches} matches, "
            f"{self.rejected} rejected, {self.failed} failed"
        )


def run(
    job: MatchJob, session: Callable[[], "SparkSession"], report: Report | None = None
) -> MatchSummary:
    """Run a job. The session is asked for when the input has been seen to be there."""
    _check(job)
    sources = (job.subscriptions, *job.events, *job.knowledge)
    check_free(job.out, sources, overwrite=job.overwrite)
    files = listing(job.events)
    knowledge = Knowledge.load(*job.knowledge)
    subscriptions = subscriptions_in(job.subscriptions, job.now, knowledge)
    with draft_of(job.out) as draft, spark_errors():
        spark = session()
        with reported(spark, report):
            summary, seen = _run(job, files, subscriptions, knowledge, spark, draft)
        write_run(draft, {**_record(job, subscriptions, knowledge, summary), **seen})
    return summary


def _check(job: MatchJob) -> None:
    if job.format not in FORMATS:
        raise SensewireError(f"no format {job.format!r}; expected one of {', '.join(FORMATS)}")
    for name, number in (("max-event-bytes", job.max_event_bytes), ("partitions", job.partitions)):
        if number is not None and number < 1:
            raise SensewireError(f"--{name} {number}: expected a whole number above 0")


def _run(
    job: MatchJob,
    files: Listing,
    subscriptions: Subscriptions,
    knowledge: Knowledge,
    spark: "SparkSession",
    draft: Path,
) -> tuple[MatchSummary, dict[str, dict[str, int]]]:
    from pyspark import StorageLevel

    decoding = Decoding(job.now, job.id_field, job.time_field, job.max_event_bytes)
    slices = sliced(spark, files.files, job.partitions)
    outcomes = matched(slices, shipped(spark, subscriptions.lines, knowledge), decoding)
    outcomes = outcomes.union(_rejections(spark, (*subscriptions.rejected, *files.rejected)))
    outcomes = outcomes.persist(StorageLevel.DISK_ONLY)
    try:
        counts = _counts(outcomes)
        seen = _seen(outcomes)
        for kind, count, columns, folder in (
            ("match", counts.matches, MATCHES, draft),
            ("rejected", counts.rejected, REJECTED, draft / "_rejected"),
            ("failed", counts.failed, FAILED, draft / "_failed"),
        ):
            table = outcomes.where(outcomes.kind == kind).select(*columns)
            # No more files, and so no more tasks, than what there is to write asks for.
            write_table(table.coalesce(count // _ROWS_A_FILE + 1), folder, job.format)
    finally:
        with suppress(ConnectionError):  # a JVM that is gone holds nothing; why it went says more
            outcomes.unpersist()
    return counts, seen


def _seen(outcomes: "DataFrame") -> dict[str, dict[str, int]]:
    """Words of several meanings and functions that failed: how often, the most frequent first."""
    counted = outcomes.where(outcomes.kind.isin(*COUNTED)).groupBy("kind", "reason")
    rows = counted.sum("number").orderBy("sum(number)", "reason", ascending=[False, True])
    found: dict[str, dict[str, int]] = {kind: {} for kind in COUNTED}
    for row in rows.limit(_MOST_LISTED).collect():
        found[row["kind"]][row["reason"]] = row["sum(number)"]
    return found


def _rejections(spark: "SparkSession", items: Iterable[Rejected]) -> "DataFrame":
    """What was rejected before any event was read, as outcomes."""
    rows = [rejection(item) for item in items]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=OUTCOMES)).coalesce(1)


def _counts(outcomes: "DataFrame") -> MatchSummary:
    rows = outcomes.groupBy("kind").agg({"*": "count", "number": "sum"}).collect()
    counts = {row["kind"]: row["count(1)"] for row in rows}
    events = sum(row["sum(number)"] for row in rows if row["kind"] == "count")
    return MatchSummary(
        events, counts.get("match", 0), counts.get("rejected", 0), counts.get("failed", 0)
    )


def _record(
    job: MatchJob, subscriptions: Subscriptions, knowledge: Knowledge, summary: MatchSummary
) -> dict[str, Any]:
    options = asdict(job)
    for name in ("events", "knowledge"):
        options[name] = [str(path) for path in options[name]]
    return {
        "now": options.pop("now").isoformat(),
        **asdict(summary),
        "subscriptions": {
            "live": len(subscriptions.live),
            "expired": subscriptions.expired,
            "rejected": len(subscriptions.rejected),
        },
        "knowledge": knowledge.version,
        "versions": {
            "sensewire": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
        "options": options,
    }
