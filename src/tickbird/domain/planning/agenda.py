"""Agenda: coming ticks of many schedules in order; frequent schedules are listed as a whole."""

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
# Further schedules are left out.
MAX_SCHEDULES: Final = 10_000
# A schedule with more ticks a day on average is listed as a whole.
BUSY: Final = 24


@dataclass(frozen=True, slots=True)
class AgendaEntry:
    """A schedule, and the seconds of its last successful run; None if there is none."""

    schedule: Schedule
    took: float | None = None


@dataclass(frozen=True, slots=True)
class Agenda:
    """The ticks due within (start, end], in order; `busy` has the schedules with too many ticks to list.

    `complete` is false if some entries were left out.
    """

    start: datetime
    end: datetime
    ticks: Sequence[tuple[AgendaEntry, UpcomingTick]]
    busy: Sequence[tuple[AgendaEntry, int]]
    complete: bool = True


def agenda(planned: Sequence[AgendaEntry], now: datetime, days: int = DAYS, events: int = EVENTS) -> Agenda:
    """Return the agenda of these schedules; the cost grows with the schedules and the listed ticks."""
    check_days(days)
    check_events(events)
    start = to_seconds(now)
    end = start + days * DAY
    busy: list[tuple[AgendaEntry, int]] = []
    listed: list[Iterator[tuple[int, str, AgendaEntry, UpcomingTick]]] = []
    for entry in planned:
        schedule = entry.schedule
        if schedule.definition is None or schedule.state not in ("active", "paused"):
            continue
        number = schedule.grid.count(start, end)
        if schedule.definition.max_runs is not None:
            number = min(number, schedule.definition.max_runs - schedule.cursor.runs_planned)
        if number > BUSY * days:
            busy.append((entry, number))
        else:
            listed.append(_due(entry, now, start, end))
    room = max(0, events - len(busy))
    # Sort by name at the same instant, because names are unique.
    entries = [*islice(merge(*listed, key=lambda item: item[:2]), room + 1)]
    complete = len(entries) <= room and len(busy) <= events
    ticks = sorted(entries[:room], key=lambda entry: entry[:2])
    return Agenda(to_datetime(start), to_datetime(end), [entry[2:] for entry in ticks], busy[:events], complete)


def _due(
    planned: AgendaEntry, now: datetime, start: int, end: int
) -> Iterator[tuple[int, str, AgendaEntry, UpcomingTick]]:
    """Yield the ticks of a schedule that are due within (start, end]; moved ticks at their new instant."""
    schedule = planned.schedule
    overrides = overrides_of(schedule)
    moved_here = (to_seconds(item.scheduled_for) for item in overrides if to_seconds(item.due_at) <= end)
    last = max([end, *moved_here])
    for tick in iter_upcoming(schedule, now):
        if to_seconds(tick.scheduled_for) > last:
            return
        due = to_seconds(tick.due_at)
        # A tick that was decided early is in the past.
        if start < due <= end and tick.skipped != "done":
            yield due, schedule.name, planned, tick


def check_days(days: int) -> int:
    if not 1 <= days <= MAX_DAYS:
        raise InvalidError(f"days must be from 1 to {MAX_DAYS}.", field="days")
    return days


def check_events(events: int) -> int:
    if not 1 <= events <= MAX_EVENTS:
        raise InvalidError(f"limit must be from 1 to {MAX_EVENTS}.", field="limit")
    return events
