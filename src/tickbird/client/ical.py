"""What is to come as a calendar for calendar programs, read through any client: on a store or over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tickbird.cpu_threads import compute
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.ical import ical
from tickbird.domain.planning.agenda import (
    BUSY,
    DAYS,
    EVENTS,
    MAX_SCHEDULES,
    AgendaEntry,
    agenda,
    check_days,
    check_events,
)
from tickbird.domain.runs.run import RunRecord
from tickbird.version import VERSION

if TYPE_CHECKING:
    from tickbird.client import Client

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Written:
    """A calendar's text, how many events it has, and what it leaves out."""

    text: str
    events: int
    remarks: Sequence[str]


async def write_ical(
    client: Client,
    *,
    days: int = DAYS,
    limit: int = EVENTS,
    schedule: str | None = None,
    tag: str | None = None,
    contains: str = "",
) -> Written:
    """The ticks of the next days: of one schedule, or of those with a tag and with a text in their name."""
    check_days(days)
    check_events(limit)
    remarks: list[str] = []
    if schedule is not None:
        if tag is not None or contains:
            raise InvalidError("schedule: goes with neither tag nor contains.", field="schedule")
        found = await client.schedules.get(schedule)
        last = await client.runs.list(schedule=schedule, status="succeeded", limit=1)
        planned = [AgendaEntry(found, _took(last[0] if last else None))]
    else:
        planned = await _planned(client, tag, contains, remarks)
    now = await client.system.now()
    return await compute(_write, planned, now, days, limit, remarks)


async def _planned(client: Client, tag: str | None, contains: str, remarks: list[str]) -> list[AgendaEntry]:
    planned: list[AgendaEntry] = []
    after = ""
    while rows := await client.schedules.list(contains=contains, tag=tag, after=after, limit=_PAGE):
        planned += [AgendaEntry(row.schedule, _took(row.last_run)) for row in rows]
        after = rows[-1].schedule.name
        if len(rows) < _PAGE:
            break
        if len(planned) >= MAX_SCHEDULES:
            remarks.append(f"Only the first {MAX_SCHEDULES:,} schedules by name are in here; choose by tag or name.")
            break
    return planned


def _took(run: RunRecord | None) -> float | None:
    """How long a run took that came to a good end."""
    if run is None or run.status != "succeeded" or run.started_at is None or run.finished_at is None:
        return None
    return (run.finished_at - run.started_at).total_seconds()


def _write(planned: Sequence[AgendaEntry], now: datetime, days: int, limit: int, remarks: Sequence[str]) -> Written:
    found = agenda(planned, now, days, limit)
    said = [*remarks]
    if not found.complete:
        said.append(f"There is more than these {limit:,} events; ask for fewer days, or for fewer schedules.")
    if found.busy:
        many = f"{len(found.busy):,} {'schedules tick' if len(found.busy) > 1 else 'schedule ticks'}"
        said.append(f"{many} more than {BUSY} times a day: one event stands for all of it.")
    return Written(ical(found, said, version=VERSION), len(found.ticks) + len(found.busy), said)
