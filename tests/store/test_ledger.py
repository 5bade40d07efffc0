"""Which events come for the first time: the ledger against a set of ids."""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sensewire.store import schema
from sensewire.store.database import Store
from sensewire.store.ledger import Ledger
from tests.store.making import hashes

laws = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
scopes = count(1)
batches = st.lists(st.lists(st.integers(0, 30).map(str), max_size=8), max_size=12)


def written(store: Store, ledger: Ledger, last: int, ids: list[str]) -> None:
    with store.writing() as connection:
        ledger.write(connection, last, hashes(ids))


def new_among(store: Store, ledger: Ledger, ids: list[str]) -> list[bool]:
    """Which ids are new to a ledger that knows what was committed."""
    with store.reading() as connection:
        ledger.refresh(connection)
    return list(map(bool, ledger.is_new(hashes(ids))))


@laws
@given(batches=batches, anew=st.sets(st.integers(0, 11)))
def test_it_knows_what_a_set_of_ids_knows(
    store: Store, batches: list[list[str]], anew: set[int]
) -> None:
    """Also one that is read anew, as after a crash, and one that somebody else writes to."""
    scope = f"scope{next(scopes)}"
    ledger, other = Ledger(scope), Ledger(scope)
    known: set[str] = set()
    last = 0
    for number, ids in enumerate(batches):
        if number in anew:
            ledger, other = other, Ledger(scope)
        expected = []
        for id in ids:
            expected.append(id not in known)
            known.add(id)
        assert new_among(store, ledger, ids) == expected
        new = [id for id, is_new in zip(ids, expected, strict=True) if is_new]
        last += len(new)
        written(store, ledger, last, new)


@laws
@given(batches=batches, remember=st.integers(1, 12))
def test_the_newest_are_known_as_long_as_they_are_remembered(
    store: Store, batches: list[list[str]], remember: int
) -> None:
    """By one that saw all of it as by one that is read anew; what is older may be forgotten."""
    scope = f"scope{next(scopes)}"
    ledger = Ledger(scope, remember)
    order: list[str] = []
    for ids in batches:
        is_new = new_among(store, ledger, ids)
        newest = order[-remember:]
        assert not any(new for id, new in zip(ids, is_new, strict=True) if id in newest)
        again = new_among(store, Ledger(scope, remember), ids)
        assert not any(new for id, new in zip(ids, again, strict=True) if id in newest)
        new = [id for id, is_one in zip(ids, is_new, strict=True) if is_one]
        order += new
        written(store, ledger, len(order), new)


def test_what_is_older_is_forgotten_in_memory_and_in_the_table(store: Store) -> None:
    ledger = Ledger("s", remember=10)
    for number in range(1, 201):
        assert new_among(store, ledger, [f"e{number}"]) == [True]
        written(store, ledger, number, [f"e{number}"])
    assert new_among(store, ledger, ["e1", "e100"]) == [True, True]
    fresh = Ledger("s", remember=10)
    assert new_among(store, fresh, [f"e{number}" for number in range(190, 201)]) == [
        True,
        *[False] * 10,
    ]
    with store.reading() as connection:
        assert len(connection.execute(schema.ledger.select()).all()) == 10


def test_a_short_batch_behind_a_long_run_lets_nothing_be_forgotten(store: Store) -> None:
    ledger = Ledger("s", remember=10)
    ids = [f"e{number}" for number in range(1, 22)]
    for number, id in enumerate(ids, 1):
        assert new_among(store, ledger, [id]) == [True]
        written(store, ledger, number, [id])
        known = ids[max(0, number - 10) : number]
        assert new_among(store, ledger, known) == [False] * len(known)


def test_scopes_know_nothing_of_each_other(store: Store) -> None:
    written(store, Ledger("one"), 1, ["a"])
    assert new_among(store, Ledger("one"), ["a", "b"]) == [False, True]
    assert new_among(store, Ledger("two"), ["a", "b"]) == [True, True]
    for number in range(2, 9):
        written(store, Ledger("two", remember=2), number, [str(number)])
    assert new_among(store, Ledger("one"), ["a"]) == [False]


def test_no_events_leave_no_row(store: Store) -> None:
    written(store, Ledger("s"), 0, [])
    assert new_among(store, Ledger("s"), []) == []
    with store.reading() as connection:
        assert connection.execute(schema.ledger.select()).all() == []
