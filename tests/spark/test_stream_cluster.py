"""A stream on a real cluster, its store on a real server: workers get the index by Spark, new
subscriptions with their tasks, and read the log themselves."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sensewire.store.database import open_store
from tests.spark.cluster import Cluster
from tests.spark.streams import ask, caught_up, check, publish

if TYPE_CHECKING:
    from tests.postgresql import Server


pytestmark = pytest.mark.spark


def test_a_cluster_streams_from_a_server(
    standalone: Cluster, postgresql: "Server", tmp_path: Path
) -> None:
    store = open_store(postgresql.database("clustered"))
    ask(store, {"cheap": "price < 50", "bread": "what = bread"})
    publish(store, ({"id": f"e{number}", "price": number} for number in range(9_000)))
    command: list[str | Path] = [
        *("pipeline", "--source", "log", "--store", store.url, "--checkpoint", tmp_path / "c"),
        *("--master", standalone.master),
    ]
    assert caught_up(tmp_path, *command) == (
        "9000 events, 50 matches, 0 repeats, 0 rejected, 0 failed"
    )
    ask(store, {"later": "price < 3"})  # which no index has
    publish(store, [{"id": "f1", "price": 1, "what": "bread"}, {"id": "e7", "price": 1}])
    assert caught_up(tmp_path, *command) == ("1 events, 3 matches, 1 repeats, 0 rejected, 0 failed")
    check(store)
    store.close()
