"""`sensewire explain`: its exit codes, where the event comes from, and what it writes.

Proved by breaking: an undecided event that ends with 0, a given time that is not used, the first
of several events taken, @file read as JSON.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sensewire.cli.main import main

KNOWLEDGE = """\
hierarchy: {laptop: computer, bank: building}
mappings:
  - name: experience
    inputs: [graduation]
    outputs: {experience: event.time.getFullYear() - graduation}
  - {name: broken, inputs: [zero], outputs: {ratio: 1 / zero}}
"""


@pytest.fixture
def known(tmp_path: Path) -> list[str]:
    (tmp_path / "shop.yaml").write_text(KNOWLEDGE)
    return ["--knowledge", str(tmp_path / "shop.yaml")]


def explain(subscription: str, event: str, *options: str) -> int:
    return main(["explain", "--subscription", subscription, "--event", event, *options])


def test_yes_ends_with_0(known: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("product = computer", '{"product": "laptop"}', *known) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("yes: the event matches the subscription\n")
    assert "laptop" in captured.out.splitlines()[1]
    assert captured.err == ""


def test_no_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("product = computer", '{"product": "laptop", "id": "e7"}') == 1
    assert capsys.readouterr().out.startswith("no: e7 does not match the subscription\n")


def test_undecided_ends_with_1_and_says_so(
    known: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain("ratio > 1", '{"zero": 0}', *known) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("undecided: the event may match the subscription\n")
    assert "mapping broken failed" in printed


@pytest.mark.parametrize(("time", "code"), [("2012-06-01", 0), ("2008-01-01T00:00:00Z", 1)])
def test_the_time_that_functions_read(time: str, code: int, known: list[str]) -> None:
    for event in ('{"graduation": 2002}', cloud_event("2000-01-01T00:00:00Z")):
        assert explain("experience >= 10", event, *known, "--time", time) == code


def cloud_event(time: str) -> str:
    context = {"specversion": "1.0", "id": "c1", "source": "/s", "type": "t", "time": time}
    return json.dumps({**context, "data": {"graduation": 2002}})


def test_json_and_a_drawing(
    known: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = tmp_path / "why.svg"
    options = [*known, "--json", "--svg", str(drawing)]
    assert explain("product = computer", '{"product": "laptop"}', *options) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["outcome"], data["matches"]) == ("yes", True)
    assert drawing.read_text(encoding="utf-8").lstrip().startswith("<svg")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.json", '{"product": "laptop"}'),
        ("e.jsonl", '{"product": "laptop"}\n\n'),
        ("e.ttl", '[] <http://x.org/product> "laptop" .'),
        ("e.nq", '_:a <http://x.org/product> "laptop" <http://x.org/g> .\n'),
        ("{e.json", '{"product": "laptop"}'),
    ],
)
def test_an_event_in_a_file(
    name: str, text: str, known: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert explain("product = computer", f"@{name}", *known) == 0
    if not name.startswith("{"):
        assert explain("product = computer", name, *known) == 0


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("@two.jsonl", "@two.jsonl holds 2 events; expected one"),
        ('[{"a": 1}, {"a": 2}, {"a": 3}]', "holds 3 events; expected one"),
        ("@empty.jsonl", "holds 0 events"),
        ("@none.json", "none.json: No such file or directory"),
        ("{", "the event: bad JSON at column"),
        ("none.json", "is no JSON object, and there is no such file"),
        ("5", "is no JSON object, and there is no such file"),
        ('{"a": {}}' * 2, "bad JSON"),
        ("x" * 5_000, "is no JSON object, and there is no such file"),
        ("@bad.json", "bad JSON"),
    ],
)
def test_no_event_or_several(
    event: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    Path("empty.jsonl").write_text("")
    Path("bad.json").write_text("{,}")
    assert explain("a = 1", event) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith("sensewire: ")
    assert message in captured.err


def test_a_caret_under_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("colour = red and price <=", "{}") == 2
    first, second = capsys.readouterr().err.splitlines()
    assert second == " " * len(first) + "^ expected a value"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "soon"], "the time 'soon' is no date"),
        (["--knowledge", "none.yaml"], "none.yaml: there is no such file"),
        (["--language", "klingon"], "klingon"),
        (["--svg", "no/such/folder/a.svg"], "No such file or directory"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain("a = 1", '{"a": 1}', *options) == 2
    assert message in capsys.readouterr().err


def test_an_ambiguous_word_is_an_error(
    known: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "river.yaml").write_text("hierarchy: {bank: shore}")
    assert explain("place = bank", "{}", *known, str(tmp_path / "river.yaml")) == 2
    assert "'bank' has 2 meanings" in capsys.readouterr().err


def test_the_command_itself() -> None:
    command = [sys.executable, "-W", "error", "-m", "sensewire.cli.main", "explain"]
    words = ["--subscription", "price < 900", "--event", '{"price": 950}']
    found = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith("no: ")
