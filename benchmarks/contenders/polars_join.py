"""Join and count in polars, on one thread: the same plan as in DuckDB.

The tests of more than one rank are joined by slot and then filtered, so that all pairs of an entry
and a test on its slot are held at once: a few events at a time.
"""

import os

import numpy as np

from contenders.contender import Contender, Matching, events_of, posted
from sensewire.match.compiled.conjunctions import Entries, Int32
from workloads.workload import Workload

_AT_ONCE = 16


class PolarsJoin:
    """The frames."""

    def __init__(self, workload: Workload) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read once, when polars is imported
        import polars as pl

        flat = posted(workload)
        frame = pl.DataFrame(
            {
                "conjunction": flat.conjunction,
                "test": flat.test,
                "slot": flat.slot,
                "low": flat.low,
                "high": flat.high,
                "negated": flat.negated,
            }
        )
        one = pl.col("low") == pl.col("high")
        self._points = frame.filter(one).drop("high").rename({"low": "rank"})
        self._intervals = frame.filter(~one)
        numbers = np.arange(len(flat.needed), dtype=np.int32)
        self._conjunctions = pl.DataFrame({"conjunction": numbers, "needed": flat.needed})
        frames = (self._points, self._intervals, self._conjunctions)
        self.nbytes = sum(int(frame.estimated_size()) for frame in frames)

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """One plan for some events at a time."""
        found = [
            self._matched(entries, start, min(start + _AT_ONCE, len(entries)))
            for start in range(0, len(entries), _AT_ONCE)
        ]
        none = np.empty(0, np.int32)
        return (
            np.concatenate((none, *(events for events, _ in found))),
            np.concatenate((none, *(conjunctions for _, conjunctions in found))),
        )

    def _matched(self, entries: Entries, start: int, end: int) -> tuple[Int32, Int32]:
        import polars as pl

        rows = slice(entries.offsets[start], entries.offsets[end])
        asked = pl.DataFrame(
            {
                "event": events_of(entries)[rows],
                "slot": entries.slot[rows],
                "rank": entries.rank[rows],
            }
        ).lazy()
        columns = ["event", "conjunction", "test", "negated"]
        at_points = asked.join(self._points.lazy(), on=["slot", "rank"]).select(columns)
        inside = (
            asked.join(self._intervals.lazy(), on="slot")
            .filter(pl.col("rank").is_between(pl.col("low"), pl.col("high")))
            .select(columns)
        )
        hits = pl.concat((at_points, inside)).unique()
        counted = hits.group_by("event", "conjunction").agg(
            met=(~pl.col("negated")).sum(), blocked=pl.col("negated").sum()
        )
        needing = counted.join(self._conjunctions.lazy(), on="conjunction").filter(
            (pl.col("met") == pl.col("needed")) & (pl.col("blocked") == 0) & (pl.col("needed") > 0)
        )
        every = pl.LazyFrame({"event": np.arange(start, end, dtype=np.int32)})
        needing_none = every.join(
            self._conjunctions.lazy().filter(pl.col("needed") == 0), how="cross"
        ).join(hits.filter(pl.col("negated")), on=["event", "conjunction"], how="anti")
        pair = ["event", "conjunction"]
        answer = pl.concat((needing.select(pair), needing_none.select(pair))).collect()
        return answer["event"].to_numpy(), answer["conjunction"].to_numpy()


def _build(workload: Workload) -> Matching:
    return PolarsJoin(workload)


POLARS = Contender("polars join", _build, 100_000, "the join is held whole in memory")
