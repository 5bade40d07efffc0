"""The days of events: those of the times that the plain decoder finds, in every format."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from sensewire.events import days
from sensewire.events.days import days_of
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.files import listing, slices
from sensewire.events.portions import portions
from sensewire.events.record_portion import RecordPortion
from sensewire.model.event import Event

NOW = datetime(2024, 3, 1, tzinfo=UTC)  # a day that events have too
LATER = NOW + timedelta(days=400)

TEXTS = [
    *("2024-03-01", "2024-03-01T00:00:00", "2024-03-01T00:00:00Z", "2024-02-29T23:59:59.999999999"),
    *("2024-03-01T00:30:00+01:00", "2024-03-01T23:30:00-01:00", "2024-03-01T12:00:00-00:00"),
    *("2024-03-01T10:00Z", "2024-03-01T24:00:00", "2024-03-01T24:00:00Z", "2024-03-01Z"),
    *("2024-03-01+02:00", "2024-03-01T10:00:00+00:00", "0001-01-01", "9999-12-31T23:59:59"),
    *("1969-12-31T23:59:59.5Z", "9999-12-31T23:30:00-02:00", "0001-01-01T00:30:00+02:00"),
    *("10000-01-01", "-0044-03-15", "soon", "", "2024-02-30", "2024-3-1", " 2024-03-01"),
]
times: st.SearchStrategy[Any] = (
    st.sampled_from([*TEXTS, None, 7, 1.5, True, [], {}])
    | st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)).map(
        datetime.isoformat
    )
    | st.sampled_from(TEXTS).map(lambda text: [text])
    | st.lists(st.sampled_from(TEXTS[:3]), max_size=2)
)
FIELDS = [None, "time", "at.time", "at", "cloudevent.time"]


def expected(outcomes: Iterable[Any]) -> list[str | None]:
    """The days of pairs of events: each was read with two moments for now."""
    return [
        None if one.time != other.time else one.time.astimezone(UTC).date().isoformat()
        for one, other in outcomes
    ]


def read(portion: Any, decoding: Decoding) -> list[tuple[int, Event]]:
    """The events of a portion by the plain decoder, with their rows; batches apart."""
    if not isinstance(portion, RecordPortion):
        return [(row, each.event) for row, each in enumerate(portion.decoded)]
    result = []
    for row in range(len(portion)):
        found = list(portion.outcomes(row, decoding))
        if len(found) == 1 and isinstance(found[0], Decoded):
            result.append((row, found[0].event))
    return result


def check(path: Path, field: str | None) -> int:
    """Compare the days of all events of a file; how many there are."""
    here = Decoding(NOW, time_field=field)
    there = replace(here, now=LATER)
    (file,) = listing([path]).files
    parts = slices(file, 10**9)
    count = 0
    for ours, others in zip(portions(parts, here), portions(parts, there), strict=True):
        if isinstance(ours, Rejected) or isinstance(others, Rejected):
            assert type(ours) is type(others)
            continue
        events = read(ours, here)
        pairs = [
            (one, other) for (_, one), (_, other) in zip(events, read(others, there), strict=True)
        ]
        rows = np.array([row for row, _ in events], np.int64)
        if len(rows):
            assert days_of(ours, rows, here).to_pylist() == expected(pairs)
            assert days_of(ours, rows[::-1], here).to_pylist() == expected(pairs[::-1])
        count += len(rows)
    return count


def written(record: dict[str, Any], form: int) -> str:
    """A record as JSON, some keys and values with escapes."""
    text = json.dumps(record, ensure_ascii=form % 2 == 0)
    match form:
        case 2:
            return text.replace("time", "\\u0074ime")
        case 3:
            return text.replace("specversion", "s\\u0070ecversion")
        case 4:
            return text.replace("2024", "\\u0032024")
    return text


records = st.one_of(
    st.fixed_dictionaries({}, optional={"time": times, "x": st.just("specversion ü")}),
    st.fixed_dictionaries({"at": st.fixed_dictionaries({}, optional={"time": times}) | times}),
    st.fixed_dictionaries({"at": st.lists(st.fixed_dictionaries({"time": times}), max_size=2)}),
    st.fixed_dictionaries({"at.time": times}, optional={"at": st.just({"time": "2024-03-02"})}),
    st.fixed_dictionaries(
        {
            "specversion": st.just("1.0"),
            "id": st.just("7"),
            "source": st.just("2024-03-01"),
            "type": st.just("t"),
        },
        optional={"time": times, "data": st.fixed_dictionaries({"time": times})},
    ),
)


@given(
    items=st.lists(st.tuples(records, st.integers(0, 4)), min_size=1, max_size=12),
    field=st.sampled_from(FIELDS),
)
@example(items=[({"time": text}, 0) for text in TEXTS], field="time")
@example(items=[({"at": [{"time": "2024-03-05"}]}, 0), ({"time": ["2024-03-05"]}, 0)], field="time")
@example(
    items=[
        ({"specversion": "1.0", "id": "7", "source": "s", "type": "t", "time": "2024-03-05"}, 3),
        ({"time": ["2024-03-05"]}, 2),
    ],
    field="time",
)
def test_days_of_json_lines(items: list[tuple[dict[str, Any], int]], field: str | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.jsonl"
        path.write_text("\n".join(written(*item) for item in items), encoding="utf-8")
        check(path, field)


@given(items=st.lists(records, min_size=1, max_size=6), field=st.sampled_from(FIELDS))
def test_days_of_json_documents(items: list[dict[str, Any]], field: str | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.json"
        path.write_text(json.dumps([*items, {"a": 1}], indent=1))
        assert check(path, field)


moments = st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2200, 1, 1))
zones = st.sampled_from([None, "UTC", "+05:30", "-11:00", "Europe/Zurich"])


@st.composite
def columns(draw: st.DrawFn) -> Any:
    """A column of times, in one of the types that hold them."""
    count = draw(st.integers(1, 6))
    match draw(st.sampled_from(["text", "date32", "date64", "s", "ms", "us", "ns", "odd"])):
        case "text":
            values = draw(st.lists(st.sampled_from([*TEXTS, None]), min_size=count, max_size=count))
            form: Any = draw(
                st.sampled_from(
                    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
                )
            )
            return pa.array(values).cast(form)
        case "date32" | "date64" as name:
            some = draw(st.lists(moments.map(datetime.date) | st.none(), min_size=1, max_size=6))
            return pa.array(some, pa.date32() if name == "date32" else pa.date64())
        case "odd":
            lists = st.lists(st.sampled_from(TEXTS[:4]), max_size=2) | st.none()
            return pa.array(draw(st.lists(lists, min_size=1, max_size=6)), pa.list_(pa.string()))
        case unit:
            numbers = draw(st.lists(st.integers(-(10**18), 10**18), min_size=1, max_size=6))
            scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
            form = pa.timestamp(unit, draw(zones))
            return pa.array([None, *(number // scale for number in numbers)], pa.int64()).cast(form)


@given(
    column=columns(), nesting=st.sampled_from(["", "struct", "list", "both"]), wide=st.booleans()
)
def test_days_of_columns(column: Any, nesting: str, wide: bool) -> None:
    rows = len(column)
    struct: Any = pa.StructArray.from_arrays([column], names=["time"])
    table: dict[str, Any] = {"n": pa.array(range(rows))}
    match nesting:
        case "struct":
            table["at"] = struct
        case "list":
            table["at"] = pa.ListArray.from_arrays(list(range(rows + 1)), struct)
        case "both":
            table |= {"at": struct, "at.time": pa.array([None, *TEXTS[:1] * (rows - 1)])}
        case _:
            table["time"] = column
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.parquet"
        parquet.write_table(pa.table(table), path)
        for field in ("time", "at.time", None) if wide else ("at.time" if nesting else "time",):
            check(path, field)


def test_times_that_python_cannot_hold(tmp_path: Path) -> None:
    column: Any = pa.array([253_402_300_800, 0, -62_135_596_801], pa.int64()).cast(
        pa.timestamp("s")
    )
    parquet.write_table(pa.table({"time": column, "n": [1, 2, 3]}), tmp_path / "e.parquet")
    check(tmp_path / "e.parquet", "time")


@pytest.mark.parametrize("field", [None, "at", "http://x/at", "no"])
def test_days_of_graphs(tmp_path: Path, field: str | None) -> None:
    lines = [
        f'<http://x/e> <http://x/at> "{text}"{kind} <http://x/g{number}> .\n'
        for number, text in enumerate(TEXTS[:8])
        for kind in ("",)
    ]
    date_time = "^^<http://www.w3.org/2001/XMLSchema#dateTime>"
    lines += [
        f'<http://x/e> <http://x/at> "2024-03-01T23:30:00-01:00"{date_time} <http://x/h> .\n',
        "<http://x/e> <http://x/b> <http://x/c> <http://x/i> .\n",
    ]
    (tmp_path / "e.nq").write_text("".join(lines))
    assert check(tmp_path / "e.nq", field) == 10


def test_days_of_payloads(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "a.txt.json").write_text('{"taken": "2024-03-01T00:30:00+02:00"}')
    assert check(tmp_path / "a.txt", "taken") == 1
    assert check(tmp_path / "a.txt", "file.name") == 0  # no time: it is rejected


def test_events_of_this_very_moment_have_a_day(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('[{"time": "2024-03-01"}, {"no": 1}]')
    (file,) = listing([tmp_path / "e.json"]).files
    decoding = Decoding(NOW, time_field="time")
    (portion,) = portions(slices(file, 100), decoding)
    assert not isinstance(portion, Rejected)
    assert days_of(portion, np.arange(2), decoding).to_pylist() == ["2024-03-01", None]


def test_plain_times_are_read_without_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither texts nor columns, nor events without a time, take a call for each."""
    start = date(2024, 1, 1)
    texts = [f"{start + timedelta(days=n % 500)}T10:00:00Z" for n in range(5_000)]
    lines = [f'{{"n": {n}, "time": "{text}"}}\n' for n, text in enumerate(texts)]
    (tmp_path / "e.jsonl").write_text("".join([*lines, *('{"n": 1}\n' for _ in range(5_000))]))
    column: Any = pa.array(texts).cast(pa.timestamp("ms", "UTC"))
    parquet.write_table(pa.table({"time": column, "n": range(5_000)}), tmp_path / "e.parquet")

    def never(*_: object) -> None:
        raise AssertionError("read one by one")

    monkeypatch.setattr(days, "_time", never)
    decoding = Decoding(NOW, time_field="time")
    for name in ("e.jsonl", "e.parquet"):
        (file,) = listing([tmp_path / name]).files
        found: list[str | None] = []
        for portion in portions(slices(file, 10**9), decoding):
            assert isinstance(portion, RecordPortion)
            found += days_of(portion, np.arange(len(portion)), decoding).to_pylist()
        assert found[:5_000] == [text[:10] for text in texts]
        assert set(found[5_000:]) <= {None}
