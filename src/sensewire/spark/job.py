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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire import __version__
from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import EventFile, listing
from sensewire.events.locations import location
from sensewire.match.layered import ENOUGH
from sensewire.model.errors import SensewireError
from sensewire.model.learned import Learned, load_learned
from sensewire.spark.delta import write_as_delta
from sensewire.spark.failures import spark_errors
from sensewire.spark.index import Shipped, shipped
from sensewire.spark.ingest import sliced
from sensewire.spark.match import matched
from sensewire.spark.outcomes import COUNTED
from sensewire.spark.output import check_free, draft_of, finish, write_run
from sensewire.spark.planning import looked_at
from sensewire.spark.progress import Counters, Report, reported
from sensewire.spark.shards import Sharded, matched_in_shards, save_shards
from sensewire.spark.standing import Standing, Told, bytes_of, standing_in
from sensewire.spark.task import Writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "jsonl", "delta")
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
    index_memory: int | None = None
    statistics: Path | None = None
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
    others = (job.subscriptions, job.index, job.statistics, *job.knowledge)
    sources = [location(place) for place in others if place is not None]
    check_free(out, [*events, *sources], overwrite=job.overwrite)
    files = listing(events)
    statistics = None if job.statistics is None else load_learned(job.statistics)
    standing = standing_in(job.subscriptions, job.index, job.knowledge, job.now, statistics)
    decoding = Decoding(job.now, job.id_field, job.time_field, job.max_event_bytes)
    told = standing.told
    with tempfile.TemporaryDirectory(prefix="sensewire-index-") as place:
        indexed = _indexed(job, standing, files.files, statistics, decoding, Path(place))
        del standing, statistics  # millions of subscriptions take memory, and are saved now
        with draft_of(out) as draft, spark_errors():
            spark = session()
            writing = Writing(draft, "jsonl" if job.format == "jsonl" else "parquet")
            counters = Counters.of(spark)
            with reported(counters, sum(file.size for file in files.files), report):
                slices = sliced(spark, files.files, job.partitions)
                sent = [
                    shipped(spark, folder, Path(place), shared=job.index_shared)
                    for folder in indexed
                ]
                rows = _matched(slices, sent, decoding, writing, counters).collect()
            rejected = (*told.rejected, *files.rejected)
            finish(draft, writing.format, [name for row in rows for name in row["files"]], rejected)
            if job.format == "delta":
                write_as_delta(spark, draft)
            summary = _summary(rows, rejected)
            shards = max(1, len(indexed) - 1)
            write_run(draft, {**_record(job, told, summary, shards), **_seen(rows)})
    return summary


def _check(job: MatchJob) -> None:
    if job.format not in FORMATS:
        raise SensewireError(f"no format {job.format!r}; expected one of {', '.join(FORMATS)}")
    if job.index_shared and (job.index is None or job.statistics is not None):
        raise SensewireError(
            "--index-shared is for an --index that is taken as it is, without --statistics: "
            "what is compiled for a run lies on this machine only, and is sent"
        )
    for name, number in (
        ("max-event-bytes", job.max_event_bytes),
        ("partitions", job.partitions),
        ("index-memory", job.index_memory),
    ):
        if number is not None and number < 1:
            raise SensewireError(f"--{name} {number}: expected a whole number above 0")


def _indexed(
    job: MatchJob,
    standing: Standing,
    files: Sequence[EventFile],
    statistics: Learned | None,
    decoding: Decoding,
    place: Path,
) -> list[Path]:
    """The folders that workers map: one; or a router's and those of shards, where one is too large.

    Where nobody planned it yet, and it is no folder that workers take as it is, it is planned now,
    by a look at the events.
    """
    if not (standing.engine.is_planned or statistics or job.index_shared):
        seen = looked_at(files, decoding)
        if standing.folder is None or len(seen.sample) >= ENOUGH:  # else not worth writing it again
            statistics = seen
            standing = standing.planned(seen)
    folder = standing.saved(place)
    size = bytes_of(folder)
    if job.index_memory is None or size <= job.index_memory:
        return [folder]
    if job.index_shared:
        raise SensewireError(
            f"the index has {size:,} bytes, more than --index-memory {job.index_memory:,}, and is "
            "to be split: leave out --index-shared, so that the shards are sent to the workers"
        )
    shards = min(-(-size // job.index_memory), standing.told.live)
    sample = statistics or looked_at(files, decoding)
    return save_shards(standing.engine, shards, sample, place)


def _matched(
    slices: "DataFrame",
    sent: Sequence[Shipped],
    decoding: Decoding,
    writing: Writing,
    counters: Counters,
) -> "DataFrame":
    if len(sent) == 1:
        return matched(slices, sent[0], decoding, writing, counters)
    index = Sharded(sent[0], tuple(sent[1:]))
    return matched_in_shards(slices, index, decoding, writing, counters)


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


def _record(job: MatchJob, told: Told, summary: MatchSummary, shards: int) -> dict[str, Any]:
    options = asdict(job)
    options["events"] = [location(place).name for place in job.events]
    options["out"] = location(job.out).name
    options["knowledge"] = [str(path) for path in job.knowledge]
    return {
        "now": options.pop("now").isoformat(),
        **asdict(summary),
        "subscriptions": {
            "live": told.live,
            "expired": told.expired,
            "rejected": len(told.rejected),
        },
        "knowledge": told.knowledge,
        "shards": shards,
        "versions": {
            "sensewire": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
        "options": options,
    }
