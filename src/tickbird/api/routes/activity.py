"""Activity as server-sent events that can be resumed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.streams.activity_feed import ActivityFeed, Subscriber
from tickbird.api.streams.sse import MEDIA_TYPE, SseConnections
from tickbird.domain.ledger.activity import ACTIVITY_CURSOR, ActivityKind, parse_activity_cursor
from tickbird.domain.text import check_text

router = APIRouter(prefix=f"{PREFIX}/activity", tags=["activity"])


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
