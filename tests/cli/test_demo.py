"""`sensewire demo`: the stories under `examples/`, and what each of their people gets."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sensewire.cli.demo import examples, stories
from sensewire.cli.main import main

SHOP = {
    "Mia": ["thinkpad", "macbook", "/shop/prices#1"],
    "Omar": ["thinkpad", "xps"],
    "Priya": ["city-bike", "kite"],
    "Lena": ["city-bike"],
    "Noor": ["leica", "/shop/prices#2"],
    "Jonas": ["/shop/prices#1"],
    "Zoë": ["city-bike", "teapot"],
}
NEWSDESK = {
    "Anouk": ["vote", "poll"],
    "Yara": ["tram"],
    "Emil": ["vote"],
    "Rosa": ["storm"],
    "Ingrid": ["tram", "poll"],
    "Kofi": ["storm"],
}


@pytest.mark.usefixtures("spark")
def test_who_gets_what(tmp_path: Path) -> None:
    news = {name: [f"https://news.example/item/{i}" for i in ids] for name, ids in NEWSDESK.items()}
    for story, expected in zip(stories(examples()), (SHOP, news), strict=True):
        out = tmp_path / story.title
        events = [str(path) for path in story.events]
        line = ["match", "--subscriptions", str(story.subscriptions), "--events", *events]
        assert main([*line, "--out", str(out)]) == 0
        found: dict[str, list[str]] = {}
        for row in pq.read_table(out).to_pylist():
            found.setdefault(row["subscription"], []).append(row["event"])
        assert {name: set(ids) for name, ids in found.items()} == {
            name: set(ids) for name, ids in expected.items()
        }
        assert pq.read_table(out / "_rejected").num_rows == 2


@pytest.mark.spark
def test_the_command_itself() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "error", "-m", "sensewire.cli.main", "demo"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "160"},
    )
    assert (found.returncode, found.stderr) == (0, "")
    for name in (*SHOP, *NEWSDESK, "Finn", "Hugo"):
        assert name in found.stdout
    assert "price = 320" in found.stdout
    assert "events.jsonl:9" in found.stdout
    assert "distance 0.075" in found.stdout
