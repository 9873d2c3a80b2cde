"""Events: publish and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from tickbird.client.base import ClientBase
from tickbird.client.parameters import MAX_ID, Zone
from tickbird.domain.errors import NotFoundError
from tickbird.domain.events.dead_letters import DeadLetter, LetterFilter
from tickbird.domain.events.event import (
    MAX_EVENTS,
    MAX_KEY,
    MAX_TENANT,
    MAX_TYPE,
    Event,
    NewEvent,
    check_data,
    check_source,
    new_event,
)
from tickbird.domain.events.positions import EventPosition, as_position
from tickbird.domain.events.topics import MAX_TOPIC, TOPIC_SCHEMA, check_patterns, check_topic
from tickbird.domain.explain.events import EventContext, EventExplanation, explain_event, first_blocker
from tickbird.wire.codec import shape
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta

# Unresolved letters of a key, oldest first, that are searched for the one that blocks an event.
_BLOCKERS: Final = 1_000


def no_such_event(event_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no event {event_id[:60]!r}.", hint="`tickbird events ls` lists the events, oldest first."
    )


def read_id(event_id: str) -> UUID:
    """Parse an id. Raises NotFoundError for another text, because no event has it as its id."""
    try:
        return UUID(event_id)
    except (ValueError, AttributeError, TypeError):
        raise no_such_event(str(event_id)) from None


EventId = Annotated[str, Meta(max_length=60, check=read_id)]
Topic = Annotated[str, Meta(schema=TOPIC_SCHEMA, parse=check_topic)]
EventType = Annotated[str, Meta(min_length=1, max_length=MAX_TYPE)]
Data = Annotated[Any, Meta(check=check_data, description="Any JSON value (default: an empty object).")]
Key = Annotated[
    str | None, Meta(min_length=1, max_length=MAX_KEY, description="Events with the same key are read in order.")
]
Tenant = Annotated[str | None, Meta(min_length=1, max_length=MAX_TENANT)]
Source = Annotated[
    str | None, Meta(min_length=1, max_length=500, description="The publisher (default: the namespace).")
]
ExpectedVersion = Annotated[int | None, Meta(ge=0, le=MAX_ID, description="409 unless the key has this version.")]
Pattern = Annotated[
    str | None,
    Meta(
        max_length=MAX_TOPIC,
        parse=lambda pattern: pattern if pattern is None else check_patterns(pattern, "topic")[0],
        description="Only of topics that match, such as orders.* (one word) or orders.# (any number of words).",
    ),
]
Since = Annotated[
    datetime | None,
    Meta(description="Begin with the first event that got its position at this instant or later; not with `after`."),
]


shape(
    NewEvent,
    hints={"topic": Topic, "type": EventType, "key": Key, "tenant": Tenant, "expected_version": ExpectedVersion},
    about={
        "data": "Any JSON value (default: an empty object).",
        "headers": "Extension attributes of CloudEvents.",
        "id": "A UUID (default: a new one). It is published once.",
    },
    closed=True,
)


class Events(ClientBase):
    """Published facts, in the order of their positions."""

    @operator.post("publish_event", "/events", "Publish an event", status=201, keys={"event_id": "id"})
    async def publish(
        self,
        topic: Topic,
        type: EventType,  # noqa: A002 - as CloudEvents has it
        data: Data = None,
        *,
        key: Key = None,
        headers: Annotated[Mapping[str, str] | None, Meta(description="Extension attributes of CloudEvents.")] = None,
        tenant: Tenant = None,
        source: Source = None,
        event_id: Annotated[
            str | None, Meta(max_length=60, description="A UUID (default: a new one). It is published once.")
        ] = None,
        expected_version: ExpectedVersion = None,
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

    @operator.post("publish_events", "/events/batch", "Publish several events together", status=201)
    async def publish_many(
        self,
        events: Annotated[
            Sequence[NewEvent],
            Meta(min_length=1, max_length=MAX_EVENTS, description="In the order of their positions."),
        ],
        *,
        source: Source = None,
        actor: str,
    ) -> Sequence[Event]:
        """Publish several events together: a consumer group handles or fails them together."""
        published = await self._store.events.publish(
            self._namespace, events, source=check_source(source, self._namespace), actor=actor
        )
        return [await self._read(event_id) for event_id in published]

    @viewer.get("list_events", "/events", "List events", page=lambda event: event.resume_token)
    async def list(
        self,
        topic: Pattern = None,
        key: Annotated[str | None, Meta(max_length=MAX_KEY, description="Only of this key.")] = None,
        *,
        since: Since = None,
        after: int | str | EventPosition = 0,
        limit: int = 100,
    ) -> Sequence[Event]:
        """List events by position, oldest first; an event that is not stamped yet is not listed.

        `after` is a position, or the `resume_token` of an event: 409 if the store was restored or copied since it was
        read, because later positions are assigned again.
        """
        patterns = () if topic is None else check_patterns(topic, "topic")
        start = as_position(after, "after")
        if since is not None and start == EventPosition(0):
            start = EventPosition(await self._store.consumers.find_position(self._namespace, since))
        events = await self._store.events.read(self._namespace, start.position, topics=patterns, key=key, limit=limit)
        if events and events[0].incarnation is not None:
            start.check(events[0].incarnation)
        elif start.position or start.incarnation:
            start.check(await self._store.identity.incarnation(), await self._store.events.head(self._namespace))
        return events

    @viewer.get("get_event", "/events/{event_id}", "Show an event")
    async def get(self, event_id: EventId) -> Event:
        """Show one event."""
        return await self._read(read_id(event_id))

    @viewer.get("why_event", "/events/{event_id}/why", "Explain an event")
    async def why(self, event_id: EventId, *, tz: Zone = None) -> EventExplanation:
        """Explain who published an event, when it got its position, and its state in each consumer group."""
        event = await self._read(read_id(event_id))
        letters: Mapping[str, DeadLetter] = {}
        if event.position is not None and "dead_letters" in self._store.capabilities:
            found = await self._store.dead_letters.find_by_event(self._namespace, event.position)
            letters = {letter.group: letter for letter in found}
        offsets = (
            await self._store.consumers.find_offsets(self._namespace, event.partition)
            if "consumers" in self._store.capabilities
            else ()
        )
        # A group that has read past the event waits for another letter only if the event is one itself.
        unread = (offset.group for offset in offsets if offset.position < (event.position or 0))
        blockers = {group: await self._find_blocker(event, group) for group in {*unread, *letters}}
        return explain_event(
            EventContext(
                event=event,
                now=await self._store.now(),
                run=None if event.run_id is None else await self._store.runs.get(event.run_id),
                offsets=offsets,
                letters=letters,
                blockers={group: letter for group, letter in blockers.items() if letter is not None},
                tz=tz or "UTC",
            )
        )

    async def _find_blocker(self, event: Event, group: str) -> DeadLetter | None:
        if event.key is None or event.position is None or "dead_letters" not in self._store.capabilities:
            return None
        which = LetterFilter(group=group, key=event.key)
        return first_blocker(event, await self._store.dead_letters.list(self._namespace, which, limit=_BLOCKERS))

    async def _read(self, event_id: UUID) -> Event:
        event = await self._store.events.get(self._namespace, event_id)
        if event is None:
            raise no_such_event(str(event_id))
        return event
