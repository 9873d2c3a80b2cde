"""The ticks of one definition: its trigger within its window, and the days that its calendars exclude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.time.zone_data import zone_info

if TYPE_CHECKING:
    from tickbird.domain.schedules.definition import Definition


@dataclass(frozen=True, slots=True)
class TickRange:
    """Consecutive ticks, all excluded by the calendar or none."""

    first: int
    last: int
    count: int
    excluded: bool = False


class TickGrid:
    """Instants are whole seconds since the epoch; ranges are (after, until]."""

    __slots__ = ("_calendar", "_first", "_last", "_last_next", "_trigger", "_zone")

    def __init__(self, definition: Definition) -> None:
        self._trigger = definition.trigger
        self._calendar = definition.closed_days
        self._first = to_seconds(definition.start_at) if definition.start_at else None
        self._last = to_seconds(definition.end_at) if definition.end_at else None
        self._zone = zone_info(definition.trigger.tz) if self._calendar else None
        # The last argument and result of `next`, because a planner asks twice for the tick after a decided one.
        self._last_next: tuple[int | None, int | None] = (None, None)

    def next(self, after: int) -> int | None:
        """Return the first tick after this instant."""
        last_after, tick = self._last_next
        if last_after != after:
            tick = self._next(after)
            self._last_next = after, tick
        return tick

    def _next(self, after: int) -> int | None:
        checkpoint()
        if self._first is not None and after < self._first:
            after = self._first - 1
        tick = self._trigger.next_tick(after)
        return tick if tick is None or self._last is None or tick <= self._last else None

    def previous(self, before: int) -> int | None:
        """Return the last tick before this instant."""
        if self._last is not None and before > self._last:
            before = self._last + 1
        tick = self._trigger.previous_tick(before)
        return tick if tick is None or self._first is None or tick >= self._first else None

    def contains(self, tick: int) -> bool:
        """Return whether the instant is a tick, excluded or not."""
        return self.next(tick - 1) == tick

    def count(self, after: int, until: int) -> int:
        """Count the ticks in (after, until], excluded ones included."""
        checkpoint()
        if self._first is not None:
            after = max(after, self._first - 1)
        if self._last is not None:
            until = min(until, self._last)
        return self._trigger.count(after, until) if until > after else 0

    def walk(self, after: int, until: int) -> Iterator[int]:
        """Yield the ticks of (after, until] one by one, excluded ones included."""
        tick = self.next(after)
        while tick is not None and tick <= until:
            yield tick
            tick = self.next(tick)

    def excludes(self, tick: int) -> bool:
        """Return whether a calendar excludes the day of this instant."""
        return self._zone is not None and self._calendar.excludes(self._day(tick))

    def range(self, after: int, until: int, *, excluded: bool = False) -> TickRange | None:
        """Return the ticks of (after, until] as one segment, without regard to the calendar."""
        count = self.count(after, until)
        first, last = self.next(after), self.previous(until + 1)
        if not count or first is None or last is None:
            return None
        return TickRange(first, last, count, excluded)

    def segments(self, after: int, until: int) -> Iterator[TickRange]:
        """Yield the ticks of (after, until] in order, split at the borders of excluded days."""
        tick = self.next(after)
        while tick is not None and tick <= until:
            excluded = self.excludes(tick)
            end, following = self._equal_days(tick, until, excluded)
            if segment := self.range(tick - 1, end, excluded=excluded):
                yield segment
            tick = following

    def _equal_days(self, tick: int, until: int, excluded: bool) -> tuple[int, int | None]:
        """Return the end of the range of equally treated days from this tick, and the first tick after it."""
        if self._zone is None:
            return until, None
        while True:
            # If midnight is repeated, the first end of a day can lie before its later ticks.
            end = min(max(self._day_end(self._day(tick)), tick), until)
            following = self.next(end)
            if following is None or following > until or self.excludes(following) != excluded:
                return end, following
            tick = following

    def _day(self, tick: int) -> int:
        return to_datetime(tick).astimezone(self._zone).toordinal()

    def _day_end(self, ordinal: int) -> int:
        return to_seconds(datetime.fromordinal(ordinal + 1).replace(tzinfo=self._zone)) - 1
