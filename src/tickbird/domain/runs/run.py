"""Runs: the stored record, statuses and outcomes."""

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
# "contract": the target broke the contract of its kind, such as a SQL function that returned NULL.
FailureKind = Literal["raised", "timeout", "lost", "reported", "contract"]
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
    # The tick was past but not due yet (spread or reschedule) when the definition was changed or deleted.
    "edited",
    "deleted",
    # Its wall-clock time had already passed under the previous time zone data.
    "zone_data",
    # Planned and recorded while another system does the work.
    "shadow",
]

# Only these count for overlap: a manual, retried or backfilled run never causes a skip.
TICK_ORIGINS: frozenset[Origin] = frozenset(("schedule", "catch_up"))
ACTIVE: frozenset[Status] = frozenset(("waiting", "queued", "running"))
FINAL: frozenset[Status] = frozenset(("succeeded", "failed", "cancelled"))


class WaitLane(IntEnum):
    """What a waiting run waits for, as stored. Runs of a backfill and held runs do not count for overlap."""

    DEPENDENCY = -1
    # A slot, or another run.
    DEFAULT = 0
    BACKFILL = 1
    # An operator; or, after its first attempt, the answer whether the attempt of a lost worker had its effect.
    HELD = 2


def already_final_error(run_id: int, status: Status) -> ConflictError:
    return ConflictError(
        f"run {run_id} is already {status}.", hint="Only a waiting, queued or running run can be cancelled."
    )


@dataclass(frozen=True, slots=True)
class Covers:
    """The ticks that a catch-up run covers, including its own."""

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
    """A stored run: one intended execution."""

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
    # It waits for an operator (see `hold_above`).
    held: bool = False
    released_at: datetime | None = None
    released_by: str | None = None
    concurrency_key: str | None = None
    # It waits for a dependency.
    waiting_for_dependency: bool = False
    # Its worker was lost, and it waits for the answer whether it had its effect (see `on_crash`).
    undecided: bool = False
    # Who moved its tick or changed its payload, and why.
    applied_override: AppliedOverride | None = None
    # `started_at` belongs to the newest attempt.
    first_started_at: datetime | None = None
    # The cron expression of the revision that it was planned with; None if that has another trigger.
    cron_spec: str | None = None
    # The term of the leader that planned it; None without leader mode, and for decisions of commands.
    term: int | None = None

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
        """When its first attempt started."""
        return self.first_started_at or self.started_at

    @property
    def lateness(self) -> float | None:
        """Seconds from `due_at` to its first attempt; None if it has not started."""
        return None if self.began_at is None else (self.began_at - self.due_at).total_seconds()

    @property
    def duration(self) -> float | None:
        """Seconds from its first attempt to its end, including retries and the waits between them; None before that."""
        if self.began_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.began_at).total_seconds())


# Not frozen: one is created per executed run, and a frozen dataclass takes three times as long to create.
@dataclass(slots=True)
class ClaimedRun:
    """A run leased to this worker: the data for its task and for the retry policy."""

    id: int
    attempt: int
    failures: int
    target: str
    origin: Origin
    due_at: datetime
    payload: Mapping[str, Any]
    scheduled_for: datetime | None = None
    covers: Covers | None = None
    # The schedule, its name, and the definition of the run; None if it has no schedule.
    schedule_id: int | None = None
    schedule: str | None = None
    definition: Definition | None = None
    concurrency_key: str | None = None
    # Incarnation of the store that leased it.
    incarnation: int = 0
    target_kind: str = TASK

    @property
    def target_key(self) -> TargetKey:
        return self.target_kind, self.target


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An ended attempt that was not successful, and its error."""

    attempt: int
    worker: str | None
    started_at: datetime | None
    ended_at: datetime
    outcome: str
    error: str | None


@dataclass(frozen=True, slots=True)
class SkipRecord:
    """Skipped ticks first..last, with the reason and the run that blocked them."""

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
    # The term of the leader that planned it, like that of a run.
    term: int | None = None


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
    # A retry has the crash limit of the original run.
    crash_limit: int = 3
    retry_of: int | None = None
    # Another request with the same key returns the existing run.
    idempotency_key: str | None = None
    concurrency_key: str | None = None


def enqueued_detail(runs: Sequence[NewRun]) -> dict[str, Any]:
    """Return the audit detail of runs that were enqueued together."""
    detail: dict[str, Any] = {"count": len(runs), "tasks": sorted({run.target.name for run in runs})[:20]}
    if len(runs) == 1 and runs[0].retry_of is not None:
        detail["retry_of"] = runs[0].retry_of
    return detail


# Not frozen, like ClaimedRun.
@dataclass(slots=True)
class Outcome:
    """How an attempt ended: a final status, or `queued` for another attempt after `delay` seconds.

    `failures` and `crashes` are the increments of the run's counts; a drain increments neither.
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
    # False: it was requeued before it started, so `start_by` still applies.
    started: bool = True
    # It has no schedule and no concurrency key, so no run waits for it.
    releases_no_run: bool = False
    # Incarnation of the store that leased the run; 0: any.
    incarnation: int = 0
    # The run's own transaction has recorded it already.
    is_recorded: bool = False
    # A transaction of its task may have finished the run already; this outcome counts only if it did not.
    has_commit: bool = False
