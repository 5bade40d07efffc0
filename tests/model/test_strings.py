"""Columns of strings, and the table from a string to its number: against lists and dicts."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.model.errors import SensewireError
from sensewire.model.lookup import Lookup, _equal, hash_of
from sensewire.model.strings import Strings

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
few_texts = st.lists(st.text(alphabet="ab", max_size=3), max_size=30)
"""Of few letters: equal strings, prefixes of each other and empty ones are frequent."""


@given(st.lists(texts, max_size=20))
def test_a_column_is_its_list(strings: list[str]) -> None:
    column = Strings.of(strings)
    assert len(column) == len(strings)
    assert list(column) == strings
    assert column.offsets.dtype == np.int64
    assert column.utf8.tobytes() == "".join(strings).encode()
    assert list(Strings.of(iter(strings))) == strings


@given(st.data(), st.lists(texts, min_size=1, max_size=20))
def test_taking_is_indexing(data: st.DataObject, strings: list[str]) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=30))
    for dtype in (np.int32, np.int64):
        taken = Strings.of(strings).take(np.array(numbers, dtype=dtype))
        taken.validate(full=True)
        assert taken.type == pa.large_string()
        assert taken.to_pylist() == [strings[number] for number in numbers]


def test_a_column_and_arrow_share_their_memory() -> None:
    column = Strings.of(["fox", "Zürich"])
    _, offsets, utf8 = column.arrow().buffers()
    assert offsets is not None
    assert utf8 is not None
    assert offsets.address == column.offsets.ctypes.data
    assert utf8.address == column.utf8.ctypes.data


def test_a_column_cannot_be_written() -> None:
    offsets, utf8 = np.array([0, 1], dtype=np.int64), np.array([97], dtype=np.uint8)
    for column in (Strings.of(["a"]), Strings(offsets, utf8)):
        for array in (column.offsets, column.utf8):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    assert offsets.flags.writeable  # whoever made them may still


@pytest.mark.parametrize("number", [-1, 2, 10**9])
def test_a_number_that_is_not_there_is_an_error(number: int) -> None:
    column = Strings.of(["fox", "hen"])
    with pytest.raises(IndexError, match="has 2"):
        column[number]
    with pytest.raises(IndexError, match="out of bounds"):
        column.take(np.array([0, number]))


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(SensewireError, match="at character 1: it is no Unicode text"):
        Strings.of(["fox", "x\ud800"])
    with pytest.raises(SensewireError, match="1 of 2 strings are None"):
        Strings.of(["fox", None])  # type: ignore[list-item]


@given(few_texts, few_texts)
def test_a_lookup_is_a_dict(strings: list[str], asked: list[str]) -> None:
    known: dict[str, int] = {}
    for number, string in enumerate(strings):
        known.setdefault(string, number)
    lookup = Lookup.of(Strings.of(strings))
    for string in [*strings, *asked]:
        assert lookup.find(string) == known.get(string)
    assert np.count_nonzero(lookup.slots) == len(known)  # equal strings have one slot


@given(st.lists(texts, unique=True, max_size=40), texts)
def test_any_text_is_found(strings: list[str], other: str) -> None:
    lookup = Lookup.of(Strings.of(strings))
    assert [lookup.find(string) for string in strings] == list(range(len(strings)))
    assert (lookup.find(other) is None) == (other not in strings)


def test_many_strings_alike_are_found_and_others_are_not() -> None:
    """Long runs of taken slots, and the way around the end of the table, come with numbers."""
    strings = [f"subscription-{number}" for number in range(50_000)]
    lookup = Lookup.of(Strings.of(strings))
    assert [lookup.find(string) for string in strings] == list(range(len(strings)))
    assert {lookup.find(f"{string}x") for string in strings} == {None}
    assert lookup.slots.nbytes < 11 * len(strings)


def test_strings_of_one_tag_are_told_apart() -> None:
    """Two strings in a hundred thousand share half of their hash: only their bytes differ."""
    lookup = Lookup.of(Strings.of(f"s{number}" for number in range(400_000)))
    slots = np.sort(lookup.slots)
    tags, rows = slots >> np.uint64(32), (slots & np.uint64(0xFFFFFFFF)).astype(np.int64) - 1
    places = np.flatnonzero((tags[1:] == tags[:-1]) & (slots[:-1] != 0))
    pairs = [(lookup.strings[rows[place]], lookup.strings[rows[place + 1]]) for place in places]
    assert len(pairs) > 5
    for one, other in pairs:
        both = Lookup.of(Strings.of([one, other]))
        assert (both.find(one), both.find(other)) == (0, 1)
        assert Lookup.of(Strings.of([one])).find(other) is None


@given(st.text(alphabet="ab", max_size=5), st.text(alphabet="ab", max_size=5))
def test_strings_are_equal_byte_for_byte(one: str, other: str) -> None:
    """Prefixes too: no two of them share a tag, so that no table would show them."""
    column = Strings.of([one, other])
    start, middle, end = column.offsets
    assert _equal(column.utf8, start, middle, column.utf8, middle, end) == (one == other)


def test_alike_strings_are_spread_over_the_table() -> None:
    """At three quarters full, linear probing with a good hash takes 2.5 steps to what it finds."""
    count = 50_000
    lookup = Lookup.of(Strings.of(f"s{number}" for number in range(count)))
    taken = lookup.slots != 0
    size = len(lookup.slots)
    column = lookup.strings
    first = [
        (int(hash_of(column.utf8, column.offsets[row], column.offsets[row + 1])) >> 32) * size >> 32
        for row in range(count)
    ]
    places = np.flatnonzero(taken)
    rows = (lookup.slots[places] & np.uint64(0xFFFFFFFF)).astype(np.int64) - 1
    steps = (places - np.array(first)[rows]) % size + 1
    assert taken.sum() == count
    assert steps.mean() < 3


def test_half_a_surrogate_pair_is_in_no_column() -> None:
    assert Lookup.of(Strings.of(["fox"])).find("\ud800") is None


def test_the_hash_is_the_published_one() -> None:
    """FNV-1a of "foobar" is 0x85944171f73967e8 (draft-eastlake-fnv); then Murmur3's finaliser."""
    mask = 2**64 - 1
    expected = 0x85944171F73967E8
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        expected = (expected ^ expected >> 33) * factor & mask
    expected ^= expected >> 33
    text = np.frombuffer(b"-foobar-", dtype=np.uint8)
    assert int(hash_of(text, 1, 7)) == expected


def test_a_table_is_the_same_in_every_process() -> None:
    code = (
        "import sys; from sensewire.model.lookup import Lookup;"
        "from sensewire.model.strings import Strings;"
        "print(Lookup.of(Strings.of(['fox', 'hen', 'Zürich'])).slots.tolist())"
    )
    here = Lookup.of(Strings.of(["fox", "hen", "Zürich"])).slots.tolist()
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == str(here)


def test_a_mapped_table_finds_without_another_compilation(tmp_path: Path) -> None:
    from sensewire.model import lookup as module

    built = Lookup.of(Strings.of(["fox", "hen"]))
    built.find("fox")
    np.save(tmp_path / "slots.npy", built.slots)
    np.save(tmp_path / "offsets.npy", built.strings.offsets)
    np.save(tmp_path / "utf8.npy", built.strings.utf8)
    slots, offsets, utf8 = (
        np.asarray(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
        for name in ("slots", "offsets", "utf8")
    )
    compiled = len(module._number_of.signatures)  # type: ignore[attr-defined] # numba's
    mapped = Lookup(Strings(offsets, utf8), slots)
    assert [mapped.find(word) for word in ("hen", "fox", "wolf")] == [1, 0, None]
    assert len(module._number_of.signatures) == compiled == 1  # type: ignore[attr-defined]
