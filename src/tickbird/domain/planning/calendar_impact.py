"""Impact of a changed calendar on a schedule's upcoming ticks: which move, appear or vanish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.rolled_grid import MAX_DAYS, RolledGrid
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, to_datetime
from tickbird.domain.time.zones import zone

# Limits per schedule, for the listed and for the compared ticks.
MAX_LISTED = 500
MAX_EXAMINED = 200_000
_EPOCH_ORDINAL = 719_163


@dataclass(frozen=True, slots=True)
class CalendarImpact:
    """Ticks that no longer run, that run in addition, and that move from one instant to another."""

    schedule: str
    moved: tuple[tuple[datetime, datetime], ...] = ()
    appear: tuple[datetime, ...] = ()
    vanish: tuple[datetime, ...] = ()
    # Some ticks are not listed.
    more: bool = False
    # How many ticks were compared.
    looked_at: int = field(default=0, compare=False)

    def __bool__(self) -> bool:
        return bool(self.moved or self.appear or self.vanish)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCalendar:
    """A calendar in its stored form: its definition, the days that it closes, and their source."""

    definition: Mapping[str, Any]
    closed: Calendar
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarReport:
    """The impact of a calendar on its schedules; `horizon` is in seconds."""

    name: str
    calendar: ResolvedCalendar | CalendarRecord
    horizon: int
    # The number of its schedules; `effects` has those whose upcoming ticks change.
    schedules: int
    effects: Sequence[CalendarImpact] = ()
    # All schedules were compared.
    complete: bool = True
    # Schedules that could not be updated, with the reason.
    failed: Sequence[tuple[str, str]] = ()

    @property
    def record(self) -> CalendarRecord | None:
        """The stored calendar; None after a preview."""
        return self.calendar if isinstance(self.calendar, CalendarRecord) else None

    @property
    def stored(self) -> bool:
        return self.record is not None

    @property
    def definition(self) -> Mapping[str, Any]:
        return self.calendar.definition

    @property
    def closed(self) -> Calendar:
        """The closed days, as schedules store them."""
        return self.calendar.closed

    @property
    def source(self) -> Mapping[str, Any]:
        """The source of its public holidays."""
        return self.calendar.source


def impact_on_schedule(schedule: Schedule, after: Definition, first: int, last: int) -> CalendarImpact:
    """The impact of a changed definition from the schedule's cursor on; decided ticks do not change."""
    before = schedule.definition
    assert before is not None
    if before.unresolved:
        # The schedule is parked and has no ticks.
        return CalendarImpact(schedule.name)
    first = max(first, schedule.cursor.planned_until or first)
    return calendar_impact(schedule.name, before, after, first, last)


def calendar_impact(schedule: str, before: Definition, after: Definition, first: int, last: int) -> CalendarImpact:
    """Compare the ticks of (first, last] of two definitions that differ only in their closed days."""
    compared, added, removed, more = 0, set[int](), set[int](), False
    for begin, end in _regions(before, after, first, last):
        old_ticks, new_ticks = runs_on(before, begin, end), runs_on(after, begin, end)
        old, new = next(old_ticks, None), next(new_ticks, None)
        while (old is not None or new is not None) and not more:
            compared += 1
            if old == new:
                old, new = next(old_ticks, None), next(new_ticks, None)
            elif new is None or (old is not None and old < new):
                removed.add(old)  # type: ignore[arg-type]
                old = next(old_ticks, None)
            else:
                added.add(new)
                new = next(new_ticks, None)
            more = len(added) + len(removed) >= MAX_LISTED or compared >= MAX_EXAMINED
    moved = _moves(before, after, added, removed)
    return CalendarImpact(
        schedule,
        tuple((to_datetime(old), to_datetime(moved[old])) for old in sorted(moved)),
        tuple(to_datetime(tick) for tick in sorted(added - set(moved.values()))),
        tuple(to_datetime(tick) for tick in sorted(removed - moved.keys())),
        more,
        compared,
    )


def _regions(before: Definition, after: Definition, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of (first, last] in which ticks may differ: around days that only one definition closes."""
    local = zone(before.trigger.tz)
    reach = 0 if before.roll == after.roll == "skip" else MAX_DAYS + 1
    region: tuple[int, int] | None = None
    for day in range(local.to_wall(first) // DAY - reach - 1, local.to_wall(last) // DAY + reach + 2):
        ordinal = day + _EPOCH_ORDINAL
        if before.closed_days.excludes(ordinal) == after.closed_days.excludes(ordinal):
            continue
        begin, end = local.to_epoch((day - reach) * DAY) - 1, local.to_epoch((day + reach + 1) * DAY)
        # If the clock goes back over midnight, the day's last ticks are after the start of the next day.
        begin, end = max(first, begin), min(last, end + 3 * 3_600)
        if begin >= end:
            continue
        if region is not None and begin <= region[1]:
            region = region[0], end
        else:
            if region is not None:
                yield region
            region = begin, end
    if region is not None:
        yield region


def runs_on(definition: Definition, after: int, until: int) -> Iterator[int]:
    """Yield the ticks of (after, until] that are not on a closed day."""
    for segment in definition.grid.segments(after, until):
        tick: int | None = segment.first
        while not segment.excluded and tick is not None and tick <= segment.last:
            yield tick
            tick = definition.grid.next(tick)


def _moves(before: Definition, after: Definition, added: set[int], removed: set[int]) -> dict[int, int]:
    """Pair removed ticks with added ones that come from the same tick of the trigger."""
    moved: dict[int, int] = {}
    for tick in sorted(removed):
        origins = before.grid.origins(tick) if isinstance(before.grid, RolledGrid) else []
        for origin in (tick, *origins) if before.trigger.contains(tick) else origins:
            landings = after.grid.landings_of(origin) if isinstance(after.grid, RolledGrid) else [origin]
            if free := [landing for landing in landings if landing in added and landing not in moved.values()]:
                moved[tick] = free[0]
                break
    return moved
