"""Tick diff: ticks of the coming days that a change adds, removes or moves, and busy minutes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from tickbird.domain.forecast.tick_load import MINUTE, count_running_ticks
from tickbird.domain.planning.calendar_impact import runs_on
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, to_datetime
from tickbird.domain.time.zones import zone

HORIZON = 7 * DAY
# Number of ticks listed per kind. The others are only counted.
LISTED = 3
# Maximum number of ticks compared one by one. Further ticks are only counted.
_PER_SCHEDULE = 2_000
_IN_TOTAL = 400_000
# Schedules with more ticks than this within the horizon are ignored in busy minutes: they tick all the time.
_SPARSE = 7 * 48
_CROWD = 10
_CROWDS = 5


@dataclass(frozen=True, slots=True)
class TickChanges:
    """Difference of the ticks that run within the horizon; `complete` is False if some were only counted.

    If a day loses as many ticks as it gains, they count as moved, in order.
    """

    before: int = 0
    after: int = 0
    appear: int = 0
    vanish: int = 0
    moved: int = 0
    complete: bool = True
    # The first ticks of each kind.
    appearing: tuple[datetime, ...] = ()
    vanishing: tuple[datetime, ...] = ()
    moving: tuple[tuple[datetime, datetime], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.appear or self.vanish or self.moved or self.before != self.after or not self.complete)


NO_CHANGES = TickChanges()


@dataclass(frozen=True, slots=True)
class BusyMinute:
    """A minute in which runs of many schedules become due."""

    at: datetime
    schedules: int
    names: tuple[str, ...]


class TickBudget:
    """Number of ticks that may still be compared one by one."""

    def __init__(self, left: int = _IN_TOTAL) -> None:
        self.left = left

    def take(self, wanted: int) -> int:
        """Take at most `wanted` from the budget and return the number taken."""
        taken = min(wanted, self.left)
        self.left -= taken
        return taken


def compare(before: Schedule | None, after: Schedule | None, now: int, budget: TickBudget) -> TickChanges:
    """Compare the ticks that run in (now, now + horizon], before and after a change."""
    old, new = _UpcomingTicks(before, now), _UpcomingTicks(after, now)
    if old.same_grid(new):
        return TickChanges(old.count, new.count)
    compared = budget.take(min(max(old.count, new.count), _PER_SCHEDULE))
    complete = compared >= max(old.count, new.count)
    was, will = list(islice(old.ticks(), compared)), list(islice(new.ticks(), compared))
    if not complete and was and will:
        # Compare only up to the end of the shorter list.
        end = min(was[-1], will[-1])
        was, will = [tick for tick in was if tick <= end], [tick for tick in will if tick <= end]
    gone, come = sorted(set(was) - set(will)), sorted(set(will) - set(was))
    moved = _moves(gone, come, new.tz or old.tz)
    gone = [tick for tick in gone if tick not in moved]
    come = sorted(set(come) - set(moved.values()))
    return TickChanges(
        old.count,
        new.count,
        len(come),
        len(gone),
        len(moved),
        complete,
        tuple(map(to_datetime, come[:LISTED])),
        tuple(map(to_datetime, gone[:LISTED])),
        tuple((to_datetime(tick), to_datetime(moved[tick])) for tick in sorted(moved)[:LISTED]),
    )


def _moves(gone: Sequence[int], come: Sequence[int], tz: str) -> dict[int, int]:
    local = zone(tz)
    days: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, ticks in enumerate((gone, come)):
        for tick in ticks:
            days[local.to_wall(tick) // DAY][side].append(tick)
    equal = (pair for pair in days.values() if len(pair[0]) == len(pair[1]))
    return {old: new for pair in equal for old, new in zip(*pair, strict=True)}


class _UpcomingTicks:
    """The ticks of one schedule within the horizon that will run."""

    def __init__(self, schedule: Schedule | None, now: int) -> None:
        self.definition: Definition | None = None
        self.tz, self.first, self.last, self.left = "", now, now + HORIZON, None
        self.count = 0
        if schedule is None or schedule.definition is None or schedule.state not in ("active", "paused"):
            return
        self.definition, self.tz = schedule.definition, schedule.definition.trigger.tz
        self.first = max(now, schedule.cursor.planned_until or now)
        if schedule.state == "paused":
            until = schedule.pause.until if schedule.pause else None
            # Ticks that are due before the pause ends do not run.
            self.first = self.last if until is None else max(self.first, until - schedule.offset - 1)
        if self.definition.shadow:
            self.first = self.last
        if self.definition.max_runs is not None:
            self.left = max(0, self.definition.max_runs - schedule.cursor.runs_planned)
        self.count = count_running_ticks(self.definition, self.first, self.last)
        if self.left is not None:
            self.count = min(self.count, self.left)

    def ticks(self) -> Iterator[int]:
        if self.definition is None or self.first >= self.last:
            return iter(())
        ticks = runs_on(self.definition, self.first, self.last)
        return ticks if self.left is None else islice(ticks, self.left)

    def same_grid(self, other: _UpcomingTicks) -> bool:
        """Return True if the definitions imply the same ticks. False does not imply a difference."""
        mine, others = self.definition, other.definition
        if mine is None or others is None:
            return mine is others
        bounds = (self.first, self.left) == (other.first, other.left)
        names = ("trigger", "start_at", "end_at", "exclude", "calendars", "closed", "roll")
        return bounds and all(getattr(mine, name) == getattr(others, name) for name in names)


def crowds(schedules: Iterable[Schedule], changed: set[str], now: int, budget: TickBudget) -> tuple[BusyMinute, ...]:
    """Return the busiest minutes that involve a changed schedule, busiest first."""
    minutes: defaultdict[int, list[str]] = defaultdict(list)
    for schedule in schedules:
        coming = _UpcomingTicks(schedule, now)
        if coming.count > _SPARSE or budget.take(coming.count) < coming.count:
            continue
        for minute in {(tick + schedule.offset) // MINUTE for tick in coming.ticks()}:
            minutes[minute].append(schedule.name)
    full = (minute for minute, names in minutes.items() if len(names) >= _CROWD and not changed.isdisjoint(names))
    worst = sorted(full, key=lambda minute: (-len(minutes[minute]), minute))
    # The same schedules coincide every day. Report only the first time.
    seen: Counter[tuple[str, ...]] = Counter()
    busiest: list[BusyMinute] = []
    for minute in worst:
        names = tuple(sorted(minutes[minute]))
        seen[names] += 1
        if seen[names] == 1 and len(busiest) < _CROWDS:
            busiest.append(BusyMinute(to_datetime(minute * MINUTE), len(names), names[:LISTED]))
    return tuple(busiest)
