"""Routes events to shards: an engine of anchors, which says where an event may have an answer.

    event ──> engine of anchors ──> ids ──> shards          id = anchor · shards + shard

There is a subscription for each anchor of each shard; equal ones are indexed once. A failure routes
like a match: what a shard would leave undecided, it must be asked. Some more subscriptions belong
to no shard and take nothing: they ask for the attributes of all subscriptions, so that whatever
words of several meanings stand there are counted, and alike for any number of shards. Their ids are
below zero, and the first one tells the number of shards, so that a folder says all.

Invariant: what the shards say of the events that are routed to them, together, is what an engine of
all subscriptions says. Cost of routing: that of matching the anchors.
"""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.engine import Engine
from sensewire.model.conditions import Constant, Exists, Variable, exact
from sensewire.model.errors import IndexFolderError
from sensewire.model.learned import Learned
from sensewire.model.match import BatchMatches, Matches
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Not,
    Predicate,
    Subscription,
    TriplePattern,
)
from sensewire.model.terms import iri
from sensewire.saving import Saved, opened_folder
from sensewire.sharding import Measured

Int64 = npt.NDArray[np.int64]

_NOBODY = exact(iri("urn:sensewire:nobody"))
"""An attribute that no event should have: what asks for it too is tried for none."""
_AT_A_TIME = 16
"""Attributes that one subscription of nobody's asks for: none is too long to be written."""


class Router:
    """Which shards an event goes to; `engine` is to be asked first.

    >>> import pyarrow as pa
    >>> from sensewire.language.parse import parse
    >>> from sensewire.sharding import measured, split
    >>> asked = measured([parse("a = 1"), parse("a = 2 and b > 5")])
    >>> router = Router.of(asked, split(asked, 2))
    >>> batch = pa.RecordBatch.from_pydict({"a": [1, 2, 3], "b": [0, 0, 0]})
    >>> [rows.tolist() for rows in router.routes(router.engine.match_batch(batch), 3)]
    [[1], [0]]
    """

    def __init__(self, engine: Engine, shards: int) -> None:
        self.engine = engine
        self.shards = shards

    @classmethod
    def of(cls, subscriptions: Measured, parts: Sequence[Int64]) -> Self:
        """The router to the shards that hold these parts of the subscriptions."""
        engine = Engine(subscriptions.knowledge)
        shards = len(parts)
        for number, watching in enumerate(_watching(subscriptions)):
            engine.add(watching, id=str(-shards - number))
        made = [each.subscription() for each in subscriptions.anchors]
        for shard, rows in enumerate(parts):
            for anchor in subscriptions.of(rows).tolist():
                engine.add(made[anchor], id=str(anchor * shards + shard))
        return cls(engine, shards)

    def routes(self, found: BatchMatches, rows: int) -> list[Int64]:
        """For each shard the rows of a batch that go there, ascending; `found` is what the engine
        said of the batch, and `rows` how many it has."""
        goes = np.zeros((self.shards, rows), np.bool_)
        for table in (found.matches, found.failures):
            ids = _numbers(table.column("subscription"))
            events = table.column("event").to_numpy()
            to_some = ids >= 0
            goes[ids[to_some] % self.shards, events[to_some]] = True
        return [np.flatnonzero(each) for each in goes]

    def shards_of(self, found: Matches) -> list[int]:
        """The shards that one event goes to, ascending; `found` is what the engine said of it."""
        ids = (int(each.subscription) for each in (*found, *found.failures))
        return sorted({id % self.shards for id in ids if id >= 0})

    def save(self, path: str | PathLike[str], statistics: Learned | None = None) -> None:
        """Write the router to an index folder; with `statistics`, planned for events like those."""
        self.engine.save(path, statistics)

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """The router that was saved to a folder, as it is: processes share it."""
        saved = Saved.of(opened_folder(path).arrays)
        first = saved.id(0) if len(saved) else ""
        if not (first.startswith("-") and first[1:].isdecimal()):
            raise IndexFolderError(f"{path}: this is no router; expected what Router.save wrote")
        return cls(Engine.open(path, as_it_is=True), int(first[1:]))


def _numbers(ids: Any) -> Int64:
    """Ids as the numbers that they write; of an Arrow dictionary each is read once."""
    ids = ids.combine_chunks()
    if not pa.types.is_dictionary(ids.type):
        plain: Int64 = np.asarray(ids.cast(pa.int64()))
        return plain
    numbers: Int64 = np.asarray(ids.dictionary.cast(pa.int64()))
    chosen: Int64 = numbers[np.asarray(ids.indices)]
    return chosen


def _watching(subscriptions: Measured) -> Iterator[Subscription]:
    """Subscriptions that ask for attributes and never match; without attributes one that does."""
    for nearly in (False, True):
        attributes = [each for each, is_nearly in subscriptions.attributes if is_nearly == nearly]
        for start in range(0, len(attributes), _AT_A_TIME):
            first, *others = attributes[start : start + _AT_A_TIME]
            yield _never(first, *(Predicate(each, Exists()) for each in others), nearly=nearly)
    if subscriptions.reads_all:
        yield _never(_NOBODY, TriplePattern(*map(Variable, "spo")))
    elif not subscriptions.attributes:
        yield Subscription((Conjunction(),))


def _never(attribute: Constant, *atoms: Atom, nearly: bool = False) -> Subscription:
    asked = Predicate(attribute, Exists())
    made = Conjunction((asked, *atoms, Not(Conjunction((asked,)))))
    return Subscription((made,), tolerance=1.0 if nearly else None)
