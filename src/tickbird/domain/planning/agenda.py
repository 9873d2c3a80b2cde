"""What is to come, of many schedules: their ticks of some days in order, and those that tick too often to be listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.upcoming import UpcomingTick, iter_upcoming, overrides_of
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, to_datetime, to_seconds

DAYS: Final = 14
MAX_DAYS: Final = 366
EVENTS: Final = 1_000
MAX_EVENTS: Final = 10_000
# Of more schedules nothing is told.
MAX_SCHEDULES: Final = 10_000
# A schedule with more ticks a day than these, on average, is told of as a whole.
BUSY: Final = 24


@dataclass(frozen=True, slots=True)
class AgendaEntry:
    """A schedule, and how many seconds its last successful run took, if it has one."""

    schedule: Schedule
    took: float | None = None


@dataclass(frozen=True, slots=True)
class Agenda:
    """The ticks due within (start, end], in order; `busy` are schedules with so many of them that none is listed.

    `complete` is false where there are more than were asked for.
    """

    start: datetime
    end: datetime
    ticks: Sequence[tuple[AgendaEntry, UpcomingTick]]
    busy: Sequence[tuple[AgendaEntry, int]]
    complete: bool = True


def agenda(planned: Sequence[AgendaEntry], now: datetime, days: int = DAYS, events: int = EVENTS) -> Agenda:
    """What these schedules are to do within so many days; the work grows with them and with what is told."""
    check_days(days)
    check_events(events)
    start = to_seconds(now)
    end = start + days * DAY
    busy: list[tuple[AgendaEntry, int]] = []
    listed: list[Iterator[tuple[int, str, AgendaEntry, UpcomingTick]]] = []
    for each in planned:
        schedule = each.schedule
        if schedule.definition is None or schedule.state not in ("active", "paused"):
            continue
        number = schedule.grid.count(start, end)
        if schedule.definition.max_runs is not None:
            number = min(number, schedule.definition.max_runs - schedule.cursor.runs_planned)
        if number > BUSY * days:
            busy.append((each, number))
        else:
            listed.append(_due(each, now, start, end))
    room = max(0, events - len(busy))
    # By name where they come at the same instant, which no two schedules share.
    found = [*islice(merge(*listed, key=lambda entry: entry[:2]), room + 1)]
    complete = len(found) <= room and len(busy) <= events
    ticks = sorted(found[:room], key=lambda entry: entry[:2])
    return Agenda(to_datetime(start), to_datetime(end), [entry[2:] for entry in ticks], busy[:events], complete)


def _due(
    planned: AgendaEntry, now: datetime, start: int, end: int
) -> Iterator[tuple[int, str, AgendaEntry, UpcomingTick]]:
    """The ticks of a schedule that are due within (start, end], moved ones where they were moved to."""
    schedule = planned.schedule
    moved_here = (to_seconds(each.scheduled_for) for each in overrides_of(schedule) if to_seconds(each.due_at) <= end)
    last = max([end, *moved_here])
    for tick in iter_upcoming(schedule, now):
        if to_seconds(tick.scheduled_for) > last:
            return
        due = to_seconds(tick.due_at)
        # One that was decided ahead of its time has happened.
        if start < due <= end and tick.skipped != "done":
            yield due, schedule.name, planned, tick


def check_days(days: int) -> int:
    """So far ahead is looked."""
    if not 1 <= days <= MAX_DAYS:
        raise InvalidError(f"days: must be from 1 to {MAX_DAYS}.", field="days")
    return days


def check_events(events: int) -> int:
    """So much is told at once."""
    if not 1 <= events <= MAX_EVENTS:
        raise InvalidError(f"limit: must be from 1 to {MAX_EVENTS}.", field="limit")
    return events
