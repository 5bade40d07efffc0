"""Who subscribed to what: ids, and for each clause of the index the subscriptions that have it.

    row ──> id, its clauses, where it came from          clause ──> its one row, or its many rows

Most clauses have one subscriber, so that a column of rows says nearly all, and a batch of matches
is expanded by arithmetic. Rows below `len(base)` stand in arrays that an index folder holds; the
others came since. Rows are never used again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.match.compiled.growing import Growing
from sensewire.model.subscription import Subscription

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Arrow = Any
"""An array of Arrow's: its types do not say how their elements are taken by numpy's numbers."""
Names = tuple[tuple[str, int], ...]
"""What a subscriber called the variables that a clause selects, with their places in its rows."""

NOBODY = -1
FIRST_CROWD = -2
"""In the place of a row: the first crowd; the second one is -3, and so on."""
_NO_CROWDS = np.zeros(1, np.int64), np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Standing:
    """A subscription that stands, as it was added, its clauses and their variables' names."""

    id: str
    subscription: Subscription
    clauses: tuple[int, ...]
    names: tuple[Names, ...]


class Base(Protocol):
    """Subscriptions of an index folder."""

    @property
    def clauses(self) -> int:
        """How many clauses they have: numbers below are theirs."""
        ...

    @property
    def some_have_many_clauses(self) -> bool: ...
    def __len__(self) -> int: ...
    def row(self, id: str) -> int | None: ...
    def id(self, row: int) -> str: ...
    def ids(self, rows: Int64) -> Arrow: ...
    def all_ids(self) -> Arrow: ...
    def text(self, row: int) -> str: ...
    def clauses_of(self, row: int) -> tuple[int, ...]: ...
    def standing(self, row: int) -> Standing: ...
    def rows_of(self, clauses: Int32) -> tuple[Int64, Int64]:
        """For each clause its rows: which of the clauses, and the row."""
        ...


class Subscribers:
    """Subscriptions by id and by clause."""

    def __init__(self, base: Base | None = None) -> None:
        self._base = base
        self._first = 0 if base is None else len(base)
        self._clauses = 0 if base is None else base.clauses
        self._alive = np.ones(self._first, np.bool_)
        self._removed = 0
        self._rows: dict[str, int] = {}
        self._standing: dict[int, Standing] = {}
        self._next = self._first
        self._one: Growing[np.int64] = Growing(np.int64)
        self._many: list[Growing[np.int64]] = []
        self._joined: tuple[Int64, Int64] | None = None
        self._ids: list[str] = []
        self._arrow: list[Arrow] = []  # the ids of the first rows that came since
        self.some_have_many_clauses = base is not None and base.some_have_many_clauses

    def __len__(self) -> int:
        return self._first - self._removed + len(self._standing)

    def __contains__(self, id: str) -> bool:
        return self._row(id) is not None

    def rows(self) -> Iterator[int]:
        """The rows of all that stand, in the order in which they came."""
        yield from np.flatnonzero(self._alive).tolist()
        yield from self._standing

    def id(self, row: int) -> str:
        """The id of a row."""
        if row < self._first:
            assert self._base is not None
            return self._base.id(row)
        return self._standing[row].id

    def text(self, row: int, unparse: Callable[[Subscription], str]) -> str:
        """What a row subscribes to, as a text."""
        if row < self._first:
            assert self._base is not None
            return self._base.text(row)
        return unparse(self._standing[row].subscription)

    def clauses_of(self, row: int) -> tuple[int, ...]:
        """The clauses of a row."""
        if row < self._first:
            assert self._base is not None
            return self._base.clauses_of(row)
        return self._standing[row].clauses

    def find(self, id: str) -> Standing | None:
        """The subscription of an id."""
        row = self._row(id)
        return None if row is None else self.standing(row)

    def standing(self, row: int) -> Standing:
        """The subscription of a row."""
        if row < self._first:
            assert self._base is not None
            return self._base.standing(row)
        return self._standing[row]

    def add(self, standing: Standing) -> None:
        """Take a subscription whose id is new."""
        row = self._next
        self._next += 1
        self._rows[standing.id] = row
        self._ids.append(standing.id)
        self.some_have_many_clauses |= len(standing.clauses) > 1
        self._standing[row] = standing
        for clause in dict.fromkeys(standing.clauses):
            self._subscribe(clause, row)

    def remove(self, id: str) -> tuple[int, ...] | None:
        """Forget the subscription of an id; its clauses, or None where there is none."""
        row = self._row(id)
        if row is None:
            return None
        clauses = self.clauses_of(row)
        if row < self._first:
            self._alive[row] = False
            self._removed += 1
            return clauses
        del self._rows[id], self._standing[row]
        for clause in dict.fromkeys(clauses):
            self._unsubscribe(clause, row)
        return clauses

    def of(self, clause: int) -> Iterator[tuple[Standing, Names]]:
        """The subscriptions that have a clause, each as often as it has it."""
        for row in self._rows_with(clause):
            standing = self.standing(row)
            for number, names in zip(standing.clauses, standing.names, strict=True):
                if number == clause:
                    yield standing, names

    def users_of(self, clause: int) -> int:
        """How many subscriptions that stand have a clause."""
        return len(self._rows_with(clause))

    def _rows_with(self, clause: int) -> list[int]:
        if clause < self._clauses:
            assert self._base is not None
            rows = self._base.rows_of(np.array([clause], np.int32))[1]
            return list(rows[self._alive[rows]].tolist())
        known = int(self._one.view[clause - self._clauses])
        if known >= 0:
            return [known]
        return [] if known == NOBODY else list(self._many[FIRST_CROWD - known].view.tolist())

    def rows_of(self, clauses: Int32) -> tuple[Int64, Int64]:
        """For each clause the rows that have it: which of the clauses, and the row."""
        if not self._clauses:
            return self._recent(clauses)
        assert self._base is not None
        if not len(self._one) and not self._removed:  # nobody came or went since
            return self._base.rows_of(clauses)
        old = np.flatnonzero(clauses < self._clauses)
        places, rows = self._base.rows_of(clauses[old])
        kept = self._alive[rows]
        new = np.flatnonzero(clauses >= self._clauses)
        more_places, more_rows = self._recent(clauses[new], new)
        return (
            np.concatenate((old[places[kept]], more_places)),
            np.concatenate((rows[kept], more_rows)),
        )

    def ids_with(self, clauses: Int32) -> list[str]:
        """The ids of the subscriptions that have one of the clauses, in their order."""
        if not len(clauses):
            return []
        first, recent = self._first, self._ids
        rows = self.rows_of(clauses)[1].tolist()
        ids = [recent[row - first] if row >= first else self.id(row) for row in rows]
        return sorted(set(ids) if self.some_have_many_clauses else ids)

    def ids(self, rows: Int64) -> Arrow:
        """The ids of rows, as Arrow has them."""
        recent = self._recent_ids()
        if not self._first:
            return recent.take(rows)
        assert self._base is not None
        old = rows < self._first
        parts = [self._base.ids(rows[old]), recent.take(rows[~old] - self._first)]
        order = np.empty(len(rows), np.int64)
        order[np.concatenate((np.flatnonzero(old), np.flatnonzero(~old)))] = np.arange(len(rows))
        return pa.concat_arrays(parts).take(order)

    def all_ids(self) -> Arrow:
        """The ids of all rows, also of those that are gone."""
        recent = self._recent_ids()
        if self._base is None or not self._first:
            return recent
        old = self._base.all_ids()
        return pa.concat_arrays([old, recent]) if len(recent) else old

    def _recent_ids(self) -> Arrow:
        known = sum(map(len, self._arrow))
        if known < len(self._ids):
            self._arrow.append(pa.array(self._ids[known:], pa.large_string()))
            # Few large parts: what is new is put together with what is not much larger.
            while len(self._arrow) > 1 and len(self._arrow[-2]) < 2 * len(self._arrow[-1]):
                self._arrow[-2:] = [pa.concat_arrays(self._arrow[-2:])]
        if len(self._arrow) != 1:
            return pa.concat_arrays(self._arrow) if self._arrow else pa.array([], pa.large_string())
        return self._arrow[0]

    def _recent(self, clauses: Int32, places: Int64 | None = None) -> tuple[Int64, Int64]:
        from sensewire.model.spreading import spread_one_or_many  # numba is imported with it

        mine, alone = clauses - self._clauses, self._one.view
        crowds = self._joined
        if crowds is None:  # putting them together takes long: only where one is needed
            crowds = self._crowds() if np.any(alone[mine] <= FIRST_CROWD) else _NO_CROWDS
        found, rows = spread_one_or_many(mine, alone, FIRST_CROWD, *crowds)
        return (found if places is None else places[found]), rows

    def _crowds(self) -> tuple[Int64, Int64]:
        """The rows of all crowds, one after another."""
        if self._joined is None:
            counts = [len(rows) for rows in self._many]
            offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
            self._joined = offsets, np.concatenate([rows.view for rows in self._many])
        return self._joined

    def _row(self, id: str) -> int | None:
        row = self._rows.get(id)
        if row is None and self._base is not None:
            row = self._base.row(id)
            if row is not None and not self._alive[row]:
                row = None
        return row

    def _subscribe(self, clause: int, row: int) -> None:
        place = clause - self._clauses
        if place >= len(self._one):
            self._one.extend([NOBODY] * (place + 1 - len(self._one)))
        known = int(self._one.view[place])
        if known == NOBODY:
            self._one.view[place] = row
            return
        self._joined = None
        if known >= 0:
            self._one.view[place] = FIRST_CROWD - len(self._many)
            self._many.append(Growing(np.int64, (known, row)))
        else:
            self._many[FIRST_CROWD - known].append(row)

    def _unsubscribe(self, clause: int, row: int) -> None:
        place = clause - self._clauses
        known = int(self._one.view[place])
        if known >= 0:
            self._one.view[place] = NOBODY
            return
        rows = self._many[FIRST_CROWD - known].view
        self._many[FIRST_CROWD - known] = Growing(np.int64, rows[rows != row].tolist())
        self._joined = None
