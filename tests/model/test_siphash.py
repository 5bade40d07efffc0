"""SipHash-2-4 of 128 bits: the authors' vectors, and a plain implementation of their paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.model.siphash import hashes_of
from sensewire.model.strings import Strings

KEY = bytes(range(16))
_WORD = 2**64 - 1


def _left(word: int, count: int) -> int:
    return (word << count | word >> (64 - count)) & _WORD


def _rounds(v: list[int], count: int) -> list[int]:
    v0, v1, v2, v3 = v
    for _ in range(count):
        v0 = (v0 + v1) & _WORD
        v1 = _left(v1, 13) ^ v0
        v0 = _left(v0, 32)
        v2 = (v2 + v3) & _WORD
        v3 = _left(v3, 16) ^ v2
        v0 = (v0 + v3) & _WORD
        v3 = _left(v3, 21) ^ v0
        v2 = (v2 + v1) & _WORD
        v1 = _left(v1, 17) ^ v2
        v2 = _left(v2, 32)
    return [v0, v1, v2, v3]


def siphash(key: bytes, data: bytes) -> bytes:
    """As the paper says it, and its appendix on 128 bits."""
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    texts = (b"somepseu", b"dorandom", b"lygenera", b"tedbytes")
    signs = [int.from_bytes(text, "big") for text in texts]
    v = [k0 ^ signs[0], k1 ^ signs[1] ^ 0xEE, k0 ^ signs[2], k1 ^ signs[3]]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        v = _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xEE
    v = _rounds(v, 4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    v = _rounds(v, 4)
    second = v[0] ^ v[1] ^ v[2] ^ v[3]
    return first.to_bytes(8, "little") + second.to_bytes(8, "little")


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
    ],
)
def test_the_authors_vectors(length: int, expected: str) -> None:
    data = np.arange(length, dtype=np.uint8)
    found = hashes_of(data, np.zeros(1, np.int64), np.array([length]), KEY)
    assert found.tobytes().hex() == expected
    assert siphash(KEY, bytes(range(length))).hex() == expected


@given(st.lists(st.text(max_size=40), max_size=5), st.binary(min_size=16, max_size=16))
def test_strings_have_the_hashes_that_the_paper_gives_them(texts: list[str], key: bytes) -> None:
    strings = Strings.of(texts)
    found = hashes_of(strings.utf8, strings.offsets[:-1], strings.offsets[1:], key)
    assert [row.tobytes() for row in found] == [siphash(key, text.encode()) for text in texts]


def test_a_string_of_more_bytes_than_one_can_count_to() -> None:
    text = "x" * 1_000
    strings = Strings.of([text])
    found = hashes_of(strings.utf8, strings.offsets[:-1], strings.offsets[1:], KEY)
    assert found.tobytes() == siphash(KEY, text.encode())
