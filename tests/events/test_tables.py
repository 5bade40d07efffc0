"""Rows of Parquet, Arrow and packed cells: each by its own schema, and what is broken by itself."""

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import EventFile, Slice, listing, slices
from sensewire.events.kinds import Kind
from sensewire.events.portions import portions
from sensewire.events.record_portion import RecordPortion
from sensewire.events.tables import row_portions
from sensewire.model.errors import EventError
from tests.events.reading import Wanting, outcomes_of

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def read(path: Path, longest: int = 1, decoding: Decoding = PLAIN) -> list[Outcome]:
    """The outcomes of a file cut into slices, by both ways in, which must agree."""
    (file,) = listing([path]).files
    parts = slices(file, longest)
    found = [outcome for part in parts for outcome in decode(part, decoding)]
    assert outcomes_of(portions(parts, decoding), decoding) == sorted(found, key=repr)
    return found


def told(outcomes: Sequence[Outcome]) -> list[tuple[str, list[str]]]:
    """The number of each event, and its values."""
    return [
        (o.place.rpartition(":")[2], [fact.object.text for fact in o.event.facts])
        for o in outcomes
        if isinstance(o, Decoded)
    ]


def stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_each_file_has_its_own_schema(tmp_path: Path) -> None:
    tables: list[dict[str, list[object]]] = [{"a": [1]}, {"a": ["one"]}, {"b": [True]}]
    for number, columns in enumerate(tables):
        parquet.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    parts = [part for file in listing([tmp_path]).files for part in slices(file, 1_000)]
    found = [outcome for part in parts for outcome in decode(part, PLAIN)]
    assert [values for _, values in told(found)] == [["1"], ["one"], ["true"]]


def test_rows_are_numbered_through_the_file(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"a": list(range(10))}), path, row_group_size=4)
    expected = [(str(n + 1), [str(n)]) for n in range(10)]
    assert told(read(path)) == expected
    assert told(read(path, 10**6)) == expected


def test_ids_and_times_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    times = [datetime(2023, 1, 2), None]
    parquet.write_table(pa.table({"meta": [{"id": "x"}, {"id": None}], "at": times}), path)
    decoding = Decoding(now=PLAIN.now, id_field="meta.id", time_field="at")
    first, second = read(path, decoding=decoding)
    assert isinstance(first, Decoded)
    assert isinstance(second, Decoded)
    assert (first.event.id, first.event.time.year) == ("x", 2023)
    assert (second.event.id, second.event.time) == (f"{path}:2", PLAIN.now)


def test_a_corrupt_row_group_costs_its_rows_only(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    table = pa.table({"a": [f"{n:08}" for n in range(3_000)]})
    parquet.write_table(
        table, path, row_group_size=1_000, use_dictionary=False, write_page_checksum=True
    )
    raw = bytearray(path.read_bytes())
    start = parquet.read_metadata(path).row_group(1).column(0).data_page_offset
    raw[start : start + 400] = b"\xff" * 400
    path.write_bytes(raw)
    found = read(path)
    assert [number for number, _ in told(found)] == [
        str(n) for n in (*range(1, 1_001), *range(2_001, 3_001))
    ]
    (bad,) = (outcome for outcome in found if isinstance(outcome, Rejected))
    assert bad.place == f"{path}:1001"
    assert "row group 2 is corrupt" in bad.reason
    assert "rows 1001 to 2000 are not read" in bad.reason


def test_a_truncated_file_is_rejected_and_the_others_are_read(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        parquet.write_table(pa.table({"a": [1]}), tmp_path / f"{name}.parquet")
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    found = listing([tmp_path])
    assert [file.id for file in found.files] == ["a.parquet", "c.parquet"]
    (bad,) = found.rejected
    assert bad.place == str(tmp_path / "b.parquet")
    assert "truncated" in bad.reason
    with pytest.raises(EventError, match=r"b\.parquet: no Parquet that can be read"):
        listing([tmp_path / "b.parquet"])


def test_a_file_that_was_changed_meanwhile_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"a": [1, 2]}), path, row_group_size=1)
    (file,) = listing([path]).files
    parquet.write_table(pa.table({"a": [1]}), path)
    (found,) = decode(Slice(file, 1, 2), PLAIN)
    assert isinstance(found, Rejected)
    assert "1 row groups only" in found.reason


@pytest.mark.parametrize("name", ["e.arrow", "e.arrows", "e.feather"])
def test_arrow_is_read_in_all_its_formats(tmp_path: Path, name: str) -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", None]})
    path = tmp_path / name
    if name == "e.arrow":
        with ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    elif name == "e.arrows":
        path.write_bytes(stream(table))
    else:
        feather.write_feather(table, str(path))
    assert told(read(path)) == [("1", ["1", "x"]), ("2", ["2", "y"]), ("3", ["3"])]


def test_what_stands_before_the_break_of_a_stream_is_read(tmp_path: Path) -> None:
    path = tmp_path / "e.arrows"
    schema = pa.schema({"a": pa.int64()})
    sink = io.BytesIO()
    with ipc.new_stream(sink, schema) as writer:
        for first in (0, 100):
            numbers = pa.table({"a": list(range(first, first + 100))}, schema=schema)
            writer.write_table(numbers)
    path.write_bytes(sink.getvalue()[:-200])
    found = read(path)
    assert len(told(found)) == 100
    assert isinstance(found[-1], Rejected)
    assert found[-1].place == f"{path}:101"
    assert "truncated" in found[-1].reason


def test_json_texts_may_stand_in_a_column(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    batch = '[{"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": {"a": 2}}]'
    texts = ['{"a": 1}', batch, "bad", None, '{"a": "' + "x" * 200 + '"}', '{"a": 3}']
    parquet.write_table(pa.table({"json": texts}), path)
    found = read(path, decoding=Decoding(now=PLAIN.now, longest=100))
    assert [
        outcome.place.removeprefix(f"{path}:") for outcome in found if isinstance(outcome, Decoded)
    ] == ["1", "2[0]", "6"]
    assert {o.place.removeprefix(f"{path}:") for o in found if isinstance(o, Rejected)} == {
        "3",
        "4",
        "5",
    }
    (long,) = (o for o in found if o.place.endswith(":5"))
    assert "longer than 100 bytes" in long.reason  # type: ignore[union-attr]
    parquet.write_table(pa.table({"json": [1]}), path)
    (found_bad,) = read(path)
    assert "expected JSON texts" in found_bad.reason  # type: ignore[union-attr]


def packed_file(path: Path, at_once: int) -> None:
    cells = [
        stream(pa.table({"a": [1, 2]})),
        b"no stream",
        None,
        stream(pa.table({"json": ['{"a": 3}']})),
        stream(pa.table({"a": ["four"]})),
    ]
    table = pa.table({"packed": pa.array(cells, pa.binary())})
    parquet.write_table(table, path, row_group_size=at_once)


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_packed_cells_are_read_and_a_bad_one_is_rejected_by_itself(
    tmp_path: Path, at_once: int
) -> None:
    path = tmp_path / "e.parquet"
    packed_file(path, at_once)
    (file,) = listing([path]).files
    assert file.kind is Kind.PACKED
    assert [part.first_line for part in slices(file, 1)] == list(range(1, 6, at_once))
    found = read(path, 10**6)
    assert found == read(path, 1)  # cells have their numbers however the file is cut
    assert told(found) == [("1", ["1"]), ("2", ["2"]), ("1", ["3"]), ("1", ["four"])]
    assert [o.place for o in found if isinstance(o, Decoded)] == [
        f"{path}[{place}" for place in ("1]:1", "1]:2", "4]:1", "5]:1")
    ]
    (bad,) = (outcome for outcome in found if isinstance(outcome, Rejected))
    assert (bad.place, bad.raw) == (f"{path}[2]:1", b"no stream")
    assert "no Arrow IPC stream" in bad.reason


def test_packed_rows_may_travel_with_their_slice() -> None:
    file = EventFile("", "orders[7]", "orders[7]", Kind.PACKED, 0)
    part = Slice(file, 0, 0, data=stream(pa.table({"a": [1, 2]})))
    assert told(list(decode(part, PLAIN))) == [("1", ["1"]), ("2", ["2"])]
    (bad,) = decode(Slice(file, 0, 0, data=b""), PLAIN)
    assert isinstance(bad, Rejected)
    assert bad.place == "orders[7]:1"


def test_buffers_that_lie_are_rejected() -> None:
    """Offsets that lead beyond the texts, which nothing but a full check sees."""
    raw = bytearray(stream(pa.table({"a": ["one", "two"]})))
    offsets = raw.index((0).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"\x06\0\0\0")
    raw[offsets + 4 : offsets + 8] = (1_000_000_000).to_bytes(4, "little")
    file = EventFile("", "orders", "orders", Kind.PACKED, 0)
    (bad,) = decode(Slice(file, 0, 0, data=bytes(raw)), PLAIN)
    assert isinstance(bad, Rejected)


def columns_read(path: Path, wanted: set[str], decoding: Decoding = PLAIN) -> list[str]:
    (file,) = listing([path]).files
    (portion,) = row_portions(slices(file, 10**9)[0], decoding, Wanting(wanted))
    assert isinstance(portion, RecordPortion)
    assert len(portion) == 2
    return list(portion.batch.schema.names)


@pytest.mark.parametrize("name", ["e.parquet", "e.arrow", "packed.parquet"])
def test_only_wanted_columns_are_read(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            "id": ["1", "2"],
            "price": [1, 2],
            "size": [{"screen": {"width": 1}, "tags": ["x"]}] * 2,
            "a.b": [1, 2],
            "json": ["1", "2"],
        }
    )
    path = tmp_path / name
    if name == "e.parquet":
        parquet.write_table(table, path)
    elif name == "e.arrow":
        with ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        parquet.write_table(pa.table({"packed": pa.array([stream(table)], pa.binary())}), path)
    plain = Decoding(now=PLAIN.now, id_field=None)
    assert columns_read(path, {"price"}, plain) == ["price"]
    assert columns_read(path, {"size.screen.width"}, plain) == ["size"]
    assert columns_read(path, {"a.b"}, plain) == ["a.b"]
    assert columns_read(path, {"size"}) == ["id"]
    assert columns_read(path, {"nothing"}, plain) == ["id"]
    assert sorted(columns_read(path, {"json"}, plain)) == ["id", "json"]
    timed = Decoding(now=PLAIN.now, id_field="size.tags", time_field="price")
    assert columns_read(path, set(), timed) == ["price", "size"]


def test_the_raw_of_a_row_is_json_whatever_it_holds() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "day": pa.array([date(2024, 1, 2)]),
            "bytes": pa.array([b"\x01\xff"]),
            "exact": pa.array([Decimal("1.50")]),
            "late": pa.array([10**15], pa.timestamp("s")),
            "list": pa.array([[{"x": 1}]]),
        }
    )
    portion = RecordPortion(batch, "e.parquet", pa.array([3]).to_numpy())
    assert portion.place(0) == "e.parquet:3"
    read_again = orjson.loads(portion.raw(0))
    assert read_again["day"] == "2024-01-02"
    assert read_again["bytes"] == "01ff"
    assert read_again["exact"] == "1.50"
    assert "out of range" in read_again["late"]
    assert read_again["list"] == [{"x": 1}]


def test_a_row_that_is_no_event_is_rejected_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"at": ["2024-01-02", "no time"]}), path)
    good, bad = read(path, decoding=Decoding(now=PLAIN.now, time_field="at"))
    assert isinstance(good, Decoded)
    assert isinstance(bad, Rejected)
    assert (bad.place, bad.raw) == (f"{path}:2", b'{"at":"no time"}')
