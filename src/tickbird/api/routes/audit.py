"""The audit over HTTP: who did what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.models.audit import AuditPage
from tickbird.api.paging import AfterNumber, Limit, page, read_number
from tickbird.domain.text import check_text
from tickbird.wire.encode.activity import audit_document

router = APIRouter(prefix=f"{PREFIX}/audit", tags=["audit"])


@router.get("", summary="Who did what", operation_id="list_audit", response_model=AuditPage)
async def list_audit(
    access: Viewer,
    schedule: Annotated[str | None, Query(max_length=200, description="Only what was done to this schedule.")] = None,
    limit: Limit = 100,
    after: AfterNumber = None,
) -> Any:
    """Every change in the namespace, newest first; also what was done to schedules that are deleted."""
    if schedule is not None:
        check_text(schedule, "schedule")
    found = await access.client.audit(schedule=schedule, before=read_number(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.id, audit_document)
