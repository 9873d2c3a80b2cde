"""Calendars over HTTP."""

from __future__ import annotations

from tickbird.client.calendars import Calendars
from tickbird.client.http.operations import HttpNoun
from tickbird.domain.calendars.definition import CalendarRecord, no_such_calendar
from tickbird.domain.text import NAME
from tickbird.wire.operations import operations_of

_OPERATIONS = operations_of(Calendars)


class HttpCalendars(HttpNoun, Calendars):
    """Calendars of a server."""

    async def get(self, name: str) -> CalendarRecord:
        """A name that cannot be a part of a path is refused as on the store, with the names that exist."""
        if not NAME.fullmatch(str(name)):
            raise no_such_calendar(str(name), [calendar.name for calendar in await self.list()])
        record: CalendarRecord = await self.send(_OPERATIONS["get"], {"name": name})
        return record
