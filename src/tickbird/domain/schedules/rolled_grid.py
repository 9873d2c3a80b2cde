"""Ticks that move off closed days: to the next or previous open day, at the same wall-clock time.

A local day is here what lies between two first midnights, so that days never interleave where a clock goes back.
The time that counts is the one that the trigger means: 02:30, also on a day whose clock leapt from 02:00 to 03:00.
Ticks that share an instant after the roll are one tick. Where no open day is near enough, ticks stay and are excluded.
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

# A tick with no open day within so many days is not rolled but skipped.
MAX_DAYS = 31
# The ticks of closed days are looked at one by one.
MAX_PER_DAY = 144
_EPOCH_ORDINAL = 719_163
_KEPT = 64


class RolledGrid(TickGrid):
    """As Ticks, for a definition whose roll is not "skip"."""

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
                if (place := bisect_right(landing, after)) < len(landing):
                    return landing[place]
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
        """The last tick before this instant."""
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
                if place := bisect_left(landing, before):
                    return landing[place - 1]
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
        """How many ticks lie in (after, until], excluded ones included."""
        return sum(segment.count for segment in self.segments(after, until))

    def excludes(self, tick: int) -> bool:
        """Is this instant's day closed, with no open one near enough?"""
        return self._home(self._day_of(tick)) is None

    def segments(self, after: int, until: int) -> Iterator[TickRange]:
        """The ticks of (after, until] in order, a segment for each stretch of days that are treated alike."""
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
        """The last of the days from this one on whose ticks are all run, or all excluded, where they are."""
        while self._start(day + 1) <= until:
            home = self._home(day + 1)
            if (home is None) != far or (home is not None and home != day + 1) or self._is_landing(day + 1, home):
                break
            day += 1
        return day

    def origins(self, tick: int) -> list[int]:
        """The trigger's ticks on closed days that run at this instant."""
        day = self._day_of(tick)
        return [origin for origin, at in self._arrivals(day) if at == tick] if self._home(day) == day else []

    def landings_of(self, tick: int) -> list[int]:
        """Where the trigger's tick at this instant runs: nowhere if no open day is near, at all times that it means."""
        home = self._home(day := self._day_of(tick))
        if home is None:
            return []
        return [tick] if home == day else self._instants_on(tick, home)

    def _seat(self, tick: int) -> int:
        """The day on which the trigger's tick at this instant is found."""
        day = self._day_of(tick)
        home = self._home(day)
        return day if home is None else home

    def _home(self, day: int) -> int | None:
        """The open day on which the ticks of a day run; None where there is none near enough."""
        for away in range(MAX_DAYS + 1):
            if self._is_open(day + away * self._step):
                return day + away * self._step
        return None

    def _is_landing(self, day: int, home: int | None) -> bool:
        """Do ticks of closed days run on this open day?"""
        return home == day and not self._is_open(day - self._step)

    def _landing(self, day: int) -> list[int]:
        """The ticks of an open day that others are rolled to, in order."""
        known = self._landings.get(day)
        if known is None:
            if len(self._landings) >= _KEPT:
                self._landings.clear()
            own = self._own(day)
            known = self._landings[day] = sorted({*own, *(at for _, at in self._arrivals(day))})
        return known

    def _arrivals(self, day: int) -> Iterator[tuple[int, int]]:
        """The trigger's ticks that are rolled to a day, each with where it lands."""
        for away in range(1, MAX_DAYS + 1):
            closed = day - away * self._step
            if self._is_open(closed):
                return
            for tick in self._own(closed):
                for at in self._instants_on(tick, day):
                    yield tick, at

    def _own(self, day: int) -> Iterator[int]:
        """The trigger's ticks on a day."""
        end = self._start(day + 1)
        tick = self._trigger.next_tick(self._start(day) - 1)
        while tick is not None and tick < end:
            yield tick
            tick = self._trigger.next_tick(tick)

    def _instants_on(self, tick: int, day: int) -> list[int]:
        """The instants on a day that have the wall-clock times meant by a tick, in order; never beyond that day."""
        last = self._start(day + 1) - 1
        times = {wall % DAY for wall in self._trigger.walls(tick)}
        return sorted({min(self._local.to_epoch(day * DAY + time), last) for time in times})

    def _is_open(self, day: int) -> bool:
        known = self._open.get(day)
        if known is None:
            if len(self._open) >= 100_000:
                self._open.clear()
            # A day that a change of the date line leaves out is not open either.
            known = self._open[day] = not self._calendar.excludes(day + _EPOCH_ORDINAL) and self._start(
                day
            ) < self._start(day + 1)
        return known

    def _start(self, day: int) -> int:
        return self._local.to_epoch(day * DAY)

    def _day_of(self, at: int) -> int:
        day = self._local.to_wall(at) // DAY
        while self._start(day + 1) <= at:
            day += 1
        return day
