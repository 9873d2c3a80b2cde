"""Runs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tickbird.api.models.overrides import OverriddenModel
from tickbird.api.models.parts import Instant, Json
from tickbird.domain.runs import FailureKind, Origin, Status


class CoversModel(BaseModel):
    """The late ticks that one run stands for."""

    first: Instant
    last: Instant
    count: int


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


class TriggeredRun(BaseModel):
    """The run that was made, or that the key stood for already, and what keeps it from being executed."""

    run: RunModel
    warnings: list[str]
