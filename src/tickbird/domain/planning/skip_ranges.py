"""Skips of all undecided ticks up to an instant, for example during a pause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tickbird.domain.planning.next_pass import finish_pass
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import Plan, PlannedSkip
from tickbird.domain.runs.run import SkipReason
from tickbird.domain.schedules.grid import TickRange
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import MAX_EARLY_TICKS


def skip_all(schedule: Schedule, reason: SkipReason, until: int, *, actor: str | None = None, note: str = "") -> Plan:
    """Skip every undecided tick that is due up to `until`, and move the cursor past them."""
    cursor, due = schedule.cursor, until
    skips: tuple[PlannedSkip, ...] = ()
    if cursor.planned_until is not None:
        # A tick that was moved to a later instant still runs then.
        pending = PendingTicks(schedule)
        until = pending.decidable_until(until)
        skips = tuple(
            PlannedSkip(reason, part.first, part.last, part.count, actor=actor, note=note, separate=part.last > due)
            for segment in pending.segments(cursor.planned_until, until)
            for part in recorded_ranges(schedule, segment, due)
        )
    reached = until if cursor.planned_until is None else max(cursor.planned_until, until)
    return finish_pass(schedule, replace(cursor, planned_until=reached), due, skips=skips)


def end_pause(schedule: Schedule, until: int) -> Plan:
    """End a pause at its `until`: ticks that were due before are one skip, a tick that is due at that instant runs."""
    return skip_all(replace(schedule, state="active", pause=None), "paused", until - 1 - schedule.offset)


def recorded_ranges(schedule: Schedule, segment: TickRange, now: int) -> Iterator[TickRange]:
    """Split ticks into the ranges that are recorded: past ticks as one range, later ones one by one."""
    if segment.last <= now or schedule.grid.count(max(now, segment.first - 1), segment.last) > MAX_EARLY_TICKS:
        yield segment
        return
    if (past := schedule.grid.range(segment.first - 1, now)) is not None:
        yield replace(past, excluded=segment.excluded)
    tick = schedule.grid.next(max(now, segment.first - 1))
    while tick is not None and tick <= segment.last:
        yield TickRange(tick, tick, 1, segment.excluded)
        tick = schedule.grid.next(tick)
