"""Kafka, against a real broker: each batch arrives once, whatever is killed; what is lost is said.

A consumer that reads what is committed stands for whoever gets the notifications.
"""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import Message, Producer

from sensewire.model.errors import SensewireError
from sensewire.spark.kafka import COLUMNS, KAFKA, kafka_reason, kafka_settings
from sensewire.spark.kafka_sink import KafkaSink
from tests.spark.kafka_broker import Broker, Connector

ROOT = Path(__file__).parents[2]
BATCH = [("s1", b'{"event":"a"}'), ("s2", b'{"event":"a"}'), ("s1", b'{"event":"b"}')]
NOWHERE = "127.0.0.1:9"  # nobody listens there

KILLED = """
import os, signal, sys
import confluent_kafka
from sensewire.spark.kafka_sink import KafkaSink
when, servers, topic, *keys = sys.argv[1:]
class Dying(confluent_kafka.Producer):
    def commit_transaction(self, *arguments):
        self.flush(30)  # so that the broker has all of it
        if when == "after":
            super().commit_transaction(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
confluent_kafka.Producer = Dying
KafkaSink(servers, topic, "q").deliver(7, [(key, b"{}") for key in keys])
"""
MANY = 300
RUN = f"""
import sys
from sensewire.spark.kafka_sink import KafkaSink
sink = KafkaSink(*sys.argv[1:], "q")
for batch in range({MANY}):
    if sink.deliver(batch, [(f"s{{batch % 7}}", f"{{batch}} {{n}}".encode()) for n in range(20)]):
        print(batch, flush=True)
"""
START = """
import json, sys
from pathlib import Path
from pyspark.errors import PySparkException
from sensewire.spark.kafka import kafka_reason, kafka_settings, kafka_table
from sensewire.spark.session import spark_session
from tests.spark.kafka_broker import Broker
servers, jars, folder = sys.argv[1:]
spark = spark_session(master="local[2]", settings=kafka_settings({"spark.jars": jars}))
spark.sparkContext.setLogLevel("OFF")
"""
READ = """
table = kafka_table(spark, servers, "read", 4)
batches = []
def kept(rows, batch):
    batches.append([[row.topic, row.partition, row.offset, bytes(row.value).decode()]
                    for row in rows.collect()])
query = (table.writeStream.foreachBatch(kept).trigger(availableNow=True)
         .option("checkpointLocation", folder).start())
assert query.awaitTermination(60)
print(json.dumps({"columns": table.columns, "batches": batches}))
"""
LOST = """
kafka = Broker(Path(folder), (), servers)
def reason(place, topic, change, patience=9):
    query = (kafka_table(spark, place, topic, 4, patience=patience).writeStream.format("noop")
             .option("checkpointLocation", f"{folder}/{topic}").start())
    try:
        if change is not None:
            query.processAllAvailable()
            change(topic)
        assert query.awaitTermination(60)
    except PySparkException as error:
        return kafka_reason(str(error))
def again(topic):
    kafka.delete(topic)
    kafka.create(topic)
print(json.dumps({
    "deleted": reason(servers, "deleted", kafka.delete),
    "again": reason(servers, "again", again),
    "never": reason(servers, "never-there", None),
    "unreachable": reason("127.0.0.1:9", "unreachable", None, patience=3),
}))
"""

pytestmark = pytest.mark.spark


def pairs(kafka: Broker, topic: str, count: int = 0, *, is_committed: bool = True) -> Counter[Any]:
    messages = kafka.consume(topic, count, is_committed=is_committed)
    return Counter(map(pair, messages))


def pair(message: Message) -> tuple[str, bytes]:
    key, value = message.key(), message.value()
    assert isinstance(key, bytes)
    assert isinstance(value, bytes)
    return key.decode(), value


def unread() -> Iterator[tuple[str, bytes]]:
    """Messages that nobody may ask for."""
    raise AssertionError("asked for")
    yield  # so that this is an iterator


def test_the_connector_is_that_of_our_spark() -> None:
    assert KAFKA.rpartition(":")[2] == version("pyspark")
    given = {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.1"}
    assert kafka_settings(given) == given
    assert kafka_settings()["spark.jars.packages"] == KAFKA
    assert kafka_settings(kafka_settings()) == kafka_settings()


def test_the_connector_can_be_had(kafka_connector: Connector) -> None:
    """Seen as skipped where the tests of the source run on the connector of another Spark."""
    if kafka_connector.otherwise:
        pytest.skip(f"{kafka_connector.otherwise}: the source is tested with an older one")


def test_messages_arrive_under_their_subscriptions(kafka: Broker) -> None:
    kafka.create("plain", partitions=3)
    sink = KafkaSink(kafka.servers, "plain", "q")
    assert sink.deliver(0, BATCH)
    assert sink.deliver(1, [])
    sink.close()
    messages = kafka.consume("plain", len(BATCH))
    assert Counter(map(pair, messages)) == Counter(BATCH)
    places = {(each.key(), each.partition()) for each in messages}
    assert len(places) == len({key for key, _ in BATCH})  # one partition for a subscription
    of_s1 = [each.value() for each in messages if each.key() == b"s1"]
    assert of_s1 == [value for key, value in BATCH if key == "s1"]  # in their order
    progress = kafka.consume("plain-progress", 2)
    assert [(each.key(), json.loads(each.value() or b"")) for each in progress] == [
        (b"q", 0),
        (b"q", 1),
    ]


def test_a_batch_that_was_delivered_is_not_sent_again(kafka: Broker) -> None:
    kafka.create("twice")
    first = KafkaSink(kafka.servers, "twice", "q")
    assert first.deliver(3, iter(BATCH))
    assert not first.deliver(3, unread())
    first.close()
    second = KafkaSink(kafka.servers, "twice", "q")
    assert not second.deliver(3, unread())
    assert not second.deliver(2, unread())
    assert second.deliver(4, [("s9", b"{}")])
    assert KafkaSink(kafka.servers, "twice", "another").deliver(3, [("s8", b"{}")])
    assert pairs(kafka, "twice") == Counter([*BATCH, ("s9", b"{}"), ("s8", b"{}")])


@pytest.mark.long
def test_more_than_the_client_holds_at_once(kafka: Broker) -> None:
    kafka.create("many")
    sink = KafkaSink(kafka.servers, "many", "q")
    assert sink.deliver(0, ((f"s{number}", b"{}") for number in range(150_000)))
    assert pairs(kafka, "many") == Counter((f"s{number}", b"{}") for number in range(150_000))


@pytest.mark.parametrize(("when", "is_sent"), [("before", True), ("after", False)])
def test_a_killed_transaction_is_seen_once(kafka: Broker, when: str, is_sent: bool) -> None:
    topic = f"killed-{when}"
    keys = ["s1", "s2", "s3"]
    kafka.create(topic, partitions=2)
    run = subprocess.run(
        [sys.executable, "-c", KILLED, when, kafka.servers, topic, *keys],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (-signal.SIGKILL, "", "")
    once = Counter((key, b"{}") for key in keys)
    assert pairs(kafka, topic, is_committed=False) == once  # the broker has them
    assert pairs(kafka, topic) == (Counter() if is_sent else once)
    messages = [(key, b"{}") for key in keys]
    assert KafkaSink(kafka.servers, topic, "q").deliver(7, messages) is is_sent
    assert KafkaSink(kafka.servers, topic, "q").deliver(8, [("s4", b"{}")])
    assert pairs(kafka, topic) == once + Counter([("s4", b"{}")])


@pytest.mark.long
def test_runs_that_are_killed_again_and_again_deliver_each_batch_once(kafka: Broker) -> None:
    """Each begins with the first batch, as one does that has lost its checkpoint's last lines."""
    kafka.create("battered", partitions=3)
    command = [sys.executable, "-c", RUN, kafka.servers, "battered"]
    generator = Random(5)
    for _ in range(12):
        run = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert run.stdout is not None
        for _ in range(generator.randint(1, 20)):
            assert run.stdout.readline()
        time.sleep(generator.uniform(0, 0.02))  # anywhere in a transaction
        run.kill()
        run.communicate()
    last = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (last.returncode, last.stderr) == (0, "")
    assert last.stdout.endswith(f"\n{MANY - 1}\n")
    wanted = (
        (f"s{batch % 7}", f"{batch} {n}".encode()) for batch in range(MANY) for n in range(20)
    )
    assert pairs(kafka, "battered") == Counter(wanted)


def test_the_older_of_two_sinks_is_shut_out(
    kafka: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    kafka.create("fenced")
    older = KafkaSink(kafka.servers, "fenced", "q")
    assert older.deliver(0, BATCH)
    newer = KafkaSink(kafka.servers, "fenced", "q")
    assert newer.deliver(1, BATCH)
    for _ in range(2):  # it stays out, and does not shut out the newer one in turn
        with pytest.raises(SensewireError, match="another pipeline of the query 'q' has taken"):
            older.deliver(1, BATCH)
    assert newer.deliver(2, BATCH)
    assert pairs(kafka, "fenced") == Counter(BATCH * 3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_progress_behind_an_open_transaction_of_another_query_is_found(kafka: Broker) -> None:
    kafka.create("shared")
    first = KafkaSink(kafka.servers, "shared", "q")
    assert first.deliver(0, BATCH)
    other = Producer({"bootstrap.servers": kafka.servers, "transactional.id": "other"})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce("shared-progress", b"5", b"other")
    assert other.flush(30) == 0
    assert first.deliver(1, BATCH)
    later = threading.Timer(2, other.commit_transaction, [30])
    later.start()
    try:
        assert not KafkaSink(kafka.servers, "shared", "q").deliver(1, unread())
    finally:
        later.join()
    assert pairs(kafka, "shared") == Counter(BATCH * 2)


def test_a_broker_that_does_not_answer_is_said_in_time() -> None:
    begin = time.monotonic()
    with pytest.raises(SensewireError, match=f"no Kafka broker answers at {NOWHERE} within 2 s"):
        KafkaSink(NOWHERE, "t", "q", patience=2).deliver(0, BATCH)
    assert time.monotonic() - begin < 5


def test_a_topic_that_is_not_there_is_said(kafka: Broker) -> None:
    sink = KafkaSink(kafka.servers, "missing", "q")
    with pytest.raises(SensewireError, match="there is no topic 'missing' at 127"):
        sink.deliver(0, BATCH)
    assert "missing-progress" not in kafka.topics()
    kafka.create("missing")
    assert sink.deliver(0, BATCH)  # it goes on when that was put right
    kafka.delete("missing")
    with pytest.raises(SensewireError, match="there is no topic 'missing' at 127"):
        sink.deliver(1, BATCH)


def test_a_message_that_is_too_large_is_named_and_nothing_sent(kafka: Broker) -> None:
    kafka.create("large", settings={"max.message.bytes": "5000"})
    sink = KafkaSink(kafka.servers, "large", "q")
    with pytest.raises(SensewireError, match="of subscription 'big' has 2000000 bytes, more than"):
        sink.deliver(0, [*BATCH, ("big", b"x" * 2_000_000)])
    assert pairs(kafka, "large") == Counter()
    assert sink.deliver(0, BATCH * 1000)  # together they are larger, which is no matter
    assert pairs(kafka, "large") == Counter(BATCH * 1000)


def test_progress_that_would_be_forgotten_or_is_no_number_is_refused(kafka: Broker) -> None:
    for topic, policy in (("forgets", "delete"), ("strange", "compact")):
        kafka.create(topic)
        kafka.create(f"{topic}-progress", settings={"cleanup.policy": policy})
        kafka.produce(f"{topic}-progress", [("q", b"five")])
    with pytest.raises(SensewireError, match="'forgets-progress' forgets old messages"):
        KafkaSink(kafka.servers, "forgets", "q").deliver(0, BATCH)
    with pytest.raises(SensewireError, match="message 0 of the topic 'strange-progress' is b'five"):
        KafkaSink(kafka.servers, "strange", "q").deliver(0, BATCH)
    assert pairs(kafka, "forgets") == pairs(kafka, "strange") == Counter()


@pytest.mark.long
def test_a_broker_that_was_killed_meanwhile(kafka: Broker) -> None:
    kafka.create("restarted")
    sink = KafkaSink(kafka.servers, "restarted", "q")
    assert sink.deliver(0, BATCH)
    kafka.kill()
    starting = threading.Thread(target=kafka.start)
    starting.start()
    assert sink.deliver(1, BATCH)
    starting.join()
    assert not KafkaSink(kafka.servers, "restarted", "q").deliver(1, unread())
    assert pairs(kafka, "restarted") == Counter(BATCH * 2)


def streamed(kafka: Broker, connector: Connector, folder: Path, script: str) -> dict[str, Any]:
    """What a Spark of its own, which has the connector, prints."""
    jars = ",".join(connector.jars)
    run = subprocess.run(
        [sys.executable, "-c", START + script, kafka.servers, jars, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    printed: dict[str, Any] = json.loads(run.stdout)
    return printed


@pytest.mark.long
def test_the_table_is_what_was_produced(
    kafka: Broker, kafka_connector: Connector, tmp_path: Path
) -> None:
    kafka.create("read", partitions=2)
    for partition in (0, 1):
        kafka.produce("read", [(None, f"e{n}".encode()) for n in range(5)], partition=partition)
    aborted: list[tuple[str | None, bytes]] = [(None, b"never")]
    kafka.produce("read", aborted, partition=0, transaction="t", is_aborted=True)
    kafka.produce("read", [(None, b"last")], partition=0, transaction="t")
    printed = streamed(kafka, kafka_connector, tmp_path, READ)
    assert printed["columns"] == list(COLUMNS)
    batches = printed["batches"]
    assert len(batches) > 2
    assert max(map(len, batches)) <= 4
    assert sorted(row for batch in batches for row in batch) == sorted(
        [["read", partition, n, f"e{n}"] for partition in (0, 1) for n in range(5)]
        + [["read", 0, 7, "last"]]  # behind what was aborted, and the note that it was
    )


@pytest.mark.long
def test_what_is_lost_has_a_reason(
    kafka: Broker, kafka_connector: Connector, tmp_path: Path
) -> None:
    for topic in ("deleted", "again"):
        kafka.create(topic)
        kafka.produce(topic, [("k", b"v")] * 5)
    reasons = streamed(kafka, kafka_connector, tmp_path, LOST)
    assert reasons["deleted"].startswith("the topic is not there, or no longer; right would be")
    assert reasons["again"].startswith("messages of the topic were gone before they were read")
    assert reasons["never"].startswith("the topic is not there, or no longer; right would be")
    assert reasons["unreachable"].startswith("no Kafka broker answers; right would be")
    assert not any("\n" in reason for reason in reasons.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Some data may have been lost …\nReason: Partitions Set(a-1) have been deleted.", "gone"),
        ("[KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO] …", "gone"),
        ("Cannot find earliest offsets of Set(a-0). Some data may have been missed", "gone"),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: …", "does not let us read"),
        ("KafkaException: No resolvable bootstrap urls given in bootstrap.servers", "no Kafka"),
    ],
)
def test_other_words_of_the_source(text: str, words: str) -> None:
    reason = kafka_reason(text)
    assert reason is not None
    assert words in reason


def test_what_is_not_kafkas_has_no_reason() -> None:
    assert kafka_reason("java.util.concurrent.TimeoutException: Futures timed out") is None


def test_without_the_connector_the_reason_says_so(spark: Any) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as raised:
        spark.readStream.format("kafka").load()
    assert f"spark.jars.packages={KAFKA}" in (kafka_reason(str(raised.value)) or str(raised.value))
