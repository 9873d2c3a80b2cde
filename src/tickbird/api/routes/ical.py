"""Upcoming ticks as a calendar that calendar programs subscribe to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Request, Response

from tickbird.api.auth.auth import Access
from tickbird.client.ical import write_ical
from tickbird.domain.forecast.ical import MEDIA_TYPE
from tickbird.domain.planning.agenda import DAYS, EVENTS, MAX_DAYS, MAX_EVENTS
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta


@viewer.get("ical", "/calendar.ics", "Get upcoming ticks as iCalendar", content={"text/calendar": {"type": "string"}})
async def calendar(
    request: Request,
    access: Access,
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS, description="The number of days ahead.")] = DAYS,
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS, description="The maximum number of events.")] = EVENTS,
    schedule: Annotated[str | None, Meta(max_length=200, description="Only this schedule.")] = None,
    tag: Annotated[str | None, Meta(max_length=200, description="Only schedules with this tag.")] = None,
    contains: Annotated[str, Meta(max_length=200, description="Only schedules with this text in their name.")] = "",
) -> Any:
    """Get the ticks of the next days as iCalendar (RFC 5545); ticks that will not run are cancelled events.

    Programs that cannot send a bearer token send it as the password of HTTP Basic authentication, with any user name.
    A schedule that ticks more than 24 times a day is one event through all days.
    """
    written = await write_ical(
        access.client, days=days, limit=limit, schedule=schedule, tag=tag or None, contains=contains
    )
    headers = {"Content-Disposition": 'inline; filename="tickbird.ics"'}
    return Response(written.text.encode(), media_type=MEDIA_TYPE, headers=headers)
