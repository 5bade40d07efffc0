"""What tasks count and keep: what the plain way gives, however the files are cut and shared out."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from sensewire.engine import Engine
from sensewire.events.files import listing, slices
from sensewire.events.lines import count_lines
from sensewire.language.parse import parse
from sensewire.spark import tally
from sensewire.spark.replay import Replayed, Total, tallied
from sensewire.spark.tally import MOST_SHOWN, MOST_TOLD, Example, place_order
from tests.spark.history import DECODING, SUBSCRIPTIONS, expected, write_history

NAMES = (
    *("a.jsonl", "b.nq", "c.parquet", "d.json", "e.ttl", "f.ttl", "g.ttl", "h.csv", "i.rss"),
    *("j.xml", "photo.jpg"),
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    for id, text in SUBSCRIPTIONS.items():
        engine.add(parse(text), id=id)
    return engine


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    write_history(folder, NAMES)
    return folder


def parts_of(path: Path, longest: int) -> list[Any]:
    """All files in slices, with the numbers of their first lines."""
    parts = []
    for file in listing([path]).files:
        line = 1
        for part in slices(file, longest):
            if file.kind.value in ("lines", "nq"):
                with part.file.location.open() as data:
                    parts.append(type(part)(file, part.start, part.end, line))
                    line += count_lines(data, part.start, part.end)
            else:
                parts.append(part)
    return parts


def replayed(parts: list[Any], engine: Engine, tasks: int, examples: int) -> Replayed:
    total = Total(examples)
    for task in range(tasks):
        found = tallied(parts[task::tasks], engine, DECODING, examples)
        total.add(json.loads(found.as_json()))
    return total.replayed([id for id, _ in engine.subscriptions()], ())


@pytest.mark.parametrize("examples", [0, 1, 3, 1_000])
@pytest.mark.parametrize(("longest", "tasks"), [(10**9, 1), (700, 2), (97, 7)])
def test_it_is_what_the_plain_way_gives(
    engine: Engine, history: Path, longest: int, tasks: int, examples: int
) -> None:
    parts = parts_of(history, longest)
    Random(f"{longest} {examples}").shuffle(parts)
    found = replayed(parts, engine, tasks, examples)
    bare = [
        (
            each.subscription,
            each.matches,
            dict(each.days),
            [e._replace(raw="") for e in each.examples],
        )
        for each in found.subscriptions
    ]
    assert bare == [
        (each.subscription, each.matches, dict(each.days), list(each.examples))
        for each in expected(history, engine, examples)
    ]
    assert found.matches == sum(each.matches for each in found.subscriptions) > 100
    assert (found.events, found.rejected) == (94 + 40 + 60 + 12 + 3 + 50 + 20 + 1 + 1, 1)
    (problem,) = found.problems
    assert problem.place == f"{history}/a.jsonl:42"
    assert problem.reason.startswith("bad JSON")


def test_of_one_day_the_first_by_place_are_kept(engine: Engine, tmp_path: Path) -> None:
    """Whatever the order in which files come, and of a line with several events too."""
    write_history(tmp_path, ["a.ttl", "b.ttl", "c.ttl"])
    context = '"specversion": "1.0", "source": "/s", "type": "t", "time": "2024-03-02"'
    batch = [f'{{{context}, "id": "{n}", "data": {{"price": 1}}}}' for n in range(12)]
    (tmp_path / "0.jsonl").write_text(f"\n[{', '.join(batch)}]\n{batch[0]}")
    parts = parts_of(tmp_path, 10**9)[::-1]
    lasts = ((3, "0.jsonl:2[2]"), (12, "0.jsonl:2[11]"), (15, "b.ttl:1"), (99, "c.ttl:1"))
    for most, last in lasts:
        found = replayed(parts, engine, 1, most)
        (cheap,) = (each for each in found.subscriptions if each.subscription == "cheap")
        assert [Path(each.place).name for each in cheap.examples][-1] == last
        assert len(cheap.examples) == min(most, 16)


def test_counts_are_merged_now_and_then(
    engine: Engine, history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replayed(parts_of(history, 97), engine, 2, 3)
    monkeypatch.setattr(tally, "_PENDING", 3)
    assert replayed(parts_of(history, 97), engine, 2, 3) == whole


def test_what_is_shown_of_an_event(engine: Engine, tmp_path: Path) -> None:
    write_history(tmp_path, ["photo.jpg"])
    (tmp_path / "a.jsonl").write_text(json.dumps({"price": 1, "fill": "ü" * 3_000}))
    found = replayed(parts_of(tmp_path, 10**9), engine, 1, 3)
    shown = {each.subscription: each.examples for each in found.subscriptions}
    assert shown["zürich"][0].raw == "256 bytes that are no text"
    assert len(shown["cheap"][0].raw) == MOST_SHOWN
    assert shown["nothing"] == ()


def test_the_first_few_problems_are_told(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("bad\n" * 30)
    for longest, tasks in ((10**9, 1), (7, 5)):
        found = replayed(parts_of(tmp_path, longest), engine, tasks, 3)
        assert found.rejected == 30
        assert [item.place for item in found.problems] == [
            f"{tmp_path}/a.jsonl:{line + 1}" for line in range(MOST_TOLD)
        ]


def test_the_order_of_examples() -> None:
    places = ["a:2", "a:10", "b:1[2]", "b:1[10]", "b", "a"]
    assert sorted(places, key=place_order) == ["a", "a:2", "a:10", "b", "b:1[2]", "b:1[10]"]
    days = ["2024-03-01", None, "2024-03-02"]
    examples = [Example(day, "a:1", "e", "") for day in days]
    assert [each.day for each in sorted(examples, key=Example.order)] == [*days[2::-2], None]
    assert place_order("packed[3f0c]:12") == ("packed[3f0c]", 12, 0)


def test_python_looks_at_no_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60,000 matches, a task makes texts of the few that it shows, and asks for few names."""
    engine = Engine()
    for number in range(20):
        engine.add(parse(f"price >= {number}"), id=f"s{number}")
    lines = [f'{{"price": 50, "at": "2024-03-{n % 28 + 1:02}"}}\n' for n in range(3_000)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    calls = 0

    def counted(raw: bytes) -> str:
        nonlocal calls
        calls += 1
        return ""

    monkeypatch.setattr(tally, "_shown", counted)
    found = tallied(parts_of(tmp_path, 10**9), engine, DECODING, 3)
    assert found.counts["matches"] == 60_000
    assert isinstance(found._kept, np.ndarray)
    assert len(json.loads(found.as_json())["examples"]) == 20
    assert calls == 60
