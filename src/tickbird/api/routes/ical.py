"""Coming ticks as a calendar that calendar programs subscribe to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from tickbird.api.auth.auth import Viewer
from tickbird.client.ical import write_ical
from tickbird.domain.forecast.ical import MEDIA_TYPE
from tickbird.domain.planning.agenda import DAYS, EVENTS, MAX_DAYS, MAX_EVENTS

router = APIRouter(tags=["ticks"])


@router.get(
    "/calendar.ics",
    summary="Coming ticks, for calendar programs",
    operation_id="ical",
    response_class=Response,
    responses={200: {"content": {"text/calendar": {"schema": {"type": "string"}}}}},
)
async def calendar(
    access: Viewer,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS, description="How many days ahead.")] = DAYS,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS, description="How many events at most.")] = EVENTS,
    schedule: Annotated[str | None, Query(max_length=200, description="Of this schedule.")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="Of schedules with this tag.")] = None,
    contains: Annotated[str, Query(max_length=200, description="Of schedules with this in their name.")] = "",
) -> Any:
    """The ticks of the next days as iCalendar (RFC 5545), those that will not run as cancelled.

    Programs that cannot send a bearer token give it as the password of HTTP Basic authentication, with any user name.
    A schedule that ticks more than 24 times a day is one event through all days.
    """
    found = await write_ical(
        access.client, days=days, limit=limit, schedule=schedule, tag=tag or None, contains=contains
    )
    headers = {"Content-Disposition": 'inline; filename="tickbird.ics"'}
    return Response(found.text.encode(), media_type=MEDIA_TYPE, headers=headers)
