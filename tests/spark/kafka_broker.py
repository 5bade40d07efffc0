"""A real Kafka on this machine: one broker in KRaft mode, as a process.

    with broker(folder) as kafka:
        kafka.servers                          127.0.0.1:40123
        kafka.create("events", partitions=2)
        kafka.produce("events", [("key", b"value")])
        kafka.kill()                           at once, with no word to anybody
        kafka.start()                          again, on the same data and the same ports

Its jars come the way that Spark's own do (`spark.jars.packages`), and stay in Spark's Ivy folder.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pyspark
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sensewire.spark.java import java_home, packaged_java
from sensewire.spark.kafka import KAFKA

BROKER = "org.apache.kafka:kafka_2.13:4.3.1"
STAND_IN = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
"""The connector of the Spark before ours, for a repository that does not have ours."""
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
"""A part of every connector; only some repositories have every release of it."""
TOKENS_RELEASES = ("4.2.0", "4.1.0-preview1")
HOST = "127.0.0.1"
JARS = Path(pyspark.__file__).parent / "jars"
PATIENCE = 90  # seconds

FETCH = """
import os, sys
from pyspark import SparkContext
from sensewire.model.errors import SensewireError
from sensewire.spark.packages import PACKAGES, start_with_packages
from sensewire.spark.session import launch_environment
os.environ.update(launch_environment("local[1]", os.environ))
settings = dict(argument.split("=", 1) for argument in sys.argv[1:])
try:
    start_with_packages({"spark.master": "local[1]", **settings})
except SensewireError as error:
    sys.exit(str(error).partition(";")[0])
print(SparkContext._jvm.java.lang.System.getProperty("spark.jars"))
"""
SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
num.io.threads=2
num.network.threads=1
num.recovery.threads.per.data.dir=1
log.cleaner.dedupe.buffer.size=4194304
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


class JarsMissingError(Exception):
    """Jars that cannot be had here."""


@dataclass(frozen=True, slots=True)
class Connector:
    """Jars with which Spark reads from Kafka, and why they are not those of our Spark."""

    jars: tuple[str, ...]
    otherwise: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """What a session is given."""
        return {"spark.jars": ",".join(self.jars)}


@dataclass(slots=True)
class Broker:
    """A broker, its data in a folder; `process` is None while it is down."""

    folder: Path
    command: tuple[str, ...]
    servers: str
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self.process is None
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command, "kafka.Kafka", str(self.folder / "server.properties")],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait()

    def kill(self) -> None:
        """End it as a machine that fails does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def create(self, topic: str, partitions: int = 1, settings: Mapping[str, str] = {}) -> None:
        """Create a topic, and wait until it is there."""
        new = NewTopic(topic, partitions, 1, config=dict(settings))
        admin = self._admin()  # held by a name: what it was asked for ends with it
        admin.create_topics([new])[topic].result(PATIENCE)
        self._until_listed(topic, True)

    def delete(self, topic: str) -> None:
        """Delete a topic with all that is in it, and wait until it is gone."""
        admin = self._admin()
        admin.delete_topics([topic])[topic].result(PATIENCE)
        self._until_listed(topic, False)

    def topics(self) -> list[str]:
        """The topics that there are."""
        return sorted(self._admin().list_topics(timeout=PATIENCE).topics)

    def produce(
        self,
        topic: str,
        messages: Iterable[tuple[str | None, bytes]],
        *,
        partition: int = -1,
        is_aborted: bool = False,
        transaction: str | None = None,
    ) -> None:
        """Put messages into a topic; with a transaction's id, all of them or, aborted, none."""
        producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "log_level": 0,
                **({} if transaction is None else {"transactional.id": transaction}),
            }
        )
        if transaction is not None:
            producer.init_transactions(PATIENCE)
            producer.begin_transaction()
        for key, value in messages:
            producer.produce(topic, value, key, partition)
        assert producer.flush(PATIENCE) == 0
        if transaction is not None:
            (producer.abort_transaction if is_aborted else producer.commit_transaction)(PATIENCE)

    def consume(
        self, topic: str, count: int = 0, *, seconds: float = 30.0, is_committed: bool = True
    ) -> list[Message]:
        """All messages of a topic, to its end as it is when `count` of them have been seen.

        `is_committed`: only what a transaction has committed, or what was sent without one.
        """
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": f"test-{uuid4()}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed" if is_committed else "read_uncommitted",
            }
        )
        partitions = sorted(consumer.list_topics(topic, PATIENCE).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found: list[Message] = []
        ended: set[int] = set()
        end = time.monotonic() + seconds
        try:
            while len(found) < count or len(ended) < len(partitions):
                if time.monotonic() > end:
                    raise TimeoutError(f"{len(found)} of {count} messages in {seconds} s")
                message = consumer.poll(0.2)
                if message is None:
                    continue
                if message.error() is None:
                    found.append(message)
                    ended.discard(message.partition() or 0)
                else:
                    ended.add(message.partition() or 0)  # its end: others are raised
        finally:
            consumer.close()
        return found

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def _wait(self) -> None:
        assert self.process is not None
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self._admin().list_topics(timeout=1)
                return
            except KafkaException:
                time.sleep(0.1)
        log = (self.folder / "log").read_text(errors="replace")
        self.kill()
        raise RuntimeError(f"Kafka did not start: {log[-2000:]}")

    def _until_listed(self, topic: str, there: bool) -> None:
        end = time.monotonic() + PATIENCE
        while (topic in self.topics()) is not there:
            if time.monotonic() > end:
                raise TimeoutError(f"{topic}: still {'not ' if there else ''}there")
            time.sleep(0.05)


@contextmanager
def broker(folder: Path, environment: Mapping[str, str] = os.environ) -> Iterator[Broker]:
    """Start a broker on free ports, with its data in a folder, and end it."""
    jars = fetched(BROKER)
    # Spark's jars have what Ivy leaves out: Scala, and something that writes Kafka's log.
    beside = [
        str(jar)
        for name in ("scala-library", "slf4j-api", "log4j-")
        for jar in sorted(JARS.glob(f"{name}*.jar"))
    ]
    java = java_home(environment, packaged=packaged_java()) / "bin" / "java"
    command = (
        str(java),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-Dkafka.logs.dir={folder}",
        "-cp",
        os.pathsep.join([*beside, *jars]),
    )
    folder.mkdir(parents=True, exist_ok=True)
    port, controller = _free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(host=HOST, port=port, controller=controller, folder=folder))
    format_words = ("format", "-t", "c2Vuc2V3aXJlLXRlc3RzIQ", "-c", str(settings))
    run = subprocess.run(
        [*command, "kafka.tools.StorageTool", *format_words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if run.returncode != 0:
        raise RuntimeError(f"Kafka's folder was not made: {run.stdout}{run.stderr}")
    standing = Broker(folder, command, f"{HOST}:{port}")
    try:
        standing.start()
        yield standing
    finally:
        standing.kill()


def connector() -> Connector:
    """The connector of our Spark, else the one before, put together from the parts there are."""
    try:
        return Connector(tuple(fetched(KAFKA)))
    except JarsMissingError as error:
        reason = str(error)
    jars = fetched(STAND_IN, settings={"spark.jars.excludes": TOKENS})
    needless = "org.apache.hadoop:hadoop-client-runtime,org.apache.hadoop:hadoop-client-api"
    for release in TOKENS_RELEASES:
        with suppress(JarsMissingError):
            parts = fetched(f"{TOKENS}:{release}", settings={"spark.jars.excludes": needless})
            tokens = [part for part in parts if TOKENS.partition(":")[2] in part]
            return Connector((*jars, *tokens), reason)
    raise JarsMissingError(f"{reason}, nor the parts of {STAND_IN}")


def fetched(*packages: str, settings: Mapping[str, str] = {}) -> list[str]:
    """The paths of packages' jars and of all that they need, fetched by Spark unless they are kept.

    In a process of its own, whose JVM ends with it: that of the tests may run already.
    """
    words = {"spark.jars.packages": ",".join(packages), **settings}
    run = subprocess.run(
        [sys.executable, "-c", FETCH, *(f"{name}={value}" for name, value in words.items())],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if run.returncode != 0:
        raise JarsMissingError(run.stderr.strip().splitlines()[-1])
    return [path.removeprefix("file://") for path in run.stdout.strip().split(",")]


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
