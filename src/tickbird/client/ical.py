"""Upcoming ticks as a file for calendar programs, read through any client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tickbird.cpu_threads import compute
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.ical import CalendarFile, calendar_file, run_seconds
from tickbird.domain.planning.agenda import DAYS, EVENTS, MAX_SCHEDULES, AgendaEntry, check_days, check_events
from tickbird.version import VERSION

if TYPE_CHECKING:
    from tickbird.client import Client

_PAGE = 1_000


async def write_ical(
    client: Client,
    *,
    days: int = DAYS,
    limit: int = EVENTS,
    schedule: str | None = None,
    tag: str | None = None,
    contains: str = "",
) -> CalendarFile:
    """The ticks of the next days of one schedule, or of the schedules that match `tag` and `contains`."""
    check_days(days)
    check_events(limit)
    remarks: list[str] = []
    if schedule is not None:
        if tag is not None or contains:
            raise InvalidError(
                "schedule cannot be combined with tag or contains.",
                field="schedule",
                hint="Give the name, or the filters.",
            )
        row = await client.schedules.get(schedule)
        last = await client.runs.list(schedule=schedule, status="succeeded", limit=1)
        entries = [AgendaEntry(row, run_seconds(last[0] if last else None))]
    else:
        entries = await _matching(client, tag, contains, remarks)
    return await compute(calendar_file, entries, await client.system.now(), days, limit, remarks, VERSION)


async def _matching(client: Client, tag: str | None, contains: str, remarks: list[str]) -> list[AgendaEntry]:
    entries: list[AgendaEntry] = []
    after = ""
    while rows := await client.schedules.list(contains=contains, tag=tag, after=after, limit=_PAGE):
        entries += [AgendaEntry(row.schedule, run_seconds(row.last_run)) for row in rows]
        after = rows[-1].schedule.name
        if len(rows) < _PAGE:
            break
        if len(entries) >= MAX_SCHEDULES:
            remarks.append(f"Only the first {MAX_SCHEDULES:,} schedules by name are included. Filter by tag or name.")
            break
    return entries
