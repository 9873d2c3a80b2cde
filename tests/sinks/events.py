"""Events to relay, and what a reader of Kafka must find."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Message

from tickbird.domain.errors import UnavailableError
from tickbird.domain.events.event import Event
from tickbird.sinks.kafka import KafkaSink

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def make_event(number: int, key: str | None = "k", *, data: Any = None, topic: str = "orders") -> Event:
    return Event(
        id=uuid.UUID(int=number),
        namespace="default",
        topic=topic,
        type="OrderPaid",
        source="/tickbird/default",
        time=NOON,
        data={"number": number} if data is None else data,
        key=key,
        headers={"traceparent": f"00-{number}"},
        tenant="acme",
        published_at=NOON,
        partition=0,
        position=number,
        incarnation=1234,
        version=None if key is None else number,
        transaction_id=uuid.UUID(int=1_000_000),
        ordinal=number,
        count=9,
    )


def make_events(count: int, keys: int) -> list[Event]:
    """Events of several keys in turn; every seventh has no key."""
    return [make_event(number, f"key-{number % keys}" if number % 7 else None) for number in range(1, count + 1)]


async def send_until_accepted(sink: KafkaSink, events: Sequence[Event]) -> None:
    """Send as a relay does: again after each failure of the system."""
    while True:
        try:
            return await sink.send(events)
        except UnavailableError:
            continue


def headers_of(message: Message) -> dict[str, str]:
    headers: Any = message.headers()
    return {name: value.decode() for name, value in headers}


def number_of(message: Message) -> int:
    return uuid.UUID(headers_of(message)["ce_id"]).int


def numbers_of(messages: Sequence[Message]) -> list[int]:
    return [number_of(message) for message in messages]


def check_relayed(messages: Sequence[Message], events: Sequence[Event]) -> int:
    """Every event is there, in order per key, and duplicates are equal; returns the number of duplicates."""
    expected = {event.id.int: event for event in events}
    first_positions: dict[bytes | None, list[int]] = defaultdict(list)
    seen: set[int] = set()
    for message in messages:
        number = number_of(message)
        event = expected[number]
        assert message.key() == (None if event.key is None else event.key.encode())
        assert json.loads(message.value() or b"") == event.data
        if number not in seen:
            seen.add(number)
            first_positions[message.key()].append(event.position or 0)
    assert seen == set(expected)
    for key, positions in first_positions.items():
        assert key is None or positions == sorted(positions), key
    return len(messages) - len(seen)
