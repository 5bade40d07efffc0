"""Notifications that reach a topic of Kafka exactly once.

Spark's own sink writes a micro-batch again when it is tried again. `KafkaSink` does not: each batch
is one transaction, which holds its notifications and, last, its number.

    transaction "sensewire-<query>"     topic             s1:{…}  s2:{…}  s1:{…}
                                        topic-progress    <query>: 41
                                        commit            all of it at once, or nothing

Whoever opens the sink takes the transaction's name over: an unfinished transaction is thereby
aborted, and an older sink of that query shut out. Only then the progress is read, so nobody can
move it afterwards; a batch that it names was delivered, and is not sent again. That holds wherever
a run was killed: before the commit nothing is there, after it the number is.

Invariant: consumers with `isolation.level=read_committed` see each batch once. `query` must stand
for one checkpoint (Spark's query id does): with a new checkpoint batches count from 0 again, and
under the old name they would be taken for delivered.
"""

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer
    from confluent_kafka.admin import AdminClient

_LOG = logging.getLogger(__name__)
_TRIES = 5  # of a transaction
_PAUSE = 0.2  # seconds before the second try, and twice that before each further one
_ABORT_TIME = 5.0  # seconds: what is not aborted by then, the next opening aborts
_LARGEST = 100_000_000  # bytes: the topic's own limit is to decide, not the client's million
_BATCH = 1_000_000  # bytes that are sent together: librdkafka's own number
_NOTHING = -1  # the number before the first batch's


class KafkaSink:
    """A topic that takes each batch of a query once; opened when the first one is delivered.

    `patience` is how long, in seconds, a broker may stay silent; `given` are further settings of
    librdkafka, such as `security.protocol`.
    """

    def __init__(
        self,
        servers: str,
        topic: str,
        query: str,
        *,
        patience: float = 60.0,
        given: Mapping[str, str] = {},
    ) -> None:
        _check_client()
        self.servers = servers
        self.topic = topic
        self.query = query
        self.progress = f"{topic}-progress"
        self.patience = patience
        # Nothing on the terminal: what ends a delivery is raised.
        self._settings: dict[str, str | int | float | bool] = {
            **given,
            "bootstrap.servers": servers,
            "log_level": 0,
        }
        self._producer: Producer | None = None
        self._delivered = _NOTHING
        self._is_fenced = False

    def deliver(self, batch: int, messages: Iterable[tuple[str, bytes]]) -> bool:
        """Send a batch's messages, each under its subscription's id; False if that was done before.

        All messages are at hand before the transaction begins, so that a slow source of them does
        not keep it open. Where it cannot be said whether a commit was done, the sink is opened
        anew, and the progress says it.
        """
        from confluent_kafka import KafkaException

        if self._is_fenced:
            raise self._fenced()
        held: list[tuple[str, bytes]] | None = None
        end = time.monotonic() + self.patience
        tries = 0
        while True:
            tries += 1
            try:
                producer = self._producer or self._opened()
                if batch <= self._delivered:
                    return held is not None  # by the commit in doubt, or before
                if held is None:
                    held = list(messages)
                    end = time.monotonic() + self.patience
                self._send(producer, batch, held, end)
                self._delivered = batch
                return True
            except KafkaException as error:
                self._drop()
                cause: KafkaError = error.args[0]
                if self._is_hopeless(cause, end) or tries == _TRIES or time.monotonic() > end:
                    raise self._error(batch, cause, held or []) from error
            except BaseException:
                self._drop()
                raise
            time.sleep(_PAUSE * 2 ** (tries - 1))

    def close(self) -> None:
        """Let go of the broker; the next delivery would open the sink again."""
        self._drop()

    def _opened(self) -> "Producer":
        """Take the query over, and read how far it is: in this order, or another could move it."""
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({**self._settings})
        self._check_topics(admin)
        limit = int(self._setting(admin, self.topic, "max.message.bytes") or _BATCH)
        producer = Producer(
            {
                **self._settings,
                "transactional.id": f"sensewire-{self.query}",
                "transaction.timeout.ms": max(1000, int(self.patience * 1000)),
                "message.max.bytes": _LARGEST,
                "batch.size": min(limit, _BATCH),  # the limit is one of messages sent together
                "delivery.report.only.error": True,
                "logger": _QuietLog(),
            }
        )
        producer.init_transactions(self.patience)
        self._delivered = self._read_progress(admin)
        self._producer = producer
        return producer

    def _check_topics(self, admin: "AdminClient") -> None:
        """Raise unless the topic is there; create the one of the progress unless it is there."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection
        from confluent_kafka.cimpl import NewTopic

        both = TopicCollection([self.topic, self.progress])
        asked = admin.describe_topics(both, request_timeout=self.patience)
        try:
            copies = len(asked[self.topic].result().partitions[0].replicas)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            raise self._missing() from error
        try:
            asked[self.progress].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            new = NewTopic(
                self.progress,
                num_partitions=1,
                replication_factor=copies,
                # In small segments, as only a full one is compacted.
                config={"cleanup.policy": "compact", "segment.bytes": str(16 * 1024 * 1024)},
            )
            made = admin.create_topics([new], request_timeout=self.patience)[self.progress]
            try:
                made.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # meanwhile
                    raise
        else:
            self._check_kept(admin)

    def _check_kept(self, admin: "AdminClient") -> None:
        """Raise if the topic of the progress forgets: what it forgot would be delivered again."""
        policy = self._setting(admin, self.progress, "cleanup.policy")
        if policy not in ("compact", None):
            raise SensewireError(
                f"the topic {self.progress!r} forgets old messages (cleanup.policy={policy}), and"
                " with them what was delivered; right would be cleanup.policy=compact"
            )

    def _setting(self, admin: "AdminClient", topic: str, name: str) -> str | None:
        """A setting of a topic; None where we may not look at it, as not everybody may."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import (  # type: ignore[attr-defined]  # no __all__ there
            ConfigResource,
            ResourceType,
        )

        place = ConfigResource(ResourceType.TOPIC, topic)
        [asked] = admin.describe_configs([place], request_timeout=self.patience).values()
        try:
            value: str = asked.result()[name].value
        except KafkaException:
            return None
        return value

    def _read_progress(self, admin: "AdminClient") -> int:
        """The last batch of this query that was committed.

        Read to where the topic ends for everybody, and not only to where it ends for those who
        read what is committed: that is before the open transactions of other queries, and what we
        look for may stand behind them.
        """
        from confluent_kafka import (
            OFFSET_BEGINNING,
            Consumer,
            IsolationLevel,
            KafkaError,
            KafkaException,
            TopicPartition,
        )
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]  # no __all__

        latest: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        [asked] = admin.list_offsets(
            {TopicPartition(self.progress, 0): latest},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=self.patience,
        ).values()
        last: int = asked.result().offset
        consumer = Consumer(
            {
                **self._settings,
                "group.id": f"sensewire-{self.query}",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 50,  # at the end of a topic, where we are soon
            }
        )
        delivered = _NOTHING
        # An open transaction of another query ends within its own patience, and a little more.
        end = time.monotonic() + 2 * self.patience
        try:
            consumer.assign([TopicPartition(self.progress, 0, OFFSET_BEGINNING)])
            while time.monotonic() < end:
                message = consumer.poll(0.5)
                if message is None:
                    continue
                error = message.error()
                if error is None:
                    if message.key() == self.query.encode():
                        delivered = self._number_in(message)
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                elif (message.offset() or 0) >= last:
                    return delivered
        finally:
            consumer.close()
        raise SensewireError(
            f"the topic {self.progress!r} could not be read to its end within"
            f" {2 * self.patience:g} s: another pipeline's transaction is open; right would be to"
            " start again when that has ended"
        )

    def _number_in(self, message: "Message") -> int:
        value = message.value()
        if value is None:  # taken back by hand: the query begins anew
            return _NOTHING
        with suppress(ValueError):
            number = json.loads(value)
            if isinstance(number, int):
                return number
        raise SensewireError(
            f"message {message.offset()} of the topic {self.progress!r} is {value!r} and not the"
            " number of a batch; right would be a topic that nobody else writes to"
        )

    def _send(
        self, producer: "Producer", batch: int, messages: Sequence[tuple[str, bytes]], end: float
    ) -> None:
        """One transaction: the messages, then the number, which thus holds up no one for long."""
        from confluent_kafka import KafkaError, KafkaException

        def produce(topic: str, key: str, value: bytes, partition: int = -1) -> None:
            while True:
                try:
                    producer.produce(topic, value, key, partition)
                    return
                except BufferError:  # as much is under way as may be
                    producer.poll(0.1)
                    if time.monotonic() > end:
                        raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None

        producer.begin_transaction()
        for key, value in messages:
            produce(self.topic, key, value)
        produce(self.progress, self.query, json.dumps(batch).encode(), 0)
        while True:
            try:
                producer.commit_transaction(_left(end))
                return
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > end:
                    raise

    def _drop(self) -> None:
        """Let go of the producer, with whatever it had begun."""
        from confluent_kafka import KafkaException

        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(KafkaException):  # there was nothing to abort, or nobody to tell
                producer.abort_transaction(min(self.patience, _ABORT_TIME))

    def _is_hopeless(self, error: "KafkaError", end: float) -> bool:
        if error.code() in _codes(*_FENCED) and time.monotonic() < end:
            self._is_fenced = True  # for good: to open again would shut out the one that took over
        return self._is_fenced or error.code() in _codes(*_FORBIDDEN, *_LARGE)

    def _error(
        self, batch: int, error: "KafkaError", messages: Sequence[tuple[str, bytes]]
    ) -> SensewireError:
        code, text = error.code(), error.str()
        if self._is_fenced:
            return self._fenced()
        if code in _codes(*_FORBIDDEN):
            return SensewireError(
                f"Kafka at {self.servers} does not let us write ({text}); right would be the right"
                f" to write, read and describe the topics {self.topic!r} and {self.progress!r},"
                f" and to write under the transactional id 'sensewire-{self.query}'"
            )
        if code in _codes(*_SILENT):
            return SensewireError(
                f"no Kafka broker answers at {self.servers} within {self.patience:g} s ({text});"
                " right would be host:port of one that runs and can be reached from here"
            )
        if code in _codes(*_MISSING):
            return self._missing()
        if code in _codes(*_LARGE) and messages:
            key, value = max(messages, key=lambda message: len(message[1]))
            return SensewireError(
                f"a notification of subscription {key!r} has {len(value)} bytes, more than the"
                f" topic {self.topic!r} takes; right would be a larger max.message.bytes of the"
                " topic, or a subscription that binds less"
            )
        return SensewireError(
            f"batch {batch} was not delivered to the topic {self.topic!r} at {self.servers}: {text}"
        )

    def _fenced(self) -> SensewireError:
        return SensewireError(
            f"another pipeline of the query {self.query!r} has taken over the topic {self.topic!r}"
            " and goes on with it; right would be one at a time: stop the other, then start again"
        )

    def _missing(self) -> SensewireError:
        return SensewireError(
            f"there is no topic {self.topic!r} at {self.servers}; right would be to create it"
            f" (kafka-topics.sh --create --topic {self.topic}), or another topic's name"
        )


# Names of codes, as the package that defines them is an extra.
_SILENT = (
    "_ALL_BROKERS_DOWN",
    "_MSG_TIMED_OUT",
    "_RESOLVE",
    "_TIMED_OUT",
    "_TIMED_OUT_QUEUE",
    "_TRANSPORT",
    "BROKER_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT",
)
_FENCED = ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
_MISSING = ("_UNKNOWN_PARTITION", "_UNKNOWN_TOPIC", "UNKNOWN_TOPIC_OR_PART")
_LARGE = ("INVALID_MSG_SIZE", "MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE")
_FORBIDDEN = (
    "_AUTHENTICATION",
    "CLUSTER_AUTHORIZATION_FAILED",
    "GROUP_AUTHORIZATION_FAILED",
    "SASL_AUTHENTICATION_FAILED",
    "TOPIC_AUTHORIZATION_FAILED",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
)


def _codes(*names: str) -> set[int]:
    from confluent_kafka import KafkaError

    return {getattr(KafkaError, name) for name in names}


def _check_client() -> None:
    try:
        import confluent_kafka  # noqa: F401
    except ImportError as error:
        raise SensewireError(
            f"confluent-kafka cannot be imported ({error}); right would be:"
            ' pip install "sensewire[kafka]"'
        ) from error


class _QuietLog:
    """What librdkafka says, for those who look for it: it writes fatal errors to the terminal."""

    def log(self, level: int, text: str, *values: object) -> None:
        _LOG.debug(text, *values)


def _left(end: float) -> float:
    return max(0.1, end - time.monotonic())
