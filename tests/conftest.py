"""What all tests share: one Spark session for the whole run, started by the first test to ask, and
how many examples a law is tried on (SENSEWIRE_EXAMPLES; many in `make test-long`)."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from sensewire.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


settings.register_profile(
    "laws", max_examples=int(os.environ.get("SENSEWIRE_EXAMPLES", "40")), deadline=None
)
settings.load_profile("laws")


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Two workers: enough for an answer that depends on partitioning to show."""
    session = spark_session(master="local[2,3]")
    yield session
    session.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for the session as `spark`, so that no test forgets it needs a JVM."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
