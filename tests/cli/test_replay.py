"""`sensewire replay`: what it shows, its last line, its exit codes."""

import json
from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.cli.replay import chart, printable, shown
from sensewire.spark.replay import Received
from sensewire.spark.tally import Example


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    (tmp_path / "s.jsonl").write_text(
        '{"id": "anna", "text": "price < 900"}\n'
        '{"id": "ben", "text": "price >"}\n'
        '{"id": "carl", "text": "price > 5000"}\n'
    )
    lines = [
        f'{{"id": "e{n}", "price": {n * 100}, "at": "2024-03-{n // 3 + 1:02}"}}' for n in range(12)
    ]
    (tmp_path / "e.jsonl").write_text("\n".join([*lines, '{"id": "no", "price": 1}', "bad"]))
    return [
        *("replay", "--subscriptions", str(tmp_path / "s.jsonl")),
        *("--events", str(tmp_path / "e.jsonl"), "--time-field", "at"),
    ]


@pytest.mark.usefixtures("spark")
def test_what_is_shown(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line, "--examples", "2", "--json", str(tmp_path / "found.json")]) == 0
    captured = capsys.readouterr()
    file = tmp_path / "e.jsonl"
    assert captured.out.splitlines() == [
        "anna: 10 events",
        "  2024-03-01 ███ 2024-03-03   at most 3 a day",
        "  1 event has no time",
        f'  e6 ({file}:7, 2024-03-03) {{"id": "e6", "price": 600, "at": "2024-03-03"}}',
        f'  e7 ({file}:8, 2024-03-03) {{"id": "e7", "price": 700, "at": "2024-03-03"}}',
        "carl: 0 events",
        "13 events, 10 matches, 2 rejected, 0 failed",
    ]
    errors = captured.err.splitlines()
    assert errors[0].startswith(f"sensewire: {tmp_path / 's.jsonl'}:2: price >")
    assert errors[1].startswith(f"sensewire: {file}:14: bad JSON")
    assert len(errors) == 2
    found = json.loads((tmp_path / "found.json").read_text())
    assert [found[name] for name in ("events", "matches", "rejected", "failed")] == [13, 10, 2, 0]
    anna, carl = found["subscriptions"]
    assert anna["days"] == {"none": 1, "2024-03-01": 3, "2024-03-02": 3, "2024-03-03": 3}
    assert anna["examples"][1] == {
        "day": "2024-03-03",
        "place": f"{file}:8",
        "event": "e7",
        "raw": '{"id": "e7", "price": 700, "at": "2024-03-03"}',
    }
    assert (carl["matches"], carl["days"], carl["examples"]) == (0, {}, [])
    assert [item["place"].rpartition("/")[2] for item in found["problems"]] == [
        "s.jsonl:2",
        "e.jsonl:14",
    ]


@pytest.mark.usefixtures("spark")
def test_no_examples_and_no_times(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line[:-2], "--examples", "0"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == ["anna: 10 events", "carl: 0 events"]
    hint = "no time of these events is known; --time-field names the field that holds it"
    assert captured.err.splitlines()[-1] == f"sensewire: {hint}"
    assert main([*line[:-1], "when"]) == 0
    assert "none of these events has a time in 'when'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--examples", "-1"], "--examples -1: expected a whole number, 0 or more"),
        (["--json", "e.jsonl"], "e.jsonl exists; name another file, or remove it first"),
        (["--json", "no/found.json"], "no/found.json: there is no folder"),
        (["--now", "soon"], "the time 'soon' is no date"),
        (["--conf", "memory=4g"], "is no setting of Spark"),
        (["--master", "mars"], "'mars' is no Spark master"),
    ],
)
def test_errors_are_one_line(
    line: list[str],
    tmp_path: Path,
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*line, *options]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_chart_of_many_days_has_bars_of_several() -> None:
    days = {f"2024-{month:02}-{day:02}": month for month in range(1, 13) for day in (1, 2, 28)}
    drawn = chart(days)
    assert drawn.startswith("2024-01-01 ")
    assert drawn.endswith(" 2024-12-28   at most 32 in 7 days")
    assert len(drawn.split(" 2024-12-28")[0].removeprefix("2024-01-01 ")) <= 60
    assert chart({"2024-01-01": 1, "2024-01-03": 1_000}) == (
        "2024-01-01 ▁ █ 2024-01-03   at most 1,000 a day"  # one event is seen beside a thousand
    )


def test_a_terminal_gets_nothing_to_obey() -> None:
    example = Example(None, "a\x1b[2J:1", "e\x07", "x" * 300 + "\n\x1b")
    text = "\n".join(shown(Received("s\x1b", 1, {None: 1}, (example,))))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.endswith("x…")
    assert printable("Zürich 日本 😀") == "Zürich 日本 😀"
