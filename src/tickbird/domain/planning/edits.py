"""What an edit does to the cursor: the grid changes or stays, a schedule is parked or repaired."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from tickbird.domain.planning.next_pass import next_wakeup, settle
from tickbird.domain.planning.pending_ticks import PendingTicks, migrate_overrides, restart_grid
from tickbird.domain.planning.plan import Plan, PlannedSkip, at_plan
from tickbird.domain.planning.skip_ranges import pass_over
from tickbird.domain.runs.run import SkipReason
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Cursor, Schedule, SqlEdit, State


def after_edit(schedule: Schedule, old: Plan, edited: SqlEdit) -> Plan:
    """The plan of the schedule as it stood before an edit by plain SQL, with the cursor of the edited one."""
    before = edited.before
    state: State = "paused" if old.state == "paused" else "active"
    edited_schedule = replace(schedule, cursor=old.cursor, state=state, pause=old.pause, error=None)
    if goes_on(at_plan(before, old), schedule):
        new = redefine(at_plan(before, old), edited_schedule)
    else:
        left = leave_grid(at_plan(before, old), edited.edited_at, "edited")
        old = replace(old, skips=old.skips + left)
        new = retime(at_plan(before, old), edited_schedule, edited.edited_at)
    return replace(old, cursor=new.cursor, state=new.state, pause=new.pause, void=old.void + new.void)


def same_grid(one: Definition | None, other: Definition | None) -> bool:
    """Do two definitions have the same ticks, so that a cursor on one is good for the other?"""
    if one is None or other is None:
        return False
    if (one.trigger, one.start_at, one.end_at) != (other.trigger, other.start_at, other.end_at):
        return False
    # Where ticks are rolled, closed days are part of the grid; else they only decide what becomes of a tick.
    if one.roll == other.roll == "skip":
        return True
    return (one.roll, one.closed_days) == (other.roll, other.closed_days)


def goes_on(before: Schedule, after: Schedule) -> bool:
    """Is the cursor good for an edited schedule: the same ticks, and none to come of those since it ended?"""
    if not same_grid(before.definition, after.definition):
        return False
    return before.state != "ended" or next_wakeup(after, before.cursor) is None


def leave_grid(schedule: Schedule, now: float, reason: SkipReason) -> tuple[PlannedSkip, ...]:
    """Record the ticks that are past and neither due nor decided, while the grid they lie on is still known."""
    reached = schedule.cursor.planned_until
    if schedule.definition is None or schedule.state not in ("active", "paused") or reached is None:
        return ()
    if schedule.state == "paused":
        reason = "paused"
    ticks = PendingTicks(schedule).segments(reached, floor(now))
    return tuple(PlannedSkip(reason, each.first, each.last, each.count, revision=schedule.revision) for each in ticks)


def retime(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """The grid changed: no instant up to `now` is on the new one, and what was to be skipped on the old is void."""
    cursor = replace(restart_grid(before, floor(now)), runs_planned=schedule.cursor.runs_planned)
    cursor, void = migrate_overrides(before, schedule, cursor, same_grid=False)
    return replace(settle(schedule, cursor), void=void)


def redefine(before: Schedule, schedule: Schedule) -> Plan:
    """Something else than the grid changed: the schedule goes on from where it is."""
    cursor, void = migrate_overrides(before, schedule, schedule.cursor, same_grid=True)
    return replace(settle(schedule, cursor), void=void)


def repair(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """A parked schedule that can be planned again: what it missed is one skip `invalid`."""
    state: State = "paused" if schedule.pause else "active"
    cursor = _back_to(before, floor(now))
    return pass_over(replace(schedule, state=state, error=None, cursor=cursor), "invalid", floor(now))


def park(schedule: Schedule, error: str, edited: SqlEdit | None = None) -> Plan:
    """Set a schedule aside that cannot be planned; its cursor stays where it is, if it is not ahead of an edit."""
    cursor = schedule.cursor if edited is None else _back_to(edited.before, edited.edited_at)
    return Plan(replace(cursor, next_run_at=None), "parked", schedule.revision, schedule.pause, error)


def _back_to(schedule: Schedule, now: int) -> Cursor:
    """The cursor of a schedule whose grid goes away, at most at `now`, with what is decided already of later ticks."""
    cursor = schedule.cursor
    if cursor.planned_until is None or cursor.planned_until <= now:
        return cursor
    anew, told = restart_grid(schedule, now), (each for each in cursor.tick_overrides if not each.done)
    overrides = sorted([*anew.tick_overrides, *told], key=lambda each: each.tick)
    return replace(cursor, planned_until=anew.planned_until, tick_overrides=tuple(overrides))
