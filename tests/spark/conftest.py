"""The cluster that tests on Spark share: started by the first test to ask, ended with the run."""

from collections.abc import Iterator

import pytest

from tests.spark.cluster import Cluster, cluster


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Spark's own standalone master and two workers of one core."""
    with cluster(tmp_path_factory.mktemp("cluster")) as standing:
        yield standing
