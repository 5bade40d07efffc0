"""What all tests share: one Spark session for the whole run, started by the first test to ask."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sensewire.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Two workers: enough for an answer that depends on partitioning to show."""
    session = spark_session(master="local[2]")
    yield session
    session.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for the session as `spark`, so that no test forgets it needs a JVM."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
