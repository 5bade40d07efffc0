"""`match_batch`: each row of a batch is matched as its event is alone, however it was sent.

Cases are generated (laws), and hostile rows are listed: what cannot be read is rejected with its
reason, and the rest goes on.
"""

import json
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensewire as sw
from sensewire.events import records
from sensewire.events.decoding import Decoded, Decoding
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.conditions import Equal, Name, exact, meaning
from sensewire.model.subscription import Conjunction, Predicate, Subscription
from tests.answers import (
    NAMES,
    any_knowledge,
    any_record,
    any_subscription,
    engine_of,
    told,
    told_in_batch,
)

NOW = datetime(2024, 3, 1, tzinfo=UTC)


def json_batch(*rows: bytes | str | dict[str, Any] | None) -> pa.RecordBatch:
    """A batch of one column `json`; dicts are written."""
    texts = [json.dumps(row).encode() if isinstance(row, dict) else row for row in rows]
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.binary())], ["json"])


def column_batch(**columns: Any) -> pa.RecordBatch:
    """A batch of a column an attribute."""
    return pa.RecordBatch.from_pydict(columns)


def told_of_text(engine: sw.Engine, text: bytes, row: int) -> list[str]:
    """What an engine says of the event that a JSON text is, read by the plain decoder."""
    outcomes = list(records.line(text, f"row {row}", Decoding(now=NOW)))
    if len(outcomes) != 1:
        return [
            f"rejected: a batch of {len(outcomes)} CloudEvents; expected one event, for one row"
        ]
    (outcome,) = outcomes
    if isinstance(outcome, Decoded):
        return told(engine, outcome.event)
    return [f"rejected: {outcome.reason}"]


def told_of_rows(engine: sw.Engine, batch: pa.RecordBatch) -> list[list[str]]:
    """What an engine says of the rows of a batch as Python has them, one by one."""
    rows = batch.to_pylist()
    # Without an id of its own, an event has its place for one.
    return [
        told(engine, sw.Event.record(row, id=None if row.get("id") else f"row {number}"))
        for number, row in enumerate(rows)
    ]


HOSTILE = [
    b"",
    b"   ",
    b"{",
    b"null",
    b"7",
    b"[1]",
    b'{"price": }',
    b'{"price": 1} {"price": 1}',
    b"\xff\xfe",
    b'{"colour": "\xff"}',
    b'\xef\xbb\xbf{"price": 1}',
    b'{"price": NaN}',
    b'{"price": Infinity}',
    b'{"price": 1e999}',
    b'{"price": -0.0}',
    b'{"price": 9007199254740993}',
    b'{"price": 1' + b"0" * 400 + b"}",
    b'{"price": 1.0000000000000000000000001}',
    b'{"price": 1, "price": 2}',
    b'{"price": 1, "price": null}',
    b'{"colour": {"price": 1}, "colour": "red"}',
    b'{"size.screen": 1, "size": {"screen": 2}}',
    b'{"size": {"screen": {"deep": 1}}}',
    b'{"pr\\u0069ce": 1, "colour": "r\\u0065d"}',
    b'{"colour": "\\ud800"}',
    b'{"colour": "\\u0000\\ud83d\\ude00"}',
    b'{"": 1, ".": 2, "price.": 1}',
    b'{"price": [[[1]], {"x": 1}, null, "red"]}',
    b'{"tags": ["red", "green", "red"], "id": "mine"}',
    b'{"id": 7, "price": 2}',
    b'{"specversion": "1.0", "id": "a", "source": "/s", "type": "t", "data": {"price": 1}}',
    b'{"specversion": "1.0", "id": "a", "source": "/s", "type": "t", "data": "red"}',
    b'{"specversion": "1.0", "type": "t", "data": {"price": 1}}',
    b'[{"specversion": "1.0", "id": "a", "source": "/s", "type": "t", "data": {"price": 1}}]',
    b'[{"specversion": "1.0", "id": "a", "source": "/s", "type": "t"}, {"specversion": "1.0"}]',
    b'{"price": ' + b"[" * 2_000 + b"]" * 2_000 + b"}",
]
QUESTIONS = [
    "price = 1",
    "price > 1 and price < 1.5",
    "price != 2",
    "not price = 1",
    "not colour exists",
    "colour = red",
    "colour prefix 'r'",
    "size.screen >= 2",
    "price >= 9007199254740993",
    "tags = red",
    "price = 1.2 within 0.2",
    "select ?x where price = ?x",
    "select ?x where (home, ?x, 1) or colour = ?x",
    "(home, price, ?x) and not ?x = 2",
    "cloudevent.type = t",
    "id = mine",
]


def asking(*questions: str, known: Knowledge = Knowledge()) -> sw.Engine:  # noqa: B008 - frozen
    engine = sw.Engine(known)
    for number, question in enumerate(questions):
        engine.add(sw.parse(question), id=f"s{number}")
    return engine


def knowledge_of(folder: Path, text: str) -> Knowledge:
    path = folder / "shop.yaml"
    path.write_text(text)
    return Knowledge.load(path)


json_rows = st.lists(
    any_record.map(lambda record: json.dumps(record).encode()) | st.sampled_from(HOSTILE),
    max_size=5,
)


@given(known=any_knowledge, asked=st.lists(any_subscription, max_size=5), texts=json_rows)
def test_a_batch_of_json_is_its_events_one_by_one(
    known: Knowledge, asked: list[Subscription], texts: list[bytes]
) -> None:
    engine = engine_of(known, asked)
    expected = [told_of_text(engine, text, row) for row, text in enumerate(texts)]
    assert told_in_batch(engine, json_batch(*texts)) == expected
    assert told_in_batch(engine, json_batch(*texts)) == expected  # and the second time


TYPES: list[tuple[pa.DataType, list[object]]] = [
    (pa.string(), [*NAMES, "RED", "one:red", "1", "2024-03-01", ""]),
    (pa.large_string(), ["red", "green"]),
    (pa.dictionary(pa.int8(), pa.string()), ["red", "crimson"]),
    (pa.int64(), [1, 2, 2**53 + 1, -(2**63)]),
    (pa.uint64(), [1, 2**64 - 1]),
    (pa.int8(), [1, -2]),
    (pa.float64(), [1.0, 1.5, math.nan, math.inf, -math.inf, -0.0]),
    (pa.float32(), [1.0, 1.5]),
    (pa.bool_(), [True, False]),
    (pa.decimal128(20, 2), [Decimal("1.00"), Decimal("1.50"), Decimal("2.01")]),
    (pa.date32(), [date(2024, 3, 1), date(1, 1, 1)]),
    (pa.timestamp("us", "UTC"), [NOW, NOW + timedelta(microseconds=1)]),
    (pa.list_(pa.string()), [["red", "green"], [], [None], ["red", "red"]]),
    (pa.list_(pa.int64(), 2), [[1, 2], [None, 1]]),
    (pa.struct([("screen", pa.int64()), ("deep", pa.string())]), [{"screen": 1, "deep": "red"}]),
    (pa.list_(pa.struct([("screen", pa.int64())])), [[{"screen": 1}, {"screen": None}]]),
    (pa.list_(pa.struct([("screen", pa.int64())]), 1), [[{"screen": 2}]]),
    (pa.null(), []),
]


@st.composite
def column_batches(draw: st.DrawFn) -> pa.RecordBatch:
    """Batches of up to four columns of any type, with nulls, perhaps a slice of a longer one."""
    rows = draw(st.integers(0, 4))
    names = st.sampled_from(["price", "colour", "size.screen", "size", "tags", "other", "Price"])
    chosen = draw(st.lists(names, max_size=4, unique=True))
    columns: list[pa.Array[Any]] = []
    for _ in chosen:
        kind, values = draw(st.sampled_from(TYPES))
        value = st.none() | st.sampled_from(values) if values else st.none()
        made = draw(st.lists(value, min_size=rows + 2, max_size=rows + 2))
        columns.append(pa.array(made, kind))
    whole = pa.RecordBatch.from_arrays(columns, chosen)
    first = draw(st.integers(0, 2))
    return whole.slice(first, rows)


@given(known=any_knowledge, asked=st.lists(any_subscription, max_size=5), batch=column_batches())
def test_a_batch_of_columns_is_its_events_one_by_one(
    known: Knowledge, asked: list[Subscription], batch: pa.RecordBatch
) -> None:
    engine = engine_of(known, asked)
    expected = told_of_rows(engine, batch)
    assert told_in_batch(engine, batch) == expected


@given(asked=st.lists(any_subscription, max_size=4), data=st.lists(any_record, max_size=3))
def test_the_oracle_takes_batches_too(asked: list[Subscription], data: list[Any]) -> None:
    known = Knowledge()
    batch = json_batch(*data)
    expected = told_in_batch(engine_of(known, asked, matcher="oracle"), batch)
    assert told_in_batch(engine_of(known, asked), batch) == expected


def test_hostile_rows_are_rejected_and_the_rest_goes_on() -> None:
    engine = asking(*QUESTIONS)
    expected = [told_of_text(engine, text, row) for row, text in enumerate(HOSTILE)]
    assert told_in_batch(engine, json_batch(*HOSTILE)) == expected
    rejected = [row for row, lines in enumerate(expected) if "rejected" in "".join(lines)]
    assert 10 < len(rejected) < len(HOSTILE) - 10


def test_rejected_rows_match_nothing() -> None:
    engine = asking("not a = 1", "a = 1")
    found = engine.match_batch(json_batch("{", {"a": 1}, None, {"a": 2}))
    assert found.rejected.column("event").to_pylist() == [0, 2]
    assert found.matches.column("event").to_pylist() == [1, 3]
    assert found.matches.column("subscription").to_pylist() == ["s1", "s0"]


@pytest.mark.parametrize("some", ["a >= 1", "select ?x where a = ?x", "a = 1 or b = 1"])
def test_all_is_in_the_order_of_events_and_then_of_coming(some: str) -> None:
    engine = sw.Engine()
    came = [f"{number * 7 % 30:02}" for number in range(30)]
    for number, id in enumerate(came):
        asked = ("a >= 1", some, f"a <= {100 - number}")[number % 3]
        engine.add(sw.parse(asked), id=id)
        if number % 10 == 9:
            engine.match(sw.Event.record({"a": 1}))  # so that there are several segments
    found = engine.match_batch(json_batch(*({"a": 1} for _ in range(20)))).matches
    assert found.column("event").to_pylist() == [row for row in range(20) for _ in range(30)]
    sure = [row for row in found.to_pylist() if row["rows"] is None]
    places = [(row["event"], came.index(row["subscription"])) for row in sure]
    assert places == sorted(places)
    pairs = zip(found.column("event").to_pylist(), found.column("subscription"), strict=True)
    assert len(set(pairs)) == 600


def test_the_second_clause_of_a_subscription_says_nothing_twice() -> None:
    engine = asking("a = 1 or b = 1", "a = 1", "select ?x where a = ?x or b = ?x")
    batch = json_batch({"a": 1, "b": 1}, {"b": 1}, {"c": 1})
    assert told_in_batch(engine, batch) == [
        ["s0 at 0: -", "s1 at 0: -", 's2 at 0: ?x "1"^^<http://www.w3.org/2001/XMLSchema#integer>'],
        ["s0 at 0: -", 's2 at 0: ?x "1"^^<http://www.w3.org/2001/XMLSchema#integer>'],
        [],
    ]


def test_a_clause_that_is_judged_says_nothing_twice_either() -> None:
    engine = asking("a = 1 or b = ?x and c = ?y and ?x < ?y")
    rows: list[dict[str, Any]] = [{"a": 1, "b": 1, "c": 2}, {"a": 1}, {"b": 1, "c": 2}]
    assert told_in_batch(engine, json_batch(*rows)) == [["s0 at 0: -"]] * 3


def test_of_several_clauses_the_nearest_tells_the_distance() -> None:
    engine = asking("a <= 10 or b <= 10 within 1")
    for row in ({"a": 11, "b": 12}, {"a": 12, "b": 11}):
        assert told(engine, sw.Event.record(row)) == ["s0 at 0.1: -"]
        assert told_in_batch(engine, json_batch(row)) == [["s0 at 0.1: -"]]


# What knowledge calls attributes, and what functions read: by JSON and by columns alike.

SHOP = """\
scheme: shop
synonyms:
  price: [value, cost]
properties: {cellPhoneNumber: telephoneNumber}
hierarchy: {laptop: computer}
mappings:
  - {name: area, inputs: [{w: width}], outputs: {area: w * 2}}
  - {name: broken, inputs: [{d: depth}], outputs: {volume: 1 / (d - d)}}
  - {name: endless, inputs: [{n: n}], outputs: {n: n + 1}}
"""


@pytest.mark.parametrize(
    ("asked", "record"),
    [
        ("price = 5", {"cost": 5}),
        ("value = 5", {"Cost": 5}),
        ("price = 5", {"shop:value": 5}),
        ("telephoneNumber = 5", {"cellPhoneNumber": 5}),
        ("cellPhoneNumber = 5 within 1", {"telephoneNumber": 5}),
        ("area = 10", {"width": 5}),
        ("not area = 10", {"width": 6}),
        ("product = computer", {"product": "laptop"}),
        ("product = computer", {"product": "Laptop"}),
    ],
)
def test_attributes_by_all_their_names(tmp_path: Path, asked: str, record: dict[str, Any]) -> None:
    engine = asking(asked, known=knowledge_of(tmp_path, SHOP))
    expected = told(engine, sw.Event.record(record))
    assert len(expected) == 1
    assert told_in_batch(engine, json_batch(record)) == [expected]
    assert told_in_batch(engine, pa.RecordBatch.from_pylist([record])) == [expected]


def test_functions_that_derive_fail_and_never_end(tmp_path: Path) -> None:
    asked = ["area = 10", "not width = 5", "not area = 10", "volume = 1", "a = 1", "not b = 2"]
    engine = asking(*asked, known=knowledge_of(tmp_path, SHOP))
    rows: list[dict[str, Any]] = [
        {"width": 5},
        {"n": 1, "a": 1},
        {"depth": 2, "a": 1},
        {"a": 1},
        {"width": 6, "b": 2},
        {"width": "five", "a": 1},
    ]
    expected = [
        told(engine, sw.Event.record(row, id=f"row {number}")) for number, row in enumerate(rows)
    ]
    assert expected[0] == ["s0 at 0: -", "s5 at 0: -"]
    assert len(expected[1]) == 1
    assert "endless came to no end" in expected[1][0]
    assert any(line.startswith("s3 failed") for line in expected[2])
    assert told_in_batch(engine, json_batch(*rows)) == expected


@pytest.mark.parametrize("written", ["json", "columns"])
def test_what_was_seen_is_counted_alike(tmp_path: Path, written: str) -> None:
    text = "scheme: one\nhierarchy: {bank: place}\nmappings:\n  - {name: twice, inputs: [{n: n}], "
    (tmp_path / "a.yaml").write_text(text + "outputs: {m: n * 2}}\n")
    (tmp_path / "b.yaml").write_text("scheme: two\nhierarchy: {bank: seat}\n")
    known = Knowledge.load(tmp_path)
    rows: list[dict[str, Any]] = [
        {"where": "bank"},
        {"where": "bank", "n": 1},
        {"n": 2},
        {"where": "here"},
    ]
    alone, together = asking("where exists", known=known), asking("where exists", known=known)
    for row in rows:
        alone.match(sw.Event.record(row))
    batch = json_batch(*rows) if written == "json" else pa.RecordBatch.from_pylist(rows)
    together.match_batch(batch)
    assert alone.statistics().ambiguous == {"bank": 2}
    assert together.statistics() == alone.statistics()


# Shapes of batches


def test_columns_that_are_missing_are_absent() -> None:
    engine = asking("a = 1", "b = 1", "not b exists")
    assert told_in_batch(engine, column_batch(a=[1, 2])) == [
        ["s0 at 0: -", "s2 at 0: -"],
        ["s2 at 0: -"],
    ]


def test_batches_of_nothing() -> None:
    engine = asking("a = 1", "not a = 1")
    rows = column_batch(a=[1, 2])
    nothing: list[pa.RecordBatch | pa.Table] = [
        json_batch(),
        pa.RecordBatch.from_arrays([pa.array([], pa.large_string())], ["json"]),
        rows.slice(1, 0),
        pa.RecordBatch.from_arrays([], []),
        pa.table({}),
        pa.table({"a": pa.array([], pa.int64())}),
        json_batch({"a": 1}).slice(1, 0),
    ]
    for batch in nothing:
        found = engine.match_batch(batch)  # type: ignore[arg-type]  # tables are taken too
        assert [len(table) for table in (found.matches, found.failures, found.rejected)] == [0] * 3
        assert found.matches.schema.names == ["event", "subscription", "rows", "distance"]
        assert found.failures.schema.names == ["event", "subscription", "reason"]
        assert found.rejected.schema.names == ["event", "reason"]


def test_rows_without_columns_are_events_without_facts() -> None:
    engine = asking("a = 1", "not a = 1")
    assert told_in_batch(engine, column_batch(a=[1, 2]).select([])) == [["s1 at 0: -"]] * 2


def test_an_engine_without_subscriptions_finds_nothing() -> None:
    found = sw.Engine().match_batch(json_batch({"a": 1}, "{"))
    assert len(found.matches) == 0
    assert found.rejected.column("event").to_pylist() == [1]


def test_slices_and_tables_are_read_from_their_first_row() -> None:
    engine = asking("a = 1", "a = 2", "not a exists")
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": 2}, {}, {"a": [1, 2]}]
    whole = json_batch(*rows)
    expected = [told(engine, sw.Event.record(row)) for row in rows]
    for first in range(4):
        assert told_in_batch(engine, whole.slice(first)) == expected[first:]
    table = pa.Table.from_batches([whole.slice(2), whole.slice(0, 1), whole])
    assert told_in_batch(engine, table) == [*expected[2:], expected[0], *expected]  # type: ignore[arg-type]  # tables are taken too


def test_nulls_over_bytes_that_nobody_meant() -> None:
    """Arrow says nothing of the bytes below a null."""
    texts = pa.array([b'{"a": 1}', b'{"a": 1}'], pa.binary())
    _, offsets, data = texts.buffers()
    hidden = pa.Array.from_buffers(pa.binary(), 2, [pa.py_buffer(b"\x02"), offsets, data])
    engine = asking("a = 1", "not a = 1")
    lines = told_in_batch(engine, pa.RecordBatch.from_arrays([hidden], ["json"]))
    assert lines[1] == ["s0 at 0: -"]
    assert len(lines[0]) == 1
    assert lines[0][0].startswith("rejected: ")


@pytest.mark.parametrize(
    "wrong", [None, [{"a": 1}], {"a": [1]}, b'{"a": 1}', pa.array([1]), sw.Event.record({"a": 1})]
)
def test_what_is_no_batch_is_refused(wrong: Any) -> None:
    with pytest.raises(sw.EventError, match=r"is no batch; expected a pyarrow\.RecordBatch"):
        sw.Engine().match_batch(wrong)


@pytest.mark.parametrize("kind", [pa.int64(), pa.null(), pa.list_(pa.binary())])
def test_json_is_text_or_bytes(kind: pa.DataType) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([None], kind)], ["json"])
    with pytest.raises(sw.EventError, match=r"the column 'json' is of type .*; expected binary"):
        sw.Engine().match_batch(batch)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.large_binary()])
def test_json_in_every_column_of_texts(kind: pa.DataType) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(['{"a": 1}', "{}"], kind)], ["json"])
    assert told_in_batch(asking("a = 1"), batch) == [["s0 at 0: -"], []]


def test_a_column_json_beside_others_is_an_attribute() -> None:
    batch = column_batch(json=["x", '{"a": 1}'], a=[None, 2])
    assert told_in_batch(asking("json = x", "a = 1", "a = 2"), batch) == [
        ["s0 at 0: -"],
        ["s2 at 0: -"],
    ]


def test_bytes_are_no_terms() -> None:
    batch = column_batch(photo=[b"x", None], a=[1, 1])
    assert told_in_batch(asking("a = 1"), batch) == [["s0 at 0: -"]] * 2
    lines = told_in_batch(asking("a = 1", "photo exists"), batch)
    assert lines[1] == ["s0 at 0: -"]
    assert len(lines[0]) == 1
    assert "'photo' has the type binary, whose values are no terms" in lines[0][0]


def test_structs_in_lists_of_every_layout() -> None:
    """The law above says it too, of those that it draws."""
    inner = pa.struct([("b", pa.int64())])
    for kind in (pa.list_(inner), pa.large_list(inner), pa.list_(inner, 1), pa.list_view(inner)):
        column = pa.array([[{"b": 1}], [{"b": 2}]], kind)
        batch = pa.RecordBatch.from_arrays([column], ["a"])
        assert told_in_batch(asking("a.b = 1"), batch) == [["s0 at 0: -"], []], kind


# Sizes


def test_ten_thousand_values_of_one_attribute() -> None:
    engine = asking(
        "v = 9999", "v = 10000", "v > 9998", "not v = 5", "v = w9999", "v suffix '9998'"
    )
    for values in (list(range(10_000)), [f"w{number}" for number in range(10_000)]):
        expected = [told(engine, sw.Event.record({"v": values}, id="row 0"))]
        assert expected[0]
        assert told_in_batch(engine, json_batch({"v": values})) == expected
        assert told_in_batch(engine, pa.RecordBatch.from_pylist([{"v": values}])) == expected


def test_two_thousand_attributes() -> None:
    engine = asking(*(f"a{number} = {number}" for number in range(0, 2_000, 7)), "not a1999 = 1")
    row = {f"a{number}": number for number in range(2_000)}
    expected = [told(engine, sw.Event.record(row))]
    assert len(expected[0]) == 287
    assert told_in_batch(engine, json_batch(row)) == expected
    assert told_in_batch(engine, pa.RecordBatch.from_pylist([row])) == expected


def test_more_events_than_sixteen_bits_count() -> None:
    batch = column_batch(a=[number % 1_000 for number in range(70_000)])
    found = asking("a = 7", "a = 999").match_batch(batch).matches
    events = found.column("event").to_pylist()
    assert events == [n for n in range(70_000) if n % 1_000 in (7, 999)]


def test_subscriptions_that_come_and_go_between_batches() -> None:
    engine = asking("a = 1")
    batch = json_batch({"a": 1, "b": "x", "c": 2.5})
    assert told_in_batch(engine, batch) == [["s0 at 0: -"]]
    engine.add(sw.parse("b = x"), id="later")
    engine.add(sw.parse("c > 2 and not d exists"), id="numbers")
    assert told_in_batch(engine, batch) == [["later at 0: -", "numbers at 0: -", "s0 at 0: -"]]
    engine.remove("s0")
    engine.add(sw.parse("b != x or c matches '2'"), id="no")
    assert told_in_batch(engine, batch) == [["later at 0: -", "numbers at 0: -"]]


@pytest.mark.parametrize(
    ("questions", "record"),
    [
        (['(?x, "s", ?y) strict'], {"s": 1}),
        (['(?x, "s", ?y) strict', "t = 1"], {"s": "text"}),
        (["(?x, ?p, ?y)", "s.deep exists"], {"s": 1}),
        (["not (?x, ?p, ?y)", "s.deep exists"], {"s": 1}),
        (["wide = 1", "s.deep exists"], {"s": 1}),
        (["wide = 1", "s.deep exists"], {"s": {"deep": 1}}),
        (["wide = 1", "s.deep.deeper exists"], {"s": {"deep": 1}}),
    ],
)
def test_attributes_that_no_predicate_names(
    tmp_path: Path, questions: list[str], record: dict[str, Any]
) -> None:
    """Those of strict patterns; and where an attribute begins like one that somebody names."""
    (tmp_path / "o.ttl").write_text(
        "@prefix : <http://x.org/o#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":s rdfs:subPropertyOf :wide ."
    )
    for known in (Knowledge(), Knowledge.load(tmp_path / "o.ttl")):
        columns = column_batch(**{name: [of] for name, of in record.items()})
        for batch in (json_batch(record), columns):
            engine = asking(*questions, known=known)
            expected = told(engine, sw.Event.record(record))
            assert told_in_batch(engine, batch) == [expected]
            assert told_in_batch(engine, batch) == [expected]  # what was met is known now


def test_numbers_that_are_looked_at_one_by_one_keep_their_kind() -> None:
    """An exact name stands for a number's text: `5` is no `5.0`, and 1e15 is not written so."""
    asked = ["a = 5", "a is a xsd:integer", "a is a xsd:double"]
    engine = sw.Engine()
    for number, value in enumerate(["5", "5.0", "5.0E0", "1000000000000000", "1.0E15"]):
        exactly = Predicate(meaning("a"), Equal(exact(Name(value))))
        engine.add(Subscription((Conjunction((exactly,)),)), id=f"name {number}")
    for number, text in enumerate(asked):
        engine.add(sw.parse(text), id=f"s{number}")
    rows: Sequence[dict[str, Any]] = [{"a": value} for value in (5, 5.0, 10**15, 1e15, [5, 5.5])]
    expected = [told(engine, sw.Event.record(row)) for row in rows]
    assert len({str(each) for each in expected}) > 3
    assert told_in_batch(engine, json_batch(*rows)) == expected


def test_a_dictionary_that_is_full_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = asking("a = w5", "a prefix 'w9'", "not a = w7")
    rows: Sequence[dict[str, Any]] = [{"a": f"w{number}"} for number in range(10)]
    expected = [told(engine, sw.Event.record(row)) for row in rows]
    assert told_in_batch(engine, json_batch(*rows)) == expected
    assert engine._batches is not None
    monkeypatch.setattr(engine._batches._dictionary, "_most_words", 3)
    assert engine._batches._dictionary.full
    for _ in range(2):
        assert told_in_batch(engine, json_batch(*rows)) == expected
    assert not engine._batches._dictionary.full
