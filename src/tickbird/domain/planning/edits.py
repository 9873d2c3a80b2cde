"""Plans of edited schedules: the grid changes or stays the same, a schedule is parked or unparked."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from tickbird.domain.planning.next_pass import next_wakeup, settle
from tickbird.domain.planning.pending_ticks import PendingTicks, migrate_overrides, restart_grid
from tickbird.domain.planning.plan import Plan, PlannedSkip, apply_plan
from tickbird.domain.planning.skip_ranges import skip_all
from tickbird.domain.runs.run import SkipReason
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Cursor, Schedule, SqlEdit, State


def plan_sql_edit(schedule: Schedule, old: Plan, edited: SqlEdit) -> Plan:
    """Plan an edit by plain SQL: `old`, the plan under the old definition, gets the cursor of the new one."""
    before = edited.before
    state: State = "paused" if old.state == "paused" else "active"
    edited_schedule = replace(schedule, cursor=old.cursor, state=state, pause=old.pause, error=None)
    if keeps_cursor(apply_plan(before, old), schedule):
        new = plan_same_grid(apply_plan(before, old), edited_schedule)
    else:
        skips = skip_passed_ticks(apply_plan(before, old), edited.edited_at, "edited")
        old = replace(old, skips=old.skips + skips)
        new = plan_new_grid(apply_plan(before, old), edited_schedule, edited.edited_at)
    return replace(old, cursor=new.cursor, state=new.state, pause=new.pause, void=old.void + new.void)


def same_grid(left: Definition | None, right: Definition | None) -> bool:
    """Return whether two definitions have the same ticks, so that a cursor is valid for both."""
    if left is None or right is None:
        return False
    if (left.trigger, left.start_at, left.end_at) != (right.trigger, right.start_at, right.end_at):
        return False
    # Closed days are part of the grid only if ticks are rolled; otherwise they only skip ticks.
    if left.roll == right.roll == "skip":
        return True
    return (left.roll, left.closed_days) == (right.roll, right.closed_days)


def keeps_cursor(before: Schedule, after: Schedule) -> bool:
    """Return whether the cursor is valid for the edited schedule: same ticks, and none pending if it has ended."""
    if not same_grid(before.definition, after.definition):
        return False
    return before.state != "ended" or next_wakeup(after, before.cursor) is None


def skip_passed_ticks(schedule: Schedule, now: float, reason: SkipReason) -> tuple[PlannedSkip, ...]:
    """Return skips of the undecided ticks up to `now`, under the definition that is about to change."""
    reached = schedule.cursor.planned_until
    if schedule.definition is None or schedule.state not in ("active", "paused") or reached is None:
        return ()
    if schedule.state == "paused":
        reason = "paused"
    ticks = PendingTicks(schedule).segments(reached, floor(now))
    return tuple(PlannedSkip(reason, part.first, part.last, part.count, revision=schedule.revision) for part in ticks)


def plan_new_grid(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """Plan a changed grid: it starts at `now`, and `skip_until` is dropped."""
    cursor = replace(restart_grid(before, floor(now)), runs_planned=schedule.cursor.runs_planned)
    cursor, void = migrate_overrides(before, schedule, cursor, same_grid=False)
    return replace(settle(schedule, cursor), void=void)


def plan_same_grid(before: Schedule, schedule: Schedule) -> Plan:
    """Plan an unchanged grid: the cursor stays."""
    cursor, void = migrate_overrides(before, schedule, schedule.cursor, same_grid=True)
    return replace(settle(schedule, cursor), void=void)


def unpark(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """Plan a parked schedule again; the ticks that it missed are one skip `invalid`."""
    state: State = "paused" if schedule.pause else "active"
    cursor = _back_to(before, floor(now))
    return skip_all(replace(schedule, state=state, error=None, cursor=cursor), "invalid", floor(now))


def park(schedule: Schedule, error: str, edited: SqlEdit | None = None) -> Plan:
    """Stop planning a schedule, with the error. Its cursor stays, unless it is later than the edit."""
    cursor = schedule.cursor if edited is None else _back_to(edited.before, edited.edited_at)
    return Plan(replace(cursor, next_run_at=None), "parked", schedule.revision, schedule.pause, error)


def _back_to(schedule: Schedule, now: int) -> Cursor:
    """Return the cursor moved back to `now`, with the later ticks that are already decided."""
    cursor = schedule.cursor
    if cursor.planned_until is None or cursor.planned_until <= now:
        return cursor
    restarted = restart_grid(schedule, now)
    pending = (override for override in cursor.tick_overrides if not override.decided_early)
    overrides = sorted([*restarted.tick_overrides, *pending], key=lambda override: override.tick)
    return replace(cursor, planned_until=restarted.planned_until, tick_overrides=tuple(overrides))
