"""A plan: the runs, skips and cursor that one pass of the planner decides, and the facts that it is decided from."""

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
    # It waits for another schedule to succeed, and stands in nobody's way until then.
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class Repeated:
    """A run that is to be retried, and the definition that it was created with; None if that cannot be read."""

    run: RunRecord
    definition: Definition | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the planner must know of other rows: the schedule's active runs, oldest first.

    For commands that name calendars, also those of the namespace: what the named ones say, and None for the others.
    """

    active: tuple[ActiveRun, ...] = ()
    calendars: Mapping[str, Calendar | None] = field(default_factory=dict)
    # Is any run held? Only told where the schedule has `hold_above`.
    held: bool = False
    # Of the schedules that it depends on, those that exist.
    successes: Mapping[str, LastSuccess] = field(default_factory=dict)
    # For commands that tie schedules together or part them: what the schedules that exist need, as far as they can be
    # reached from it; and those that need it.
    needs: Mapping[str, Collection[str]] | None = None
    dependents: tuple[str, ...] = ()
    # For a retry: the run that it repeats, if that is a run of the schedule.
    repeated: Repeated | None = None


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to insert: of a tick, or a manual one; `covers` is (first, last, count) of the ticks it stands for."""

    scheduled_for: int | None
    due_at: int | None
    origin: Origin
    status: Status
    start_by: int | None = None
    covers: tuple[int, int, int] | None = None
    payload: Mapping[str, Any] | None = None
    retry_of: int | None = None
    # Waits until a person releases it.
    held: bool = False
    # Waits until these have come, or until it is too late for one of them.
    awaits: tuple[DependencyWait, ...] = ()
    # What was decided for its tick beforehand.
    override: TickOverride | None = None
    # Until which minute since the epoch others of its queue may pass it.
    deferred_until_minute: int = NOT_DEFERRED


@dataclass(frozen=True, slots=True)
class PlannedSkip:
    """A skip to record; it stands behind an existing run (`run_id`) or one of this plan (`under`, an index)."""

    reason: SkipReason
    first: int
    last: int
    count: int
    run_id: int | None = None
    under: int | None = None
    actor: str | None = None
    note: str = ""
    # On whose grid its ticks lie, when that is not the plan's.
    revision: int | None = None
    # A tick to come, recorded ahead of its time: never part of a range, for those of another grid may come between.
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one look at a schedule decides; it commits whole or not at all."""

    cursor: Cursor
    state: State
    # Runs and skips were decided under this revision.
    revision: int
    pause: PauseState | None = None
    error: str | None = None
    runs: tuple[PlannedRun, ...] = ()
    skips: tuple[PlannedSkip, ...] = ()
    # Active runs that are not to start, and running ones that are asked to stop.
    cancel: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    # Are the runs that wait aside, of backfills, and those that are held not to start either?
    clear: bool = False
    # Overrides that were not carried out, and why.
    void: tuple[Void, ...] = ()

    @property
    def relies_on_runs(self) -> bool:
        """Must the active runs be locked, because a waiter or a cancellation depends on how they stand?"""
        return bool(self.cancel or self.stop) or any(run.status == "waiting" and not run.held for run in self.runs)

    @property
    def relies_on_successes(self) -> bool:
        """Must no schedule that it depends on succeed unseen, because a run is to wait for that?"""
        return any(run.awaits for run in self.runs)


def at_plan(schedule: Schedule, decided: Plan) -> Schedule:
    """The schedule as this plan leaves it."""
    return replace(schedule, cursor=decided.cursor, state=decided.state, pause=decided.pause, error=decided.error)


def after_plan(first: Plan, then: Plan) -> Plan:
    """Two plans as one, where the second begins where the first ends, which makes no runs."""
    return replace(then, skips=first.skips + then.skips, void=first.void + then.void)
