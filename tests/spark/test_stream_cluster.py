"""A stream on a real cluster, its store on a real server: workers get the index by Spark, new
subscriptions with their tasks, and read the log themselves."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sensewire.store.database import open_store
from tests.spark.cluster import Cluster
from tests.spark.streams import ask, begun, check, publish, told, wait_for_all

if TYPE_CHECKING:
    from tests.postgresql import Server


pytestmark = pytest.mark.spark


@pytest.mark.long
def test_a_cluster_streams_from_a_server(
    standalone: Cluster, postgresql: "Server", tmp_path: Path
) -> None:
    store = open_store(postgresql.database("clustered"))
    ask(store, {"cheap": "price < 50", "bread": "what = bread"})
    publish(store, ({"id": f"e{number}", "price": number} for number in range(9_000)))
    source = ("pipeline", "--source", "log", "--store", store.url)
    run = (*source, "--checkpoint", tmp_path / "c", "--master", standalone.master)
    with begun(tmp_path, *run) as running:
        running.ready()
        wait_for_all(store, running)
        assert len(told(store)) == 50
        ask(store, {"later": "price < 3"})  # which no index has
        publish(store, [{"id": "f1", "price": 1, "what": "bread"}, {"id": "e7", "price": 1}])
        wait_for_all(store, running)
        assert running.told_to_end() == 0, running.errors
        last = running.output.splitlines()[-1]
    assert last == "9001 events, 53 matches, 1 repeats, 0 rejected, 0 failed"
    check(store)
    store.close()
