"""Backfills over HTTP: made, listed, looked at and cancelled."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Access, Operator, Viewer
from tickbird.api.etags import IfMatch, parse_if_match
from tickbird.api.models.backfills import (
    BackfillBody,
    BackfillModel,
    BackfillPage,
    BackfillPlanBody,
    BackfillPlanModel,
    CancelBackfillBody,
)
from tickbird.api.paging import AfterNumber, Limit, page, read_number
from tickbird.api.query_types import read_instant
from tickbird.wire.encode.backfills import backfill_document, backfill_plan_document

router = APIRouter(prefix=PREFIX, tags=["backfills"])
Id = Annotated[int, Path(ge=1, lt=2**63)]


@router.post(
    "/schedules/{name}/backfill",
    summary="Run the ticks of a range that have no run",
    operation_id="backfill",
    response_model=BackfillPlanModel,
)
async def backfill(access: Operator, name: str, body: BackfillBody, if_match: IfMatch = None) -> Any:
    """A run of each tick from `first` to `last` that has none, behind all other runs; a dry run only tells which."""
    return await _planned(access, name, body, if_match, dry_run=body.dry_run)


@router.post(
    "/schedules/{name}/backfill/preview",
    summary="Which ticks a backfill would run",
    operation_id="preview_backfill",
    response_model=BackfillPlanModel,
)
async def preview_backfill(access: Viewer, name: str, body: BackfillPlanBody, if_match: IfMatch = None) -> Any:
    """The ticks from `first` to `last` that have no run, for all who may look; nothing is made."""
    return await _planned(access, name, body, if_match, dry_run=True)


async def _planned(
    access: Access, name: str, body: BackfillPlanBody, if_match: str | None, *, dry_run: bool
) -> dict[str, Any]:
    plan = await access.client.backfill(
        name,
        read_instant(body.first, "first"),
        read_instant(body.last, "last"),
        actor=access.actor,
        concurrency=body.concurrency,
        order=body.order,
        payload=body.payload,
        note=body.note,
        dry_run=dry_run,
        revision=parse_if_match(if_match),
    )
    return backfill_plan_document(plan)


@router.get("/backfills", summary="List backfills", operation_id="list_backfills", response_model=BackfillPage)
async def list_backfills(
    access: Viewer,
    schedule: Annotated[str | None, Query(max_length=200, description="Only those of this schedule.")] = None,
    limit: Limit = 100,
    after: AfterNumber = None,
) -> Any:
    """Backfills, newest first, each with how far it is."""
    found = await access.client.list_backfills(schedule=schedule, before=read_number(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.id, backfill_document)


@router.get("/backfills/{id}", summary="One backfill", operation_id="get_backfill", response_model=BackfillModel)
async def get_backfill(access: Viewer, id: Id) -> Any:  # noqa: A002 - the name in the path
    """A backfill, and how many of its runs are in each status."""
    return backfill_document(await access.client.get_backfill(id))


@router.post(
    "/backfills/{id}/cancel", summary="Cancel a backfill", operation_id="cancel_backfill", response_model=BackfillModel
)
async def cancel_backfill(
    access: Operator,
    id: Id,  # noqa: A002 - the name in the path
    body: CancelBackfillBody | None = None,
) -> Any:
    """Cancel its runs that have not started; those that run are asked to stop only with `stop_running`."""
    sent = body or CancelBackfillBody()
    cancelled = await access.client.cancel_backfill(
        id, actor=access.actor, note=sent.note, stop_running=sent.stop_running
    )
    return backfill_document(cancelled)
