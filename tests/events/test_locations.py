"""Places of files: the same on this machine and over the network, and no secret in what is said."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.files import listing, slices
from sensewire.events.locations import Location, LocationError, Standing, location
from sensewire.events.portions import portions
from sensewire.events.record_portion import RecordPortion

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


@pytest.fixture(params=["local", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """An empty folder here, and one in a bucket."""
    if request.param == "local":
        return location(tmp_path / "in")
    options = request.getfixturevalue("bucket")
    return location(f"s3://key:secret@bucket/{tmp_path.name}{options}")


def put(place: Location, data: bytes) -> Location:
    with place.open_output() as file:
        file.write(data)
    return place


def test_a_file_is_written_read_moved_and_removed(folder: Location) -> None:
    folder.create()
    place = put(folder.child("a b#ü%.jsonl"), b"one\ntwo\n")
    assert place.status() == (Standing.FILE, 8)
    assert folder.status().standing is Standing.FOLDER
    with place.open() as file:
        assert (file.readline(), file.seek(5), file.read()) == (b"one\n", 5, b"wo\n")
    with place.open_arrow() as arrow:
        assert arrow.read() == b"one\ntwo\n"
    place.move(folder.child("moved.jsonl"))
    assert place.status().standing is Standing.NOTHING
    assert [found.path for found in folder.below()] == ["moved.jsonl"]
    folder.remove()
    folder.remove()
    assert folder.status().standing is Standing.NOTHING
    # Nobody else could have been asked: a place is its text.
    assert Location(place.text, "x").status().standing is Standing.NOTHING


def test_what_is_below_comes_in_the_order_of_a_walk(folder: Location) -> None:
    (folder.child("a/_temporary")).create()
    for name in ("b.jsonl", "a/z.nq", "a/_temporary/x.jsonl", ".hidden", "_c", "a-b.nq"):
        put(folder.child(name), b"12")
    assert [found.path for found in folder.below()] == ["a-b.nq", "b.jsonl", "a/z.nq"]


def test_events_are_read_from_there(folder: Location) -> None:
    folder.create()
    put(folder.child("e.jsonl"), b'{"a": 1}\n{"a": 2}\n')
    put(folder.child("e b.nq"), b"<http://x/s> <http://x/p> <http://x/o> <http://x/g> .\n" * 2)
    put(folder.child("e.json"), b'{"a": 1}\n')
    put(folder.child("e.parquet"), b"")
    with folder.child("f.parquet").open_output() as file:
        parquet.write_table(pa.table({"a": [1, 2, 3]}), file)
    put(folder.child("photo.jpg"), b"\xff")
    put(folder.child("photo.jpg.json"), b'{"of": "a cat"}')
    found = listing([folder])
    assert [file.id for file in found.files] == [
        "e b.nq",
        "e.json",
        "e.jsonl",
        "f.parquet",
        "photo.jpg",
    ]
    assert [item.place for item in found.rejected] == [folder.child("e.parquet").name]
    counts = {
        file.id: sum(
            isinstance(outcome, Decoded)
            for part in slices(file, 20)
            for outcome in decode(part, PLAIN)
        )
        for file in found.files
    }
    assert counts == {"e b.nq": 1, "e.json": 1, "e.jsonl": 2, "f.parquet": 3, "photo.jpg": 1}
    (named,) = listing([folder.child("e.jsonl")]).files
    assert (named.id, named.name) == ("e.jsonl", folder.child("e.jsonl").name)
    (portion,) = portions(slices(named, 100), PLAIN)
    assert isinstance(portion, RecordPortion)
    assert portion.place(1) == f"{named.name}:2"
    folder.child("e.jsonl").remove()
    (gone,) = portions(slices(named, 100), PLAIN)
    assert isinstance(gone, Rejected)
    assert gone.place == named.name
    assert "though it was there when the run began" in gone.reason


def test_no_secret_is_ever_told(bucket: str) -> None:
    place = location(f"s3://key:secret@bucket/none.jsonl{bucket}")
    for told in (place.name, place.child("x").name, place.beside(".json").name):
        assert "secret" not in told
        assert "?" not in told
    with pytest.raises(LocationError, match=r"^s3://bucket/none\.jsonl: ") as error:
        place.open()
    assert "secret" not in str(error.value)
    with pytest.raises(LocationError, match=r"^s3://bucket/none\.jsonl: No such file"):
        listing([place])


def test_what_cannot_be_reached_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match=r"^ftp://x/y\.jsonl: .*[Uu]nrecognized filesystem"):
        listing(["ftp://x/y.jsonl"])
    with pytest.raises(LocationError, match=r"none/x\.jsonl: No such file"):
        location(tmp_path / "none/x.jsonl").open()
    with pytest.raises(LocationError, match="File name too long; expected a place"):
        listing([tmp_path / ("x" * 300)])
    with pytest.raises(LocationError, match="a file of the machine host"):
        location("file://host/x.jsonl")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LocationError, match="it cannot be made"):
        location(tmp_path / "file" / "folder").create()


def test_a_path_keeps_the_name_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = location("day")
    assert (here.name, here.text) == ("day", str(tmp_path / "day"))
    assert here.child("a/b.nq") == Location(str(tmp_path / "day/a/b.nq"), "day/a/b.nq")
    assert location(".").child("x").name == "x"
    assert location(f"file://{tmp_path}/a").child("b c") == Location(
        f"{tmp_path}/a/b c", f"file://{tmp_path}/a/b c"
    )
    assert location("abfs://box@account.dfs.core.windows.net/x").name.startswith("abfs://box@")
