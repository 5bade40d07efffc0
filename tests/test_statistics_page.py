"""The examples of `docs/statistics.md` are run, and its tables name what the file has."""

import doctest
import re
import shlex
from pathlib import Path

import orjson
import pytest

from sensewire.cli.main import main

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("spark")
def test_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    page = PAGE.replace("/tmp/", f"{tmp_path}/")
    commands = re.findall(r"^sensewire .*$", page, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["learn", "save"]
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    examples = doctest.DocTestParser().get_doctest(page, {}, "page", "statistics.md", 0)
    assert len(examples.examples) > 5
    results = doctest.DocTestRunner().run(examples)
    assert not results.failed, capsys.readouterr().out
    file = orjson.loads((tmp_path / "stats.json").read_bytes())
    for table, keys in zip(_tables(), (file, file["attributes"][0]), strict=True):
        assert table == set(keys)


def _tables() -> list[set[str]]:
    """The names in the first columns of the page's tables."""
    tables = re.findall(r"\| key .*\n\|---.*\n((?:\|.*\n)+)", PAGE)
    rows = [[row.split("|")[1] for row in table.splitlines()] for table in tables]
    return [{name for row in each for name in re.findall(r"`(\w+)`", row)} for each in rows]
