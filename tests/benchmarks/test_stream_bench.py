"""The benchmark of the stream, in small: it runs, and a wrong answer ends it."""

from pathlib import Path

import pytest
from sqlalchemy import text

import stream as bench
from frame import Row, Settings, WrongAnswerError
from sensewire.store.database import open_store
from spark import SELECTIVE
from workloads.records import drawn

TINY = bench.Effort(5_000, 512, 10, 1.0, 500, 1.0, 2, 1, 64)
SETTINGS = Settings(quick=True, seed=1)


@pytest.mark.spark
@pytest.mark.long
def test_all_of_it_is_measured_and_a_wrong_answer_ends_it(tmp_path: Path) -> None:
    rows = list(bench._measured(SETTINGS, TINY, tmp_path))
    assert all(isinstance(row, Row) and row.value >= 0 for row in rows)
    metrics = {row.metric for row in rows}
    assert {"match", "latency, p50", "latency, p99", "restart to the first new match"} <= metrics
    workload = bench.Prepared(
        open_store(tmp_path / "store.db"),
        tmp_path,
        drawn(SELECTIVE, TINY.size, TINY.drawn, 0, SETTINGS.seed),
        [],
        TINY.drawn * TINY.repeats,
    )
    with workload.store.writing() as connection:
        connection.execute(
            text("DELETE FROM notifications WHERE event > :last"), {"last": workload.events}
        )
        connection.execute(text("DELETE FROM notifications WHERE subscription > 5000"))
    bench.check(workload, TINY)
    with workload.store.writing() as connection:
        connection.execute(
            text(
                "DELETE FROM notifications WHERE (event, subscription) IN "
                "(SELECT event, subscription FROM notifications LIMIT 1)"
            )
        )
    with pytest.raises(WrongAnswerError):
        bench.check(workload, TINY)
