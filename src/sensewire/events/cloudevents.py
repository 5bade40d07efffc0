"""CloudEvents 1.0 in the JSON format: the members of `data` at the top level, the context below.

    {"specversion": "1.0", "id": "7", "source": "/shop", "type": "sale", "data": {"price": 900}}

is the event `/shop#7` with the attributes `price`, `cloudevent.id`, `cloudevent.source`, … A `data`
that is no object becomes the attribute `data`; `data_base64` becomes the payload.
"""

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from itertools import chain
from typing import Any, TypeGuard

from sensewire.events.decoding import Decoding
from sensewire.model import flatten
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct, moment
from sensewire.model.terms import HOME

_REQUIRED = ("id", "source", "type")
_DATA = ("data", "data_base64")


def is_one(data: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is meant as a CloudEvent: an object that names the format's version."""
    return isinstance(data, Mapping) and "specversion" in data


def event(data: Mapping[str, Any], decoding: Decoding) -> Event:
    """A CloudEvent as an event; its id is `source#id`."""
    _check(data)
    context = {name: value for name, value in data.items() if name not in _DATA}
    body = data.get("data")
    record = body if isinstance(body, Mapping) else {"data": body}
    attributes = chain(flatten.attributes(record), flatten.attributes({"cloudevent": context}))
    facts = distinct(Fact(HOME, name, value) for name, value in attributes)
    return Event(
        id=f"{data['source']}#{data['id']}",
        time=_time(data, facts, decoding),
        facts=facts,
        home=HOME,
        payload=_payload(data),
    )


def _check(data: Mapping[str, Any]) -> None:
    version = data["specversion"]
    if version != "1.0":
        raise EventError(f"a CloudEvent of specversion {version!r}; expected '1.0'")
    missing = [name for name in _REQUIRED if data.get(name) is None]
    if missing:
        raise EventError(
            f"a CloudEvent without {' and '.join(missing)}; 1.0 requires id, source and type"
        )
    for name in _REQUIRED:
        if not isinstance(data[name], str) or not data[name]:
            raise EventError(
                f"a CloudEvent's {name} is a string that is not empty, not {data[name]!r}"
            )


def _time(data: Mapping[str, Any], facts: tuple[Fact, ...], decoding: Decoding) -> datetime:
    time = data.get("time")
    if time is None:
        return decoding.time_in(facts, HOME)
    try:
        return moment(str(time).replace("t", "T").replace("z", "Z"))  # RFC 3339 allows both
    except EventError as error:
        raise EventError(f"a CloudEvent's time: {error}") from None


def _payload(data: Mapping[str, Any]) -> bytes | None:
    encoded = data.get("data_base64")
    if encoded is None:
        return None
    if data.get("data") is not None:
        raise EventError("a CloudEvent with both data and data_base64; 1.0 allows one of them")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise EventError(f"a CloudEvent's data_base64 is no base64: {error}") from None
