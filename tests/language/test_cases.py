"""The cases of `tests/cases/sensewire`: texts and what they say, or where they are wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.errors import ParseError, UnsupportedError

FOLDER = Path(__file__).parent.parent / "cases" / "sensewire"


def cases() -> Iterator[object]:
    for path in sorted(FOLDER.glob("*.txt")):
        reading = "exact" if path.name.endswith(".exact.txt") else None
        written = [line for line in path.read_text().split("\n") if not line.startswith("//")]
        for block in "\n".join(written).split("\n\n"):
            if block.strip():
                text, arrow, said = block.strip("\n").partition("\n=> ")
                assert arrow, f"{path.name}: a case has a text and, after =>, what it says: {block}"
                yield pytest.param(text, reading, said, id=f"{path.stem}: {text[:60]}")


def said(text: str, reading: str | None) -> str:
    try:
        return unparse(parse(text, reading=reading))
    except ParseError as error:
        return f"error at {error.position}: expected {error.expected}"
    except UnsupportedError as error:
        return f"unsupported at {error.position}: {error.what}"


@pytest.mark.parametrize(("text", "reading", "expected"), list(cases()))
def test_case(text: str, reading: str | None, expected: str) -> None:
    found = said(text, reading)
    if expected.startswith(("error at", "unsupported at")):
        assert found.startswith(expected)
    else:
        assert found == expected
        assert parse(found) == parse(text, reading=reading)
