"""Schedules over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from tickbird.api import PREFIX
from tickbird.api.auth import Viewer
from tickbird.api.models import ScheduleModel, SchedulePage
from tickbird.api.paging import After, Limit, page, read_name
from tickbird.documents import row_document, schedule_document
from tickbird.domain.obstacles import problems
from tickbird.domain.schedule import Schedule, State

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["schedules"])


@router.get("", summary="List schedules by name", operation_id="list_schedules", response_model=SchedulePage)
async def list_schedules(
    access: Viewer,
    contains: Annotated[str, Query(max_length=200, description="Only those whose name contains this.")] = "",
    state: Annotated[State | None, Query(description="Only those in this state; deleted ones only so.")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="Only those with this tag.")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Any:
    """Schedules of a namespace, each with its newest run and what keeps it from running."""
    client = access.client
    found = await client.list(contains=contains, state=state, tag=tag, after=read_name(after), limit=limit + 1)
    workers, now = await client.workers(), await client.now()
    return page(
        found,
        limit,
        lambda row: row.schedule.name,
        lambda row: row_document(row, problems(row.schedule, workers, now, row.held)),
    )


@router.get("/{name}", summary="One schedule", operation_id="get_schedule", response_model=ScheduleModel)
async def get_schedule(access: Viewer, name: str, response: Response) -> Any:
    """A schedule by name; the header ETag has its revision, for If-Match."""
    return _tagged(await access.client.get(name), response)


def _tagged(schedule: Schedule, response: Any) -> dict[str, Any]:
    """The document, and its revision as the tag by which a change may ask for it."""
    response.headers["ETag"] = f'"{schedule.revision}"'
    return schedule_document(schedule)
