"""The sink: batches in order, with a deadline, and with the events that Kafka refuses."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from tickbird.domain.errors import DefinitionError, EventRefusedError, UnavailableError
from tickbird.domain.events.event import Event
from tickbird.domain.time.durations import Duration, duration_text, seconds
from tickbird.sinks.kafka.message import ChooseTopic, InvalidMessage, kafka_message, topic_chooser
from tickbird.sinks.kafka.producer import CallEnded, DeliveryError, KafkaProducer
from tickbird.sinks.kafka.settings import Setting, check_settings, resolve_settings

# Errors of one message. All others, such as an unknown topic or a missing right, are errors of the system.
_REFUSALS: Final = frozenset({"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"})
# Errors of messages after the failed one.
_CONSEQUENCES: Final = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT", "_FATAL", "OUT_OF_ORDER_SEQUENCE_NUMBER"})
# Calls of `send` that run at the same time; later ones wait.
_THREADS: Final = 32


class KafkaSink:
    """Sends events to a Kafka cluster; needs the extra `kafka`.

    `topic` is the Kafka topic: a name, a template with `{topic}` or `{namespace}`, or a function of the event.
    `settings` are those of librdkafka, with `_` for `.`; `env:NAME` is a variable of the worker's environment.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        topic: str | ChooseTopic = "{topic}",
        timeout: Duration = 30,
        **settings: Setting,
    ) -> None:
        if not isinstance(bootstrap_servers, str) or not bootstrap_servers.strip():
            raise DefinitionError(
                "bootstrap_servers must be a text.", field="bootstrap_servers", hint="Write host:port,host:port."
            )
        self._servers = bootstrap_servers
        self._choose_topic = topic_chooser(topic)
        self._timeout = seconds(timeout, "timeout", minimum=1)
        self._settings = check_settings(settings)
        # A call takes one of them, or creates one: the failure of a call does not affect other calls.
        self._idle: deque[KafkaProducer] = deque()
        self._threads: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"<KafkaSink {self._servers}>"

    async def open(self) -> None:
        if self._threads is None:
            self._idle.append(await asyncio.to_thread(self._create))
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="tickbird kafka")

    async def send(self, events: Sequence[Event]) -> None:
        assert self._threads is not None, "open() comes first"
        call = _Call(list(events), time.monotonic() + self._timeout)
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._send, call)
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            call.cancelled.set()
            # Then no message of this call is queued any more.
            await asyncio.wait({work})
            work.exception()
            raise

    async def close(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)
            while self._idle:
                await asyncio.to_thread(self._idle.popleft().destroy)

    def _send(self, call: _Call) -> None:
        try:
            self._send_all(call)
        except UnavailableError:
            # Without progress here, a batch with many refused events would never end.
            if not call.refusals():
                raise
        if refusals := call.refusals():
            event_id, reason = next(iter(refusals.items()))
            raise EventRefusedError(
                f"kafka {self._servers}: refuses {len(refusals):,} of {len(call.events):,} events,"
                f" such as {event_id}: {reason}.",
                reasons=refusals,
                unsent=[
                    event.id for event in call.events if event.id not in call.acknowledged and event.id not in refusals
                ],
                hint="Repair or skip them, or raise the limits of the topic.",
            )

    def _send_all(self, call: _Call) -> None:
        events = call.events
        while events:
            errors = self._deliver(call, events)
            failed = [event for event in events if event.id in errors]
            # A broker refuses a batch of records as a whole.
            suspects = [event for event in failed if errors[event.id].code in _REFUSALS]
            if suspects:
                self._deliver_one_by_one(call, suspects)
            elif failed:
                raise self._unavailable(_first_reason(errors.values()))
            events = [event for event in failed if errors[event.id].code not in _REFUSALS]

    def _deliver(self, call: _Call, events: Sequence[Event]) -> dict[uuid.UUID, DeliveryError]:
        """Send events; returns the errors of unacknowledged ones."""
        try:
            producer = self._idle.popleft()
        except IndexError:
            producer = self._create()
        errors = self._exchange(call, producer, events)
        if errors:
            # After an error, a producer may refuse to send.
            _discard(producer)
        else:
            self._idle.append(producer)
        return errors

    def _deliver_one_by_one(self, call: _Call, events: Sequence[Event]) -> None:
        """Find the events that Kafka refuses, and send the others."""
        producer = self._create(single=True)
        for event in events:
            for error in self._exchange(call, producer, [event]).values():
                if error.code not in _REFUSALS:
                    _discard(producer)
                    raise self._unavailable(error.reason)
                call.refuse(event, error.reason)
        _discard(producer)

    def _exchange(
        self, call: _Call, producer: KafkaProducer, events: Sequence[Event]
    ) -> dict[uuid.UUID, DeliveryError]:
        """Send events with a producer, and wait; discards the producer if that fails."""
        try:
            queued = [event.id for event in events if not call.holds(event) and self._queue(call, producer, event)]
            errors = producer.wait(call.deadline, call.cancelled)
        except CallEnded:
            problem = producer.problem
            _discard(producer)
            raise self._unavailable(
                f"not acknowledged within {duration_text(self._timeout)}" + (f" ({problem})" if problem else "")
            ) from None
        except BaseException:
            _discard(producer)
            raise
        call.acknowledged.update(event_id for event_id in queued if event_id not in errors)
        return errors

    def _queue(self, call: _Call, producer: KafkaProducer, event: Event) -> bool:
        """Queue an event; False if it is refused at once."""
        try:
            message = kafka_message(event, self._choose_topic)
        except InvalidMessage as reason:
            call.refuse(event, str(reason))
            return False
        error = producer.put(event.id, message, call.deadline, call.cancelled)
        if error is None:
            return True
        if error.code not in _REFUSALS:
            # No later event may be sent without this one.
            raise self._unavailable(error.reason)
        call.refuse(event, error.reason)
        return False

    def _create(self, *, single: bool = False) -> KafkaProducer:
        return KafkaProducer(*resolve_settings(self._servers, self._settings, self._timeout, single=single))

    def _unavailable(self, reason: str) -> UnavailableError:
        return UnavailableError(
            f"kafka {self._servers}: {reason}.", hint="Check the brokers, the topic and the rights of the user."
        )


@dataclass(frozen=True, slots=True)
class _Call:
    """The state of one call of `send`."""

    events: list[Event]
    # By the monotonic clock.
    deadline: float
    cancelled: threading.Event = field(default_factory=threading.Event)
    acknowledged: set[uuid.UUID] = field(default_factory=set)
    _reasons: dict[uuid.UUID, str] = field(default_factory=dict)
    _held_keys: set[str | None] = field(default_factory=set)

    def refuse(self, event: Event, reason: str) -> None:
        """Record that Kafka will never accept the event; later events of its key are not sent."""
        self._reasons[event.id] = reason
        if event.key is not None:
            self._held_keys.add(event.key)

    def holds(self, event: Event) -> bool:
        return event.key in self._held_keys

    def refusals(self) -> dict[uuid.UUID, str]:
        """The reasons of the refused events, except of those that come after an unsent event of their key."""
        reasons, unsent_keys = {}, set()
        for event in self.events:
            if event.id in self._reasons and event.key not in unsent_keys:
                reasons[event.id] = self._reasons[event.id]
            elif event.id not in self.acknowledged and event.key is not None:
                unsent_keys.add(event.key)
        return reasons


def _discard(producer: KafkaProducer) -> None:
    """Drop the queued messages of a producer, and end it without waiting."""
    producer.purge()
    threading.Thread(target=producer.destroy, name="tickbird kafka").start()


def _first_reason(errors: Iterable[DeliveryError]) -> str:
    """The reason of the first error that is not a consequence of another one."""
    ordered = sorted(errors, key=lambda error: error.code in _CONSEQUENCES)
    return ordered[0].reason
