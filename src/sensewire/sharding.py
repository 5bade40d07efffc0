"""Splits subscriptions over shards: for an index that is too large for one worker.

    subscriptions ──> anchors, bytes, operator calls ──> groups ──> shards
                      sample: how many events each takes

A subscription lies in one shard. It costs bytes, by its form, and work: the events of a sample that
its anchors take (`anchors.py`). Subscriptions that call one operator alike form a group, so that it
is asked once for an event; so do those with equal anchors, so that an event goes to few shards. The
largest groups are placed first, each where the fuller of the two measures stays least: Graham's
rule (1969) for two measures. A group grows to a shard's share at most; where that leaves shards
uneven, those of equal anchors are made smaller.

Cost: O(n) look-ups for n subscriptions, one engine of the distinct anchors for the sample, and
O(groups · shards). The same subscriptions in the same order are always split alike.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.anchors import EVERYTHING, Anchor, Form, anchor_of, is_attribute
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.graph_coding import has_patterns
from sensewire.model.canonical import Clause, clauses_of, renamed
from sensewire.model.conditions import Constant, OneOf, Variable
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Not,
    OperatorCall,
    Predicate,
    Subscription,
    TriplePattern,
)

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

UNMEASURED = {Form.VALUE: 1, Form.ATTRIBUTE: 32, Form.EVERYTHING: 64}
"""What anchors count as taking where there is no sample."""
GRAINS = (1, 2, 4, 8, 16)
"""Into how many parts a shard's share may be cut for groups of equal anchors, as they are tried."""
EVEN = 1.1
"""The fullest shard by the mean one, where no smaller groups are tried."""

# Bytes of an index folder: for a subscription with its id, for a test in a clause, for a different
# test, and for each further constant of its.
_STANDING, _ASKED, _DIFFERENT, _CONSTANT = 64, 24, 280, 100


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What a split has to know of subscriptions, each by its position."""

    knowledge: Knowledge
    anchors: tuple[Anchor, ...]  # each once
    taken: Int64  # the events of the sample that an anchor takes
    offsets: Int64  # where the anchors of a subscription begin
    of_row: Int64  # the anchors of the subscriptions, one after another
    bytes: Float64
    calls: tuple[tuple[int, ...], ...]  # for each operator call who makes it
    attributes: tuple[tuple[Constant, bool], ...]  # that any of them asks for; whether nearly
    reads_all: bool  # whether any of them may ask for any attribute

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, rows: Int64) -> Int64:
        """The anchors of some subscriptions, each once, ascending."""
        wanted = np.zeros(len(self), np.bool_)
        wanted[rows] = True
        return np.unique(self.of_row[np.repeat(wanted, np.diff(self.offsets))])

    def loads(self) -> Float64:
        """For each subscription its shares of all bytes and of all work."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        work = np.bincount(owners, self.taken[self.of_row], minlength=len(self))
        columns = [column / (column.sum() or 1.0) for column in (self.bytes, work)]
        return np.column_stack(columns)


def measured(
    subscriptions: Iterable[Subscription],
    knowledge: Knowledge = Knowledge(),  # noqa: B008 - a frozen value
    sample: Sequence[Event] | pa.RecordBatch | None = None,
) -> Measured:
    """Read subscriptions once, and measure by a sample of events what their anchors take.

    Each clause is anchored where the fewest events are taken; of equals by form, then by text.
    """
    reading = _Reading()
    for subscription in subscriptions:
        reading.read(subscription)
    candidates = reading.candidates()
    choices = reading.choices()
    taken = _taken(candidates, set(chain.from_iterable(choices)), knowledge, sample)
    best = [_best(several, candidates, taken) for several in choices]
    chosen = np.array(best, np.int64)[np.frombuffer(reading.clauses, np.int64)]
    pairs = np.unique(np.column_stack((np.frombuffer(reading.owners, np.int64), chosen)), axis=0)
    used, of_row = np.unique(pairs[:, 1], return_inverse=True)
    ends = np.cumsum(np.bincount(pairs[:, 0], minlength=len(reading.rows)))
    return Measured(
        knowledge,
        tuple(candidates[number] for number in used.tolist()),
        taken[used],
        np.concatenate(([0], ends)).astype(np.int64),
        of_row.astype(np.int64),
        reading.bytes(),
        tuple(tuple(who) for who in reading.callers.values() if len(who) > 1),
        tuple(reading.attributes),
        reading.reads_all,
    )


def _best(several: Sequence[int], candidates: Sequence[Anchor], taken: Int64) -> int:
    if len(several) == 1:
        return several[0]
    return min(several, key=lambda n: (taken[n], candidates[n].form, candidates[n].text))


def split(subscriptions: Measured, shards: int) -> list[Int64]:
    """The positions of the subscriptions in each shard, ascending.

    >>> from sensewire.language.parse import parse
    >>> texts = ["a = 1", "a = 2", "a = 1 and b > 1", "a = 2 and b > 2"]
    >>> [rows.tolist() for rows in split(measured(map(parse, texts)), 2)]
    [[0, 2], [1, 3]]
    """
    if shards < 1:
        raise SensewireError(f"a split into {shards} shards: expected 1 or more")
    loads = subscriptions.loads()
    tries: list[tuple[float, Int64]] = []
    for grain in GRAINS:
        groups = _Groups(loads)
        for callers in subscriptions.calls:
            groups.join(callers, 1 / shards)
        for anchored in _with_anchors(subscriptions):
            groups.join(anchored, 1 / (shards * grain))
        tries.append(_placed(loads, groups.numbers(), shards))
        if tries[-1][0] <= EVEN or shards == 1:
            break
    shard_of = min(tries, key=lambda made: made[0])[1]
    return [np.flatnonzero(shard_of == shard) for shard in range(shards)]


def balance(subscriptions: Measured, parts: Sequence[Int64]) -> tuple[float, float]:
    """The bytes and the work of the fullest shard, each by that of the mean one."""
    loads = subscriptions.loads()
    fullest = np.array([loads[rows].sum(axis=0) for rows in parts]).max(axis=0) * len(parts)
    return float(fullest[0]), float(fullest[1])


class _Told(NamedTuple):
    """What is known of an atom, whoever has it."""

    weight: int
    attributes: tuple[Constant, ...]
    calls: tuple[OperatorCall, ...]
    reads_all: bool  # it may ask for any property


class _Reading:
    """What is gathered of subscriptions, one after another; what is equal is looked at once."""

    def __init__(self) -> None:
        self.owners = array("q")  # for each clause its subscription
        self.clauses = array("q")  # and the number of what it may choose from
        self.rows: list[list[int]] = []  # the atoms of each subscription
        self.callers: dict[OperatorCall, dict[int, None]] = defaultdict(dict)
        self.attributes: dict[tuple[Constant, bool], None] = {}
        self.reads_all = False
        self._atoms: dict[Atom, int] = {}
        self._told: list[_Told] = []
        self._users: Counter[int] = Counter()
        self._anchors: dict[Anchor, int] = {EVERYTHING: 0}
        self._of_atoms: dict[tuple[int, float | None, bool], int | None] = {}
        self._several: dict[tuple[int, ...], int] = {}

    def read(self, subscription: Subscription) -> None:
        row = len(self.rows)
        asked: list[int] = []
        for clause in clauses_of(subscription):
            atoms = clause.conjunction.atoms
            numbers = [self._number(atom) for atom in atoms]
            asked += numbers
            found = {self._anchor(*each, clause) for each in zip(numbers, atoms, strict=True)}
            several = tuple(sorted(each for each in found if each is not None)) or (0,)
            self.owners.append(row)
            self.clauses.append(self._several.setdefault(several, len(self._several)))
            self._note(zip(numbers, atoms, strict=True), row, clause)
        self._users.update(asked)
        self.rows.append(asked)

    def candidates(self) -> list[Anchor]:
        """All anchors that clauses may choose from; the first is `everything`."""
        return list(self._anchors)

    def choices(self) -> list[tuple[int, ...]]:
        """What clauses may choose from."""
        return list(self._several)

    def bytes(self) -> Float64:
        """What each subscription adds to an index, its tests shared with all who have them."""
        each = [_ASKED + told.weight / self._users[n] for n, told in enumerate(self._told)]
        return np.array([_STANDING + sum(each[n] for n in asked) for asked in self.rows])

    def _note(self, atoms: Iterable[tuple[int, Atom]], row: int, clause: Clause) -> None:
        """The attributes that are asked for, and the operators that are called."""
        is_near = clause.tolerance is not None and not has_patterns(clause)
        for number, atom in atoms:
            each = self._told[number]
            for call in each.calls:
                self.callers[call][row] = None
            nearly = is_near and isinstance(atom, Predicate)
            self.attributes.update(((name, nearly), None) for name in each.attributes)
            self.reads_all |= each.reads_all

    def _number(self, atom: Atom) -> int:
        number = self._atoms.setdefault(atom, len(self._told))
        if number == len(self._told):
            self._told.append(_told_of(atom))
        return number

    def _anchor(self, number: int, atom: Atom, clause: Clause) -> int | None:
        """The number of an atom's anchor."""
        key = number, clause.tolerance, clause.strict
        if key not in self._of_atoms:
            made = anchor_of(atom, clause.tolerance, clause.strict)
            known = self._anchors
            self._of_atoms[key] = None if made is None else known.setdefault(made, len(known))
        return self._of_atoms[key]


def _told_of(atom: Atom) -> _Told:
    inside = list(_atoms_in(Conjunction((atom,))))
    predicates = [each for each in inside if isinstance(each, Predicate)]
    conditions = [each.condition for each in predicates]
    more = sum(len(each.constants) - 1 for each in conditions if isinstance(each, OneOf))
    properties = [each.property for each in inside if isinstance(each, TriplePattern)]
    named = (each for each in properties if isinstance(each, Constant) and is_attribute(each))
    calls = (_numbered(each) for each in inside if isinstance(each, OperatorCall))
    return _Told(
        _DIFFERENT + _CONSTANT * more,
        (*(each.attribute for each in predicates), *named),
        tuple(calls),
        any(isinstance(each, Variable) for each in properties),
    )


class _Groups:
    """Groups of subscriptions that grow by joining, up to a limit."""

    def __init__(self, loads: Float64) -> None:
        self._parents = list(range(len(loads)))
        self._bytes: list[float] = loads[:, 0].tolist()
        self._work: list[float] = loads[:, 1].tolist()

    def join(self, rows: Iterable[int], limit: float) -> None:
        """Let subscriptions be one group, or several where it would grow past the limit."""
        into = -1
        for row in rows:
            root = self._root(row)
            if root == into:
                continue
            if into >= 0 and self._together(root, into) <= limit:
                self._parents[root] = into
                self._bytes[into] += self._bytes[root]
                self._work[into] += self._work[root]
            else:
                into = root

    def numbers(self) -> Int64:
        """For each subscription the first of its group."""
        roots = np.array([self._root(row) for row in range(len(self._parents))], np.int64)
        return np.unique(roots, return_inverse=True)[1].astype(np.int64)

    def _together(self, one: int, other: int) -> float:
        """The larger load of two groups that become one."""
        bytes, work = self._bytes, self._work
        return max(bytes[one] + bytes[other], work[one] + work[other])

    def _root(self, row: int) -> int:
        parents = self._parents
        while parents[row] != row:
            parents[row] = row = parents[parents[row]]
        return row


def _with_anchors(subscriptions: Measured) -> Iterator[list[int]]:
    """The subscriptions of each anchor, those that take most first."""
    owners = np.repeat(np.arange(len(subscriptions)), np.diff(subscriptions.offsets))
    order = np.argsort(subscriptions.of_row, kind="stable")
    counts = np.bincount(subscriptions.of_row, minlength=len(subscriptions.anchors))
    parts = np.split(owners[order], np.cumsum(counts)[:-1]) if len(counts) else []
    for anchor in np.argsort(-subscriptions.taken, kind="stable").tolist():
        yield parts[anchor].tolist()


def _placed(loads: Float64, groups: Int64, shards: int) -> tuple[float, Int64]:
    """For each subscription its shard; before that how full the fullest is, by the mean."""
    count = int(groups.max()) + 1 if len(groups) else 0
    bytes, work = (np.bincount(groups, column, minlength=count) for column in loads.T)
    order = np.argsort(-np.maximum(bytes, work), kind="stable")
    filled = np.zeros((2, shards))
    shard_of = np.zeros(count, np.int64)
    for group, more in zip(order.tolist(), np.array((bytes, work)).T[order], strict=True):
        after = filled + more[:, None]
        shard = int(after.max(axis=0).argmin())
        filled[:, shard] = after[:, shard]
        shard_of[group] = shard
    return float(filled.max()) * shards, shard_of[groups]


def _taken(
    anchors: Sequence[Anchor],
    wanted: Iterable[int],
    knowledge: Knowledge,
    sample: Sequence[Event] | pa.RecordBatch | None,
) -> Int64:
    """How many events of a sample those anchors take that somebody wants to know of."""
    if sample is None:
        return np.array([UNMEASURED[each.form] for each in anchors], np.int64)
    engine = Engine(knowledge)
    for number in sorted(wanted):
        engine.add(anchors[number].subscription(), id=str(number))
    counts = np.zeros(len(anchors), np.int64)
    if isinstance(sample, pa.RecordBatch):
        found = engine.match_batch(sample)
    else:
        found = engine.match_events(sample)
    for table in (found.matches, found.failures):
        numbers = table.column("subscription").cast(pa.int64()).to_numpy()
        counts += np.bincount(numbers, minlength=len(anchors))
    return counts


def _atoms_in(conjunction: Conjunction) -> Iterator[Atom]:
    for atom in conjunction.atoms:
        if isinstance(atom, Not):
            yield from _atoms_in(atom.body)
        else:
            yield atom


def _numbered(call: OperatorCall) -> OperatorCall:
    """A call with its variables numbered in the order in which they stand."""
    variables = dict.fromkeys(each for each in call.arguments if isinstance(each, Variable))
    return renamed(call, {each: Variable(str(n)) for n, each in enumerate(variables)})
