"""What clauses with patterns say of events: who holds surely, with which rows, and who is judged.

pairs ──┬── sure, nothing selected ──> pairs
        ├── sure, with rows ─────────> answers
        ├── given up ────────────────> answers that say so
        └── doubtful ────────────────> judged once more, as the oracle does
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.match.compiled.graph_index import GraphPairs
from sensewire.match.compiled.graph_layout import DOUBTFUL, OVER_BUDGET, SELECTS
from sensewire.match.compiled.graph_refusal import is_refused
from sensewire.match.compiled.graph_terms import GraphEvents
from sensewire.match.compiled.segment import Graphs, Segment
from sensewire.match.judging import Judge
from sensewire.match.matcher import Answer, Found
from sensewire.match.oracle_strict import plain
from sensewire.model.canonical import Clause
from sensewire.model.match import over_budget
from sensewire.model.terms import Term


@dataclass(frozen=True, slots=True)
class Asking:
    """What answers are made with: which clauses stand, what they say, who judges them, and how many
    steps a search may take; the events that every clause is judged for; and those of which
    something is unknown, with the properties that it may have."""

    alive: Truths
    clause: Callable[[int], Clause | None]
    judge: Judge
    budget: int
    apart: Collection[int]
    unknown: Mapping[int, Collection[int]]


def answered(
    segment: Segment, graphs: Graphs, pairs: GraphPairs, events: GraphEvents, asking: Asking
) -> Found:
    """The answers of some of a segment's clauses with patterns."""
    row, place = pairs.events, pairs.patterns
    number = segment.clauses.numbers[place]
    kept = asking.alive[number]
    if pairs.said is None and not (segment.has_judged or asking.apart or asking.unknown):
        return Found(row[kept], number[kept])  # as nearly always
    judged: list[tuple[int, int]] = []
    for event, places in _judged_wholly(segment, graphs, asking):
        kept &= (row != event) | ~np.isin(place, places)
        numbers = segment.clauses.numbers[places]
        judged += [(event, each) for each in numbers[asking.alive[numbers]].tolist()]
    over = pairs.saying(OVER_BUDGET)
    doubtful = kept & (pairs.saying(DOUBTFUL) | segment.clauses.judged[place]) & ~over
    is_sure = kept & ~doubtful & ~over
    answers = list(_given_up(segment, row[kept & over], place[kept & over], events, asking.budget))
    if pairs.rows:
        selects = pairs.saying(SELECTS)
        answers += _with_rows(segment, pairs, events, asking, is_sure & selects)
        is_sure &= ~selects
    judged += zip(row[doubtful].tolist(), number[doubtful].tolist(), strict=True)
    for event, one in judged:
        clause = asking.clause(one)
        if clause is not None:
            answer = asking.judge.answer(event, one, clause)
            if answer.rows or answer.reasons:
                answers.append((event, answer))
    return Found(row[is_sure], number[is_sure], answers)


def _judged_wholly(segment: Segment, graphs: Graphs, asking: Asking) -> Iterator[tuple[int, Int32]]:
    """Events, and the places of the clauses that are judged for them whatever kernels say."""
    for event in asking.apart:
        yield event, graphs.places
    for event, properties in asking.unknown.items():
        if event not in asking.apart:
            yield event, graphs.touched(segment.clauses, properties)


def _given_up(
    segment: Segment, rows: Int32, places: Int32, events: GraphEvents, budget: int
) -> Iterator[tuple[int, Answer]]:
    """The answers of pairs whose search took too many steps: undecided, unless an edge refuses."""
    clauses = segment.clauses
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        if not is_refused(
            clauses.codes, int(clauses.code_offsets[place]), events.subject, events.property,
            events.object, int(events.offsets[row]), int(events.offsets[row + 1]),
            int(events.homes[row]), events.row_of, events.rows, events.lists, events.numbers,
            events.filters, events.bounds,
        ):  # fmt: skip
            yield row, Answer(int(clauses.numbers[place]), reasons=(over_budget(budget),))


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
