"""From lines of JSON to facts: one pass over the bytes, in which only known attributes are read.

    {"shop": {"name": "Zoe", "open": true}, "price": [9, 12.5], "note": {"by": ["x", {}]}}
     │       │                              │                   │
     key     object at the node .shop       list: its values    no node: what stands below is
                                            are .price's        checked to be JSON, and skipped

Open objects and lists stand on a stack; a list has the node of its object's key. A line is DONE;
or it is ODD: it holds something that this pass leaves to the plain decoder, or it is no JSON. Its
facts are taken back then, and the words that it added stay. Or there is no room for a fact or a
word: then whoever called makes room, and the line is scanned again. Cost: linear in the bytes.

Bytes past a line's end may be read, and cannot be told from its own; but a line that is DONE ended
with its last bracket, before them. Loops over bytes look where the line ends, or are short.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.events.scanning import (
    Bytes,
    Int64,
    Register,
    block,
    compiled,
    inlined,
    lent,
)
from sensewire.events.scanning_found import FACTS, OBJECTS, OUTCOME, ROOM, Found, lent_found
from sensewire.events.scanning_ids import id_span
from sensewire.events.scanning_paths import NOWHERE, TOP, below, lent_paths
from sensewire.events.scanning_table import Table, hash_begun, hash_of, lent_table
from sensewire.events.scanning_text import ESCAPED, string_end
from sensewire.events.scanning_times import is_plain_time
from sensewire.events.scanning_values import BAD, FULL, NOTHING, Wanted, plain_end, value_at
from sensewire.model.flatten import LONGEST_NAMES

DONE, ODD, NO_ROOM_FOR_FACTS, NO_ROOM_FOR_WORDS = 0, 1, 2, 3
"""What became of a line."""
DEEPEST = 64

_QUOTE, _COLON, _COMMA = ord('"'), ord(":"), ord(",")
_BRACE, _END_OF_OBJECT, _BRACKET = ord("{"), ord("}"), ord("[")
_SPECVERS = np.uint64(int.from_bytes(b"specvers", "little"))


class Work(NamedTuple):
    """What a scan writes on: its stack, where it last met each node, a string without escapes."""

    closing: Bytes  # the bracket that ends the object or list
    node: Int64
    length: Int64  # of its path, in bytes
    object: Int64  # its number, counted over all lines
    met_in: Int64  # node → the object in which its key stood last
    met_from: Int64  # node → that object's node
    text: Bytes


def work_for(nodes: int, longest: int) -> Work:
    """A place to work for so many nodes, and strings of so many bytes."""
    return Work(
        closing=np.zeros(DEEPEST, np.uint8),
        node=np.zeros(DEEPEST, np.int64),
        length=np.zeros(DEEPEST, np.int64),
        object=np.zeros(DEEPEST, np.int64),
        met_in=np.full(nodes, -1, np.int64),
        met_from=np.full(nodes, -1, np.int64),
        text=np.empty(longest, np.uint8),
    )


@compiled
def scan_lines(
    data: Bytes,
    starts: Int64,
    ends: Int64,
    begin: int,
    stop: int,
    wanted: Wanted,
    table: Table,
    found: Found,
    work: Work,
    odd: npt.NDArray[np.bool_],
    ids: Int64,
) -> int:
    """Scan lines `begin` to `stop` − 1; the number of the line that found no room, or `stop`.

    `ids` has two places a line, for where its id starts and ends: 0 and 0 unless it has one.
    """
    lent_wanted = Wanted(
        lent_paths(wanted.paths),
        lent(wanted.closed),
        lent(wanted.truths),
        wanted.time,
        wanted.id,
        wanted.id_dots,
    )
    spans = lent(ids)
    facts = lent_found(found)
    lent_work = Work(
        lent(work.closing),
        lent(work.node),
        lent(work.length),
        lent(work.object),
        lent(work.met_in),
        lent(work.met_from),
        lent(work.text),
    )
    text, words = lent(data), lent_table(table)
    for line in range(begin, stop):
        count = found.counts[FACTS]
        start, end = starts[line], ends[line]
        outcome = _scan_line(text, start, end, line, lent_wanted, words, facts, lent_work, spans)
        if outcome != DONE:
            found.counts[FACTS] = count
            found.counts[OUTCOME] = outcome
            if outcome != ODD:
                return line
            odd[line] = True
    return stop


@inlined
def _space_end(data: Bytes, start: int, end: int) -> int:
    at = start
    while data[at] <= 0x20 and at < end:
        byte = data[at]
        if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
            break
        at += 1
    return at


@inlined
def _is_specversion(data: Bytes, start: int, end: int) -> bool:
    """Whether a key is the one that makes an object a CloudEvent."""
    return bool(
        end - start == 11
        and block(data, start) == _SPECVERS
        and data[start + 8] == ord("i")
        and data[start + 9] == ord("o")
        and data[start + 10] == ord("n")
    )


@inlined
def _key(
    data: Bytes, start: int, end: int, depth: int, first: int, wanted: Wanted, work: Work
) -> tuple[int, Register]:
    """The closing quote of a key, BAD where it makes the line odd, and its node.

    `first` is the number of the line's first object.
    """
    parent = work.node[depth]
    if parent == NOWHERE:
        close, _ = string_end(data, start, end)
        return close, parent
    close, hash = plain_end(data, start, end, hash_begun(wanted.paths.met, parent))
    if close < 0:
        close, form = string_end(data, start, end)
        if close < 0 or form == ESCAPED:
            return BAD, parent
        hash = hash_of(wanted.paths.met, parent, data, start, close)
    if depth == 0 and _is_specversion(data, start, close):
        return BAD, parent
    node = below(wanted.paths, parent, hash, data, start, close)
    if node != NOWHERE:
        # A key that stands twice in an object, of which the last counts. Where one path is written
        # in two ways ("a.b" in an object, "b" in its "a") this cannot be told, and may be.
        object = work.object[depth]
        if work.met_in[node] >= first and (
            work.met_in[node] == object or work.met_from[node] != parent
        ):
            return BAD, node
        work.met_in[node] = object
        work.met_from[node] = parent
    return close, node


@compiled
def _scan_line(
    data: Bytes,
    start: int,
    end: int,
    line: int,
    wanted: Wanted,
    table: Table,
    found: Found,
    work: Work,
    ids: Int64,
) -> int:
    at = _space_end(data, start, end)
    if at >= end or data[at] != _BRACE:
        return ODD
    first = found.counts[OBJECTS]
    depth = -1
    node: Register = TOP
    length: Register = 0
    names = 0  # the lengths of all paths: the plain decoder has a bound on them
    has_time = False
    opens = True
    while True:
        # 1. An object or a list opens, where the last value was one.
        closes = False
        if opens:
            depth += 1
            if depth == DEEPEST:
                return ODD
            work.closing[depth] = data[at] + 2  # } for {, and ] for [
            work.node[depth] = node
            work.length[depth] = length
            work.object[depth] = found.counts[OBJECTS]
            found.counts[OBJECTS] += 1
            at = _space_end(data, at + 1, end)
            closes = data[at] == work.closing[depth]
            opens = False
        if not closes:
            # 2. The key, in an object.
            node = work.node[depth]
            length = work.length[depth]
            if work.closing[depth] == _END_OF_OBJECT:
                if data[at] != _QUOTE:
                    return ODD
                key = at + 1
                close, node = _key(data, key, end, depth, first, wanted, work)
                names += length
                length += close - key + 1
                if close < 0 or names > LONGEST_NAMES:
                    return ODD
                at = _space_end(data, close + 1, end)
                if data[at] != _COLON:
                    return ODD
                at = _space_end(data, at + 1, end)
            # 3. The value.
            if at >= end:
                return ODD
            if data[at] == _BRACE or data[at] == _BRACKET:
                opens = True
                continue
            attribute: Register = np.int64(-1)
            if node != NOWHERE:
                attribute = np.int64(wanted.paths.attribute[node])
            value_start = at
            at, kind, word, number = value_at(data, at, end, attribute, wanted, table, work.text)
            if at < 0:
                return ODD
            if attribute >= 0 and attribute == wanted.id:
                dots, closing = wanted.id_dots, work.closing
                id_start, id_end = id_span(data, value_start, at, kind, depth, dots, closing)
                if id_start < 0:
                    return ODD
                if id_end > id_start:
                    ids[2 * line] = id_start
                    ids[2 * line + 1] = id_end
            if attribute >= 0 and kind != NOTHING:
                if attribute == wanted.time:
                    if has_time or not is_plain_time(data, value_start, at):
                        return ODD
                    has_time = True
                fact = found.counts[FACTS]
                if word == FULL:
                    return NO_ROOM_FOR_WORDS
                if fact == found.counts[ROOM]:
                    return NO_ROOM_FOR_FACTS
                found.event[fact] = line
                found.attribute[fact] = attribute
                found.kind[fact] = kind
                found.word[fact] = word
                found.number[fact] = number
                found.counts[FACTS] = fact + 1
        # 4. Whatever ends here, up to the next comma.
        while True:
            if not closes:
                at = _space_end(data, at, end)
                if at >= end:
                    return ODD
                if data[at] == _COMMA:
                    at = _space_end(data, at + 1, end)
                    break
                if data[at] != work.closing[depth]:
                    return ODD
            closes = False
            at += 1
            depth -= 1
            if depth < 0:
                return DONE if at <= end and _space_end(data, at, end) >= end else ODD
