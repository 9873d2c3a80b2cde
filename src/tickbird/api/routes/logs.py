"""Logs of runs: as pages, and as server-sent events while a run is active."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_args

from fastapi import APIRouter, Header, Path, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.json_response import json_response
from tickbird.api.paging import Limit
from tickbird.api.streams.log_feed import LOG_POSITION, LogFeeds, format_position, parse_position
from tickbird.api.streams.sse import MEDIA_TYPE as EVENTS
from tickbird.api.streams.sse import SseConnections, wants_events
from tickbird.domain.runs.run import Status
from tickbird.wire.codec import encode

router = APIRouter(prefix=f"{PREFIX}/runs", tags=["runs"])
Id = Annotated[int, Path(ge=1, lt=2**63)]
_PAGE: Final = {
    "type": "object",
    "description": "A page of what a run has logged, in order; once its status is final, no more lines come.",
    "properties": {
        "run_id": {"type": "integer"},
        "status": {"type": "string", "enum": list(get_args(Status))},
        "items": {"type": "array", "items": {"$ref": "#/components/schemas/LogLine"}},
        "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["run_id", "status", "items", "next"],
}


@router.get(
    "/{id}/logs",
    summary="What a run has logged",
    operation_id="read_logs",
    response_model=None,
    responses={200: {"content": {"application/json": {"schema": _PAGE}, EVENTS: {"schema": {"type": "string"}}}}},
)
async def read_logs(
    request: Request,
    access: Viewer,
    id: Id,  # noqa: A002 - the name in the path
    follow: Annotated[bool, Query(description="As server-sent events, also with `Accept: text/event-stream`.")] = False,
    limit: Limit = 1_000,
    after: Annotated[
        str | None,
        Query(
            description="Lines behind this one: its attempt and number, such as `1.17`.",
            json_schema_extra={"pattern": LOG_POSITION},
        ),
    ] = None,
    last_event_id: Annotated[
        str | None,
        Header(
            description="The same, of who comes again.",
            json_schema_extra={"pattern": LOG_POSITION, "examples": ["1.17"]},
        ),
    ] = None,
) -> Any:
    """List the log lines of a run in order, also while it runs. With `follow`, as events until the event `end`."""
    client, place = access.client, parse_position(after, "after")
    if last_event_id is not None:
        place = parse_position(last_event_id, "Last-Event-ID")
    if not follow and not wants_events(request):
        found = await client.runs.read_logs(id, after=place, limit=limit + 1)
        shown = found.lines[:limit]
        following = format_position(shown[-1]) if len(found.lines) > limit else None
        items = [encode(line) for line in shown]
        return json_response({"run_id": id, "status": found.status, "items": items, "next": following})
    await client.runs.get(id)
    feeds: LogFeeds = request.app.state.log_feeds
    streams: SseConnections = request.app.state.streams
    return streams.open(request, lambda: feeds.follow(access.namespace, client, id, place))
