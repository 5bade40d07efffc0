"""What tasks found travels as bytes, and is put together as if one task had found it."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from sensewire.store.found import Found, numbers, together
from tests.store.making import found, no_events

TABLES = ("events", "matches", "failed", "rejected", "refused", "sample")


@st.composite
def founds(draw: DrawFn) -> Found:
    """What a task may find: few events, some of which somebody hears of."""
    ids = draw(st.lists(st.text(max_size=3), max_size=5))
    places = st.integers(0, len(ids) - 1) if ids else st.nothing()
    keys = st.integers(0, 2**40)
    matches = draw(st.lists(st.tuples(places, keys), max_size=4)) if ids else []
    failed = draw(st.lists(st.tuples(places, keys, st.text()), max_size=2)) if ids else []
    return found(
        ids,
        matches,
        failed=failed,
        rejected=draw(st.lists(st.binary(max_size=4), max_size=2)),
        refused=draw(st.dictionaries(keys, st.text(), max_size=2)),
        positions=draw(st.sampled_from([None, list(range(len(ids)))])),
    )


def same(one: Found, other: Found) -> bool:
    """Whether two are equal, the types of their columns included."""
    return np.array_equal(one.hashes, other.hashes) and all(
        getattr(one, name).schema == getattr(other, name).schema
        and getattr(one, name).to_pylist() == getattr(other, name).to_pylist()
        for name in TABLES
    )


@given(founds())
def test_what_travels_arrives(one: Found) -> None:
    arrived = Found.from_bytes(one.to_bytes())
    assert same(arrived, one)
    assert arrived.hashes.dtype == one.hashes.dtype
    assert arrived.hashes.shape == (len(one.hashes), 2)


@given(st.lists(founds(), max_size=4))
def test_together_they_are_one_after_the_other(parts: list[Found]) -> None:
    whole = together(parts)
    assert whole.hashes.tolist() == [row for part in parts for row in part.hashes.tolist()]
    first = 0
    expected: dict[str, list[object]] = {name: [] for name in TABLES}
    for part in parts:
        for name in TABLES:
            rows = getattr(part, name).to_pylist()
            if name in ("events", "matches", "failed"):
                rows = [{**row, "event": row["event"] + first} for row in rows]
            expected[name] += rows
        first += len(part.hashes)
    assert {name: getattr(whole, name).to_pylist() for name in TABLES} == expected


@given(st.lists(founds(), max_size=4), st.integers(0, 4))
def test_it_makes_no_difference_who_puts_them_together_first(parts: list[Found], at: int) -> None:
    apart = together([together(parts[:at]), together(parts[at:])])
    assert same(apart, together(parts))
    assert same(Found.from_bytes(apart.to_bytes()), together(parts))


def test_nothing_is_found_in_no_parts() -> None:
    nothing = together([])
    assert same(nothing, Found(no_events()))
    assert same(Found.from_bytes(nothing.to_bytes()), nothing)


def test_numbers_are_read_from_a_column_in_pieces() -> None:
    table = pa.table({"n": pa.chunked_array([[1, 2], [], [3]], pa.int64())})
    assert numbers(table, "n").tolist() == [1, 2, 3]
    assert numbers(table.slice(0, 0), "n").tolist() == []
