"""The batch job: subscriptions and event files in, a folder of matches out.

    files ──> slices ──> match ──┬──> O/*.parquet             event, subscription, rows, distance
              ingest             ├──> O/_failed/*.parquet     event, subscription, reason
                                 └──> O/_rejected/*.parquet   place, reason, raw
    subscriptions, knowledge ──> index folder ──┘ (mapped by every worker)

The same answers come out however the files are cut.
"""

import json
import platform
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire import __version__
from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import listing
from sensewire.events.locations import Location, location
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.spark.errors import spark_errors
from sensewire.spark.index import shipped
from sensewire.spark.ingest import sliced
from sensewire.spark.match import matched
from sensewire.spark.outcomes import COUNTED
from sensewire.spark.output import check_free, draft_of, finish, write_run
from sensewire.spark.progress import Counters, Report, reported
from sensewire.spark.standing import Standing, standing_in
from sensewire.spark.task import Writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "jsonl")
_MOST_LISTED = 1_000
_PACKAGES = ("pyspark", "pyarrow", "orjson", "pyoxigraph")


@dataclass(frozen=True, slots=True)
class MatchJob:
    """What to match against what, and where to; `now` is the moment that the run begins.

    Subscriptions are a file of JSON lines, with knowledge, or an index folder.
    """

    subscriptions: Path | None
    events: tuple[Path | str, ...]
    out: Path | str
    now: datetime
    knowledge: tuple[Path, ...] = ()
    index: Path | None = None
    index_shared: bool = False
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
    out = location(job.out)
    events = [location(place) for place in job.events]
    others = (job.subscriptions, job.index, *job.knowledge)
    sources = [location(place) for place in others if place is not None]
    check_free(out, [*events, *sources], overwrite=job.overwrite)
    files = listing(events)
    with tempfile.TemporaryDirectory(prefix="sensewire-index-") as place:
        standing = standing_in(job.subscriptions, job.index, job.knowledge, job.now)
        with draft_of(out) as draft, spark_errors():
            spark = session()
            counters = Counters.of(spark)
            total = sum(file.size for file in files.files)
            with reported(counters, total, report):
                slices = sliced(spark, files.files, job.partitions)
                tasks = _matched(job, slices, standing.saved(Path(place)), draft, counters)
                rows = tasks.collect()
            rejected = (*standing.rejected, *files.rejected)
            finish(draft, job.format, [name for row in rows for name in row["files"]], rejected)
            summary = _summary(rows, rejected)
            write_run(draft, {**_record(job, standing, summary), **_seen(rows)})
    return summary


def _check(job: MatchJob) -> None:
    if job.format not in FORMATS:
        raise SensewireError(f"no format {job.format!r}; expected one of {', '.join(FORMATS)}")
    for name, number in (("max-event-bytes", job.max_event_bytes), ("partitions", job.partitions)):
        if number is not None and number < 1:
            raise SensewireError(f"--{name} {number}: expected a whole number above 0")


def _matched(
    job: MatchJob, slices: "DataFrame", index: Path, draft: Location, counters: Counters
) -> "DataFrame":
    decoding = Decoding(job.now, job.id_field, job.time_field, job.max_event_bytes)
    sent = shipped(slices.sparkSession, index, shared=job.index_shared)
    return matched(slices, sent, decoding, Writing(draft, job.format), counters)


def _summary(rows: list[Any], rejected: tuple[Rejected, ...]) -> MatchSummary:
    events, matches, bad, failed = (
        sum(row[name] for row in rows) for name in ("events", "matches", "rejected", "failed")
    )
    return MatchSummary(events, matches, bad + len(rejected), failed)


def _seen(rows: list[Any]) -> dict[str, dict[str, int]]:
    """Words of several meanings and functions that failed: how often, the most frequent first."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in COUNTED}
    for row in rows:
        for kind, some in json.loads(row["seen"]).items():
            counts[kind].update(some)
    return {
        kind: dict(sorted(some.items(), key=lambda each: (-each[1], each[0]))[:_MOST_LISTED])
        for kind, some in counts.items()
    }


def _record(job: MatchJob, standing: Standing, summary: MatchSummary) -> dict[str, Any]:
    options = asdict(job)
    options["events"] = [location(place).name for place in job.events]
    options["out"] = location(job.out).name
    options["knowledge"] = [str(path) for path in job.knowledge]
    return {
        "now": options.pop("now").isoformat(),
        **asdict(summary),
        "subscriptions": {
            "live": standing.live,
            "expired": standing.expired,
            "rejected": len(standing.rejected),
        },
        "knowledge": standing.engine.knowledge.version,
        "versions": {
            "sensewire": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
        "options": options,
    }
