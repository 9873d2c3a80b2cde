"""Calendars over HTTP: listed, looked at, put, deleted, and what they do to coming ticks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Editor, Viewer
from tickbird.api.etags import IfMatch, IfNoneMatch, etag, parse_if_match, read_either
from tickbird.api.models.calendars import CalendarBody, CalendarModel, CalendarPage, CalendarReportModel
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.client.calendar_service import HORIZON
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.wire.encode.calendars import calendar_document, calendar_report_document

router = APIRouter(prefix=f"{PREFIX}/calendars", tags=["calendars"])


@router.get("", summary="List calendars by name", operation_id="list_calendars", response_model=CalendarPage)
async def list_calendars(access: Viewer, limit: Limit = 100, after: AfterName = None) -> Any:
    """The stored calendars of a namespace; those that are built in are not among them."""
    found = await access.client.list_calendars(after=read_name(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.name, calendar_document)


@router.get("/{name}", summary="One calendar", operation_id="get_calendar", response_model=CalendarModel)
async def get_calendar(access: Viewer, name: str, response: Response) -> Any:
    """A calendar by name; the header ETag has its revision, for If-Match."""
    record = await access.client.get_calendar(name)
    response.headers["ETag"] = etag(record.revision)
    return calendar_document(record)


@router.put(
    "/{name}",
    summary="Put a calendar",
    operation_id="put_calendar",
    response_model=CalendarReportModel,
    responses={201: {"model": CalendarReportModel, "description": "There was none of this name."}},
)
async def put_calendar(
    access: Editor,
    name: str,
    body: CalendarBody,
    response: Response,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> Any:
    """Store a calendar, and bring every schedule that names it up to it; tells which of their ticks that moves."""
    report = await access.client.put_calendar(
        name,
        body.definition,
        actor=access.actor,
        horizon=HORIZON if body.horizon is None else body.horizon,
        revision=read_either(if_match, if_none_match),
    )
    assert isinstance(report.calendar, CalendarRecord)
    response.headers["ETag"] = etag(report.calendar.revision)
    response.status_code = 201 if report.calendar.revision == 1 else 200
    return calendar_report_document(report)


@router.post(
    "/{name}/preview",
    summary="What a calendar would do",
    operation_id="preview_calendar",
    response_model=CalendarReportModel,
)
async def preview_calendar(access: Viewer, name: str, body: CalendarBody) -> Any:
    """Which ticks of the schedules that name it would move, appear or vanish if it were put; nothing is stored."""
    report = await access.client.preview_calendar(
        name, body.definition, horizon=HORIZON if body.horizon is None else body.horizon
    )
    return calendar_report_document(report)


@router.delete("/{name}", summary="Delete a calendar", operation_id="delete_calendar", status_code=204)
async def delete_calendar(access: Editor, name: str, if_match: IfMatch = None) -> None:
    """Delete a calendar; 409 while a schedule names it."""
    await access.client.delete_calendar(name, actor=access.actor, revision=parse_if_match(if_match))
