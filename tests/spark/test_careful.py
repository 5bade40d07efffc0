"""Careful matching: whatever kills a child is found, told and left out; the rest stands."""

import faulthandler
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sensewire.engine import Engine
from sensewire.events.decoding import Decoding, Rejected
from sensewire.events.record_portion import RecordPortion
from sensewire.language.parse import parse
from sensewire.spark.careful import carefully
from sensewire.spark.outcomes import NOTHING, Outcomes, Pace, outcomes_of
from sensewire.spark.wire import read_frame, write_frame

NOW = datetime(2024, 3, 1, tzinfo=UTC)


def portion(*lines: bytes) -> RecordPortion:
    batch = pa.RecordBatch.from_pydict({"json": pa.array(lines, pa.large_binary())})
    return RecordPortion(batch, "f.jsonl", np.arange(1, len(lines) + 1))


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.add(parse("a exists"), id="some")
    return engine


def told(outcomes: Iterator[Outcomes]) -> tuple[list[str], list[Rejected], int]:
    events: list[str] = []
    rejected: list[Rejected] = []
    count = 0
    for each in outcomes:
        events += map(str, each.matches.column("event").to_pylist())
        rejected += each.rejected
        count += each.events
    return events, rejected, count


def test_nothing_is_different_where_nobody_dies(engine: Engine) -> None:
    some = portion(b'{"id": "x", "a": 1}', b'{"id": "y"}', b"oops")

    def matching(part: RecordPortion) -> Iterator[Outcomes]:
        return outcomes_of(part, engine, Decoding(NOW), Pace(engine))

    assert told(carefully(some, matching)) == told(matching(some))


@pytest.mark.parametrize("poison", [{0}, {2, 3}, {5}, set(range(6))])
def test_each_event_that_kills_is_rejected(engine: Engine, poison: set[int]) -> None:
    lines = [b'{"id": "%d", "a": 1}' % row for row in range(6)]

    def matching(part: RecordPortion) -> Iterator[Outcomes]:
        for row in range(len(part)):
            if part.numbers[row] - 1 in poison:
                faulthandler.disable()  # or pytest tells of it
                os.kill(os.getpid(), signal.SIGSEGV)
        return outcomes_of(part, engine, Decoding(NOW), Pace(engine))

    events, rejected, count = told(carefully(portion(*lines), matching))
    assert sorted(events) == [str(row) for row in range(6) if row not in poison]
    assert count == 6 - len(poison)
    assert [each.place for each in rejected] == [f"f.jsonl:{row + 1}" for row in sorted(poison)]
    assert all("SIGSEGV" in each.reason for each in rejected)
    assert [each.raw for each in rejected] == [lines[row] for row in sorted(poison)]


def test_an_error_is_told_as_it_is(engine: Engine) -> None:
    def matching(part: RecordPortion) -> Iterator[Outcomes]:
        if b"two" in b"".join(part.raw(row) for row in range(len(part))):
            raise ZeroDivisionError("by two")
        return outcomes_of(part, engine, Decoding(NOW), Pace(engine))

    _, rejected, count = told(carefully(portion(b'{"a": "one"}', b'{"a": "two"}'), matching))
    assert count == 1
    assert "ZeroDivisionError: by two" in rejected[0].reason


def test_an_event_is_tried_at_most_twice_here(engine: Engine, tmp_path: Path) -> None:
    """Once before, by the worker that died: three times in all."""
    journal = tmp_path / "tries"

    def matching(part: RecordPortion) -> Iterator[Outcomes]:
        for row in range(len(part)):
            if part.numbers[row] == 2:
                with journal.open("a") as file:
                    file.write("x")
                os.kill(os.getpid(), signal.SIGKILL)
        return outcomes_of(part, engine, Decoding(NOW), Pace(engine))

    list(carefully(portion(*[b'{"a": 1}'] * 4), matching))
    assert journal.read_text() == "xx"


def test_half_a_frame_is_none() -> None:
    file = BytesIO()
    write_frame(file, [NOTHING])
    whole = file.getvalue()
    write_frame(file, [NOTHING, NOTHING])
    both = BytesIO(file.getvalue()[:-1] + b"")
    first = read_frame(both)
    assert first is not None
    assert len(first) == 1
    assert read_frame(both) is None
    assert both.tell() == len(whole)
