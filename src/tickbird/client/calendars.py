"""Stored calendars."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.client.base import Base
from tickbird.domain.calendar_definition import CalendarRecord
from tickbird.domain.durations import Duration
from tickbird.stored_calendars import HORIZON, CalendarReport, StoredCalendars


class Calendars(Base):
    """The verbs about calendars."""

    async def put_calendar(
        self, name: str, definition: object, *, actor: str, horizon: Duration = HORIZON
    ) -> CalendarReport:
        """Store a calendar and bring every schedule that names it up to it; tells what changes for their ticks."""
        return await self._calendars().put(name, definition, actor=actor, horizon=horizon)

    async def preview_calendar(self, name: str, definition: object, *, horizon: Duration = HORIZON) -> CalendarReport:
        """What `put_calendar` would change, and changes nothing."""
        return await self._calendars().preview(name, definition, horizon=horizon)

    async def get_calendar(self, name: str) -> CalendarRecord:
        """A stored calendar by name."""
        return await self._calendars().get(name)

    async def list_calendars(self) -> Sequence[CalendarRecord]:
        """The stored calendars, by name."""
        return await self._store.list_calendars(self._namespace)

    async def delete_calendar(self, name: str, *, actor: str) -> None:
        """Delete a calendar that no schedule names."""
        await self._calendars().delete(name, actor=actor)

    def _calendars(self) -> StoredCalendars:
        return StoredCalendars(self._store, self._namespace)
