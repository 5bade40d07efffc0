"""Delta tables, read here by their log: the files that it adds, and nothing else, are the table."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sensewire.events.locations import location
from sensewire.model.errors import SensewireError
from sensewire.spark.delta import DELTA, delta_settings, write_delta
from sensewire.spark.writing import FOLDERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CONVERT = """
import sys
from sensewire.events.locations import location
from sensewire.spark.delta import delta_settings, write_as_delta
from sensewire.spark.session import spark_session
spark = spark_session(master="local[2]", settings=delta_settings())
for folder in sys.argv[1:]:
    write_as_delta(spark, location(folder))
"""


def test_what_the_user_brings_is_kept_and_ours_added() -> None:
    settings = delta_settings(
        {"spark.jars.packages": "a:b:1", "spark.sql.extensions": "x.Y", "spark.ui.enabled": "true"}
    )
    assert settings["spark.jars.packages"] == f"a:b:1,{DELTA}"
    assert settings["spark.sql.extensions"] == f"x.Y,{EXTENSION}"
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.sql.catalog.spark_catalog"].endswith("DeltaCatalog")


@pytest.mark.parametrize(
    "given",
    [
        {"spark.jars.packages": "io.delta:delta-spark_4.3_2.13:5.0.0"},
        {"spark.jars": "/jars/delta-spark_4.3_2.13-5.0.0.jar,/jars/delta-storage-5.0.0.jar"},
    ],
)
def test_jars_of_delta_that_the_user_brings_stand_for_ours(given: dict[str, str]) -> None:
    settings = delta_settings({**given, "spark.sql.catalog.spark_catalog": "x.Catalog"})
    assert {name: value for name, value in settings.items() if "jars" in name} == given
    assert settings["spark.sql.catalog.spark_catalog"] == "x.Catalog"
    assert delta_settings(settings) == settings


def test_without_the_jars_a_line_says_what_is_missing(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with pytest.raises(SensewireError) as raised:
        write_delta(spark.range(3), location(tmp_path / "table"))
    text = str(raised.value)
    assert text.startswith("the jars of Delta Lake cannot write with Spark 4.3")
    assert "\n" not in text
    assert text.endswith(f"; right would be {DELTA}, or --format parquet")
    assert not (tmp_path / "table").exists()


@pytest.mark.long
@pytest.mark.spark
def test_the_folders_of_a_run_become_delta_tables(tmp_path: Path) -> None:
    """With the jars from Maven's repository: half a minute the first time, then seconds."""
    rows: dict[str, list[Any]] = {
        "event": ["a", "b", None],
        "rows": [[[("p", "1"), ("q", "ü")]], None, []],
        "distance": [0.0, 0.5, None],
        "raw": [b"\xff", b"", None],
    }
    types = pa.list_(pa.map_(pa.string(), pa.string()))
    schema = pa.schema(
        {"event": pa.string(), "rows": types, "distance": pa.float64(), "raw": pa.binary()}
    )
    table = pa.Table.from_pydict(rows, schema=schema)
    folders = [tmp_path / "full", tmp_path / "empty"]
    for folder, content in zip(folders, (table, table.slice(0, 0)), strict=True):
        for place in FOLDERS.values():
            (folder / place).mkdir(parents=True, exist_ok=True)
            pq.write_table(content, folder / place / "part-0.parquet")
    run = subprocess.run(
        [sys.executable, "-c", CONVERT, *map(str, folders)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    for folder, content in zip(folders, (table, table.slice(0, 0)), strict=True):
        for place in FOLDERS.values():
            assert read_delta(folder / place).to_pylist() == content.to_pylist()
        assert not list(folder.rglob(".*.crc"))
        assert not list(folder.rglob("part-0.parquet"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]


def read_delta(folder: Path) -> pa.Table:
    """The table that the first and only version of a log states."""
    [log] = (folder / "_delta_log").glob("*.json")
    assert log.name == "00000000000000000000.json"
    actions: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
    [protocol] = [action["protocol"] for action in actions if "protocol" in action]
    assert protocol["minReaderVersion"] == 1
    [metadata] = [action["metaData"] for action in actions if "metaData" in action]
    columns = [field["name"] for field in json.loads(metadata["schemaString"])["fields"]]
    added = [folder / action["add"]["path"] for action in actions if "add" in action]
    written = {path: pq.ParquetFile(path).read() for path in sorted(folder.glob("*.parquet"))}
    assert sorted(added) == [path for path, rows in written.items() if rows.num_rows]
    found = pa.concat_tables(written.values())
    assert found.column_names == columns
    return found
