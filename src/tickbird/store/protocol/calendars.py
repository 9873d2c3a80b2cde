"""Calendars that are stored under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.schedules.schedule import Schedule


class CalendarStore(Protocol):
    async def put(
        self,
        namespace: str,
        name: str,
        definition: Mapping[str, Any],
        closed: Calendar,
        source: Mapping[str, Any],
        actor: str,
        *,
        revision: int | None = None,
        now: datetime | None = None,
    ) -> CalendarRecord:
        """Insert or replace a calendar. Separate commands change the schedules that use it.

        With a revision, StaleError if the calendar is at another one; 0 is the revision of a missing calendar.
        """

    async def delete(
        self, namespace: str, name: str, actor: str, *, revision: int | None = None, now: datetime | None = None
    ) -> None:
        """Delete a calendar, with a revision only if it is at that one; ConflictError while a schedule uses it."""

    async def list(
        self, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        """The stored calendars by name, after `after`; with `name`, only that one."""

    async def list_schedules(
        self, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        """Schedules that use a calendar and are not deleted, by name, after `after`."""
