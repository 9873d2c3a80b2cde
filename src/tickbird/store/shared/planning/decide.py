"""Decide: from a schedule and facts about its runs to a plan. A schedule that cannot be planned is parked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.decided_ticks import recent_start
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.plan import Facts, Plan, apply_plan, join_plans
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.planning.planner import plan
from tickbird.domain.planning.zone_changes import apply_zone_change
from tickbird.domain.schedules.schedule import Schedule, SqlEdit
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.zone_data import MovedSchedule
from tickbird.domain.triggers.custom import limited_calls
from tickbird.store.shared.json_columns import error_text
from tickbird.store.shared.planning.due import DueSchedule
from tickbird.store.shared.stored_definitions import PROCESS_ERRORS

# A batch that creates more runs than this leaves its other schedules to the next batch, to limit memory and the time
# between lock and commit.
MAX_RUNS: Final = 10_000


def held_keys(facts: Facts) -> frozenset[str]:
    """The concurrency keys of a schedule's active runs."""
    return frozenset(run.key for run in facts.active if run.key is not None)


def decide(due: DueSchedule, facts: Facts, now: float, zones: int = -1) -> ScheduleDecision:
    """Plan one schedule; one that cannot be planned is parked, and delays no other.

    A cursor that was computed with time zone data older than the generation `zones` is recomputed first.
    """
    schedule, edited, last_skip_id = due.schedule, due.edited, due.last_skip_id
    is_edited = edited is not None
    if schedule.definition is None:
        parked = park(schedule, schedule.error or "it cannot be read.", edited)
        return ScheduleDecision(schedule, parked, None, last_skip_id, edited=is_edited)
    moved = None
    try:
        with limited_calls():
            if edited is None and due.has_old_zone_data(zones):
                followed = apply_zone_change(schedule)
                moved = _moved(schedule, followed)
                decided = join_plans(followed, plan(apply_plan(schedule, followed), facts, now))
            else:
                decided = plan(schedule, facts, now, edited)
    except PROCESS_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        return ScheduleDecision(schedule, park(schedule, error_text(error)), None, last_skip_id, edited=is_edited)
    definition = schedule.definition
    if edited is not None and decided.revision == edited.before.revision:
        definition = edited.before.definition or definition
    held = held_keys(facts) if decided.relies_on_runs else frozenset()
    return ScheduleDecision(schedule, decided, definition, last_skip_id, held_keys=held, edited=is_edited, moved=moved)


def needs_held_flag(schedule: Schedule, edited: SqlEdit | None) -> bool:
    """True if the planner must know whether the schedule has held runs."""
    definitions = [schedule.definition, edited.before.definition if edited else None]
    return any(definition is not None and definition.hold_above is not None for definition in definitions)


def decided_after(schedule: Schedule, now: float) -> int | None:
    """The instant after which ticks may already have runs that workers created themselves; None: there are none."""
    reached = schedule.cursor.planned_until
    if schedule.definition is None or reached is None or schedule.state not in ("active", "paused"):
        return None
    return recent_start(schedule, now) if schedule.in_memory else reached


def depended_on(schedule: Schedule, edited: SqlEdit | None) -> set[str]:
    """The schedules whose last success the planner must know."""
    definitions = [schedule.definition, edited.before.definition if edited else None]
    return {needed.schedule for definition in definitions if definition is not None for needed in definition.depends_on}


def recompute_for_zone_data(schedule: Schedule, last_skip_id: int | None) -> ScheduleDecision | None:
    """Recompute a cursor that was computed with other time zone data; None if it does not change."""
    try:
        followed = apply_zone_change(schedule)
    except Exception:  # noqa: BLE001 - the planner reports the error when it is due
        return None
    if followed.cursor == schedule.cursor and followed.state == schedule.state:
        return None
    return ScheduleDecision(schedule, followed, schedule.definition, last_skip_id, moved=_moved(schedule, followed))


def _moved(schedule: Schedule, followed: Plan) -> MovedSchedule | None:
    before, after = schedule.cursor.next_run_at, followed.cursor.next_run_at
    if before == after:
        return None
    instants = (None if at is None else to_datetime(at) for at in (before, after))
    return MovedSchedule(schedule.namespace, schedule.name, schedule.id, *instants)


def tally(batch: Iterable[ScheduleDecision], now: datetime) -> PlanResult:
    """The totals of these decisions, once they are committed."""
    schedules = runs = skips = 0
    parked: list[str] = []
    wakeups: list[int] = []
    for decided in batch:
        schedules += 1
        runs += len(decided.plan.runs)
        skips += len(decided.plan.skips)
        if decided.plan.state == "parked" and decided.schedule.state != "parked":
            parked.append(decided.schedule.name)
        if decided.plan.cursor.next_run_at is not None:
            wakeups.append(decided.plan.cursor.next_run_at)
    next_at = min(wakeups, default=None)
    # A schedule with more due ticks than fit into one plan is still due.
    more = next_at is not None and next_at <= now.timestamp()
    soon = None if next_at is None or more else to_datetime(next_at)
    return PlanResult(now, schedules, runs, skips, tuple(parked), soon, more)
