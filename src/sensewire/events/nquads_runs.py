"""The statements of some lines of N-Quads, odd ones among them, and the runs that they make.

    row        0    1    2         3            4
    line       g1   g1   gibberish  bad, of g2   g2
    graph      g1   g1   UNDECIDED  g2           g2
    subject    …    …    PROBLEM    PROBLEM      …
    run        ────────────────── │ ──────────────     neither is an event: both have a problem

Clean runs of named graphs become events in columns; all others are gone through line by line, as
`runs` has it.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sensewire.events.decoding import Decoding, Outcome, Rejected
from sensewire.events.graphs import Graphs, Sources, timed
from sensewire.events.lines import Line, lines_in
from sensewire.events.nquads_grouping import (
    PROBLEM,
    SKIPPED,
    UNDECIDED,
    Runs,
    encode,
    find_runs,
    runs_for,
)
from sensewire.events.nquads_home import BLANKS, FACTS, encoded_for, work_for
from sensewire.events.nquads_scanner import Scanned, Scanner
from sensewire.events.nquads_statements import DEFAULT
from sensewire.events.nquads_terms import ScopedTerms
from sensewire.events.rdf import said_by
from sensewire.events.runs import Run
from sensewire.events.scanning import Int64
from sensewire.model.batch import RAW, FactColumns
from sensewire.model.terms import Term


class Found(NamedTuple):
    """Events, and what is none, each with how many of the events come before it."""

    graphs: Graphs | None
    others: list[tuple[int, Rejected]]

    def outcomes(self) -> Iterator[Outcome]:
        """All in the order of the lines."""
        decoded = [] if self.graphs is None else list(self.graphs.decoded())
        done = 0
        for before, other in self.others:
            yield from decoded[done:before]
            yield other
            done = before
        yield from decoded[done:]


def rejection(rejected: Rejected) -> Found:
    """What is no event, by itself."""
    return Found(None, [(0, rejected)])


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Statements that were scanned, and by row what is wrong with others; `number` is the first
    line's."""

    scanned: Scanned
    problems: dict[int, str]
    file: str
    number: int
    decoding: Decoding

    @classmethod
    def of(
        cls, scanned: Scanned, scanner: Scanner, file: str, number: int, decoding: Decoding
    ) -> "Lines":
        """The lines with what pyoxigraph says of the odd ones."""
        problems: dict[int, str] = {}
        found = scanned.statements
        for row in scanned.odd_rows():
            said = said_by(_line(scanned.line(row), decoding), decoding)
            if said is None:
                found.graph[row] = SKIPPED
                continue
            if said.fact is not None:
                scanner.resolve(scanned, row, said.fact)
            else:
                found.subject[row] = PROBLEM
                problems[row] = str(said.problem)
            found.graph[row] = _code(scanned, said.graph) if said.decides else UNDECIDED
        return cls(scanned, problems, file, number, decoding)

    def place(self, row: int) -> str:
        """Where a line stands."""
        return f"{self.file}:{self.number + int(self.scanned.statements.number[row])}"

    def end_of_run(self, row: int, graph: Term | None) -> int:
        """The first row, from one on, that does not continue a run of a graph."""
        graphs = self.scanned.statements.graph[row : self.scanned.rows]
        code = _code(self.scanned, graph)
        ends = np.flatnonzero((graphs != code) & (graphs != UNDECIDED) & (graphs != SKIPPED))
        return row + int(ends[0]) if len(ends) else self.scanned.rows

    def undecided(self, row: int) -> tuple[int, list[Rejected]]:
        """The first row, from one on, of a known graph, where no run is open; what is before."""
        found = self.scanned.statements
        rejected: list[Rejected] = []
        while row < self.scanned.rows and found.graph[row] in (UNDECIDED, SKIPPED):
            if found.graph[row] == UNDECIDED:
                line = self._kept(row)
                rejected.append(Rejected(self.place(row), line, self.problems[row]))
            row += 1
        return row, rejected

    def runs(self, row: int) -> tuple[Runs, int]:
        """The runs from a row on, and how many there are."""
        runs = runs_for(self.scanned.rows - row)
        return runs, find_runs(self.scanned.statements, row, self.scanned.rows, runs)

    def run(self, first: int, last: int) -> Run:
        """Some rows, the first of which is of a known graph, as a run."""
        run = Run(self._graph(first), self.place(first), self.decoding)
        self.enter(run, first, last)
        return run

    def enter(self, run: Run, first: int, last: int) -> None:
        """Let a run take some rows."""
        graphs = self.scanned.statements.graph
        for row in range(first, last + 1):
            if graphs[row] == SKIPPED:
                continue
            if row in self.problems:
                run.spoil(self.place(row), self.problems[row], self._kept(row))
            elif not run.too_long:
                run.add(self.scanned.fact(row), self.scanned.line(row))

    def found(self, runs: Runs, count: int, scanner: Scanner) -> Found:
        """The outcomes of the first so many runs."""
        is_event = (
            (runs.is_clean[:count] == 1)
            & (runs.graph[:count] >= 0)
            & (runs.size[:count] <= self.decoding.longest)
        )
        others: dict[int, Rejected] = {}
        for run in np.flatnonzero(~is_event).tolist():
            outcome = self.run(int(runs.first[run]), int(runs.last[run])).outcome()
            assert isinstance(outcome, Rejected)
            others[run] = outcome
        chosen = np.flatnonzero(is_event)
        graphs, problems = timed(self._graphs(runs, chosen), self.decoding)
        if problems:
            for row, reason in problems.items():
                others[int(chosen[row])] = Rejected(graphs.place(row), graphs.raw(row), reason)
            good = np.setdiff1d(np.arange(len(chosen)), list(problems))
            graphs, chosen = graphs.at(good), chosen[good]
        is_kept = scanner.is_kept(self.scanned, graphs.facts.property)
        if is_kept is not None:
            graphs = graphs.with_facts(is_kept)
        order = sorted(others)
        before = np.searchsorted(chosen, order).tolist()
        return Found(graphs, [(row, others[run]) for row, run in zip(before, order, strict=True)])

    def _graphs(self, runs: Runs, chosen: Int64) -> Graphs:
        found, dictionary, rows = (
            self.scanned.statements,
            self.scanned.dictionary,
            self.scanned.rows,
        )
        firsts, lasts = runs.first[chosen], runs.last[chosen]
        lengths = lasts - firsts + 1
        out = encoded_for(len(chosen), int(lengths.sum()))
        work = work_for(len(dictionary), int(lengths.max(initial=1)))
        encode(found, runs, chosen, len(dictionary), dictionary.table.marks, work, out)
        facts, blanks = out.counts[[FACTS, BLANKS]].tolist()
        columns = FactColumns(
            terms=ScopedTerms(dictionary, len(dictionary), out.label[:blanks].copy()),
            subject=out.subject[:facts],
            property=out.property[:facts],
            object=out.object[:facts],
            origin=np.full(facts, RAW, np.int32),
            offsets=out.offsets,
        )
        sources = Sources(
            self.file,
            self.scanned.data,
            found.start[:rows],
            found.end[:rows],
            self.number + found.number[:rows].astype(np.int64),
            found.graph[:rows] != SKIPPED,
            firsts,
            lasts,
            runs.size[chosen],
        )
        return Graphs(columns, out.graph, out.home, self.decoding.now, None, sources)

    def _graph(self, row: int) -> Term | None:
        code = int(self.scanned.statements.graph[row])
        return None if code == DEFAULT else self.scanned.dictionary.term(code)

    def _kept(self, row: int) -> bytes:
        """What is kept of a line in which something is wrong."""
        return _line(self.scanned.line(row), self.decoding).data


def _code(scanned: Scanned, graph: Term | None) -> int:
    return DEFAULT if graph is None else scanned.dictionary.code(graph)


def _line(data: bytes, decoding: Decoding) -> Line:
    """The line as a reader of lines gives it, of one that is too long its ends only."""
    if len(data) <= decoding.longest:
        return Line(0, data)
    # Behind another line, since a file's first may have a byte order mark.
    file = io.BytesIO(b"\n" + data + b"\n")
    (line,) = lines_in(file, 1, 2, longest=decoding.longest)
    return line
