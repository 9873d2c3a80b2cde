"""What is sent, completely: the shapes of `tickbird.documents`, for OpenAPI. Fields stay, new ones may come."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tickbird.api.instants import InstantText
from tickbird.domain.backfills import Order
from tickbird.domain.explanation import Verdict
from tickbird.domain.runs import FailureKind, Origin, SkipReason, Status
from tickbird.domain.schedule import State
from tickbird.domain.tokens import Role, TokenState

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


class ChangedSchedule(BaseModel):
    """A schedule after a change, and what keeps its runs from being executed."""

    schedule: ScheduleModel
    warnings: list[str]


class TriggeredRun(BaseModel):
    """The run that was made, or that the key stood for already, and what keeps it from being executed."""

    run: RunModel
    warnings: list[str]


class ComingTickModel(BaseModel):
    """A tick to come: when it is due, why it will not run if so, and what changes of the clock do to it."""

    scheduled_for: Instant
    due_at: Instant
    skipped: str | None
    override: TickOverrideModel | None
    notes: list[str]


class ComingTicks(BaseModel):
    """The next ticks of a schedule, as it stands now."""

    now: Instant
    items: list[ComingTickModel]


class SkipModel(BaseModel):
    """Ticks that were not run, and why."""

    id: int
    reason: SkipReason
    first: Instant
    last: Instant
    count: int
    revision: int
    run_id: int | None
    actor: str | None
    note: str | None
    decided_at: Instant


class DecisionModel(BaseModel):
    """What was decided for a tick, or for ticks from this one on: a run or a skip."""

    tick: Instant
    run: RunModel | None
    skip: SkipModel | None


class LedgerPage(BaseModel):
    """A page of decisions, by their ticks, oldest first."""

    items: list[DecisionModel]
    next: str | None


class StepModel(BaseModel):
    """One step of an explanation; `ok` is false where it kept the tick from running or made it late."""

    ok: bool | None
    name: str
    text: str
    run_id: int | None
    at: Instant | None


class ExplanationModel(BaseModel):
    """What became, or will become, of an instant of a schedule, and every decision on the way."""

    schedule: str
    at: Instant
    verdict: Verdict
    sentence: str
    run_id: int | None
    revision: int | None
    steps: list[StepModel]


class RevisionModel(BaseModel):
    """One revision of a schedule: what it was, who made it, when and by what."""

    revision: int
    action: str
    actor: str
    at: Instant
    definition: Json
    detail: Json


class RevisionPage(BaseModel):
    """A page of revisions, newest first."""

    items: list[RevisionModel]
    next: str | None


class TokenModel(BaseModel):
    """A token, without its secret; `namespaces` is null where it opens all."""

    id: str
    name: str
    role: Role
    namespaces: list[str] | None
    state: TokenState
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    revoked_at: Instant | None
    revoked_by: str | None
    last_used_at: Instant | None


class NewToken(TokenModel):
    """A token that was just made, and its text: this once."""

    token: str


class TokenPage(BaseModel):
    """A page of tokens, by id."""

    items: list[TokenModel]
    next: str | None


class AuditModel(BaseModel):
    """Who did what, when and to what."""

    id: int
    at: Instant
    actor: str
    action: str
    schedule: str | None
    run_id: int | None
    detail: Json


class AuditPage(BaseModel):
    """A page of the audit, newest first."""

    items: list[AuditModel]
    next: str | None


class BackfillPlanModel(BaseModel):
    """What a backfill makes or would make; `ticks` are the first of `count`, in the order of running."""

    id: int | None
    schedule: str
    first: Instant
    last: Instant
    cut_at: Instant | None
    count: int
    taken: int
    excluded: int
    ticks: list[Instant]


class BackfillModel(BaseModel):
    """A backfill, and how many of its runs are in each status; `done` also counts those that were pruned."""

    id: int
    namespace: str
    schedule: str
    revision: int
    first: Instant
    last: Instant
    total: int
    done: int
    counts: dict[Status, int]
    order: Order
    concurrency: int
    payload: Json | None
    actor: str
    note: str
    created_at: Instant
    cancelled_at: Instant | None
    cancelled_by: str | None


class BackfillPage(BaseModel):
    """A page of backfills, newest first."""

    items: list[BackfillModel]
    next: str | None


class Body(BaseModel):
    """What is sent: nothing that is not known."""

    model_config = ConfigDict(extra="forbid")


Note = Annotated[str, Field(max_length=2_000, description="Why, for the audit.")]


class NewSchedule(Body):
    """A schedule to be made."""

    name: str
    definition: Json = Field(description="As in the document of a schedule: trigger, target and policies.")
    first: Literal["now"] | None = Field(default=None, description="`now`: also one run at once.")


class WholeDefinition(Body):
    """All of a schedule's definition; what it does not state goes back to code or to its default."""

    definition: Json


class Changes(Body):
    """The fields of a definition that are to change; null takes one back to code or to its default."""

    definition: Json


class PauseBody(Body):
    """Why it is paused, and until when."""

    note: Note = ""
    until: InstantText | None = None
    cancel_runs: bool = Field(default=False, description="Also cancel its runs that have not started.")


class NoteBody(Body):
    """Why."""

    note: Note = ""


class RescheduleBody(Body):
    """When the next tick is to be due."""

    to: InstantText
    note: Note = ""


class SkipBody(Body):
    """The next ticks that are not to run: so many, or all before an instant; one if neither is said."""

    count: int | None = None
    until: InstantText | None = None
    note: Note = ""


class TriggerBody(Body):
    """A payload other than the schedule's, and how long to wait for the run to come to its end."""

    payload: Json | None = None
    wait: int | None = Field(default=None, ge=1, le=300, description="Seconds; the answer has the run as it is then.")


class NewTokenBody(Body):
    """A token to be made: what it may do, where and until when."""

    name: str
    role: Role
    namespaces: list[str] | None = Field(default=None, description="Those that it opens; else those of the caller's.")
    all_namespaces: bool = Field(default=False, description="It opens every namespace, also those to come.")
    expires_at: InstantText | None = None


class BackfillBody(Body):
    """The ticks to run, both ends included, how many at a time and in which order."""

    first: InstantText
    last: InstantText
    concurrency: int = 1
    order: Order = "oldest"
    payload: Json | None = None
    note: Note = ""
    dry_run: bool = Field(default=False, description="Only tell which ticks would run.")


class CancelBackfillBody(Body):
    """Why, and what becomes of the runs that have started."""

    note: Note = ""
    stop_running: bool = Field(default=False, description="Also ask those to stop that have started.")
