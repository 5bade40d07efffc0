"""The one token that stands for all tokens of N-Triples and N-Quads which write the same term.

    token as written                          canonical
    <http://x.org/\\u0061>                     <http://x.org/a>
    "\\u0041 \\"b\\"\\n"                          "A \\"b\\"\\n"
    "x"^^<…XMLSchema#string>  "x"@EN          "x"  "x"@en

The canonical token of a term is a token that writes it: equal terms have one, however they were
written, and others never have the same. Only quotes, backslashes and line ends are escaped in it,
so that it is never longer. Here is found whether a token is well formed. Cost: linear.
"""

import numpy as np

from sensewire.events.nquads_iris import is_digit, is_letter, is_usual_iri
from sensewire.events.nquads_tokens import ODD, quote_after
from sensewire.events.scanning import Bytes, Register, compiled, inlined
from sensewire.events.scanning_text import is_utf8, put_character

AS_WRITTEN = 0

_QUOTE, _BACKSLASH, _OPEN = ord('"'), ord("\\"), ord("<")
_STRING = b"http://www.w3.org/2001/XMLSchema#string"
_LANGUAGE = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_DIRECTED = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"


@compiled
def canonical(data: Bytes, start: int, end: int, out: Bytes) -> int:
    """Write the canonical token of a token; how many bytes that is.

    AS_WRITTEN, and nothing is written, where it is canonical itself; ODD where it is not certain
    that pyoxigraph takes it.
    """
    if data[start] == _OPEN:
        return _canonical_iri(data, start, end, out)
    if data[start] == _QUOTE:
        return _canonical_literal(data, start, end, out)
    return AS_WRITTEN


@compiled
def _canonical_iri(data: Bytes, start: int, end: int, out: Bytes) -> int:
    if not _has_backslash(data, start, end):
        return AS_WRITTEN if is_usual_iri(data, start + 1, end - 1) else ODD
    size = _unescaped(data, start, end, out, False)
    return size if size > 0 and is_usual_iri(out, 1, size - 1) else ODD


@compiled
def _canonical_literal(data: Bytes, start: int, end: int, out: Bytes) -> int:
    close = quote_after(data, start + 1, end)
    if not is_utf8(data, start + 1, close):
        return ODD
    suffix_start, suffix_end = close + 1, end
    is_changed = False
    if close + 1 < end and data[close + 1] == ord("@"):
        is_changed = _has_upper_case(data, close + 2, end)
        if not _is_usual_language(data, close + 2, end):
            return ODD
    elif close + 1 < end:
        if (
            _has_backslash(data, close, end)
            or not is_usual_iri(data, close + 4, end - 1)
            or _is(_LANGUAGE, data, close + 4, end - 1)
            or _is(_DIRECTED, data, close + 4, end - 1)
        ):
            return ODD
        if _is(_STRING, data, close + 4, end - 1):
            is_changed = True
            suffix_end = suffix_start
    if not is_changed and not _has_backslash(data, start, close):
        return AS_WRITTEN
    size = _unescaped(data, start, close, out, True)
    if size < 0:
        return ODD
    out[size] = _QUOTE
    size += 1
    is_language = suffix_start < suffix_end and data[suffix_start] == ord("@")
    for at in range(suffix_start, suffix_end):
        byte = data[at]
        out[size] = byte | 0x20 if is_language and ord("A") <= byte <= ord("Z") else byte
        size += 1
    return size


@inlined
def _is(text: bytes, data: Bytes, start: int, end: int) -> bool:
    if end - start != len(text):
        return False
    for index in range(len(text)):  # noqa: SIM110 - a kernel has no generators
        if data[start + index] != text[index]:
            return False
    return True


@inlined
def _has_backslash(data: Bytes, start: int, end: int) -> bool:
    for at in range(start, end):  # noqa: SIM110 - a kernel has no generators
        if data[at] == _BACKSLASH:
            return True
    return False


@inlined
def _has_upper_case(data: Bytes, start: int, end: int) -> bool:
    for at in range(start, end):  # noqa: SIM110 - a kernel has no generators
        if ord("A") <= data[at] <= ord("Z"):
            return True
    return False


@compiled
def _is_usual_language(data: Bytes, start: int, end: int) -> bool:
    """Whether a tag is a language of two or three letters, with a script or a region at most."""
    at = start
    while at < end and is_letter(data[at]):
        at += 1
    if not 2 <= at - start <= 3 or (at < end and data[at] != ord("-")):
        return False
    if end - at == 5:
        return _are_letters(data, at + 1, end)
    if end - at >= 8:
        if data[at + 5] != ord("-") or not _are_letters(data, at + 1, at + 5):
            return False
        at += 5
    return bool(at == end or _is_region(data, at + 1, end))


@inlined
def _is_region(data: Bytes, start: int, end: int) -> bool:
    if end - start == 2:
        return _are_letters(data, start, end)
    return bool(
        end - start == 3
        and is_digit(data[start])
        and is_digit(data[start + 1])
        and is_digit(data[start + 2])
    )


@inlined
def _are_letters(data: Bytes, start: int, end: int) -> bool:
    for at in range(start, end):  # noqa: SIM110 - a kernel has no generators
        if not is_letter(data[at]):
            return False
    return True


@compiled
def _unescaped(data: Bytes, start: int, end: int, out: Bytes, in_string: bool) -> int:
    """Write data[start:end] with its escapes undone, but those that a canonical token keeps.

    How many bytes that is, or ODD where an escape is none.
    """
    at, size = start, 0
    while at < end:
        if data[at] != _BACKSLASH:
            out[size] = data[at]
            at += 1
            size += 1
            continue
        letter = data[at + 1]
        if letter == ord("u") or letter == ord("U"):
            digits = 4 if letter == ord("u") else 8
            code = _hexadecimal(data, at + 2, digits)
            at += 2 + digits
        else:
            code = _escaped(letter) if in_string else np.int64(ODD)
            at += 2
        if code < 0 or at > end or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            return ODD
        size = _put(code, out, size)
    return size


@inlined
def _escaped(letter: Register) -> Register:
    """The character that a letter behind a backslash stands for, or ODD."""
    if letter in (_QUOTE, _BACKSLASH, ord("'")):
        return np.int64(letter)
    if letter == ord("n"):
        return np.int64(10)
    if letter == ord("t"):
        return np.int64(9)
    if letter == ord("r"):
        return np.int64(13)
    if letter == ord("b"):
        return np.int64(8)
    return np.int64(12) if letter == ord("f") else np.int64(ODD)


@inlined
def _hexadecimal(data: Bytes, at: int, digits: int) -> Register:
    """The number that hexadecimal digits write, or ODD."""
    number = np.int64(0)
    for index in range(digits):
        byte: Register = np.int64(data[at + index])
        if is_digit(byte):
            digit = byte - ord("0")
        elif ord("a") <= (byte | 0x20) <= ord("f"):
            digit = (byte | 0x20) - ord("a") + 10
        else:
            return np.int64(ODD)
        number = number * 16 + digit
    return number


@inlined
def _put(code: Register, out: Bytes, size: int) -> int:
    """Write a character as UTF-8, escaped where a canonical token must; where the next one goes."""
    if code in (_QUOTE, _BACKSLASH, 10, 13):
        out[size] = _BACKSLASH
        out[size + 1] = ord("n") if code == 10 else ord("r") if code == 13 else code
        return size + 2
    return put_character(code, out, size)
