"""Runs over HTTP: listed, looked at, listened to, asked for, cancelled and repeated."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Editor, Operator, Viewer
from tickbird.api.models.runs import (
    CancelRunBody,
    LogPage,
    NewRunBody,
    RetryBody,
    RunDetail,
    RunModel,
    RunPage,
    TriggeredRun,
)
from tickbird.api.paging import AfterNumber, Limit, page, read_number
from tickbird.api.query_types import read_instant
from tickbird.api.run_response import RunKey, run_response, scoped_key, waited_for
from tickbird.api.streams.log_feed import LOG_POSITION, LogFeeds, format_position, parse_position
from tickbird.api.streams.sse import MEDIA_TYPE as EVENTS
from tickbird.api.streams.sse import SseConnections, wants_events
from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.wire.encode.runs import (
    attempt_document,
    log_document,
    progress_document,
    queue_position_document,
    run_document,
)

router = APIRouter(prefix=f"{PREFIX}/runs", tags=["runs"])
Id = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("", summary="List runs", operation_id="list_runs", response_model=RunPage)
async def list_runs(
    access: Viewer,
    schedule: Annotated[str | None, Query(max_length=200, description="Only those of this schedule.")] = None,
    status: Annotated[Status | None, Query(description="Only those in this status.")] = None,
    limit: Limit = 100,
    after: AfterNumber = None,
) -> Any:
    """Runs of a namespace, newest first; also those of schedules that are deleted."""
    found = await access.client.runs(schedule=schedule, status=status, before=read_number(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.id, run_document)


@router.post("", summary="Run a task", operation_id="create_run", response_model=TriggeredRun, status_code=201)
async def create_run(request: Request, access: Editor, body: NewRunBody, idempotency_key: RunKey = None) -> Any:
    """One run without a schedule, now or later. A task that no live worker knows is a warning, and its payload unseen.

    A setting that is not stated is the task's. With `wait`, the run as it is after that.
    """
    client = access.client
    with scoped_key(access, idempotency_key) as key:
        run_id = await client.enqueue(
            body.task,
            body.payload,
            actor=access.actor,
            at=None if body.at is None else read_instant(body.at, "at"),
            delay=body.delay,
            queue=body.queue,
            priority=body.priority,
            start_within=body.start_within,
            crash_limit=body.crash_limit,
            idempotency_key=key,
            concurrency_key=_key(body),
            unknown_task_ok=body.unknown_task_ok,
        )
    return await run_response(request, client, await client.run(run_id), body.wait)


def _key(body: NewRunBody) -> str | FromTask | None:
    if "concurrency_key" not in body.none:
        return FROM_TASK if body.concurrency_key is None else body.concurrency_key
    if body.concurrency_key is not None:
        raise InvalidError(
            "concurrency_key: is stated, and to be nothing;",
            field="concurrency_key",
            hint="leave it out of one of them.",
        )
    return None


@router.get("/{id}", summary="One run", operation_id="get_run", response_model=RunDetail)
async def get_run(
    request: Request,
    access: Viewer,
    id: Id,  # noqa: A002 - the name in the path
    wait: Annotated[int | None, Query(ge=1, le=300, description="Seconds until it is final, at most.")] = None,
    tz: Annotated[
        str | None, Query(max_length=100, description="Tell times of `waiting_for` on this zone's clock.")
    ] = None,
) -> Any:
    """A run, the attempts that did not end it well, how far it is, its position in its queue, and what it waits for.

    With `wait`, once it has come to its end, or as it is after that.
    """
    client = access.client
    run = await client.run(id) if wait is None else await waited_for(request, client, id, wait)
    progress = await client.progress(id)
    return {
        "run": run_document(run),
        "attempts": [attempt_document(each) for each in await client.attempts(id)],
        "progress": None if progress is None else progress_document(progress),
        "queue_position": queue_position_document(await client.queue_position(id)),
        "waiting_for": [step.to_json() for step in await client.waiting_for(id, tz=tz)],
    }


@router.get(
    "/{id}/logs",
    summary="What a run has logged",
    operation_id="read_logs",
    response_model=LogPage,
    responses={200: {"content": {EVENTS: {"schema": {"type": "string"}}}}},
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
    """Lines in order, also while it runs. As events, one line each until the run has ended, which `end` tells."""
    client, place = access.client, parse_position(after, "after")
    if last_event_id is not None:
        place = parse_position(last_event_id, "Last-Event-ID")
    if not follow and not wants_events(request):
        found = await client.read_logs(id, after=place, limit=limit + 1)
        shown = found.lines[:limit]
        following = format_position(shown[-1]) if len(found.lines) > limit else None
        items = [log_document(line) for line in shown]
        return {"run_id": id, "status": found.status, "items": items, "next": following}
    await client.run(id)
    feeds: LogFeeds = request.app.state.log_feeds
    streams: SseConnections = request.app.state.streams
    return streams.open(request, lambda: feeds.follow(access.namespace, client, id, place))


@router.post("/{id}/cancel", summary="Cancel a run", operation_id="cancel_run", response_model=RunModel)
async def cancel_run(
    access: Operator,
    id: Id,  # noqa: A002 - the name in the path
    body: CancelRunBody | None = None,
) -> Any:
    """Cancel a run that has not started, or ask a running one to stop; 409 where it has come to its end."""
    reason = "" if body is None else body.reason
    return run_document(await access.client.cancel(id, actor=access.actor, reason=reason))


@router.post(
    "/{id}/retry", summary="Repeat a run", operation_id="retry_run", response_model=TriggeredRun, status_code=201
)
async def retry_run(
    request: Request,
    access: Operator,
    id: Id,  # noqa: A002 - the name in the path
    body: RetryBody | None = None,
    idempotency_key: RunKey = None,
) -> Any:
    """A new run with the target, payload and policies of a final run, whatever its schedule is by now.

    Another payload may be given. 409 if that run is not final.
    """
    sent = body or RetryBody()
    with scoped_key(access, idempotency_key) as key:
        run = await access.client.retry(id, actor=access.actor, payload=sent.payload, idempotency_key=key)
    return await run_response(request, access.client, run, sent.wait)
