"""The cluster and the Kafka that tests on Spark share: started by the first test to ask, ended
with the run. And a store for each test of a stream: of both kinds, or a file where the kind makes
no difference."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sensewire.store.database import Store, open_store
from tests.postgresql import Server
from tests.spark.cluster import Cluster, cluster
from tests.spark.kafka_broker import Broker, Connector, JarsMissingError, broker, connector


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Spark's own standalone master and two workers of one core."""
    with cluster(tmp_path_factory.mktemp("cluster")) as standing:
        yield standing


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker with no topics; a test names its own."""
    with ExitStack() as stack:
        try:
            standing = stack.enter_context(broker(tmp_path_factory.mktemp("kafka")))
        except JarsMissingError as error:
            pytest.skip(f"no Kafka to test with: {error}")
        yield standing


@pytest.fixture(scope="session")
def kafka_connector() -> Connector:
    """The jars that a Spark session reads from Kafka with: `kafka_connector.settings`."""
    try:
        return connector()
    except JarsMissingError as error:
        pytest.skip(f"no connector to read from Kafka with: {error}")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store, empty: a file, or a database of a server."""
    place = str(tmp_path / "store.db")
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgresql")
        place = server.database("stream")
    opened = open_store(place)
    yield opened
    opened.close()


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Store]:
    """A store that is a file."""
    opened = open_store(tmp_path / "store.db")
    yield opened
    opened.close()
