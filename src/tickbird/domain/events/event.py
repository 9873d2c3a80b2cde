"""Events: what a publisher gives, and what a reader gets."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.positions import EventPosition
from tickbird.domain.events.topics import check_topic
from tickbird.domain.json_text import json_text
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import utc_text

MAX_KEY: Final = 500
MAX_TYPE: Final = 200
MAX_TENANT: Final = 200
MAX_HEADERS: Final = 50
# Bytes of the data of an event as JSON.
MAX_DATA: Final = 1_000_000
MAX_EVENTS: Final = 1_000
SPEC_VERSION: Final = "1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to publish. Events with the same key are read in the order in which they were published."""

    topic: str
    type: str
    data: Any = field(default_factory=dict)
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    tenant: str | None = None
    # None: a new one. Publishing an id again has no effect. A text is converted.
    id: uuid.UUID | None = None
    # The version that the key must have before; None: any. Zero: it has no event yet.
    expected_version: int | None = None

    def __post_init__(self) -> None:
        check_topic(self.topic)
        check_text(self.type, "type", minimum=1, maximum=MAX_TYPE)
        if self.key is not None:
            check_text(self.key, "key", minimum=1, maximum=MAX_KEY)
        if self.tenant is not None:
            check_text(self.tenant, "tenant", minimum=1, maximum=MAX_TENANT)
        check_headers(self.headers)
        check_data(self.data)
        if self.id is not None:
            object.__setattr__(self, "id", check_event_id(self.id))
        if self.expected_version is not None:
            if self.key is None:
                raise InvalidError(
                    "expected_version: needs a key.", field="expected_version", hint="Pass the key of the event."
                )
            version = self.expected_version
            if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**63:
                raise InvalidError("expected_version must be a whole number, 0 or more.", field="expected_version")

    def to_row(self) -> dict[str, Any]:
        """The event as the JSON object that stores insert."""
        return {
            "topic": self.topic,
            "type": self.type,
            "key": self.key,
            "data": self.data,
            "headers": dict(self.headers),
            "tenant": self.tenant,
            "event_id": str(self.id) if self.id else str(uuid.uuid4()),
            "expected_version": self.expected_version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A stored event. `position` and `version` are None until it is stamped, a moment after the commit."""

    id: uuid.UUID
    namespace: str
    topic: str
    type: str
    source: str
    time: datetime
    data: Any
    key: str | None
    headers: Mapping[str, str]
    tenant: str | None
    published_at: datetime
    partition: int
    # The run of a tick that published it.
    run_id: int | None = None
    # Gapless in the namespace.
    position: int | None = None
    # Of the store that assigned the position. A restored store assigns later positions again, as another incarnation.
    incarnation: int | None = None
    # When it got its position; None also in deliveries, which do not read it.
    stamped_at: datetime | None = None
    # Counts the events of the key, from 1.
    version: int | None = None
    # Events that were published together have the same transaction id; `ordinal` counts them from 1 to `count`.
    transaction_id: uuid.UUID | None = None
    ordinal: int = 1
    count: int = 1

    @property
    def resume_token(self) -> EventPosition | None:
        """The position for readers that continue after this event; None until it is stamped."""
        return None if self.position is None else EventPosition(self.position, self.incarnation)

    def to_cloud_event(self) -> dict[str, Any]:
        """The event in the JSON format of CloudEvents 1.0; null attributes are left out."""
        attributes = {
            "specversion": SPEC_VERSION,
            "id": str(self.id),
            "source": self.source,
            "type": self.type,
            "subject": self.key,
            "time": utc_text(self.time),
            "datacontenttype": "application/json",
            "partitionkey": self.key,
            "topic": self.topic,
            "tenant": self.tenant,
            "position": self.position,
            "aggregateversion": self.version,
            "transactionid": None if self.transaction_id is None else str(self.transaction_id),
            "transactionordinal": None if self.transaction_id is None else self.ordinal,
            "transactioncount": None if self.transaction_id is None else self.count,
            **self.headers,
            # After the headers: none can replace it.
            "incarnation": None if self.position is None else self.incarnation,
            "data": self.data,
        }
        return {name: value for name, value in attributes.items() if value is not None}


# Attributes of every event in the CloudEvents format; headers cannot have these names.
RESERVED_HEADERS: Final = frozenset(
    {
        "specversion",
        "id",
        "source",
        "type",
        "subject",
        "time",
        "datacontenttype",
        "dataschema",
        "partitionkey",
        "topic",
        "tenant",
        "position",
        "aggregateversion",
        "transactionid",
        "transactionordinal",
        "transactioncount",
        "data",
        "data_base64",
    }
)


def check_headers(headers: object) -> None:
    """Raise InvalidError unless every header can be an extension attribute of CloudEvents."""
    if not isinstance(headers, Mapping) or len(headers) > MAX_HEADERS:
        raise InvalidError(f"headers must be an object with at most {MAX_HEADERS} texts.", field="headers")
    for name, value in headers.items():
        # CloudEvents allows lower-case letters and digits only.
        valid = isinstance(name, str) and 1 <= len(name) <= 40 and name.isascii() and name.isalnum() and name.islower()
        if not valid or name in RESERVED_HEADERS:
            raise InvalidError(
                f"headers: {str(name)[:60]!r} cannot be the name of a header.",
                field="headers",
                hint="Use lower-case letters and digits, such as traceparent, and not the name of an attribute.",
            )
        check_text(value, f"headers: {name}", maximum=2_000)


def check_data(data: Any, field: str = "data") -> str:
    """Return the data as JSON text, or raise InvalidError if it cannot be stored."""
    text = json_text(data, field)
    size = len(text.encode())
    if size > MAX_DATA:
        raise InvalidError(
            f"{field} must have at most {MAX_DATA:,} bytes as JSON, not {size:,}.",
            field=field,
            hint="Store it elsewhere, and publish its address.",
        )
    return text


def tick_event_id(namespace: str, schedule: str, scheduled_for: int) -> uuid.UUID:
    """The id of the event of a tick; the store computes the same."""
    return uuid.UUID(tick_event_digits([(namespace, schedule, scheduled_for)])[0])


def tick_event_digits(ticks: Iterable[tuple[str, str, int]]) -> list[str]:
    """The ids of the events of ticks, as hexadecimal digits: a planner needs many, and objects take longer."""
    sha256 = hashlib.sha256
    return [
        sha256(f"tick {namespace}/{schedule} {scheduled_for}".encode()).hexdigest()[:32]
        for namespace, schedule, scheduled_for in ticks
    ]


def run_event_id(incarnation: int, run_id: int) -> uuid.UUID:
    """The id of the event of a run that has no tick. Two copies of a store have different incarnations."""
    return uuid.UUID(bytes=hashlib.sha256(f"run {incarnation} {run_id}".encode()).digest()[:16])


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key; the store computes the same."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:3]) % partitions


def merge_payload(data: Any, payload: Any) -> Any:
    """The data of a run's event: its payload is merged into an object, and replaces anything else."""
    data = {} if data is None else data
    if not payload:
        return data
    return {**data, **payload} if isinstance(data, Mapping) else payload


def check_event_id(event_id: str | uuid.UUID) -> uuid.UUID:
    """Return the id of a new event; raises InvalidError."""
    if isinstance(event_id, uuid.UUID):
        return event_id
    try:
        return uuid.UUID(event_id)
    except (ValueError, AttributeError, TypeError):
        raise InvalidError(
            f"id: {str(event_id)[:60]!r} is not a UUID.", field="id", hint="Omit it: each event gets a new one."
        ) from None


def check_source(source: str | None, namespace: str) -> str:
    """Return the publisher of an event (default: the namespace); raises InvalidError."""
    return f"/tickbird/{namespace}" if source is None else check_text(source, "source", minimum=1, maximum=500)


def event_rows(events: Sequence[NewEvent]) -> list[dict[str, Any]]:
    """The rows of events that are published together."""
    if not 1 <= len(events) <= MAX_EVENTS:
        raise InvalidError(f"events must have 1 to {MAX_EVENTS:,} items, not {len(events):,}.", field="events")
    ids = set[uuid.UUID]()
    for number, event in enumerate(events):
        if event.id in ids:
            raise InvalidError(
                f"events.{number}.id: another event of this call has the id {event.id}.",
                field=f"events.{number}.id",
                hint="Give each event its own id, or leave it out: each event gets a new one.",
            )
        if event.id is not None:
            ids.add(event.id)
    return [event.to_row() for event in events]


def new_event(
    topic: str,
    type: str,  # noqa: A002
    data: Any = None,
    *,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    tenant: str | None = None,
    event_id: str | uuid.UUID | None = None,
    expected_version: int | None = None,
) -> NewEvent:
    """An event from the arguments of `publish`; raises InvalidError."""
    return NewEvent(
        topic=topic,
        type=type,
        data={} if data is None else data,
        key=key,
        headers=headers or {},
        tenant=tenant,
        id=None if event_id is None else check_event_id(event_id),
        expected_version=expected_version,
    )
