"""`sensewire demo`: the stories under `examples/`, and what each of their people gets."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sensewire.cli import demo
from sensewire.cli.demo import examples, stories
from sensewire.cli.main import main

SHOP = {
    "Mia": ["thinkpad", "macbook", "/shop/prices#1", "offer"],
    "Omar": ["thinkpad", "xps"],
    "Priya": ["city-bike", "kite"],
    "Lena": ["city-bike"],
    "Noor": ["leica", "/shop/prices#2"],
    "Jonas": ["/shop/prices#1"],
    "Zoë": ["city-bike", "teapot"],
    "Anna": ["thinkpad", "xps", "macbook", "/shop/prices#1", "offer"],
    "Ivo": ["stone-age", "novel"],
    "Uma": ["stone-age"],
    "Carl": ["beetle"],
    "Tess": ["beetle"],
    "Professor X": ["/board/students#1"],
    "Dora": ["drone"],
    "Bea": ["offer"],
}
NEWSDESK = {
    "Anouk": ["vote", "poll"],
    "Yara": ["tram"],
    "Emil": ["vote"],
    "Rosa": ["storm"],
    "Ingrid": ["tram", "poll"],
    "Kofi": ["storm"],
}
BUILDING = {
    "Comfort": ["https://building.example/reading1", "https://building.example/reading2"],
    "Air quality": ["https://building.example/reading4"],
    "Lost and found": ["https://building.example/reading3"],
    "Facilities": ["alarm-1"],
    "Any sensor": ["new-point"],
}


@pytest.mark.usefixtures("spark")
def test_who_gets_what(tmp_path: Path) -> None:
    news = {name: [f"https://news.example/item/{i}" for i in ids] for name, ids in NEWSDESK.items()}
    told = zip(stories(examples()), (SHOP, news, BUILDING), (2, 2, 0), strict=True)
    for story, expected, rejected in told:
        out = tmp_path / story.title
        events = [str(path) for path in story.events]
        line = ["match", "--subscriptions", str(story.subscriptions), "--events", *events]
        known = [str(path) for path in story.knowledge]
        line += ["--knowledge", *known] if known else []
        assert main([*line, "--out", str(out)]) == 0
        found: dict[str, list[str]] = {}
        for row in pq.read_table(out).to_pylist():
            found.setdefault(row["subscription"], []).append(row["event"])
        assert {name: set(ids) for name, ids in found.items()} == {
            name: set(ids) for name, ids in expected.items()
        }
        assert pq.read_table(out / "_rejected").num_rows == rejected


@pytest.mark.spark
def test_the_command_itself() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "error", "-m", "sensewire.cli.main", "demo"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "260"},
    )
    assert (found.returncode, found.stderr) == (0, "")
    for name in (*SHOP, *NEWSDESK, *BUILDING, "Finn", "Hugo"):
        assert name in found.stdout
    assert "price = 320" in found.stdout
    assert "events.jsonl:9" in found.stdout
    assert "distance 0.075" in found.stdout
    for reason in ("notebook means laptop", "by experience from", "encyclopedia is a kind of book"):
        assert reason in found.stdout
    assert "Air_Temperature_Sensor → Temperature_Sensor" in found.stdout


def test_without_brick_the_other_stories_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert [story.title for story in stories(examples())] == ["A shop", "A news desk"]
