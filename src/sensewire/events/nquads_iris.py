"""IRIs in bytes: whether pyoxigraph takes one, told for those of the usual forms.

    http://x.org:80/a/b?c=d#e        scheme, host, port, then any characters of paths
    urn:isbn:1                       scheme, then any characters of paths

What is refused here may be an IRI still, with a user, an address in brackets or an escape in its
host, or with characters for private use: whoever asks leaves those to pyoxigraph. Nothing is taken
that RFC 3987 refuses. Cost: linear.
"""

import numpy as np

from sensewire.events.scanning import Bytes, Register, compiled, inlined
from sensewire.events.scanning_text import character_end

_LETTERS_AND_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _half(characters: bytes, first: int) -> np.uint64:
    """Which of 64 characters from `first` on are among some, as bits."""
    return np.uint64(sum(1 << (byte - first) for byte in characters if 0 <= byte - first < 64))


_SCHEME = _half(_LETTERS_AND_DIGITS + b"+-.", 0), _half(_LETTERS_AND_DIGITS + b"+-.", 64)
_HOST = _half(_LETTERS_AND_DIGITS + b"-._~", 0), _half(_LETTERS_AND_DIGITS + b"-._~", 64)
_PATH = (
    _half(_LETTERS_AND_DIGITS + b"-._~!$&'()*+,;=:@/?", 0),
    _half(_LETTERS_AND_DIGITS + b"-._~!$&'()*+,;=:@/?", 64),
)
_SIX_BITS = np.uint64(63)
_ONE = np.uint64(1)


@inlined
def _is_in(set: tuple[Register, Register], byte: int) -> bool:
    """Whether an ASCII character is in a set."""
    half = set[0] if byte < 64 else set[1]
    return bool(byte < 128 and (half >> (np.uint64(byte) & _SIX_BITS)) & _ONE)


@inlined
def is_letter(byte: int) -> bool:
    """Whether a byte is a letter of ASCII."""
    return bool(ord("a") <= (byte | 0x20) <= ord("z"))


@inlined
def is_digit(byte: int) -> bool:
    """Whether a byte is a digit."""
    return bool(ord("0") <= byte <= ord("9"))


@inlined
def _is_hexadecimal(byte: int) -> bool:
    return bool(is_digit(byte) or ord("a") <= (byte | 0x20) <= ord("f"))


@compiled
def is_usual_iri(data: Bytes, start: int, end: int) -> bool:
    """Whether data[start:end], in which escapes are undone, is an absolute IRI of a usual form."""
    if start >= end or not is_letter(data[start]):
        return False
    at = start
    while at < end and _is_in(_SCHEME, data[at]):
        at += 1
    if at >= end or data[at] != ord(":"):
        return False
    at += 1
    if at + 1 < end and data[at] == ord("/") and data[at + 1] == ord("/"):
        at = _authority_end(data, at + 2, end)
        if at < end and data[at] != ord("/") and data[at] != ord("?") and data[at] != ord("#"):
            return False
    in_fragment = False
    while at < end:
        byte = data[at]
        if _is_in(_PATH, byte):
            at += 1
        elif byte >= 0x80:
            at = _character_end(data, at)
            if at < 0:
                return False
        elif byte == ord("#") and not in_fragment:
            in_fragment = True
            at += 1
        elif byte == ord("%") and _is_hexadecimal(data[at + 1]) and _is_hexadecimal(data[at + 2]):
            at += 3
        else:
            return False
    return bool(at == end)


@inlined
def _authority_end(data: Bytes, start: int, end: int) -> int:
    at = start
    while at < end and _is_in(_HOST, data[at]):
        at += 1
    if at < end and data[at] == ord(":"):
        at += 1
        while at < end and is_digit(data[at]):
            at += 1
    return at


@compiled
def _character_end(data: Bytes, at: int) -> int:
    """The end of a character beyond ASCII that any part of an IRI may have; or less than 0."""
    end = character_end(data, at)
    first, second, third = np.int64(data[at]), np.int64(data[at + 1]), np.int64(data[at + 2])
    if end == at + 2:
        code = (first & 0x1F) << 6 | (second & 0x3F)
        return end if code >= 0xA0 else -1
    if end == at + 3:
        code = (first & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
        usual = code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
        return end if usual else -1
    if end == at + 4:
        fourth = np.int64(data[at + 3])
        code = (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
        return end if code < 0xE0000 and (code & 0xFFFF) <= 0xFFFD else -1
    return -1
