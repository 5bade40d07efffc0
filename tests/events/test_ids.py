"""Ids found by the kernels and by columns are those that the plain decoder finds."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events import records
from sensewire.events.columns import facts_of
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan

NOW = datetime(2024, 3, 1, tzinfo=UTC)
FIELDS = ("id", "meta.id", "a.b.c")

_ids = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["a", "e-1", "Zürich", "🦊", 'q"q', "back\\slash", "tab\t", "", "\u2028"]),
    st.integers(-3, 3),
    st.sampled_from([2**53, -(2**53) - 1, 2**64, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)
_values = st.recursive(
    _ids,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["id", "b", "c", "b.c", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)
_records = st.dictionaries(
    st.sampled_from(["id", "meta", "meta.id", "a", "a.b", "a.b.c", "price"]), _values, max_size=4
)


def _plain(lines: list[bytes], field: str | None) -> list[str | None]:
    """The ids by the plain decoder; None for a line that has none of its own, or is rejected."""
    decoding = Decoding(NOW, id_field=field)
    outcomes = [next(iter(records.line(line, "NONE", decoding))) for line in lines]
    return [
        outcome.event.id if isinstance(outcome, Decoded) and outcome.event.id != "NONE" else None
        for outcome in outcomes
    ]


def _scanned(lines: list[bytes], field: str | None, known: tuple[str, ...] = ()) -> Any:
    data = b"\n".join(lines)
    lengths = np.array([len(line) + 1 for line in lines], np.int64)
    ends = np.cumsum(lengths) - 1
    starts = ends - lengths + 1
    facts = scan(
        data,
        starts,
        ends,
        Dictionary(["price", *known]),
        decoding=Decoding(NOW, id_field=field),
        place=lambda row: "NONE",
        with_ids=True,
    )
    ids: Any = facts.ids
    return [None if id == "NONE" else id for id in ids.to_pylist()]


@given(st.lists(_records, min_size=1, max_size=8), st.sampled_from(FIELDS), st.booleans())
def test_the_scanner_finds_the_ids_of_the_plain_decoder(
    rows: list[dict[str, Any]], field: str, escaped: bool
) -> None:
    lines = [json.dumps(row, ensure_ascii=escaped).encode() for row in rows]
    assert _scanned(lines, field) == _plain(lines, field)
    assert _scanned(lines, field, known=(field,)) == _plain(lines, field)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "a", "id": "b"}',
        b'{"id": -0}',
        b'{"id": -0.0}',
        b'{"id": "\\u0061"}',
        b'{"id": ["a"]}',
        b'{"x": {"id": "a"}}',
        b'{"specversion": "1.0", "id": "7", "source": "/s", "type": "t", "data": {"id": 3}}',
        b'{"id": "a", "broken": }',
        b'{"id": ""}',
        b"  ",
    ],
)
def test_odd_ways_to_write_an_id(line: bytes) -> None:
    good = b'{"id": "good", "price": 3}'
    assert _scanned([good, line, good], "id") == ["good", *_plain([line], "id"), "good"]


def test_lines_at_the_very_end_are_copied_and_keep_their_ids() -> None:
    lines = [f'{{"id":"{"x" * (n % 60)}{n}"}}'.encode() for n in range(300)]
    assert _scanned(lines, "id") == [f"{'x' * (n % 60)}{n}" for n in range(300)]


def test_no_id_field_gives_no_ids() -> None:
    data = b'{"id": "a"}'
    bounds = np.array([0]), np.array([len(data)])
    facts = scan(data, *bounds, Dictionary(), decoding=Decoding(NOW), place=str)
    assert facts.ids is None


_texts = st.one_of(st.none(), st.text(max_size=4))
_whole = st.one_of(st.none(), st.integers(-5, 5))


@given(
    st.lists(st.tuples(_texts, _whole, _texts), min_size=1, max_size=5),
    st.sampled_from(["id", "meta.id", "id.x", "number", "price"]),
    st.booleans(),
)
def test_columns_give_the_ids_of_their_rows(
    rows: list[tuple[str | None, int | None, str | None]], field: str, encoded: bool
) -> None:
    texts: Any = pa.array([text for text, _, _ in rows], pa.string())
    batch = pa.RecordBatch.from_pydict(
        {
            "id": texts.dictionary_encode() if encoded else texts,
            "number": pa.array([number for _, number, _ in rows], pa.int16()),
            "meta": pa.array(
                [{"id": number} for _, number, _ in rows], pa.struct([("id", pa.int64())])
            ),
            "meta.id": pa.array([text for _, _, text in rows], pa.large_string()),
            "price": pa.array([1.5] * len(rows)),
        }
    )
    decoding = Decoding(NOW, id_field=field)
    facts = facts_of(batch, Dictionary(), decoding=decoding, place=lambda _: "NONE", with_ids=True)
    ids: Any = facts.ids
    expected = [facts.event_at(row).id for row in range(len(rows))]
    assert [id or "NONE" for id in ids.to_pylist()] == expected
