"""One change to many schedules over HTTP: those that match a filter, if they are about as many as were seen."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Operator
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.models.bulk import BulkBody, BulkModel, BulkPauseBody, BulkResumeBody
from tickbird.api.query_types import read_instant
from tickbird.wire.encode.bulk import bulk_document

# Not under /schedules, where every word may be the name of one.
router = APIRouter(prefix=f"{PREFIX}/bulk", tags=["bulk"])
# A thousand changes take their time on a busy store.
_SECONDS: Final = 110


@router.post("/pause", summary="Pause many schedules", operation_id="pause_all", response_model=BulkModel)
async def pause_all(request: Request, access: Operator, body: BulkPauseBody) -> Any:
    """Pause every schedule that matches, each in a transaction of its own; those that are paused are left alone.

    409 `count-changed` where other than `expected` match, by more than a tenth of that; 422 where over 1,000 do.
    """
    extend_timeout(request, _SECONDS)
    result = await access.client.pause_all(
        actor=access.actor,
        **body.filter.model_dump(),
        expected=body.expected,
        note=body.note,
        until=None if body.until is None else read_instant(body.until, "until"),
        cancel_runs=body.cancel_runs,
    )
    return bulk_document(result)


@router.post("/resume", summary="Resume many schedules", operation_id="resume_all", response_model=BulkModel)
async def resume_all(request: Request, access: Operator, body: BulkResumeBody) -> Any:
    """Resume every schedule that matches and is paused, but not those that their code no longer has."""
    extend_timeout(request, _SECONDS)
    result = await access.client.resume_all(
        actor=access.actor, **body.filter.model_dump(), expected=body.expected, note=body.note
    )
    return bulk_document(result)


@router.post("/trigger", summary="Run many schedules now", operation_id="trigger_all", response_model=BulkModel)
async def trigger_all(request: Request, access: Operator, body: BulkBody) -> Any:
    """One manual run now of every schedule that matches, each with its own payload."""
    extend_timeout(request, _SECONDS)
    result = await access.client.trigger_all(actor=access.actor, **body.filter.model_dump(), expected=body.expected)
    return bulk_document(result)
