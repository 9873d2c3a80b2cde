"""Admission: which planned runs wait for a slot of their concurrency key, and which are deferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace

from tickbird.domain.limits.concurrency import Key, take
from tickbird.domain.limits.fairness import stagger
from tickbird.domain.planning.plan import Plan, PlannedRun
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.zone_data import MovedSchedule


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """A schedule before its plan, the plan, and the definition of its runs and skips."""

    schedule: Schedule
    plan: Plan
    definition: Definition | None
    last_skip_id: int | None = None
    # Who requested the runs of this plan; None if the planner decided alone.
    actor: str | None = None
    # The concurrency keys of which the schedule's active runs hold slots.
    held_keys: frozenset[str] = frozenset()
    # Whether it was edited, by a command or by plain SQL.
    edited: bool = False
    # How other time zone data moved its next planner pass.
    moved: MovedSchedule | None = None

    @property
    def changes_schedule(self) -> bool:
        """Whether the schedule's row must be written in addition to its cursor."""
        before, after = self.schedule, self.plan
        return after.state == "parked" or (after.pause, after.error) != (before.pause, before.error)


def keys_needed(batch: Iterable[ScheduleDecision]) -> set[Key]:
    """Return the concurrency keys of these plans."""
    keys: set[Key] = set()
    for decided in batch:
        keys |= {(decided.schedule.namespace, key) for key in decided.held_keys}
        definition = decided.definition
        if definition is not None and definition.concurrency_key is not None:
            run_keys = {definition.key(run.payload) for run in decided.plan.runs}
            keys |= {(decided.schedule.namespace, key) for key in run_keys if key is not None}
    return keys


def admit(batch: Sequence[ScheduleDecision], free_slots: MutableMapping[Key, int]) -> list[ScheduleDecision]:
    """Return the plans with runs waiting if their key has no free slot; decrements `free_slots`."""
    return [_admit(decided, free_slots) if _is_keyed(decided) else decided for decided in batch]


def _is_keyed(decided: ScheduleDecision) -> bool:
    return decided.definition is not None and decided.definition.concurrency_key is not None


def _admit(decided: ScheduleDecision, free_slots: MutableMapping[Key, int]) -> ScheduleDecision:
    definition, namespace = decided.definition, decided.schedule.namespace
    assert definition is not None
    runs: list[PlannedRun] = []
    for run in decided.plan.runs:
        key = definition.key(run.payload)
        if key is not None and run.status == "queued":
            runs.append(replace(run, status=take(free_slots, (namespace, key))))
        else:
            runs.append(run)
    return replace(decided, plan=replace(decided.plan, runs=tuple(runs)))


def deferrable(batch: Iterable[ScheduleDecision]) -> list[int]:
    """Return the ids of schedules whose new runs may be deferred in their queue."""
    return [
        decided.schedule.id
        for decided in batch
        if decided.plan.runs and decided.definition is not None and decided.definition.overlap == "allow"
    ]


def defer(
    batch: Iterable[ScheduleDecision], lines: Mapping[int, int], minute: int
) -> tuple[list[ScheduleDecision], dict[int, int]]:
    """Return the plans with queued runs deferred after earlier runs of their schedule, and the changed lines."""
    deferred: list[ScheduleDecision] = []
    changed: dict[int, int] = {}
    for decided in batch:
        schedule_id = decided.schedule.id
        if schedule_id in lines:
            line = lines[schedule_id]
            queued = [run for run in decided.plan.runs if run.status == "queued"]
            until, last = stagger(line, minute, (run.origin == "schedule" for run in queued))
            if last != line:
                changed[schedule_id] = last
            if any(until):
                decided = _deferred(decided, until)  # noqa: PLW2901 - the same decision
        deferred.append(decided)
    return deferred, changed


def _deferred(decided: ScheduleDecision, until: Iterable[int]) -> ScheduleDecision:
    minutes = iter(until)
    runs = (
        replace(run, deferred_until_minute=next(minutes)) if run.status == "queued" else run
        for run in decided.plan.runs
    )
    return replace(decided, plan=replace(decided.plan, runs=tuple(runs)))
