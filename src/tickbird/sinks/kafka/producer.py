"""One producer of librdkafka, used by one call at a time."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tickbird.domain.errors import DefinitionError
from tickbird.sinks.kafka.message import KafkaMessage
from tickbird.sinks.kafka.settings import Setting

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

log = logging.getLogger("tickbird.sinks.kafka")

# Seconds between two checks of the deadline and the cancellation of a call.
_POLL: Final = 0.1


class CallEnded(Exception):
    """The deadline has passed, or the call was cancelled."""


class DeliveryError(NamedTuple):
    """Why a message is not acknowledged; `code` is the name of the error in librdkafka."""

    code: str
    reason: str


class _LibraryLog:
    """The logger of librdkafka: it reports each attempt to connect as an error, so its lines are for debugging."""

    def log(self, _level: int, text: str, *args: object) -> None:
        log.debug(text, *args)


class KafkaProducer:
    """Sends messages, and collects the errors of their delivery reports by event id."""

    def __init__(self, settings: Mapping[str, Setting], secrets: Collection[str] = ()) -> None:
        try:
            from confluent_kafka import KafkaException, Producer
        except ImportError:
            raise DefinitionError(
                "Kafka needs confluent-kafka, which is not installed.",
                hint="Install it with `pip install 'tickbird[kafka]'`.",
            ) from None
        self._kafka_exception = KafkaException
        self._errors: dict[uuid.UUID, DeliveryError] = {}
        self._pending = 0
        self._connection_errors: list[str] = []
        try:
            # The callback must not refer to this object: without a cycle, the producer ends with its last reference.
            self._producer = Producer(
                {**settings, "error_cb": _recorder(self._connection_errors)}, logger=_LibraryLog()
            )
        except KafkaException as error:
            reason = _kafka_error(error).str()
            for secret in filter(None, secrets):
                reason = reason.replace(secret, "***")
            raise DefinitionError(f"Kafka producer: {reason}.", hint="Check the settings.") from None

    @property
    def problem(self) -> str:
        """The last error of a connection to a broker."""
        return self._connection_errors[-1] if self._connection_errors else ""

    def put(
        self, event_id: uuid.UUID, message: KafkaMessage, deadline: float, cancelled: threading.Event
    ) -> DeliveryError | None:
        """Queue a message; returns the error of one that the library does not accept."""

        def report(error: KafkaError | None, _message: Message) -> None:
            self._pending -= 1
            if error is not None:
                self._errors[event_id] = _delivery_error(error, message)

        while True:
            try:
                self._producer.produce(
                    message.topic, message.value, message.key, headers=message.headers, on_delivery=report
                )
            except BufferError:
                self._poll(deadline, cancelled)
                continue
            except self._kafka_exception as error:
                return _delivery_error(_kafka_error(error), message)
            self._pending += 1
            return None

    def wait(self, deadline: float, cancelled: threading.Event) -> dict[uuid.UUID, DeliveryError]:
        """Wait for the delivery report of every message; returns the errors. Raises CallEnded."""
        while self._pending:
            self._poll(deadline, cancelled)
        errors, self._errors = self._errors, {}
        return errors

    def _poll(self, deadline: float, cancelled: threading.Event) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or cancelled.is_set():
            raise CallEnded
        try:
            # Not `flush`: it continues to call callbacks after an exception.
            self._producer.poll(min(remaining, _POLL))
        except self._kafka_exception as error:
            # A fatal error: every message gets a delivery report, too.
            log.debug("fatal error of a producer: %s", _kafka_error(error).str())

    def purge(self) -> None:
        """Drop all messages that are queued or in flight; this producer must not be used again."""
        self._producer.purge(blocking=False)

    def destroy(self) -> None:
        """End its threads; may wait for the resolver of host names."""
        del self._producer


def _recorder(errors: list[str]) -> Callable[[KafkaError], None]:
    def record(error: KafkaError) -> None:
        # "All brokers are down" says less than the error before it.
        if error.name() != "_ALL_BROKERS_DOWN":
            errors[:] = [error.str()]

    return record


def _delivery_error(error: KafkaError, message: KafkaMessage) -> DeliveryError:
    return DeliveryError(error.name(), f"{error.str()} (Kafka topic {message.topic})")


def _kafka_error(exception: Any) -> KafkaError:
    error: KafkaError = exception.args[0]
    return error
