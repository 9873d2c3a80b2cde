"""From a schedule and what is known of its runs to a plan; one that cannot be planned is parked."""

from __future__ import annotations

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.plan import Facts, after_plan, at_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.planning.zone_changes import apply_zone_change
from tickbird.domain.schedules.schedule import Schedule, SqlEdit
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.zone_data import MovedSchedule
from tickbird.store.shared.json_columns import error_text
from tickbird.store.shared.stored_definitions import PROCESS_ERRORS


def held_keys(facts: Facts) -> frozenset[str]:
    """The concurrency keys of a schedule's active runs."""
    return frozenset(run.key for run in facts.active if run.key is not None)


def decide(
    schedule: Schedule,
    facts: Facts,
    now: float,
    edited: SqlEdit | None = None,
    last_skip_id: int | None = None,
    *,
    other_zones: bool = False,
) -> ScheduleDecision:
    """Plan one schedule; one that cannot be planned is parked, and no other is later for it.

    With `other_zones` its cursor was computed by other zone rules, and is first computed anew.
    """
    if schedule.definition is None:
        parked = park(schedule, schedule.error or "it cannot be read.", edited)
        return ScheduleDecision(schedule, parked, None, last_skip_id)
    try:
        if other_zones and edited is None:
            followed = apply_zone_change(schedule)
            decided = after_plan(followed, plan(at_plan(schedule, followed), facts, now))
        else:
            decided = plan(schedule, facts, now, edited)
    except PROCESS_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        return ScheduleDecision(schedule, park(schedule, error_text(error)), None, last_skip_id)
    definition = schedule.definition
    if edited is not None and decided.revision == edited.before.revision:
        definition = edited.before.definition or definition
    held = held_keys(facts) if decided.relies_on_runs else frozenset()
    return ScheduleDecision(schedule, decided, definition, last_skip_id, held_keys=held)


def needs_held_flag(schedule: Schedule, edited: SqlEdit | None) -> bool:
    """Must the planner know whether runs of this schedule are held?"""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return any(definition is not None and definition.hold_above is not None for definition in asked)


def depended_on(schedule: Schedule, edited: SqlEdit | None) -> set[str]:
    """The schedules of which the planner must know when they last succeeded."""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return {each.schedule for definition in asked if definition is not None for each in definition.depends_on}


def recompute_for_zone_data(
    schedule: Schedule, last_skip_id: int | None
) -> tuple[ScheduleDecision, MovedSchedule | None] | None:
    """A schedule whose cursor was computed by other zone rules: by these, and how its next look moved; None: as is."""
    try:
        followed = apply_zone_change(schedule)
    except Exception:  # noqa: BLE001 - when it is due, the planner will say what is wrong
        return None
    if followed.cursor == schedule.cursor and followed.state == schedule.state:
        return None
    before, after = schedule.cursor.next_run_at, followed.cursor.next_run_at
    moved = None
    if before != after:
        instants = (None if at is None else to_datetime(at) for at in (before, after))
        moved = MovedSchedule(schedule.namespace, schedule.name, schedule.id, *instants)
    return ScheduleDecision(schedule, followed, schedule.definition, last_skip_id), moved
