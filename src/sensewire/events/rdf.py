"""RDF as events: N-Quads and TriG by their named graphs, any other syntax one document an event.

N-Quads is read line by line, in bounded memory: a bad line spoils its own event only. TriG is read
as a document; what stands before an error stays, whole graphs only. What is wrong with RDF and what
is refused (DTDs, remote contexts) is `model.rdf`'s matter.
"""

import re
from collections.abc import Iterable, Iterator

from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.lines import Line
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


def nquads(lines: Iterable[Line], file: str, decoding: Decoding) -> Iterator[Outcome]:
    """The events of N-Quads lines: one for each unbroken run of one named graph's quads."""
    run: Run | None = None
    for line in lines:
        if line.is_empty or line.data.lstrip().startswith(b"#"):
            continue
        place = f"{file}:{line.number}"
        try:
            graph, fact = _statement(line, decoding)
        except EventError as error:
            named = _graph_at_end(line)
            if named is None and run is None:
                yield Rejected(place, line.data, str(error))
                continue
            if run is None or (named is not None and named != run.graph):
                if run is not None:
                    yield run.outcome()
                run = Run(named, place, decoding)
            run.spoil(place, str(error), line.data)
            continue
        if run is None or run.graph != graph:
            if run is not None:
                yield run.outcome()
            run = Run(graph, place, decoding)
        run.add(fact, line.data)
    if run is not None:
        yield run.outcome()


def trig(raw: bytes, file: str, decoding: Decoding) -> Iterator[Outcome]:
    """The events of a TriG document, up to its first error; what is broken is rejected with it."""
    try:
        statements = list(rdf.quads(raw, "trig"))
    except EventError as error:
        yield from _up_to(error, raw, file, decoding)
    else:
        yield from (run.outcome() for run in _runs(statements, file, decoding))


def document(raw: bytes, format: str, file: str, id: str, decoding: Decoding) -> Outcome:
    """A document in any syntax as one event, with the id given."""
    try:
        event = Event.rdf(raw, format, id=id, time=decoding.now)
        time = decoding.time_in(event.facts, event.home)
    except EventError as error:
        return Rejected(f"{file}:{_position(error)[0]}", raw, str(error))
    return Decoded(f"{file}:1", raw, Event(id, time, event.facts, event.home))


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
