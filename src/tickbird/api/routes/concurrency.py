"""Limits over HTTP: how many runs of a concurrency key go on at once, and how fast those of a queue begin."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Access, Editor, Viewer
from tickbird.api.models.concurrency import ChangedQueue, LimitBody, LimitModel, LimitPage, QueuePage, RateBody
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.domain.explain.unserved_runs import unserved
from tickbird.domain.limits.rate_limits import QueueStatus
from tickbird.domain.schedules.json_schema import NAME
from tickbird.wire.encode.concurrency import limit_document, queue_document

router = APIRouter(prefix=PREFIX, tags=["limits"])
QueueName = Annotated[str, Path(json_schema_extra={"pattern": NAME["pattern"]})]
# A key may be any text, also one with slashes.
Key = Annotated[str, Path(max_length=1_000, description="A concurrency key, as runs have it.")]


@router.get("/limits", summary="List concurrency keys", operation_id="list_limits", response_model=LimitPage)
async def list_limits(access: Viewer, limit: Limit = 100, after: AfterName = None) -> Any:
    """The concurrency keys that have a limit or active runs, by name."""
    found = await access.client.limits(after=read_name(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.key, limit_document)


@router.put("/limits/{key:path}", summary="Limit a key", operation_id="set_limit", response_model=LimitModel)
async def set_limit(access: Editor, key: Key, body: LimitBody) -> Any:
    """Let so many runs of a concurrency key go on at once; a higher limit lets waiting ones go at once."""
    return limit_document(await access.client.set_limit(key, body.max_running, actor=access.actor))


@router.delete(
    "/limits/{key:path}", summary="Take a limit back", operation_id="remove_limit", response_model=LimitModel
)
async def remove_limit(access: Editor, key: Key) -> Any:
    """Go back to one run of this concurrency key at a time; 404 where no limit is set."""
    return limit_document(await access.client.remove_limit(key, actor=access.actor))


@router.get("/queues", summary="List queues", operation_id="list_queues", response_model=QueuePage)
async def list_queues(access: Viewer, limit: Limit = 100, after: AfterName = None) -> Any:
    """The queues that have a rate, active runs or a live worker, by name."""
    behind = read_name(after)
    found = [each for each in await access.client.queues() if each.name > behind]
    return await page(found, limit, lambda each: each.name, queue_document)


@router.put("/queues/{queue}/rate", summary="Set a rate", operation_id="set_rate", response_model=ChangedQueue)
async def set_rate(access: Editor, queue: QueueName, body: RateBody) -> Any:
    """Let at most so many runs of a queue begin within so long; what has begun counts."""
    return await _changed(access, await access.client.set_queue_rate(queue, body.rate, actor=access.actor))


@router.delete(
    "/queues/{queue}/rate", summary="Take a rate back", operation_id="remove_rate", response_model=ChangedQueue
)
async def remove_rate(access: Editor, queue: QueueName) -> Any:
    """Let the runs of a queue begin as they come; 404 where it has no rate."""
    return await _changed(access, await access.client.set_queue_rate(queue, None, actor=access.actor))


async def _changed(access: Access, queue: QueueStatus) -> dict[str, Any]:
    nobody = unserved(queue.name, await access.client.workers())
    warnings = [f"{nobody}: its runs stay queued until one does"] if nobody else []
    return {"queue": queue_document(queue), "warnings": warnings}
