"""Workers over HTTP: who is alive, and who is to end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Admin, Viewer
from tickbird.api.models.parts import NoteBody
from tickbird.api.models.workers import WorkerModel, WorkerPage
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.domain.workers import no_such_worker
from tickbird.wire.encode.workers import worker_document

router = APIRouter(prefix=f"{PREFIX}/workers", tags=["workers"])
WorkerId = Annotated[str, Path(max_length=1_000)]


@router.get("", summary="List workers", operation_id="list_workers", response_model=WorkerPage)
async def list_workers(access: Viewer, limit: Limit = 100, after: AfterName = None) -> Any:
    """The live workers of a namespace, by id: what they serve, how they are, and who drains."""
    behind = read_name(after)
    found = sorted((each for each in await access.client.workers() if each.id > behind), key=lambda each: each.id)
    return await page(found, limit, lambda each: each.id, worker_document)


@router.get("/{worker}", summary="One worker", operation_id="get_worker", response_model=WorkerModel)
async def get_worker(access: Viewer, worker: WorkerId) -> Any:
    """A live worker by its id."""
    found = next((each for each in await access.client.workers() if each.id == worker), None)
    if found is None:
        raise no_such_worker(worker)
    return worker_document(found)


@router.post("/{worker}/drain", summary="Drain a worker", operation_id="drain_worker", response_model=WorkerModel)
async def drain_worker(
    access: Admin,
    worker: WorkerId,
    body: NoteBody | None = None,
) -> Any:
    """Ask a worker to take nothing new, finish what it executes and end, as on SIGTERM; nothing takes that back.

    It hears of it at once, or with its next heartbeat. Harmless where that was asked before.
    """
    note = "" if body is None else body.note
    return worker_document(await access.client.drain_worker(worker, actor=access.actor, note=note))
