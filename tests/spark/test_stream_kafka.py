"""A stream from Kafka to Kafka, against a real broker: `sensewire pipeline` as a process."""

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from sensewire.knowledge.knowledge import Knowledge
from sensewire.store.database import Store
from sensewire.store.dead import dead_letters, retry
from sensewire.store.notifying import notifications
from sensewire.store.subscribing import Judge, subscribe, unsubscribe
from tests.spark.kafka_broker import Broker, Connector
from tests.spark.streams import begun, caught_up, wait

pytestmark = pytest.mark.spark


def asked(store: Store, **texts: str) -> None:
    judge = Judge(Knowledge())
    wishes = [judge.wished({"id": id, "text": text}) for id, text in texts.items()]
    subscribe(store, wishes, datetime.now(UTC))


def options(tmp_path: Path, source: str, sink: str, connector: Connector) -> list[str]:
    places = ["--store", str(tmp_path / "store.db"), "--checkpoint", str(tmp_path / "c")]
    settings = [f"{name}={value}" for name, value in connector.settings.items()]
    return ["pipeline", "--source", source, "--sink", sink, *places, "--conf", *settings]


@pytest.mark.long
def test_from_a_topic_to_a_topic_once(
    kafka: Broker, kafka_connector: Connector, filed: Store, tmp_path: Path
) -> None:
    topic, out = f"in-{uuid4().hex[:8]}", f"out-{uuid4().hex[:8]}"
    kafka.create(topic, 3)
    kafka.create(out, 2)
    asked(filed, cheap="price < 5", gone="everything")
    lines = [b'{"id": "e%d", "price": %d}' % (number, number) for number in range(40)]
    kafka.produce(topic, [(None, line) for line in [*lines, b"nonsense", *lines[:9]]])
    unsubscribe(filed, ["gone"])
    source, sink = f"kafka://{kafka.servers}/{topic}", f"kafka://{kafka.servers}/{out}"
    command = options(tmp_path, source, sink, kafka_connector)
    said = caught_up(tmp_path, *command)
    assert said == "40 events, 5 matches, 9 repeats, 1 rejected, 0 failed"
    found = kafka.consume(out, 5, is_committed=True)
    messages = [json.loads(each.value() or b"") for each in found]
    assert [each.key() for each in found] == [b"cheap"] * 5
    assert sorted(each["event"] for each in messages) == [f"e{number}" for number in range(5)]
    (dead,) = dead_letters(filed)
    assert dead.place.startswith(f"{topic}[")
    assert dead.raw == b"nonsense"
    assert notifications(filed) == []
    # What was mended comes again to this stream; what is published to the log does not.
    asked(filed, all="everything")
    retry(filed, [dead.number], datetime.now(UTC))
    kafka.produce(topic, [(None, b'{"id": "last", "price": 1}')])
    said = caught_up(tmp_path, *command)
    assert said == "1 events, 2 matches, 0 repeats, 1 rejected, 0 failed"
    assert len(kafka.consume(out, 7, is_committed=True)) == 7


@pytest.mark.long
def test_messages_may_be_documents(
    kafka: Broker, kafka_connector: Connector, filed: Store, tmp_path: Path
) -> None:
    topic = f"in-{uuid4().hex[:8]}"
    kafka.create(topic)
    asked(filed, pages="(?page, project, ?what)")
    texts = [b'<http://x/a> <http://x/project> "b" .', b"<http://x/a> oops", b"<urn:a> <urn:b> 5 ."]
    kafka.produce(topic, [(None, text) for text in texts])
    source = f"kafka://{kafka.servers}/{topic}?format=ttl"
    said = caught_up(tmp_path, *options(tmp_path, source, "table", kafka_connector))
    assert said == "2 events, 1 matches, 0 repeats, 1 rejected, 0 failed"
    (told,) = notifications(filed)
    assert told.event == f"{topic}[0]/0.ttl"


@pytest.mark.long
def test_a_topic_that_vanishes_stops_the_stream_with_what_to_do(
    kafka: Broker, kafka_connector: Connector, filed: Store, tmp_path: Path
) -> None:
    topic = f"in-{uuid4().hex[:8]}"
    kafka.create(topic)
    asked(filed, all="everything")
    kafka.produce(topic, [(None, b'{"id": "a"}')])
    source = f"kafka://{kafka.servers}/{topic}"
    command = options(tmp_path, source, "table", kafka_connector)
    with begun(tmp_path, *command) as running:
        running.ready()
        wait(lambda: bool(notifications(filed)), "the first message")
        kafka.delete(topic)
        assert running.ended() == 2
        assert "sensewire: " in running.errors
        assert "topic" in running.errors
        assert "right would be" in running.errors
