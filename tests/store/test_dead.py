"""Dead letters: kept with their bytes, published again for their query only, or dropped."""

from datetime import timedelta

import pytest

from sensewire.events.kinds import Kind
from sensewire.model.errors import SensewireError
from sensewire.store.database import LOG, Store, head, microseconds
from sensewire.store.dead import dead_letters, drop, retry
from sensewire.store.log import Entry, Logged, read
from tests.store.making import NOW, committed, content, found, published

RAWS = [b"{", b"\x00\xff\n", b"{}}"]


@pytest.fixture
def letters(store: Store) -> Store:
    """A store with the dead letters 1, 2 of the query q and 3 of another."""
    committed(store, 0, found(["a"], rejected=RAWS[:2]))
    committed(store, 0, found([], rejected=RAWS[2:], kind="payload"), query="other")
    return store


def numbers(store: Store) -> list[int]:
    return [each.number for each in dead_letters(store)]


def read_by(store: Store, query: str) -> list[Logged]:
    with store.reading() as connection:
        return list(read(connection, 0, head(connection, LOG), query))


def test_they_are_listed_with_their_bytes(letters: Store) -> None:
    first, second, third = dead_letters(letters)
    assert [each.raw for each in (first, second, third)] == RAWS
    assert (first.number, first.query, first.place, first.reason) == (1, "q", "log:1", "no JSON")
    assert (first.kind, third.kind, third.query) == (Kind.LINES, Kind.PAYLOAD, "other")
    assert (first.time, first.state) == (microseconds(NOW), "dead")
    assert dead_letters(letters, [3, 1]) == [first, third]


def test_one_that_is_retried_is_in_the_log_for_its_query_only(letters: Store) -> None:
    published(letters, {"a": 1})
    later = NOW + timedelta(hours=1)
    assert retry(letters, [2, 3], later) == 2
    assert numbers(letters) == [1]
    assert read_by(letters, "q")[1:] == [
        Logged(2, 2, microseconds(later), Entry(Kind.LINES, RAWS[1], query="q"))
    ]
    assert read_by(letters, "other")[1:] == [
        Logged(3, 3, microseconds(later), Entry(Kind.PAYLOAD, RAWS[2], query="other"))
    ]
    assert len(read_by(letters, "third")) == 1
    assert published(letters, {"a": 2}) == range(4, 5)


def test_without_numbers_all_are_meant(letters: Store) -> None:
    assert retry(letters, [], NOW) == 3
    assert numbers(letters) == []
    assert (retry(letters, [], NOW), drop(letters, [])) == (0, 0)
    committed(letters, 1, found([], rejected=[b"?"]))
    assert drop(letters, []) == 1
    assert numbers(letters) == []


def test_those_that_are_dropped_are_gone(letters: Store) -> None:
    assert drop(letters, [1, 3]) == 2
    assert numbers(letters) == [2]
    assert read_by(letters, "q") == []


@pytest.mark.parametrize("act", [lambda s, n: retry(s, n, NOW), drop, dead_letters])
def test_an_unknown_number_is_told_and_nothing_is_done(letters: Store, act: object) -> None:
    assert callable(act)
    retry(letters, [3], NOW)
    before = content(letters)
    for wrong in (4, 3):
        with pytest.raises(SensewireError, match=f"has no dead letter {wrong}, or it was retried"):
            act(letters, [1, wrong])
    assert content(letters) == before


def test_one_that_dies_again_is_another_letter(letters: Store) -> None:
    retry(letters, [1], NOW)
    committed(letters, 1, found([], rejected=[RAWS[0]]))
    assert numbers(letters) == [2, 3, 4]
