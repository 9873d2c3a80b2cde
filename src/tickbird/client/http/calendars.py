"""Stored calendars over HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.client.calendar_service import HORIZON
from tickbird.client.calendars import Calendars
from tickbird.client.http.base import Remote, segment
from tickbird.domain.calendars.definition import (
    CalendarRecord,
    check_calendar_name,
    no_such_calendar,
    read_calendar,
)
from tickbird.domain.planning.calendar_impact import CalendarReport
from tickbird.domain.text import NAME, check_text
from tickbird.domain.time.durations import Duration, seconds
from tickbird.wire.decode.calendars import read_calendar_record, read_calendar_report

_PAGE = 1_000


class RemoteCalendars(Remote, Calendars):
    """The verbs about calendars."""

    async def put_calendar(
        self, name: str, definition: object, *, actor: str, horizon: Duration = HORIZON, revision: int | None = None
    ) -> CalendarReport:
        """Store a calendar and bring every schedule that names it up to it; tells what changes for their ticks.

        With `revision` only if it is still at that one, with 0 only if there is none.
        """
        path, body = _path(name), _body(definition, horizon)
        return await self._other("PUT", path, read_calendar_report, body, revision=revision)

    async def preview_calendar(self, name: str, definition: object, *, horizon: Duration = HORIZON) -> CalendarReport:
        """What `put_calendar` would change, and changes nothing."""
        return await self._post(f"{_path(name)}/preview", read_calendar_report, _body(definition, horizon))

    async def get_calendar(self, name: str) -> CalendarRecord:
        """A stored calendar by name."""
        if not NAME.fullmatch(str(name)):
            raise no_such_calendar(str(name), [each.name for each in await self.list_calendars()])
        return await self._get(f"/calendars/{segment(name, 'calendar')}", read_calendar_record)

    async def list_calendars(self, *, after: str = "", limit: int | None = None) -> Sequence[CalendarRecord]:
        """The stored calendars by name, all or a page at a time: `after` is the last name of the page before."""
        check_text(after, "after")
        if limit is not None:
            return await self._pages("/calendars", read_calendar_record, limit, after)
        found: list[CalendarRecord] = []
        while page := await self._pages("/calendars", read_calendar_record, _PAGE, after):
            found += page
            after = page[-1].name
        return found

    async def delete_calendar(self, name: str, *, actor: str, revision: int | None = None) -> None:
        """Delete a calendar that no schedule names."""
        await self._other("DELETE", _path(name), lambda _: None, revision=revision)


def _path(name: str) -> str:
    return f"/calendars/{segment(check_calendar_name(name), 'calendar')}"


def _body(definition: object, horizon: Duration) -> dict[str, object]:
    return {"definition": read_calendar(definition).to_json(), "horizon": seconds(horizon, "horizon", minimum=1)}
