"""Stored calendars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from tickbird.client.base import ClientBase, page_size
from tickbird.client.calendar_service import HORIZON, MAX_HORIZON, CalendarService
from tickbird.domain.calendars.definition import CalendarRecord, calendar_schema, check_calendar_name
from tickbird.domain.planning.calendar_impact import CalendarReport
from tickbird.domain.text import check_text
from tickbird.domain.time.durations import Duration
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

# The domain validates it, with better errors than a schema.
Definition = Annotated[Mapping[str, Any], Meta(schema=calendar_schema())]
_SECONDS = {"type": "integer", "minimum": 1, "maximum": MAX_HORIZON}
Horizon = Annotated[
    Duration | None,
    Meta(
        schema={
            "anyOf": [_SECONDS, {"type": "string", "format": "length-of-time"}, {"type": "null"}],
            "description": "How far ahead ticks are compared: seconds, or a text such as 90d; at most five years.",
        }
    ),
]
CalendarName = Annotated[str, Meta(check=check_calendar_name)]


class Calendars(ClientBase):
    """`client.calendars`"""

    @viewer.get("list_calendars", "/calendars", "List calendars", page=lambda calendar: calendar.name)
    async def list(self, *, after: str = "", limit: int | None = None) -> Sequence[CalendarRecord]:
        """List the stored calendars of a namespace by name, without the built-in ones."""
        check_text(after, "after")
        maximum = None if limit is None else page_size(limit)
        return await self._store.calendars.list(self._namespace, after=after, limit=maximum)

    @viewer.get("get_calendar", "/calendars/{name}", "Get a calendar", etag=lambda calendar: calendar.revision)
    async def get(self, name: str) -> CalendarRecord:
        """Get a calendar by name; the header ETag has its revision, for If-Match."""
        return await self._service().get(name)

    @editor.put(
        "put_calendar",
        "/calendars/{name}",
        "Create or replace a calendar",
        audit="put_calendar",
        etag=lambda report: report.record.revision,
        created=lambda report: report.record.revision == 1,
        responses={201: "The calendar was created."},
    )
    async def put(
        self,
        name: CalendarName,
        definition: Definition,
        *,
        actor: str,
        horizon: Horizon = HORIZON,
        revision: int | None = None,
    ) -> CalendarReport:
        """Store a calendar and update every schedule that names it; returns which of their ticks change.

        With `revision` only if it is still at that one, with 0 only if there is none.
        """
        return await self._service().put(
            name, definition, actor=actor, horizon=HORIZON if horizon is None else horizon, revision=revision
        )

    @viewer.post("preview_calendar", "/calendars/{name}/preview", "Preview a calendar")
    async def preview(
        self, name: CalendarName, definition: Definition, *, horizon: Horizon = HORIZON
    ) -> CalendarReport:
        """List the ticks that would move, appear or vanish if the calendar were stored; this stores nothing."""
        return await self._service().preview(name, definition, horizon=HORIZON if horizon is None else horizon)

    @editor.delete("delete_calendar", "/calendars/{name}", "Delete a calendar", status=204, audit="delete_calendar")
    async def delete(self, name: CalendarName, *, actor: str, revision: int | None = None) -> None:
        """Delete a calendar; 409 if a schedule names it."""
        await self._service().delete(name, actor=actor, revision=revision)

    def _service(self) -> CalendarService:
        return CalendarService(self._store, self._namespace)
