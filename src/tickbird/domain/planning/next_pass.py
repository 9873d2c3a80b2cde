"""End of a planner pass: the resulting cursor and the next wake-up."""

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
    """Return the plan with this cursor, without the overrides and the skip range of decided ticks."""
    cursor = prune_overrides(schedule.cursor, cursor, now)
    if cursor.skip_until is not None and cursor.planned_until is not None and cursor.skip_until <= cursor.planned_until:
        cursor = replace(cursor, skip_until=None, skip_by=None, skip_note="")
    void = _not_applied(schedule.cursor, cursor, runs, skips)
    return replace(settle(schedule, cursor), runs=tuple(runs), skips=tuple(skips), void=void)


def _not_applied(
    before: Cursor, after: Cursor, runs: Sequence[PlannedRun], skips: Sequence[PlannedSkip]
) -> tuple[Void, ...]:
    """Return the overrides that were dropped without being applied."""
    if not before.tick_overrides:
        return ()
    kept, ran = {override.tick for override in after.tick_overrides}, {run.scheduled_for for run in runs}
    void: list[Void] = []
    for override in before.tick_overrides:
        tick = override.tick
        if tick not in kept and tick not in ran and not override.decided_early:
            reason = next((skip.reason for skip in skips if skip.first <= tick <= skip.last), "invalid")
            if not override.skip or reason != "operator":
                void.append((override, reason))
    return tuple(void)


def settle(schedule: Schedule, cursor: Cursor) -> Plan:
    """Return the plan with this cursor: still paused, active, or ended if no tick is left."""
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        cursor = replace(cursor, next_run_at=until)
        return Plan(cursor, "paused", schedule.revision, schedule.pause)
    wakeup = next_wakeup(schedule, cursor)
    state: State = "ended" if wakeup is None else "active"
    if schedule.in_memory:
        # Workers compute its ticks.
        wakeup = None
    return Plan(replace(cursor, next_run_at=wakeup), state, schedule.revision)


def next_wakeup(schedule: Schedule, cursor: Cursor) -> int | None:
    """Return the `due_at` of the next tick of an active schedule; None if it has ended."""
    if _used_up(schedule, cursor) or cursor.planned_until is None:
        return None
    if not cursor.tick_overrides:
        tick = schedule.grid.next(cursor.planned_until)
        return None if tick is None else tick + schedule.offset
    return PendingTicks(schedule, cursor).next_wakeup()


def _used_up(schedule: Schedule, cursor: Cursor) -> bool:
    definition = schedule.definition
    return definition is not None and definition.max_runs is not None and cursor.runs_planned >= definition.max_runs
