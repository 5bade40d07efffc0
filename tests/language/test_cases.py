"""The cases of `tests/cases`: texts and what they say in our own language, or where they are wrong.

The folder names the language that a text is in, the end of the file's name its reading.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.errors import ParseError, UnsupportedError

FOLDER = Path(__file__).parent.parent / "cases"
LANGUAGES = ("sensewire", "gql", "statements")


def cases() -> Iterator[object]:
    for language in LANGUAGES:
        for path in sorted((FOLDER / language).glob("*.txt")):
            yield from cases_of(path, language)


def cases_of(path: Path, language: str) -> Iterator[object]:
    """The cases of a file, apart by an empty line; lines with // are remarks."""
    readings = [suffix[1:] for suffix in path.suffixes[:-1]]
    reading = readings[0] if readings else None
    written = [line for line in path.read_text().split("\n") if not line.startswith("//")]
    for block in "\n".join(written).split("\n\n"):
        if block.strip():
            text, arrow, said = block.strip("\n").partition("\n=> ")
            assert arrow, f"{path.name}: a case has a text and, after =>, what it says: {block}"
            name = f"{language}, {path.stem}: {text[:60]}"
            yield pytest.param(text, language, reading, said, id=name)


def said(text: str, language: str, reading: str | None) -> str:
    try:
        return unparse(parse(text, language, reading))
    except ParseError as error:
        return f"error at {error.position}: expected {error.expected}"
    except UnsupportedError as error:
        return f"unsupported at {error.position}: {error.what}"


@pytest.mark.parametrize(("text", "language", "reading", "expected"), list(cases()))
def test_case(text: str, language: str, reading: str | None, expected: str) -> None:
    found = said(text, language, reading)
    if expected.startswith(("error at", "unsupported at")):
        assert found.startswith(expected)
    else:
        assert found == expected
        assert parse(found) == parse(text, language, reading)
