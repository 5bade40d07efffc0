"""Strings of JSON in bytes: where they end, whether they are well formed, what they write.

Eight bytes at a time while nothing happens: neither a quote nor a backslash, no control character,
nothing beyond ASCII. Otherwise byte by byte, with UTF-8 as RFC 3629 has it (no overlong forms, no
surrogates, nothing beyond U+10FFFF) and escapes as RFC 8259 has them, halves of surrogate pairs
refused. Cost: linear.
"""

import numpy as np

from sensewire.events.scanning import Bytes, Register, block, compiled, first_byte, inlined

BAD = -1
PLAIN, ESCAPED = 0, 1
LONG_RUN = 19
"""So many digits in a row, and the plain decoder reads a text in another way."""

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_QUOTES = np.uint64(0x2222222222222222)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
_SPACES = np.uint64(0x2020202020202020)
_ONES = np.uint64(0x0101010101010101)
_HIGHEST = np.uint64(0x8080808080808080)


@inlined
def special(bits: Register) -> Register:
    """Flags: the first byte of a block that is flagged is the first that is no plain character.

    Bytes behind it may be flagged without reason: subtracting borrows from them.
    """
    quotes = bits ^ _QUOTES
    backslashes = bits ^ _BACKSLASHES
    return (
        ((quotes - _ONES) & ~quotes)
        | ((backslashes - _ONES) & ~backslashes)
        | ((bits - _SPACES) & ~bits)
        | bits
    ) & _HIGHEST


@compiled
def string_end(data: Bytes, start: int, end: int) -> tuple[int, int]:
    """Where the string ends whose first byte is data[start], and whether it has escapes.

    The place of its closing quote, before `end`; BAD for one that is not well formed.
    """
    at = start
    form = PLAIN
    has_codes = False
    while at < end:
        flags = special(block(data, at))
        if flags == 0:
            at += 8
            continue
        at += first_byte(flags)
        byte = data[at]
        if byte == _QUOTE:
            if at >= end or (has_codes and _has_long_run(data, start, at)):
                return BAD, form
            return at, form
        if byte == _BACKSLASH:
            form = ESCAPED
            has_codes |= data[at + 1] == ord("u")
            at = _escape_end(data, at)
        elif byte < 0x20:
            return BAD, form
        else:
            at = character_end(data, at)
        if at < 0:
            return BAD, form
    return BAD, form


@compiled
def character_end(data: Bytes, at: int) -> int:
    """The end of a character of two to four bytes of UTF-8, or BAD."""
    first, second = data[at], data[at + 1]
    if (second & 0xC0) != 0x80:
        return BAD
    if 0xC2 <= first <= 0xDF:
        return at + 2
    if (data[at + 2] & 0xC0) != 0x80:
        return BAD
    if 0xE0 <= first <= 0xEF:
        overlong = first == 0xE0 and second < 0xA0
        surrogate = first == 0xED and second > 0x9F
        return BAD if overlong or surrogate else at + 3
    if (data[at + 3] & 0xC0) != 0x80 or not 0xF0 <= first <= 0xF4:
        return BAD
    overlong = first == 0xF0 and second < 0x90
    beyond = first == 0xF4 and second > 0x8F
    return BAD if overlong or beyond else at + 4


@compiled
def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether data[start:end] is UTF-8."""
    at = start
    while at < end:
        flags = block(data, at) & _HIGHEST
        if flags == 0:
            at += 8
            continue
        at += first_byte(flags)
        if at >= end:
            return True
        at = character_end(data, at)
        if at < 0 or at > end:
            return False
    return True


@inlined
def _hexadecimal(data: Bytes, at: int) -> Register:
    """The number that four hexadecimal digits write, or BAD."""
    number = np.int64(0)
    for index in range(4):
        byte = np.int64(data[at + index])
        if ord("0") <= byte <= ord("9"):
            digit = byte - ord("0")
        elif ord("a") <= (byte | 0x20) <= ord("f"):
            digit = (byte | 0x20) - ord("a") + 10
        else:
            return BAD
        number = number * 16 + digit
    return number


@compiled
def _escape_end(data: Bytes, at: int) -> int:
    """The end of the escape at a backslash, a surrogate pair being one; or BAD."""
    byte = data[at + 1]
    if byte != ord("u"):
        for letter in b'"\\/bfnrt':
            if byte == letter:
                return at + 2
        return BAD
    code = _hexadecimal(data, at + 2)
    if code < 0 or 0xDC00 <= code <= 0xDFFF:
        return BAD
    if not 0xD800 <= code <= 0xDBFF:
        return at + 6
    if data[at + 6] != _BACKSLASH or data[at + 7] != ord("u"):
        return BAD
    low = _hexadecimal(data, at + 8)
    return at + 12 if 0xDC00 <= low <= 0xDFFF else BAD


@compiled
def _has_long_run(data: Bytes, start: int, end: int) -> bool:
    """Whether so many digits stand in a row, those of escapes counted, that readers differ."""
    run = 0
    for at in range(start, end):
        run = run + 1 if ord("0") <= data[at] <= ord("9") else 0
        if run >= LONG_RUN:
            return True
    return False


@compiled
def unescaped(data: Bytes, start: int, end: int, out: Bytes) -> int:
    """Write what a well-formed string with escapes stands for; how many bytes that is."""
    at, size = start, 0
    while at < end:
        byte = data[at]
        if byte != _BACKSLASH:
            out[size] = byte
            at += 1
            size += 1
            continue
        letter = data[at + 1]
        if letter == ord("u"):
            code = _hexadecimal(data, at + 2)
            at += 6
            if 0xD800 <= code <= 0xDBFF:
                code = 0x10000 + ((code - 0xD800) << 10) + _hexadecimal(data, at + 2) - 0xDC00
                at += 6
            size = put_character(code, out, size)
            continue
        if letter == ord("b"):
            letter = np.uint8(8)
        elif letter == ord("f"):
            letter = np.uint8(12)
        elif letter == ord("n"):
            letter = np.uint8(10)
        elif letter == ord("r"):
            letter = np.uint8(13)
        elif letter == ord("t"):
            letter = np.uint8(9)
        out[size] = letter
        at += 2
        size += 1
    return size


@inlined
def put_character(code: Register, out: Bytes, size: int) -> int:
    """Write a character as UTF-8; where the next one goes."""
    if code < 0x80:
        out[size] = code
        return size + 1
    if code < 0x800:
        out[size] = 0xC0 | (code >> 6)
        out[size + 1] = 0x80 | (code & 0x3F)
        return size + 2
    if code < 0x10000:
        out[size] = 0xE0 | (code >> 12)
        out[size + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[size + 2] = 0x80 | (code & 0x3F)
        return size + 3
    out[size] = 0xF0 | (code >> 18)
    out[size + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[size + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[size + 3] = 0x80 | (code & 0x3F)
    return size + 4
