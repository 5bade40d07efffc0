"""What all tests share: one Spark session for the whole run, one S3 and one PostgreSQL, each
started by the first test to ask; and how many examples a law is tried on (SENSEWIRE_EXAMPLES; many
in `make test-long`)."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from sensewire.events.locations import location
from sensewire.spark.session import spark_session
from tests.postgresql import Server, UnavailableError, reachable_folder, server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# What is drawn for a law is refused where it makes no sense together, up to two times in three:
# that fifty are refused before ten are taken is then chance, and no fault.
settings.register_profile(
    "laws",
    max_examples=int(os.environ.get("SENSEWIRE_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
settings.load_profile("laws")


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Two workers: enough for an answer that depends on partitioning to show."""
    session = spark_session(master="local[2,3]")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """The options of addresses that lead to an S3 of our own, with a bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = f"?endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    location(f"s3://key:secret@bucket{options}&allow_bucket_creation=true").create()
    yield options
    server.stop()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server; a test asks it for a database of its own."""
    with reachable_folder() as folder, ExitStack() as stack:
        try:
            running = stack.enter_context(server(folder))
        except UnavailableError as error:
            pytest.skip(str(error))
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for the session as `spark`, so that no test forgets it needs a JVM; and
    have tests that share what is slow to start run in one process (`--dist loadgroup`)."""
    for item in items:
        wanted = getattr(item, "fixturenames", ())
        if "spark" in wanted:
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("spark"):
            shared = [name for name in ("standalone", "kafka", "kafka_connector") if name in wanted]
            group = shared[0].partition("_")[0] if shared else str(item.path)
            item.add_marker(pytest.mark.xdist_group(group))
