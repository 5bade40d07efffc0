"""The bare engine on one core, and the pipeline on Spark, on the same files and the same index.

bare engine       the file read in this process and matched by `Engine.match_batch`, or by
                  `match_graphs`, as users call them, portion by portion, without Spark and with
                  nothing written: processor time
pipeline          the whole job in a session that is warm, from the look at the files to the folder
                  of matches: time by the clock
cells by the JVM  packed rows that Spark reads and hands to the workers, in the place of workers
                  that read them
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from frame import WrongAnswerError
from sensewire.engine import Engine
from sensewire.events.decoding import Rejected
from sensewire.events.files import EventFile, listing, slices
from sensewire.events.graphs import Graphs
from sensewire.events.locations import location
from sensewire.events.portions import EventPortion, Portion, portions
from sensewire.events.record_portion import RecordPortion
from sensewire.model.match import BatchMatches
from sensewire.spark.index import shipped
from sensewire.spark.ingest import LARGEST_SLICE, packed, sliced
from sensewire.spark.job import MatchJob, run
from sensewire.spark.match import matched
from sensewire.spark.task import Writing
from workloads.indexes import DECODING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Done:
    """What came of some events, and how long it took."""

    events: int
    matches: int
    seconds: float = 0.0

    def check(self, who: str, events: int, matches: int) -> None:
        """Raise unless so many events matched so often."""
        if (self.events, self.matches) != (events, matches):
            raise WrongAnswerError(
                f"{who} finds {self.matches:,} matches of {self.events:,} events; "
                f"there are {matches:,} of {events:,}"
            )


def bare(engine: Engine, path: Path, most: int | None = None) -> Done:
    """Read a file and match it, or so many of its events; time it from outside."""
    events = matches = 0
    for part in slices(file_at(path), LARGEST_SLICE):
        for portion in portions([part], DECODING, wanted=engine):
            if isinstance(portion, Rejected):
                raise WrongAnswerError(f"{path.name}: {portion.place} is rejected")
            matches += _answered(engine, portion, path).matches.num_rows
            events += len(portion)
            if most is not None and events >= most:
                return Done(events, matches)
    return Done(events, matches)


def _answered(engine: Engine, portion: Portion, path: Path) -> BatchMatches:
    match portion:
        case RecordPortion(batch):
            return engine.match_batch(batch)
        case EventPortion(graphs=Graphs() as graphs):
            return engine.match_graphs(graphs)
        case _:
            raise WrongAnswerError(f"{path.name} is not read as the events that it has")


def pipeline(spark: "SparkSession", index: Path, path: Path, out: Path) -> Done:
    """Run the whole job."""
    job = MatchJob(None, (path,), out, DECODING.now, index=index)
    began = perf_counter()
    summary = run(job, lambda: spark)
    return Done(summary.events, summary.matches, perf_counter() - began)


def by_the_jvm(spark: "SparkSession", index: Path, path: Path, out: Path) -> Done:
    """Match packed rows that the JVM reads; nothing but the matches is written."""
    out.mkdir()
    began = perf_counter()
    cells = packed(spark.read.parquet(str(path)))
    writing = Writing(location(out), "parquet")
    done = matched(
        cells, shipped(spark, index, index.parent, shared=False), DECODING, writing
    ).collect()
    seconds = perf_counter() - began
    return Done(sum(row["events"] for row in done), sum(row["matches"] for row in done), seconds)


def counting(spark: "SparkSession", path: Path) -> tuple[float, "DataFrame"]:
    """How long the pass takes that counts lines and cuts the file, and the slices that it gives."""
    began = perf_counter()
    parts = sliced(spark, [file_at(path)], None)
    return perf_counter() - began, parts


def file_at(path: Path) -> EventFile:
    """A file, as the job lists it."""
    (file,) = listing([location(path)]).files
    return file
