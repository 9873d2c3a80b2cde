"""A plan: the runs, skips and cursor that one pass of the planner decides, and the facts that it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.limits.fairness import NOT_DEFERRED
from tickbird.domain.runs.run import Origin, RunRecord, SkipReason, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import DependencyWait, LastSuccess
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, State
from tickbird.domain.schedules.tick_overrides import TickOverride, Void


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run of the schedule that is not final yet."""

    id: int
    status: Status
    origin: Origin
    key: str | None = None
    # It waits for a dependency and does not block other runs until then.
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class RetriedRun:
    """A run that is retried, and the definition that it was created with; None if that cannot be read."""

    run: RunRecord
    definition: Definition | None


@dataclass(frozen=True, slots=True)
class Facts:
    """The rows that the planner needs besides the schedule."""

    # Oldest first.

    active: tuple[ActiveRun, ...] = ()
    # Only for commands that name calendars: every calendar of the namespace, with its content if the command names it.
    calendars: Mapping[str, Calendar | None] = field(default_factory=dict)
    # Whether any run is held; only set if the schedule has `hold_above`.
    held: bool = False
    # By schedule that it depends on, if that exists.
    successes: Mapping[str, LastSuccess] = field(default_factory=dict)
    # For commands that change dependencies: the dependencies of each schedule that can be reached from this one, and
    # the schedules that depend on this one.
    needs: Mapping[str, Collection[str]] | None = None
    dependents: tuple[str, ...] = ()
    # Ticks after the cursor that already have a run, because workers created it themselves.
    decided: tuple[int, ...] = ()
    # For a retry: the run, if it is a run of the schedule.
    retried_run: RetriedRun | None = None


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to insert, of a tick or manual; `covers` is (first, last, count) of the ticks that it catches up."""

    scheduled_for: int | None
    due_at: int | None
    origin: Origin
    status: Status
    start_by: int | None = None
    covers: tuple[int, int, int] | None = None
    payload: Mapping[str, Any] | None = None
    retry_of: int | None = None
    # It waits until an operator releases it.
    held: bool = False
    # It waits until all of these are met, or until one of them is missed.
    awaits: tuple[DependencyWait, ...] = ()
    # The override of its tick.
    override: TickOverride | None = None
    # Up to this minute since the epoch, other runs of its queue go first.
    deferred_until_minute: int = NOT_DEFERRED


@dataclass(frozen=True, slots=True)
class PlannedSkip:
    """A skip to record; a run may be its cause: an existing run, or a run of this plan, by its index."""

    reason: SkipReason
    first: int
    last: int
    count: int
    blocked_by: int | None = None
    blocked_by_new: int | None = None
    actor: str | None = None
    note: str = ""
    # The revision whose grid has its ticks, if it is not the plan's.
    revision: int | None = None
    # A tick that is skipped before its time. It is never merged into a range: ticks of another grid may lie between.
    separate: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The decisions of one planner pass, written in one transaction."""

    cursor: Cursor
    state: State
    # Runs and skips were decided under this revision.
    revision: int
    pause: PauseState | None = None
    error: str | None = None
    runs: tuple[PlannedRun, ...] = ()
    skips: tuple[PlannedSkip, ...] = ()
    # Active runs that are cancelled, and running ones that are stopped.
    cancel: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    # Whether the waiting runs of backfills and the held runs are cancelled too.
    clear: bool = False
    # Overrides that were not applied, with the reason.
    void: tuple[Void, ...] = ()

    @property
    def relies_on_runs(self) -> bool:
        """Whether the active runs must be locked, because a waiting run or a cancellation depends on their status."""
        return bool(self.cancel or self.stop) or any(run.status == "waiting" and not run.held for run in self.runs)

    @property
    def relies_on_successes(self) -> bool:
        """Whether the successes must be locked, because a new run waits for one of them."""
        return any(run.awaits for run in self.runs)


def apply_plan(schedule: Schedule, plan: Plan) -> Schedule:
    """Return the schedule after this plan."""
    return replace(schedule, cursor=plan.cursor, state=plan.state, pause=plan.pause, error=plan.error)


def join_plans(first: Plan, then: Plan) -> Plan:
    """Join two consecutive plans; the first has no runs."""
    return replace(then, skips=first.skips + then.skips, void=first.void + then.void)
