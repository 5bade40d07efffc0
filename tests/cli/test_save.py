"""`sensewire save`: the index, its last line, what it tells and what it refuses."""

from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.engine import Engine
from sensewire.model.event import Event
from sensewire.model.learned import Learned, write_learned

STATED = '{"id": "anna", "text": "price < 900"}\n{"id": "ben", "text": "price < 5"}\n'


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    (tmp_path / "s.jsonl").write_text(STATED)
    return [
        *("save", "--subscriptions", str(tmp_path / "s.jsonl")),
        *("--out", str(tmp_path / "index")),
    ]


def matched(folder: Path, **values: object) -> list[str]:
    return [match.subscription for match in Engine.open(folder).match(Event.record(values))]


def test_the_index_and_the_last_line(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 0
    captured = capsys.readouterr()
    (version,) = (path for path in (tmp_path / "index").iterdir() if path.is_dir())
    size = sum(file.stat().st_size for file in version.iterdir())
    assert captured.out == f"2 subscriptions, 0 rejected, {size} bytes\n"
    assert captured.err == ""
    assert matched(tmp_path / "index", price=7) == ["anna"]


def test_bad_lines_are_told_and_the_rest_is_saved(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expired = '{"id": "eva", "text": "price < 9", "expires": "2024-03-01"}\n'
    (tmp_path / "s.jsonl").write_text(STATED + "bad\n" * 7 + expired)
    assert main([*line, "--now", "2024-03-02"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("2 subscriptions, 7 rejected, ")
    told = captured.err.splitlines()
    assert told[0].startswith(f"sensewire: {tmp_path / 's.jsonl'}:3: bad JSON")
    assert told[5:] == ["sensewire: 2 more subscriptions are rejected"]
    assert matched(tmp_path / "index", price=7) == ["anna"]


def test_knowledge_and_statistics_are_used(line: list[str], tmp_path: Path) -> None:
    texts = [f'{{"id": "s{n}", "text": "price > {n} and size < {n}"}}\n' for n in range(1_100)]
    (tmp_path / "s.jsonl").write_text("".join(texts))
    (tmp_path / "k.yaml").write_text("synonyms:\n  price: [cost]\n")
    history = tuple(Event.record({"price": 1, "size": n}) for n in range(1_200))
    write_learned(tmp_path / "stats.json", Learned(1_200, 0, (), history))
    options = ["--knowledge", str(tmp_path / "k.yaml"), "--statistics"]
    assert main([*line, *options, str(tmp_path / "stats.json")]) == 0
    assert matched(tmp_path / "index", cost=3, size=1) == ["s2"]
    matcher = Engine.open(tmp_path / "index")._dispatch.of_facts
    assert getattr(matcher, "_segments")[0].planned_with == 1_200  # noqa: B009 - no part of it


def test_an_index_is_replaced_where_that_is_asked_for(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 0
    (tmp_path / "s.jsonl").write_text('{"id": "eva", "text": "price > 1"}\n')
    assert main(line) == 2
    assert "index exists; name another folder, or say --overwrite" in capsys.readouterr().err
    assert main([*line, "--overwrite"]) == 0
    assert matched(tmp_path / "index", price=7) == ["eva"]


@pytest.mark.parametrize("form", ["file", "folder", "link"])
def test_what_is_no_index_is_left_alone(
    form: str, line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "index"
    match form:
        case "file":
            place.write_text("mine")
        case "folder":
            place.mkdir()
            (place / "mine.txt").write_text("mine")
        case _:
            place.symlink_to(tmp_path / "nowhere")
    assert main([*line, "--overwrite"]) == 2
    assert capsys.readouterr().err.startswith(f"sensewire: {place}: ")
    if form != "link":
        assert (place if form == "file" else place / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no subscription that is live; expected JSON lines with at least one"),
        ("bad\nworse\n", "none of its lines is a subscription; the first: "),
    ],
)
def test_nothing_to_save(
    content: str,
    message: str,
    line: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "s.jsonl").write_text(content)
    assert main(line) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "index").exists()


def test_statistics_that_cannot_be_read(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stats.json").write_text("{}")
    assert main([*line, "--statistics", str(tmp_path / "stats.json")]) == 2
    assert "stats.json: no statistics; expected" in capsys.readouterr().err
    assert not (tmp_path / "index").exists()
