"""The log: numbers without gaps, seen in their order; entries as they were; parts at their ends."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from sensewire.events.kinds import Kind
from sensewire.store import schema
from sensewire.store.database import LOG, Store, StoreError, head, microseconds
from sensewire.store.log import (
    BYTES_AT_ONCE,
    LINES_AT_ONCE,
    Entry,
    Logged,
    append,
    cut,
    end_after,
    entries_of_lines,
    find,
    first_arrival,
    read,
)
from tests.store.acting import begun, said, started
from tests.store.making import NOW, documents, emptied, numbers_seen


def logged(store: Store, query: str = "q") -> list[Logged]:
    """All that a query reads."""
    with store.reading() as connection:
        return list(read(connection, 0, head(connection, LOG), query))


def lines(counts: list[int]) -> list[Entry]:
    """Entries of so many lines each."""
    return [Entry(Kind.LINES, b"\n".join([b"{}"] * count), count) for count in counts]


def test_writers_at_once_leave_no_gap_at_any_moment(store: Store) -> None:
    """What a reader sees, whenever it looks, is 1 … n; and each writer's numbers are its own."""
    processes = [started("appending", store.url, name, "25") for name in "abc"]
    begun(processes)
    looks = 0
    last = 0
    while any(process.poll() is None for process in processes):
        with store.reading() as connection:
            table = schema.log
            rows = connection.execute(select(table.c.first, table.c.last).order_by(table.c.last))
            seen = numbers_seen((row.first, row.last) for row in rows)
            assert seen == list(range(1, head(connection, LOG) + 1))
        assert len(seen) >= last
        last = len(seen)
        looks += 1
    ranges = [tuple(each) for process in processes for each in said(process)]
    assert looks > 3
    assert sorted(numbers_seen(ranges)) == list(range(1, len(numbers_seen(ranges)) + 1))
    assert [(each.first, each.last) for each in logged(store)] == sorted(ranges)


def test_entries_are_kept_as_they_were(store: Store) -> None:
    every = bytes(range(256))
    given_entries = [
        Entry(Kind.LINES, b'{"a": 1}\n{"a": 2}', 2),
        Entry(Kind.PAYLOAD, every * 40, name="photo.jpg", facts=b'{"place": "Z\xc3\xbcrich"}'),
        Entry(Kind.DOCUMENT, b"", name="x.ttl", query="q"),
        *(Entry(kind, every) for kind in Kind),
    ]
    assert append(store, given_entries[:2], NOW) == range(1, 4)
    later = NOW + timedelta(microseconds=1)
    assert append(store, given_entries[2:], later) == range(4, 5 + len(Kind))
    found = logged(store)
    assert [each.entry for each in found] == given_entries
    assert [each.first for each in found[:4]] == [1, 3, 4, 5]
    assert [each.arrival for each in found[:3]] == list(map(microseconds, (NOW, NOW, later)))


def test_nothing_takes_no_number(store: Store) -> None:
    assert append(store, [], NOW) == range(1, 1)
    assert logged(store) == []


def test_entries_are_appended_all_or_none(store: Store) -> None:
    append(store, documents(1), NOW)
    bad = Entry(Kind.LINES, None)  # type: ignore[arg-type]  # what no table takes
    with pytest.raises(StoreError):
        append(store, [*documents(3), bad], NOW)
    assert len(logged(store)) == 1
    assert append(store, documents(1), NOW) == range(2, 3)


def test_blank_lines_are_left_out_and_entries_have_a_good_size() -> None:
    made = list(entries_of_lines([b"", b'{"a": 1}\r\n', b"  \n", b"\t", b'  {"a": 2}\n', b"\n"]))
    assert made == [Entry(Kind.LINES, b'{"a": 1}\n  {"a": 2}', 2)]
    assert list(entries_of_lines([b"", b" "])) == []
    many = list(entries_of_lines([b"{}"] * (2 * LINES_AT_ONCE + 1), "q"))
    assert [each.count for each in many] == [LINES_AT_ONCE, LINES_AT_ONCE, 1]
    assert {each.query for each in many} == {"q"}
    long = b'"' + b"x" * (BYTES_AT_ONCE // 2) + b'"'
    assert [each.count for each in entries_of_lines([long] * 5)] == [2, 2, 1]


@given(st.lists(st.binary(max_size=6).filter(lambda line: b"\n" not in line)))
def test_every_number_of_an_entry_has_its_line(some: list[bytes]) -> None:
    told = [line.rstrip(b"\r") for line in some if line.strip()]
    made = list(entries_of_lines(line + b"\n" for line in some))
    assert [line for each in made for line in each.body.split(b"\n")] == told
    assert sum(each.count for each in made) == len(told)


def test_an_entry_for_one_query_is_read_by_it_only(store: Store) -> None:
    mine = Entry(Kind.LINES, b"{}", query="mine")
    append(store, [*lines([2]), mine, *lines([1])], NOW)
    assert [(each.first, each.last) for each in logged(store, "mine")] == [(1, 2), (3, 3), (4, 4)]
    assert [(each.first, each.last) for each in logged(store, "other")] == [(1, 2), (4, 4)]
    with store.reading() as connection:
        assert [each.first for each in read(connection, 2, 3, "mine")] == [3]
        assert list(read(connection, 2, 3, "other")) == []
        assert list(read(connection, 4, 4, "mine")) == []
        assert [each.first for each in read(connection, 0, 4, "mine", only=True)] == [3]
        assert list(read(connection, 0, 4, "other", only=True)) == []
        found = find(connection, 3)
        assert found is not None
        assert found.entry == mine


def test_the_earliest_arrival_behind_a_number_is_found_though_clocks_are_set(store: Store) -> None:
    for hours in (2, 1, 3):
        append(store, lines([2]), NOW + timedelta(hours=hours))
    with store.reading() as connection:
        found = [first_arrival(connection, after, 7) for after in (0, 2, 3, 4, 6)]
    first, third = (microseconds(NOW + timedelta(hours=hours)) for hours in (1, 3))
    assert found == [first, first, first, third, 7]


laws = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
counts = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@laws
@given(counts=counts, data=st.data())
def test_a_number_is_found_in_its_entry(
    store: Store, counts: list[int], data: st.DataObject
) -> None:
    emptied(store)
    append(store, lines(counts), NOW)
    number = data.draw(st.integers(-1, sum(counts) + 2))
    holding = [each for each in logged(store) if each.first <= number <= each.last]
    with store.reading() as connection:
        assert find(connection, number) == (holding[0] if holding else None)


@laws
@given(counts=counts, parts=st.integers(1, 9), data=st.data())
def test_parts_cover_what_they_are_cut_from_and_end_where_entries_do(
    store: Store, counts: list[int], parts: int, data: st.DataObject
) -> None:
    emptied(store)
    append(store, lines(counts), NOW)
    ends = [0, *(each.last for each in logged(store))]
    after, upto = sorted(data.draw(st.tuples(st.sampled_from(ends), st.sampled_from(ends))))
    with store.reading() as connection:
        found = cut(connection, after, upto, parts)
        read_in_parts = [each for a, b in found for each in read(connection, a, b, "q")]
        assert read_in_parts == list(read(connection, after, upto, "q"))
    assert 1 <= len(found) <= parts
    assert (found[0][0], found[-1][1]) == (after, upto)
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert {number for pair in found for number in pair} <= set(ends)
    assert after == upto or all(a < b for a, b in found)
    # No part is larger than its share and the entry at its end.
    assert max(b - a for a, b in found) <= (upto - after) // parts + 1 + max(counts)


@laws
@given(counts=counts, most=st.integers(0, 20), data=st.data())
def test_a_reader_stops_at_the_end_of_an_entry_and_takes_one_at_least(
    store: Store, counts: list[int], most: int, data: st.DataObject
) -> None:
    emptied(store)
    append(store, lines(counts), NOW)
    ends = [0, *(each.last for each in logged(store))]
    after = data.draw(st.sampled_from(ends))
    behind = [end for end in ends if end > after]
    within = [end for end in behind if end <= after + most]
    with store.reading() as connection:
        assert end_after(connection, after, most) == [after, *behind[:1], *within][-1]
