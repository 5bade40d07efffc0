"""Payload files: the bytes are the payload, the facts stand beside it and in its name."""

from datetime import UTC, datetime
from pathlib import Path

from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import listing, slices

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def read(place: Path, decoding: Decoding = PLAIN) -> list[Outcome]:
    files = listing([place]).files
    return [o for file in files for part in slices(file, 3) for o in decode(part, decoding)]


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_payload_has_the_facts_beside_it_and_those_of_its_file(tmp_path: Path) -> None:
    put(tmp_path / "day/photo.jpg", b"\xff\xd8\xff")
    put(tmp_path / "day/photo.jpg.json", b'{"of": ["cat", "dog"], "at": "2023-01-02"}')
    (found,) = read(tmp_path, Decoding(now=PLAIN.now, time_field="at"))
    assert isinstance(found, Decoded)
    assert (found.event.id, found.event.payload) == ("day/photo.jpg", b"\xff\xd8\xff")
    assert found.event.time.year == 2023
    assert found.place == str(tmp_path / "day/photo.jpg")
    assert [(fact.property.text, fact.object.text) for fact in found.event.facts] == [
        ("of", "cat"),
        ("of", "dog"),
        ("at", "2023-01-02"),
        ("file.name", "photo.jpg"),
        ("file.path", "day/photo.jpg"),
        ("file.type", "image/jpeg"),
        ("file.size", "3"),
    ]


def test_no_facts_are_needed_and_an_empty_file_is_an_event(tmp_path: Path) -> None:
    (found,) = read(put(tmp_path / "note.txt", b""))
    assert isinstance(found, Decoded)
    assert (found.event.id, found.event.payload) == ("note.txt", b"")


def test_facts_that_cannot_be_read_reject_the_event(tmp_path: Path) -> None:
    put(tmp_path / "a.pdf", b"%PDF")
    put(tmp_path / "b.pdf", b"%PDF")
    put(tmp_path / "c.pdf", b"%PDF")
    put(tmp_path / "a.pdf.json", b"{bad")
    put(tmp_path / "b.pdf.json", b"[]")
    put(tmp_path / "c.pdf.json", b'{"a": "' + b"x" * 100 + b'"}')
    for found, why in zip(
        read(tmp_path, Decoding(now=PLAIN.now, longest=50)),
        ("a.pdf.json: bad JSON", "b.pdf.json: a payload's facts are one", "longer than 50 bytes"),
        strict=True,
    ):
        assert isinstance(found, Rejected)
        assert why in found.reason


def test_a_payload_that_is_too_long_is_rejected(tmp_path: Path) -> None:
    path = put(tmp_path / "film.mp4", b"x" * 60)
    (found,) = read(path, Decoding(now=PLAIN.now, longest=50))
    assert isinstance(found, Rejected)
    assert "longer than 50 bytes" in found.reason


def test_what_the_facts_name_is_not_read(tmp_path: Path) -> None:
    put(tmp_path / "secret.txt", b"secret")
    put(tmp_path / "in/a.txt", b"open")
    put(
        tmp_path / "in/a.txt.json",
        b'{"file": {"path": "../secret.txt"}, "payload": "../secret.txt"}',
    )
    (found,) = read(tmp_path / "in")
    assert isinstance(found, Decoded)
    assert found.event.payload == b"open"
