"""The subscriptions of a run: a bad line is rejected with its place and reason, the rest stands."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.errors import SensewireError
from sensewire.spark.subscriptions import Subscriptions, subscriptions_in

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


def read(folder: Path, *items: Any) -> Subscriptions:
    path = folder / "s.jsonl"
    path.write_bytes(
        b"\n".join(i if isinstance(i, bytes) else json.dumps(i).encode() for i in items)
    )
    return subscriptions_in(path, NOW, Knowledge())


GOOD = {"id": "good", "text": "price > 1"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not JSON", "bad JSON at column 2"),
        (["a list"], "a subscription is an object"),
        ({**GOOD, "expire": "2024-01-01"}, "there is no key 'expire'; did you mean 'expires'?"),
        ({"id": "b", "txt": "price > 1"}, "there is no key 'txt'; did you mean 'text'?"),
        ({"id": "b"}, "the key 'text' is missing or empty"),
        ({"id": "", "text": "price > 1"}, "the key 'id' is missing or empty"),
        ({"id": 7, "text": "price > 1"}, "'id' holds a string, not 7"),
        ({**GOOD, "text": ["price"]}, "'text' holds a string, not ['price']"),
        ({"id": "b", "text": "price <="}, "price <=\n        ^ expected a value"),
        ({"id": "b", "text": "price > 1 and ?x > 80"}, "?x"),
        ({"id": "b", "text": "locIn(Bronx)"}, "there is no operator 'locIn'"),
        ({"id": "b", "text": "price > 1", "language": "klingon"}, "'klingon'"),
        ({"id": "b", "text": "price > 1", "reading": "aloud"}, "'aloud'"),
        ({"id": "b", "text": "price > 1", "expires": "soon"}, "'soon' is no date"),
        ({"id": "b", "text": "price > 1", "tolerance": "wide"}, "a number above 0, not 'wide'"),
        ({"id": "b", "text": "price > 1", "tolerance": True}, "a number above 0, not True"),
        ({"id": "b", "text": "price > 1", "tolerance": 0}, "a number above 0"),
        ({"id": "b", "text": "price > 1 within 2", "tolerance": 1}, "say it once"),
        (GOOD, "the id 'good' stands at"),
        (b'{"id": "b", "text": "' + b"x" * 2_000_000 + b'"}', "longer than 1,048,576 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_line_is_rejected_and_the_rest_stands(tmp_path: Path, line: Any, reason: str) -> None:
    found = read(tmp_path, GOOD, b"", line, {"id": "last", "text": "price > 2"})
    assert found.live == (("good", parse("price > 1")), ("last", parse("price > 2")))
    (rejected,) = found.rejected
    assert rejected.place == f"{tmp_path / 's.jsonl'}:3"
    assert reason in rejected.reason
    assert rejected.raw


def test_what_has_expired_is_not_live(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {**GOOD, "id": "past", "expires": "2024-03-01T12:00:00Z"},
        {**GOOD, "id": "future", "expires": "2024-03-01T12:00:00.001Z"},
        {**GOOD, "id": "ever", "expires": None},
    )
    assert [id for id, _ in found.live] == ["future", "ever"]
    assert (found.expired, found.rejected) == (1, ())


def test_tolerance_is_the_lines_or_the_texts(tmp_path: Path) -> None:
    within = {**GOOD, "text": "price > 1 within 0.5"}
    found = read(tmp_path, {**GOOD, "tolerance": 0.5}, {**within, "id": "b", "tolerance": 0.5})
    assert found.rejected == ()
    assert {subscription for _, subscription in found.live} == {parse("price > 1 within 0.5")}


@pytest.mark.parametrize("name", ["none.jsonl", "."])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SensewireError, match="expected a file of subscriptions as JSON lines"):
        subscriptions_in(tmp_path / name, NOW, Knowledge())
