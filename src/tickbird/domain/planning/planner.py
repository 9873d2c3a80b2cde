"""The planner: one pure function that decides every due tick."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from tickbird.domain.planning.decided_ticks import plan_recent_ticks, with_decided_ticks
from tickbird.domain.planning.due_decisions import DuePass
from tickbird.domain.planning.edits import plan_sql_edit, unpark
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import drop_invalid_overrides
from tickbird.domain.planning.plan import Facts, Plan, PlannedSkip, apply_plan, join_plans
from tickbird.domain.planning.skip_ranges import end_pause
from tickbird.domain.schedules.schedule import Schedule, SqlEdit


def plan(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit | None = None) -> Plan:
    """Decide every tick of the schedule that is due by `now` (seconds since the epoch)."""
    if edited is not None:
        return _plan_edited(schedule, facts, now, edited)
    if schedule.state in ("parked", "ended", "deleted"):
        return _plan_nothing(schedule)
    if schedule.cursor.planned_until is None:
        return first_plan(schedule, now)
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        if until is None or until > now:
            return settle(schedule, schedule.cursor)
        paused = end_pause(schedule, until)
        return join_plans(paused, plan(apply_plan(schedule, paused), facts, now))
    schedule, void = drop_invalid_overrides(schedule)
    if schedule.in_memory:
        decided = plan_recent_ticks(schedule, facts, now)
    else:
        decided = DuePass(with_decided_ticks(schedule, facts.decided), facts, now).plan()
    return replace(decided, void=void + decided.void) if void else decided


def first_plan(schedule: Schedule, now: float) -> Plan:
    """Plan a schedule for the first time: no past tick runs; if no tick is pending, the last one is a misfire."""
    start = floor(now)
    started = settle(schedule, replace(schedule.cursor, planned_until=start))
    if schedule.grid.next(start) is None and (last := schedule.grid.previous(start + 1)) is not None:
        misfire = PlannedSkip("misfire", last, last, 1, note="already past when the schedule was created")
        return replace(started, skips=(misfire,))
    return started


def _plan_nothing(schedule: Schedule) -> Plan:
    cursor = replace(schedule.cursor, next_run_at=None)
    return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)


def _plan_edited(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit) -> Plan:
    """Plan the ticks up to an edit by plain SQL under the old definition; the next pass uses the new one."""
    before = edited.before
    if before.state == "deleted":
        return _plan_nothing(schedule)
    if before.definition is None or before.state == "parked":
        return unpark(before, schedule, edited.edited_at)
    return plan_sql_edit(schedule, plan(before, facts, min(now, edited.edited_at)), edited)
