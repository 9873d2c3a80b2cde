"""Ticks after the cursor that already have a run: workers created it, for a schedule in memory or in fallback."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import floor
from typing import Final

from tickbird.domain.planning.due_decisions import DuePass
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride

# Seconds. An edit of a schedule in memory, or a worker that starts, decides the ticks of this time without a run.
RECENT_SECONDS: Final = 3


def with_decided_ticks(schedule: Schedule, decided: Collection[int]) -> Schedule:
    """Return the schedule with these ticks marked as decided; they count as runs."""
    cursor = schedule.cursor
    known = {override.tick for override in cursor.tick_overrides if override.decided_early}
    new = {tick for tick in decided if tick not in known and tick > (cursor.planned_until or 0)}
    if not new:
        return schedule
    others = (override for override in cursor.tick_overrides if override.tick not in new)
    marked = (TickOverride(tick, decided_early=True) for tick in new)
    overrides = tuple(sorted((*others, *marked), key=lambda override: override.tick))
    runs_planned = cursor.runs_planned + len(new)
    return replace(schedule, cursor=replace(cursor, tick_overrides=overrides, runs_planned=runs_planned))


def plan_recent_ticks(schedule: Schedule, facts: Facts, now: float) -> Plan:
    """Plan a schedule in memory, before an edit: afterwards, the runs of workers that do not know the edit are refused.

    Earlier ticks count as decided: either they have a run, or there is no record of them.
    """
    until = floor(now) - schedule.offset
    cursor = replace(schedule.cursor, planned_until=recent_start(schedule, now))
    recent = with_decided_ticks(as_durable(schedule, cursor), facts.decided)
    planned = DuePass(recent, facts, now).plan()
    reached = max(planned.cursor.planned_until or until, until)
    return replace(planned, cursor=replace(planned.cursor, planned_until=reached, next_run_at=None))


def recent_start(schedule: Schedule, planned_at: float) -> int:
    """Return the instant after which ticks are decided, if all were decided shortly before `planned_at`."""
    since = floor(planned_at) - schedule.offset - RECENT_SECONDS
    reached = schedule.cursor.planned_until
    return since if reached is None else max(reached, since)


def as_durable(schedule: Schedule, cursor: Cursor) -> Schedule:
    """Return the schedule with this cursor, as the planner sees a durable one."""
    definition = schedule.definition
    if definition is not None and not definition.durable:
        definition = replace(definition, durable=True)
    return replace(schedule, definition=definition, cursor=cursor)
