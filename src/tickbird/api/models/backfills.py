"""Backfills."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Json, Note
from tickbird.api.query_types import InstantText
from tickbird.domain.planning.backfills import MAX_CONCURRENCY, Order
from tickbird.domain.runs.run import Status


class BackfillPlanModel(BaseModel):
    """What a backfill makes or would make; `ticks` are the first of `count`, in the order of running.

    Ticks up to `pruned_until` whose run may have been pruned do not run again; `pruned` counts them.
    """

    id: int | None
    schedule: str
    first: Instant
    last: Instant
    cut_at: Instant | None
    count: int
    taken: int
    excluded: int
    pruned: int
    pruned_until: Instant | None
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


class BackfillPlanBody(Body):
    """The ticks to run, both ends included, how many at a time and in which order."""

    first: InstantText
    last: InstantText
    concurrency: int = Field(default=1, json_schema_extra={"minimum": 1, "maximum": MAX_CONCURRENCY})
    order: Order = "oldest"
    payload: Json | None = None
    note: Note = ""


class BackfillBody(BackfillPlanBody):
    """The same, to be done."""

    dry_run: bool = Field(default=False, description="Only tell which ticks would run.")


class CancelBackfillBody(Body):
    """Why, and what becomes of the runs that have started."""

    note: Note = ""
    stop_running: bool = Field(default=False, description="Also ask those to stop that have started.")
