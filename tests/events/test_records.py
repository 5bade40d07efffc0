"""JSON as events: ids, times, exact numbers, and everything that is rejected, with its reason."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events import records
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.model.event import Event
from sensewire.model.terms import term_of

NOW = datetime(2024, 3, 1, tzinfo=UTC)
PLAIN = Decoding(now=NOW)


def read(text: str | bytes, decoding: Decoding = PLAIN) -> Outcome:
    raw = text.encode() if isinstance(text, str) else text
    (outcome,) = records.line(raw, "e.jsonl:7", decoding)
    assert outcome.raw == raw
    assert outcome.place == "e.jsonl:7"
    return outcome


def event(text: str | bytes, decoding: Decoding = PLAIN) -> Event:
    outcome = read(text, decoding)
    assert isinstance(outcome, Decoded), outcome
    return outcome.event


def reason(text: str | bytes, decoding: Decoding = PLAIN) -> str:
    outcome = read(text, decoding)
    assert isinstance(outcome, Rejected), outcome
    return outcome.reason


def values(found: Event) -> list[tuple[str, object]]:
    return [(fact.property.text, fact.object.value) for fact in found.facts]


@pytest.mark.parametrize(
    ("text", "field", "id"),
    [
        ('{"id": "a"}', "id", "a"),
        ('{"id": 7}', "id", "7"),
        ('{"id": ""}', "id", "e.jsonl:7"),
        ('{"id": true}', "id", "e.jsonl:7"),
        ('{"id": "a"}', None, "e.jsonl:7"),
        ('{"sku": "a", "id": "b"}', "sku", "a"),
    ],
)
def test_ids(text: str, field: str | None, id: str) -> None:
    found = event(text, Decoding(now=NOW, id_field=field))
    assert found.id == id
    assert any(fact.property.text == "id" for fact in found.facts)  # it stays an attribute


def test_times() -> None:
    decoding = Decoding(now=NOW, time_field="at.seen")
    assert event('{"at": {"seen": "2023-05-06T07:08Z"}}', decoding).time == datetime(
        2023, 5, 6, 7, 8, tzinfo=UTC
    )
    assert event('{"at.seen": "2023-05-06"}', decoding).time == datetime(2023, 5, 6, tzinfo=UTC)
    assert event('{"at": "2023-05-06"}', decoding).time == NOW
    assert event('{"at": {"seen": "2023-05-06"}}').time == NOW
    assert "'at.seen'" in reason('{"at": {"seen": "yesterday"}}', decoding)
    assert "is no date; expected YYYY-MM-DD" in reason('{"at": {"seen": 5}}', decoding)
    assert "2 values" in reason('{"at": {"seen": ["2023-05-06", "2023-05-07"]}}', decoding)


@pytest.mark.parametrize(
    "number",
    [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**999, 12345678901234567890123],
    ids=lambda number: f"{number:e}" if abs(number) < 10**300 else "10^999",
)
def test_integers_stay_exact(number: int) -> None:
    assert values(event(json.dumps({"a": number, "b": [number]}))) == [("a", number), ("b", number)]


def test_doubles_stay_doubles_beside_long_integers() -> None:
    found = event('{"a": 1e19, "b": 12345678901234567890, "c": 0.1234567890123456789}')
    assert [fact.object.text for fact in found.facts] == [
        "1e+19",
        "12345678901234567890",
        "0.12345678901234568",
    ]


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert values(event('{"a": 1, "a": 2}')) == [("a", 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": }', "bad JSON at column 7: unexpected character"),
        ('{"a": NaN}', "bad JSON at column 7: unexpected character"),
        ('{"a": Infinity}', "bad JSON at column 7: unexpected character"),
        ('{"a": 1e400}', "bad JSON at column 7: number is infinity"),
        ('{"a": "\\ud800"}', "bad JSON at column 8: no low surrogate"),
        ('{"a": 1} x', "bad JSON at column 10: unexpected content after document"),
        ('{"a": 1', "bad JSON at column 8"),
        ("[]", "a list is no event; expected an object"),
        ("[1, 2]", "a list is no event"),
        ('"a"', "a string is no event"),
        ("7", "a number is no event"),
        ("true", "a boolean is no event"),
        ("null", "null is no event"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff at position 7"),
        ('{"a": 12345678901234567890, "b": "\\ud800"}', "no low surrogate"),
        ('{"a": 00000000000000000001}', "bad JSON at column 8"),
        ('{"a": 1e00000000000000000000400}', "is beyond every double"),
        ('{"a": ' + "1" * 1_001 + "}", "an integer of 1,001 characters; expected at most 1,000"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested deeper than 1,024 levels"),
        ("[" * 10_000 + "]" * 10_000, "nested deeper than 1,024 levels"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_rejected_says_why(text: str | bytes, expected: str) -> None:
    assert expected in reason(text)


def test_deep_nesting_with_long_integers_is_rejected_too() -> None:
    deep = '{"a":' * 1_000 + "18446744073709551616" + "}" * 1_000
    assert "nested too deeply" in reason(deep)


def test_a_document_that_is_a_list_is_a_batch() -> None:
    raw = b'[{"id": "a"}, 5, {"b": 1}, {"b": 18446744073709551616}]'
    outcomes = list(records.document(raw, "e.json:1", PLAIN))
    assert [outcome.place for outcome in outcomes] == [f"e.json:1[{i}]" for i in range(4)]
    assert [o.event.id if isinstance(o, Decoded) else o.reason[:8] for o in outcomes] == [
        "a",
        "a number",
        "e.json:1[2]",
        "e.json:1[3]",
    ]
    assert [outcome.raw for outcome in outcomes] == [b'{"id":"a"}', b"5", b'{"b":1}', raw]
    assert list(records.document(b"[]", "e.json:1", PLAIN)) == []


def test_a_document_over_several_lines_names_the_line_of_its_error() -> None:
    (outcome,) = records.document(b'{\n "a": 1,\n "b" 2\n}', "e.json:1", PLAIN)
    assert isinstance(outcome, Rejected)
    assert outcome.reason.startswith("bad JSON at line 3 column 6")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner)
    ),
    max_leaves=20,
)


def flattened(path: tuple[str, ...], value: Any) -> Iterator[tuple[str, object]]:
    """The naive flattener."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from flattened((*path, key), member)
    elif isinstance(value, list):
        for item in value:
            yield from flattened(path, item)
    elif value is not None:
        yield ".".join(path), value


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), json_values))
def test_reading_equals_a_naive_flattener(data: dict[str, Any]) -> None:
    if "specversion" in data:
        return
    expected = dict.fromkeys((name, term_of(value)) for name, value in flattened((), data))
    found = event(json.dumps(data, ensure_ascii=False))
    assert [(fact.property.text, fact.object) for fact in found.facts] == list(expected)
