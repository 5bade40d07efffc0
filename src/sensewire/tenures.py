"""From when to when subscriptions stand, and an engine whose subscriptions come and go by that.

A subscription is live for the events behind its beginning, up to its end, that arrive before it
expires. Beginning and end are places in one order: that of the event log, where a subscription and
an event stand in one; else that of changes, in which a whole micro-batch has one place.

    order    ──────┬───────────────────┬──────►
                   begin  (    live    ] end           and arrival < expires

What is compiled in an index, and what was added since, is thereby the same: an event gets the same
answer from whoever has its subscriptions, however much later that one has moved on. Subscriptions
are named by keys, whole numbers that are never used again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from sensewire.engine import Engine
from sensewire.model.errors import SensewireError
from sensewire.stated import stated_in

NEVER = int(np.iinfo(np.int64).max)
Int64 = npt.NDArray[np.int64]

_ARRAYS = ("keys", "begin", "end", "expires")


@dataclass(frozen=True, slots=True)
class Tenure:
    """When a subscription is live; times in microseconds since 1970."""

    begin: int
    end: int = NEVER
    expires: int = NEVER

    def holds(self, order: int, arrival: int) -> bool:
        """Whether it is live for an event."""
        return self.begin < order <= self.end and arrival < self.expires


@dataclass(frozen=True, slots=True)
class Change:
    """A subscription that came, with what it states, or that went, without."""

    key: int
    tenure: Tenure
    stated: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Increment:
    """The changes up to a number, behind that of the increment before; as JSON, to travel."""

    upto: int
    changes: bytes
    count: int
    """How many subscriptions came or went: one change may bring thousands."""

    @classmethod
    def of(cls, upto: int, changes: Iterable[Change]) -> "Increment":
        """Changes, written down.

        >>> Increment.of(2, [Change(7, Tenure(3), {"id": "7", "text": "price < 9"})]).changes
        b'[[7,3,9223372036854775807,9223372036854775807,{"id":"7","text":"price < 9"}]]'
        """
        rows = [
            (each.key, each.tenure.begin, each.tenure.end, each.tenure.expires, each.stated)
            for each in changes
        ]
        return cls(upto, orjson.dumps(rows), len(rows))

    def read(self) -> list[Change]:
        """The changes."""
        return [
            Change(key, Tenure(begin, end, expires), stated)
            for key, begin, end, expires, stated in orjson.loads(self.changes)
        ]


class Tenures:
    """The tenures of many subscriptions; those that nobody tells of have no limits."""

    def __init__(self, arrays: Mapping[str, Int64] | None = None) -> None:
        self._told: dict[int, Tenure] = {}
        self._keys, *limits = (
            np.empty(0, np.int64) if arrays is None else arrays[name] for name in _ARRAYS
        )
        self._limits = limits

    def put(self, key: int, tenure: Tenure) -> None:
        """Tell of a subscription, in the place of what was told before."""
        self._told[key] = tenure

    def arrays(self) -> dict[str, Int64]:
        """All that was told, in the order of keys: what a folder keeps."""
        self._settle()
        return dict(zip(_ARRAYS, (self._keys, *self._limits), strict=True))

    def live(self, keys: Int64, order: Int64, arrival: Int64) -> npt.NDArray[np.bool_]:
        """Which of some subscriptions are live for the events that they are paired with."""
        self._settle()
        if not len(self._keys):
            return np.ones(len(keys), np.bool_)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        begin, end, expires = (limit[places] for limit in self._limits)
        holds = (begin < order) & (order <= end) & (arrival < expires)
        live: npt.NDArray[np.bool_] = holds | (self._keys[places] != keys)
        return live

    def _settle(self) -> None:
        if not self._told:
            return
        told = sorted(self._told)
        kept = ~np.isin(self._keys, np.array(told, np.int64))
        rows = [self._told[key] for key in told]
        keys = np.concatenate((self._keys[kept], np.array(told, np.int64)))
        order = np.argsort(keys)
        new = (
            [each.begin for each in rows],
            [each.end for each in rows],
            [each.expires for each in rows],
        )
        self._limits = [
            np.concatenate((old[kept], np.array(values, np.int64)))[order]
            for old, values in zip(self._limits, new, strict=True)
        ]
        self._keys = keys[order]
        self._told = {}


class LiveEngine:
    """An engine at a change: what was compiled, and what came and went since."""

    def __init__(self, engine: Engine, tenures: Tenures, change: int) -> None:
        self.engine = engine
        self.tenures = tenures
        self.change = change
        self.refused: dict[int, str] = {}
        """Subscriptions that the engine does not take, and why."""
        self._taken: set[int] = set()
        self._keys: Int64 = np.empty(0, np.int64)
        self._dictionary: Any = None

    def advance(self, increments: Sequence[Increment]) -> None:
        """Take the changes that are new here."""
        for increment in increments:
            if increment.upto <= self.change:
                continue
            for change in increment.read():
                self._take(change)
            self.change = increment.upto

    def _take(self, change: Change) -> None:
        self.tenures.put(change.key, change.tenure)
        if change.stated is None or change.key in self._taken:
            return  # it went; or increments were cut in another way the last time
        self._taken.add(change.key)
        try:
            stated = stated_in(change.stated)
            self.engine.add(stated.subscription, id=str(change.key))
        except SensewireError as error:
            self.refused[change.key] = str(error)

    def keys(self, subscriptions: Any) -> Int64:
        """The keys that a column of an answer names; Any: an array of Arrow's, of either kind."""
        import pyarrow as pa

        column = subscriptions
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if not pa.types.is_dictionary(column.type):
            keys: Int64 = np.asarray(column.cast(pa.int64()))
            return keys
        known = column.dictionary
        if self._dictionary is None or not known.equals(self._dictionary):
            self._dictionary = known
            self._keys = np.asarray(known.cast(pa.int64()))
        found: Int64 = self._keys[np.asarray(column.indices)]
        return found
