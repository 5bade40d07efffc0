"""`sensewire learn`: its table, its last line, its exit codes."""

from pathlib import Path

import pytest

from sensewire.cli.learn import bar
from sensewire.cli.main import main
from sensewire.model.learned import load_learned


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    lines = [f'{{"id": "e{n}", "price": {n}, "[bold]": "x y"}}\n' for n in range(30)]
    (tmp_path / "e.jsonl").write_text("".join([*lines, "bad\n"]))
    return ["learn", "--events", str(tmp_path / "e.jsonl"), "--out", str(tmp_path / "stats.json")]


@pytest.mark.usefixtures("spark")
def test_the_table_and_the_last_line(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 0
    captured = capsys.readouterr()
    rows = captured.out.splitlines()
    assert rows[-1] == "31 events, 30 sampled, 3 attributes, 1 rejected"
    assert max(map(len, rows)) <= 80
    cells = {row.split()[0]: row for row in rows[1:-1]}
    assert "0 … 15 … 29" in cells["price"]
    assert "█" * 10 + " 100%" in cells["price"]
    assert '100% "x y"' in cells["[bold]"]
    assert captured.err.startswith(f"sensewire: {tmp_path / 'e.jsonl'}:31: bad JSON at column 1")
    assert captured.err.count("\n") == 1
    assert len(load_learned(tmp_path / "stats.json").sample) == 30
    assert main([*line, "--overwrite", "--sample", "4", "--id-field", "price"]) == 0
    learned = load_learned(tmp_path / "stats.json")
    assert len(learned.sample) + learned.rejected == 4
    assert all(event.id.isdecimal() for event in learned.sample)


@pytest.mark.usefixtures("spark")
def test_many_attributes_and_long_names(
    tmp_path: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    members = [f'"\\u001b{"name" * 20}{n}": "{"value " * 30}"' for n in range(70)]
    (tmp_path / "e.jsonl").write_text("{" + ", ".join(members) + "}\n")
    assert main(line) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[-2:] == [
        "… and 20 more attributes",
        "1 events, 1 sampled, 70 attributes, 0 rejected",
    ]
    assert rows[1].startswith("\\u001Bname")  # a terminal would obey it
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "0"], "--sample 0: expected a whole number above 0"),
        (["--master", "mars"], "'mars' is no Spark master"),
        (["--knowledge", "k.ttl"], "k.ttl: there is no such file"),
    ],
)
def test_errors_are_one_line(
    line: list[str], options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*line, *options]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize("text", ["memory=4g", "spark.driver.memory", ""])
def test_a_setting_is_one_of_spark(
    line: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*line, "--conf", text]) == 2
    assert f"--conf {text!r} is no setting of Spark; right would be" in capsys.readouterr().err


def test_bars() -> None:
    assert bar(1.0) == "██████████ 100%"
    assert bar(0.26) == "██▋         26%"
    assert bar(0.001) == "▏           <1%"
