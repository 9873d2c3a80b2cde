"""Schedules in files over HTTP: what applying a document would do, doing it, and writing back what is stored."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Editor, Viewer
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.models.files import ApplyBody, DiffBody, ExportModel, FilePlanModel
from tickbird.api.schedule_response import check_command
from tickbird.domain.schedules.codec import decode_field
from tickbird.files.document import read_document
from tickbird.files.plan import FilePlan
from tickbird.files.writer import to_plain
from tickbird.wire.encode.files import plan_document
from tickbird.wire.encode.schedules import schedule_document

router = APIRouter(prefix=PREFIX, tags=["files"])
# Thousands of schedules are compared and written in one transaction.
_APPLY = 300


@router.post("/apply", summary="Apply a document", operation_id="apply", response_model=FilePlanModel)
async def apply(request: Request, access: Editor, body: ApplyBody) -> Any:
    """Bring the namespace to what a document of schedules says, in one transaction, and tell what that changed.

    With `dry_run` nothing is changed, and the answer has what would keep it from being applied.
    """
    extend_timeout(request, _APPLY)
    # Reading, comparing and telling of thousands of schedules takes seconds, in which others are served.
    document = await asyncio.to_thread(read_document, body.document)
    for name, definition in document.schedules.items():
        await check_command(access, name, {"target": definition.target})
    for name, state in document.state.items():
        if "target" in state.overrides:
            await check_command(access, name, {"target": decode_field("target", state.overrides["target"])})
    plan = await access.client.apply(
        document, actor=access.actor, prune=body.prune, dry_run=body.dry_run, adopt=body.adopt
    )
    return await asyncio.to_thread(_written, plan, applied=not body.dry_run)


@router.post("/diff", summary="What applying would do", operation_id="diff", response_model=FilePlanModel)
async def diff(request: Request, access: Viewer, body: DiffBody) -> Any:
    """What applying a document would change, and what would keep it from being applied; for all who may look.

    Nothing is stored, so that a document may hold commands whoever asks.
    """
    extend_timeout(request, _APPLY)
    document = await asyncio.to_thread(read_document, body.document)
    plan = await access.client.apply(document, actor=access.actor, prune=body.prune, dry_run=True, adopt=body.adopt)
    return await asyncio.to_thread(_written, plan, applied=False)


@router.get("/export", summary="What is stored, as a document", operation_id="export", response_model=ExportModel)
async def export(
    access: Viewer,
    app: Annotated[str | None, Query(max_length=200, description="Of this app; else of the only owner.")] = None,
    everything: Annotated[bool, Query(description="Of all owners.")] = False,
) -> Any:
    """A document that applying changes nothing by, and what stands in the store beside it."""
    document = await access.client.export(app=app, everything=everything)
    plain = await asyncio.to_thread(to_plain, document)
    return {"document": plain, "operator_notes": await access.client.operator_notes(document)}


def _written(plan: FilePlan, *, applied: bool) -> Response:
    return JSONResponse(plan_response(plan, applied=applied))


def plan_response(plan: FilePlan, *, applied: bool) -> dict[str, Any]:
    """The plan as the command line tells it, each change with the schedule as it will be."""
    told = plan_document(plan, applied=applied)
    changes = [
        {**said, "schedule": schedule_document(change.schedule)}
        for said, change in zip(told["schedules"], plan.schedules, strict=True)
    ]
    return {**told, "schedules": changes}
