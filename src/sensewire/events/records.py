"""JSON as events: a line of JSON lines, or a document; records and CloudEvents told apart.

An object with `specversion` is a CloudEvent, any other one a record. A list is a batch: on a line
only where it holds a CloudEvent, in a document always; its items have the places `file:line[0]`,
`file:line[1]`, … Of a key that stands twice, the last value counts.

orjson reads, and decides what JSON is. It gives integers beyond 64 bits as floats, silently: in a
text with so long a number it judges the rest only, and Python's reader, which keeps them, reads it.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import orjson

from sensewire.events import cloudevents
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.model import flatten
from sensewire.model.datatypes import LONGEST_NUMBER
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.terms import HOME

DEEPEST = 1_024
"""Levels of nesting that orjson reads; a deeper text is rejected."""

_LONG_NUMBER = re.compile(rb"[0-9]{19,}")
_JSON_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def line(raw: bytes, place: str, decoding: Decoding) -> Iterator[Outcome]:
    """One line of JSON lines as an event; as several, where it is a batch of CloudEvents."""
    try:
        data = read_json(raw)
    except EventError as error:
        yield Rejected(place, raw, str(error))
        return
    if isinstance(data, list) and any(cloudevents.is_one(item) for item in data):
        yield from _batch(data, raw, place, decoding)
    else:
        yield _outcome(data, raw, place, decoding)


def document(raw: bytes, place: str, decoding: Decoding) -> Iterator[Outcome]:
    """A JSON document as an event; a list as one event for each of its items."""
    try:
        data = read_json(raw)
    except EventError as error:
        yield Rejected(place, raw, str(error))
        return
    if isinstance(data, list):
        yield from _batch(data, raw, place, decoding)
    else:
        yield _outcome(data, raw, place, decoding)


def read_json(raw: bytes) -> Any:  # Any: whatever JSON holds
    """The value that a JSON text writes, integers of any length exact.

    >>> read_json(b'{"a": 18446744073709551616}')
    {'a': 18446744073709551616}
    """
    try:
        if not _LONG_NUMBER.search(raw):
            return orjson.loads(raw)
        orjson.loads(_LONG_NUMBER.sub(b"1", raw))  # whether all but those numbers is JSON
    except orjson.JSONDecodeError as error:
        raise EventError(_syntax_problem(raw, error)) from None
    return _exact(raw)


def _exact(raw: bytes) -> Any:
    try:
        return json.loads(raw, parse_int=_integer, parse_float=_double)
    except json.JSONDecodeError as error:
        raise EventError(f"bad JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise EventError(
            "nested too deeply for a text with numbers of 19 digits and more; "
            "write such numbers as strings, or nest less"
        ) from None


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise EventError(
            f"an integer of {len(text):,} characters; expected at most {LONGEST_NUMBER:,}"
        )
    return int(text)


def _double(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise EventError(f"the number {text[:40]} is beyond every double")
    return value


def _syntax_problem(raw: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        return f"not UTF-8: byte 0x{raw[bad.start]:02x} at position {bad.start} cannot be read"
    if error.msg.startswith("depth limit"):
        return f"nested deeper than {DEEPEST:,} levels, the most that an event may have"
    line = f"line {error.lineno} " if error.lineno > 1 else ""
    return f"bad JSON at {line}column {error.colno}: {error.msg.split(': line ')[0]}"


def _batch(items: list[Any], raw: bytes, place: str, decoding: Decoding) -> Iterator[Outcome]:
    for index, item in enumerate(items):
        yield _outcome(item, _part(item, raw), f"{place}[{index}]", decoding)


def _part(item: Any, batch: bytes) -> bytes:
    """The one item's bytes, so that a bad one does not carry its batch with it.

    What orjson cannot write, integers beyond 64 bits and deep nesting, keeps the bytes of all.
    """
    try:
        return orjson.dumps(item)
    except orjson.JSONEncodeError:
        return batch


def _outcome(data: Any, raw: bytes, place: str, decoding: Decoding) -> Outcome:
    try:
        if cloudevents.is_one(data):
            return Decoded(place, raw, cloudevents.event(data, decoding))
        return Decoded(place, raw, _record(data, place, decoding))
    except EventError as error:
        return Rejected(place, raw, str(error))


def _record(data: Any, place: str, decoding: Decoding) -> Event:
    if not isinstance(data, dict):
        name = "a list" if isinstance(data, list) else _JSON_NAMES.get(type(data), "null")
        raise EventError(f'{name} is no event; expected an object, as in {{"price": 900}}')
    facts = distinct(Fact(HOME, name, value) for name, value in flatten.attributes(data))
    id = flatten.id_in(data, decoding.id_field)
    return Event(
        id=place if id is None else id,
        time=decoding.time_in(facts, HOME),
        facts=facts,
        home=HOME,
    )
