"""Ticks that move off closed days: to the next or previous open day, at the same wall-clock time.

A local day lies between two first midnights, so that days never interleave where a clock goes back. The wall-clock time
is the one that the trigger means: 02:30, even on a day whose clock leaps from 02:00 to 03:00. Ticks with the same
instant after the roll are one tick. If no open day is near enough, ticks keep their day and are excluded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tickbird.domain.schedules.grid import TickGrid, TickRange
from tickbird.domain.time.instants import DAY
from tickbird.domain.time.zones import zone

if TYPE_CHECKING:
    from tickbird.domain.schedules.definition import Definition

# A tick without an open day within this many days is skipped instead of rolled.
MAX_DAYS = 31
# The ticks of closed days are examined one by one.
MAX_PER_DAY = 144
_EPOCH_ORDINAL = 719_163
_MAX_CACHED = 64


class RolledGrid(TickGrid):
    """A TickGrid for a definition whose roll is not "skip"."""

    __slots__ = ("_landings", "_local", "_open", "_step")

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self._local = zone(definition.trigger.tz)
        self._step = 1 if definition.roll == "next" else -1
        self._open: dict[int, bool] = {}
        self._landings: dict[int, list[int]] = {}

    def _next(self, after: int) -> int | None:
        if self._first is not None and after < self._first:
            after = self._first - 1
        tick = self._rolled_next(after)
        return tick if tick is None or self._last is None or tick <= self._last else None

    def _rolled_next(self, after: int) -> int | None:
        day = self._day_of(after + 1)
        while True:
            home = self._home(day)
            if self._is_landing(day, home):
                landing = self._landing(day)
                if (index := bisect_right(landing, after)) < len(landing):
                    return landing[index]
            elif home is None or home == day:
                tick = self._trigger.next_tick(after)
                if tick is None or self._day_of(tick) == day:
                    return tick
                day = self._seat(tick)
                continue
            elif home > day:
                day = home
                continue
            day += 1
            after = max(after, self._start(day) - 1)

    def previous(self, before: int) -> int | None:
        if self._last is not None and before > self._last:
            before = self._last + 1
        tick = self._rolled_previous(before)
        return tick if tick is None or self._first is None or tick >= self._first else None

    def _rolled_previous(self, before: int) -> int | None:
        day = self._day_of(before - 1)
        while True:
            home = self._home(day)
            if self._is_landing(day, home):
                landing = self._landing(day)
                if index := bisect_left(landing, before):
                    return landing[index - 1]
            elif home is None or home == day:
                tick = self._trigger.previous_tick(before)
                if tick is None or self._day_of(tick) == day:
                    return tick
                day = self._seat(tick)
                continue
            elif home < day:
                day = home
                continue
            before = min(before, self._start(day))
            day -= 1

    def count(self, after: int, until: int) -> int:
        return sum(segment.count for segment in self.segments(after, until))

    def excludes(self, tick: int) -> bool:
        """Return whether the day is closed and has no open day near enough."""
        return self._home(self._day_of(tick)) is None

    def segments(self, after: int, until: int) -> Iterator[TickRange]:
        """Yield the ticks of (after, until] in order, one segment per range of days with the same treatment."""
        if self._first is not None:
            after = max(after, self._first - 1)
        if self._last is not None:
            until = min(until, self._last)
        day = self._day_of(after + 1)
        while after < until:
            home = self._home(day)
            if self._is_landing(day, home):
                landing = self._landing(day)
                landed = landing[bisect_right(landing, after) : bisect_right(landing, until)]
                if landed:
                    yield TickRange(landed[0], landed[-1], len(landed))
            elif home is None or home == day:
                day = self._last_alike(day, until, far=home is None)
                end = min(until, self._start(day + 1) - 1)
                if (count := self._trigger.count(after, end)) and (segment := self._bare(after, end, count)):
                    yield TickRange(*segment, count, home is None)
            day += 1
            after = max(after, self._start(day) - 1)

    def _bare(self, after: int, until: int, count: int) -> tuple[int, int] | None:
        first, last = self._trigger.next_tick(after), self._trigger.previous_tick(until + 1)
        return None if not count or first is None or last is None else (first, last)

    def _last_alike(self, day: int, until: int, *, far: bool) -> int:
        """Return the last day of the range whose ticks all stay, either run or excluded."""
        while self._start(day + 1) <= until:
            home = self._home(day + 1)
            if (home is None) != far or (home is not None and home != day + 1) or self._is_landing(day + 1, home):
                break
            day += 1
        return day

    def origins(self, tick: int) -> list[int]:
        """Return the trigger's ticks on closed days that were rolled to this instant."""
        day = self._day_of(tick)
        return [origin for origin, at in self._arrivals(day) if at == tick] if self._home(day) == day else []

    def landings_of(self, tick: int) -> list[int]:
        """Return the instants to which a tick of the trigger is rolled; empty if no open day is near."""
        home = self._home(day := self._day_of(tick))
        if home is None:
            return []
        return [tick] if home == day else self._instants_on(tick, home)

    def _seat(self, tick: int) -> int:
        """Return the day on which the trigger's tick at this instant runs."""
        day = self._day_of(tick)
        home = self._home(day)
        return day if home is None else home

    def _home(self, day: int) -> int | None:
        """Return the open day on which the ticks of a day run; None if none is near enough."""
        for away in range(MAX_DAYS + 1):
            if self._is_open(day + away * self._step):
                return day + away * self._step
        return None

    def _is_landing(self, day: int, home: int | None) -> bool:
        """Return whether ticks of closed days are rolled to this open day."""
        return home == day and not self._is_open(day - self._step)

    def _landing(self, day: int) -> list[int]:
        """Return all ticks of an open day to which others are rolled, in order."""
        ticks = self._landings.get(day)
        if ticks is None:
            if len(self._landings) >= _MAX_CACHED:
                self._landings.clear()
            own = self._own(day)
            ticks = self._landings[day] = sorted({*own, *(at for _, at in self._arrivals(day))})
        return ticks

    def _arrivals(self, day: int) -> Iterator[tuple[int, int]]:
        """Yield (tick, new instant) for the trigger's ticks that are rolled to a day."""
        for away in range(1, MAX_DAYS + 1):
            closed = day - away * self._step
            if self._is_open(closed):
                return
            for tick in self._own(closed):
                for at in self._instants_on(tick, day):
                    yield tick, at

    def _own(self, day: int) -> Iterator[int]:
        """Yield the trigger's ticks on a day."""
        end = self._start(day + 1)
        tick = self._trigger.next_tick(self._start(day) - 1)
        while tick is not None and tick < end:
            yield tick
            tick = self._trigger.next_tick(tick)

    def _instants_on(self, tick: int, day: int) -> list[int]:
        """Return the instants on a day with the wall-clock times of a tick, in order, never beyond that day."""
        last = self._start(day + 1) - 1
        times = {wall % DAY for wall in self._trigger.walls(tick)}
        return sorted({min(self._local.to_epoch(day * DAY + time), last) for time in times})

    def _is_open(self, day: int) -> bool:
        is_open = self._open.get(day)
        if is_open is None:
            if len(self._open) >= 100_000:
                self._open.clear()
            # A day that a change of the date line skips is not open either.
            is_open = self._open[day] = not self._calendar.excludes(day + _EPOCH_ORDINAL) and self._start(
                day
            ) < self._start(day + 1)
        return is_open

    def _start(self, day: int) -> int:
        return self._local.to_epoch(day * DAY)

    def _day_of(self, at: int) -> int:
        day = self._local.to_wall(at) // DAY
        while self._start(day + 1) <= at:
            day += 1
        return day
