"""Every example of `docs/sparql.md` is read, run or refused, as the page says."""

import doctest
import json
import re
import shlex
from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.language import limits
from sensewire.language.parse import parse
from sensewire.language.sparql_expressions import FUNCTION_NAMES
from sensewire.model.errors import UnsupportedError

PATH = Path(__file__).parent.parent.parent / "docs" / "sparql.md"
PAGE = PATH.read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def lines(kind: str) -> list[str]:
    found = [line for each, block in BLOCKS if each == kind for line in block.splitlines()]
    assert found, f"the page shows nothing as {kind!r}"
    return found


@pytest.mark.parametrize("text", lines("sparql"))
def test_a_query_is_read_as_it_is(text: str) -> None:
    assert parse(text, "sparql").strict


@pytest.mark.parametrize("text", lines("meaning"))
def test_a_query_is_read_by_meaning(text: str) -> None:
    assert not parse(text, "sparql", "meaning").strict


@pytest.mark.parametrize("text", lines("refused"))
def test_a_query_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError):
        parse(text, "sparql")


def test_the_examples_in_python_say_what_they_say() -> None:
    found = doctest.testfile(str(PATH), module_relative=False)
    assert found.attempted > 5
    assert not found.failed


def test_the_command_and_the_line_of_a_file_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    for command in lines("sh"):
        assert main(shlex.split(command)[1:]) == 0
    for line in lines(""):
        wish = json.loads(line)
        assert parse(wish["text"], wish["language"]).strict


def test_the_page_names_every_function_and_every_bound() -> None:
    for name in FUNCTION_NAMES:
        assert f"`{name}`" in PAGE, name
    for bound in (
        "LONGEST_QUERY",
        "MOST_PATTERNS",
        "DEEPEST",
        "MOST_CONJUNCTIONS",
        "MOST_UNJOINED",
    ):
        assert f"{getattr(limits, bound):,}" in PAGE, bound
