"""Tokens of N-Triples and N-Quads in bytes: where they end.

Ends are found eight bytes at a time, and without a close look at what stands between: whether a
token is well formed is `nquads_canonical`'s matter. What is followed by something unusual is odd.
Cost: linear.
"""

import numpy as np

from sensewire.events.nquads_iris import is_digit, is_letter
from sensewire.events.scanning import Bytes, Register, block, compiled, first_byte, inlined

ODD = -1
"""Instead of an end: the token is to be read in another way."""

_QUOTE, _BACKSLASH, _OPEN, _CLOSE = ord('"'), ord("\\"), ord("<"), ord(">")
_ONES = np.uint64(0x0101010101010101)
_HIGHEST = np.uint64(0x8080808080808080)
_QUOTES = np.uint64(0x2222222222222222)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
_CLOSES = np.uint64(0x3E3E3E3E3E3E3E3E)
_SPACES = np.uint64(0x2020202020202020)
_AFTER_SPACES = np.uint64(0x2121212121212121)
_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)


@inlined
def iri_end(data: Bytes, start: int) -> int:
    """The end of the token `<…>` that starts at a place; ODD where a blank comes before its `>`."""
    at = start + 1
    flags = _closing(block(data, at))
    while flags == 0:
        at += 8
        flags = _closing(block(data, at))
    at += first_byte(flags)
    return at + 1 if data[at] == _CLOSE else ODD


@inlined
def _closing(bits: Register) -> Register:
    """Flags: the first byte of a block that is flagged is the first `>`, blank or control."""
    closes = bits ^ _CLOSES
    return (((closes - _ONES) & ~closes) | ((bits - _AFTER_SPACES) & ~bits)) & _HIGHEST


@inlined
def label_end(data: Bytes, start: int) -> int:
    """The end of the token `_:…` that starts at a place, if a blank follows; else ODD."""
    at = start + 2
    if data[start + 1] != ord(":") or data[at] == ord("-") or data[at] == ord("."):
        return ODD
    while is_letter(data[at]) or is_digit(data[at]) or data[at] == ord("_"):
        at += 1
        while data[at] == ord("-") or data[at] == ord("."):
            at += 1
    is_ended = at > start + 2 and (data[at] == ord(" ") or data[at] == ord("\t"))
    return at if is_ended and data[at - 1] != ord(".") else ODD


@inlined
def literal_end(data: Bytes, start: int, end: int) -> int:
    """The end of the literal that starts at a place, with its language or datatype; or ODD."""
    at = quote_after(data, start + 1, end)
    if at < 0:
        return ODD
    at += 1
    if data[at] == ord("^"):
        return iri_end(data, at + 2) if data[at + 1] == ord("^") and data[at + 2] == _OPEN else ODD
    if data[at] == ord("@"):
        at += 1
        while is_letter(data[at]) or is_digit(data[at]) or data[at] == ord("-"):
            at += 1
        return at if data[at] == ord(" ") or data[at] == ord("\t") else ODD
    return at


@inlined
def quote_after(data: Bytes, start: int, end: int) -> int:
    """Where the next quote without a backslash stands, in the same line; or ODD."""
    at = start
    while at < end:
        bits = block(data, at)
        quotes, backslashes = bits ^ _QUOTES, bits ^ _BACKSLASHES
        flags = (
            ((quotes - _ONES) & ~quotes)
            | ((backslashes - _ONES) & ~backslashes)
            | ((bits - _SPACES) & ~bits)
        ) & _HIGHEST
        if flags == 0:
            at += 8
            continue
        at += first_byte(flags)
        byte = data[at]
        if byte == _QUOTE:
            return at
        if byte == _BACKSLASH:
            at += 2 if data[at + 1] > 0x20 else end
        elif byte == ord("\n") or byte == ord("\r"):
            return ODD
        else:
            at += 1
    return ODD


@compiled
def line_end(data: Bytes, start: int, end: int) -> int:
    """Where the next `\\n` stands; `end` if there is none before."""
    at = start
    while at < end:
        newlines = block(data, at) ^ _NEWLINES
        flags = (newlines - _ONES) & ~newlines & _HIGHEST
        if flags:
            return min(at + first_byte(flags), end)
        at += 8
    return end
