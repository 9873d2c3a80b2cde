"""The heart: one pure function that decides what becomes of every tick that is due."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from tickbird.domain.planning.due_decisions import DuePass
from tickbird.domain.planning.edits import after_edit, repair
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import drop_invalid_overrides
from tickbird.domain.planning.plan import Facts, Plan, PlannedSkip, after_plan, at_plan
from tickbird.domain.planning.skip_ranges import end_pause
from tickbird.domain.schedules.schedule import Schedule, SqlEdit


def plan(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit | None = None) -> Plan:
    """Decide every tick of the schedule that is due by `now` (seconds since the epoch)."""
    if edited is not None:
        return _plan_edited(schedule, facts, now, edited)
    if schedule.state in ("parked", "ended", "deleted"):
        return _resting(schedule)
    if schedule.cursor.planned_until is None:
        return begin(schedule, now)
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        if until is None or until > now:
            return settle(schedule, schedule.cursor)
        paused = end_pause(schedule, until)
        return after_plan(paused, plan(at_plan(schedule, paused), facts, now))
    schedule, strays = drop_invalid_overrides(schedule)
    made = DuePass(schedule, facts, now).plan()
    return replace(made, void=strays + made.void) if strays else made


def begin(schedule: Schedule, now: float) -> Plan:
    """A schedule never planned before: nothing fires for the past, and one with no tick to come has misfired."""
    start = floor(now)
    started = settle(schedule, replace(schedule.cursor, planned_until=start))
    if schedule.grid.next(start) is None and (last := schedule.grid.previous(start + 1)) is not None:
        misfire = PlannedSkip("misfire", last, last, 1, note="already past when the schedule was created")
        return replace(started, skips=(misfire,))
    return started


def _resting(schedule: Schedule) -> Plan:
    cursor = replace(schedule.cursor, next_run_at=None)
    return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)


def _plan_edited(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit) -> Plan:
    """After an edit by plain SQL: decide what was due until then as it stood before; the next look uses the new."""
    before = edited.before
    if before.state == "deleted":
        return _resting(schedule)
    if before.definition is None or before.state == "parked":
        return repair(before, schedule, edited.edited_at)
    return after_edit(schedule, plan(before, facts, min(now, edited.edited_at)), edited)
