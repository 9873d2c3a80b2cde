"""Ticks that a worker computes itself: of schedules in memory, and of durable ones while the store cannot plan.

There is no cursor in the store that decides these ticks. Each worker plans from its last look to now, and the unique
key of a tick keeps the first run of all workers. Skips are not recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from tickbird.domain.planning.decided_ticks import as_durable
from tickbird.domain.planning.plan import NO_FACTS, PlannedRun
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.targets.event import EVENT

# The actor of a run that a worker created itself: for a schedule in memory, and in fallback.
IN_MEMORY_ACTOR: Final = "in memory"
FALLBACK_ACTOR: Final = "fallback"


class WorkerTick(NamedTuple):
    """A tick that a worker has decided to run, under the revision that it last read."""

    schedule: Schedule
    run: PlannedRun


@dataclass(frozen=True, slots=True)
class WorkerSchedules:
    """What a worker reads at an instant of the store's clock: all ids, and the rows that are new to it."""

    now: datetime
    ids: frozenset[int]
    changed: Sequence[Schedule] = ()
    # The durable ones with ticks that are due and not decided yet.
    due: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class WrittenTicks:
    """The number of new runs, and the ids of schedules that are no longer as the worker has read them."""

    now: datetime
    runs: int = 0
    stale: frozenset[int] = frozenset()


class WorkerTickPlan(NamedTuple):
    """The runs of the due ticks of one schedule, its cursor in memory, and when its next tick is due."""

    ticks: tuple[WorkerTick, ...]
    cursor: Cursor
    next_at: int | None


def plan_worker_ticks(schedule: Schedule, cursor: Cursor, now: float) -> WorkerTickPlan:
    """Decide the due ticks of a schedule after a cursor in memory.

    Late ticks follow `catch_up`. The store checks the overlap with earlier runs when it inserts the runs.
    """
    planned = plan(as_durable(schedule, cursor), NO_FACTS, now)
    ticks = tuple(WorkerTick(schedule, run) for run in planned.runs if run.status == "queued" and not run.awaits)
    return WorkerTickPlan(ticks, planned.cursor, planned.cursor.next_run_at)


def can_fall_back(schedule: Schedule) -> bool:
    """Return whether a worker can plan this durable schedule without the planner's facts."""
    definition = schedule.definition
    if definition is None or schedule.state not in ("active", "paused"):
        return False
    # The slots of a key and published events are decided together with other rows.
    return definition.durable and definition.concurrency_key is None and definition.target.kind != EVENT
