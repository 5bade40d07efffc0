"""Columns say what the rows say as records, of the attributes that were asked for."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events.columns import facts_of
from sensewire.events.decoding import Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.model.event import Event
from sensewire.model.facts import UNSEEN, Facts
from sensewire.model.terms import string, term_of
from tests.events.telling import NOW, PLAIN, Said, told

Values = st.SearchStrategy[Any]  # Any: whatever a column may hold
Column = tuple[pa.DataType, Values]

INTEGERS: list[Column] = [
    (type, st.integers(0 if str(type).startswith("u") else -(2 ** (type.bit_width - 1)), most))
    for type in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint64(),
    )
    for most in [2 ** (type.bit_width - (0 if str(type).startswith("u") else 1)) - 1]
]
TIMES = st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1))
# Arrow asks pandas for nanoseconds, whose zones know no summer after 2037, and little before 1902.
PANDAS_TIMES = st.datetimes(datetime(1902, 1, 1), datetime(2037, 12, 31))
SCALARS: list[Column] = [
    *INTEGERS,
    (pa.int64(), st.sampled_from([2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 7])),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.float16(), st.floats(width=16)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=12)),
    (pa.large_string(), st.text(max_size=12)),
    (pa.string_view(), st.text(max_size=20)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "Zürich"])),
    (pa.dictionary(pa.int32(), pa.large_string()), st.sampled_from(["a", "b"])),
    (pa.dictionary(pa.int32(), pa.int64()), st.sampled_from([1, 2, 2**60])),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.timestamp("s"), TIMES.map(lambda moment: moment.replace(microsecond=0))),
    (pa.timestamp("ms"), TIMES.map(lambda moment: moment.replace(microsecond=5_000))),
    (pa.timestamp("us"), TIMES),
    (pa.timestamp("ns"), TIMES),
    (pa.timestamp("us", "UTC"), TIMES.map(lambda moment: moment.replace(tzinfo=UTC))),
    (
        pa.timestamp("ns", "Europe/Zurich"),
        PANDAS_TIMES.map(lambda moment: moment.replace(tzinfo=UTC)),
    ),
    (pa.timestamp("us", "+01:30"), TIMES.map(lambda moment: moment.replace(tzinfo=UTC))),
    (pa.decimal128(9, 2), st.decimals(-9_999_999, 9_999_999, places=2)),
    (pa.decimal256(40, 3), st.decimals(-(10**30), 10**30, places=3)),
    (pa.decimal64(9, 2), st.decimals(-9_999_999, 9_999_999, places=2)),
    (pa.decimal32(7, 1), st.decimals(-99_999, 99_999, places=1)),
    (pa.null(), st.none()),
]
KEYS = ["a", "b", "a.b", "", "c"]


def lists(column: Column) -> st.SearchStrategy[Column]:
    type, values = column
    some = st.lists(st.none() | values, max_size=3)
    two = st.lists(st.none() | values, min_size=2, max_size=2)
    kinds: list[Column] = [
        (pa.list_(type), some),
        (pa.large_list(type), some),
        (pa.list_(type, 2), two),
    ]
    if not pa.types.is_nested(type):
        kinds.append((pa.list_view(type), some))
    return st.sampled_from(kinds)


def structs(columns: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    def struct(members: dict[str, Column]) -> Column:
        type = pa.struct([(name, type) for name, (type, _) in members.items()])
        return type, st.fixed_dictionaries(
            {name: st.none() | values for name, (_, values) in members.items()}
        )

    return st.dictionaries(st.sampled_from(KEYS), columns, min_size=1, max_size=3).map(struct)


columns = st.recursive(
    st.sampled_from(SCALARS), lambda inner: inner.flatmap(lists) | structs(inner), max_leaves=4
)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    """A batch, or a slice of one."""
    count = draw(st.integers(0, 6))
    chosen = draw(st.dictionaries(st.sampled_from(KEYS), columns, min_size=1, max_size=3))
    arrays = {
        name: pa.array(
            draw(st.lists(st.none() | values, min_size=count, max_size=count)), type=type
        )
        for name, (type, values) in chosen.items()
    }
    batch = pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
    begin = draw(st.integers(0, count))
    return batch.slice(begin, draw(st.integers(0, count - begin)))


def read(batch: pa.RecordBatch, names: Sequence[str] = KEYS, decoding: Decoding = PLAIN) -> Facts:
    dictionary = Dictionary(names)
    return facts_of(batch, dictionary, decoding=decoding, place=lambda row: f"row {row}")


def as_records(batch: pa.RecordBatch, names: Sequence[str]) -> list[Said]:
    return [
        {(fact.property.text, fact.object) for fact in event.facts if fact.property.text in names}
        for event in map(Event.record, batch.to_pylist())
    ]


NAMES = ["a", "a.b", "a.b.c", "", "a.", ".a", "b", "b.a", "c.c", ".", "c", "a.a.b"]


@given(batches(), st.sets(st.sampled_from(NAMES), min_size=1).map(sorted))
def test_columns_are_records(batch: pa.RecordBatch, names: list[str]) -> None:
    facts = read(batch, names)
    assert told(facts) == as_records(batch, names)
    for row, data in enumerate(batch.to_pylist()):
        expected = Event.record(data, id=facts.event_at(row).id, time=NOW)
        assert facts.event_at(row) == expected


@st.composite
def batches_of_all(draw: st.DrawFn) -> pa.RecordBatch:
    """A slice of a batch with a column of each type, and a list of each."""
    count = draw(st.integers(2, 4))
    arrays = []
    for type, values in SCALARS:
        cells = draw(st.lists(st.none() | values, min_size=count, max_size=count))
        arrays += [pa.array(cells, type), pa.array([cells] * count, pa.list_(type))]
    batch = pa.RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])
    return batch.slice(draw(st.integers(0, 2)))


@given(batches_of_all())
def test_every_type(batch: pa.RecordBatch) -> None:
    names = batch.schema.names
    assert told(read(batch, names)) == as_records(batch, names)


def one(type: pa.DataType, values: Sequence[object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, type=type)], names=["a"])


def texts(facts: Facts) -> list[str]:
    """The texts of an event's terms, or why it is rejected."""
    return [
        said if isinstance(said, str) else " ".join(sorted(term.text for _, term in said))
        for said in told(facts)
    ]


def test_nanoseconds_are_kept() -> None:
    batch = one(pa.timestamp("ns"), [1_500_000_000_123_456_789, 1_000, 1, -1, 0])
    assert texts(read(batch)) == [
        "2017-07-14T02:40:00.123456789",
        "1970-01-01T00:00:00.000001",
        "1970-01-01T00:00:00.000000001",
        "1969-12-31T23:59:59.999999999",
        "1970-01-01T00:00:00",
    ]
    zoned = one(pa.timestamp("ns", "+02:00"), [1_500_000_000_123_456_789, 1])
    assert texts(read(zoned)) == [
        "2017-07-14T04:40:00.123456789+02:00",
        "1970-01-01T02:00:00.000000001+02:00",
    ]
    (fact,) = read(zoned).event_at(0).facts
    assert fact.object.text == "2017-07-14T04:40:00.123456789+02:00"
    assert fact.object.value == datetime(2017, 7, 14, 2, 40, 0, 123_456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (pa.binary(), b"x"),
        (pa.large_binary(), b"x"),
        (pa.binary(1), b"x"),
        (pa.time32("s"), time(1)),
        (pa.time64("us"), time(1)),
        (pa.duration("s"), timedelta(1)),
        (pa.map_(pa.string(), pa.int64()), [("k", 1)]),
        (pa.dictionary(pa.int8(), pa.binary()), b"x"),
        (pa.month_day_nano_interval(), (1, 2, 3)),
        (pa.uuid(), b"0123456789abcdef"),
    ],
    ids=str,
)
def test_what_is_no_term_rejects_its_rows(type: pa.DataType, value: object) -> None:
    batch = one(type, [None, value, None])
    batch = batch.append_column("b", pa.array([1, 2, 3]))
    said = told(read(batch))
    shown = type.value_type if pa.types.is_dictionary(type) else type
    assert said == [
        {("b", term_of(1))},
        f"the column 'a' has the type {shown}, whose values are no terms; expected strings, "
        "numbers, booleans, dates, decimals, or lists and structs of them",
        {("b", term_of(3))},
    ]
    assert [fact.object for fact in read(batch).event_at(1).facts] == [term_of(2)]
    assert not read(batch, ["b"]).rejected  # a column that nobody asks for


def test_unions_and_maps_are_rejected_where_something_below_them_is_known() -> None:
    union = pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]
    )
    batch = pa.RecordBatch.from_arrays([union], names=["a"])
    for names in (["a"], ["a.x"]):
        assert len(read(batch, names).rejected) == 2
    assert not read(batch, ["ab", "b"]).rejected
    assert len(read(one(pa.map_(pa.string(), pa.int64()), [[("k", 1)]]), ["a.k"]).rejected) == 1
    assert not read(one(pa.binary(), [b"x"]), ["a.k"]).rejected


def test_values_inside_lists_reject_their_rows() -> None:
    said = told(read(one(pa.list_(pa.binary()), [[], [None], [b"x"], None])))
    assert said[:2] == [set(), set()]
    assert isinstance(said[2], str)
    assert "'a' has the type binary" in said[2]
    assert said[3] == set()


def test_strings_that_are_not_utf8_reject_their_rows() -> None:
    data = b"ab\xffcd\xc3\xa9\xed\xa0\x80"
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 2, 3, 5, 7, 10)))
    array = pa.StringArray.from_buffers(5, offsets, pa.py_buffer(data))
    facts = read(pa.RecordBatch.from_arrays([array], names=["a"]))
    reason = "the column 'a' holds a string that is not UTF-8"
    assert texts(facts) == ["ab", reason, "cd", "é", reason]
    absent = pa.StringArray.from_buffers(
        5, offsets, pa.py_buffer(data), pa.py_buffer(bytes([0b01101]))
    )
    batch = pa.RecordBatch.from_arrays([absent], names=["a"])
    assert texts(read(batch)) == ["ab", "", "cd", "é", ""]
    closed = Dictionary(["a"])
    closed.close(0)
    batch = pa.RecordBatch.from_arrays([array], names=["a"])
    again = facts_of(batch, closed, decoding=PLAIN, place=str)
    assert set(again.rejected) == {1, 4}
    assert again.word.tolist() == [UNSEEN] * 3


def test_dates_that_python_cannot_hold_reject_their_rows() -> None:
    said = texts(read(pa.RecordBatch.from_arrays([pa.array([0, 10**7], pa.date32())], names=["a"])))
    assert said[0] == "1970-01-01"
    assert said[1].startswith(
        "the column 'a' holds a value of type date32[day] that cannot be read"
    )
    said = texts(read(one(pa.timestamp("us", "Nowhere/At_All"), [0])))
    assert said[0].startswith(
        "the column 'a' holds a value of type timestamp[us, tz=Nowhere/At_All]"
    )


def test_dictionaries_of_arrow() -> None:
    indices = pa.array([0, 1, None, 2, 0], pa.int8())
    for values in (["x", None, "x"], ["x", None, "x", "y", "z", "never"]):
        array = pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))
        facts = read(pa.RecordBatch.from_arrays([array], names=["a"]))
        assert texts(facts) == ["x", "", "", "x", "x"]
        assert string("never") not in [term for _, term in facts.words]


def test_run_end_encoded_columns() -> None:
    array: pa.Array[Any] = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 5], pa.int32()), pa.array(["x", "y"])
    )
    assert texts(read(pa.RecordBatch.from_arrays([array], names=["a"]))) == [
        "x", "x", "y", "y", "y"
    ]  # fmt: skip


def test_of_two_columns_with_one_name_the_last_counts() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert texts(read(batch)) == ["2"]


def test_closed_attributes_take_no_new_strings() -> None:
    dictionary = Dictionary(["a"])
    dictionary.close(0, ["x"])
    words = len(dictionary.words)
    for type in (pa.string(), pa.dictionary(pa.int8(), pa.string())):
        facts = facts_of(one(type, ["x", "y", None]), dictionary, decoding=PLAIN, place=str)
        assert facts.event.tolist() == [0, 1]
        assert dictionary.words[facts.word[0]] == (0, string("x"))
        assert facts.word[1] == UNSEEN
    assert len(dictionary.words) == words


def test_ids_and_times_are_where_the_decoding_says() -> None:
    batch = pa.RecordBatch.from_pylist(
        [
            {"key": "k1", "meta": {"when": "2024-05-01"}},
            {"key": "", "meta": {"when": "yesterday"}},
            {"key": None, "meta": None},
            {"key": "k4", "meta": {"when": "yesterday"}},
        ]
    )
    decoding = Decoding(now=NOW, id_field="key", time_field="meta.when")
    facts = read(batch, ["key"], decoding)
    assert set(facts.rejected) == {1, 3}
    assert facts.rejected[1].startswith("time field 'meta.when'")
    assert facts.event.tolist() == [0]
    assert facts.event_at(0).id == "k1"
    assert facts.event_at(0).time == datetime(2024, 5, 1, tzinfo=UTC)
    assert facts.event_at(2).id == "row 2"
    assert facts.event_at(2).time == NOW


def test_a_row_with_several_times_is_rejected() -> None:
    decoding = Decoding(now=NOW, time_field="a")
    batch = one(
        pa.list_(pa.date32()), [[date(2024, 1, 1)], [date(2024, 1, 1), date(2024, 1, 2)], []]
    )
    assert read(batch, ["b"], decoding).rejected == {1: "the time field 'a' holds 2 values, not 1"}
    twice = one(pa.list_(pa.date32()), [[date(2024, 1, 1), date(2024, 1, 1)]])
    assert not read(twice, "b", decoding).rejected
    assert set(read(one(pa.int64(), [5, None]), "b", decoding).rejected) == {0}


def test_decimals_are_written_out() -> None:
    batch = one(pa.decimal128(5, -2), [Decimal("1200"), Decimal("-100")])
    assert texts(read(batch)) == ["1200", "-100"]
