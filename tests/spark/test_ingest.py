"""The ingest stage: slices with their numbers, shared out evenly; packed rows in and out."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome
from sensewire.events.files import Slice, listing, slices
from sensewire.spark import ingest
from sensewire.spark.ingest import numbered, pack, packed, shared_out, sliced, slices_of, table
from sensewire.spark.schema import SLICES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def parts_of(held: "DataFrame") -> list[list[Slice]]:
    """The slices of each partition."""

    def listed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyspark

        context = pyspark.TaskContext.get()
        assert context is not None
        for batch in batches:
            task = pa.array([context.partitionId()] * len(batch), pa.int64())
            yield batch.append_column("task", task)

    rows = held.mapInArrow(listed, f"{_schema()}, task bigint").toArrow()
    found: list[list[Slice]] = [[] for _ in range(held.rdd.getNumPartitions())]
    for batch in rows.to_batches():
        tasks = batch.column("task").to_numpy().tolist()
        for task, part in zip(tasks, slices_of(batch.select(SLICES.names)), strict=True):
            found[task].append(part)
    return found


def _schema() -> str:
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = from_arrow_schema(SLICES).fields
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in fields)


def outcomes(parts: list[Slice]) -> list[Outcome]:
    return sorted((o for part in parts for o in decode(part, PLAIN)), key=repr)


def stream(columns: dict[str, list[object]]) -> bytes:
    sink = io.BytesIO()
    made = pa.table(columns)
    with ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made)
    return sink.getvalue()


@pytest.fixture(params=["in the driver", "in a job"])
def counted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lines are counted."""
    if request.param == "in a job":
        monkeypatch.setattr(ingest, "COUNTED_HERE", -1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of each kind that is cut."""
    quad = "<http://x/a> <http://x/p> <http://x/{}> _:g{} .\n"
    (tmp_path / "a.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(300)))
    (tmp_path / "b.nq").write_text("".join(quad.format(n, n // 4) for n in range(100)))
    parquet.write_table(pa.table({"n": list(range(50))}), tmp_path / "c.parquet", row_group_size=7)
    cells = [stream({"n": [n, n]}) for n in range(10)]
    packed_rows = pa.table({"packed": pa.array(cells, pa.binary())})
    parquet.write_table(packed_rows, tmp_path / "d.parquet", row_group_size=3)
    return tmp_path


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_slices_know_their_numbers_however_files_are_cut(
    spark: "SparkSession", folder: Path, partitions: int
) -> None:
    files = listing([folder]).files
    tasks = parts_of(sliced(spark, files, partitions))
    assert len(tasks) == partitions
    assert all(tasks)
    found = outcomes([part for task in tasks for part in task])
    whole = [part for file in files for part in slices(file, 10**9)]
    assert found == outcomes(whole)
    # Blank graphs have their place as id: it is the number of the line that shows.
    assert len(found) == 300 + 25 + 50 + 20


def test_many_small_files_are_few_and_even_tasks(spark: "SparkSession", tmp_path: Path) -> None:
    for number in range(200):
        size = 100_000 if number == 0 else 10
        (tmp_path / f"{number}.ttl").write_text("#" * size)
    tasks = parts_of(sliced(spark, listing([tmp_path]).files, 3))
    few, *others = sorted(tasks, key=len)
    assert [len(few), *map(len, others)] == [62, 69, 69]
    assert "0.ttl" in {part.file.id for part in few}  # which is as long to read as six others


def test_work_is_shared_out_by_weight() -> None:
    tasks = shared_out([100, *[1] * 100], 2)
    assert [tasks.count(0), tasks.count(1)] in ([1, 100], [100, 1])
    assert shared_out([3, 3, 3], 3) == [0, 1, 2]


@pytest.mark.usefixtures("counted")
def test_a_file_that_vanishes_before_it_is_counted_stops_nothing(
    spark: "SparkSession", folder: Path
) -> None:
    parts = [part for file in listing([folder]).files for part in slices(file, 500)]
    (folder / "a.jsonl").unlink()
    (folder / "d.parquet").write_bytes(b"PAR1")
    again = numbered(spark, parts, 2)
    assert [part.first_line for part in again if part.file.id == "c.parquet"] == [
        part.first_line for part in parts if part.file.id == "c.parquet"
    ]
    assert len(again) == len(parts)


def test_what_was_packed_comes_out_again(spark: "SparkSession") -> None:
    rows = [(n, f"x{n}", [n, n + 1]) for n in range(1_000)]
    held = spark.createDataFrame(rows, "n bigint, text string, many array<bigint>").repartition(3)
    cells = pack(held, rows=100)
    assert cells.columns == ["packed"]
    found = packed(cells, name="orders")
    from pyspark.sql.pandas.types import to_arrow_schema

    assert to_arrow_schema(found.schema).names == SLICES.names
    assert [field.type for field in to_arrow_schema(found.schema)] == [f.type for f in SLICES]
    parts = [part for task in parts_of(found) for part in task]
    assert len(parts) in range(10, 14)
    events = [o.event for part in parts for o in decode(part, PLAIN) if isinstance(o, Decoded)]
    assert {event.facts[0].object.text for event in events} == {str(n) for n in range(1_000)}
    assert len({event.id for event in events}) == 1_000
    assert all(event.id.startswith("orders[") for event in events)
    # The same cells have the same places, however they are cut.
    again = packed(cells.repartition(5), name="orders")
    assert {part.file.name for task in parts_of(again) for part in task} == {
        part.file.name for part in parts
    }


def test_cells_may_have_numbers_of_their_own(spark: "SparkSession") -> None:
    rows = [(7, bytearray(stream({"a": [1]}))), (8, None), (9, bytearray(b"bad"))]
    held = spark.createDataFrame(rows, "batch int, body binary")
    parts = [p for task in parts_of(packed(held, "body", "queue", number="batch")) for p in task]
    assert sorted(o.place for part in parts for o in decode(part, PLAIN)) == [
        "queue[7]:1",
        "queue[9]:1",
    ]


def test_no_slices_are_an_empty_table(spark: "SparkSession") -> None:
    assert parts_of(table(spark, [], 4)) == [[]]
    assert parts_of(sliced(spark, [], 4)) == [[]]
