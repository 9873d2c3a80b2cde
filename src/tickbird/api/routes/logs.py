"""Logs of runs: as pages, and as server-sent events while a run is active."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_args

from fastapi import Request

from tickbird.api.auth.auth import Access
from tickbird.api.json_response import json_response
from tickbird.api.request_arguments import LIMIT
from tickbird.api.streams.log_feed import LogFeeds
from tickbird.api.streams.sse import MEDIA_TYPE as EVENTS
from tickbird.api.streams.sse import SseConnections, wants_events
from tickbird.client.parameters import RunId
from tickbird.domain.runs.log_positions import LOG_POSITION, format_position, parse_position
from tickbird.domain.runs.run import Status
from tickbird.wire.codec import encode
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta
from tickbird.wire.schema import object_schema

_PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    "run_id": {"type": "integer"},
    "status": {"type": "string", "enum": list(get_args(Status))},
    "items": {"type": "array", "items": {"$ref": "#/components/schemas/LogLine"}},
    "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
}
_PAGE: Final = object_schema(
    _PROPERTIES, _PROPERTIES, description="A page of log lines, in order; after a final status, no more lines follow."
)
_POSITION: Final = {"pattern": LOG_POSITION, "examples": ["1.17"]}


@viewer.get(
    "read_logs",
    "/runs/{id}/logs",
    "Read the logs of a run",
    keys={"run_id": "id"},
    headers=("last_event_id",),
    content={"application/json": _PAGE, EVENTS: {"type": "string"}},
)
async def read_logs(
    request: Request,
    access: Access,
    run_id: RunId,
    follow: Annotated[bool, Meta(description="As server-sent events, also with `Accept: text/event-stream`.")] = False,
    limit: LIMIT = 1_000,
    after: Annotated[
        str | None,
        Meta(description="Only lines after this one: its attempt and number, such as `1.17`.", schema=_POSITION),
    ] = None,
    last_event_id: Annotated[
        str | None, Meta(description="As `after`, for clients that reconnect.", schema=_POSITION)
    ] = None,
) -> Any:
    """List the log lines of a run in order, also while it runs. With `follow`, as events until the event `end`."""
    client, position = access.client, parse_position(after, "after")
    if last_event_id is not None:
        position = parse_position(last_event_id, "Last-Event-ID")
    if not follow and not wants_events(request):
        logs = await client.runs.read_logs(run_id, after=position, limit=limit + 1)
        lines = logs.lines[:limit]
        following = format_position(lines[-1]) if len(logs.lines) > limit else None
        items = [encode(line) for line in lines]
        return json_response({"run_id": run_id, "status": logs.status, "items": items, "next": following})
    await client.runs.get(run_id)
    feeds: LogFeeds = request.app.state.log_feeds
    streams: SseConnections = request.app.state.streams
    return streams.open(request, lambda: feeds.follow(access.namespace, client, run_id, position))
