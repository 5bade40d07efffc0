"""Words keep their numbers, whoever numbers them, and however many there are."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events.dictionary import Dictionary
from sensewire.events.scanning import PADDING
from sensewire.events.scanning_table import MALFORMED
from sensewire.model.facts import UNSEEN
from sensewire.model.terms import (
    FALSE,
    TRUE,
    Term,
    language_string,
    literal,
    quantity,
    string,
    term_of,
    untyped,
)

TERMS = [
    string("laptop"), string(""), string("5"), untyped("laptop"), language_string("laptop", "en"),
    TRUE, FALSE, string("true"), term_of(2**60), string(str(2**60)), term_of(-(10**40)), term_of(5),
    literal("0005", "http://www.w3.org/2001/XMLSchema#integer"), term_of(Decimal(5)), term_of(5.0),
    literal("5", "http://www.w3.org/2001/XMLSchema#byte"), quantity("5 m"), term_of(float("nan")),
    literal("2024-03-01", "http://www.w3.org/2001/XMLSchema#date"), string("Zürich"), string("\0"),
    string("\0\0"), string("eight888"), string("eight888\0"), string("x" * 5_000),
]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(TERMS) | st.text().map(string))))
def test_one_number_for_each_word(asked: list[tuple[int, Term]]) -> None:
    dictionary = Dictionary(["a", "b", "c"])
    first = [dictionary.word(attribute, term) for attribute, term in asked]
    assert [dictionary.words[number] for number in first] == asked
    assert [dictionary.word(attribute, term) for attribute, term in asked] == first
    assert (
        len(set(dictionary.words))
        == len(dictionary.words)
        == 6 + len({(attribute, term) for attribute, term in asked if term not in (TRUE, FALSE)})
    )


def test_many_words_make_room() -> None:
    dictionary = Dictionary(["a", "b"])
    texts = [f"word number {number}" for number in range(50_000)]
    numbers = dictionary.strings(1, texts)
    assert dictionary.strings(1, reversed(texts)).tolist() == numbers[::-1].tolist()
    assert [dictionary.words[number][1].text for number in numbers] == texts
    others = [dictionary.word(0, term_of(Decimal(number))) for number in range(3_000)]
    assert others == [dictionary.word(0, term_of(Decimal(number))) for number in range(3_000)]
    assert dictionary.strings(1, texts).tolist() == numbers.tolist()


def test_attributes_are_numbered_in_the_order_in_which_they_come() -> None:
    dictionary = Dictionary(["b", "a", "b"])
    assert (dictionary.attributes, dictionary.attribute("a")) == (["b", "a"], 1)
    assert dictionary.attribute("c") == 2
    assert "c" in dictionary
    assert "d" not in dictionary
    truths = [dictionary.words[word] for word in dictionary.truths]
    assert truths == [(0, TRUE), (1, TRUE), (2, TRUE)]
    assert [dictionary.words[word + 1][1] for word in dictionary.truths] == [FALSE] * 3


def test_what_lies_below_a_name() -> None:
    dictionary = Dictionary(["a.b.c", "x", ".y"])
    names = ["", "a", "a.b", "a.b.c", "x", ".y", "b"]
    assert [name for name in names if dictionary.knows_below(name)] == ["", "a", "a.b"]


def test_closed_attributes_keep_what_they_have() -> None:
    dictionary = Dictionary(["a", "b"])
    old = dictionary.word(0, string("old"))
    assert dictionary.closed.tolist() == [0, 0]
    dictionary.close(0, ["mine"])
    count = len(dictionary.words)
    found = dictionary.strings(0, ["old", "mine", "new", ""])
    assert found.tolist() == [old, count - 1, UNSEEN, UNSEEN]
    assert dictionary.closed.tolist() == [1, 0]
    assert len(dictionary.words) == count
    assert dictionary.words[dictionary.word(0, term_of(2**70))] == (0, term_of(2**70))
    assert dictionary.words[dictionary.word(0, untyped("new"))] == (0, untyped("new"))
    assert dictionary.words[dictionary.word(1, string("new"))] == (1, string("new"))


def test_one_that_is_closed_again_takes_the_strings_that_it_is_closed_with() -> None:
    dictionary = Dictionary(["a"])
    dictionary.close(0, ["one"])
    assert dictionary.strings(0, ["two"]).tolist() == [UNSEEN]
    dictionary.close(0, ["two"])
    assert UNSEEN not in dictionary.strings(0, ["one", "two"]).tolist()
    assert dictionary.strings(0, ["three"]).tolist() == [UNSEEN]


def test_it_is_full_when_it_holds_too_many_words_or_bytes() -> None:
    few = Dictionary(["a"], most_words=4)
    few.strings(0, ["1", "2"])
    assert not few.full
    few.word(0, string("3"))
    assert few.full
    short = Dictionary(["a"], most_bytes=10)
    short.word(0, string("x" * 10))
    assert not short.full
    short.word(0, string("y"))
    assert short.full
    assert short.words[short.word(0, string("more"))][1] == string("more")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff", b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x99", b"\xc3(",
        b"\xe2(\xac", b"\xe2\x82(", b"\xf0\x9f\x99(", b"\xc3\xa9", b"\xdf\xbf", b"\xe0\xa0\x80",
        b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf0\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\x7f",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", [0, 5, 7, 8])
def test_texts_are_utf8(raw: bytes, before: int) -> None:
    text = b"x" * before + raw
    try:
        expected = string(text.decode())
    except UnicodeDecodeError:
        expected = None
    for behind in (bytes(PADDING), b"\x80" * PADDING):
        dictionary = Dictionary(["a"])
        offsets = np.array([0, len(text)], np.int64)
        data = np.frombuffer(bytearray(text + behind), np.uint8)
        (number,) = dictionary.texts(0, data, offsets).tolist()
        assert (
            number == MALFORMED if expected is None else dictionary.words[number] == (0, expected)
        )


def test_absent_texts_are_not_read() -> None:
    dictionary = Dictionary(["a"])
    data = np.frombuffer(bytearray(b"ab\xffcd" + bytes(PADDING)), np.uint8)
    present = np.array([1, 0, 1], np.uint8)
    found = dictionary.texts(0, data, np.array([0, 2, 3, 5], np.int64), present).tolist()
    assert [dictionary.words[found[index]][1].text for index in (0, 2)] == ["ab", "cd"]
    assert found[1] == UNSEEN
