"""From statements to events: runs of one graph, and their distinct facts.

    graph    g1  g1  ?  g1 │ g2  g2 │ g1        ?: a line of which nobody knows the graph
    run      0   0   0  0  │ 1   1  │ 2

Facts keep the order of their statements. Codes up to the number of terms are the table's; above
stand the blank nodes, which have other codes in every event. Cost: linear, with about one probe a
statement.
"""

from typing import NamedTuple

import numpy as np

from sensewire.events.nquads_home import (
    BLANKS,
    FACTS,
    NO_HOME,
    Encoded,
    Work,
    home_of,
    lent_encoded,
    lent_work,
)
from sensewire.events.nquads_statements import Statements, lent_statements
from sensewire.events.nquads_table import BLANK
from sensewire.events.scanning import Bytes, Int32, Int64, Register, compiled, inlined, lent

UNDECIDED, SKIPPED = -3, -4
"""Instead of a graph's code: nobody knows of which graph the line is; it says nothing."""
PROBLEM = -1
"""Instead of a subject's code: something is wrong with the line."""

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


class Runs(NamedTuple):
    """Runs of statements: the first row and the last one, the graph, bytes of all lines."""

    first: Int32
    last: Int32
    graph: Int32
    size: Int64
    is_clean: Bytes  # 1 where nothing is wrong with any line


def runs_for(rows: int) -> Runs:
    """Room for as many runs as there are statements."""
    return Runs(
        first=np.empty(rows, np.int32),
        last=np.empty(rows, np.int32),
        graph=np.empty(rows, np.int32),
        size=np.empty(rows, np.int64),
        is_clean=np.empty(rows, np.uint8),
    )


@inlined
def _lent_runs(runs: Runs) -> Runs:
    return Runs(
        lent(runs.first), lent(runs.last), lent(runs.graph), lent(runs.size), lent(runs.is_clean)
    )


@compiled
def find_runs(statements: Statements, begin: int, stop: int, room: Runs) -> int:
    """The runs of the rows `begin`, which is of a known graph, to `stop` − 1; how many."""
    found, runs = lent_statements(statements), _lent_runs(room)
    count = 0
    for row in range(begin, stop):
        graph = found.graph[row]
        if graph == SKIPPED:
            continue
        if count == 0 or (graph != UNDECIDED and graph != runs.graph[count - 1]):
            runs.first[count] = row
            runs.graph[count] = graph
            runs.size[count] = 0
            runs.is_clean[count] = 1
            count += 1
        runs.last[count - 1] = row
        runs.size[count - 1] += found.end[row] - found.start[row] + 1
        if found.subject[row] == PROBLEM:
            runs.is_clean[count - 1] = 0
    return count


@compiled
def encode(
    statements: Statements,
    all: Runs,
    chosen: Int64,
    terms: int,
    their_marks: Bytes,
    place: Work,
    room: Encoded,
) -> None:
    """The facts of the chosen runs, which are clean and of named graphs."""
    found, runs, marks = lent_statements(statements), _lent_runs(all), lent(their_marks)
    work, out = lent_work(place), lent_encoded(room)
    mask = np.uint64(len(place.facts) - 1)
    for event in range(len(chosen)):
        run = chosen[event]
        first = out.counts[FACTS]
        _distinct(found, runs.first[run], runs.last[run], work.facts, mask, out)
        graph: Register = np.int64(runs.graph[run])
        out.home[event] = home_of(event, first, graph, marks, work, out)
        for fact in range(first, out.counts[FACTS]):
            out.subject[fact] = _scoped(out.subject[fact], event, terms, marks, work, out)
            out.object[fact] = _scoped(out.object[fact], event, terms, marks, work, out)
        if out.home[event] != NO_HOME:
            out.home[event] = _scoped(out.home[event], event, terms, marks, work, out)
        out.graph[event] = _scoped(graph, event, terms, marks, work, out)
        out.offsets[event + 1] = out.counts[FACTS]


@inlined
def _distinct(
    found: Statements, begin: int, last: int, slots: Int32, mask: Register, out: Encoded
) -> None:
    """Add the facts of a run, each once."""
    first = out.counts[FACTS]
    count: Register = first
    for row in range(begin, last + 1):
        if found.graph[row] == SKIPPED:
            continue
        subject, property, value = found.subject[row], found.property[row], found.object[row]
        mixed = (
            np.uint64(subject) * _FIRST ^ np.uint64(property) * _SECOND ^ np.uint64(value) * _THIRD
        )
        slot = (mixed >> _HALF) & mask
        is_new = True
        while slots[slot] > first:
            fact = slots[slot] - 1
            if (
                out.object[fact] == value
                and out.subject[fact] == subject
                and out.property[fact] == property
            ):
                is_new = False
                break
            slot = (slot + _ONE) & mask
        if is_new:
            slots[slot] = count + 1
            out.subject[count] = subject
            out.property[count] = property
            out.object[count] = value
            count += 1
    out.counts[FACTS] = count


@inlined
def _scoped(
    term: Register, event: int, terms: int, marks: Bytes, work: Work, out: Encoded
) -> Register:
    """The code of a term in an event: of a blank node, one that no other event has."""
    if not marks[term] & BLANK:
        return term
    if work.named[term] != event + 1:
        work.named[term] = event + 1
        work.code[term] = terms + out.counts[BLANKS]
        out.label[out.counts[BLANKS]] = term
        out.counts[BLANKS] += 1
    return np.int64(work.code[term])
