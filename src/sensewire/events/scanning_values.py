"""Values of JSON that are no objects and no lists, as facts hold them: kind, word, number.

    "laptop"   WORD, its number by the dictionary's table       12    INTEGER, 12.0
    true       WORD, the attribute's                             1.5   DOUBLE, 1.5
    null       NOTHING                                           2e18  written as an integer: WORD

A value of no attribute (−1) is only checked to be JSON. Cost: linear in the bytes.
"""

from typing import NamedTuple

import numpy as np

from sensewire.events.scanning import (
    Bytes,
    Int32,
    Register,
    block,
    compiled,
    first_byte,
    inlined,
)
from sensewire.events.scanning_numbers import LONG_INTEGER, number
from sensewire.events.scanning_paths import Paths
from sensewire.events.scanning_table import (
    NOT_FOUND,
    Table,
    add,
    entry_of,
    first_bytes,
    has_room,
    hash_begun,
    hash_continued,
    hash_ended,
    hash_of,
)
from sensewire.events.scanning_text import ESCAPED, special, string_end, unescaped
from sensewire.model.facts import NO_WORD, UNSEEN, WORD

BAD = -1
FULL = -3
"""Instead of a word's number: there is no room for it."""
NOTHING = 9
STRINGS, INTEGERS = 0, 1
"""What a word's bytes write: the table's key is 2 × attribute + one of these."""

_QUOTE = ord('"')
_RUE = np.uint64(int.from_bytes(b"rue", "little"))
_ALSE = np.uint64(int.from_bytes(b"alse", "little"))
_ULL = np.uint64(int.from_bytes(b"ull", "little"))


class Wanted(NamedTuple):
    """What is looked for. By attribute: 1 if it is closed; the number of its word `true`."""

    paths: Paths
    closed: Bytes
    truths: Int32
    time: int  # the attribute that holds the time, −1 for none
    id: int  # the attribute that holds the id, −1 for none
    id_dots: int  # in its name: so deep does it stand, where each part of its path is a key


@inlined
def plain_end(data: Bytes, start: int, end: int, begun: Register) -> tuple[int, Register]:
    """The closing quote of a string in which nothing is special, else BAD; and its hash."""
    at = start
    hash = begun
    while at < end:
        bits = block(data, at)
        flags = special(bits)
        if flags:
            rest = first_byte(flags)
            at += rest
            if data[at] != _QUOTE or at >= end:
                return BAD, hash
            return at, hash_ended(hash, first_bytes(bits, rest), at - start)
        hash = hash_continued(hash, bits)
        at += 8
    return BAD, hash


@inlined
def _word(
    table: Table, key: int, adds: bool, hash: Register, data: Bytes, start: int, end: int
) -> Register:
    entry = entry_of(table, key, hash, data, start, end)
    if entry != NOT_FOUND:
        return entry
    if not adds:
        return UNSEEN
    if not has_room(table, end - start):
        return FULL
    return add(table, key, hash, data, start, end)


@compiled
def _string(
    data: Bytes, start: int, end: int, attribute: int, wanted: Wanted, table: Table, text: Bytes
) -> tuple[int, Register]:
    """The closing quote of a string, or BAD, and the number of its word."""
    key = 2 * attribute + STRINGS
    adds = wanted.closed[attribute] == 0
    close, hash = plain_end(data, start, end, hash_begun(table, key))
    if close >= 0:
        return close, _word(table, key, adds, hash, data, start, close)
    close, form = string_end(data, start, end)
    if close < 0:
        return BAD, NO_WORD
    if form == ESCAPED:
        size = unescaped(data, start, close, text)
        return close, _word(table, key, adds, hash_of(table, key, text, 0, size), text, 0, size)
    hash = hash_of(table, key, data, start, close)
    return close, _word(table, key, adds, hash, data, start, close)


@inlined
def _number(
    data: Bytes, start: int, attribute: int, table: Table
) -> tuple[int, int, Register, float]:
    end, kind, value = number(data, start)
    if end < 0 or kind != LONG_INTEGER:
        return end, kind, NO_WORD, value
    if attribute < 0:
        return end, WORD, NO_WORD, 0.0
    key = 2 * attribute + INTEGERS
    hash = hash_of(table, key, data, start, end)
    return end, WORD, _word(table, key, True, hash, data, start, end), 0.0


@inlined
def value_at(
    data: Bytes, at: int, end: int, attribute: int, wanted: Wanted, table: Table, text: Bytes
) -> tuple[int, int, Register, float]:
    """The end of a value, or BAD, and its kind, word and number. `text` is for strings' escapes."""
    byte = data[at]
    if byte == _QUOTE:
        if attribute < 0:
            close, _ = string_end(data, at + 1, end)
            word = NO_WORD
        else:
            close, word = _string(data, at + 1, end, attribute, wanted, table, text)
        return (close + 1 if close >= 0 else BAD), WORD, word, 0.0
    if byte == ord("t"):
        good = first_bytes(block(data, at + 1), 3) == _RUE
        word = wanted.truths[attribute] if attribute >= 0 else NO_WORD
        return (at + 4 if good else BAD), WORD, word, 0.0
    if byte == ord("f"):
        good = first_bytes(block(data, at + 1), 4) == _ALSE
        word = wanted.truths[attribute] + 1 if attribute >= 0 else NO_WORD
        return (at + 5 if good else BAD), WORD, word, 0.0
    if byte == ord("n"):
        good = first_bytes(block(data, at + 1), 3) == _ULL
        return (at + 4 if good else BAD), NOTHING, NO_WORD, 0.0
    return _number(data, at, attribute, table)
