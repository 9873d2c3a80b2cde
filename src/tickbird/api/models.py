"""What is sent, completely: the shapes of `tickbird.documents`, for OpenAPI. Fields stay, new ones may come."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tickbird.domain.runs import FailureKind, Origin, Status
from tickbird.domain.schedule import State

# A text already, as the documents have it; only told to be an instant.
Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="An instant, in UTC.")]
Json = dict[str, Any]


class ProblemDocument(BaseModel):
    """Why a request was refused or cannot be served, and what to do about it."""

    type: str
    title: str
    status: int
    code: str = Field(description="For programs; `detail` and `hint` are for people.")
    detail: str
    field: str | None = Field(description="The part of the request at fault, if one is.")
    hint: str | None = Field(description="The next step.")


class Health(BaseModel):
    """How the process is."""

    status: Literal["ok", "ready"]


class PausedModel(BaseModel):
    """Who paused a schedule, why and until when."""

    by: str
    note: str
    until: Instant | None


class TickOverrideModel(BaseModel):
    """What was decided for one tick to come; `payload` is null where it is the schedule's."""

    tick: Instant
    skip: bool
    moved: bool
    due_at: Instant
    passes_over: int
    payload: Json | None
    note: str
    actor: str
    made_at: Instant


class ScheduleModel(BaseModel):
    """A schedule as it is stored; `what` is its trigger in words, null while it cannot be read."""

    namespace: str
    name: str
    state: State
    what: str | None
    zone: str | None
    definition: Json
    overrides: Json = Field(description="Fields that an operator set over what code declares.")
    tick_overrides: list[TickOverrideModel]
    revision: int
    app: str | None
    paused: PausedModel | None
    error: str | None
    next_run_at: Instant | None
    planned_until: Instant | None
    runs_planned: int
    created_at: Instant | None
    changed_at: Instant | None


class CoversModel(BaseModel):
    """The late ticks that one run stands for."""

    first: Instant
    last: Instant
    count: int


class OverriddenModel(BaseModel):
    """Who moved the tick of a run or gave it another payload, and why."""

    moved: bool
    payload: bool
    note: str
    actor: str
    made_at: Instant


class RunModel(BaseModel):
    """A run."""

    id: int
    namespace: str
    schedule: str | None
    revision: int | None
    target: dict[str, str]
    queue: str
    priority: int
    origin: Origin
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
    backfill: int | None
    held: bool
    awaiting: bool
    released_at: Instant | None
    released_by: str | None
    override: OverriddenModel | None


class ScheduleRowModel(ScheduleModel):
    """A schedule in a list: with its newest run, how often in a row it failed, and what keeps it from running."""

    last_run: RunModel | None
    failure_streak: int
    held: int
    problems: list[str]


class SchedulePage(BaseModel):
    """A page of schedules, by name."""

    items: list[ScheduleRowModel]
    next: str | None = Field(description="The `after` of the next page; null on the last.")
