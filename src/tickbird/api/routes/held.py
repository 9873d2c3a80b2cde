"""Runs that are held after an outage, over HTTP: looked at, released, dropped."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Operator, Viewer
from tickbird.api.models.held import DropBody, Dropped, HeldSchedulePage, ReleaseBody, Released
from tickbird.api.models.runs import RunPage
from tickbird.api.paging import AfterName, AfterNumber, Limit, page, read_name, read_number
from tickbird.client import Client
from tickbird.wire.encode.backfills import held_document
from tickbird.wire.encode.runs import run_document

router = APIRouter(prefix=PREFIX, tags=["held"])


@router.get("/held", summary="What is held", operation_id="list_held_schedules", response_model=HeldSchedulePage)
async def list_held_schedules(
    access: Viewer,
    schedule: Annotated[str | None, Query(max_length=200, description="Only this schedule.")] = None,
    limit: Limit = 100,
    after: AfterName = None,
) -> Any:
    """The schedules of which runs are held until a person lets them run, or drops them; by name."""
    behind = read_name(after)
    found = [each for each in await access.client.list_held_schedules(schedule) if each.schedule > behind]
    return await page(sorted(found, key=lambda each: each.schedule), limit, lambda each: each.schedule, held_document)


@router.get(
    "/schedules/{name}/held",
    summary="The held runs of a schedule",
    operation_id="list_held_runs",
    response_model=RunPage,
)
async def list_held_runs(access: Viewer, name: str, limit: Limit = 100, after: AfterNumber = None) -> Any:
    """The held runs of a schedule, oldest first."""
    found = await access.client.list_held_runs(name, after=read_number(after) or 0, limit=limit + 1)
    return await page(found, limit, lambda each: each.id, run_document)


@router.post(
    "/schedules/{name}/held/release", summary="Let held runs run", operation_id="release_held", response_model=Released
)
async def release_held(access: Operator, name: str, body: ReleaseBody | None = None) -> Any:
    """Let the oldest held runs of a schedule run, or all of them, at most so many a minute; 409 where none is held."""
    sent, client = body or ReleaseBody(), access.client
    done = await client.release_held(
        name, actor=access.actor, count=sent.count, per_minute=sent.per_minute, note=sent.note
    )
    return {"schedule": name, "released": done, "held": await _left(client, name)}


@router.post("/schedules/{name}/held/drop", summary="Drop held runs", operation_id="drop_held", response_model=Dropped)
async def drop_held(access: Operator, name: str, body: DropBody | None = None) -> Any:
    """Cancel the oldest held runs of a schedule, or all of them; 409 where none is held."""
    sent, client = body or DropBody(), access.client
    done = await client.drop_held(name, actor=access.actor, count=sent.count, note=sent.note)
    return {"schedule": name, "dropped": done, "held": await _left(client, name)}


async def _left(client: Client, name: str) -> int:
    return sum(each.count for each in await client.list_held_schedules(name))
