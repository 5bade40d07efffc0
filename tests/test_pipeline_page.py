"""The examples of `docs/pipeline.md` are run, and its tables name what there is."""

import doctest
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from sensewire.cli.main import main
from sensewire.cli.replay import shown
from sensewire.events import kinds
from sensewire.events.kinds import Kind
from sensewire.spark.replay import Received
from sensewire.spark.schema import DONE, FAILED, MATCHES, REJECTED, SLICES
from sensewire.spark.tally import Example

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")


def test_the_examples(
    spark: "SparkSession",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    page = PAGE.replace("/tmp", str(tmp_path))
    commands = re.findall(r"^sensewire .*$", page, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["learn", "save", "match", "replay"]
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    capsys.readouterr()
    examples = doctest.DocTestParser().get_doctest(page, {"spark": spark}, "page", "pipeline.md", 0)
    assert len(examples.examples) > 10
    results = doctest.DocTestRunner().run(examples)
    assert not results.failed, capsys.readouterr().out


def test_the_picture_of_a_replay() -> None:
    days = {"2024-03-01": 2, "2024-03-03": 8, None: 1}
    some = (Example("2024-03-03", "h.jsonl:7", "e7", '{"id": "e7"}'),)
    assert "\n".join(shown(Received("anna", 11, days, some))) in PAGE


def test_every_kind_of_file_is_listed() -> None:
    table = _section("Events: what is read")
    for suffix in (*kinds._KINDS, *kinds.PACKINGS):
        assert f"`{suffix}`" in table, suffix
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| `kind`"))
    assert set(re.findall(r"`(\w+)`", row.split("|")[2])) == {kind.value for kind in Kind}


@pytest.mark.parametrize(
    ("begin", "schema"),
    [
        ("| `O/*.parquet` |", MATCHES),
        ("| `O/_failed/*.parquet` |", FAILED),
        ("| `O/_rejected/*.parquet` |", REJECTED),
    ],
)
def test_the_columns_of_the_output(begin: str, schema: pa.Schema) -> None:
    (row,) = (line for line in PAGE.splitlines() if line.startswith(begin))
    assert re.findall(r"`(\w+)`", row.removeprefix(begin)) == schema.names


def test_the_internal_schema() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", _section("The internal schema"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows)) == SLICES.names
    assert ", ".join(f"`{name}`" for name in DONE.names) in PAGE


def _section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
