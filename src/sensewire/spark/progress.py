"""How far a Spark job is, told while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Report = Callable[[int, int], None]
"""Told how many tasks of the running stages are done, and how many there are."""

_SECONDS = 0.2


@contextmanager
def reported(spark: "SparkSession", report: Report | None) -> Iterator[None]:
    """Call `report` from a thread of its own, a few times a second, until the block ends."""
    if report is None:
        yield
        return
    ended = Event()
    thread = Thread(target=_watch, args=(spark, report, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _watch(spark: "SparkSession", report: Report, ended: Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not ended.wait(_SECONDS):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            report(
                sum(stage.numCompletedTasks for stage in known),
                sum(stage.numTasks for stage in known),
            )
