"""Stored calendars."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.client.base import ClientBase, page_size
from tickbird.client.calendar_service import HORIZON, CalendarService
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.planning.calendar_impact import CalendarReport
from tickbird.domain.text import check_text
from tickbird.domain.time.durations import Duration


class Calendars(ClientBase):
    """The verbs about calendars."""

    async def put_calendar(
        self, name: str, definition: object, *, actor: str, horizon: Duration = HORIZON, revision: int | None = None
    ) -> CalendarReport:
        """Store a calendar and bring every schedule that names it up to it; tells what changes for their ticks.

        With `revision` only if it is still at that one, with 0 only if there is none.
        """
        return await self._calendars().put(name, definition, actor=actor, horizon=horizon, revision=revision)

    async def preview_calendar(self, name: str, definition: object, *, horizon: Duration = HORIZON) -> CalendarReport:
        """What `put_calendar` would change, and changes nothing."""
        return await self._calendars().preview(name, definition, horizon=horizon)

    async def get_calendar(self, name: str) -> CalendarRecord:
        """A stored calendar by name."""
        return await self._calendars().get(name)

    async def list_calendars(self, *, after: str = "", limit: int | None = None) -> Sequence[CalendarRecord]:
        """The stored calendars by name, all or a page at a time: `after` is the last name of the page before."""
        check_text(after, "after")
        return await self._store.calendars.list(
            self._namespace, after=after, limit=None if limit is None else page_size(limit)
        )

    async def delete_calendar(self, name: str, *, actor: str, revision: int | None = None) -> None:
        """Delete a calendar that no schedule names."""
        await self._calendars().delete(name, actor=actor, revision=revision)

    def _calendars(self) -> CalendarService:
        return CalendarService(self._store, self._namespace)
