"""CloudEvents 1.0, structured and in batches."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sensewire.events import records
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.model.event import Event

NOW = datetime(2024, 3, 1, tzinfo=UTC)
LEAST = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "sale"}


def event(data: dict[str, Any], **options: Any) -> Event:
    (outcome,) = records.line(json.dumps(data).encode(), "e:1", Decoding(now=NOW, **options))
    assert isinstance(outcome, Decoded), outcome
    return outcome.event


def reason(data: dict[str, Any]) -> str:
    (outcome,) = records.line(json.dumps(data).encode(), "e:1", Decoding(now=NOW))
    assert isinstance(outcome, Rejected), outcome
    return outcome.reason


def values(found: Event) -> dict[str, object]:
    return {fact.property.text: fact.object.value for fact in found.facts}


def test_data_stands_at_the_top_and_the_context_below() -> None:
    found = event({**LEAST, "traceparent": "00-1", "data": {"price": 900, "box": {"w": 3}}})
    assert found.id == "/shop#7"
    assert found.time == NOW
    assert values(found) == {
        "price": 900,
        "box.w": 3,
        "cloudevent.specversion": "1.0",
        "cloudevent.id": "7",
        "cloudevent.source": "/shop",
        "cloudevent.type": "sale",
        "cloudevent.traceparent": "00-1",
    }


@pytest.mark.parametrize(
    ("data", "expected"), [("text", ["text"]), ([1, 2], [1, 2]), (5, [5]), (None, [])]
)
def test_data_that_is_no_object_is_the_attribute_data(data: object, expected: list[Any]) -> None:
    found = event({**LEAST, "data": data})
    assert [f.object.value for f in found.facts if f.property.text == "data"] == expected


def test_data_of_the_name_of_the_context_loses_nothing() -> None:
    found = event({**LEAST, "data": {"cloudevent": {"id": "other"}}})
    assert {f.object.text for f in found.facts if f.property.text == "cloudevent.id"} == {
        "7",
        "other",
    }


def test_binary_data_is_the_payload() -> None:
    found = event({**LEAST, "data_base64": "AP8="})
    assert found.payload == b"\x00\xff"
    assert not any("data" in name for name in values(found))


def test_time_is_the_events_own_then_the_fields_then_the_runs() -> None:
    own = {**LEAST, "time": "2023-01-02T03:04:05Z", "data": {"at": "2022-01-01"}}
    assert event(own, time_field="at").time == datetime(2023, 1, 2, 3, 4, 5, tzinfo=UTC)
    del own["time"]
    assert event(own, time_field="at").time == datetime(2022, 1, 1, tzinfo=UTC)
    assert event(own).time == NOW


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"id": None, "type": None}, "without id and type; 1.0 requires id, source and type"),
        ({"source": ""}, "source is a string that is not empty, not ''"),
        ({"id": 7}, "id is a string that is not empty, not 7"),
        ({"specversion": "0.3"}, "specversion '0.3'; expected '1.0'"),
        ({"time": "soon"}, "a CloudEvent's time: the time 'soon' is no date"),
        ({"data_base64": "%"}, "data_base64 is no base64"),
        ({"data_base64": 5}, "data_base64 is no base64"),
        ({"data_base64": "AA==", "data": 1}, "both data and data_base64"),
    ],
)
def test_what_is_no_cloudevent_says_why(change: dict[str, Any], expected: str) -> None:
    assert expected in reason({**LEAST, **change})


def test_a_batch_on_a_line_and_in_a_document() -> None:
    raw = json.dumps([LEAST, {**LEAST, "id": "8"}, {**LEAST, "id": None}]).encode()
    for read in (records.line, records.document):
        outcomes = list(read(raw, "e:3", Decoding(now=NOW)))
        assert [o.event.id for o in outcomes if isinstance(o, Decoded)] == ["/shop#7", "/shop#8"]
        assert [o.place for o in outcomes if isinstance(o, Rejected)] == ["e:3[2]"]
