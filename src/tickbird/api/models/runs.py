"""Runs: as they are, and as they are asked for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr

from tickbird.api.models.parts import Body, Instant, Json
from tickbird.api.models.steps import StepModel
from tickbird.api.models.tick_overrides import AppliedOverrideModel
from tickbird.api.query_types import InstantText
from tickbird.domain.runs.run import FailureKind, Origin, Status


class CoversModel(BaseModel):
    """The late ticks that one run stands for."""

    first: Instant
    last: Instant
    count: int


class RunMetadataModel(BaseModel):
    """What made a run: `cron`, `schedule` for other triggers, or its origin; the name of its schedule; and its tick."""

    trigger_type: str
    schedule_id: str | None
    scheduled_at: Instant | None


class RunModel(BaseModel):
    """A run."""

    id: int
    namespace: str
    schedule: str | None
    schedule_id: int | None
    revision: int | None
    target: dict[str, str]
    queue: str
    priority: int
    origin: Origin
    trigger: str = Field(description="`schedule:<cron expression>`, `schedule` for other triggers, else the origin.")
    cron_spec: str | None = Field(description="The cron expression of the revision that it was planned with.")
    metadata: RunMetadataModel
    status: Status
    scheduled_for: Instant | None
    due_at: Instant
    available_at: Instant
    start_by: Instant | None
    covers: CoversModel | None
    attempt: int
    failures: int
    crashes: int
    created_at: Instant
    # Of the first attempt, from which lateness and duration count; `started_at` is that of the newest.
    first_started_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None
    lease_until: Instant | None
    worker: str | None
    retry_of: int | None
    actor: str | None
    reason: str | None
    cancel_requested_at: Instant | None
    cancel_requested_by: str | None
    payload: Json
    result: Any
    error: str | None
    failure_kind: FailureKind | None
    concurrency_key: str | None
    backfill_id: int | None
    held: bool
    waiting_for_dependency: bool
    released_at: Instant | None
    released_by: str | None
    applied_override: AppliedOverrideModel | None


class TriggeredRun(BaseModel):
    """The run that was made, or that the key stood for already, and what keeps it from being executed."""

    run: RunModel
    warnings: list[str]


class RunPage(BaseModel):
    """A page of runs, newest first."""

    items: list[RunModel]
    next: str | None


class RunList(BaseModel):
    """Runs, all of them."""

    items: list[RunModel]


class AttemptModel(BaseModel):
    """An attempt that did not end its run well."""

    attempt: int
    worker: str | None
    started_at: Instant | None
    ended_at: Instant
    outcome: str
    error: str | None


class QueuePositionModel(BaseModel):
    """What keeps a queued run back in its queue: a rate, so many before it, or others that may pass it."""

    rate: str | None
    runs_before: int
    at: Instant | None
    deferred_until: Instant | None


class ProgressModel(BaseModel):
    """How far a run said last that it was."""

    attempt: int
    at: Instant
    value: Any


class RunDetail(BaseModel):
    """A run with its attempts, how far it said that it was, its position in its queue, and what else it waits for."""

    run: RunModel
    attempts: list[AttemptModel]
    progress: ProgressModel | None
    queue_position: QueuePositionModel | None
    waiting_for: list[StepModel] = Field(description="Empty where it has begun, or where a worker should take it now.")


class LogLineModel(BaseModel):
    """A line that a run has logged: of which attempt, and its number within that, from 1 on."""

    attempt: int
    number: int
    at: Instant
    level: str
    level_number: int
    text: str


class LogPage(BaseModel):
    """A page of what a run has logged, in order; once its status is final, no more lines come."""

    run_id: int
    status: Status
    items: list[LogLineModel]
    next: str | None


Length = Annotated[StrictInt | StrictStr, Field(description='Seconds, or a text such as "10m".')]
Wait = Annotated[int, Field(ge=1, le=300, description="Seconds; the answer has the run as it is then.")]


class NewRunBody(Body):
    """A run of a task, without a schedule: now, at an instant or after a while."""

    task: str
    payload: Json = Field(default_factory=dict)
    at: InstantText | None = None
    delay: Length = 0
    queue: str | None = Field(default=None, description="Else that of the task.")
    priority: int | None = Field(default=None, description="Else that of the task.")
    start_within: Length | None = Field(default=None, description="Cancelled if it has not begun by then.")
    crash_limit: int | None = Field(
        default=None, description="How many lost workers the run survives (default: by the task's on_crash)."
    )
    concurrency_key: str | None = Field(default=None, description="Else that of the task.")
    none: list[Literal["concurrency_key"]] = Field(
        default_factory=list, description="Settings that have no value, whatever the task declares."
    )
    unknown_task_ok: bool = Field(default=True, description="404 where no live worker knows the task, if false.")
    wait: Wait | None = None


class CancelRunBody(Body):
    """Why."""

    reason: Annotated[str, Field(max_length=2_000, description="Shown wherever the run is.")] = ""


class RetryBody(Body):
    """Another payload than that of the run that is repeated, and how long to wait for the new one."""

    payload: Json | None = None
    wait: Wait | None = None
