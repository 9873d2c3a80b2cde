"""Activity as server-sent events that can be resumed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import Request

from tickbird.api.auth.auth import Access
from tickbird.api.streams.activity_feed import ActivityFeed, Subscriber
from tickbird.api.streams.sse import MEDIA_TYPE, SseConnections
from tickbird.domain.ledger.activity import ACTIVITY_CURSOR, ActivityKind, parse_activity_cursor
from tickbird.domain.text import check_text
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta

_CURSOR = {"pattern": ACTIVITY_CURSOR}


@viewer.get(
    "follow_activity",
    "/activity/stream",
    "Follow activity",
    headers=("last_event_id",),
    content={MEDIA_TYPE: {"type": "string"}},
    responses={200: "Events until either side ends the stream; the data of each is a StreamedActivity."},
)
async def follow_activity(
    request: Request,
    access: Access,
    schedule: Annotated[str | None, Meta(max_length=200, description="Only activity of this schedule.")] = None,
    kind: Annotated[
        Collection[ActivityKind] | None, Meta(max_length=20, description="Only activity of these kinds.")
    ] = None,
    after: Annotated[
        str | None,
        Meta(max_length=2_000, description="As Last-Event-ID, for clients that cannot send headers.", schema=_CURSOR),
    ] = None,
    last_event_id: Annotated[
        str | None,
        Meta(max_length=2_000, description="Continue after the event with this id (default: now).", schema=_CURSOR),
    ] = None,
) -> Any:
    """Follow runs, skips and changes in a namespace as server-sent events.

    Each event has an id. A client that reconnects with the last id gets the events in between, once.
    """
    if schedule is not None:
        check_text(schedule, "schedule")
    cursor = last_event_id or after
    position = parse_activity_cursor(cursor) if cursor else None
    feed: ActivityFeed = request.app.state.feed
    streams: SseConnections = request.app.state.streams
    await feed.check()
    subscriber = Subscriber(access.namespace, schedule, kind or ())
    return streams.open(request, lambda: feed.follow(subscriber, position))
