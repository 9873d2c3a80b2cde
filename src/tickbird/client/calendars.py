"""Stored calendars."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.cpu_threads import compute
from tickbird.domain.calendars.definition import (
    YEARS_AHEAD,
    YEARS_BACK,
    CalendarRecord,
    calendar_schema,
    check_calendar_name,
    no_such_calendar,
    read_calendar,
)
from tickbird.domain.errors import DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.calendar_impact import (
    CalendarImpact,
    CalendarReport,
    ResolvedCalendar,
    impact_on_schedule,
)
from tickbird.domain.planning.commands.define import RefreshCalendar
from tickbird.domain.text import check_new_name
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.instants import to_seconds
from tickbird.public_holidays import find_holidays
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

HORIZON: Final = 366 * 86_400
MAX_HORIZON: Final = 5 * HORIZON
# The maximum number of compared ticks of all schedules together.
MAX_EXAMINED: Final = 400_000
# The domain validates it, with better errors than a schema.
Definition = Annotated[Mapping[str, Any], Meta(schema=calendar_schema())]
_SECONDS = {"type": "integer", "minimum": 1, "maximum": MAX_HORIZON}
Horizon = Annotated[
    Duration | None,
    Meta(
        schema={"anyOf": [_SECONDS, {"type": "string", "format": "length-of-time"}, {"type": "null"}]},
        description="How far ahead ticks are compared: seconds, or a text such as 90d; at most five years.",
    ),
]
CalendarName = Annotated[str, Meta(parse=check_calendar_name)]


class Calendars(ClientBase):
    """Stored calendars."""

    @viewer.get("list_calendars", "/calendars", "List calendars", page=lambda calendar: calendar.name)
    async def list(self, *, after: str = "", limit: int | None = None) -> Sequence[CalendarRecord]:
        """List the stored calendars of a namespace by name, without the built-in ones."""
        return await self._store.calendars.list(self._namespace, after=after, limit=limit)

    @viewer.get("get_calendar", "/calendars/{name}", "Get a calendar", etag=lambda calendar: calendar.revision)
    async def get(self, name: str) -> CalendarRecord:
        """Get a calendar by name; the header ETag has its revision, for If-Match."""
        for record in await self._store.calendars.list(self._namespace, name=name):
            return record
        raise no_such_calendar(name, (record.name for record in await self._store.calendars.list(self._namespace)))

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

        With `revision`, only if that is the current one; with 0, only if the calendar does not exist.
        """
        report = await self.preview(name, definition, horizon=horizon)
        calendar = report.calendar
        if report.failed:
            schedule_name, reason = report.failed[0]
            raise DefinitionError(
                f"calendar: schedule {schedule_name!r} cannot use it: {reason}",
                field="calendar",
                hint="Change the schedule first.",
            )
        record = await self._store.calendars.put(
            self._namespace, name, calendar.definition, calendar.closed, calendar.source, actor, revision=revision
        )
        failed = []
        command = RefreshCalendar(actor=actor, calendar=name)
        # One transaction per schedule: a schedule that fails does not stop the others.
        async for schedule in self._schedules_with_calendar(name):
            try:
                await self._store.schedules.change(self._namespace, schedule.name, command)
            except NotFoundError:
                continue
            except InvalidError as error:
                failed.append((schedule.name, str(error)))
        return replace(report, calendar=record, failed=failed)

    @viewer.post("preview_calendar", "/calendars/{name}/preview", "Preview a calendar")
    async def preview(
        self, name: CalendarName, definition: Definition, *, horizon: Horizon = HORIZON
    ) -> CalendarReport:
        """List the ticks that would move, appear or vanish if the calendar were stored; this stores nothing."""
        check_new_name(name, "calendar")
        reach = seconds(HORIZON if horizon is None else horizon, "horizon", minimum=1)
        if reach > MAX_HORIZON:
            raise InvalidError(
                "horizon must be at most five years.", field="horizon", hint="Choose a shorter duration."
            )
        calendar = await self._resolve(definition)
        now = to_seconds(await self._store.now())
        count, examined = 0, 0
        effects: list[CalendarImpact] = []
        failed = []
        async for schedule in self._schedules_with_calendar(name):
            count += 1
            if schedule.definition is None:
                continue
            try:
                after = replace(schedule.definition, closed={**schedule.definition.closed, name: calendar.closed})
                if examined >= MAX_EXAMINED:
                    continue
                impact = await compute(impact_on_schedule, schedule, after, now, now + reach)
            except InvalidError as error:
                failed.append((schedule.name, str(error)))
            else:
                examined += impact.looked_at
                effects += [impact] if impact else []
        return CalendarReport(
            name=name,
            calendar=calendar,
            horizon=reach,
            schedules=count,
            effects=effects,
            complete=examined < MAX_EXAMINED,
            failed=failed,
        )

    async def _resolve(self, definition: object) -> ResolvedCalendar:
        rules = await asyncio.to_thread(read_calendar, definition)
        if rules.holidays is None:
            return ResolvedCalendar(definition=rules.to_json(), closed=rules.closed(), source={})
        year = (await self._store.now()).year
        first, last = rules.holidays.years or (year - YEARS_BACK, year + YEARS_AHEAD)
        holidays = await asyncio.to_thread(find_holidays, rules.holidays, first, last)
        source = {
            "library": holidays.library,
            "years": [first, last],
            "names": {day.isoformat(): holidays.names[day] for day in sorted(holidays.names)},
        }
        return ResolvedCalendar(definition=rules.to_json(), closed=rules.closed(holidays.names), source=source)

    @editor.delete("delete_calendar", "/calendars/{name}", "Delete a calendar", status=204, audit="delete_calendar")
    async def delete(self, name: CalendarName, *, actor: str, revision: int | None = None) -> None:
        """Delete a calendar; 409 if a schedule names it."""
        await self._store.calendars.delete(self._namespace, name, actor, revision=revision)
