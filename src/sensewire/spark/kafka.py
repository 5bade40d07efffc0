"""Events that Spark reads from a topic of Kafka: its connector, its options, and what its errors
mean."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sensewire.spark.packages import PACKAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0"
"""Spark's connector, which is fetched unless the user names jars of it: the one of our Spark."""

COLUMNS = ("topic", "partition", "offset", "timestamp", "value")
"""What of a message is read; `value` is its bytes, `topic` to `offset` say where it stands."""

_CONNECTOR = "spark-sql-kafka-"
_JARS = ("spark.jars", PACKAGES)
_SPARK_TRIES = 3  # how often Spark's source asks for offsets
_REQUEST_TIME = 30.0  # seconds: Kafka's own limit of a request


def kafka_settings(given: Mapping[str, str] = {}) -> dict[str, str]:
    """The settings of a session that reads from Kafka, with those that were given.

    Jars of the connector among the given ones are taken as they are; else ours are added.

    >>> kafka_settings({"spark.jars.packages": "a:b:1"})["spark.jars.packages"]
    'a:b:1,org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0'
    >>> kafka_settings({"spark.jars": "/jars/spark-sql-kafka-0-10_2.13-4.3.0.jar"})
    {'spark.jars': '/jars/spark-sql-kafka-0-10_2.13-4.3.0.jar'}
    """
    settings = dict(given)
    if not any(_CONNECTOR in given.get(name, "") for name in _JARS):
        settings[PACKAGES] = ",".join(filter(None, (given.get(PACKAGES), KAFKA)))
    return settings


def kafka_options(
    servers: str,
    topic: str,
    most: int,
    *,
    partitions: int = 1,
    patience: float = 180.0,
    given: Mapping[str, str] = {},
) -> dict[str, str]:
    """The options of Spark's source: all of a topic from its beginning, `most` messages at a time.

    `partitions` is how many tasks there are at least; a broker may be away for `patience` seconds;
    `given` are further options, such as `kafka.security.protocol`.
    """
    wait = patience / _SPARK_TRIES
    return {
        "kafka.default.api.timeout.ms": _milliseconds(wait),
        "kafka.request.timeout.ms": _milliseconds(min(wait, _REQUEST_TIME)),
        # What a transaction took back was never published.
        "kafka.isolation.level": "read_committed",
        **given,
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(most),
        "minPartitions": str(partitions),
        # Messages that are gone before they were read: somebody has to know.
        "failOnDataLoss": "true",
    }


def kafka_table(
    spark: "SparkSession",
    servers: str,
    topic: str,
    most: int,
    *,
    patience: float = 180.0,
    given: Mapping[str, str] = {},
) -> "DataFrame":
    """The messages of a topic as a streaming table of `COLUMNS`, `most` of them in a batch."""
    options = kafka_options(
        servers,
        topic,
        most,
        # A topic of one partition is to keep every core busy all the same.
        partitions=spark.sparkContext.defaultParallelism,
        patience=patience,
        given=given,
    )
    return spark.readStream.format("kafka").options(**options).load().select(*COLUMNS)


def kafka_reason(text: str) -> str | None:
    """What an error of Spark's Kafka source means, and what to do; None if it is another error.

    >>> kafka_reason("x.UnknownTopicOrPartitionException: This server does not host this …")
    "the topic is not there, or no longer; right would be to create it, or another topic's name"
    >>> kafka_reason("java.io.IOException: No space left on device") is None
    True
    """
    for signs, reason in _REASONS:
        if any(sign in text for sign in signs):
            return reason
    return None


# Loss comes first: what Spark says of it names other errors too.
_REASONS = (
    (
        (
            "KAFKA_DATA_LOSS",
            "Some data may have been lost",
            "Cannot find earliest offsets",
            "OffsetOutOfRangeException",
        ),
        "messages of the topic were gone before they were read: they expired, or the topic was"
        " deleted and created again; right would be a longer retention.ms of the topic, and now a"
        " new checkpoint, which begins with what is there",
    ),
    (
        ("UnknownTopicOrPartitionException", "UnknownTopicIdException", "InvalidTopicException"),
        "the topic is not there, or no longer; right would be to create it, or another topic's"
        " name",
    ),
    (
        ("AuthorizationException", "AuthenticationException"),
        "Kafka does not let us read the topic; right would be the right to read and describe it,"
        " and the options that say who we are",
    ),
    (
        ("kafka.common.errors.TimeoutException", "No resolvable bootstrap urls"),
        "no Kafka broker answers; right would be host:port of one that runs and can be reached"
        " from here",
    ),
    (
        ("Failed to find data source: kafka", "find the data source: kafka"),
        f"Spark has no connector for Kafka; right would be --conf {PACKAGES}={KAFKA}",
    ),
)


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
