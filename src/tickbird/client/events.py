"""Events: publish and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from tickbird.client.base import ClientBase
from tickbird.client.parameters import MAX_ID
from tickbird.domain.errors import NotFoundError
from tickbird.domain.events.event import MAX_KEY, MAX_TENANT, MAX_TYPE, Event, check_data, check_source, new_event
from tickbird.domain.events.topics import MAX_TOPIC, TOPIC_SCHEMA, check_patterns, check_topic
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta


def no_such_event(event_id: str) -> NotFoundError:
    return NotFoundError(f"there is no event {event_id[:60]!r}.", hint="`tickbird events ls` lists the newest.")


def read_id(event_id: str) -> UUID:
    """Read an id; raises NotFoundError, because no event has another one."""
    try:
        return UUID(event_id)
    except (ValueError, AttributeError, TypeError):
        raise no_such_event(str(event_id)) from None


EventId = Annotated[str, Meta(max_length=60, check=read_id)]
Topic = Annotated[str, Meta(schema=TOPIC_SCHEMA, parse=check_topic)]
Pattern = Annotated[
    str | None,
    Meta(
        max_length=MAX_TOPIC,
        parse=lambda pattern: pattern if pattern is None else check_patterns(pattern, "topic")[0],
        description="Only of topics that match, such as orders.* (one word) or orders.# (any number of words).",
    ),
]


class Events(ClientBase):
    """Published facts, in the order of their positions."""

    @operator.post("publish_event", "/events", "Publish an event", status=201, keys={"event_id": "id"})
    async def publish(
        self,
        topic: Topic,
        type: Annotated[str, Meta(min_length=1, max_length=MAX_TYPE)],  # noqa: A002 - as CloudEvents has it
        data: Annotated[Any, Meta(check=check_data, description="Any JSON value (default: an empty object).")] = None,
        *,
        key: Annotated[
            str | None,
            Meta(min_length=1, max_length=MAX_KEY, description="Events with the same key are read in order."),
        ] = None,
        headers: Annotated[Mapping[str, str] | None, Meta(description="Extension attributes of CloudEvents.")] = None,
        tenant: Annotated[str | None, Meta(min_length=1, max_length=MAX_TENANT)] = None,
        source: Annotated[
            str | None, Meta(min_length=1, max_length=500, description="The publisher (default: the namespace).")
        ] = None,
        event_id: Annotated[
            str | None, Meta(max_length=60, description="A UUID (default: a new one). It is published once.")
        ] = None,
        expected_version: Annotated[
            int | None, Meta(ge=0, le=MAX_ID, description="409 unless the key has this version.")
        ] = None,
        actor: str,
    ) -> Event:
        """Publish an event; its position is null until it is stamped, a moment later."""
        new = new_event(
            topic,
            type,
            data,
            key=key,
            headers=headers,
            tenant=tenant,
            event_id=event_id,
            expected_version=expected_version,
        )
        [published] = await self._store.events.publish(
            self._namespace, [new], source=check_source(source, self._namespace), actor=actor
        )
        return await self._read(published)

    @viewer.get("list_events", "/events", "List events", page=lambda event: event.position)
    async def list(
        self,
        topic: Pattern = None,
        key: Annotated[str | None, Meta(max_length=MAX_KEY, description="Only of this key.")] = None,
        *,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[Event]:
        """List events by position, oldest first; an event that is not stamped yet is not listed."""
        patterns = () if topic is None else check_patterns(topic, "topic")
        return await self._store.events.read(self._namespace, after, topics=patterns, key=key, limit=limit)

    @viewer.get("get_event", "/events/{event_id}", "Show an event")
    async def get(self, event_id: EventId) -> Event:
        """Show one event."""
        return await self._read(read_id(event_id))

    async def _read(self, event_id: UUID) -> Event:
        event = await self._store.events.get(self._namespace, event_id)
        if event is None:
            raise no_such_event(str(event_id))
        return event
