"""What clauses with patterns say of events: who holds surely, with which rows, and who is judged.

pairs ──┬── sure, nothing selected ──> pairs
        ├── sure, with rows ─────────> answers
        ├── given up ────────────────> answers that say so
        └── doubtful ────────────────> judged once more, as the oracle does
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.match.compiled.graph_index import GraphPairs
from sensewire.match.compiled.graph_layout import DOUBTFUL, OVER_BUDGET, SELECTS
from sensewire.match.compiled.graph_terms import GraphEvents
from sensewire.match.compiled.segment import Segment
from sensewire.match.judging import Judge
from sensewire.match.matcher import Answer, Found
from sensewire.match.oracle_strict import plain
from sensewire.model.canonical import Clause
from sensewire.model.match import over_budget
from sensewire.model.terms import Term

MOST_ASKED = 10_000
"""Facts of events of which single atoms are asked about."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What answers are made with: which clauses stand, what they say, who judges them, which events
    every clause is judged for, and how many steps a search may take."""

    alive: Truths
    clause: Callable[[int], Clause | None]
    judge: Judge
    apart: Truths
    budget: int


def answered(segment: Segment, pairs: GraphPairs, events: GraphEvents, asking: Asking) -> Found:
    """The answers of a segment's clauses with patterns."""
    row, place = pairs.events, pairs.patterns
    number = segment.clauses.numbers[place]
    kept = asking.alive[number] & ~asking.apart[row]
    some_apart = asking.apart.any()
    if pairs.said is None and not segment.has_judged and not some_apart:  # as nearly always
        return Found(row[kept], number[kept])
    over = pairs.saying(OVER_BUDGET)
    doubtful = kept & (pairs.saying(DOUBTFUL) | segment.clauses.judged[place]) & ~over
    is_sure = kept & ~doubtful & ~over
    answers = list(_given_up(row[kept & over], number[kept & over], events, asking))
    if pairs.rows:
        selects = pairs.saying(SELECTS)
        answers += _with_rows(segment, pairs, events, asking, is_sure & selects)
        is_sure &= ~selects
    judged = list(zip(row[doubtful].tolist(), number[doubtful].tolist(), strict=True))
    if some_apart:
        everything = segment.clauses.numbers[segment.graph_places]
        everything = everything[asking.alive[everything]].tolist()
        judged += [(one, each) for one in np.flatnonzero(asking.apart) for each in everything]
    for event, one in judged:
        clause = asking.clause(one)
        if clause is not None:
            answer = asking.judge.answer(int(event), one, clause)
            if answer.rows or answer.reasons:
                answers.append((int(event), answer))
    return Found(row[is_sure], number[is_sure], answers)


def _given_up(
    rows: Int32, numbers: Int32, events: GraphEvents, asking: Asking
) -> Iterator[tuple[int, Answer]]:
    """The answers of pairs whose search took too many steps: they are undecided, unless one atom
    alone refuses (which is not asked of the largest events, where that would take too long too)."""
    facts = np.diff(events.offsets)
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        clause = asking.clause(number)
        if clause is not None and facts[row] <= MOST_ASKED and asking.judge.refuses(row, clause):
            continue
        yield row, Answer(number, reasons=(over_budget(asking.budget),))


def _with_rows(
    segment: Segment, pairs: GraphPairs, events: GraphEvents, asking: Asking, wanted: Truths
) -> Iterator[tuple[int, Answer]]:
    """The answers of pairs with the solutions that they have."""
    size = len(segment.clauses)
    sure = _paired(pairs.events[wanted], pairs.patterns[wanted], size)
    for group in pairs.rows:
        keys = _paired(group.events, group.patterns, size)
        kept = np.flatnonzero(np.isin(keys, sure))
        if not len(kept):
            continue
        kept = kept[np.argsort(keys[kept], kind="stable")]
        ends = np.flatnonzero(np.diff(keys[kept], append=-1))
        begin = 0
        for end in (ends + 1).tolist():
            rows = kept[begin:end]
            number = int(segment.clauses.numbers[group.patterns[rows[0]]])
            clause = asking.clause(number)
            begin = end
            if clause is not None:
                solutions = _solutions(group.codes[rows], events, clause.strict)
                yield int(group.events[rows[0]]), Answer(number, solutions)


def _paired(events: Int32, places: Int32, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return events.astype(np.int64) * size + places


def _solutions(codes: Int32, events: GraphEvents, strict: bool) -> frozenset[tuple[Term, ...]]:
    terms = events.terms
    read = (lambda code: plain(terms[code])) if strict else terms.__getitem__
    known = {code: read(code) for code in np.unique(codes).tolist()}
    return frozenset(tuple([known[code] for code in row]) for row in codes.tolist())
