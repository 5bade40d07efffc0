"""The examples of `docs/stream.md` are run, and its tables name what there is."""

import argparse
import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sensewire.cli.live import in_words
from sensewire.cli.main import _parser
from sensewire.spark.gauges import BatchDone, Reading
from sensewire.spark.stream_places import source_in, target_in
from tests.terminals import running, typed_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (Path(__file__).parent.parent / "docs" / "stream.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.spark
def test_the_five_minutes(tmp_path: Path) -> None:
    starting, typed = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    wait = 'while [ -z "$(sensewire notifications)" ]; do sleep 0.1; done\n'
    before = "sensewire notifications --why\n"
    assert before in typed  # whoever types is slower than the stream
    with running(starting, SENSEWIRE_STORE=str(tmp_path / "store.db")) as environment:
        said = typed_in(typed.replace(before, wait + before), environment)
    assert [line for line in said if "←" in line] == ["1  anna ← offer"] * 2


def test_the_example_in_python(spark: "SparkSession", capsys: pytest.CaptureFixture[str]) -> None:
    parser = doctest.DocTestParser()
    examples = parser.get_doctest(PAGE, {"spark": spark}, "page", "stream.md", 0)
    assert len(examples.examples) > 10
    results = doctest.DocTestRunner().run(examples)
    assert not results.failed, capsys.readouterr().out


def test_every_option_and_place_is_there() -> None:
    (commands,) = (
        action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    known = {
        option
        for name in ("pipeline", "run", "notifications", "subscribe", "publish")
        for option in commands.choices[name]._option_string_actions
    }
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--conf", "--index-memory", "--format"}
    assert named <= known
    for text in re.findall(r"^\| `((?:log|folder:|kafka:)[^`]*)`", _section("Sources"), re.M):
        source_in(text)
    for text in re.findall(
        r"^\| `((?:table|parquet:|delta:|kafka:)[^`]*)`", _section("Sinks"), re.M
    ):
        target_in(text)


def test_the_line_is_as_it_is_shown() -> None:
    done = BatchDone(7, 0, 0, 0, 0, 0, 0.31, 1_204, "v000002-abc", 9, 14, None)
    reading = Reading(
        batches=1, rejected=3, events_per_second=1_012.0, matches_per_second=2_034.0, last=done
    )
    assert in_words(reading) in PAGE


def _section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
