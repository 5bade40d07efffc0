"""Join and count in DuckDB, on one thread: predicates joined with entries, met ones counted.

Tests of one rank are joined by (slot, rank), which a hash join serves; the others by slot and
low <= rank <= high. Negated tests that are met block.
"""

import numpy as np

from contenders.contender import Contender, Matching, events_of, many_valued, posted
from sensewire.match.compiled.conjunctions import Entries, Int32
from workloads.workload import Workload

_AT_ONCE = 64  # events: the join is held whole

_QUERY = """
with hits as (
    select event, conjunction, test, negated
    from entries join points on entries.slot = points.slot and rank = low
    union all
    select event, conjunction, test, negated
    from entries join intervals on entries.slot = intervals.slot and rank between low and high
), counted as (
    select event, conjunction, count({distinct} test) filter (not negated) as met,
           count(*) filter (negated) as blocked
    from hits group by event, conjunction
)
select event, conjunction from counted join conjunctions using (conjunction)
where met = needed and blocked = 0 and needed > 0
union all
select event, conjunction
from (select event from events) cross join (select conjunction from conjunctions where needed = 0)
anti join (select event, conjunction from hits where negated) using (event, conjunction)
"""


class DuckdbJoin:
    """The tables."""

    def __init__(self, workload: Workload) -> None:
        import duckdb

        self._database = duckdb.connect()
        self._database.execute("set threads = 1")
        flat = posted(workload)
        one = flat.low == flat.high
        self.nbytes = 0
        for name, rows in (("points", one), ("intervals", ~one)):
            self._table(
                name,
                conjunction=flat.conjunction[rows],
                test=flat.test[rows],
                slot=flat.slot[rows],
                low=flat.low[rows],
                high=flat.high[rows],
                negated=flat.negated[rows],
            )
        numbers = np.arange(len(flat.needed), dtype=np.int32)
        self._table("conjunctions", conjunction=numbers, needed=flat.needed)

    def _table(self, name: str, **columns: np.ndarray[tuple[int], np.dtype[np.generic]]) -> None:
        import pyarrow as pa

        table = pa.table({key: pa.array(column) for key, column in columns.items()})
        self._database.register("given", table)
        self._database.execute(f"create or replace table {name} as select * from given")
        self._database.unregister("given")
        self.nbytes += table.nbytes

    def match(self, entries: Entries) -> tuple[Int32, Int32]:
        """One query for some events at a time."""
        import pyarrow as pa

        query = _QUERY.format(distinct="distinct" if many_valued(entries) else "")
        found: list[tuple[Int32, Int32]] = []
        event = events_of(entries)
        for start in range(0, len(entries), _AT_ONCE):
            end = min(start + _AT_ONCE, len(entries))
            rows = slice(entries.offsets[start], entries.offsets[end])
            columns = {
                "event": pa.array(event[rows]),
                "slot": pa.array(entries.slot[rows]),
                "rank": pa.array(entries.rank[rows]),
            }
            self._database.register("entries", pa.table(columns))
            every = pa.array(np.arange(start, end, dtype=np.int32))
            self._database.register("events", pa.table({"event": every}))
            answer = self._database.execute(query).fetchnumpy()
            found.append((np.asarray(answer["event"]), np.asarray(answer["conjunction"])))
        events, conjunctions = zip(*found, strict=True) if found else ((), ())
        none = np.empty(0, np.int32)
        return np.concatenate((none, *events)), np.concatenate((none, *conjunctions))


def _build(workload: Workload) -> Matching:
    return DuckdbJoin(workload)


DUCKDB = Contender("DuckDB join", _build)
