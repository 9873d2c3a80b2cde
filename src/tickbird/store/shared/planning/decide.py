"""From a schedule and what is known of its runs to a plan; one that cannot be planned is parked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from tickbird.domain.planning.admission import ScheduleDecision
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

# A batch that makes more runs than this leaves its other schedules to the next one, so that memory and the time between
# lock and commit stay small.
MAX_RUNS: Final = 10_000


def held_keys(facts: Facts) -> frozenset[str]:
    """The concurrency keys of a schedule's active runs."""
    return frozenset(run.key for run in facts.active if run.key is not None)


def decide(due: DueSchedule, facts: Facts, now: float, zones: int = -1) -> ScheduleDecision:
    """Plan one schedule; one that cannot be planned is parked, and no other is later for it.

    A cursor that was computed by zone rules older than the generation `zones` is first computed anew.
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
    """Must the planner know whether runs of this schedule are held?"""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return any(definition is not None and definition.hold_above is not None for definition in asked)


def depended_on(schedule: Schedule, edited: SqlEdit | None) -> set[str]:
    """The schedules of which the planner must know when they last succeeded."""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return {needed.schedule for definition in asked if definition is not None for needed in definition.depends_on}


def recompute_for_zone_data(schedule: Schedule, last_skip_id: int | None) -> ScheduleDecision | None:
    """A schedule whose cursor was computed by other zone rules, by these; None: it stays as it is."""
    try:
        followed = apply_zone_change(schedule)
    except Exception:  # noqa: BLE001 - when it is due, the planner will say what is wrong
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
    """What these decisions amount to, once they are committed."""
    schedules = runs = skips = 0
    parked: list[str] = []
    looks: list[int] = []
    for decided in batch:
        schedules += 1
        runs += len(decided.plan.runs)
        skips += len(decided.plan.skips)
        if decided.plan.state == "parked" and decided.schedule.state != "parked":
            parked.append(decided.schedule.name)
        if decided.plan.cursor.next_run_at is not None:
            looks.append(decided.plan.cursor.next_run_at)
    next_at = min(looks, default=None)
    # A schedule with more due ticks than fit into one plan is still due.
    more = next_at is not None and next_at <= now.timestamp()
    soon = None if next_at is None or more else to_datetime(next_at)
    return PlanResult(now, schedules, runs, skips, tuple(parked), soon, more)
