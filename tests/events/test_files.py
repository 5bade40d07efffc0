"""Event files: which are found, what kind they are, and how a slice of one becomes events."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import Slice, listing, slices
from sensewire.events.kinds import Kind, naming
from sensewire.events.lines import count_lines
from sensewire.model.errors import EventError

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def put(path: Path, text: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_folder_is_read_with_all_below_it_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.nq", "a/_temporary/x.jsonl", ".hidden.jsonl", "_c.jsonl", "c.TTL"):
        put(tmp_path / name)
    put(tmp_path / "a/what.xls", "a,b")
    put(tmp_path / "a/x.jsonl.gz")
    put(tmp_path / "a/x.zip")
    found = listing([tmp_path])
    assert [file.id for file in found.files] == ["b.jsonl", "c.TTL", "a/x.jsonl.gz", "a/z.nq"]
    assert [file.name for file in found.files] == [str(tmp_path / file.id) for file in found.files]
    assert [item.place for item in found.rejected] == [
        str(tmp_path / "a/what.xls"),
        str(tmp_path / "a/x.zip"),
    ]
    assert "expected .jsonl .ndjson .json .nq" in found.rejected[0].reason
    assert "archives are not opened" in found.rejected[1].reason


def test_names_are_as_given_and_paths_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "day/e.ttl", '<http://x/a> <http://x/p> "1" .')
    monkeypatch.chdir(tmp_path)
    (file,) = listing([Path("day/e.ttl")]).files
    assert (file.name, file.id, file.path) == ("day/e.ttl", "e.ttl", str(tmp_path / "day/e.ttl"))
    monkeypatch.chdir("/")
    (found,) = decode(Slice(file, 0, file.size), PLAIN)
    assert isinstance(found, Decoded)
    assert (found.event.id, found.place) == ("e.ttl", "day/e.ttl:1")


def test_what_is_named_must_be_there_and_of_a_known_kind(tmp_path: Path) -> None:
    with pytest.raises(EventError, match=r"none\.jsonl: No such file or directory"):
        listing([tmp_path / "none.jsonl"])
    with pytest.raises(EventError, match=r"names in '\.xls'"):
        listing([put(tmp_path / "a.xls")])
    with pytest.raises(EventError, match="archives are not opened; unpack it"):
        listing([put(tmp_path / "a.jsonl.zip")])
    with pytest.raises(EventError, match=r"\.parquet is not read from inside \.gz; unpack it"):
        listing([put(tmp_path / "a.parquet.gz")])
    with pytest.raises(EventError, match=r"a\.parquet: no Parquet that can be read, perhaps trunc"):
        listing([put(tmp_path / "a.parquet", b"PAR1")])
    with pytest.raises(EventError, match=r"a\.arrow: no Arrow IPC that can be read"):
        listing([put(tmp_path / "a.arrow", b"")])
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(EventError, match="no regular file"):
        listing([tmp_path / "pipe.jsonl"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}\n{"a": 2}', Kind.LINES),
        ('\ufeff{"a": 1}', Kind.LINES),
        ('{\n"a": 1}', Kind.JSON),
        ('[{"a": 1}]', Kind.JSON),
        ("", Kind.JSON),
    ],
)
def test_json_is_looked_into(tmp_path: Path, text: str, kind: Kind) -> None:
    (file,) = listing([put(tmp_path / "e.json", text)]).files
    assert file.kind == kind


@pytest.mark.parametrize("name", ["e.jsonl", "e.nq"])
def test_lines_are_cut_anywhere(tmp_path: Path, name: str) -> None:
    (lines,) = listing([put(tmp_path / name, "x" * 10)]).files
    assert [(part.start, part.end) for part in slices(lines, 4)] == [(0, 4), (4, 8), (8, 10)]
    assert [part.weight for part in slices(lines, 4)] == [4, 4, 2]
    (empty,) = listing([put(tmp_path / f"empty-{name}")]).files
    assert [list(decode(part, PLAIN)) for part in slices(empty, 4)] == [[]]


@pytest.mark.parametrize(
    "name",
    ["e.jsonl.gz", "e.nq.zst", "e.trig", "e.ttl", "e.txt", "e.csv", "e.tsv", "e.xml", "e.rss"],
)
def test_all_else_is_not_cut(tmp_path: Path, name: str) -> None:
    (file,) = listing([put(tmp_path / name, "x" * 10)]).files
    assert [(part.start, part.end) for part in slices(file, 4)] == [(0, 10)]


def test_parquet_is_cut_between_row_groups(tmp_path: Path) -> None:
    table = pa.table({"a": list(range(100))})
    for name in ("a", "b"):
        parquet.write_table(table, tmp_path / f"{name}.parquet", row_group_size=30)
    (file, _) = listing([tmp_path]).files
    assert [group.rows for group in file.groups] == [30, 30, 30, 10]
    cut = [(part.start, part.end, part.first_line) for part in slices(file, 1)]
    assert cut == [(0, 1, 1), (1, 2, 31), (2, 3, 61), (3, 4, 91)]
    cut = [(part.start, part.end, part.first_line) for part in slices(file, file.size // 2)]
    assert cut[0][:2] == (0, 1)
    assert cut[-1][1] == 4
    assert [(part.start, part.end) for part in slices(file, file.size)] == [(0, 4)]
    assert sum(part.weight for part in slices(file, 1)) in range(file.size - 4, file.size + 1)


def test_the_facts_of_a_payload_are_no_event_of_their_own(tmp_path: Path) -> None:
    for name in ("a/photo.jpg", "a/photo.jpg.json", "a/other.json", "b.png.json"):
        put(tmp_path / name, "{}")
    found = {file.id: file.kind for file in listing([tmp_path]).files}
    assert found == {
        "b.png.json": Kind.LINES,
        "a/other.json": Kind.LINES,
        "a/photo.jpg": Kind.PAYLOAD,
    }


def test_a_name_means_the_same_on_every_machine() -> None:
    assert naming("a.TXT").kind is Kind.PAYLOAD
    assert naming("a.json.xz") == (Kind.JSON, ".json", ".xz")
    with pytest.raises(EventError, match="names in ''"):
        naming("folder.jsonl/.jsonl")


def test_a_slice_of_lines_becomes_events_and_rejects(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": \n' + b'{"a": "' + b"x" * 100 + b'"}\n{"a": 2}'
    (file,) = listing([put(tmp_path / "e.jsonl", text)]).files
    decoding = Decoding(now=PLAIN.now, longest=50)
    found = list(decode(Slice(file, 0, file.size), decoding))
    assert [(type(o), o.place.rpartition(":")[2]) for o in found] == [
        (Decoded, "1"),
        (Rejected, "3"),
        (Rejected, "4"),
        (Decoded, "5"),
    ]
    long = found[2]
    assert isinstance(long, Rejected)
    assert long.raw == text.split(b"\n")[3][:50]
    assert "longer than 50 bytes" in long.reason
    assert "first 50 bytes are kept" in long.reason


@pytest.mark.parametrize("step", [1, 7, 64, 1_000])
def test_slices_together_give_the_events_of_the_whole(tmp_path: Path, step: int) -> None:
    text = "".join(
        f'{{"a": "{"日本" * n}", "n": {n}}}\n' + "bad é\n\n" * (n % 3) for n in range(20)
    )
    (file,) = listing([put(tmp_path / "e.jsonl", text)]).files
    whole = list(decode(Slice(file, 0, file.size), PLAIN))
    first_line = 1
    found: list[Outcome] = []
    for part in slices(file, step):
        found += decode(replace(part, first_line=first_line), PLAIN)
        with (tmp_path / "e.jsonl").open("rb") as content:
            first_line += count_lines(content, part.start, part.end)
    assert found == whole
    assert len(whole) == 20 + text.count("bad")


def test_a_document_that_is_too_long_is_rejected(tmp_path: Path) -> None:
    (file,) = listing([put(tmp_path / "e.ttl", "#" * 60)]).files
    (found,) = decode(Slice(file, 0, file.size), Decoding(now=PLAIN.now, longest=50))
    assert isinstance(found, Rejected)
    assert (len(found.raw), found.place) == (50, file.name)


def test_a_file_that_vanishes_is_rejected(tmp_path: Path) -> None:
    path = put(tmp_path / "e.jsonl", "{}")
    (file,) = listing([path]).files
    path.unlink()
    (found,) = decode(Slice(file, 0, file.size), PLAIN)
    assert isinstance(found, Rejected)
    assert "No such file" in found.reason


@pytest.mark.parametrize("first", ["{bad", "", '[{"specversion": "1.0"}]'])
def test_json_lines_under_another_name_lose_their_odd_first_line_only(
    tmp_path: Path, first: str
) -> None:
    (file,) = listing([put(tmp_path / "e.json", f'{first}\n{{"a": 1}}\n{{"a": 2}}\n')]).files
    found = list(decode(Slice(file, 0, file.size), PLAIN))
    assert [outcome.place for outcome in found if isinstance(outcome, Decoded)] == [
        f"{file.name}:2",
        f"{file.name}:3",
    ]
    assert len(found) == (3 if first else 2)


def test_a_broken_document_is_rejected_once(tmp_path: Path) -> None:
    (file,) = listing([put(tmp_path / "e.json", '{\n  "a": 1,\n  "b":\n')]).files
    (found,) = decode(Slice(file, 0, file.size), PLAIN)
    assert isinstance(found, Rejected)
