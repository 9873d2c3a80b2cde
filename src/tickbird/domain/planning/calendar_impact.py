"""What another content of a calendar does to a schedule's coming ticks: which move, appear or vanish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.rolled_grid import MAX_DAYS, RolledGrid
from tickbird.domain.time.instants import DAY, to_datetime
from tickbird.domain.time.zones import zone

# Beyond these, an effect is cut.
MAX_LISTED = 500
MAX_EXAMINED = 200_000
_EPOCH_ORDINAL = 719_163


@dataclass(frozen=True, slots=True)
class CalendarImpact:
    """Ticks that run before and not after, after and not before, and those of them that are the same one, moved."""

    schedule: str
    moved: tuple[tuple[datetime, datetime], ...] = ()
    appear: tuple[datetime, ...] = ()
    vanish: tuple[datetime, ...] = ()
    # More are concerned than are listed.
    more: bool = False
    # How many ticks were compared to find them.
    looked_at: int = field(default=0, compare=False)

    def __bool__(self) -> bool:
        return bool(self.moved or self.appear or self.vanish)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A calendar as it would be stored: its definition, the days that it closes, and where those come from."""

    definition: Mapping[str, Any]
    closed: Calendar
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarReport:
    """What a calendar does, or would do, to the schedules that name it, within a horizon of seconds."""

    name: str
    calendar: Resolved | CalendarRecord
    horizon: int
    # How many schedules name it, and what changes for those whose coming ticks are not the same.
    schedules: int
    effects: Sequence[CalendarImpact] = ()
    # All of them were looked at.
    complete: bool = True
    # Schedules that could not be brought up to it, with the reason.
    failed: Sequence[tuple[str, str]] = ()


def effect(schedule: str, before: Definition, after: Definition, first: int, last: int) -> CalendarImpact:
    """The effect on the ticks of (first, last] of two definitions that differ in their closed days only."""
    seen, new, gone, more = 0, set[int](), set[int](), False
    for begin, end in _regions(before, after, first, last):
        old_ticks, new_ticks = runs_on(before, begin, end), runs_on(after, begin, end)
        one, other = next(old_ticks, None), next(new_ticks, None)
        while (one is not None or other is not None) and not more:
            seen += 1
            if one == other:
                one, other = next(old_ticks, None), next(new_ticks, None)
            elif other is None or (one is not None and one < other):
                gone.add(one)  # type: ignore[arg-type]
                one = next(old_ticks, None)
            else:
                new.add(other)
                other = next(new_ticks, None)
            more = len(new) + len(gone) >= MAX_LISTED or seen >= MAX_EXAMINED
    moved = _moves(before, after, new, gone)
    return CalendarImpact(
        schedule,
        tuple((to_datetime(old), to_datetime(moved[old])) for old in sorted(moved)),
        tuple(to_datetime(tick) for tick in sorted(new - set(moved.values()))),
        tuple(to_datetime(tick) for tick in sorted(gone - moved.keys())),
        more,
        seen,
    )


def _regions(before: Definition, after: Definition, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The stretches of (first, last] in which ticks may differ: around days that are closed in one of them only."""
    local = zone(before.trigger.tz)
    reach = 0 if before.roll == after.roll == "skip" else MAX_DAYS + 1
    region: tuple[int, int] | None = None
    for day in range(local.to_wall(first) // DAY - reach - 1, local.to_wall(last) // DAY + reach + 2):
        ordinal = day + _EPOCH_ORDINAL
        if before.closed_days.excludes(ordinal) == after.closed_days.excludes(ordinal):
            continue
        begin, end = local.to_epoch((day - reach) * DAY) - 1, local.to_epoch((day + reach + 1) * DAY)
        # Where the clock goes back over midnight, the day's last ticks lie in the next one.
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
    """The ticks of (after, until] that no closed day keeps from running."""
    for segment in definition.grid.segments(after, until):
        tick: int | None = segment.first
        while not segment.excluded and tick is not None and tick <= segment.last:
            yield tick
            tick = definition.grid.next(tick)


def _moves(before: Definition, after: Definition, new: set[int], gone: set[int]) -> dict[int, int]:
    """Which of the ticks that vanish appear elsewhere; each is taken once."""
    moved: dict[int, int] = {}
    for tick in sorted(gone):
        origins = before.grid.origins(tick) if isinstance(before.grid, RolledGrid) else []
        for origin in (tick, *origins) if before.trigger.contains(tick) else origins:
            places = after.grid.landings_of(origin) if isinstance(after.grid, RolledGrid) else [origin]
            if free := [place for place in places if place in new and place not in moved.values()]:
                moved[tick] = free[0]
                break
    return moved
