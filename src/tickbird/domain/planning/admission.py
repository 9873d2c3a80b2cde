"""The last word on planned runs: which wait for a place of their concurrency key, and which are deferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace

from tickbird.domain.limits.concurrency import Key, take
from tickbird.domain.limits.fairness import stagger
from tickbird.domain.planning.plan import Plan, PlannedRun
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """A schedule as it stood, what was decided about it, and the definition its runs and skips go by."""

    schedule: Schedule
    plan: Plan
    definition: Definition | None
    last_skip_id: int | None = None
    # Who asked for the runs of this plan; None when the planner decided alone.
    actor: str | None = None
    # The concurrency keys of the schedule's active runs, where those are held.
    held_keys: frozenset[str] = frozenset()


def keys_needed(batch: Iterable[ScheduleDecision]) -> set[Key]:
    """The concurrency keys that these plans have to do with."""
    wanted: set[Key] = set()
    for decided in batch:
        wanted |= {(decided.schedule.namespace, key) for key in decided.held_keys}
        definition = decided.definition
        if definition is not None and definition.concurrency_key is not None:
            found = {definition.key(run.payload) for run in decided.plan.runs}
            wanted |= {(decided.schedule.namespace, key) for key in found if key is not None}
    return wanted


def apply_concurrency(batch: Sequence[ScheduleDecision], room: MutableMapping[Key, int]) -> list[ScheduleDecision]:
    """The same plans, with those runs waiting whose key has no room left; `room` is used up."""
    return [decided if not _keyed(decided) else _admitted(decided, room) for decided in batch]


def _keyed(decided: ScheduleDecision) -> bool:
    return decided.definition is not None and decided.definition.concurrency_key is not None


def _admitted(decided: ScheduleDecision, room: MutableMapping[Key, int]) -> ScheduleDecision:
    definition, namespace = decided.definition, decided.schedule.namespace
    assert definition is not None
    runs: list[PlannedRun] = []
    for run in decided.plan.runs:
        key = definition.key(run.payload)
        if key is not None and run.status == "queued":
            runs.append(replace(run, status=take(room, (namespace, key))))
        else:
            runs.append(run)
    return replace(decided, plan=replace(decided.plan, runs=tuple(runs)))


def deferrable(batch: Iterable[ScheduleDecision]) -> list[int]:
    """The schedules whose new runs may have to be deferred in their queue."""
    return [
        d.schedule.id for d in batch if d.plan.runs and d.definition is not None and d.definition.overlap == "allow"
    ]


def lined_up(
    batch: Iterable[ScheduleDecision], lines: Mapping[int, int | None], minute: int
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """Until when the queued runs of each schedule in `lines` are deferred, and the lines that are longer now."""
    deferred: dict[int, list[int]] = {}
    longer: dict[int, int] = {}
    for decided in batch:
        if (schedule_id := decided.schedule.id) in lines:
            line = lines[schedule_id] or 0
            queued = [run for run in decided.plan.runs if run.status == "queued"]
            deferred[schedule_id], last = stagger(line, minute, (run.origin == "schedule" for run in queued))
            if last != line:
                longer[schedule_id] = last
    return deferred, longer
