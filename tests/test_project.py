"""A fresh clone installs what was tested, and only that: the project's own files agree."""

import os
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = [
    line
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def normal(name: str) -> str:
    """Return the one spelling of a package's name that stands for all of them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required() -> set[str]:
    """Return the name of every package that pyproject.toml asks for, under any extra."""
    project = PROJECT["project"]
    requirements = [
        *PROJECT["build-system"]["requires"],
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    names = {normal(re.split(r"[^\w.-]", line)[0]) for line in requirements}
    return names - {project["name"]}


def test_a_pin_is_a_name_and_one_version() -> None:
    assert [pin for pin in PINS if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", pin)] == []


def test_every_package_is_pinned_once() -> None:
    names = [normal(pin.split("==")[0]) for pin in PINS]
    assert sorted(names) == sorted(set(names))
    assert required() <= set(names)


def test_what_is_tested_is_what_is_pinned() -> None:
    tested = [f"{name}=={version(name)}" for name in (pin.split("==")[0] for pin in PINS)]
    assert tested == PINS


def test_no_lock_file_records_where_things_were_downloaded() -> None:
    assert not [path.name for path in ROOT.glob("*.lock")]


def test_the_ci_runs_what_a_developer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().endswith("make test\n")


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted(
        path.name for path in folder.glob("*.md") if path.name != "README.md"
    )


def test_every_file_that_the_texts_name_is_there() -> None:
    """A path in backticks, or a link that is no address: what they name must exist."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    named = [
        (text, path)
        for text in texts
        for path in re.findall(
            r"`((?:src|tests|docs|examples|\.ci)/[\w./-]*)`|\]\((?!\w+:|#)([^)#]+)",
            text.read_text(),
        )
    ]
    missing = [
        f"{text.relative_to(ROOT)}: {in_backticks or link}"
        for text, (in_backticks, link) in named
        if not (ROOT / in_backticks if in_backticks else text.parent / link).exists()
    ]
    assert missing == []
