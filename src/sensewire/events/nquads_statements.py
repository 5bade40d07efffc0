"""From lines of N-Triples or N-Quads to statements as codes: one pass over the bytes.

    <http://x/s> <http://x/p> "o"@en <http://x/g> . # so
    │            │            │      │              └ ASCII only
    subject      property     object graph, or DEFAULT

A line is a statement, or empty, or a comment; or it is ODD, whatever is wrong or unusual in it, and
whoever called reads it in another way. Where the table or the columns are full, the pass stops
before the line, and goes on there when there is room. A line's subject and graph are compared with
those of the line before first, since most are the same. Cost: linear in the bytes.

The data ends with a line's end, and `PADDING` bytes follow, so that every loop over bytes ends.
"""

from typing import NamedTuple

import numpy as np

from sensewire.events import nquads_tokens
from sensewire.events.nquads_table import (
    FULL,
    MET,
    TermTable,
    code_of,
    lent_terms,
)
from sensewire.events.nquads_tokens import iri_end, label_end, line_end, literal_end
from sensewire.events.scanning import Bytes, Int32, Int64, Register, compiled, inlined, lent
from sensewire.events.scanning_table import are_same

DEFAULT, ODD = -1, -2
"""Instead of a graph's code: the default graph; a line that is to be read in another way."""
AT, NUMBER, ROWS, METS, OUTCOME, SIZE = 0, 1, 2, 3, 4, 5
"""Places in `Statements.counts`."""
DONE, NO_ROOM_FOR_ROWS, NO_ROOM_FOR_TERMS = 0, 1, 2
MOST_METS = 256

_SPACE, _TAB, _NEWLINE, _RETURN = ord(" "), ord("\t"), ord("\n"), ord("\r")
_OPEN, _UNDERSCORE, _QUOTE = ord("<"), ord("_"), ord('"')


class Statements(NamedTuple):
    """The columns of the statements, longer than those that were found."""

    subject: Int32
    property: Int32
    object: Int32
    graph: Int32
    start: Int32  # of the line, and its end, in the bytes
    end: Int32
    number: Int32  # of the line, the first of the bytes being 0
    met: Int32  # codes of properties that were met for the first time
    counts: Int64  # [place in the bytes, lines, statements, properties met, outcome, bytes needed]


def statements_for(rows: int) -> Statements:
    """Columns with room for so many statements."""
    return Statements(
        subject=np.empty(rows, np.int32),
        property=np.empty(rows, np.int32),
        object=np.empty(rows, np.int32),
        graph=np.empty(rows, np.int32),
        start=np.empty(rows, np.int32),
        end=np.empty(rows, np.int32),
        number=np.empty(rows, np.int32),
        met=np.empty(MOST_METS, np.int32),
        counts=np.zeros(6, np.int64),
    )


def doubled(found: Statements) -> Statements:
    """The same statements, with room for as many again."""
    rows = len(found.subject)
    larger = statements_for(2 * rows)
    for wide, column in zip(larger[:7], found[:7], strict=True):
        wide[:rows] = column
    larger.met[:] = found.met
    larger.counts[:] = found.counts
    return larger


@inlined
def lent_statements(found: Statements) -> Statements:
    """The columns, for kernels."""
    return Statements(
        lent(found.subject),
        lent(found.property),
        lent(found.object),
        lent(found.graph),
        lent(found.start),
        lent(found.end),
        lent(found.number),
        lent(found.met),
        lent(found.counts),
    )


@compiled
def scan_statements(
    bytes: Bytes,
    stop: int,
    longest: int,
    has_graphs: bool,
    table: TermTable,
    statements: Statements,
    buffer: Bytes,
) -> None:
    """Scan lines, from where `counts` says, up to bytes[stop]; `counts` says how far it came."""
    data, out = lent(bytes), lent(buffer)
    terms, found = lent_terms(table), lent_statements(statements)
    at: Register = found.counts[AT]
    number: Register = found.counts[NUMBER]
    row: Register = found.counts[ROWS]
    mets: Register = found.counts[METS]
    room = len(statements.subject)
    size: Register = np.int64(0)
    # The tokens of the line before; no token has no bytes.
    subject_start: Register = np.int64(0)
    subject_size: Register = np.int64(0)
    graph_start: Register = np.int64(0)
    graph_size: Register = np.int64(0)
    subject: Register = np.int64(0)
    graph: Register = np.int64(0)
    outcome = DONE
    while at < stop:
        line = at
        if row == room:
            outcome = NO_ROOM_FOR_ROWS
            break
        at = _blanks_end(data, at)
        if data[at] == _NEWLINE or (data[at] == _RETURN and data[at + 1] == _NEWLINE):
            at += 1 if data[at] == _NEWLINE else 2
            number += 1
            continue
        if data[at] == ord("#"):
            at = line_end(data, at, stop) + 1
            number += 1
            continue
        code: Register = np.int64(nquads_tokens.ODD)
        property: Register = np.int64(0)
        value: Register = np.int64(0)
        # 1. The subject.
        if _is_again(data, subject_start, at, subject_size):
            code = subject
            token_end = at + subject_size
        else:
            token_end = _node_end(data, at)
            if token_end >= 0:
                code = code_of(terms, data, at, token_end, out)
                if code >= 0:
                    subject = code
                    subject_start = at
                    subject_size = token_end - at
        size = token_end - at
        # 2. The property.
        if code >= 0:
            at = _blanks_end(data, token_end)
            code = np.int64(nquads_tokens.ODD)
            token_end = iri_end(data, at) if data[at] == _OPEN else nquads_tokens.ODD
            size = token_end - at
            if token_end >= 0:
                code = code_of(terms, data, at, token_end, out)
                property = code
                if code >= 0 and not terms.marks[code] & MET:
                    if mets == MOST_METS:
                        outcome = NO_ROOM_FOR_ROWS
                        at = line
                        break
                    terms.marks[code] |= MET
                    found.met[mets] = code
                    mets += 1
        # 3. The object.
        if code >= 0:
            at = _blanks_end(data, token_end)
            code = np.int64(nquads_tokens.ODD)
            if data[at] == _QUOTE:
                token_end = literal_end(data, at, stop)
            else:
                token_end = _node_end(data, at)
            size = token_end - at
            if token_end >= 0:
                code = code_of(terms, data, at, token_end, out)
                value = code
        # 4. The graph.
        name: Register = np.int64(DEFAULT)
        if code >= 0:
            at = _blanks_end(data, token_end)
            if has_graphs and data[at] != ord("."):
                if _is_again(data, graph_start, at, graph_size):
                    code = graph
                    token_end = at + graph_size
                else:
                    code = np.int64(nquads_tokens.ODD)
                    token_end = _node_end(data, at)
                    size = token_end - at
                    if token_end >= 0:
                        code = code_of(terms, data, at, token_end, out)
                        if code >= 0:
                            graph = code
                            graph_start = at
                            graph_size = token_end - at
                name = code
                at = _blanks_end(data, token_end) if code >= 0 else at
        if code == FULL:
            outcome = NO_ROOM_FOR_TERMS
            at = line
            break
        # 5. The end of the line.
        newline: Register = np.int64(-1)
        if code >= 0 and data[at] == ord("."):
            newline = _rest_end(data, at + 1)
        is_odd = newline < 0
        if is_odd:
            newline = line_end(data, line, stop)
        end = newline - 1 if newline > line and data[newline - 1] == _RETURN else newline
        is_odd = is_odd or end - line > longest
        found.subject[row] = subject
        found.property[row] = property
        found.object[row] = value
        found.graph[row] = ODD if is_odd else name
        found.start[row] = line
        found.end[row] = end
        found.number[row] = number
        row += 1
        at = newline + 1
        number += 1
    found.counts[AT] = at
    found.counts[NUMBER] = number
    found.counts[ROWS] = row
    found.counts[METS] = mets
    found.counts[OUTCOME] = outcome
    found.counts[SIZE] = size


@inlined
def _is_again(data: Bytes, before: int, at: int, size: int) -> bool:
    """Whether the token that stood before, of so many bytes, stands at a place again."""
    return bool(
        size > 0
        and are_same(data, before, data, at, size)
        and (data[at] == _OPEN or _is_blank(data[at + size]))
    )


@inlined
def _is_blank(byte: int) -> bool:
    return bool(byte in (_SPACE, _TAB))


@inlined
def _blanks_end(data: Bytes, start: int) -> int:
    at = start
    while _is_blank(data[at]):
        at += 1
    return at


@inlined
def _node_end(data: Bytes, at: int) -> Register:
    """The end of an IRI or the label of a blank node; or ODD."""
    if data[at] == _OPEN:
        return np.int64(iri_end(data, at))
    if data[at] == _UNDERSCORE:
        return np.int64(label_end(data, at))
    return np.int64(nquads_tokens.ODD)


@inlined
def _rest_end(data: Bytes, start: int) -> Register:
    """The line's end, where only blanks stand before it, or a comment in ASCII; or less than 0."""
    at = _blanks_end(data, start)
    if data[at] == ord("#"):
        while _is_blank(data[at]) or 0x20 < data[at] < 0x7F:
            at += 1
    if data[at] == _RETURN:
        at += 1
    return np.int64(at) if data[at] == _NEWLINE else np.int64(-1)
