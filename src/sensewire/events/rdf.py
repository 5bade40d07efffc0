"""RDF as events: N-Quads and TriG by their named graphs, any other syntax one document an event.

N-Quads is read line by line, in bounded memory: a bad line spoils its own event only. Files are
read by `nquads_in`, which says the same, and asks here about lines that are unusual. A part of a
file gives the events that start in it:

    g1  g1 ┆ g1  g2  g2 ┆ g2  g2 ┆ g2  g3        parts ┆ give: g1; g2; nothing; g3

TriG is read as a document; what stands before an error stays, whole graphs only. What is wrong with
RDF and what is refused (DTDs, remote contexts) is `model.rdf`'s matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.lines import BrokenOff, Line, first_start, lines_in, starts_before
from sensewire.events.runs import Run
from sensewire.model import rdf
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact
from sensewire.model.terms import Term, blank, iri

_GRAPH_AT_END = re.compile(r"""(?:<([^<>"{}|^`\\\s]+)>|_:([\w.-]*[\w-]))\s*\.?\s*$""")

_LINE_1 = re.compile(r"Parser error at line 1 | \(line 1\)$")

# What may hold a brace that is none: comments, IRIs, strings, escaped characters of names.
_TRIG_TOKEN = re.compile(
    r"""#[^\n]*|<[^<>"{}|^`\s]*>|\\.|[{}]"""
    r'''|\"""(?:[^\\]|\\.)*?\"""|"(?:[^"\\\n]|\\.)*"'''
    r"""|\'''(?:[^\\]|\\.)*?\'''|'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Running:
    """That a run is open where reading begins, and of which graph (None: the default one)."""

    graph: Term | None


def nquads(
    lines: Iterable[Line],
    file: str,
    decoding: Decoding,
    *,
    running: Running | None = None,
    later: Callable[[int], Iterable[Line]] = lambda number: (),
) -> Iterator[Outcome]:
    """The events of N-Quads lines: one for each unbroken run of one named graph's quads.

    Of a part of a file: the runs that start in it. What continues the run that is `running` where
    the part begins is passed over; `later` gives the lines that follow it, from a number on, which
    are read until the part's last run ends.
    """
    run: Run | None = None
    number = 0
    try:
        for line in lines:
            number = line.number
            said = said_by(line, decoding)
            if said is None or (running is not None and said.continues(running.graph)):
                continue
            running = None
            place = f"{file}:{line.number}"
            if run is None and not said.decides:
                yield Rejected(place, line.data, str(said.problem))
                continue
            if run is None or not said.continues(run.graph):
                if run is not None:
                    yield run.outcome()
                run = Run(said.graph, place, decoding)
            said.enter(run, place, line.data)
        for line in later(number + 1) if run is not None else ():
            said = said_by(line, decoding)
            if said is not None and run is not None:
                if not said.continues(run.graph):
                    break
                said.enter(run, f"{file}:{line.number}", line.data)
    except BrokenOff as broken:
        place = f"{file}:{broken.number}"
        if run is not None:
            run.spoil(place, "its file breaks off here, so it may lack facts", broken.data)
            yield run.outcome()
        yield Rejected(place, broken.data, broken.reason)
        return
    if run is not None:
        yield run.outcome()


def running_before(file: BinaryIO, start: int, end: int, decoding: Decoding) -> Running | None:
    """The run that is open where a part of a file begins; None where nothing before is in a run.

    Read backwards to the last line that decides: a statement, or a bad line that names its graph.
    """
    first = first_start(file, start, end)
    for position in starts_before(file, first) if first < end else ():
        (line,) = lines_in(file, position, position + 1, longest=decoding.longest)
        said = said_by(line, decoding)
        if said is not None and said.decides:
            return Running(said.graph)
    return None


def trig(
    raw: bytes, file: str, decoding: Decoding, *, broken: str | None = None
) -> Iterator[Outcome]:
    """The events of a TriG document, up to its first error; what is broken is rejected with it.

    `broken` says why this is only the beginning of the document, where it is: then the last event
    may lack facts, and is rejected too.
    """
    whole = raw if broken is None else _whole_blocks(raw)
    try:
        statements = list(rdf.quads(whole, "trig"))
    except EventError as error:
        yield from _up_to(error, whole, file, decoding)
    else:
        runs = list(_runs(statements, file, decoding))
        if runs and broken is not None:
            runs[-1].spoil(file, "its file breaks off, so it may lack facts", b"")
        yield from (run.outcome() for run in runs)
    if broken is not None:
        line = raw.count(b"\n") + 1
        rest = raw[len(whole) :][: min(decoding.longest, KEPT_OF_LONG)]
        yield Rejected(f"{file}:{line}", rest, broken)


def document(raw: bytes, format: str, file: str, id: str, decoding: Decoding) -> Outcome:
    """A document in any syntax as one event, with the id given."""
    try:
        event = Event.rdf(raw, format, id=id, time=decoding.now)
        time = decoding.time_in(event.facts, event.home)
    except EventError as error:
        return Rejected(f"{file}:{_position(error)[0]}", raw, str(error))
    return Decoded(f"{file}:1", raw, Event(id, time, event.facts, event.home))


@dataclass(frozen=True, slots=True)
class Said:
    """What a line says: a fact of a graph; or a problem, perhaps of a graph that it names."""

    graph: Term | None
    decides: bool  # whether it is known of which graph the line is
    fact: Fact | None = None
    problem: str | None = None

    def continues(self, graph: Term | None) -> bool:
        """Whether the line belongs to a run of a graph that is open where it stands."""
        return not self.decides or self.graph == graph

    def enter(self, run: Run, place: str, raw: bytes) -> None:
        if self.fact is not None:
            run.add(self.fact, raw)
        else:
            run.spoil(place, str(self.problem), raw)


def said_by(line: Line, decoding: Decoding) -> Said | None:
    """What a line says; None where it is empty, or a comment."""
    if line.is_empty or line.data.lstrip().startswith(b"#"):
        return None
    try:
        graph, fact = _statement(line, decoding)
    except EventError as error:
        named = _graph_at_end(line)
        return Said(named, named is not None, problem=str(error))
    return Said(graph, True, fact)


def _statement(line: Line, decoding: Decoding) -> tuple[Term | None, Fact]:
    if line.too_long:
        raise EventError(f"a line {too_long(decoding.longest, len(line.data))}")
    try:
        statements = list(rdf.quads(line.data, "nq"))
    except EventError as error:
        # The parser saw one line only, and calls it line 1.
        raise EventError(_LINE_1.sub("", str(error))) from None
    if len(statements) != 1:
        raise EventError(f"broken N-Quads: {len(statements)} statements on a line, not 1")
    graph, triple = statements[0]
    return graph, Fact(*triple)


def _graph_at_end(line: Line) -> Term | None:
    """The graph that a bad line names at its end, where that much can be read."""
    text = (line.tail if line.too_long else line.data).decode(errors="replace")
    found = _GRAPH_AT_END.search(text)
    if found is None:
        return None
    return iri(found[1]) if found[1] else blank(found[2])


def _position(error: EventError) -> tuple[int, int]:
    """The line and column of a syntax error, from 1; (1, 1) of any other error."""
    cause = error.__context__
    if isinstance(cause, SyntaxError):
        return cause.lineno or 1, cause.offset or 1
    return 1, 1


def _up_to(error: EventError, raw: bytes, file: str, decoding: Decoding) -> Iterator[Outcome]:
    """What stands whole before the error of a TriG document, then what is rejected for it.

    The graph in which the error is may have begun in a block before: then that event lacks facts,
    and is rejected too.
    """
    text = raw.decode("utf-8-sig", errors="replace")
    line, column = _position(error)
    whole, inside = _blocks(text, _offset(text, line, column))
    place = f"{file}:{line}"
    try:
        runs = list(_runs(rdf.quads(text[:whole], "trig"), file, decoding))
    except EventError:
        runs, whole = [], 0
    if runs and inside is not None and runs[-1].graph == _graph_of_block(text[:inside]):
        runs[-1].spoil(place, "a later block of this graph is broken", b"")
    yield from (run.outcome() for run in runs)
    first = text.count("\n", 0, whole) + 1
    rest = text[whole:].encode()[: decoding.longest]
    yield Rejected(place, rest, f"{error}; what follows line {first} is not read")


def _runs(
    statements: Iterable[tuple[Term | None, rdf.Triple]], file: str, decoding: Decoding
) -> Iterator[Run]:
    run: Run | None = None
    for graph, triple in statements:
        if run is None or run.graph != graph:
            if run is not None:
                yield run
            run = Run(graph, file, decoding)
        run.add(Fact(*triple), _nquad(triple, graph))
    if run is not None:
        yield run


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column - 1


def _blocks(text: str, end: int) -> tuple[int, int | None]:
    """Where the last whole block before `end` ends, and where the one around `end` opens."""
    whole, depth, inside = 0, 0, None
    for token in _TRIG_TOKEN.finditer(text, 0, end):
        if token[0] == "{":
            depth += 1
            inside = token.end() if depth == 1 else inside
        elif token[0] == "}":
            depth -= 1
            whole, inside = (token.end(), None) if depth == 0 else (whole, inside)
    return whole, inside


def _whole_blocks(raw: bytes) -> bytes:
    """The beginning of a document, up to the end of its last whole block."""
    text = raw.decode("utf-8-sig", errors="ignore")  # a character may be cut in two
    return text[: _blocks(text, len(text))[0]].encode()


def _graph_of_block(opened: str) -> Term | None:
    """The graph of the block that a text has opened: that of a statement put into it."""
    probe = "<urn:x> <urn:x> <urn:x> }"
    try:
        return list(rdf.quads(opened + probe, "trig"))[-1][0]
    except EventError:
        return None


def _nquad(triple: tuple[Term, Term, Term], graph: Term | None) -> bytes:
    terms = triple if graph is None else (*triple, graph)
    return (" ".join(map(str, terms)) + " .").encode()
