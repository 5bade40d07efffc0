"""`sensewire knowledge`: what it prints, and how it ends.

Proved by breaking: an unknown word that ends with 0, warnings that end with 1 without --strict,
only the first meaning described, a bad line of subscriptions passed over in silence, a file's new
name taken for another scheme.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sensewire.cli.main import main

SHOP = """\
synonyms: {laptop: [notebook], price: [cost]}
hierarchy: {laptop: computer, computer: machine, tablet: machine, bank: building}
properties: {net price: price}
instances: {thinkpad: laptop}
statements: [[computer, price, xsd:decimal]]
mappings: [{name: taxed, inputs: [{n: net price}], outputs: {price: n * 2}}]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.yaml").write_text(SHOP)
    Path("river.yaml").write_text("hierarchy: {bank: shore}")


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["knowledge", *words]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "shop.yaml").splitlines()
    assert lines[0] == "11 entities"
    assert "  schemes       shop 11" in lines
    assert "  hierarchy     4 pairs, depth 2" in lines
    data = json.loads(printed(capsys, "shop.yaml", "river.yaml", "--json"))
    assert data["schemes"] == {"river": 2, "shop": 11}


def test_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "shop.yaml", "--term", "Notebook") == (
        "Notebook as a value\n"
        "  root          shop:laptop\n"
        "  names         laptop, notebook\n"
        "  kind          concept\n"
        "  schemes       shop\n"
        "  above         computer (1), machine (2)\n"
        "  below         thinkpad (individual)\n"
        "  instances     thinkpad\n"
        "  inherited     (computer, price, decimal)\n"
    )
    as_attribute = printed(capsys, "shop.yaml", "--term", "laptop", "--attribute")
    assert as_attribute.startswith("laptop as an attribute\n")


def test_a_word_that_is_both(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "shop.yaml", "--term", "price")
    value, attribute = found.split("\n\n")
    assert value.startswith("price as a value\n")
    assert attribute.startswith("price as an attribute\n")
    assert "  written by    taxed\n" in attribute
    assert "  below         net price\n" in attribute
    alone = printed(capsys, "shop.yaml", "--term", "net price")
    assert alone.startswith("net price as an attribute\n")
    assert "\n\n" not in alone


def test_an_ambiguous_word(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "shop.yaml", "river.yaml", "--term", "bank")
    assert found.startswith(
        "bank is ambiguous, it has 2 meanings as a value: river:bank, shop:bank\n"
    )
    assert "shore (1)" in found
    assert "building (1)" in found
    data = json.loads(printed(capsys, "shop.yaml", "river.yaml", "--term", "bank", "--json"))
    assert [each["root"] for each in data["meanings"]] == ["river:bank", "shop:bank"]
    assert data["meanings"][0]["above"] == [{"term": "river:shore", "steps": 1}]
    alone = printed(capsys, "shop.yaml", "river.yaml", "--term", "river:bank")
    assert "building" not in alone


def test_an_unknown_word(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "shop.yaml", "--term", "labtop", code=1)
    assert found == "nothing is known of labtop; did you mean laptop?\n"
    assert printed(capsys, "shop.yaml", "--term", "zebra", code=1).endswith("of zebra\n")
    data = json.loads(printed(capsys, "shop.yaml", "--term", "labtop", "--json", code=1))
    assert data == {"word": "labtop", "meanings": [], "near": ["laptop"]}


def test_long_lists_are_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = "".join(f"  c{number:02}: top\n" for number in range(50))
    Path("many.yaml").write_text(f"hierarchy:\n{pairs}")
    found = printed(capsys, "many.yaml", "--term", "top")
    assert "50: c00, c01, " in found
    assert "c19, … 30 more" in " ".join(found.split())
    assert "c20" not in found
    assert max(map(len, found.splitlines())) <= 100


def test_a_name_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text('hierarchy: {"a\\x1b[31m": top}')
    found = printed(capsys, "bad.yaml", "--term", "top")
    assert "\x1b" not in found
    assert "a\\u001b[31m" in found


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "shop.yaml", "--check", "--strict").endswith("\nno warnings\n")
    words = ["shop.yaml", "river.yaml", "--check"]
    found = printed(capsys, *words)
    assert "\nwarning: ambiguous words: 1\n  bank: river:bank, shop:bank\n" in found
    assert printed(capsys, *words, "--strict", code=1) == found
    Path("loop.yaml").write_text(
        "mappings: [{name: loop, inputs: [a], outputs: {a: a + 1}}]\nhierarchy: {b: c}"
    )
    found = printed(capsys, "loop.yaml", "--check")
    assert "warning: functions that read what they write: 1\n  loop\n" in found
    data = json.loads(printed(capsys, *words, "--json"))
    assert data["warnings"]["ambiguous"] == {"bank": ["river:bank", "shop:bank"]}
    assert data["statistics"]["functions"] == 1


def test_what_cannot_be_loaded_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cycle.yaml").write_text("hierarchy: {a: b, b: a}")
    for name, message in (("cycle.yaml", "a cycle"), ("none.yaml", "there is no such file")):
        assert main(["knowledge", name, "--check"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert message in captured.err


@pytest.fixture
def subscriptions() -> str:
    lines = (
        '{"id": "anna", "text": "product = computer"}',
        '{"id": "ben", "text": "product = building"}',
        '{"id": "cy", "text": "product = bank"}',
        '{"id": "dora", "text": "price < 5"}',
    )
    Path("s.jsonl").write_text("\n".join(lines))
    return "s.jsonl"


def test_a_difference(subscriptions: str, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("old", "new"):
        Path(folder).mkdir()
        Path(folder, "shop.yaml").write_text(SHOP)
    Path("new/shop.yaml").write_text(SHOP.replace("tablet: machine", "tablet: computer"))
    words = ["--diff", "old", "new", "--subscriptions", subscriptions]
    assert printed(capsys, *words) == (
        "anna: computer now covers tablet\n1 of 4 subscriptions may match differently\n"
    )
    Path("new/river.yaml").write_text("hierarchy: {bank: shore}")
    lines = printed(capsys, *words).splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == ["anna", "ben", "cy"]
    assert "refuses it: 'bank' has 2 meanings" in lines[2]
    assert lines[-1] == "3 of 4 subscriptions may match differently"
    data = json.loads(printed(capsys, *words, "--json"))
    assert data["differences"][0]["reasons"] == ["computer now covers tablet"]
    assert data["subscriptions"] == 4


def test_a_file_of_a_new_name_is_a_new_version(
    subscriptions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shop-2.yaml").write_text(SHOP.replace("tablet: machine", "tablet: computer"))
    words = ["--diff", "shop.yaml", "shop-2.yaml", "--subscriptions", subscriptions]
    assert printed(capsys, *words) == (
        "note: the scheme shop-2 is taken for a new version of shop\n"
        "anna: computer now covers tablet\n"
        "1 of 4 subscriptions may match differently\n"
    )


def test_a_bad_subscription_is_told_and_the_rest_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("s.jsonl").write_text('{"id": "a", "text": "price <"}\n{"id": "b", "text": "p = x"}\n')
    words = ["--diff", "shop.yaml", "shop.yaml", "--subscriptions", "s.jsonl"]
    assert main(["knowledge", *words]) == 0
    captured = capsys.readouterr()
    assert captured.out == "0 of 1 subscriptions may match differently\n"
    assert captured.err.startswith("sensewire: s.jsonl:1: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no knowledge is named"),
        (["shop.yaml", "--term", "a", "--check"], "two questions; ask one"),
        (["--diff", "shop.yaml", "shop.yaml"], "go together"),
        (["shop.yaml", "--subscriptions", "s.jsonl"], "go together"),
        (["--diff", "a", "b", "--subscriptions", "s", "--check"], "two questions"),
        (["shop.yaml", "--term", ""], "expected a word"),
        (["--diff", "shop.yaml", "none.yaml", "--subscriptions", "s"], "there is no such file"),
        (["--diff", "shop.yaml", "shop.yaml", "--subscriptions", "none"], "No such file"),
    ],
)
def test_questions_that_make_no_sense(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", *words]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert message in captured.err


def test_the_command_itself() -> None:
    command = [sys.executable, "-W", "error", "-m", "sensewire.cli.main", "knowledge"]
    found = subprocess.run([*command, "shop.yaml"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
    assert "whose matches may change" in shown.stdout
