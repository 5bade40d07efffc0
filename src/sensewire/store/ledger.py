"""Which events were seen before, by their ids: who comes again is no new event.

Each batch leaves the hashes of its events' ids in a row of the table, sorted. In memory they are a
few sorted runs, each at least twice as long as the next, so that a new batch is compared by binary
search, and merging costs O(log n) an event in all.

    runs   ────────────────────────  ─────────  ────  ──        newest last

The ledger remembers the newest `remember` events; one that comes again later than that is a new
event, and is notified of again.
Memory: 16 bytes an event, of four times as many as are remembered at most.
"""

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from sensewire.model.siphash import Hashes
from sensewire.store import schema

REMEMBERED = 10_000_000
"""Events whose ids are remembered, unless the user says otherwise."""

Truths = npt.NDArray[np.bool_]


class Ledger:
    """The ids that one kind of notifications was made for: those of a table, or of one query."""

    def __init__(self, scope: str, remember: int = REMEMBERED) -> None:
        self._scope = scope
        self._remember = remember
        self._last = -1
        self._runs: list[Hashes] = []

    def refresh(self, connection: Connection) -> None:
        """Take what was committed since, by whomever."""
        table = schema.ledger
        rows = connection.execute(
            select(table.c.last, table.c.hashes)
            .where(table.c.scope == self._scope, table.c.last > self._last)
            .order_by(table.c.last)
        )
        for row in rows:
            self._take(row.last, np.frombuffer(row.hashes, np.uint64).reshape(-1, 2))

    def is_new(self, hashes: Hashes) -> Truths:
        """Which events are seen for the first time, also among these themselves."""
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))  # stable: the first stays the first
        again = (hashes[order[1:]] == hashes[order[:-1]]).all(axis=1)
        new = np.ones(len(hashes), np.bool_)
        new[order[1:]] = ~again
        for run in self._runs:
            places = np.minimum(np.searchsorted(run[:, 0], hashes[:, 0]), len(run) - 1)
            new &= ~(run[places] == hashes).all(axis=1)
        return new

    def write(self, connection: Connection, last: int, hashes: Hashes) -> None:
        """Write down new events, the last of which has this number; forget the oldest."""
        if not len(hashes):
            return
        table = schema.ledger
        row = {"scope": self._scope, "last": last, "hashes": _sorted(hashes).tobytes()}
        connection.execute(table.insert(), row)
        forgotten = table.c.last <= last - self._remember
        connection.execute(table.delete().where(table.c.scope == self._scope, forgotten))

    def _take(self, last: int, run: Hashes) -> None:
        self._last = last
        self._runs.append(run)
        while sum(map(len, self._runs[1:])) >= self._remember:
            del self._runs[0]  # all of it is older than what is remembered
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._runs[-2:] = [_sorted(np.concatenate(self._runs[-2:]))]


def _sorted(hashes: Hashes) -> Hashes:
    return hashes[np.argsort(hashes[:, 0], kind="stable")]
