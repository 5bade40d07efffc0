"""Every example of `docs/language.md` is read, and those that show errors are refused."""

import re
from pathlib import Path

import pytest

from sensewire.language.limits import (
    DEEPEST,
    LONGEST,
    LONGEST_QUERY,
    MOST_CONJUNCTIONS,
    MOST_PATTERNS,
    MOST_UNJOINED,
)
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.errors import ParseError
from sensewire.model.expressions import FUNCTIONS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "language.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [line for kind, block in BLOCKS if not kind for line in block.splitlines()]
QUERIES = [(kind, block) for kind, block in BLOCKS if kind in ("gql", "statements")]
ERRORS = [line for kind, block in BLOCKS if kind == "error" for line in block.splitlines()]
# The first column of the two tables, and what the running text shows between backquotes.
SHOWN = [
    f"b = {value}"
    for row in re.findall(r"^\| (`[^|]*`) \| an? [^h]", PAGE, re.MULTILINE)
    for value in re.findall(r"`([^`]+)`", row)
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_read(text: str) -> None:
    assert parse(unparse(parse(text))) == parse(text)


@pytest.mark.parametrize(("language", "text"), QUERIES)
def test_a_query_in_another_language_is_read(language: str, text: str) -> None:
    for reading in (None, "meaning", "exact"):
        found = parse(text, language, reading)
        assert parse(unparse(found)) == found


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_is_one(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


@pytest.mark.parametrize("text", SHOWN)
def test_a_value_of_the_table_is_read(text: str) -> None:
    parse(text)


def test_the_page_shows_something_of_everything() -> None:
    assert len(EXAMPLES) > 30
    assert len(ERRORS) > 4
    assert len(QUERIES) > 4
    assert {kind for kind, _ in BLOCKS} == {"", "error", "gql", "statements"}
    assert len(SHOWN) > 15
    assert " ".join(FUNCTIONS) in PAGE


def test_the_limits_are_those_that_hold() -> None:
    for limit in (LONGEST, DEEPEST, MOST_CONJUNCTIONS, LONGEST_QUERY, MOST_PATTERNS, MOST_UNJOINED):
        assert f" {limit:,} " in PAGE
