"""The ledger over HTTP: what was decided in a range, whether it accounts for every tick, and what is going on."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.models.decisions import DecisionsModel, LedgerReportModel
from tickbird.api.models.runs import RunList
from tickbird.api.paging import write_items
from tickbird.api.query_types import InstantText, read_instant
from tickbird.wire.encode.runs import run_document
from tickbird.wire.encode.ticks import decisions_document

router = APIRouter(prefix=PREFIX, tags=["ticks"])
Many = Annotated[int, Query(ge=1, le=10_000, description="At most so many of each kind.")]
# It goes through all that was ever decided for a schedule.
_VERIFY_TIMEOUT = 300


@router.get(
    "/schedules/{name}/decisions",
    summary="The runs and skips of a range",
    operation_id="list_decisions",
    response_model=DecisionsModel,
)
async def list_decisions(
    access: Viewer,
    name: str,
    first: Annotated[InstantText, Query(description="Ticks from here on.")],
    last: Annotated[InstantText, Query(description="Ticks up to here.")],
    limit: Many = 1_000,
) -> Any:
    """The runs and the skips whose ticks touch a range, oldest first; `/ticks` has them in one order, page by page."""
    begin, end = read_instant(first, "first"), read_instant(last, "last")
    return await asyncio.to_thread(
        decisions_document, await access.client.tick_decisions(name, begin, end, limit=limit)
    )


@router.get(
    "/schedules/{name}/verify",
    summary="Verify the ledger of a schedule",
    operation_id="verify_ledger",
    response_model=LedgerReportModel,
)
async def verify_ledger(
    request: Request,
    access: Viewer,
    name: str,
    first: Annotated[InstantText | None, Query(description="From here on; else since it was created.")] = None,
    last: Annotated[InstantText | None, Query(description="Up to here; else up to now.")] = None,
) -> Any:
    """Whether each tick that was to be expected has one decision, and no decision lacks its tick."""
    extend_timeout(request, _VERIFY_TIMEOUT)
    begin = None if first is None else read_instant(first, "first")
    end = None if last is None else read_instant(last, "last")
    return (await access.client.verify_ledger(name, begin, end)).to_json()


@router.get(
    "/schedules/{name}/active-runs",
    summary="The runs that are not final",
    operation_id="list_active_runs",
    response_model=RunList,
)
async def list_active_runs(access: Viewer, name: str) -> Any:
    """The runs of a schedule that wait, are queued or are running, oldest first; also of one that is deleted."""
    return {"items": await write_items(await access.client.active_runs(name), run_document)}
