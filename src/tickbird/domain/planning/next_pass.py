"""The end of a pass: where it leaves a schedule, and when the next one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tickbird.domain.planning.pending_ticks import PendingTicks, prune_overrides
from tickbird.domain.planning.plan import Plan, PlannedRun, PlannedSkip
from tickbird.domain.schedules.schedule import Cursor, Schedule, State
from tickbird.domain.schedules.tick_overrides import Void


def finish_pass(
    schedule: Schedule, cursor: Cursor, now: int, runs: Sequence[PlannedRun] = (), skips: Sequence[PlannedSkip] = ()
) -> Plan:
    """Leave the schedule at this cursor, without what was decided beforehand for ticks that are behind it."""
    cursor = prune_overrides(schedule.cursor, cursor, now)
    if cursor.skip_until is not None and cursor.planned_until is not None and cursor.skip_until <= cursor.planned_until:
        cursor = replace(cursor, skip_until=None, skip_by=None, skip_note="")
    void = _not_carried_out(schedule.cursor, cursor, runs, skips)
    return replace(settle(schedule, cursor), runs=tuple(runs), skips=tuple(skips), void=void)


def _not_carried_out(
    before: Cursor, after: Cursor, runs: Sequence[PlannedRun], skips: Sequence[PlannedSkip]
) -> tuple[Void, ...]:
    """The overrides that are gone from a cursor though their tick neither ran nor was skipped on their account."""
    if not before.tick_overrides:
        return ()
    left, ran = {each.tick for each in after.tick_overrides}, {run.scheduled_for for run in runs}
    void: list[Void] = []
    for each in before.tick_overrides:
        if each.tick not in left and each.tick not in ran and not each.done:
            reason = next((skip.reason for skip in skips if skip.first <= each.tick <= skip.last), "invalid")
            if not each.skip or reason != "operator":
                void.append((each, reason))
    return tuple(void)


def settle(schedule: Schedule, cursor: Cursor) -> Plan:
    """Leave the schedule at this cursor: still paused, active, or ended when no tick is left."""
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        cursor = replace(cursor, next_run_at=until)
        return Plan(cursor, "paused", schedule.revision, schedule.pause)
    look = next_wakeup(schedule, cursor)
    state: State = "ended" if look is None else "active"
    return Plan(replace(cursor, next_run_at=look), state, schedule.revision)


def next_wakeup(schedule: Schedule, cursor: Cursor) -> int | None:
    """When the planner must look at an active schedule again: the `due_at` of its next tick to run."""
    if _used_up(schedule, cursor) or cursor.planned_until is None:
        return None
    if not cursor.tick_overrides:
        tick = schedule.grid.next(cursor.planned_until)
        return None if tick is None else tick + schedule.offset
    return PendingTicks(schedule, cursor).next_wakeup()


def _used_up(schedule: Schedule, cursor: Cursor) -> bool:
    definition = schedule.definition
    return definition is not None and definition.max_runs is not None and cursor.runs_planned >= definition.max_runs
