"""The files of a task: whatever way ids arrive, the same strings are written, in both formats."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events.decoding import Rejected
from sensewire.events.locations import location
from sensewire.spark import writing
from sensewire.spark.outcomes import NOTHING, Outcomes
from sensewire.spark.schema import FAILED, MATCHES
from sensewire.spark.writing import Files, json_lines, together

TERM = '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'


def matches(
    events: list[int], ids: list[str], subscriptions: list[str], *, encoded: bool, rows: Any = None
) -> pa.Table:
    """A table of matches as the engine gives it."""
    names = pa.array(subscriptions)
    return pa.Table.from_arrays(
        [
            pa.DictionaryArray.from_arrays(pa.array(events, pa.int32()), pa.array(ids)),
            names.dictionary_encode() if encoded else names,
            pa.array(rows or [None] * len(events), MATCHES.field("rows").type),
            pa.array(np.zeros(len(events))),
        ],
        names=MATCHES.names,
    )


def written(folder: Path, format: str) -> list[dict[str, Any]]:
    if format == "parquet":
        (file,) = folder.glob("*.parquet")
        table = pq.ParquetFile(file).read()
        assert table.schema.field("event").type == pa.string()
        return [
            row | {"rows": None if row["rows"] is None else [dict(each) for each in row["rows"]]}
            for row in table.to_pylist()
        ]
    (file,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
@pytest.mark.parametrize("at_once", [1, 3, 1_000])
def test_matches_are_written_as_strings_however_they_arrive(
    tmp_path: Path, format: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_ROWS_AT_ONCE", at_once)
    for folder in writing.FOLDERS.values():
        (tmp_path / folder).mkdir(exist_ok=True)
    parts = [
        matches([0, 0, 2], ["e0", "e1", 'e"2'], ["a", "b", "a"], encoded=True),
        matches([1], ["x"] * 2 + ["y"] * 9, ["zürich"], encoded=True),
        matches([0, 1], ["p", "q"], ["c", "d"], encoded=False, rows=[[[("v", TERM)]], None]),
    ]
    with Files(location(tmp_path), format, 3) as files:
        for part in parts:
            files.add(Outcomes(1, part, NOTHING.failed))
    expected = [
        ("e0", "a", None),
        ("e0", "b", None),
        ('e"2', "a", None),
        ("x", "zürich", None),
        ("p", "c", [{"v": TERM}]),
        ("q", "d", None),
    ]
    assert written(tmp_path, format) == [
        {"event": event, "subscription": id, "rows": rows, "distance": 0.0}
        for event, id, rows in expected
    ]
    assert [Path(name).suffix for name in files.names] == [f".{format}"]


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=6), min_size=1))
def test_tables_together_say_what_each_says(parts: list[list[tuple[int, int]]]) -> None:
    ids = [[f"{number}-{event}" for event in range(4)] for number in range(len(parts))]
    names = pa.array([f"s{number}" for number in range(6)], pa.large_string())
    tables = []
    expected = []
    for part, known in zip(parts, ids, strict=True):
        indices = pa.array([subscription for _, subscription in part], pa.int32())
        table = matches([event for event, _ in part], known, ["?"] * len(part), encoded=True)
        column = pa.DictionaryArray.from_arrays(indices, names)
        tables.append(table.set_column(1, "subscription", column))
        expected += [(known[event], f"s{subscription}") for event, subscription in part]
    found = together(tables).to_pydict()
    assert list(zip(found["event"], found["subscription"], strict=True)) == expected


def test_failures_and_rejections_have_files_of_their_own(tmp_path: Path) -> None:
    for folder in ("_failed", "_rejected"):
        (tmp_path / folder).mkdir()
    failed = pa.Table.from_pylist(
        [{"event": "e", "subscription": "s", "reason": "no luck"}], schema=FAILED
    )
    with Files(location(tmp_path), "jsonl", 0) as files:
        files.add(Outcomes(1, NOTHING.matches, failed, (Rejected("f:1", b"\xff\x00", "bad"),)))
    assert {Path(name).parent.name for name in files.names} == {"_failed", "_rejected"}
    (reason,) = written(tmp_path / "_failed", "jsonl")
    assert reason == {"event": "e", "subscription": "s", "reason": "no luck"}
    (bad,) = written(tmp_path / "_rejected", "jsonl")
    assert bad == {"place": "f:1", "reason": "bad", "raw": "/wA="}


def test_a_try_that_fails_writes_nothing_more(tmp_path: Path) -> None:
    def failing() -> None:
        with Files(location(tmp_path), "parquet", 0) as files:
            files.add(Outcomes(1, matches([0], ["e"], ["s"], encoded=True), NOTHING.failed))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert not list(tmp_path.iterdir())


@given(
    st.lists(st.tuples(st.text(max_size=5), st.one_of(st.none(), st.text(max_size=5)), st.binary()))
)
def test_json_lines_are_json(rows: list[tuple[str, str | None, bytes]]) -> None:
    table = pa.table(
        {
            "a": pa.array([row[0] for row in rows], pa.string()),
            'b"': pa.array([row[1] for row in rows], pa.string()),
            "c": pa.array([row[2] for row in rows], pa.binary()),
        }
    )
    lines = json_lines(table).to_pylist()
    assert all(line.endswith("}\n") and "\n" not in line[:-1] for line in lines)
    assert [json.loads(line)["a"] for line in lines] == [row[0] for row in rows]
    assert [json.loads(line)['b"'] for line in lines] == [row[1] for row in rows]
