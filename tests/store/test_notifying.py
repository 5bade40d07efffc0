"""Notifications as they are read: in order, page by page, and with their events."""

import json

import pyarrow as pa
import pytest

from sensewire.events.kinds import Kind
from sensewire.language.parse import parse
from sensewire.model.errors import SubscriptionError
from sensewire.store import schema
from sensewire.store.database import Store
from sensewire.store.found import MATCHES, Found
from sensewire.store.log import Entry, append, entries_of_lines
from sensewire.store.notifying import Notification, event_of, notifications, subscription_of
from sensewire.store.subscribing import subscribe, unsubscribe
from tests.store.making import NOW, committed, found, published, subscribed, wish


def pairs(told: list[Notification]) -> list[tuple[int, str]]:
    return [(each.number, each.subscription) for each in told]


def test_they_come_in_the_order_of_events_then_of_subscriptions(store: Store) -> None:
    subscribed(store, "zoe", "anna")
    committed(store, 0, found(["a", "b"], [(1, 2), (1, 1), (0, 2)]))
    committed(store, 1, found(["c"], [(0, 1)]))
    assert pairs(notifications(store)) == [(1, "anna"), (2, "zoe"), (2, "anna"), (3, "zoe")]
    assert pairs(notifications(store, after=1)) == [(2, "zoe"), (2, "anna"), (3, "zoe")]
    assert pairs(notifications(store, after=3)) == []
    assert pairs(notifications(store, limit=2)) == [(1, "anna"), (2, "zoe")]
    assert notifications(store, limit=0) == []
    assert notifications(store)[0].place == "file:0"


def test_those_of_some_subscriptions_are_those_of_all_that_ever_had_the_id(store: Store) -> None:
    subscribed(store, "anna", "bert", "carl")
    committed(store, 0, found(["a"], [(0, 1), (0, 2), (0, 3)]))
    unsubscribe(store, ["anna"])
    subscribed(store, "anna")
    committed(store, 1, found(["b"], [(0, 2), (0, 4)]))
    assert pairs(notifications(store, subscriptions=["anna"])) == [(1, "anna"), (2, "anna")]
    assert pairs(notifications(store, subscriptions=["bert", "carl"], after=1)) == [(2, "bert")]
    assert [each.key for each in notifications(store, subscriptions=["anna"])] == [1, 4]
    with pytest.raises(SubscriptionError, match="never had a subscription 'dora'"):
        notifications(store, subscriptions=["dora"])


def test_pages_hold_whole_events_and_miss_none(store: Store) -> None:
    """Events of 900, 1,300 and 2 notifications: those at a border are not cut."""
    keys = range(1, 1_301)
    subscribe(store, [wish(f"s{key}") for key in keys], NOW)
    matches = [(0, key) for key in keys[:900]] + [(1, key) for key in keys] + [(2, 1), (2, 2)]
    committed(store, 0, found(["a", "b", "c"], matches))
    seen: list[tuple[int, int]] = []
    pages = []
    while page := notifications(store, after=seen[-1][0] if seen else 0):
        seen += [(each.number, each.key) for each in page]
        pages.append(len(page))
    assert seen == [(event + 1, key) for event, key in matches]
    assert pages == [2_200, 2]
    assert len(notifications(store, limit=950)) == 950


def test_a_page_that_ends_with_an_event_is_whole(store: Store) -> None:
    subscribe(store, [wish(f"s{key}") for key in range(1, 501)], NOW)
    matches = [(event, key) for event in range(3) for key in range(1, 501)]
    committed(store, 0, found(["a", "b", "c"], matches))
    assert len(notifications(store)) == 1_000
    assert len(notifications(store, after=2)) == 500


def test_rows_and_distance_are_told(store: Store) -> None:
    subscribed(store, "anna")
    plain = found(["a"], [(0, 1)])
    row = {"event": 0, "subscription": 1, "rows": '[{"x": "é"}]', "distance": 0.1 + 0.2}
    told = Found(plain.hashes, plain.events, pa.Table.from_pylist([row], schema=MATCHES))
    committed(store, 0, told)
    (each,) = notifications(store)
    assert (each.rows, each.distance) == ([{"x": "é"}], 0.1 + 0.2)


def told_of(store: Store, position: int, id: str) -> Notification:
    """That the first subscription got the event of this id at this place in the log."""
    with store.reading() as connection:
        batch = len(connection.execute(schema.batches.select()).all())
    committed(store, batch, found([id], [(0, 1)], positions=[position]))
    return notifications(store)[-1]


def values(store: Store, told: Notification) -> dict[str, str]:
    event = event_of(store, told)
    assert event is not None
    assert event.id == told.event
    return {fact.property.text: fact.object.text for fact in event.facts}


def test_an_event_of_lines_is_read_from_the_log_again(store: Store) -> None:
    subscribed(store, "anna")
    published(store, {"id": "a", "price": 1}, {"id": "b", "price": 2})
    published(store, {"price": 3})
    assert values(store, told_of(store, 2, "b")) == {"id": "b", "price": "2"}
    assert values(store, told_of(store, 1, "a")) == {"id": "a", "price": "1"}
    told = told_of(store, 3, "log:3")
    assert values(store, told) == {"price": "3"}
    event = event_of(store, told)
    assert event is not None
    assert event.time == NOW


def test_one_of_a_line_of_several_is_found_by_its_id(store: Store) -> None:
    subscribed(store, "anna")
    several = [
        {"specversion": "1.0", "id": id, "source": "/s", "type": "t", "data": {"price": price}}
        for id, price in (("x", 7), ("y", 8))
    ]
    append(store, list(entries_of_lines([json.dumps(several).encode()])), NOW)
    assert values(store, told_of(store, 1, "/s#x"))["price"] == "7"
    assert values(store, told_of(store, 1, "/s#y"))["price"] == "8"


def test_an_event_of_a_document_is_read_from_the_log_again(store: Store) -> None:
    subscribed(store, "anna")
    turtle = b"@prefix : <http://x.org/> . :a :price 5 ."
    append(
        store,
        [
            Entry(Kind.DOCUMENT, turtle, name="a.ttl"),
            Entry(Kind.JSON, b'[{"id": "p", "price": 1}, {"id": "q", "price": 2}]'),
            Entry(Kind.PAYLOAD, b"\xff\xd8", name="photo.jpg", facts=b'{"place": "roof"}'),
        ],
        NOW,
    )
    document = event_of(store, told_of(store, 1, "other 1"))
    assert document is not None
    assert document.facts[0].object.text == "5"
    assert values(store, told_of(store, 1, document.id)) == {"http://x.org/price": "5"}
    assert values(store, told_of(store, 2, "q"))["price"] == "2"
    photo = event_of(store, told_of(store, 3, "other 3"))
    assert photo is not None
    assert photo.payload is not None
    assert {fact.object.text for fact in photo.facts} >= {"roof"}


def test_an_event_that_is_not_in_the_log_has_none(store: Store) -> None:
    subscribed(store, "anna")
    committed(store, 0, found(["a"], [(0, 1)]))
    (told,) = notifications(store)
    assert event_of(store, told) is None
    assert event_of(store, told_of(store, 99, "b")) is None


def test_what_a_subscription_asked_for_is_told_though_its_id_is_used_again(store: Store) -> None:
    subscribe(store, [wish("anna", "price < 5")], NOW)
    committed(store, 0, found(["a"], [(0, 1)]))
    unsubscribe(store, ["anna"])
    subscribe(store, [wish("anna", "price > 5")], NOW)
    (told,) = notifications(store)
    assert subscription_of(store, told) == parse("price < 5")
