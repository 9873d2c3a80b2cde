"""What the client's verbs about calendars do: resolve a definition, tell its effects, and bring schedules up to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from tickbird.client.public_holidays import find_holidays
from tickbird.cpu_threads import compute
from tickbird.domain.calendars.definition import (
    YEARS_AHEAD,
    YEARS_BACK,
    CalendarRecord,
    check_calendar_name,
    no_such_calendar,
    read_calendar,
)
from tickbird.domain.errors import DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport, ResolvedCalendar, calendar_impact
from tickbird.domain.planning.commands.define import RefreshCalendar
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import check_new_name, check_storable, check_text
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.instants import to_seconds
from tickbird.store.protocol.store import Store

HORIZON = 366 * 86_400
MAX_HORIZON = 5 * HORIZON
# So many ticks of all schedules together are compared; what is behind them is not told.
MAX_EXAMINED = 400_000
_PAGE = 200


class CalendarService:
    """The calendars of one namespace."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    async def put(
        self, name: str, definition: object, *, actor: str, horizon: Duration = HORIZON, revision: int | None = None
    ) -> CalendarReport:
        """Store it, then bring each schedule that names it up to it, in a transaction of its own."""
        check_text(actor, "actor", minimum=1, maximum=200)
        preview = await self.preview(name, definition, horizon=horizon)
        made = preview.calendar
        if preview.failed:
            refused, reason = preview.failed[0]
            raise DefinitionError(f"calendar: schedule {refused!r} cannot have it: {reason}", field="calendar")
        record = await self._store.calendars.put(
            self._namespace, name, made.definition, made.closed, made.source, actor, revision=revision
        )
        failed = []
        async for schedule in self._naming(name):
            try:
                command = RefreshCalendar(actor=actor, calendar=name)
                await self._store.schedules.change(self._namespace, schedule.name, command)
            except NotFoundError:
                continue
            except InvalidError as error:
                failed.append((schedule.name, str(error)))
        return replace(preview, calendar=record, failed=failed)

    async def preview(self, name: str, definition: object, *, horizon: Duration = HORIZON) -> CalendarReport:
        """What putting it would do to the ticks of each schedule that names it."""
        check_calendar_name(check_new_name(name, "calendar"))
        reach = seconds(horizon, "horizon", minimum=1)
        if reach > MAX_HORIZON:
            raise InvalidError("horizon: must be at most five years.", field="horizon")
        resolved = await self.resolve(definition)
        now = to_seconds(await self._store.now())
        known, effects, failed, left = 0, [], [], MAX_EXAMINED
        async for schedule in self._naming(name):
            known += 1
            if schedule.definition is None:
                continue
            try:
                after = replace(schedule.definition, closed={**schedule.definition.closed, name: resolved.closed})
                if left <= 0:
                    continue
                found = await compute(_effect, schedule, after, now, now + reach)
            except InvalidError as error:
                failed.append((schedule.name, str(error)))
            else:
                left -= found.looked_at
                effects += [found] if found else []
        return CalendarReport(
            name=name,
            calendar=resolved,
            horizon=reach,
            schedules=known,
            effects=effects,
            complete=left > 0,
            failed=failed,
        )

    async def resolve(self, definition: object) -> ResolvedCalendar:
        """The days that a definition closes; public holidays of a stated span of years."""
        read = await asyncio.to_thread(read_calendar, definition)
        if read.holidays is None:
            return ResolvedCalendar(definition=read.to_json(), closed=read.closed(), source={})
        year = (await self._store.now()).year
        first, last = read.holidays.years or (year - YEARS_BACK, year + YEARS_AHEAD)
        found = await asyncio.to_thread(find_holidays, read.holidays, first, last)
        source = {
            "library": found.library,
            "years": [first, last],
            "names": {day.isoformat(): found.names[day] for day in sorted(found.names)},
        }
        return ResolvedCalendar(definition=read.to_json(), closed=read.closed(found.names), source=source)

    async def get(self, name: str) -> CalendarRecord:
        """A calendar by name."""
        for record in await self._store.calendars.list(self._namespace, name=check_storable(name, "calendar")):
            return record
        raise no_such_calendar(name, (each.name for each in await self._store.calendars.list(self._namespace)))

    async def delete(self, name: str, *, actor: str, revision: int | None = None) -> None:
        """Delete one that no schedule names."""
        check_text(actor, "actor", minimum=1, maximum=200)
        await self._store.calendars.delete(self._namespace, check_calendar_name(name), actor, revision=revision)

    async def _naming(self, name: str) -> AsyncIterator[Schedule]:
        after = ""
        while page := await self._store.calendars.list_schedules(self._namespace, name, after=after, limit=_PAGE):
            for schedule in page:
                yield schedule
            after = page[-1].name


def _effect(schedule: Schedule, after: Definition, first: int, last: int) -> CalendarImpact:
    """From where the schedule is decided on: what is behind that is not changed by any calendar."""
    before = schedule.definition
    assert before is not None
    if before.unresolved:
        # It is parked for that, and has no ticks.
        return CalendarImpact(schedule.name)
    first = max(first, schedule.cursor.planned_until or first)
    return calendar_impact(schedule.name, before, after, first, last)
