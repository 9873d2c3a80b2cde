"""The due ticks of a schedule, in ranges with the same fate."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Literal, NamedTuple

from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.dependencies import DependencyCheck
from tickbird.domain.schedules.grid import TickRange
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride

TickFate = Literal["operator", "rescheduled", "misfire", "dependency", "late", "on_time", "done"]
_BY_LATENESS: tuple[TickFate, ...] = ("misfire", "late", "on_time")


class DueRange(NamedTuple):
    """Ticks with the same fate, and the override that causes it."""

    fate: TickFate
    segment: TickRange
    override: TickOverride | None = None


class DueTicks:
    def __init__(
        self, schedule: Schedule, pending: PendingTicks, dependencies: DependencyCheck | None, now: float
    ) -> None:
        assert schedule.definition is not None
        self._schedule = schedule
        self._policy = schedule.definition
        self._grid = schedule.grid
        self._pending = pending
        self._dependencies = dependencies
        self._now = now

    def ranges(self) -> list[DueRange]:
        """Return all due ticks in order, split where their fate changes."""
        ranges = self._by_lateness()
        if self._dependencies is None:
            return ranges
        return [part for due in ranges for part in self._split_by_dependencies(due, self._dependencies)]

    def _by_lateness(self) -> list[DueRange]:
        offset = self._schedule.offset
        until, after = self._pending.decidable_until(floor(self._now) - offset), self._pending.decided
        ranges: list[DueRange] = []
        for override in self._pending.overrides:
            if not after < override.tick <= until:
                continue
            ranges += self._without_override(after, override.tick - 1)
            lateness = (other.fate for other in reversed(ranges) if other.fate in _BY_LATENESS)
            at_least: TickFate = next(lateness, "misfire")
            ranges.append(self._overridden(override, at_least))
            after = override.tick
            if override.due_at is not None:
                ranges += self._cut("rescheduled", after, override.due_at - offset, override)
                after = max(after, override.due_at - offset)
        return [*ranges, *self._without_override(after, until)]

    def _without_override(self, after: int, until: int) -> Iterator[DueRange]:
        """Yield the ticks of (after, until], which have no override."""
        skip_until = self._schedule.cursor.skip_until
        if skip_until is not None and skip_until > after:
            yield from self._cut("operator", after, min(skip_until, until))
            after = max(after, min(skip_until, until))
        for fate, end in zip(_BY_LATENESS, self._bounds(), strict=True):
            if (end := min(end, until)) > after:
                yield from self._cut(fate, after, end)
                after = end

    def _overridden(self, override: TickOverride, at_least: TickFate) -> DueRange:
        """Return the range of a tick with an override; it is at most as late as the ticks before it."""
        tick, due_at = override.tick, override.due_at
        if override.skip:
            return DueRange("operator", TickRange(tick, tick, 1), override)
        moved_to = tick if due_at is None else due_at - self._schedule.offset
        fates = (fate for fate, end in zip(_BY_LATENESS, self._bounds(), strict=True) if moved_to <= end)
        fate: TickFate = next(fates, "on_time")
        fate = max(fate, at_least, key=_BY_LATENESS.index)
        # An operator may move a tick to a closed day.
        excluded = due_at is None and self._grid.excludes(tick)
        return DueRange(fate, TickRange(tick, tick, 1, excluded), override)

    def _bounds(self) -> tuple[int, int, int]:
        """Return the last instants whose ticks have misfired, are late, and are due."""
        late = self._due_before(self._policy.grace)
        return self._due_before(self._policy.start_limit), late, floor(self._now) - self._schedule.offset

    def _due_before(self, seconds: int | None) -> int:
        """Return the last instant whose tick became due more than `seconds` ago."""
        if seconds is None:
            return -(2**62)
        return ceil(self._now - seconds) - 1 - self._schedule.offset

    def _cut(self, fate: TickFate, after: int, until: int, override: TickOverride | None = None) -> Iterator[DueRange]:
        for tick in (*(early for early in self._pending.early_ticks if after < early <= until), None):
            for segment in self._grid.segments(after, until if tick is None else tick - 1):
                yield DueRange(fate, segment, override)
            if tick is not None:
                yield DueRange("done", TickRange(tick, tick, 1))
                after = tick

    def _split_by_dependencies(self, due: DueRange, needs: DependencyCheck) -> Iterator[DueRange]:
        """Split runnable ticks where their dependencies become met or unmet; yield others unchanged."""
        fate, segment, _ = due
        runs = fate == "on_time" or (fate == "late" and self._policy.catch_up != "skip")
        if not runs or segment.excluded:
            yield due
            return
        offset, after = self._schedule.offset, segment.first - 1
        ends = [] if segment.count == 1 else [edge - offset for edge in needs.edges if after < edge - offset]
        for end in (*ends, segment.last):
            if end > after and (part := self._grid.range(after, min(end, segment.last))) is not None:
                unmet = needs.unmet(self._pending.due_at(part.first))
                yield due._replace(fate="dependency" if unmet else fate, segment=part)
            after = max(after, end)
