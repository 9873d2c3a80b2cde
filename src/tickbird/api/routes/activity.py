"""Activity over HTTP: as a list, and as server-sent events that can be resumed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.models.activity import ActivityPage
from tickbird.api.paging import write_items
from tickbird.api.query_types import InstantText, read_instant
from tickbird.api.streams.activity_feed import ActivityFeed, Subscriber
from tickbird.api.streams.sse import MEDIA_TYPE, SseConnections
from tickbird.domain.ledger.activity import ACTIVITY_CURSOR, ActivityKind, parse_activity_cursor
from tickbird.domain.text import check_text
from tickbird.wire.encode.activity import activity_document

router = APIRouter(prefix=f"{PREFIX}/activity", tags=["activity"])


@router.get("", summary="What happened lately", operation_id="list_activity", response_model=ActivityPage)
async def list_activity(
    access: Viewer,
    since: Annotated[InstantText, Query(description="What happened since then.")],
    schedule: Annotated[str | None, Query(max_length=200, description="Only of this schedule.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="At most so many of each kind.")] = 1_000,
) -> Any:
    """Runs that were planned, runs that ended and ticks that were skipped, oldest first; of each kind the newest."""
    found = await access.client.activity(read_instant(since, "since"), schedule=schedule, limit=limit)
    return {"items": await write_items(found, activity_document)}


@router.get(
    "/stream",
    summary="Follow what happens",
    operation_id="follow_activity",
    response_model=None,
    response_class=Response,
    responses={
        200: {
            "description": "Events until either side ends it; the data of each is a StreamedActivity.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
)
async def follow_activity(
    request: Request,
    access: Viewer,
    schedule: Annotated[str | None, Query(max_length=200, description="Only what concerns this schedule.")] = None,
    kind: Annotated[list[ActivityKind] | None, Query(max_length=20, description="Only of these kinds.")] = None,
    after: Annotated[
        str | None,
        Query(
            max_length=2_000,
            description="As Last-Event-ID, for those who cannot send headers.",
            json_schema_extra={"pattern": ACTIVITY_CURSOR},
        ),
    ] = None,
    last_event_id: Annotated[
        str | None,
        Header(
            max_length=2_000,
            description="Go on behind the event with this id; else from now on.",
            json_schema_extra={"pattern": ACTIVITY_CURSOR},
        ),
    ] = None,
) -> Any:
    """Server-sent events of everything that changes in a namespace: runs, skips, and what somebody did.

    Each has an id: who comes back with the last one is told what happened meanwhile, once.
    """
    if schedule is not None:
        check_text(schedule, "schedule")
    text = last_event_id or after
    mark = parse_activity_cursor(text) if text else None
    feed: ActivityFeed = request.app.state.feed
    streams: SseConnections = request.app.state.streams
    await feed.check()
    follower = Subscriber(access.namespace, schedule, kind or ())
    return streams.open(request, lambda: feed.follow(follower, mark))
