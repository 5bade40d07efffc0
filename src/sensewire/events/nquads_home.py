"""The home vertices of events whose facts are codes, as `model.home` finds them.

The columns of facts are here too, and what finding writes on: it is stamped with the number of the
event, so that nothing is cleared between two. Cost: linear in the facts.
"""

from typing import NamedTuple

import numpy as np

from sensewire.events.nquads_table import BLANK
from sensewire.events.scanning import Bytes, Int32, Int64, Register, compiled, inlined, lent

NO_HOME = -1
HOME = 0
"""The code of `_:H` in every table."""
FACTS, BLANKS = 0, 1
"""Places in `Encoded.counts`."""


class Encoded(NamedTuple):
    """The facts of some runs, in columns as long as all statements at most."""

    subject: Int32
    property: Int32
    object: Int32
    offsets: Int64  # run → its first fact; and behind them the end
    home: Int32
    graph: Int32
    label: Int32  # code of a blank node, less the number of terms → the term that has its label
    counts: Int64  # [facts, blank nodes]


class Work(NamedTuple):
    """What finding facts and home vertices writes on."""

    facts: Int32  # hash → fact + 1
    stamp: Int32  # term → the last run that has it as a vertex, + 1
    place: Int32  # term → its number among that run's vertices
    named: Int32  # term → the last run that has it as a blank node, + 1
    code: Int32  # term → its code in that run
    vertex: Int32  # number → term
    is_reached: Bytes
    leaving: Int32  # vertex → the last fact of which it is the subject, or -1
    before: Int32  # fact, from the run's first on → the fact before it with the same subject, or -1
    pending: Int32


def encoded_for(runs: int, rows: int) -> Encoded:
    """Room for the facts of so many runs, which have so many statements."""
    return Encoded(
        subject=np.empty(rows, np.int32),
        property=np.empty(rows, np.int32),
        object=np.empty(rows, np.int32),
        offsets=np.zeros(runs + 1, np.int64),
        home=np.empty(runs, np.int32),
        graph=np.empty(runs, np.int32),
        label=np.empty(2 * rows + runs, np.int32),
        counts=np.zeros(2, np.int64),
    )


def work_for(terms: int, longest: int) -> Work:
    """A place to work, for so many terms and runs of up to so many statements."""
    return Work(
        facts=np.zeros(1 << (2 * longest).bit_length(), np.int32),
        stamp=np.zeros(terms, np.int32),
        place=np.zeros(terms, np.int32),
        named=np.zeros(terms, np.int32),
        code=np.zeros(terms, np.int32),
        vertex=np.empty(2 * longest, np.int32),
        is_reached=np.empty(2 * longest, np.uint8),
        leaving=np.empty(2 * longest, np.int32),
        before=np.empty(longest, np.int32),
        pending=np.empty(2 * longest, np.int32),
    )


@inlined
def lent_encoded(out: Encoded) -> Encoded:
    """The columns, for kernels."""
    return Encoded(
        lent(out.subject),
        lent(out.property),
        lent(out.object),
        lent(out.offsets),
        lent(out.home),
        lent(out.graph),
        lent(out.label),
        lent(out.counts),
    )


@inlined
def lent_work(work: Work) -> Work:
    """The place to work, for kernels."""
    return Work(
        lent(work.facts),
        lent(work.stamp),
        lent(work.place),
        lent(work.named),
        lent(work.code),
        lent(work.vertex),
        lent(work.is_reached),
        lent(work.leaving),
        lent(work.before),
        lent(work.pending),
    )


@compiled
def home_of(
    event: int, first: int, graph: Register, marks: Bytes, work: Work, out: Encoded
) -> Register:
    """The home vertex as `home_vertex` finds it, where none is given."""
    stop = out.counts[FACTS]
    is_subject = False
    for fact in range(first, stop):
        if out.subject[fact] == HOME or out.object[fact] == HOME:
            return HOME
        is_subject |= out.subject[fact] == graph
    if is_subject and not marks[graph] & BLANK:
        return graph
    return _only_root(event, first, stop, work, out)


@inlined
def _number_of(term: int, event: int, count: Register, work: Work) -> tuple[Register, Register]:
    """A vertex's number in the event, and how many there are with it."""
    if work.stamp[term] != event + 1:
        work.stamp[term] = event + 1
        work.place[term] = count
        work.vertex[count] = term
        work.is_reached[count] = 0
        work.leaving[count] = -1
        return count, count + 1
    return np.int64(work.place[term]), count


@compiled
def _only_root(event: int, first: int, stop: int, work: Work, out: Encoded) -> int:
    """The only vertex that no other one points at, if all others can be reached from it."""
    count: Register = np.int64(0)
    for fact in range(first, stop):
        subject, count = _number_of(out.subject[fact], event, count, work)
        value, count = _number_of(out.object[fact], event, count, work)
        if subject != value:
            work.before[fact - first] = work.leaving[subject]
            work.leaving[subject] = fact
            work.is_reached[value] = 1
    root = -1
    for vertex in range(count):
        if not work.is_reached[vertex]:
            if root >= 0:
                return NO_HOME
            root = vertex
        work.is_reached[vertex] = 0
    if root < 0:
        return NO_HOME
    work.pending[0] = root
    work.is_reached[root] = 1
    waiting, reached = 1, 1
    while waiting:
        waiting -= 1
        fact = work.leaving[work.pending[waiting]]
        while fact >= 0:
            value = work.place[out.object[fact]]
            if not work.is_reached[value]:
                work.is_reached[value] = 1
                work.pending[waiting] = value
                waiting += 1
                reached += 1
            fact = work.before[fact - first]
    return int(work.vertex[root]) if reached == count else NO_HOME
