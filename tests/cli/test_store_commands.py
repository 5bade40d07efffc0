"""`subscribe`, `unsubscribe`, `subscriptions`, `publish`, `notifications` and `dead` on a store."""

import base64
import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sensewire.cli.main import main
from sensewire.events.kinds import Kind
from sensewire.store.batches import commit, pin
from sensewire.store.database import Store, open_store
from sensewire.store.dead import dead_letters
from sensewire.store.found import EVENTS, MATCHES, REJECTED, Found
from sensewire.store.ledger import Ledger
from sensewire.store.log import read

NOW = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("SENSEWIRE_STORE", str(tmp_path / "store.db"))
    return open_store(tmp_path / "store.db")


def bodies(store: Store) -> list[tuple[Kind, bytes]]:
    with store.reading() as connection:
        return [
            (each.entry.kind, each.entry.body) for each in read(connection, 0, 10**9, "any query")
        ]


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_subscriptions_come_are_listed_and_go(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["subscribe", "anna", "price < 5", "--expires", "2199-01-01"]) == 0
    assert main(["subscribe", "ben", "price > 5", "--tolerance", "1.5"]) == 0
    assert main(["subscriptions"]) == 0
    assert told(capsys) == [
        "anna stands",
        "ben stands",
        "anna: price < 5   (until 2199-01-01T00:00:00+00:00)",
        "ben: price > 5",
        "2 subscriptions",
    ]
    assert main(["unsubscribe", "anna"]) == 0
    assert main(["subscribe", "anna", "price < 6"]) == 0
    assert main(["subscriptions", "anna", "--json"]) == 0
    _, _, *lines = told(capsys)
    assert [(each["text"], each["state"]) for each in map(json.loads, lines)] == [
        ("price < 5", "cancelled"),
        ("price < 6", "live"),
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["subscribe", "anna"], "expected ID and TEXT, or --file"),
        (["subscribe", "anna", "price <"], "expected a value"),
        (["subscribe", "ben", "price < 5", "--expires", "2001-01-01"], "would never match"),
        (["subscribe", "ben", "price < 5", "--expires", "soon"], "'soon' is no date"),
        (["subscribe", "taken", "price < 5"], "the id 'taken' is in use"),
        (["unsubscribe", "nobody"], "there is no subscription 'nobody'"),
        (["unsubscribe", "taken", "nobody"], "there is no subscription 'nobody'"),
        (["notifications", "--subscription", "nobody"], "never had a subscription 'nobody'"),
        (["dead", "retry"], "expected the numbers of dead letters, or --all"),
        (["dead", "drop", "7"], "has no dead letter 7"),
        (["publish", "nothing.jsonl"], "No such file"),
        (["publish", "--format", "docx"], "no kind of events"),
        (["publish", "--store", "nowhere.db"], "there is no store nowhere.db"),
        (["publish", "--store", "mysql://a:secret@b/c"], "names no store"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    store: Store, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["subscribe", "taken", "price > 5"]) == 0
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert "secret" not in said
    assert main(["subscriptions"]) == 0
    assert told(capsys)[-2:] == ["taken: price > 5", "1 subscriptions"]


def test_a_file_of_subscriptions_is_taken_but_for_its_bad_lines(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"id": "a", "text": "price < 5"}, {"id": "b", "text": "price <"}, {"id": "c"}]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "\nnonsense\n")
    assert main(["subscribe", "--file", str(file)]) == 0
    said = capsys.readouterr()
    assert said.out == "1 subscriptions stand, 3 rejected\n"
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [
        f"{file}:2",
        f"{file}:3",
        f"{file}:5",
    ]


def test_events_are_published_in_every_way(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["publish", "--event", '{"a": 1}', "--event", "nonsense"]) == 0
    folder = tmp_path / "events"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"a": 2}\n\n{"a": 3}\n')
    (folder / "b.ttl").write_text("<urn:a> <urn:b> 5 .")
    (folder / "c.xls").write_text("a,b")
    (folder / "d.txt").write_text("a text")
    (folder / "d.txt.json").write_text('{"a": 4}')
    assert main(["publish", str(folder)]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 5}\n{"a": 6}')))
    assert main(["publish"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<urn:a> <urn:b> 6 .")))
    assert main(["publish", "--format", "ttl"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "2 events published, the log reaches to 2",
        "4 events published, the log reaches to 6",
        "2 events published, the log reaches to 8",
        "1 events published, the log reaches to 9",
    ]
    assert "c.xls" in said.err
    found = bodies(store)
    lines = [line for kind, body in found if kind is Kind.LINES for line in body.split(b"\n")]
    assert lines == [b'{"a": 1}', b"nonsense", *(b'{"a": %d}' % number for number in (2, 3, 5, 6))]
    others = [each for each in found if each[0] is not Kind.LINES]
    assert others == [
        (Kind.DOCUMENT, b"<urn:a> <urn:b> 5 ."),
        (Kind.PAYLOAD, b"a text"),
        (Kind.DOCUMENT, b"<urn:a> <urn:b> 6 ."),
    ]


def committed(store: Store) -> None:
    """A batch, as a stream commits it: one notification with a binding, one dead letter."""
    events = {"event": [0], "id": ["offer"], "position": [1], "place": [None]}
    rows = ['[{"p": "\\"900\\""}]']
    matches = {"event": [0], "subscription": [1], "rows": rows, "distance": [0.5]}
    rejected = {
        "place": ["log:2"],
        "reason": ["bad JSON at column 1"],
        "raw": [b"non\x1bsense"],
        "kind": ["lines"],
        "name": [None],
        "facts": [None],
    }
    found = Found(
        np.array([[1, 2]], np.uint64),
        pa.table(events, schema=EVENTS),
        pa.table(matches, schema=MATCHES),
        rejected=pa.table(rejected, schema=REJECTED),
    )
    commit(store, pin(store, "query", 0, "v1", NOW), found, Ledger("table"), NOW)


def test_notifications_are_shown_with_their_reasons(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["subscribe", "anna", "select ?p where price = ?p and ?p < 1600"]) == 0
    assert main(["publish", "--event", '{"id": "offer", "price": 900}', "--event", "x"]) == 0
    committed(store)
    told(capsys)
    assert main(["notifications"]) == 0
    assert told(capsys) == ['1  anna ← offer (distance 0.5)  p = "900"']
    assert main(["notifications", "--after", "1"]) == 0
    assert told(capsys) == []
    assert main(["notifications", "--subscription", "anna", "--json", "--why"]) == 0
    (line,) = told(capsys)
    said = json.loads(line)
    assert said.pop("why").startswith("yes: offer matches anna")
    assert said == {
        "number": 1,
        "event": "offer",
        "subscription": "anna",
        "rows": [{"p": '"900"'}],
        "distance": 0.5,
    }


def test_dead_letters_are_shown_and_decided_on(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["subscribe", "anna", "everything"]) == 0
    assert main(["publish", "--event", "{}", "--event", "x"]) == 0
    committed(store)
    told(capsys)
    assert main(["dead", "list"]) == 0
    assert told(capsys) == ["1  log:2: bad JSON at column 1", "   non\\x1bsense", "1 dead letters"]
    assert main(["dead", "list", "--json"]) == 0
    (line,) = told(capsys)
    assert base64.b64decode(json.loads(line)["raw"]) == b"non\x1bsense"
    assert main(["dead", "retry", "1"]) == 0
    assert dead_letters(store) == []
    assert main(["dead", "drop", "--all"]) == 0
    assert told(capsys) == ["1 dead letters published again", "0 dead letters dropped"]
