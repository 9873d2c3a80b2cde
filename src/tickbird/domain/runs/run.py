"""A run as the store holds it, and what can happen to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal

from tickbird.domain.errors import ConflictError
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.tick_overrides import AppliedOverride
from tickbird.domain.targets.target import TASK, TargetKey

Origin = Literal["schedule", "catch_up", "manual", "backfill", "retry", "event", "signal"]
Status = Literal["waiting", "queued", "running", "succeeded", "failed", "cancelled"]
FailureKind = Literal["raised", "timeout", "lost", "reported"]
SkipReason = Literal[
    "misfire",
    "coalesced",
    "overlap",
    "paused",
    "dependency",
    "calendar",
    "limit",
    "rescheduled",
    "operator",
    "invalid",
    # Past, but not due yet because of its spread or a reschedule, when the definition changed or went away.
    "edited",
    "deleted",
    # Its time on the wall clock had come already, by the zone rules before.
    "zone_data",
    # Planned and recorded, while another system does the work.
    "shadow",
]

# Only these count for overlap: a manual, retried or backfilled run never makes a tick skip.
TICK_ORIGINS: frozenset[Origin] = frozenset(("schedule", "catch_up"))
ACTIVE: frozenset[Status] = frozenset(("waiting", "queued", "running"))
FINAL: frozenset[Status] = frozenset(("succeeded", "failed", "cancelled"))


class WaitLane(IntEnum):
    """What a waiting run waits for, as stored. Runs of a backfill and held runs do not count for overlap."""

    DEPENDENCY = -1
    # A slot, or another run.
    DEFAULT = 0
    BACKFILL = 1
    HELD = 2


def already_final_error(run_id: int, status: Status) -> ConflictError:
    """The error for cancelling a run that has come to its end."""
    return ConflictError(
        f"run {run_id} is {status} already;", hint="only one that waits, is queued or is running can be cancelled."
    )


@dataclass(frozen=True, slots=True)
class Covers:
    """The ticks that one catch-up run stands for, its own included."""

    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """The cause of a run: `cron`, `schedule` for other triggers, or its origin; its schedule; and its tick."""

    trigger_type: str
    schedule_id: str | None
    scheduled_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One intended execution and where it stands."""

    id: int
    namespace: str
    schedule_id: int | None
    schedule: str | None
    revision: int | None
    target: Target
    queue: str
    priority: int
    origin: Origin
    status: Status
    scheduled_for: datetime | None
    due_at: datetime
    available_at: datetime
    start_by: datetime | None
    covers: Covers | None
    attempt: int
    failures: int
    crashes: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    lease_until: datetime | None
    worker: str | None
    retry_of: int | None
    actor: str | None
    reason: str | None
    cancel_requested_at: datetime | None
    cancel_requested_by: str | None
    payload: Mapping[str, Any]
    result: Any
    error: str | None
    failure_kind: FailureKind | None
    backfill_id: int | None = None
    # It waits for a person, see `hold_above`.
    held: bool = False
    released_at: datetime | None = None
    released_by: str | None = None
    concurrency_key: str | None = None
    # It waits for a schedule that it depends on.
    waiting_for_dependency: bool = False
    # Who moved its tick or gave it another payload, and why.
    applied_override: AppliedOverride | None = None
    # `started_at` is that of the newest attempt.
    first_started_at: datetime | None = None
    # The cron expression of the revision that it was planned with; None if that has another trigger.
    cron_spec: str | None = None

    @property
    def trigger(self) -> str:
        """The cause of the run: `schedule:<cron expression>`, `schedule` for other triggers, or its origin."""
        if self.origin not in TICK_ORIGINS:
            return self.origin
        return "schedule" if self.cron_spec is None else f"schedule:{self.cron_spec}"

    @property
    def metadata(self) -> RunMetadata:
        """The cause of the run, in parts; `scheduled_at` is None if it has no tick."""
        trigger_type = "cron" if self.trigger.startswith("schedule:") else self.trigger
        return RunMetadata(trigger_type, self.schedule, self.scheduled_for)

    @property
    def began_at(self) -> datetime | None:
        """When its first attempt began."""
        return self.first_started_at or self.started_at

    @property
    def lateness(self) -> float | None:
        """Seconds from `due_at` to its first attempt; None if it has not begun."""
        return None if self.began_at is None else (self.began_at - self.due_at).total_seconds()

    @property
    def duration(self) -> float | None:
        """Seconds from its first attempt to its end, with all attempts and the pauses in between; None before that."""
        if self.began_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.began_at).total_seconds())


# One is made for each run that is executed, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class ClaimedRun:
    """A run leased to this worker: what its task may look at, and what decides about another attempt."""

    id: int
    attempt: int
    failures: int
    target: str
    origin: Origin
    due_at: datetime
    payload: Mapping[str, Any]
    scheduled_for: datetime | None = None
    covers: Covers | None = None
    # The schedule, its name, and what the run was planned under; None when it belongs to no schedule.
    schedule_id: int | None = None
    schedule: str | None = None
    definition: Definition | None = None
    concurrency_key: str | None = None
    # Of the store that leased it.
    incarnation: int = 0
    target_kind: str = TASK

    @property
    def target_key(self) -> TargetKey:
        return self.target_kind, self.target


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One ended attempt that did not end the run well: why it is being, or was, tried again."""

    attempt: int
    worker: str | None
    started_at: datetime | None
    ended_at: datetime
    outcome: str
    error: str | None


@dataclass(frozen=True, slots=True)
class SkipRecord:
    """Ticks first..last that were not run, with the reason and the run they stood behind."""

    id: int
    schedule_id: int
    revision: int
    reason: SkipReason
    first: datetime
    last: datetime
    count: int
    run_id: int | None
    actor: str | None
    note: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to enqueue without a schedule; `delay` counts from the store's now, `at` is an instant."""

    target: Target
    payload: Mapping[str, Any]
    queue: str = "default"
    priority: int = 0
    at: datetime | None = None
    delay: int = 0
    start_within: int | None = None
    # A run that repeats another one has the crash limit of that run.
    crash_limit: int = 3
    retry_of: int | None = None
    # Asking again with the same key gives the run that exists.
    idempotency_key: str | None = None
    concurrency_key: str | None = None


def enqueued_detail(runs: Sequence[NewRun]) -> dict[str, Any]:
    """What the audit tells of runs that were enqueued together."""
    detail: dict[str, Any] = {"count": len(runs), "tasks": sorted({run.target.name for run in runs})[:20]}
    if len(runs) == 1 and runs[0].retry_of is not None:
        detail["retry_of"] = runs[0].retry_of
    return detail


# Not frozen, as ClaimedRun is not.
@dataclass(slots=True)
class Outcome:
    """How an attempt ended: a final status, or `queued` for another attempt after `delay` seconds.

    `failures` and `crashes` say by how much this attempt raises the run's counts; a drain raises neither.
    """

    run_id: int
    attempt: int
    status: Status
    result: Any = None
    error: str | None = None
    failure_kind: FailureKind | None = None
    reason: str | None = None
    delay: float = 0.0
    failures: int = 0
    # False: it was put back before it began, so `start_by` still binds it.
    started: bool = True
    # It has no schedule and no concurrency key, so no run waits for it.
    releases_no_run: bool = False
    # Of the store that leased the run; 0: whichever it was.
    incarnation: int = 0
