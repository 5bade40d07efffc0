"""Subscriptions come and go: who has which id, in which order, and for which events."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SubscriptionError
from sensewire.store.database import CHANGE, Store, StoreError, head, microseconds
from sensewire.store.indexing import CHANGE_ORDER, LOG_ORDER, tenure_of
from sensewire.store.log import append, appended
from sensewire.store.subscribing import (
    CANCELLED,
    LIVE,
    REFUSED,
    Asked,
    Judge,
    by_key,
    changed,
    listed,
    refuse,
    standing,
    subscribe,
    unsubscribe,
)
from tests.store.acting import started, together
from tests.store.making import NOW, content, documents, published, subscribed, wish


def stands(store: Store, *ids: str) -> list[Asked]:
    with store.reading() as connection:
        return list(listed(connection, ids))


def last_change(store: Store) -> int:
    with store.reading() as connection:
        return head(connection, CHANGE)


def test_a_subscription_is_kept_as_it_was_stated(store: Store) -> None:
    more: dict[str, Any] = {"language": "sensewire", "reading": "exact", "tolerance": 1.5}
    asked = wish("Zürich 🦊", "price < 900", **more, expires="2024-03-02T01:00:00.000001+01:00")
    published(store, {"a": 1}, {"a": 2})
    assert subscribe(store, [asked, wish("plain")], NOW) == 1
    first, second = stands(store)
    assert (first.key, first.added, first.since, first.removed, first.until) == (
        1,
        1,
        2,
        None,
        None,
    )
    assert first.data() == {"id": "Zürich 🦊", "text": "price < 900", **more}
    assert first.expires == microseconds(datetime(2024, 3, 2, 0, 0, 0, 1, tzinfo=UTC))
    assert first.stated().subscription == asked.stated.subscription
    assert (second.data(), second.expires) == ({"id": "plain", "text": "price < 900"}, None)
    assert (first.state, first.reason, second.key, second.added) == (LIVE, None, 2, 1)


def test_an_id_in_use_is_refused_and_nothing_of_the_rest_is_added(store: Store) -> None:
    subscribed(store, "anna")
    before = content(store)
    with pytest.raises(SubscriptionError, match=r"the id 'anna' is in use in .*nothing was added"):
        subscribed(store, "bert", "anna", "carl")
    with pytest.raises(SubscriptionError, match=r"the id 'bert' stands twice .*nothing was added"):
        subscribed(store, "bert", "carl", "bert")
    assert content(store) == before


def test_the_one_in_use_is_found_among_many(store: Store) -> None:
    subscribed(store, "s1200")
    with pytest.raises(SubscriptionError, match="'s1200' is in use"):
        subscribed(store, *(f"s{number}" for number in range(1_300)))
    assert [each.id for each in stands(store)] == ["s1200"]


def test_an_id_that_is_used_again_has_another_key(store: Store) -> None:
    subscribed(store, "anna", "bert")
    unsubscribe(store, ["anna"])
    subscribed(store, "anna")
    unsubscribe(store, ["anna"])
    subscribed(store, "anna")
    assert [each.key for each in stands(store)] == [2, 4]
    assert [(each.key, each.state) for each in stands(store, "anna")] == [
        (1, CANCELLED),
        (3, CANCELLED),
        (4, LIVE),
    ]
    with store.reading() as connection:
        assert by_key(connection, 1).removed == 2


def test_an_unknown_id_ends_nothing(store: Store) -> None:
    subscribed(store, "anna", "bert")
    unsubscribe(store, ["bert"])
    before = content(store)
    for unknown in ("carl", "bert"):
        with pytest.raises(SubscriptionError, match=f"there is no subscription '{unknown}' in "):
            unsubscribe(store, ["anna", unknown])
    assert content(store) == before


def test_no_subscriptions_are_no_change(store: Store) -> None:
    assert subscribe(store, [], NOW) == last_change(store) == 0
    assert stands(store) == []


def test_changes_are_counted_and_found_in_order(store: Store) -> None:
    assert subscribed(store, "anna", "bert") == 1
    assert subscribed(store, "carl") == 2
    assert unsubscribe(store, ["bert", "carl"]) == 3
    assert subscribed(store, "dora") == last_change(store) == 4
    with store.reading() as connection:

        def between(after: int, upto: int) -> list[str]:
            return [each.id for each in changed(connection, after, upto)]

        assert between(0, 1) == ["anna", "bert"]
        assert between(0, 2) == ["anna", "bert", "carl"]
        assert between(1, 3) == ["bert", "carl"]
        assert between(2, 3) == ["bert", "carl"]
        assert between(3, 4) == ["dora"]
        assert between(4, 4) == []


def test_what_may_still_match_is_what_stands_and_what_went_later(store: Store) -> None:
    subscribed(store, "anna", "bert")  # change 1
    published(store, {"a": 1})
    unsubscribe(store, ["anna"])  # change 2, up to event 1
    published(store, {"a": 1})
    unsubscribe(store, ["bert"])  # change 3, up to event 2
    subscribed(store, "carl")  # change 4
    with store.reading() as connection:

        def found(change: int, floor: int, *, in_log: bool) -> list[str]:
            return [each.id for each in standing(connection, change, in_log, floor)]

        assert found(4, 0, in_log=True) == ["anna", "bert", "carl"]
        assert found(4, 1, in_log=True) == ["bert", "carl"]
        assert found(4, 2, in_log=True) == ["carl"]
        assert found(3, 2, in_log=True) == []
        assert found(4, 1, in_log=False) == ["anna", "bert", "carl"]
        assert found(4, 2, in_log=False) == ["bert", "carl"]
        assert found(4, 3, in_log=False) == ["carl"]


def test_a_refusal_is_noted_of_what_stands_only(store: Store) -> None:
    subscribed(store, "anna", "bert")
    unsubscribe(store, ["anna"])
    with store.writing() as connection:
        refuse(connection, 1, "too late")
        refuse(connection, 2, "two meanings")
    assert [(each.state, each.reason) for each in stands(store, "anna", "bert")] == [
        (CANCELLED, None),
        (REFUSED, "two meanings"),
    ]
    assert unsubscribe(store, ["bert"]) == 3


def test_a_judge_says_why_and_takes_the_same_id_again() -> None:
    judge = Judge(Knowledge())
    assert judge.wished({"id": "a", "text": "price < 9"}).stated.id == "a"
    assert judge.wished({"id": "a", "text": "price < 10"}).data["text"] == "price < 10"
    with pytest.raises(SubscriptionError, match="there is no operator 'far'"):
        judge.wished({"id": "a", "text": "far(1)"})
    with pytest.raises(SubscriptionError, match="did you mean 'text'"):
        judge.wished({"id": "a", "texts": "price < 9"})


def test_one_stands_for_events_behind_it_up_to_its_end_that_arrive_before_it_expires(
    store: Store,
) -> None:
    published(store, {"a": 1})
    subscribe(store, [wish("anna", expires=(NOW + timedelta(hours=1)).isoformat())], NOW)
    published(store, {"a": 1}, {"a": 1})
    subscribed(store, "bert")
    unsubscribe(store, ["anna"])
    (anna,) = stands(store, "anna")
    in_log, in_changes = tenure_of(anna, LOG_ORDER), tenure_of(anna, CHANGE_ORDER)
    early, late = microseconds(NOW), microseconds(NOW + timedelta(hours=1))
    assert [in_log.holds(number, early) for number in range(5)] == [False, False, True, True, False]
    assert [in_changes.holds(number, early) for number in range(5)] == [
        *(False, True, True),
        *(False, False),
    ]
    assert in_log.holds(2, late - 1)
    assert not in_log.holds(2, late)


def check_tenures(store: Store, told: list[dict[str, Any]]) -> None:
    """Each stood for what was appended between its coming and going, and for nothing else."""
    by_id = {each.id: each for each in stands(store, *(each["id"] for each in told))}
    for each in told:
        tenure = tenure_of(by_id[each["id"]], LOG_ORDER)
        assert [tenure.holds(position, 0) for position in each["at"]] == [False, True, False]
        assert [by_id[each["id"]].added, by_id[each["id"]].removed] == each["changes"]
    changes = [change for each in told for change in each["changes"]]
    assert sorted(changes) == list(range(1, len(changes) + 1))
    assert len({each.key for each in by_id.values()}) == len(told)


def test_processes_that_come_and_go_at_once_stand_for_what_they_should(store: Store) -> None:
    rounds = "12"
    processes = [started("coming_and_going", store.url, name, rounds) for name in "ab"]
    processes.append(started("appending", store.url, "c", "40"))
    *told, _ = together(processes)
    check_tenures(store, [each for some in told for each in some])


def test_threads_that_come_and_go_at_once_stand_for_what_they_should(store: Store) -> None:
    def acted(name: str) -> list[dict[str, Any]]:
        told = []
        for place in range(8):
            id = f"{name}{place}"
            at = [append(store, documents(1), NOW).start]
            changes = [subscribed(store, id)]
            at.append(append(store, documents(1), NOW).start)
            changes.append(unsubscribe(store, [id]))
            at.append(append(store, documents(1), NOW).start)
            told.append({"id": id, "at": at, "changes": changes})
        return told

    with ThreadPoolExecutor(4) as pool:
        check_tenures(store, [each for some in pool.map(acted, "abcd") for each in some])


def test_who_comes_or_goes_waits_for_who_appends(store: Store) -> None:
    """Else an event could be matched and committed that stands behind a subscription."""
    for act, place in (
        (lambda: subscribed(store, "anna"), 1),
        (lambda: unsubscribe(store, ["anna"]), 2),
    ):
        with ThreadPoolExecutor(1) as pool:
            with store.writing() as connection:
                appended(connection, documents(1), NOW)
                waiting = pool.submit(act)
                with pytest.raises(TimeoutError):
                    waiting.result(timeout=0.2)
            assert waiting.result() == place
    (anna,) = stands(store, "anna")
    assert (anna.since, anna.until) == (1, 2)


def test_of_many_that_want_one_id_at_once_one_gets_it(store: Store) -> None:
    def tried(_: int) -> str:
        try:
            return str(subscribed(store, "anna"))
        except SubscriptionError as error:
            return "in use" if "is in use" in str(error) else str(error)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(tried, range(4))) == ["1", "in use", "in use", "in use"]
    assert last_change(store) == 1


def test_to_cancel_and_to_refuse_at_once_never_waits_for_each_other(store: Store) -> None:
    """(Whoever changes rows of several subscriptions takes them in one order, or holds a head.)"""
    ids = [f"s{number}" for number in range(40)]
    for _ in range(5):
        subscribed(store, *ids)
        keys = [each.key for each in stands(store)]

        def refused(keys: list[int] = keys) -> None:
            with store.writing() as connection:
                for key in keys:
                    refuse(connection, key, "why")

        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(refused), pool.submit(unsubscribe, store, ids[::-1])
            try:
                first.result()
                second.result()
            except StoreError as error:
                pytest.fail(str(error))
