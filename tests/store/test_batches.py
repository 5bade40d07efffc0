"""Micro-batches: pinned before they are matched, committed whole and once, also after a kill."""

import os
import signal
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from sensewire.store import failpoints
from sensewire.store.batches import Committed, Fresh, Pin, commit, last_done, pin
from sensewire.store.database import EVENT, Store, StoreError, head, microseconds, open_store
from sensewire.store.dead import dead_letters
from sensewire.store.ledger import Ledger
from sensewire.store.notifying import Notification, notifications
from sensewire.store.subscribing import REFUSED, listed
from tests.postgresql import Server, reachable_folder, server
from tests.store.acting import a_batch, begun, said, started, together
from tests.store.making import NOW, TABLE, committed, content, found, subscribed


def told(store: Store) -> list[tuple[int, str, str]]:
    """Number, event and subscription of all notifications."""
    return [(each.number, each.event, each.subscription) for each in notifications(store)]


def test_a_pin_is_the_same_when_it_is_asked_for_again(store: Store) -> None:
    subscribed(store, "anna")
    first = pin(store, "q", 0, "v1", NOW)
    assert first == Pin("q", 0, "v1", 1, microseconds(NOW))
    subscribed(store, "bert")
    assert pin(store, "q", 0, "v2", NOW + timedelta(days=1)) == first
    assert pin(store, "q", 1, "v2", NOW).change == 2
    assert pin(store, "other", 0, "v3", NOW).version == "v3"


def test_a_pin_is_there_for_another_process(store: Store) -> None:
    told = together([started("pinning", store.url, "q", "v1")])
    here = pin(store, "q", 0, "v2", NOW)
    assert [[here.version, here.change, here.now]] == told
    assert here.version == "v1"


def test_a_batch_is_committed_whole(store: Store) -> None:
    subscribed(store, "anna", "bert")
    what = found(
        ["e1", "e2", "e3"],
        [(2, 1), (0, 2), (0, 1)],
        failed=[(1, 2, "too long")],
        rejected=[b"{", b"\x00\xff"],
        refused={2: "two meanings"},
        positions=[5, 6, 7],
    )
    done = committed(store, 0, what, position=7)
    assert done == Committed(events=3, matches=3, repeats=0, rejected=2, failed=1)
    assert notifications(store) == [
        Notification(1, "e1", "anna", 1, None, 0.0, 5, None),
        Notification(1, "e1", "bert", 2, None, 0.0, 5, None),
        Notification(3, "e3", "anna", 1, None, 0.0, 7, None),
    ]
    assert [each.raw for each in dead_letters(store)] == [b"{", b"\x00\xff"]
    with store.reading() as connection:
        assert last_done(connection, "q") == (1, 7)
        assert last_done(connection, "other") is None
        assert head(connection, EVENT) == 3
        assert [each.state for each in listed(connection)] == ["live", REFUSED]
    assert content(store)["failures"] == [(2, 2, "too long")]
    assert pin(store, "q", 0, "v2", NOW).done


def test_a_batch_is_committed_once(store: Store) -> None:
    subscribed(store, "anna")
    ledger = Ledger(TABLE)
    pinned = pin(store, "q", 0, "v1", NOW)
    assert commit(store, pinned, found(["e1"], [(0, 1)]), ledger, NOW) is not None
    before = content(store)
    another = found(["e2"], [(0, 1)], rejected=[b"{"], refused={1: "why"})
    assert commit(store, pinned, another, ledger, NOW) is None
    assert commit(store, pinned, another, Ledger(TABLE), NOW) is None
    delivered: list[Fresh] = []
    assert commit(store, pinned, another, Ledger(TABLE), NOW, deliver=delivered.append) is None
    assert delivered == []
    assert content(store) == before


def test_numbers_of_events_grow_and_those_nobody_hears_of_have_one_too(store: Store) -> None:
    subscribed(store, "anna")
    committed(store, 0, found(["a", "b", "c"], [(1, 1)]))
    committed(store, 1, found([]))
    committed(store, 2, found(["d"], [(0, 1)]), query="other")
    assert told(store) == [(2, "b", "anna"), (4, "d", "anna")]
    with store.reading() as connection:
        assert head(connection, EVENT) == 4


def test_how_far_a_query_came_is_what_its_batches_reached(store: Store) -> None:
    committed(store, 0, found([]), position=4)
    subscribed(store, "anna")
    committed(store, 1, found([]), position=9)
    committed(store, 2, found([]))
    pin(store, "q", 3, "v1", NOW)
    subscribed(store, "bert")
    pin(store, "q", 4, "v1", NOW)
    with store.reading() as connection:
        assert last_done(connection, "q") == (1, 9)


def test_repeats_are_no_events_within_a_batch_nor_across(store: Store) -> None:
    subscribed(store, "anna", "bert")
    ledger = Ledger(TABLE)
    first = found(["a", "b", "a"], [(0, 1), (2, 1), (2, 2)], failed=[(2, 2, "why")])
    assert committed(store, 0, first, ledger=ledger) == Committed(2, 1, 1, 0, 0)
    second = found(["b", "c", "a", "c"], [(0, 1), (1, 2), (2, 2), (3, 2)])
    assert committed(store, 1, second, ledger=ledger) == Committed(1, 1, 3, 0, 0)
    assert told(store) == [(1, "a", "anna"), (3, "c", "bert")]
    assert content(store)["events"] == [(1, "a", None, "file:0"), (3, "c", None, "file:1")]


def test_two_queries_of_one_table_make_one_notification_and_two_sinks_two(store: Store) -> None:
    subscribed(store, "anna")
    one, two = Ledger(TABLE), Ledger(TABLE)
    committed(store, 0, found(["a"], [(0, 1)]), query="one", ledger=one)
    again = committed(store, 0, found(["a", "b"], [(0, 1), (1, 1)]), query="two", ledger=two)
    assert again == Committed(1, 1, 1, 0, 0)
    assert committed(store, 1, found(["b"], [(0, 1)]), query="one", ledger=one) == Committed(
        0, 0, 1, 0, 0
    )
    assert told(store) == [(1, "a", "anna"), (2, "b", "anna")]
    delivered: list[list[bool]] = []
    for query in ("three", "four"):
        for batch in range(2):
            pinned = pin(store, query, batch, "v1", NOW)
            commit(
                store,
                pinned,
                found(["a"], [(0, 1)]),
                Ledger(query),
                NOW,
                deliver=lambda new: delivered.append(list(map(bool, new.is_new))),
            )
    assert delivered == [[True], [False], [True], [False]]
    assert len(told(store)) == 2


def test_what_is_delivered_elsewhere_is_new_only_and_comes_again_until_it_is_done(
    store: Store,
) -> None:
    subscribed(store, "anna")
    delivered: list[list[int | None]] = []

    def failing(new: Fresh) -> None:
        delivered.append(new.matches.column("event").to_pylist())
        if len(delivered) == 1:
            raise OSError("the sink is away")

    pinned = pin(store, "q", 0, "v1", NOW)
    what = found(["a", "a", "b"], [(0, 1), (1, 1), (2, 1)], failed=[(1, 1, "x")])
    ledger = Ledger("q")
    with pytest.raises(OSError, match="away"):
        commit(store, pinned, what, ledger, NOW, deliver=failing)
    assert not pin(store, "q", 0, "v1", NOW).done
    assert commit(store, pinned, what, ledger, NOW, deliver=failing) == Committed(2, 2, 1, 0, 0)
    assert delivered == [[0, 2], [0, 2]]
    assert content(store)["notifications"] == content(store)["events"] == []


def test_what_is_forgotten_comes_as_a_new_event(store: Store) -> None:
    subscribed(store, "anna")
    for batch, id in enumerate(["a", "b", "c", "a", "c"]):
        committed(store, batch, found([id], [(0, 1)]), ledger=Ledger(TABLE, remember=2))
    assert told(store) == [
        (1, "a", "anna"),
        (2, "b", "anna"),
        (3, "c", "anna"),
        (4, "a", "anna"),
    ]


def test_a_commit_that_fails_inside_leaves_nothing_and_can_be_done_again(store: Store) -> None:
    subscribed(store, "anna")
    ledger = Ledger(TABLE)
    pinned = pin(store, "q", 0, "v1", NOW)
    before = content(store)
    twice = found(["a", "b"], [(0, 1), (0, 1)], rejected=[b"{"])  # no table takes one row twice
    with pytest.raises(StoreError):
        commit(store, pinned, twice, ledger, NOW)
    assert content(store) == before
    assert commit(store, pinned, found(["a", "b"], [(0, 1)]), ledger, NOW) == Committed(
        2, 1, 0, 0, 0
    )


@pytest.mark.parametrize("id", ["a\x00b", "Zürich 🦊\t\\N\n", ""])
def test_no_id_of_an_event_stops_a_batch(store: Store, id: str) -> None:
    subscribed(store, "anna")
    what = found([id, "c"], [(0, 1), (1, 1)], failed=[(0, 1, f"because of {id}")])
    assert committed(store, 0, what) == Committed(2, 2, 0, 0, 1)
    assert committed(store, 1, found([id], [(0, 1)])) == Committed(0, 0, 1, 0, 0)
    assert [number for number, _, _ in told(store)] == [1, 2]
    if "\x00" not in id:
        assert told(store)[0][1] == id


def killed_at(store: Store, point: str) -> None:
    environment = {**os.environ, failpoints.VARIABLE: point}
    process = started("committing", store.url, "0", environment=environment)
    begun([process])
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def test_who_is_killed_inside_of_the_transaction_leaves_nothing(store: Store) -> None:
    subscribed(store, "anna")
    before = content(store)
    killed_at(store, "stream:transaction:0")
    after = content(store)
    assert len(after.pop("batches")) == 1  # the pin, which was durable before
    before.pop("batches")
    assert after == before
    assert committed(store, 0, a_batch()) == Committed(2, 1, 0, 1, 1)
    assert told(store) == [(1, "e1", "anna")]


def test_who_is_killed_before_the_pin_leaves_no_pin(store: Store) -> None:
    before = content(store)
    killed_at(store, "stream:delta:0")
    assert content(store) == before


def test_who_is_killed_after_the_commit_is_found_done(store: Store) -> None:
    subscribed(store, "anna")
    killed_at(store, "stream:committed:0")
    before = content(store)
    assert told(store) == [(1, "e1", "anna")]
    assert pin(store, "q", 0, "v9", NOW).done
    assert committed(store, 0, a_batch()) is None
    assert content(store) == before


@pytest.mark.parametrize("planted", ["stream:sink:0", "stream:transaction:1", "other:committed:0"])
def test_a_fail_point_elsewhere_kills_nobody(tmp_path: Path, planted: str) -> None:
    store = open_store(tmp_path / "store.db")
    subscribed(store, "anna")
    environment = {**os.environ, failpoints.VARIABLE: planted}
    process = started("committing", store.url, "0", environment=environment)
    begun([process])
    assert said(process) == [2, 1]
    store.close()


def test_two_that_commit_one_batch_at_once_commit_it_once(store: Store) -> None:
    subscribed(store, "anna")
    pinned = pin(store, "q", 0, "v1", NOW)
    results: list[Committed | None] = []
    barrier = threading.Barrier(3)

    def tried() -> None:
        barrier.wait()
        results.append(commit(store, pinned, a_batch(), Ledger(TABLE), NOW))

    threads = [threading.Thread(target=tried) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(repr, results)) == [repr(Committed(2, 1, 0, 1, 1)), "None", "None"]
    assert told(store) == [(1, "e1", "anna")]


def test_a_commit_outlives_a_server_that_is_killed_in_its_middle(postgresql: Server) -> None:
    del postgresql  # skips this test too, with the reason, where there is none
    with reachable_folder() as folder, server(folder) as own:
        store = open_store(own.database("outlived"))
        subscribed(store, "anna")
        ledger = Ledger(TABLE)

        def killed() -> None:
            own.kill()
            own.start()

        def done(batch: int) -> None:
            ids = [f"{batch}.{number}" for number in range(3_000)]
            what = found(ids, [(number, 1) for number in range(3_000)])
            pinned = store.patiently(lambda: pin(store, "q", batch, "v1", NOW))
            killing = threading.Timer(0.02 + 0.02 * batch, killed)
            killing.start()
            store.patiently(lambda: commit(store, pinned, what, ledger, NOW))
            killing.join()

        for batch in range(4):
            done(batch)
        told = store.patiently(lambda: content(store)["notifications"])
        assert [row[:2] for row in sorted(told)] == [(number, 1) for number in range(1, 12_001)]
        store.close()


def test_what_was_committed_is_in_the_file_however_the_process_ends(tmp_path: Path) -> None:
    """(The write-ahead log beside the file is part of it.)"""
    store = open_store(tmp_path / "store.db")
    subscribed(store, "anna")
    killed_at(store, "stream:committed:0")
    store.close()
    again = open_store(tmp_path / "store.db", create=False)
    assert told(again) == [(1, "e1", "anna")]
    again.close()
